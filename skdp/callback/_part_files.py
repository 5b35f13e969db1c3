"""Files for the parts of a fit that partitions hold, next to the checkpoint that names them."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path
from uuid import uuid4

_GENERATION = re.compile(r"step-\d{8,}-[0-9a-f]{8}")


def part_header(path: Path) -> bytes:
    """Return the header of a partition's file, which identifies the step that it belongs to."""
    return f"skdp partition {path.parent.name}/{path.name}\n".encode()


class PartFiles:
    """The folders of a checkpoint, each with the files of all partitions at a step.
    The checkpoint names a folder that is complete; others are removed only after it is written.
    """

    def __init__(self, path: Path):
        self._folder = path.absolute().with_name(f"{path.name}.parts")

    def make(self, n_steps: int) -> Path:
        """Return a new folder for the parts that partitions hold after `n_steps` steps."""
        folder = self._folder / f"step-{n_steps:08d}-{uuid4().hex[:8]}"
        folder.mkdir(parents=True)
        return folder

    def find(self, name: str) -> Path:
        """Return the path of the folder with a name."""
        return self._folder / name

    def keep(self, name: str | None) -> None:
        """Remove all folders except `name`."""
        if not self._folder.is_dir():
            return
        for folder in self._folder.iterdir():
            if folder.name != name and _GENERATION.fullmatch(folder.name):
                shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # it is not empty
            self._folder.rmdir()
