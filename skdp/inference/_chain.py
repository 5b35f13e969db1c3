"""Markov chains: their schedule and progress, delayed interrupts, and iteration over sweeps."""

from __future__ import annotations

import signal
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from copy import copy, deepcopy
from itertools import chain
from types import FrameType, TracebackType
from typing import Any, Protocol, Self

import numpy as np

# The schedule of a chain: the sweeps that are kept, stored and watched.


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


# A chain: a sampler, averages over the kept sweeps, and the progress.


class Sampler(Protocol):
    """The interface of samplers, which hold the current state of a chain."""

    def sweep(self) -> None:
        """Draw every variable once."""

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records, among them "log_joint"."""

    def model(self) -> Any:
        """Return the current sample as a small model that does not depend on the chain."""

    def state(self) -> Any:
        """Return a read-only view of the state."""

    def copy(self) -> Any:
        """Return a copy of the sampler with its own arrays."""

    def detach(self) -> None:
        """Drop the data and everything that can be recomputed from them."""


class Averages(Protocol):
    """Running means over the kept sweeps of one chain."""

    def add(self, sampler: Any) -> None:
        """Add the sampler's current state to the means."""


class NoAverages:
    """Placeholder without means, for models whose average over samples would be no model."""

    def add(self, sampler: Any) -> None:
        """Do nothing."""


_JUDGED = ("log_joint", "n_components", "n_active_components")
"""Scalars by which the convergence of a chain is judged."""


class Chain:
    """A chain that can be stopped after any sweep, pickled, and continued."""

    def __init__(self, sampler: Any, averages: Any):
        self.sampler = sampler
        self.averages = averages
        self.n_sweeps = 0
        self.kept: list[int] = []  # sweeps, counted from 1
        self.trace: list[dict[str, float]] = []  # scalars of each kept sweep
        self.models: dict[int, Any] = {}  # stored samples by sweep
        self.watched: dict[int, dict[str, float]] = {}  # by sweep, if the chain keeps few sweeps
        self.last: int | None = None  # the final sweep, if it is kept only because the chain ends

    def plan(self, max_iter: int, burn_in: int, thin: int, n_samples: int) -> Schedule:
        """Return the schedule of the remaining sweeps, and drop models that it does not store."""
        schedule = Schedule(
            max_iter, burn_in, thin, n_samples, self.kept, self.models, self.n_sweeps
        )
        self.models = {s: model for s, model in self.models.items() if s in schedule.stored}
        self.last = schedule.last
        self.watched = {s: row for s, row in self.watched.items() if s in schedule.watched}
        return schedule

    def advance(self, schedule: Schedule) -> None:
        """Do one sweep, and keep, store or watch it as the schedule demands."""
        self.sampler.sweep()
        self.n_sweeps += 1
        is_kept = self.n_sweeps in schedule.kept
        if is_kept:
            self.keep(store=self.n_sweeps in schedule.stored)
        if self.n_sweeps in schedule.watched:
            scalars = self.trace[-1] if is_kept else self.sampler.scalars()
            self.watched[self.n_sweeps] = {
                name: scalars[name] for name in _JUDGED if name in scalars
            }

    def keep(self, *, store: bool = True) -> None:
        """Add the current state to the averages and the trace, and store it as a model."""
        self.averages.add(self.sampler)
        self.trace.append(self.sampler.scalars())
        self.kept.append(self.n_sweeps)
        if store:
            self.models[self.n_sweeps] = self.sampler.model()

    def showing(self, *, final: bool = False) -> Chain:
        """Return a chain with at least one kept and stored sample, if need be the current state.
        With `final` this chain ends here, and its last sweep is kept permanently.
        """
        if not self.kept:
            return self.with_current()
        is_last = self.n_sweeps == self.last
        chain = self
        if is_last or not self.models:  # with n_samples=1, a stopped chain has stored none
            chain = self if final else self._fork()
        if is_last:
            chain.keep()
        elif not chain.models:
            chain.models = {self.n_sweeps: self.sampler.model()}
        return chain

    def judged(self) -> tuple[list[int], list[dict[str, float]]]:
        """Return the sweeps by which convergence is judged, and their scalars."""
        if self.watched:
            return list(self.watched), list(self.watched.values())
        return self.kept, self.trace

    def _fork(self) -> Chain:
        """Return a copy that keeps samples independently of this chain but shares its sampler."""
        chain = copy(self)
        chain.averages = deepcopy(self.averages)
        chain.kept, chain.trace, chain.models = [*self.kept], [*self.trace], {**self.models}
        return chain

    def with_current(self) -> Chain:
        """Return a chain that has kept only the current state; this chain is unchanged."""
        chain = Chain(self.sampler, type(self.averages)())
        chain.n_sweeps = self.n_sweeps
        chain.keep()
        return chain

    def run(self, schedule: Schedule) -> Iterator[Chain]:
        """Yield the chain after each remaining sweep."""
        while self.n_sweeps < schedule.max_iter:
            self.advance(schedule)
            yield self

    def detached(self) -> Chain:
        """Return a copy of the chain without its data, to be pickled at once."""
        chain = copy(self)
        chain.sampler = self.sampler.copy()
        chain.sampler.detach()
        return chain

    @property
    def mean_log_joint(self) -> float:
        """Mean log joint of the kept sweeps."""
        return sum(row["log_joint"] for row in self.trace) / len(self.trace)


# Guards that delay exceptions from signal handlers until the end of a sweep.


try:  # `signal` wraps these and makes enumeration members, which takes as long as a small sweep
    from _signal import getsignal as handler_of
    from _signal import signal as set_handler
except ImportError:
    from signal import getsignal as handler_of
    from signal import signal as set_handler

SIGNALS = tuple(int(signum) for signum in signal.valid_signals())


_open_guards: list[InterruptGuard] = []
"""Open guards of the main thread, with the innermost last."""


def check_interrupts() -> None:
    """Raise any exception that guards hold back; for interruptible work before the first sweep."""
    if threading.current_thread() is threading.main_thread():
        for guard in list(_open_guards):
            guard.check()


def is_interrupted() -> bool:
    """Return whether guards hold back an exception, so that optional work can stop at once."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    return in_main_thread and any(guard.is_holding for guard in _open_guards)


class InterruptGuard:
    """Hold back exceptions of signal handlers until `check` is called, so that sweeps are complete.
    Handlers run as usual, and only what they raise is delayed. A second exception is raised at
    once.
    """

    def __enter__(self) -> InterruptGuard:
        self.released: BaseException | None = None  # what `check` has raised
        self._held: BaseException | None = None
        self._is_open = True
        self._replaced: dict[int, tuple[Any, Any]] = {}
        # Only handlers written in Python raise exceptions, and only in the main thread.
        if threading.current_thread() is threading.main_thread():
            try:
                _open_guards.append(self)
                for signum in SIGNALS:
                    handler = handler_of(signum)
                    if callable(handler):
                        self._replace(signum, handler)
            except BaseException:  # from a handler that is not yet replaced
                self._restore()
                raise
        return self

    def _replace(self, signum: int, handler: Callable[[int, FrameType | None], Any]) -> None:
        mine = self._make_handler(handler)
        self._replaced[signum] = mine, handler
        set_handler(signum, mine)

    def _make_handler(self, handler: Callable[[int, FrameType | None], Any]) -> Any:
        def hold_back(signum: int, frame: FrameType | None) -> None:
            try:
                handler(signum, frame)
            except BaseException as error:
                if self._held is not None or not self._is_open:
                    raise
                self._held = error

        return hold_back

    def _restore(self) -> None:
        # If a handler raises in here, some may stay replaced, but they no longer hold back.
        self._is_open = False
        if self in _open_guards:
            _open_guards.remove(self)
        for signum, (mine, handler) in self._replaced.items():
            if handler_of(signum) is mine:  # else the user has set another handler meanwhile
                set_handler(signum, handler)

    @property
    def is_holding(self) -> bool:
        """Whether there is an exception for `check` to raise."""
        return self._held is not None

    def check(self) -> None:
        """Raise the exception that was held back since the last call, if any."""
        if self._held is not None:
            self.released, self._held = self._held, None
            raise self.released

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._restore()
        if kind is None:
            self.check()


# An iterator over the sweeps of a chain, for users who watch it.


class SweepIterator:
    """Iterator over the states of a chain, one after every sweep.

    An exception that a signal handler raises during a sweep, such as Ctrl-C, is raised when the
    sweep is complete; the next call returns its state. So an interrupted loop can continue.

    Parameters
    ----------
    chain : Chain
    schedule : Schedule
    """

    def __init__(self, chain: Chain, schedule: Schedule):
        self._chain = chain
        self._schedule = schedule
        self._is_torn = False
        self._is_due = False
        """Whether the state of a completed sweep has not been returned yet."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        """Do a sweep and return the state.

        Raises
        ------
        RuntimeError
            If an error or a second Ctrl-C interrupted an earlier sweep.
        """
        if self._is_torn:
            raise RuntimeError(
                "The last sweep ended part-way with an error, and the chain cannot continue. Call "
                "iter_sweeps again."
            )
        if not self._is_due:
            if self._chain.n_sweeps >= self._schedule.max_iter:
                raise StopIteration
            with InterruptGuard():
                self._is_torn = True
                self._chain.advance(self._schedule)
                self._is_torn, self._is_due = False, True
        self._is_due = False
        return self._chain.sampler.state()
