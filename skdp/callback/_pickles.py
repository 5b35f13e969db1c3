"""Pickles with a hash of their content, by which changes of a file are detected."""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeVar

from skdp.data._writing import replace_file

_CHUNK = 2**20

Content = TypeVar("Content")


class _HashingWriter:
    """A file for writing, with the hash of all bytes written."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self.hash = hashlib.sha256()

    def write(self, data: Any) -> int:
        """Write bytes and add them to the hash."""
        self.hash.update(data)
        return self._file.write(data)


def write_checked(path: Path, content: Any, header: bytes) -> int:
    """Write a header, the pickle of `content` and a hash of both; return the size of the file."""
    with replace_file(path, is_durable=True) as file:
        writer = _HashingWriter(file)
        writer.write(header)
        pickle.dump(content, writer, protocol=5)
        file.write(writer.hash.digest())
        return file.tell()


def read_checked(path: Path, header: bytes) -> list[Any]:
    """Return the list written with this header, or raise ValueError if the file has changed."""
    with open(path, "rb") as file:
        check_unchanged(file, path)
        if file.read(len(header)) != header:
            raise ValueError(_damaged(path))
        return unpickle(file, path, list)


def check_unchanged(file: BinaryIO, path: Path) -> None:
    """Raise ValueError unless a file ends with the hash of all bytes before; rewind the file.
    Call this before `unpickle`, because a changed pickle can crash the process.
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
    """Return the object of class `kind` that is pickled at the current position of a file."""
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
        "checkpoint to start over, or give another path."
    )
