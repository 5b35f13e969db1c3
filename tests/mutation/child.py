"""Tests that run in processes of their own, on another copy of the package."""

import multiprocessing
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PRELOADED = ["numba", "pandas", "pytest", "scipy.optimize", "scipy.stats", "sklearn.utils"]
"""What every test imports, but not skdp: processes begin with these modules in memory."""

forkserver = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
if os.name == "posix":
    forkserver.set_forkserver_preload(PRELOADED)


def run_in_child(package: Path, test: str, log: Path) -> None:
    """Run a test on the package in a folder, within this process; write what it prints to a file.
    The exit status is that of pytest."""
    with log.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (until the end)
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(package.parent)  # of processes that the test starts
    sys.dont_write_bytecode = True
    # Neither the project's own package nor the tests that started this process may come first.
    sys.path[:] = [str(package.parent)] + [
        place for place in sys.path if place not in ("", str(ROOT))
    ]
    import skdp

    assert Path(skdp.__file__).is_relative_to(package), skdp.__file__
    code = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "", test])
    sys.stdout.flush()
    os._exit(code)


def run_test(package: Path, test: str, folder: Path) -> tuple[int, str]:
    """Run a test of the project on the package in a folder."""
    log = folder / "output.txt"
    process = forkserver.Process(target=run_in_child, args=(package, test, log))
    process.start()
    process.join(600)
    if process.exitcode is None:
        process.kill()
        process.join()
    return process.exitcode, log.read_text(encoding="utf-8")
