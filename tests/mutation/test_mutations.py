"""The exact tests can fail: each wrong patch of a copy of the package turns its test red.

Compiling takes most of the time. A patched copy starts with the machine code of the unchanged one,
but for the functions that use what the patch changes, directly or not: numba looks at the file of a
function only, not at what it calls. Were some old code left, the patch would not be seen.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from mutation.mutation import Mutation
from mutation.mutations import EQUIVALENTS, MUTATIONS

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


class Part(NamedTuple):
    """A statement of a module: the names that it gives a meaning, and those that it uses."""

    names: set[str]
    uses: set[str]
    written: str


def parts(text: str) -> Iterator[Part]:
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                if alias.asname:
                    yield Part({alias.asname}, {alias.name}, ast.dump(alias))
            continue
        names, uses = set(), set()
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                (names if isinstance(node.ctx, ast.Store) else uses).add(node.id)
            elif isinstance(node, ast.Attribute):
                uses.add(node.attr)
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            uses -= names  # its own
            names = {statement.name}
        yield Part(names, uses, ast.dump(statement))


def changed_names(before: str, after: str, texts: Iterable[str]) -> list[set[str]]:
    """Return, for each module of `texts`, the names whose meaning differs after a patch.

    A name is taken for what any module means by it, and so a few too many are returned.
    """
    old = {part.written for part in parts(before)}
    known = {name for part in parts(after) if part.written not in old for name in part.names}
    modules = [list(parts(text)) for text in texts]
    everywhere = [part for module in modules for part in module]
    while True:
        more = {name for part in everywhere if part.uses & known for name in part.names} - known
        if not more:
            break
        known |= more
    return [
        {name for part in module if part.uses & known for name in part.names} for module in modules
    ]


def ignore_kernels(of: dict[Path, set[str]]) -> Callable[[str, list[str]], list[str]]:
    """Return a filter for copytree that leaves out the machine code of some functions."""

    def ignore(folder: str, files: list[str]) -> list[str]:
        ignored = []
        for file in files:  # module.function-line.version.nbi
            if file.endswith((".nbi", ".nbc")):
                module, function, *_ = file.split(".")
                if function.split("-")[0] in of[Path(folder).parent / f"{module}.py"]:
                    ignored.append(file)
        return ignored

    return ignore


def run_tests(folder: Path, tests: Iterable[str]) -> tuple[int, str]:
    """Run tests of the project on the copy of the package that lies in the folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_OPT": "1",  # a test's run is short beside the compilation
    }
    environment.pop("NUMBA_CACHE_DIR", None)  # the machine code lies beside the source
    # -P keeps the project's own root, the working directory, out of sys.path.
    python = [sys.executable, "-P"]
    where = subprocess.run(
        [*python, "-c", "import skdp; print(skdp.__file__)"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(where.stdout.strip()).is_relative_to(folder)
    result = subprocess.run(
        [*python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "", *tests],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=600,
    )  # fmt: skip
    return result.returncode, result.stdout


@pytest.fixture(scope="session")
def unchanged(request, tmp_path_factory) -> tuple[Path, int, str]:
    """Return a copy of the package on which all named tests were run, and how they ended."""
    folder = tmp_path_factory.mktemp("unchanged")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "skdp", folder / "skdp", ignore=ignored)
    chosen = [getattr(item, "callspec", None) for item in request.session.items]
    tests = {spec.params["mutation"].test for spec in chosen if spec and "mutation" in spec.params}
    return folder, *run_tests(folder, sorted(tests))


def test_unchanged_copy_is_green(unchanged):
    """Otherwise red would prove nothing."""
    _, code, output = unchanged
    assert code == 0, output


def copy_with(mutation: Mutation, unchanged: Path, folder: Path) -> None:
    """Make a copy of the package with the patch, and with the machine code that still holds."""
    path = unchanged / "skdp" / mutation.file
    text = path.read_text()
    patched = mutation.apply(text)
    files = list(unchanged.glob("skdp/**/*.py"))
    changed = changed_names(text, patched, [file.read_text() for file in files])
    ignore = ignore_kernels(dict(zip(files, changed, strict=True)))
    shutil.copytree(unchanged / "skdp", folder / "skdp", ignore=ignore)
    (folder / "skdp" / mutation.file).write_text(patched)


ALL = [
    pytest.param(mutation, marks=[pytest.mark.exhaustive] if mutation.is_exhaustive else [])
    for mutation in MUTATIONS
]


@pytest.mark.parametrize("mutation", ALL, ids=lambda mutation: mutation.name)
def test_mutation_is_seen(mutation, unchanged, tmp_path):
    copy_with(mutation, unchanged[0], tmp_path)
    code, output = run_tests(tmp_path, [mutation.test])
    assert code == 1, f"{mutation.why}\n{output}"
    assert re.search(r"^E +(AssertionError|assert )", output, re.MULTILINE), (
        output
    )  # not another error
    assert "1 failed" in output, output


@pytest.mark.parametrize("mutation", EQUIVALENTS, ids=lambda mutation: mutation.name)
def test_equivalent_is_right(mutation, unchanged, tmp_path):
    copy_with(mutation, unchanged[0], tmp_path)
    code, output = run_tests(tmp_path, [mutation.test])
    assert code == 0, f"{mutation.why}\n{output}"
