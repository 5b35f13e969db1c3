"""Where runs of the tests keep compiled kernels: a folder for each state of the sources.

numba looks at the file of a kernel to see whether its machine code is out of date, not at what the
kernel calls. With a folder for each state no stale code runs, and all that runs in this state
shares what is compiled: fast tests and slow ones, examples in docstrings, the processes of xdist.
"""

import contextlib
import hashlib
import os
import platform
import shutil
import time
from collections.abc import Iterable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from llvmlite.binding import get_host_cpu_name

PREFIX = "skdp-"
N_KEPT = 4
HOUR = 3600.0


def fingerprint(package: Path, others: Iterable[str]) -> str:
    """Return a hash of the sources of a package and of what else machine code depends on."""
    digest = hashlib.sha1(usedforsecurity=False)
    for path in sorted(package.rglob("*.py")):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    digest.update("\n".join(others).encode())
    return digest.hexdigest()[:16]


def surroundings() -> list[str]:
    """Return the versions, the processor and the options that machine code depends on."""
    options = [
        f"{name}={value}"
        for name, value in sorted(os.environ.items())
        if name.startswith("NUMBA_") and name != "NUMBA_CACHE_DIR"
    ]
    versions = [platform.python_version(), version("numba"), version("numpy")]
    return [*versions, get_host_cpu_name(), *options]


def prune(parent: Path) -> None:
    """Delete the folders of older states, but the last few and those that may be in use."""
    dated = []
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # another run may have deleted it
            dated.append((folder.stat().st_mtime, folder))
    for when, folder in sorted(dated, reverse=True)[N_KEPT:]:
        if time.time() - when > HOUR:
            shutil.rmtree(folder, ignore_errors=True)


def use(parent: Path) -> None:
    """Have numba keep kernels under a folder, unless the user said where; before skdp's import.

    Processes that are started from here do the same.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    spec = find_spec("skdp")
    if spec is None or spec.origin is None:
        return  # the tests will say that there is no such package
    folder = parent / (PREFIX + fingerprint(Path(spec.origin).parent, surroundings()))
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    with contextlib.suppress(OSError):  # numba has another place, too
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        prune(parent)
