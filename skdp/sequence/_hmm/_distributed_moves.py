"""Moves that split and merge states of a panel in partitions.

Steps of the two states, windows and groups stay in the process of a partition, in which groups have
numbers. Only sums are exchanged: of windows, transitions, statistics and log probabilities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import draw_key
from skdp._numeric._typing import Floats, Places
from skdp.sequence._hmm._distributed import DistributedPanel
from skdp.sequence._hmm._partition import PanelPartition
from skdp.sequence._hmm._split_merge import (
    LogTables,
    Splitter,
    StateSplitMerge,
    TwoStates,
    count_groups,
    list_steps,
    log_probability_of_sums,
)
from skdp.sequence._hmm._transitions import Transitions

About = tuple[Any, ...]
"""Groups' measures of the emission and, if all steps are in groups, transitions and sizes."""


class StepGroups(Splitter):
    """Steps of states a and b in a partition, with their windows and groups."""

    def __init__(
        self, partition: PanelPartition, c: int, n_states: int, a: int, b: int, has_known: bool
    ):
        chain = partition.chains[c]
        self.steps = list_steps(partition.panel.ptr, chain.states, n_states, a, b)
        self.is_known = None
        if has_known and partition.known is not None:  # of state a
            self.is_known = partition.known.states[self.steps.steps] >= 0
        self.emission = chain.emission.restrict(self.steps.steps, 2)
        self._n_states, self._first, self._states = n_states, partition.first_step, chain.states
        self._groups: list[Any] = []

    def take(self, about: About, sums: tuple[Any, ...]) -> None:
        """Condition the emission on groups."""
        self.emission.take(about[0], sums)

    def add(self, groups: NDArray[np.int8], *, are_whole: bool = True) -> About:
        """Store groups under the next number; return their statistics."""
        self._groups.append(groups)
        measured = self.emission.measure(groups.astype(np.int64))
        if not are_whole:
            return (measured,)
        counts = count_groups(self.steps, groups, self._n_states)
        return (measured, *counts, np.array(self.sizes(groups)))

    def add_up(self, number: int, about: About) -> tuple[Any, ...]:
        """Return the sums of the emission of groups."""
        sums: tuple[Any, ...] = self.emission.add_up(
            self._groups[number].astype(np.int64), about[0]
        )
        return sums

    # Groups

    def make_all_but(self, first: int) -> About:
        """Make groups of one window and of all others."""
        return self.add(self.all_but(first))

    def make_anchors(self, windows: tuple[int, int]) -> About:
        """Make groups of one window each."""
        return self.add(self.anchor(*windows), are_whole=False)

    def make_gathered(self, about: About, sums: tuple[Any, ...], windows: tuple[int, int]) -> About:
        """Make groups of the windows, by the group that each resembles more."""
        self.take(about, sums)
        return self.add(self.gather_windows(*windows))

    def make_whole(self) -> About:
        """Put all steps into group 0."""
        return self.add(self.whole())

    def make_exchanged(self, number: int) -> About:
        """Make groups with exchanged labels."""
        return self.add(self.exchange(self._groups[number]))

    def make_of_state(self, b: int) -> About:
        """Put the steps of one state into group 1."""
        return self.add(self.group_by(self._states, b))

    def make_drawn(self, key: NDArray[np.uint64]) -> About:
        """Draw groups from the model."""
        return self.add(self._two_states.draw_with(key))

    # Other requests

    def cut(self, width: int) -> tuple[list[int]]:
        """Cut windows; return their number."""
        return ([self.cut_windows(width)],)

    def find_gains(
        self, about: About, sums: tuple[Any, ...], places: list[tuple[int, int]]
    ) -> tuple[list[tuple[int, float]]]:
        """Return the mean log density ratio of windows, group 1 over group 0, with their places."""
        if not places:
            return ([],)
        self.take(about, sums)
        gains = self.gains_of([window for _, window in places])
        return ([(i, float(gain)) for (i, _), gain in zip(places, gains, strict=True)],)

    def set_model(self, about: About, sums: tuple[Any, ...], tables: LogTables) -> None:
        """Make the model of two states given groups."""
        self.take(about, sums)
        self._two_states = TwoStates(self.steps, self.emission, tables, self._first, self.is_known)

    def add_logs(self, number: int) -> tuple[Places]:
        """Return the sums of log probabilities of groups under the model."""
        return (self._two_states.add_logs(self._groups[number]),)

    def accept(self, number: int, a: int, b: int) -> None:
        """Write the states of accepted groups."""
        self.write(self._states, self._groups[number], a, b)


class DistributedStepGroups:
    """Groups of steps in partitions."""

    def __init__(self, data: DistributedPanel, number: int, about: Any):
        self._data = data
        self.number, self.about = number, about  # `about`: handle of the sum of statistics
        self._found: About | None = None

    @property
    def found(self) -> About:
        """Statistics of the groups."""
        if self._found is None:
            self._found = self._data.result(self.about)
        return self._found


class DistributedTwoStates:
    """A hidden Markov model of two groups of steps in partitions, like `TwoStates`."""

    def __init__(self, splitter: DistributedSplitter, learned: tuple[Any, Any], tables: LogTables):
        self._splitter = splitter
        splitter.run("set_model", *learned, tables)

    def draw(self, rng: NDArray[np.uint64]) -> DistributedStepGroups:
        """Return a draw of the groups of all steps."""
        key = np.empty_like(rng)
        draw_key(rng, key)
        return self._splitter.make("make_drawn", key)

    def log_probability(self, groups: DistributedStepGroups) -> float:
        """Return the log probability of a draw."""
        (sums,) = self._splitter.sum("add_logs", groups.number)
        return log_probability_of_sums(sums, has_known=self._splitter.has_known)


class DistributedSplitter(Splitter):
    """Proposals that split the steps of one or two states in partitions."""

    def __init__(
        self,
        data: DistributedPanel,
        c: int,
        a: int,
        b: int,
        emission: Any,
        transitions: Transitions,
        mass: float,
        rng: NDArray[np.uint64],
        *,
        has_known: bool,
    ):
        self._data, self._c, self.has_known = data, c, has_known  # whether state a is known
        self.emission = emission.of_states(2)
        self.transitions, self.mass, self.rng = transitions, mass, rng
        self._n_groups = 0
        self._last: DistributedStepGroups | None = None
        data.run("begin_move", c, StepGroups, transitions.n_states, a, b, has_known)

    def sum(self, method: str, *args: Any, each: list[Any] | None = None) -> tuple[Any, ...]:
        """Return the sum of the results that a method of `StepGroups` has for all partitions."""
        self._settle(args)
        return self._data.sum("call_move", self._c, method, *args, each=each)

    def run(self, method: str, *args: Any) -> None:
        """Run a method of `StepGroups` that has no result."""
        self._settle(args)
        self._data.run("call_move", self._c, method, *args)

    def make(self, method: str, *args: Any, each: list[Any] | None = None) -> DistributedStepGroups:
        """Return groups that are made in the partitions."""
        self._settle(args)
        self._n_groups += 1
        about = self._data.total("call_move", self._c, method, *args, each=each)
        self._last = DistributedStepGroups(self._data, self._n_groups - 1, about)
        return self._last

    def _settle(self, args: tuple[Any, ...]) -> None:
        """Wait for the last groups, unless the next call depends on them."""
        # Workers may have several threads, which start any call without pending dependencies.
        if self._last is not None and not any(arg is self._last.about for arg in args):
            self._last.found  # noqa: B018

    def _add_up(self, groups: DistributedStepGroups) -> tuple[Any, Any]:
        """Return handles of the statistics of groups and of the emission's sums."""
        sums = self._data.total("call_move", self._c, "add_up", groups.number, groups.about)
        return groups.about, sums

    def _locate(self, *windows: int) -> list[tuple[int, ...]]:
        """Return the indices of windows within each partition, or -1 for windows elsewhere."""
        return [
            tuple(i - begin if begin <= i < end else -1 for i in windows)
            for begin, end in zip(self._ends[:-1], self._ends[1:], strict=True)
        ]

    def cut_windows(self, width: int) -> int:
        (sizes,) = self.sum("cut", width)
        self._ends = [0, *np.cumsum(sizes).tolist()]
        return int(self._ends[-1])

    def compare_windows(self, first: int, others: list[int]) -> Floats:
        groups = self.make("make_all_but", each=[places[0] for places in self._locate(first)])
        each = [
            [(i, window) for i, window in enumerate(places) if window >= 0]
            for places in self._locate(*others)
        ]
        (found,) = self.sum("find_gains", *self._add_up(groups), each=each)
        return np.array([gain for _, gain in sorted(found)])

    def anchor(self, first: int, second: int) -> DistributedStepGroups:
        return self.make("make_anchors", each=self._locate(first, second))

    def gather(
        self, groups: DistributedStepGroups, first: int, second: int
    ) -> DistributedStepGroups:
        return self.make("make_gathered", *self._add_up(groups), each=self._locate(first, second))

    def condition(self, groups: DistributedStepGroups) -> None:
        self._learned = self._add_up(groups)

    def log_evidence(self, groups: DistributedStepGroups) -> float:
        sums = self._data.result(self._add_up(groups)[1])
        self.emission.take(groups.found[0], sums)
        return float(self.emission.log_evidence())

    def model(self, tables: LogTables) -> DistributedTwoStates:
        return DistributedTwoStates(self, self._learned, tables)

    def count(self, groups: DistributedStepGroups) -> tuple[Places, Places, Places]:
        into, out_of, within = groups.found[1:4]
        return into, out_of, within

    def sizes(self, groups: DistributedStepGroups) -> tuple[int, int]:
        zeros, ones = groups.found[4].tolist()
        return zeros, ones

    def whole(self) -> DistributedStepGroups:
        return self.make("make_whole")

    def exchange(self, groups: DistributedStepGroups) -> DistributedStepGroups:
        return self.make("make_exchanged", groups.number)

    def group_by(self, states: Any, b: int) -> DistributedStepGroups:
        return self.make("make_of_state", b)

    def write(self, states: Any, groups: DistributedStepGroups, a: int, b: int) -> None:
        self.run("accept", groups.number, a, b)


class DistributedSplitMerge(StateSplitMerge):
    """Moves on the states of a panel in partitions, and on two weights beta."""

    def __init__(
        self,
        data: DistributedPanel,
        c: int,
        counts: Places,
        transitions: Transitions,
        emission: Any,
        rng: NDArray[np.uint64],
    ):
        nowhere = np.empty(0, dtype=np.int64)
        super().__init__(nowhere, nowhere, transitions, emission, rng, known=data.known)
        self._data, self._c, self._now = data, c, counts

    def try_once(self) -> bool:
        """Propose a split or a merge; return whether it was accepted."""
        is_accepted = super().try_once()
        self._data.run("end_move", self._c)
        return is_accepted

    def _count(self) -> Places:
        return self._now

    def _splitter(self, a: int, b: int, other: int) -> DistributedSplitter:
        transitions = self._transitions
        mass = transitions.alpha * (transitions.weights[a] + transitions.weights[other])
        return DistributedSplitter(
            self._data, self._c, a, b, self._emission, transitions, mass, self._rng,
            has_known=self._is_known(a),
        )  # fmt: skip
