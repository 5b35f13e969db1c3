"""Which sweeps of a chain are kept, and which of those are stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

import numpy as np


def planned_sweeps(max_iter: int, burn_in: int, thin: int) -> list[int]:
    """Return the sweeps to keep, counted from 1: burn_in + 1, then every thin-th, and the last.

    There are none while the burn-in lasts.
    """
    sweeps = list(range(burn_in + 1, max_iter + 1, thin))
    if sweeps and sweeps[-1] != max_iter:
        sweeps.append(max_iter)
    return sweeps


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
    kept, stored : frozenset of int
        Without `last`.
    watched : frozenset of int
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
        planned, behind = planned_sweeps(max_iter, burn_in, thin), sorted(kept)
        is_off_grid = bool(planned) and (max_iter - burn_in - 1) % thin != 0
        is_ahead = n_sweeps <= max_iter and max_iter not in behind
        self.last = max_iter if is_off_grid and is_ahead else None
        ahead = [s for s in planned if s > n_sweeps or s == self.last]
        self.kept = frozenset(behind + ahead) - {self.last}
        is_sparse = len(self.kept) < N_WATCHED
        self.watched = frozenset(watched_sweeps(max_iter, burn_in) if is_sparse else ())
        wanted = evenly_spaced(behind + ahead, n_samples) if behind or ahead else []
        passed = [s for s in wanted if s not in ahead]
        there = list(stored)
        stand_ins = {min(there, key=lambda old: abs(old - s)) for s in passed} if there else set()
        self.stored = (frozenset(wanted) - {*passed, self.last}) | stand_ins

    def without_keeping(self) -> Schedule:
        """Return the plan to run as far and keep nothing."""
        schedule = copy(self)
        schedule.kept = schedule.stored = schedule.watched = frozenset()
        schedule.last = None
        return schedule
