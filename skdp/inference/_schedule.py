"""The schedule of a chain: the sweeps that are kept, stored and watched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from copy import copy
from itertools import chain

import numpy as np


class SweepSet(Set[int]):
    """A set of sweeps: an explicit set of a few, and a range of others, which takes no memory."""

    def __init__(self, few: Iterable[int] = (), ahead: range = range(0)):
        self._few, self._ahead = frozenset(few), ahead

    def __contains__(self, sweep: object) -> bool:
        """Return whether a sweep is in the set."""
        return sweep in self._few or sweep in self._ahead

    def __iter__(self) -> Iterator[int]:
        """Return an iterator over the sweeps, in no particular order."""
        return chain(self._few, self._ahead)

    def __len__(self) -> int:
        """Return the number of sweeps."""
        return len(self._few) + len(self._ahead)


def evenly_spaced(items: Sequence[int], n: int) -> list[int]:
    """Return `n` evenly spaced items, first and last included, or all; if n is 1, the last."""
    if n == 1:
        return [items[-1]]
    positions = np.linspace(0, len(items) - 1, min(n, len(items))).round().astype(int)
    return [items[position] for position in positions]


N_WATCHED = 24
"""If a chain keeps fewer sweeps, at least this many after its burn-in (or all) are watched."""


def watched_sweeps(max_iter: int, burn_in: int) -> list[int]:
    """Return evenly spaced sweeps after the burn-in: `N_WATCHED` to about twice that, or all."""
    # Multiples of a power of two remain useful if the chain continues with another burn-in.
    step = 1 << max(((max_iter - burn_in) // N_WATCHED).bit_length() - 1, 0)
    return list(range((burn_in // step + 1) * step, max_iter + 1, step))


class Schedule:
    """The plan of a chain: its length and the sweeps that it keeps, stores and watches.
    For each past sweep to be stored, the nearest one that is already `stored` stands in.
    """

    def __init__(
        self,
        max_iter: int,
        burn_in: int,
        thin: int,
        n_samples: int,
        kept: Iterable[int] = (),
        stored: Iterable[int] = (),
        n_sweeps: int = 0,
    ):
        self.max_iter = max_iter
        behind, grid = sorted(kept), range(burn_in + 1, max_iter + 1, thin)
        is_off_grid = bool(grid) and grid[-1] != max_iter
        is_ahead = n_sweeps <= max_iter and max_iter not in behind
        # A final sweep off the grid is kept and stored only if the chain ends there.
        self.last = max_iter if is_off_grid and is_ahead else None
        ahead = grid[bisect_right(grid, n_sweeps) :]
        self.kept = SweepSet(behind, ahead)
        is_sparse = len(self.kept) < N_WATCHED
        self.watched = SweepSet(watched_sweeps(max_iter, burn_in) if is_sparse else ())
        n_behind, n_kept = len(behind), len(behind) + len(ahead)
        n_items = n_kept + (self.last is not None)
        passed, few, rest = behind, list[int](), ahead
        if n_samples < n_items:
            places = evenly_spaced(range(n_items), n_samples)
            passed = [behind[p] for p in places if p < n_behind]
            few, rest = [ahead[p - n_behind] for p in places if n_behind <= p < n_kept], range(0)
        there = list(stored)
        stand_ins = {min(there, key=lambda old: abs(old - s)) for s in passed} if there else set()
        self.stored = SweepSet({*few, *stand_ins}, rest)

    def without_keeping(self) -> Schedule:
        """Return a schedule of the same length that keeps no sweeps."""
        schedule = copy(self)
        schedule.kept = schedule.stored = schedule.watched = SweepSet()
        schedule.last = None
        return schedule
