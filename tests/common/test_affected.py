"""The tests that an edit affects, in a small project and in this one."""

import subprocess
from pathlib import Path

import pytest
from affected import Affected, ImportGraph, changed_files

ROOT = Path(__file__).parents[2]

FILES = {
    "skdp/__init__.py": "",
    "skdp/_numbers.py": '"""Numbers.\n\n>>> from skdp.topics import LDA\n"""\n',
    "skdp/topics/__init__.py": "from skdp.topics._lda import LDA\nfrom skdp.topics._hdp import HDP",
    "skdp/topics/_lda.py": "from skdp._numbers import one",
    "skdp/topics/_hdp.py": "def f():\n    from skdp.topics._base import Base",
    "skdp/topics/_base.py": "",
    "tests/conftest.py": "",
    "tests/oracle.py": "",
    "tests/tables/__init__.py": 'TABLES = Path(__file__).parent.glob("*.txt")',
    "tests/tables/lda.py": "from skdp.topics import LDA",
    "tests/tables/lda.txt": "f()",
    "tests/test_tables.py": "import tables",
    "tests/unit/conftest.py": "",
    "tests/unit/test_lda.py": "from oracle import (\n    a,\n)\nfrom skdp.topics import LDA as A",
    "tests/unit/test_hdp.py": "from skdp.topics import HDP",
    "tests/unit/test_all.py": "from skdp import topics",
    "tests/test_program.py": 'RUN = """\nimport skdp\nskdp.topics.LDA()\n"""',
    "tests/fits.py": "from skdp.topics import HDP",
    "tests/test_script.py": 'run(HERE / "fits.py")',
    "tests/test_any.py": 'import_module(f"skdp.{name}")',
    "tests/test_pages.py": 'PAGES = ROOT / "doc/guide"',
    "tests/test_nothing.py": "from elsewhere import LDA",
    "doc/guide/topics.rst": "",
}
TESTS = [name for name in FILES if "/test_" in name]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("skdp/_numbers.py", "lda all program any tables"),
        ("skdp/topics/_lda.py", "lda all program any tables"),
        ("tests/tables/lda.txt", "tables"),
        ("skdp/topics/_base.py", "hdp all any script"),
        ("skdp/topics/__init__.py", "lda hdp all program any script tables"),
        ("tests/oracle.py", "lda"),
        ("tests/unit/test_hdp.py", "hdp"),
        ("tests/unit/conftest.py", "lda hdp all"),
        ("doc/guide/topics.rst", "pages"),
        ("tests/conftest.py", "lda hdp all program any script pages nothing tables"),
        ("skdp/topics/_deleted.py", "lda hdp all program any script pages nothing tables"),
        ("LICENSE", ""),
    ],
)
def test_what_an_edit_affects(project, changed, expected):
    affected = Affected(project, [changed])
    found = {Path(file).stem.removeprefix("test_") for file in TESTS if affected.affects(file)}
    assert found == set(expected.split())


def test_what_git_finds(project):
    def git(*command):
        name = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *name, *command], cwd=project, check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    assert changed_files(project, "HEAD") == set()
    (project / "skdp/topics/_lda.py").write_text("1")
    (project / "a b.txt").write_text("")
    git("mv", "tests/oracle.py", "tests/other.py")
    expected = {"skdp/topics/_lda.py", "a b.txt", "tests/oracle.py", "tests/other.py"}
    assert changed_files(project, "HEAD") == expected
    with pytest.raises(pytest.UsageError, match="--affected=nothing: "):
        changed_files(project, "nothing")


def test_budgets_are_no_settings(project):
    git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@b"]
    settings, path = '[tool.pytest]\naddopts = "%s"\n[tool.skdp.lines]\na = %d\n', "pyproject.toml"
    (project / path).write_text(settings % ("-q", 1))
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], check=True)
    (project / path).write_text(settings % ("-q", 2))
    assert changed_files(project, "HEAD") == {"tests/lines.py"}
    (project / path).write_text(settings % ("-v", 1))
    assert changed_files(project, "HEAD") == {path}


def test_this_project():
    graph = ImportGraph(ROOT)
    topics, grammar = "tests/exact/topics/test_fold_in.py", "tests/exact/grammar/test_hdp_pcfg.py"
    assert "skdp/_numeric/_random.py" in graph.uses(topics) & graph.uses(grammar)
    assert "skdp/topics/_kernels/_btigs.py" in graph.uses(topics) - graph.uses(grammar)
    assert "tests/exact/oracles/batch_means.py" in graph.uses(topics)
    lda = graph.uses("tests/unit/topics/test_gibbs_lda.py")
    assert "skdp/topics/_gibbs_lda.py" in lda
    assert "skdp/sequence/_hdp_hmm_lt.py" not in lda
