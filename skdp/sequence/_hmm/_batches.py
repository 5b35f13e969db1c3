"""Batches of sequences that kernels process together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skdp._numeric._typing import Places

_ROOM = 2**17
"""Largest number of values kept of a batch with several sequences; they fit in a cache."""


class Batches:
    """Batches of consecutive sequences; kernels are called once per batch.

    Parameters
    ----------
    ptr : (n + 1,) array of int64
        Sequence s is steps ``ptr[s]`` to ``ptr[s + 1] - 1``.
    n_columns : int
        Number of values kept per step.
    together : int, default=1
        Number of sequences for which every batch has room.

    Attributes
    ----------
    n_steps : int
        Largest number of steps of a batch.
    """

    def __init__(self, ptr: Places, n_columns: int, together: int = 1):
        self._ptr, self._n_columns = ptr, n_columns
        self.n_steps = min(max(together * find_longest(ptr), _ROOM // n_columns), int(ptr[-1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of an array with a row for each step of any batch."""
        return self.n_steps, self._n_columns

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield the first sequence of every batch, and the sequence after its last one."""
        first, ptr = 0, self._ptr
        while first < len(ptr) - 1:
            last = int(np.searchsorted(ptr, ptr[first] + self.n_steps, side="right")) - 1
            yield first, last
            first = last


def find_longest(ptr: Places) -> int:
    """Return the length of the longest sequence, at least 1."""
    return int(np.diff(ptr).max(initial=1))
