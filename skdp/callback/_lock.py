"""Locks of the operating system, which give the path of a checkpoint to one fit at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment,unused-ignore]  # a module on other systems
    import msvcrt

_held: dict[str, object] = {}
"""The real paths that fits of this process hold. System locks belong to a process, so they do not
distinguish its threads."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_held.clear)


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Return a context in which no other fit writes checkpoints to `path`, or raise ValueError."""
    key, mine, pid = os.path.normcase(os.path.realpath(path)), object(), os.getpid()
    if _held.setdefault(key, mine) is not mine:
        raise ValueError(_in_use(path, "of this process"))
    # The system's lock ends with the process, however that ends.
    lock_file = path.with_name(f"{path.name}.skdp-lock")
    try:
        descriptor = _open_locked(path, lock_file)
        try:
            yield
        finally:
            if descriptor is not None and os.getpid() == pid:  # not in a process forked meanwhile
                _release(descriptor, lock_file)
    finally:
        _held.pop(key, None)


def _open_locked(path: Path, lock_file: Path) -> int | None:
    """Return the descriptor of a locked file, None if files cannot be locked."""
    while True:
        try:
            descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:  # the folder is not writable, which the first checkpoint will report
            return None
        try:
            _lock(descriptor)
        except (BlockingIOError, PermissionError):
            os.close(descriptor)
            raise ValueError(_in_use(path, "of another process")) from None
        except OSError:
            _release(descriptor, lock_file)
            return None
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), os.stat(lock_file)):
                return descriptor
        os.close(descriptor)  # its owner has removed the file meanwhile


def _lock(descriptor: int) -> None:
    """Lock a file, or raise OSError at once."""
    if fcntl is not None:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        lock = msvcrt.LK_NBLCK  # type: ignore[attr-defined,unused-ignore]  # Windows only
        msvcrt.locking(descriptor, lock, 1)  # type: ignore[attr-defined,unused-ignore]  # the same


def _release(descriptor: int, lock_file: Path) -> None:
    """Remove the file of a lock and close it."""
    if fcntl is not None:  # remove it while locked: another fit may lock its own right after
        with contextlib.suppress(OSError):
            lock_file.unlink()
        os.close(descriptor)
    else:  # open files cannot be removed
        os.close(descriptor)
        with contextlib.suppress(OSError):
            lock_file.unlink()


def _in_use(path: Path, whose: str) -> str:
    return (
        f"The checkpoint {path} is in use by another fit {whose}. Give each fit a path of its own, "
        "or wait until that fit ends."
    )
