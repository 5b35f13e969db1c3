"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from uuid import uuid4


def check_path(path: Any, name: str) -> Path:
    """Return a path, or raise a TypeError that names the argument.

    An integer is no path: Python's ``open`` would write to the file descriptor and close it.
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"{name} must be a str or a path-like object, got {type(path).__name__}.")
    return Path(path)


@contextlib.contextmanager
def replace_file(path: Path, mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """Open a new file next to `path`, which takes its place once everything is written.

    If anything fails before, what was at `path` stays as it was. A link stays a link, to the new
    file. What is no regular file, such as a pipe or ``/dev/stdout``, is written to.

    Parameters
    ----------
    path : Path
    mode : {"wb", "w"}, default="wb"
    **options : as for ``open``
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(path, mode, **options) as file:
            yield file
        return
    beside = target.with_name(f"{target.name}.{uuid4().hex[:12]}.part")
    try:
        with open(beside, mode, **options) as file:
            yield file
        with contextlib.suppress(OSError):  # there was no file, or its permissions stay unknown
            shutil.copymode(target, beside)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
