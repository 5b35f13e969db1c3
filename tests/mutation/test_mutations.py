"""The exact tests can fail: each wrong patch of a copy of the package turns its test red.

Compiling takes most of the time. A patched copy starts with the machine code that other tests have
left, but for the functions that use what the patch changes, directly or not: numba looks at the
file of a function only, not at what it calls. Were some old code left, the patch would not be seen.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from mutation.mutation import Mutation
from mutation.mutations import EQUIVALENTS, MUTATIONS
from numba.core.caching import _CacheLocator

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


def cache_folder(cache: Path, sources: Path) -> Path:
    """Return where numba keeps the kernels of the modules in a folder, below its cache folder."""
    return cache / _CacheLocator.get_suitable_cache_subpath(str(sources / "module.py"))


def copy_kernels(source: Path, target: Path, left_out: dict[str, set[str]]) -> None:
    """Copy machine code, but that of some functions of some modules."""
    target.mkdir(parents=True)
    for file in source.glob("*.nb?"):  # module.function-line.version.nbi
        module, function, *_ = file.name.split(".")
        if function.split("-")[0] not in left_out.get(module, ()):
            shutil.copy2(file, target)


def run_test(package: Path, test: str, **options: str) -> tuple[int, str]:
    """Run a test of the project on the package in a folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        **options,
    }
    # -P keeps the project's own root, the working directory, out of sys.path.
    command = [sys.executable, "-P", "-c", RUN, "-q", "-p", "no:cacheprovider", "-m", "", test]
    result = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=600,
    )  # fmt: skip
    where, _, output = result.stdout.partition("\n")
    assert Path(where).is_relative_to(package), result.stdout
    return result.returncode, output


RUN = """
import sys
import pytest
import skdp
print(skdp.__file__, flush=True)
sys.exit(pytest.main(sys.argv[1:]))
"""


@cache
def run_unchanged(test: str) -> None:
    """See that a test is green: otherwise red would prove nothing. What it compiles is kept."""
    code, output = run_test(ROOT / "skdp", test)
    assert code == 0, output


def run_patched(mutation: Mutation, folder: Path) -> tuple[int, str]:
    """Run the test of a patch on a copy of the package that has it."""
    run_unchanged(mutation.test)
    package, copy = ROOT / "skdp", folder / "skdp"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    text = (package / mutation.file).read_text()
    patched = mutation.apply(text)
    (copy / mutation.file).write_text(patched)

    files = list(package.rglob("*.py"))
    changed = changed_names(text, patched, [file.read_text() for file in files])
    left_out: dict[Path, dict[str, set[str]]] = defaultdict(dict)
    for file, names in zip(files, changed, strict=True):
        left_out[file.parent][file.stem] = names
    known, own = Path(os.environ["NUMBA_CACHE_DIR"]), folder / "cache"
    for sources, names in left_out.items():
        target = cache_folder(own, copy / sources.relative_to(package))
        copy_kernels(cache_folder(known, sources), target, names)

    # A test's run is short beside the compilation.
    return run_test(copy, mutation.test, NUMBA_CACHE_DIR=str(own), NUMBA_OPT="1")


def marked(mutations):
    """Return the patches, with a mark on those that the gate leaves out."""
    return [
        pytest.param(mutation, marks=[pytest.mark.exhaustive] if mutation.is_exhaustive else [])
        for mutation in mutations
    ]


@pytest.mark.parametrize("mutation", marked(MUTATIONS), ids=lambda mutation: mutation.name)
def test_mutation_is_seen(mutation, tmp_path):
    code, output = run_patched(mutation, tmp_path)
    assert code == 1, f"{mutation.why}\n{output}"
    assert re.search(r"^E +(AssertionError|assert )", output, re.MULTILINE), (
        output
    )  # not another error
    assert "1 failed" in output, output


@pytest.mark.parametrize("mutation", marked(EQUIVALENTS), ids=lambda mutation: mutation.name)
def test_equivalent_is_right(mutation, tmp_path):
    code, output = run_patched(mutation, tmp_path)
    assert code == 0, f"{mutation.why}\n{output}"
