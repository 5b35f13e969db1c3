"""Reading and writing of containers as folders of .npy files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from skdp.data._writing import check_path, replace_file

Folder = str | os.PathLike[str]


def write_arrays(folder: Folder, arrays: dict[str, NDArray[Any] | None]) -> None:
    """Write arrays into a folder, which is created if needed; None removes a file."""
    place = check_path(folder, "folder")
    place.mkdir(parents=True, exist_ok=True)
    # All arrays are written before the first one replaces an older file: a failure changes nothing.
    # Files are replaced, not overwritten, because arrays may be mapped to them.
    with ExitStack() as stack:
        for name, array in arrays.items():
            if array is not None:
                file = stack.enter_context(replace_file(place / f"{name}.npy"))
                np.save(file, array)
                file.flush()
    for name, array in arrays.items():
        if array is None:
            (place / f"{name}.npy").unlink(missing_ok=True)


def read_array(folder: Folder, name: str, mmap_mode: str | None = None) -> NDArray[Any]:
    """Return an array in a folder, mapped to its file if `mmap_mode` is not None."""
    path = _find(folder, name)
    if mmap_mode is not None and 0 in read_shape(folder, name):
        mmap_mode = None  # empty arrays cannot be mapped
    try:
        if mmap_mode is not None:
            return npy.open_memmap(path, mmap_mode)
        with open(path, "rb") as file:
            return np.asarray(npy.read_array(file, allow_pickle=False))
    except Exception as error:  # damaged headers raise errors of many types
        raise _damage(path, error) from None


def as_saved(names: Sequence[str] | NDArray[Any] | None) -> NDArray[np.str_] | None:
    """Return names of columns or words as an array for a file."""
    if names is None:
        return None
    written = np.array(names, dtype=np.str_)
    if written.tolist() != list(names):
        raise ValueError("feature_names: a name that ends with NUL cannot be saved.")
    return written


def read_names(folder: Folder, n_names: int, what: str) -> list[str] | None:
    """Return the names in a folder, None if it has none; `what` says what they name."""
    if not Path(folder, "feature_names.npy").exists():
        return None
    names = read_array(folder, "feature_names")
    if names.shape != (n_names,) or names.dtype.kind != "U":
        raise ValueError(
            f"feature_names.npy must hold {n_names} strings, the names of {what}, got "
            f"{names.dtype} of shape {names.shape}."
        )
    return list(map(str, names.tolist()))


def read_shape(folder: Folder, name: str) -> tuple[int, ...]:
    """Return the shape of an array in a folder, reading only the header of the file."""
    path = _find(folder, name)
    with open(path, "rb") as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            return tuple(read(file)[0])
        except Exception as error:
            raise _damage(path, error) from None


def _find(folder: Folder, name: str) -> Path:
    """Return the path of an array's file, or raise if there is none."""
    path = check_path(folder, "folder") / f"{name}.npy"
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    return path


def _damage(path: Path, error: Exception) -> Exception:
    """Return an error that names the file, which errors of the system already do."""
    if isinstance(error, OSError) and error.filename is not None:
        return error
    return ValueError(f"{path} is damaged or holds no numbers: {error}")
