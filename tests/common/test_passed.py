"""What counts as the content of a test, and what a run adds to the record."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutation.mutations import Mutation
from passed import Contents, Record, find_definition, normalize

TEST = "tests/unit/test_lda.py"
FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["slow"]\n',
    "skdp/__init__.py": "",
    "skdp/_numbers.py": "def one():\n    return 1\n",
    "skdp/_lda.py": "from skdp._numbers import one\nclass A:\n  def f(self):\n    return one()",
    "skdp/_other.py": "",
    "tests/unit/conftest.py": "",
    "tests/data.py": "",
    TEST: 'import data\nfrom skdp._lda import A\nPAGE = "doc/page.rst"\n',
    "doc/page.rst": "",
    "README.md": "",
}
PATCH = Mutation("one", "_lda.py", "one()", "2", "why", f"{TEST}::test_a")


@pytest.fixture
def project(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "text", "of_file", "of_patch"),
    [
        ("skdp/_numbers.py", "def one():\n    return 2\n", True, False),
        ("skdp/_numbers.py", 'def one():\n    """Return one."""\n    return 1  # !', False, False),
        ("skdp/_lda.py", FILES["skdp/_lda.py"].replace("f(self)", "f(self, a)"), True, True),
        ("skdp/_lda.py", FILES["skdp/_lda.py"] + "\nA = 1", True, False),
        ("skdp/_lda.py", FILES["skdp/_lda.py"].replace("f(self):", "f(self):  # !"), False, False),
        ("skdp/_other.py", "A = 1", False, False),
        ("tests/unit/conftest.py", "A = 1", True, True),
        ("tests/data.py", "A = 1", True, True),
        (TEST, FILES[TEST] + "A = 1", True, True),
        ("doc/page.rst", "A", True, False),
        ("README.md", "A", False, False),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["-ra"]\n', True, True),
        ("pyproject.toml", FILES["pyproject.toml"] + "[tool.ruff]\n", False, False),
    ],
)
def test_contents(project, file, text, of_file, of_patch):
    before = Contents(project)
    hashes = [before.of_file(TEST), before.of_patch(PATCH)]
    (project / file).write_text(text)
    after = Contents(project)
    assert (after.of_file(TEST) != hashes[0]) is of_file
    assert (after.of_patch(PATCH) != hashes[1]) is of_patch


def test_normalize():
    assert normalize('A = 1\n"""One."""\n# two') == normalize("A = 1")
    assert normalize('A = "text"') != normalize("A = 1")


def test_find_definition():
    text = "A = 1\nclass B:\n    C = 1\n\n    @d\n    def f(self):\n        return 1\n"
    assert find_definition(text, text.index("return")) == "    def f(self):\n        return 1"
    assert find_definition(text, text.index("A")) == "A = 1"
    assert find_definition(text, text.index("@")) == text


def test_record(tmp_path):
    """Lines of a merge all count until a test passes again; those of deleted files go."""
    path = tmp_path / "passed.txt"
    assert Record(path).read() == {}
    path.write_text("a 1 7\nb 2 1\nb 3 1\nc 4 1\n")
    assert Record(path).read()["b"] == {"2": 1.0, "3": 1.0}
    Record(path).replace("a", "5", 2.4, ["a", "b"])
    assert path.read_text() == "a 5 2\nb 2 1\nb 3 1\n"


CONFTEST = """
import time
from passed import Deadline, Unpassed
from pathlib import Path
from schedule import make_scheduler_in_order

def pytest_addoption(parser):
    parser.addoption("--limit", type=float)

def pytest_configure(config):
    given, limit = getattr(config, "workerinput", {}), config.getoption("limit")
    config.unpassed = Unpassed(Path(__file__).parent, [], given.get("plan"), False)
    config.pluginmanager.register(config.unpassed)
    if limit is not None:
        config.pluginmanager.register(Deadline(time.time() + limit))

def pytest_configure_node(node):
    node.workerinput["plan"] = node.config.unpassed.plan

def pytest_xdist_make_scheduler(config, log):
    return make_scheduler_in_order(config, log)
"""
SLOW = """
import pytest

@pytest.mark.slow
@pytest.mark.parametrize("i", range(3))
def test_numbers(i):
    assert i < {limit}

def test_fast():
    assert False
"""


def test_runs(project):
    """A file has a line as soon as all of its slow tests have passed, and only then."""
    (project / "conftest.py").write_text(CONFTEST)
    files = [project / f"tests/test_{name}.py" for name in "abc"]
    for file, limit in zip(files, [3, 2, 3], strict=True):
        file.write_text(SLOW.format(limit=limit))

    def run(*options):
        path = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})"
        command = f"{path}; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
        options = ["-q", "-m", "slow", "-p", "no:cacheprovider", *options]
        command = [sys.executable, "-c", command, *options]
        place = {"cwd": project, "env": {**os.environ, "PYTEST_ADDOPTS": ""}}
        done = subprocess.run(command, **place, capture_output=True, text=True)
        return done.returncode, done.stdout, [*Record(project / "tests/passed.txt").read()]

    code, output, passed = run("--limit=-1", "tests/test_a.py")
    assert (code, passed) == (0, []), output
    assert "no time for tests/test_a.py: 3 left\n0 of 1 slow files" in output
    code, output, passed = run("-k", "0", "tests/test_a.py")
    assert (code, passed) == (0, []), output
    code, output, passed = run("-n", "2")
    assert (code, passed) == (1, ["tests/test_a.py", "tests/test_c.py"]), output
    assert "1 failed, 8 passed" in output
    assert "2 of 3 slow files (66.7%)" in output
    files[1].write_text(SLOW.format(limit=3))
    files[0].write_text("# No change.\n" + SLOW.format(limit=3))
    code, output, passed = run()
    assert (code, len(passed)) == (0, 3), output
    assert "3 passed" in output
