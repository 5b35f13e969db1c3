"""Which sweeps of a chain are kept, and which of those are stored."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from copy import copy
from itertools import chain

import numpy as np


class SweepSet(Set[int]):
    """Numbers of sweeps: any that have passed or are few, and a range of those ahead.

    Those ahead take no memory: a chain may be planned for a billion sweeps, to be stopped in time.

    Parameters
    ----------
    few : iterable of int
        None of them is in `ahead`.
    ahead : range
    """

    def __init__(self, few: Iterable[int] = (), ahead: range = range(0)):
        self._few, self._ahead = frozenset(few), ahead

    def __contains__(self, sweep: object) -> bool:
        """Tell whether a sweep is one of them."""
        return sweep in self._few or sweep in self._ahead

    def __iter__(self) -> Iterator[int]:
        """Return an iterator over them, in no order."""
        return chain(self._few, self._ahead)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._few) + len(self._ahead)


def evenly_spaced(items: Sequence[int], n: int) -> list[int]:
    """Return `n` of the items, the first and the last among them, or all if there are fewer.

    A single one is the last.
    """
    if n == 1:
        return [items[-1]]
    positions = np.linspace(0, len(items) - 1, min(n, len(items))).round().astype(int)
    return [items[position] for position in positions]


N_WATCHED = 24
"""Where a chain keeps fewer sweeps, so many of those after its burn-in are watched, or all."""


def watched_sweeps(max_iter: int, burn_in: int) -> list[int]:
    """Return the sweeps to watch where few are kept: after the burn-in, evenly spaced.

    They are `N_WATCHED` to about twice as many, or all that there are, and multiples of a power of
    two: of a chain that goes on, what has been watched is of use, whatever its burn-in is then.
    """
    step = 1 << max(((max_iter - burn_in) // N_WATCHED).bit_length() - 1, 0)
    return list(range((burn_in // step + 1) * step, max_iter + 1, step))


class Schedule:
    """The plan of a chain: how far it runs, what it keeps, stores and watches.

    Parameters
    ----------
    max_iter, burn_in, thin : int
        As in the estimators.
    n_samples : int
        Kept samples to store as models.
    kept : iterable of int
        Sweeps that the chain has kept already; they stay.
    stored : iterable of int
        Those of them that are stored as models: of the sweeps to store that have passed, the
        nearest of these stands in.

    Attributes
    ----------
    kept, stored : SweepSet
        Those that have passed and those to come: burn_in + 1, then every thin-th. Without `last`.
    watched : SweepSet
        Sweeps that tell whether the chain has converged where few are kept; empty where enough are.
    last : int or None
        The last sweep, where it is none of every thin-th: it is kept and stored only as long as the
        chain ends there.
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
        """Return the plan to run as far and keep nothing."""
        schedule = copy(self)
        schedule.kept = schedule.stored = schedule.watched = SweepSet()
        schedule.last = None
        return schedule
