"""Arrays in files that have no name: mapped to memory, and gone with the process.

Such memory can be taken back at any time, since what is in it is on the disk.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEAST = 2**16
"""Bytes of an array that is worth a file."""


def spool(container: Any, where: str) -> Any:
    """Return a container whose arrays are in files, if they are large.

    Parameters
    ----------
    container : Ragged
    where : str
        What errors call it.

    Raises
    ------
    OSError
        If there is no room for the files.
    """
    try:
        values, *ptrs = (_written(array) for array in (container._values, *container._ptrs))
    except OSError as error:
        raise OSError(
            f"{where} is computed or sent, and could not be written to a file of the folder "
            f"{spool_folder()}: {error}"
        ) from error
    return container._like(values, tuple(ptrs))


def _written(array: NDArray[Any]) -> NDArray[Any]:
    if array.nbytes < _LEAST:
        return array
    own = zeros(array.shape, array.dtype)
    own[...] = array
    return own


def zeros(shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """Return an array of zeros, in a file if it is large.

    Raises
    ------
    OSError
        If there is no room for the file.
    """
    n_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if n_bytes < _LEAST:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile(prefix="skdp-", dir=spool_folder()) as file:
        _reserve(file.fileno(), n_bytes)
        # An exact ndarray. The map outlives the file's descriptor, and the file the map alone.
        return np.asarray(np.memmap(file, dtype, "r+", shape=shape))


def _reserve(descriptor: int, n_bytes: int) -> None:
    """Give a file its size: a full disk would end the process when the map is written to."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, n_bytes)
    else:  # systems whose files are never larger than what is written
        os.truncate(descriptor, n_bytes)


def spool_folder() -> str:
    """Return the folder for files: that of the worker, in one of Dask, else that of the system."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            return str(distributed.get_worker().local_directory)
        except ValueError:  # not in a worker
            pass
    return tempfile.gettempdir()
