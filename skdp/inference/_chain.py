"""A Markov chain: a sampler, averages over the kept sweeps, and the chain's progress."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy, deepcopy
from typing import Any, Protocol

from skdp.inference._schedule import Schedule


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
