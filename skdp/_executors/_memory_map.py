"""Arrays that are mapped to unnamed temporary files, which end with the process.

The system can reclaim such memory at any time, because its content is on disk.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEAST = 2**16
"""Smallest number of bytes for which an array gets a file."""


def map_to_files(container: Any, where: str) -> Any:
    """Return a container whose large arrays are in files; `where` names it in the OSError."""
    try:
        values, *ptrs = (_written(array) for array in (container._values, *container._ptrs))
    except OSError as error:
        raise OSError(
            f"{where} is computed or sent, and could not be written to a file of the folder "
            f"{files_folder()}: {error}"
        ) from error
    return container._like(values, tuple(ptrs))


def _written(array: NDArray[Any]) -> NDArray[Any]:
    if array.nbytes < _LEAST:
        return array
    own = zeros(array.shape, array.dtype)
    own[...] = array
    return own


def zeros(shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """Return an array of zeros, in a file if it is large; OSError if there is no room."""
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if n_bytes < _LEAST:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile(prefix="skdp-", dir=files_folder()) as file:
        _reserve(file.fileno(), n_bytes)
        # Return a plain ndarray. The map outlives the file descriptor, and keeps the file alive.
        return np.asarray(np.memmap(file, dtype, "r+", shape=shape))


def _reserve(descriptor: int, n_bytes: int) -> None:
    """Allocate a file: otherwise a full disk would kill the process on a write to the map."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, n_bytes)
    else:  # systems whose files are not sparse
        os.truncate(descriptor, n_bytes)


def files_folder() -> str:
    """Return the folder for files: the local one of a Dask worker, else the system's."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            return str(distributed.get_worker().local_directory)
        except ValueError:  # not in a worker
            pass
    return tempfile.gettempdir()
