"""Checks of memory: an input that needs too much is named before anything is allocated."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

_GIB = 2.0**30
_SMALL = 2**24
"""Bytes that are never refused: limits are files to read."""


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("total", "free", "page_total", "page_free")),
        *((name, ctypes.c_uint64) for name in ("virtual_total", "virtual_free", "extended")),
    )


def physical_memory() -> int | None:
    """Return the bytes of this machine's memory, None if the system does not report them."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        pass
    try:
        kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]  # Windows only
    except AttributeError:
        return None
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    return int(status.total) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _limits() -> Iterator[int]:
    """Yield the bytes that this machine, its control group and the process may use."""
    memory = physical_memory()
    if memory is not None:
        yield memory
    try:
        import resource
    except ImportError:  # Windows
        pass
    else:
        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            soft, _ = resource.getrlimit(kind)
            if soft != resource.RLIM_INFINITY:
                yield soft
    for path in _control_group_files():
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        if text.isdecimal():  # or "max"
            yield int(text)


def _control_group_files(
    groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")
) -> Iterator[Path]:
    """Yield the files that may hold a limit of the memory: those of the group and all above it."""
    try:
        lines = groups.read_text().splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        base, file = (root / "memory", "memory.limit_in_bytes") if controllers else (
            root, "memory.max"
        )  # fmt: skip
        place = base / name.lstrip("/")
        while True:
            yield place / file
            if place == base:
                break
            place = place.parent


def available_memory() -> int | None:
    """Return the smallest limit of this process's bytes, None if the system reports no limit."""
    return min(_limits(), default=None)


def check_memory(n_bytes: float, what: str, cure: str = "") -> None:
    """Raise ValueError if arrays would be larger than the memory that this process may use.
    The message begins with `what` and ends with `cure`.
    """
    if n_bytes < _SMALL:
        return
    memory = available_memory()
    if memory is not None and n_bytes > memory:
        raise ValueError(
            f"{what} would take {n_bytes / _GIB:.4g} GiB, more than the memory of "
            f"{memory / _GIB:.4g} GiB that this process may use. {cure}".rstrip()
        )
