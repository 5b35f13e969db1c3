"""Batches of sequences that kernels process together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skdp._numeric._typing import Places

_ROOM = 2**17
"""Largest number of values kept of a batch with several sequences; they fit in a cache."""


class Batches:
    """Batches of consecutive sequences, for each of which a kernel is called once."""

    def __init__(self, ptr: Places, n_columns: int, together: int = 1):
        self._ptr, self._n_columns = ptr, n_columns  # values kept of each step
        # Largest number of steps of a batch, which has room for any `together` sequences.
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
