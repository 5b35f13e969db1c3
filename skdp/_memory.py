"""What this machine can hold: an input that asks for more is named before anything is allocated."""

from __future__ import annotations

import ctypes
import os

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


def check_memory(n_bytes: float, what: str, cure: str = "") -> None:
    """Raise if arrays would be larger than the whole memory.

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
    memory = physical_memory()
    if memory is not None and n_bytes > memory:
        raise ValueError(
            f"{what} would take {n_bytes / _GIB:.4g} GiB, more than this machine's memory of "
            f"{memory / _GIB:.4g} GiB. {cure}".rstrip()
        )
