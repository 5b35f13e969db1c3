"""Where windows lie in sequences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class WindowLayout:
    """Overlapping windows of the sequences of a panel."""

    starts: NDArray[np.int64]  # (W,), window i holds the steps starts[i] to ends[i] - 1
    ends: NDArray[np.int64]  # (W,)
    ptr: NDArray[np.int64]  # (n + 1,), windows of the sequences
    step_ptr: NDArray[np.int64]  # (n + 1,), steps of the sequences

    @classmethod
    def of(cls, step_ptr: NDArray[np.int64], width: int, hop: int) -> Self:
        """Return windows of `width` steps, every `hop` steps; a shorter sequence is one window."""
        lengths = np.diff(step_ptr)
        n_windows = 1 + np.maximum(lengths - width, 0) // hop
        ptr = np.concatenate([[0], np.cumsum(n_windows)])
        number = np.arange(ptr[-1]) - np.repeat(ptr[:-1], n_windows)
        starts = np.repeat(step_ptr[:-1], n_windows) + number * hop
        ends = np.minimum(starts + width, np.repeat(step_ptr[1:], n_windows))
        return cls(starts, ends, ptr, step_ptr)

    def nearest_inner(self, is_observed: NDArray[np.bool_], reach: int) -> NDArray[np.int64]:
        """Return the nearest window of its sequence amid `reach` observed steps, else itself."""
        n_windows, number = np.diff(self.ptr), np.arange(self.ptr[-1])
        begin, end = self.starts - reach, self.ends + reach
        is_inner = begin >= np.repeat(self.step_ptr[:-1], n_windows)
        is_inner &= end <= np.repeat(self.step_ptr[1:], n_windows)
        n_missing = np.concatenate([[0], np.cumsum(~is_observed)])
        end = np.minimum(end, len(is_observed))
        is_inner &= n_missing[end] == n_missing[np.maximum(begin, 0)]
        before = np.maximum.accumulate(np.where(is_inner, number, -1))
        after = np.minimum.accumulate(np.where(is_inner, number, self.ptr[-1])[::-1])[::-1]
        first, last = np.repeat(self.ptr[:-1], n_windows), np.repeat(self.ptr[1:], n_windows)
        return np.where(before >= first, before, np.where(after < last, after, number))

    @property
    def first_steps(self) -> NDArray[np.int64]:
        """The first of the steps that are nearest to the center of each window, (W,)."""
        middle = self.starts + self.ends
        first = np.empty(len(middle), dtype=np.int64)
        first[1:] = (middle[1:] + middle[:-1] + 2) // 4
        first[self.ptr[:-1]] = self.step_ptr[:-1]
        return first

    def spread(self, rows: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return the row of its window for each step."""
        lengths = np.diff(np.append(self.first_steps, self.step_ptr[-1]))
        return np.repeat(rows, lengths, axis=0)

    def thin(self, step: int) -> NDArray[np.int64]:
        """Return the numbers of every `step`-th window of each sequence."""
        parts = [np.arange(first, last, step) for first, last in pairwise(self.ptr)]
        return np.concatenate(parts)
