"""What this machine can hold: an input that asks for more is named before anything is allocated."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path

_GIB = 2.0**30


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("total", "free", "page_total", "page_free")),
        *((name, ctypes.c_uint64) for name in ("virtual_total", "virtual_free", "extended")),
    )


def physical_memory() -> int | None:
    """Return the bytes of this machine's memory, None where the system does not tell."""
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


_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_NO_LIMIT = 2**62
"""Version 1 of control groups says a number near 2^63."""


def container_memory() -> int | None:
    """Return the bytes that this process's control groups allow, None where there is no limit.

    A group's own limit may be that of a group above it. In a container the path of the group may
    be that of the host, and only the top is there.
    """
    limits = []
    with suppress(OSError):
        for line in _MEMBERSHIP.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":  # version 2
                top, name = _CGROUPS, "memory.max"
            elif "memory" in controllers.split(","):
                top, name = _CGROUPS / "memory", "memory.limit_in_bytes"
            else:
                continue
            group = top / path.lstrip("/")
            for folder in (group, *group.parents):
                with suppress(OSError, ValueError):  # there is no such file, or it says "max"
                    limits.append(int((folder / name).read_text()))
                if folder == top:
                    break
    return min((limit for limit in limits if limit < _NO_LIMIT), default=None)


def process_memory() -> int | None:
    """Return the bytes that the system allows this process (ulimit), None without a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    kinds = resource.RLIMIT_AS, resource.RLIMIT_DATA
    limits = [resource.getrlimit(kind)[0] for kind in kinds]
    return min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=None)


_SMALL = 2**24
"""Less than this is never refused: limits are files to read."""


def check_memory(n_bytes: float, what: str, cure: str = "") -> None:
    """Raise if arrays would be larger than the whole memory that this process may use.

    Parameters
    ----------
    n_bytes : float
    what : str
        What needs so much; the message begins with it.
    cure : str
        Sentences at its end.

    Raises
    ------
    ValueError
    """
    if n_bytes < _SMALL:
        return
    limits = {
        "this machine's memory": physical_memory(),
        "the memory limit of this container": container_memory(),
        "the memory limit of this process": process_memory(),
    }
    for name, limit in limits.items():
        if limit is not None and n_bytes > limit:
            raise ValueError(
                f"{what} would take {n_bytes / _GIB:.4g} GiB, more than {name} of "
                f"{limit / _GIB:.4g} GiB. {cure}".rstrip()
            )
