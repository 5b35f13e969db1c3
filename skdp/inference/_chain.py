"""One Markov chain: a sampler, the averages of what it kept, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy, deepcopy
from typing import Any, Protocol

from skdp.inference._schedule import Schedule


class Sampler(Protocol):
    """The moving part of a chain, and what it shows of itself."""

    def sweep(self) -> None:
        """Draw every variable once."""

    def scalars(self) -> dict[str, float]:
        """Return what the trace records, "log_joint" among it."""

    def model(self) -> Any:
        """Return the current sample as a small model, detached from the chain."""

    def state(self) -> Any:
        """Return a read-only view of the state."""

    def copy(self) -> Any:
        """Return the same state in arrays of its own."""

    def detach(self) -> None:
        """Drop the data and what follows from them."""


class Averages(Protocol):
    """Running means over the kept sweeps of one chain."""

    def add(self, sampler: Any) -> None:
        """Take the sampler's current state into the means."""


class NoAverages:
    """No means at all, for models whose samples have none that is a model itself."""

    def add(self, sampler: Any) -> None:
        """Take nothing."""


_JUDGED = ("log_joint", "n_components")
"""Scalars that tell whether a chain has converged."""


class Chain:
    """A chain that can be stopped after any sweep, pickled, and taken up again.

    Parameters
    ----------
    sampler : Sampler
    averages : Averages

    Attributes
    ----------
    n_sweeps : int
        Sweeps done.
    kept : list of int
        Those of them that were kept, counted from 1.
    trace : list of dict
        Scalars of each kept sweep.
    models : dict of int to model
        The stored samples by sweep.
    watched : dict of int to dict
        Scalars by which the chain is judged, by sweep, where it keeps few.
    last : int or None
        The sweep that counts only if the chain ends there.
    """

    def __init__(self, sampler: Any, averages: Any):
        self.sampler = sampler
        self.averages = averages
        self.n_sweeps = 0
        self.kept: list[int] = []
        self.trace: list[dict[str, float]] = []
        self.models: dict[int, Any] = {}
        self.watched: dict[int, dict[str, float]] = {}
        self.last: int | None = None

    def plan(self, max_iter: int, burn_in: int, thin: int, n_samples: int) -> Schedule:
        """Return the plan of the chain's way on, and drop stored models it has no place for."""
        schedule = Schedule(
            max_iter, burn_in, thin, n_samples, self.kept, self.models, self.n_sweeps
        )
        self.models = {s: model for s, model in self.models.items() if s in schedule.stored}
        self.last = schedule.last
        self.watched = {s: row for s, row in self.watched.items() if s in schedule.watched}
        return schedule

    def advance(self, schedule: Schedule) -> None:
        """Do one sweep, and keep, store and watch it if that is the plan."""
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
        """Take the current state into averages and trace, and store it as a model."""
        self.averages.add(self.sampler)
        self.trace.append(self.sampler.scalars())
        self.kept.append(self.n_sweeps)
        if store:
            self.models[self.n_sweeps] = self.sampler.model()

    def showing(self, *, final: bool = False) -> Chain:
        """Return a chain that has kept and stored something: the current state where need be.

        A single sample to store is the last, which a chain that was stopped has not reached.

        Parameters
        ----------
        final : bool, default=False
            Whether this chain ends here: the last sweep then counts for good.
        """
        if not self.kept:
            return self.with_current()
        is_last = self.n_sweeps == self.last
        chain = self
        if is_last or not self.models:
            chain = self if final else self._fork()
        if is_last:
            chain.keep()
        elif not chain.models:
            chain.models = {self.n_sweeps: self.sampler.model()}
        return chain

    def judged(self) -> tuple[list[int], list[dict[str, float]]]:
        """Return the sweeps, and scalars of them, that tell whether the chain has converged."""
        if self.watched:
            return list(self.watched), list(self.watched.values())
        return self.kept, self.trace

    def _fork(self) -> Chain:
        """Return a chain that keeps apart from this one; they share the sampler."""
        chain = copy(self)
        chain.averages = deepcopy(self.averages)
        chain.kept, chain.trace, chain.models = [*self.kept], [*self.trace], {**self.models}
        return chain

    def with_current(self) -> Chain:
        """Return a chain that has kept its current state and nothing else; this one goes on."""
        chain = Chain(self.sampler, type(self.averages)())
        chain.n_sweeps = self.n_sweeps
        chain.keep()
        return chain

    def run(self, schedule: Schedule) -> Iterator[Chain]:
        """Yield the chain after every sweep that is left to do."""
        while self.n_sweeps < schedule.max_iter:
            self.advance(schedule)
            yield self

    def detached(self) -> Chain:
        """Return the chain without its data, for a pickle that is written at once."""
        chain = copy(self)
        chain.sampler = self.sampler.copy()
        chain.sampler.detach()
        return chain

    @property
    def mean_log_joint(self) -> float:
        """Mean log joint of the kept sweeps."""
        return sum(row["log_joint"] for row in self.trace) / len(self.trace)
