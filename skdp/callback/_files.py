"""Files that are whole or not there at all, and that notice when they are changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

_CHUNK = 2**20

Content = TypeVar("Content")


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


def remove_stale_parts(path: Path) -> None:
    """Remove the incomplete files that processes left when they were killed.

    Those of a process that lives stay: it may still write.
    """
    name = re.compile(re.escape(path.name) + r"\.(\d+)\.part")
    with contextlib.suppress(OSError):  # a folder that cannot be listed
        for beside in path.absolute().parent.iterdir():
            match = name.fullmatch(beside.name)
            if match and not _may_be_alive(int(match[1])):
                with contextlib.suppress(OSError):
                    beside.unlink()


def _may_be_alive(pid: int) -> bool:
    """Return whether there may be a process with this number that writes to a file."""
    if sys.platform == "win32":  # which has no such question, but lets no open file be removed
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # a process of another user
        pass
    return True


def _flush_folder(folder: Path) -> None:
    """Make sure that a rename reaches the disk, where folders can be opened."""
    with contextlib.suppress(OSError):  # Windows
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class _HashingWriter:
    """A file to write to, and the hash of all that was written."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self.hash = hashlib.sha256()

    def write(self, data: Any) -> int:
        """Write bytes and take them into the hash."""
        self.hash.update(data)
        return self._file.write(data)


def write_checked(path: Path, content: Any, header: bytes) -> int:
    """Write a header, the pickle of `content` and a hash of both; return the size of the file."""
    with written_whole(path) as file:
        writer = _HashingWriter(file)
        writer.write(header)
        pickle.dump(content, writer, protocol=5)
        file.write(writer.hash.digest())
        return file.tell()


def read_checked(path: Path, header: bytes) -> list[Any]:
    """Return the list of a file that `write_checked` wrote with this header.

    Raises
    ------
    ValueError
        If the file differs from what was written.
    """
    with open(path, "rb") as file:
        check_unchanged(file, path)
        if file.read(len(header)) != header:
            raise ValueError(_damaged(path))
        return unpickle(file, path, list)


def check_unchanged(file: BinaryIO, path: Path) -> None:
    """Raise ValueError unless a file ends with the hash of all bytes before; go to its beginning.

    It is to be called before `unpickle`: a changed pickle can end the process.
    """
    found = hashlib.sha256()
    n_left = file.seek(0, os.SEEK_END) - found.digest_size
    file.seek(0)
    while n_left > 0:
        chunk = file.read(min(n_left, _CHUNK))
        found.update(chunk)
        n_left -= len(chunk)
    if n_left < 0 or file.read() != found.digest():
        raise ValueError(_damaged(path))
    file.seek(0)


def unpickle(file: BinaryIO, path: Path, kind: type[Content]) -> Content:
    """Return the object of a kind that a file holds, from its current place on."""
    try:
        content = pickle.load(file)
    except Exception as error:
        raise ValueError(_damaged(path)) from error
    if not isinstance(content, kind):
        raise ValueError(_damaged(path))
    return content


def _damaged(path: Path) -> str:
    return (
        f"The file {path} of a checkpoint is damaged: it differs from what was written. Delete the "
        "checkpoint to start anew, or give another path."
    )
