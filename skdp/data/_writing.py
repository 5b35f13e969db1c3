"""Atomic writing of files."""

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
    """Return a path, or raise a TypeError that names the argument."""
    # An integer is not a path: Python's ``open`` would write to the file descriptor and close it.
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"{name} must be a str or a path-like object, got {type(path).__name__}.")
    return Path(path)


@contextlib.contextmanager
def replace_file(
    path: Path, mode: str = "wb", *, is_durable: bool = False, **options: Any
) -> Iterator[IO[Any]]:
    """Open a new file next to `path`, which replaces `path` once everything is written.

    After a failure `path` is unchanged. A link stays a link, to the new file; a pipe or a device is
    written to directly. `is_durable`: wait until the file and its name are on disk.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(path, mode, **options) as file:
            yield file
        return
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.{uuid4().hex[:12]}.part")
    try:
        with open(unfinished, mode, **options) as file:
            yield file
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        with contextlib.suppress(OSError):  # there was no file, or its permissions are unknown
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
    if is_durable:
        _flush_folder(target.parent)


def remove_stale_parts(path: Path) -> None:
    """Remove files that killed processes have left next to `path` in `replace_file`."""
    target = Path(os.path.realpath(path))
    name = re.compile(re.escape(target.name) + r"\.(\d+)\.[0-9a-f]{12}\.part")
    with contextlib.suppress(OSError):  # a folder that cannot be listed
        for unfinished in target.parent.iterdir():
            match = name.fullmatch(unfinished.name)
            if match and not _may_be_alive(int(match[1])):
                with contextlib.suppress(OSError):
                    unfinished.unlink()


def _may_be_alive(pid: int) -> bool:
    """Return whether a process with this number may exist and write to a file."""
    if sys.platform == "win32":  # where os.kill is no query, but open files cannot be removed
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # a process of another user
        pass
    return True


def _flush_folder(folder: Path) -> None:
    """Flush a rename to disk, if the system can open folders."""
    with contextlib.suppress(OSError):  # Windows
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
