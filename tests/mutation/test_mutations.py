"""The exact tests can fail: each wrong patch of a copy of the package turns its test red.

Compiling takes most of the time. A patched copy starts with the machine code of the unchanged one,
but for the modules that import the patched one, directly or not: numba looks at the file of a
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

import pytest
from mutation.mutations import MUTATIONS, Mutation

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def imported(path: Path, root: Path) -> Iterator[Path]:
    """Yield the files that an import may mean, whether they exist or not."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in ("", *(alias.name for alias in node.names)):
                module = root.joinpath(*node.module.split("."), name)
                yield from (module.with_suffix(".py"), module / "__init__.py")


def files_that_use(path: Path, root: Path) -> set[Path]:
    """Return `path` and the files of the package that import it, directly or not."""
    imports = {file: set(imported(file, root)) for file in root.glob("skdp/**/*.py")}
    users = {path}
    while True:
        more = {file for file, found in imports.items() if found & users} - users
        if not more:
            return users
        users |= more


def ignore_kernels(of: set[Path]) -> Callable[[str, list[str]], list[str]]:
    """Return a filter for copytree that leaves out the machine code of some files."""

    def ignore(folder: str, names: list[str]) -> list[str]:
        compiled = [name for name in names if name.endswith((".nbi", ".nbc"))]
        return [name for name in compiled if Path(folder).parent / f"{name.split('.')[0]}.py" in of]

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
        timeout=240,
    )  # fmt: skip
    return result.returncode, result.stdout


@pytest.fixture(scope="session")
def unchanged(tmp_path_factory) -> tuple[Path, int, str]:
    """Return a copy of the package on which all the tests were run, and how they ended."""
    folder = tmp_path_factory.mktemp("unchanged")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "skdp", folder / "skdp", ignore=ignored)
    return folder, *run_tests(folder, sorted({mutation.test for mutation in MUTATIONS}))


def test_unchanged_copy_is_green(unchanged):
    """Otherwise red would prove nothing."""
    _, code, output = unchanged
    assert code == 0, output


def copy_with(mutation: Mutation, unchanged: Path, folder: Path) -> None:
    """Make a copy of the package with the patch, and with the machine code that still holds."""
    path = unchanged / "skdp" / mutation.file
    text = path.read_text()
    assert text.count(mutation.old) == 1, f"{mutation.old!r}: {text.count(mutation.old)} times"
    ignore = ignore_kernels(files_that_use(path, unchanged))
    shutil.copytree(unchanged / "skdp", folder / "skdp", ignore=ignore)
    (folder / "skdp" / mutation.file).write_text(text.replace(mutation.old, mutation.new))


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_mutation_is_seen(mutation, unchanged, tmp_path):
    copy_with(mutation, unchanged[0], tmp_path)
    code, output = run_tests(tmp_path, [mutation.test])
    assert code == 1, f"{mutation.why}\n{output}"
    assert re.search(r"^E +(AssertionError|assert )", output, re.MULTILINE), (
        output
    )  # not another error
    assert "1 failed" in output, output
