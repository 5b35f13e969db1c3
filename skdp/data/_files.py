"""Containers as folders of .npy files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

Folder = str | os.PathLike[str]


def write_arrays(folder: Folder, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays into a folder, which is made if there is none.

    A file that exists is replaced, not written to: an array may be mapped to it.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        beside = place / f"{name}.npy.{os.getpid()}.part"
        try:
            with open(beside, "wb") as file:
                np.save(file, array)
            os.replace(beside, place / f"{name}.npy")
        finally:
            beside.unlink(missing_ok=True)


def read_array(folder: Folder, name: str, mmap_mode: str | None = None) -> NDArray[Any]:
    """Return an array of a folder, mapped to its file if wanted.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it holds no array, or one of objects.
    """
    path = Path(folder, f"{name}.npy")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if mmap_mode is not None and 0 in read_shape(folder, name):
        mmap_mode = None  # nothing cannot be mapped
    try:
        return np.load(path, mmap_mode=mmap_mode, allow_pickle=False)  # type: ignore[arg-type]
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} is damaged or holds no numbers: {error}") from None


def read_shape(folder: Folder, name: str) -> tuple[int, ...]:
    """Return the shape of an array of a folder, without reading more than the file's head.

    Raises
    ------
    FileNotFoundError, ValueError
        As `read_array`.
    """
    path = Path(folder, f"{name}.npy")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    with open(path, "rb") as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            return tuple(read(file)[0])
        except ValueError as error:
            raise ValueError(f"{path} is damaged or holds no numbers: {error}") from None
