"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
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
def replace_file(
    path: Path, mode: str = "wb", *, is_durable: bool = False, **options: Any
) -> Iterator[IO[Any]]:
    """Open a new file next to `path`, which takes its place once everything is written.

    If anything fails before, what was at `path` stays as it was. A link stays a link, to the new
    file. What is no regular file, such as a pipe or ``/dev/stdout``, is written to.

    Parameters
    ----------
    path : Path
    mode : {"wb", "w"}, default="wb"
    is_durable : bool, default=False
        Whether to wait until the file and its name are on the disk, not only in the system's cache.
    **options : as for ``open``
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(path, mode, **options) as file:
            yield file
        return
    beside = target.with_name(f"{target.name}.{os.getpid()}.{uuid4().hex[:12]}.part")
    try:
        with open(beside, mode, **options) as file:
            yield file
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        with contextlib.suppress(OSError):  # there was no file, or its permissions stay unknown
            shutil.copymode(target, beside)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
    if is_durable:
        _flush_folder(target.parent)


def remove_stale_parts(path: Path) -> None:
    """Remove what processes that were killed in `replace_file` have left next to `path`.

    The files of a living process stay, since it may still write to them.
    """
    target = Path(os.path.realpath(path))
    name = re.compile(re.escape(target.name) + r"\.(\d+)\.[0-9a-f]{12}\.part")
    with contextlib.suppress(OSError):  # a folder that cannot be listed
        for beside in target.parent.iterdir():
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
