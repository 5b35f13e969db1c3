"""The exact tests can fail: each wrong patch of a copy of the package turns its test red.

Compiling takes most of the time. A patched copy compiles the kernels that the patch changes, and
takes the others from the cache."""

import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest
from mutation.child import run_test
from mutation.mutations import EQUIVALENTS, MUTATIONS, NOT_SEEN, Mutation

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@cache
def run_unchanged(test: str) -> None:
    """See that a test is green: otherwise red would prove nothing. What it compiles is kept."""
    with tempfile.TemporaryDirectory() as folder:
        code, output = run_test(ROOT / "skdp", test, Path(folder))
    assert code == 0, output


def run_patched(mutation: Mutation, folder: Path) -> tuple[int, str]:
    """Run the test of a patch on a copy of the package that has it."""
    run_unchanged(mutation.test)
    package, copy = ROOT / "skdp", folder / "skdp"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / mutation.file).write_text(mutation.apply((package / mutation.file).read_text()))
    return run_test(copy, mutation.test, folder)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_mutation_is_seen(mutation, tmp_path):
    if mutation.name in NOT_SEEN:
        pytest.skip("its test does not see it: see NOT_SEEN")
    code, output = run_patched(mutation, tmp_path)
    assert code == 1, f"{mutation.why}\n{output}"
    assert re.search(r"^E +(AssertionError|assert )", output, re.MULTILINE), (
        output
    )  # not another error
    assert re.search(r"\b[1-9]\d* failed", output), output


@pytest.mark.parametrize("mutation", EQUIVALENTS, ids=lambda mutation: mutation.name)
def test_equivalent_is_right(mutation, tmp_path):
    code, output = run_patched(mutation, tmp_path)
    assert code == 0, f"{mutation.why}\n{output}"
