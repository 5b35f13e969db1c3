"""Files that are whole or not there at all, and that one fit at a time writes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_BLOCK = 2**20


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` once it is complete and on the disk.

    Whatever goes wrong before, what was at `path` stays there.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make sure that a rename reaches the disk, where folders can be opened."""
    with contextlib.suppress(OSError):  # Windows
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class _Digesting:
    """A file that is written, and the digest of what has been written to it."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self.digest = hashlib.blake2b()

    def write(self, data: Any) -> int:
        """Write bytes; return their number."""
        self.digest.update(data)
        return self._file.write(data)


def write_checked(path: Path, content: Any, header: bytes = b"") -> int:
    """Write a header, the pickle of an object and a digest of both; return the size of the file."""
    with written_whole(path) as file:
        digesting = _Digesting(file)
        digesting.write(header)
        pickle.dump(content, digesting, protocol=5)
        file.write(digesting.digest.digest())
        return file.tell()


def read_checked(path: Path, n_header: int = 0) -> Any:
    """Return the object that `write_checked` has written.

    Parameters
    ----------
    path : Path
    n_header : int, default=0
        Bytes of the header.

    Raises
    ------
    ValueError
        If the file is not as it was written.
    """
    digest = hashlib.blake2b()
    with open(path, "rb") as file:
        n_left = os.fstat(file.fileno()).st_size - digest.digest_size
        while block := file.read(min(_BLOCK, max(n_left, 0))):
            digest.update(block)
            n_left -= len(block)
        # Nothing is unpickled before: a flipped bit can end the interpreter.
        if n_left != 0 or file.read() != digest.digest():
            raise ValueError(f"The checkpoint {path} is damaged.")
        file.seek(n_header)
        try:
            return pickle.load(file)
        except Exception as error:  # by other versions of what is in it
            raise ValueError(f"The checkpoint {path} cannot be read: {error}") from error


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other fits from `path`, and clear what fits that were killed have left beside it.

    The lock ends with the process that holds it. Where there are no such locks, on Windows and on
    some network drives, nothing is locked or cleared.

    Raises
    ------
    ValueError
        If another fit is under way that writes to `path`.
    """
    descriptor = _acquire(path)
    if descriptor is None:
        yield
        return
    try:
        _clear(path)
        yield
    finally:
        _lock_of(path).unlink(missing_ok=True)
        os.close(descriptor)


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _acquire(path: Path) -> int | None:
    """Return the descriptor of a lock, None where files cannot be locked."""
    if fcntl is None:
        return None
    while True:
        try:
            descriptor = os.open(_lock_of(path), os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:  # a folder that cannot be written to: writing tells of it
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise ValueError(
                f"Another fit that is under way writes to the checkpoint {path}. Give each fit a "
                "path of its own, or wait for the other one."
            ) from None
        except OSError:
            os.close(descriptor)
            return None
        # Whoever held the lock may have removed its file just before it was ours.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(_lock_of(path))):
                return descriptor
        os.close(descriptor)


def _clear(path: Path) -> None:
    """Remove files that were never completed."""
    unfinished = re.compile(re.escape(path.name) + r"\.\d+\.part")
    for file in path.absolute().parent.iterdir():
        if unfinished.fullmatch(file.name):
            file.unlink(missing_ok=True)
