"""Fits of hidden Markov models to panels in partitions that an executor has distributed."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import joblib
import numpy as np

from skdp._executors import Distributed, Executor
from skdp._numeric import Floats, Ints, Places
from skdp._part import ChainComponent
from skdp.callback._checkpoint import part_header, read_checked, write_checked
from skdp.data import PartitionedPanel, SequencePanel, concatenate
from skdp.emissions._common import Stream
from skdp.emissions._common._protocol import Coupling, values_for
from skdp.sequence._hmm._first_states import (
    PossibleStates,
    Start,
    begin,
    check_followed,
    choose_stride,
    find_order,
    follow,
    list_chosen,
    relax_transitions,
    write_possible_states,
)
from skdp.sequence._hmm._messages import (
    KnownStates,
    Mask,
    count_pairs,
    make_messages,
    observed_steps,
    rename_by_known,
    take_key,
)
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._split_merge import (
    Groups,
    LogTables,
    Splitter,
    StateSplitMerge,
    TwoStates,
    count_groups,
    list_steps,
    log_probability_of_sums,
)
from skdp.sequence._hmm._transitions import Transitions, count_transitions

# A partition of a panel in the process that holds it.
#
# That process has the observations and the states of every chain. It receives parameters, and
# returns sums over steps that are bit-identical wherever the panel is cut: transitions, statistics
# of observations, log probabilities of proposals. States are drawn with one stream for each
# sequence, which depends on its index in the whole panel.


class Orders(NamedTuple):
    """Parameters of a sweep."""

    emission: Any  # a `SummedEmission` without observations
    startprob: Floats
    transmat: Floats
    tables: tuple[Floats, Floats] | None  # of durations
    key: Stream  # of the streams of states
    missing_key: Stream  # of the streams of missing values


Found = tuple[Any, ...]
"""Impossible sequences, transitions, measures of the emission, observed steps of each state, and
sums of the duration."""


@dataclass
class PanelChain:
    """State of a chain in the process that holds a partition."""

    emission: Any  # a `SummedEmission` with the observations
    duration: Any  # a `SummedDuration` or None
    states: Places
    kept: dict[int, Ints] = field(default_factory=dict)  # states by their sweep
    move: Any = None  # state of an unfinished move


@dataclass
class PanelPartition:
    """A partition in the process that holds it; an executor calls its methods by name."""

    # Methods return tuples, which are added up over the partitions, or nothing.
    panel: SequencePanel
    index: int = 0
    first_sequence: int = 0  # index in the whole panel
    first_step: int = 0  # index in the whole panel
    chains: dict[int, PanelChain] = field(default_factory=dict)
    start: Any = None  # `Start`, in the first partition, while first states are sought
    known: Any = None  # KnownStates, if any step's state is known

    @cached_property
    def is_observed(self) -> Mask:
        """Whether any value of each step was observed, (N,)."""
        return observed_steps(self.panel.values)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Add the index of the partition to a ValueError."""
        try:
            yield
        except ValueError as error:
            raise ValueError(f"partition {self.index}: {error}") from None

    def measure(self) -> tuple[list[tuple[int, int]]]:
        """Return the numbers of sequences and of steps, in a list."""
        return ([(len(self.panel), len(self.panel.values))],)

    def set_position(self, position: tuple[int, int, int]) -> None:
        """Set the partition index and the indices of its first sequence and step."""
        self.index, self.first_sequence, self.first_step = position

    def set_known(self, known: tuple[Places, int] | None) -> None:
        """Set the known states of the steps, given these and the number of states."""
        self.known = None if known is None else KnownStates(*known)

    def count_known(self, c: int) -> tuple[Places]:
        """Count the steps by state and known state."""
        return (self.known.count(self.chains[c].states),)

    def write_known(self, c: int) -> None:
        """Write the known states of known steps."""
        self.known.write(self.chains[c].states)

    def take_values(self, steps: Places) -> tuple[list[Floats]]:
        """Return the observations of those steps of the whole panel that are here."""
        own = steps - self.first_step
        return ([self.panel.values[own[(own >= 0) & (own < len(self.panel.values))]]],)

    def list_lengths(self) -> tuple[list[int]]:
        """Return the lengths of all sequences."""
        return (np.diff(self.panel.ptr).tolist(),)

    def compute(self, f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the result of `f` for the observations."""
        with self._naming():
            return f(self.panel.values, *args)

    def compute_sequences(self, f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the result of `f` for the sequences."""
        return self.compute(f, (self.panel.ptr, *args))

    def check(self, check: Callable[[SequencePanel], None]) -> tuple[Places]:
        """Check the observations; return the number of observed values of each column."""
        with self._naming():
            check(self.panel)
        return ((~np.isnan(self.panel.values)).sum(axis=0),)

    def digest(self) -> tuple[list[str]]:
        """Return a hash of the observations and the known states."""
        data: Any = self.panel
        if self.known is not None:
            data = self.panel, self.known.states
        return ([joblib.hash(data)],)

    # Chains

    def begin(self, c: int, emission: Any, duration: Any) -> tuple[list[bool]]:
        """Create a chain; return whether it has to draw missing values."""
        own = emission.copy()
        with self._naming():
            own.attach(*values_for(own, self.panel.values, self.panel.ptr))
        if c in self.chains:  # it was read from a checkpoint
            self.chains[c].emission, self.chains[c].duration = own, duration
        else:
            states = np.zeros(len(self.panel.values), dtype=np.int64)
            self.chains[c] = PanelChain(own, duration, states)
        return ([own.is_incomplete],)

    def take_some(self, stride: int) -> tuple[list[SequencePanel]]:
        """Return the sequences on which first states are sought."""
        chosen, _ = list_chosen(self.panel.ptr, stride, self.first_sequence)
        return ([self.panel[chosen]],)

    def seek(
        self,
        some: tuple[list[SequencePanel]],
        transitions: Transitions,
        emission: Any,
        init: str,
        rng: Stream,
        are_all: bool,
    ) -> tuple[Stream, Any]:
        """Seek the first states of some sequences; return the stream and the learned model."""
        rng, (panels,) = rng.copy(), some
        self.start = begin(concatenate(panels), transitions, emission, init, rng, are_all=are_all)
        return rng, self.start._replace(states=np.empty(0, dtype=np.int64))

    def take_start(self) -> tuple[Ints]:
        """Return the first states that were found."""
        states, self.start = self.start.states.astype(np.int32), None
        return (states,)

    def follow(
        self, c: int, states: tuple[Ints], learned: Start, key: Stream, stride: int, begin_at: int
    ) -> tuple[list[int], int]:
        """Store the first states of the chosen sequences, and draw those of the others."""
        chain = self.chains[c]
        _, is_chosen = list_chosen(self.panel.ptr, stride, self.first_sequence)
        own = states[0][begin_at : begin_at + np.count_nonzero(is_chosen)]
        impossible = follow(
            self.panel.ptr, chain.states, chain.emission, learned._replace(states=own), is_chosen,
            key, self.first_sequence,
        )  # fmt: skip
        return self._list_impossible(impossible), 0

    def count_chosen(self, stride: int) -> tuple[list[int]]:
        """Return the number of steps of chosen sequences."""
        _, is_chosen = list_chosen(self.panel.ptr, stride, self.first_sequence)
        return ([int(np.count_nonzero(is_chosen))],)

    def set_states(self, c: int, states: Places) -> None:
        """Set the first states."""
        self.chains[c].states[:] = states

    def rename(self, c: int, order: Places) -> None:
        """Rename state j to ``order[j]``."""
        states = self.chains[c].states
        states[:] = order[states]

    def complete(self, c: int, emission: Any, key: Stream) -> None:
        """Draw the missing values, given parameters."""
        chain = self.chains[c]
        chain.emission.adopt(emission.copy())
        chain.emission.complete_with(chain.states, key, self.first_step)

    def count(self, c: int, n_states: int) -> Found:
        """Return the transitions, measures of the emission, and observed steps of each state."""
        chain = self.chains[c]
        counts = count_transitions(self.panel.ptr, chain.states, n_states)
        lengths = ()
        if chain.duration is not None:
            lengths = chain.duration.add_up(self.panel.ptr, chain.states)
        held = np.bincount(chain.states[self.is_observed], minlength=n_states)
        return [], counts, chain.emission.measure(chain.states), held, *lengths

    def sweep(self, c: int, orders: Orders) -> Found:
        """Draw the states and the missing values; return the result of `count`."""
        chain, states = self.chains[c], self.chains[c].states
        chain.emission.adopt(orders.emission.copy())
        n_states = len(orders.startprob)
        log_obs = np.empty((len(states), n_states))
        chain.emission.write_log_obs(log_obs)
        if self.known is not None:
            self.known.clamp(log_obs)
        known = self.panel.ptr, orders.startprob, orders.transmat, log_obs
        messages = make_messages(*known, orders.tables)
        impossible = messages.sample_states_with(states, orders.key, self.first_sequence)
        chain.emission.complete_with(states, orders.missing_key, self.first_step)
        _, *found = self.count(c, n_states)
        return self._list_impossible(impossible), *found

    def _list_impossible(self, impossible: int) -> list[int]:
        """Return the index in the whole panel of an impossible sequence, if there is one."""
        return [self.first_sequence + impossible] if impossible >= 0 else []

    def add_up(self, c: int, found: Found) -> tuple[Any, ...]:
        """Return the sums of the emission, given the measures of all partitions."""
        chain = self.chains[c]
        return chain.emission.add_up(chain.states, found[2])

    def keep(self, c: int, sweep: int) -> None:
        """Keep the current states."""
        chain = self.chains[c]
        chain.kept[sweep] = chain.states.astype(np.int32)

    def count_pairs(self, c: int, first: int, second: int, n_states: int) -> tuple[Places]:
        """Count the observed steps by their pair of states in two kept draws."""
        kept = self.chains[c].kept
        return (count_pairs(kept[first], kept[second], self.is_observed, n_states),)

    # Moves, whose state stays here between calls

    def begin_move(self, c: int, make: Callable[..., Any], *args: Any) -> None:
        """Begin a move: ``make(self, c, *args)`` returns its state."""
        self.chains[c].move = make(self, c, *args)

    def call_move(self, c: int, method: str, *args: Any) -> Any:
        """Return the result of a method of the move's state."""
        return getattr(self.chains[c].move, method)(*args)

    def end_move(self, c: int) -> None:
        """Drop the state of a finished move."""
        self.chains[c].move = None

    # Files

    def write(self, path: Path) -> tuple[list[int]]:
        """Write the states of chains, without the observations; return the size of the file."""
        chains = [(c, chain.states, chain.kept) for c, chain in self.chains.items()]
        return ([write_checked(path, chains, part_header(path))],)

    def read(self, path: Path) -> None:
        """Restore the states of chains from a file."""
        for c, states, kept in read_checked(path, part_header(path)):
            self.chains[c] = PanelChain(None, None, states, kept)


# Panels in partitions, as the data of a fit.


class DistributedPanel(Distributed):
    """Partitions of sequences that an executor has distributed: the data of a fit."""

    def __init__(self, X: PartitionedPanel, executor: Executor):
        super().__init__(X, executor, PanelPartition)
        self.sizes: list[tuple[int, int]]  # numbers of sequences and steps
        (self.sizes,) = self.sum("measure")
        ends = np.cumsum([(0, 0), *self.sizes], axis=0)
        self.run("set_position", each=[(s, *row) for s, row in enumerate(ends[:-1].tolist())])
        self.known: KnownStates | None = None

    def set_known(self, known: KnownStates | None) -> None:
        """Set the known states of all steps."""
        self.known = known
        each: list[Any] = [None] * len(self.sizes)
        if known is not None:
            each = [(own, known.n_states) for own in self.split(known.states)]
        self.run("set_known", each=each)

    def split(self, states: Any) -> list[Any]:
        """Return the states of the steps of each partition."""
        return np.split(states, np.cumsum([n_steps for _, n_steps in self.sizes])[:-1])

    def bounds(self) -> Places:
        """Return the bounds of all sequences in the whole panel, (n + 1,)."""
        return np.append(0, np.cumsum(self.sum("list_lengths")[0]))

    @property
    def n_units(self) -> int:
        """Number of steps, the units of a sweep."""
        return sum(n_steps for _, n_steps in self.sizes)

    def observations(self) -> DistributedObservations:
        """Return the observations, for functions that work on parts of them."""
        return DistributedObservations(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a digest that represents the data when they are hashed."""
        return str, (repr((self.n_features, self.sum("digest")[0])),)

    def read(self, folder: Path) -> None:
        """Restore the states of chains of all partitions from files in `folder`."""
        self.run("read", each=self._paths(folder))

    def seek_first_states(
        self, c: int, transitions: Transitions, emission: Any, init: str, rng: Stream
    ) -> None:
        """Set the first states of chain `c`, as `write_first_states` does for a whole panel."""
        # The process of the first partition seeks them, on some sequences of all partitions.
        stride = choose_stride(sum(n for n, _ in self.sizes), self.n_units)
        some = self.total("take_some", stride)
        rng[:], learned = self.first("seek", some, transitions, emission, init, rng, stride == 1)
        emission.adopt(learned.emission)
        (sizes,) = self.sum("count_chosen", stride)
        key = take_key(rng) if stride > 1 else np.zeros_like(rng)
        states = self._executor.call(0, "take_start")
        shared = self.share(learned)
        begins = (np.cumsum(sizes) - sizes).tolist()
        impossible, _ = self.sum("follow", c, states, shared, key, stride, each=begins)
        check_followed(min(impossible, default=-1))


class DistributedObservations:
    """Observations of a panel in partitions, with the interface of `ObservedSequences`."""

    def __init__(self, data: DistributedPanel):
        self._data, self.n_features = data, data.n_features

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over partitions of tuples ``f(values, *args)``."""
        return self._data.sum("compute", f, args)

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over partitions of tuples ``f(values, ptr, *args)``."""
        return self._data.sum("compute_sequences", f, args)


# First states without impossible transitions, for a panel in partitions.
#
# Candidates and current states stay in the process of a partition. Only sums are exchanged:
# transitions and statistics of observations.


class PartitionPossibleStates(PossibleStates):
    """Refined states of chain `c` in a partition."""

    def __init__(self, partition: PanelPartition, c: int, allowed: Mask):
        chain = partition.chains[c]
        super().__init__(
            partition.panel.ptr, chain.states, allowed, chain.emission, partition.known
        )

    def count_candidates(self) -> tuple[list[int]]:
        """Return the number of candidates, which is that of all partitions, in a list."""
        return ([self.n_candidates],)

    def measure(self) -> tuple[Any]:
        """Return the measures of the emission for the current states."""
        return (self.emission.measure(self.states),)

    def add_up(self, measured: tuple[Any]) -> tuple[Any, ...]:
        """Return the sums of the emission, given the measures of all partitions."""
        return self.emission.add_up(self.states, measured[0])

    def count_all(self) -> tuple[Places]:
        """Return the transitions of the current states."""
        return (self.count(),)

    def decode_given(
        self, measured: tuple[Any], sums: tuple[Any, ...], startprob: Floats, transmat: Floats
    ) -> tuple[int]:
        """Make the most probable paths the current states, and return whether any is impossible."""
        self.emission.take(measured[0], sums)
        return (int(not self.decode(startprob, transmat)),)


class DistributedPossibleStates:
    """First states of a panel in partitions, with the methods of `PossibleStates`."""

    def __init__(self, data: DistributedPanel, c: int, allowed: Mask, emission: Any):
        self._data, self._c = data, c
        self._emission = emission.of_states(allowed.shape[1])
        data.run("begin_move", c, PartitionPossibleStates, allowed)
        ((self.n_candidates, *_),) = self._sum("count_candidates")

    def _sum(self, method: str, *args: Any) -> tuple[Any, ...]:
        """Return the sum of the results of all partitions."""
        return self._data.sum("call_move", self._c, method, *args)

    def _run(self, method: str, *args: Any) -> None:
        self._data.run("call_move", self._c, method, *args)

    def choose(self, i: int) -> None:
        self._run("choose", i)

    def condition(self) -> None:
        measured = self._data.total("call_move", self._c, "measure")
        sums = self._data.total("call_move", self._c, "add_up", measured)
        self._learned = measured, sums
        self._emission.take(self._data.result(measured)[0], self._data.result(sums))

    def log_evidence(self) -> float:
        return float(self._emission.log_evidence())

    def count(self) -> Places:
        return self._sum("count_all")[0]

    def decode(self, startprob: Floats, transmat: Floats) -> bool:
        return not self._sum("decode_given", *self._learned, startprob, transmat)[0]

    def keep(self) -> None:
        self._run("keep")

    def write(self) -> None:
        self._run("write")
        self._data.run("end_move", self._c)


# Moves that split and merge states of a panel in partitions.
#
# Steps of the two states, windows and groups stay in the process of a partition, in which groups
# have numbers. Only sums are exchanged: of windows, transitions, statistics and log probabilities.


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

    def add(self, groups: Groups, *, are_whole: bool = True) -> About:
        """Store groups under the next number; return their statistics."""
        self._groups.append(groups)
        measured = self.emission.measure(groups.astype(np.int64))
        if not are_whole:
            return (measured,)
        counts = count_groups(self.steps, groups, self._n_states)
        return (measured, *counts, np.array(self.sizes(groups)))

    def add_up(self, number: int, about: About) -> tuple[Any, ...]:
        """Return the sums of the emission of groups."""
        return self.emission.add_up(self._groups[number].astype(np.int64), about[0])

    # Groups

    def make(self, method: str, *args: Any) -> About:
        """Make groups by a method of `Splitter` that takes no others."""
        return self.add(getattr(self, method)(*args))

    def make_anchors(self, windows: tuple[int, int]) -> About:
        """Make groups of one window each."""
        return self.add(self.anchor(*windows), are_whole=False)

    def make_gathered(self, about: About, sums: tuple[Any, ...], windows: tuple[int, int]) -> About:
        """Make groups of the windows, by the group that each resembles more."""
        self.take(about, sums)
        return self.add(self.gather_windows(*windows))

    def make_exchanged(self, number: int) -> About:
        """Make groups with exchanged labels."""
        return self.add(self.exchange(self._groups[number]))

    def make_of_state(self, b: int) -> About:
        """Put the steps of one state into group 1."""
        return self.add(self.group_by(self._states, b))

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

    def draw(self, key: Stream) -> Groups:
        """Draw groups from the model."""
        return self._two_states.draw_with(key)

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

    @cached_property
    def found(self) -> About:
        """Statistics of the groups."""
        return self._data.result(self.about)


class DistributedTwoStates:
    """A hidden Markov model of two groups of steps in partitions, like `TwoStates`."""

    def __init__(self, splitter: DistributedSplitter, learned: tuple[Any, Any], tables: LogTables):
        self._splitter = splitter
        splitter.run("set_model", *learned, tables)

    def draw(self, rng: Stream) -> DistributedStepGroups:
        return self._splitter.make("make", "draw", take_key(rng))

    def log_probability(self, groups: DistributedStepGroups) -> float:
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
        rng: Stream,
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
        groups = self.make("make", "all_but", each=[places[0] for places in self._locate(first)])
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
        return groups.found[1:4]

    def sizes(self, groups: DistributedStepGroups) -> tuple[int, int]:
        return tuple(groups.found[4].tolist())

    def whole(self) -> DistributedStepGroups:
        return self.make("make", "whole")

    def exchange(self, groups: DistributedStepGroups) -> DistributedStepGroups:
        return self.make("make_exchanged", groups.number)

    def group_by(self, states: Any, b: int) -> DistributedStepGroups:
        return self.make("make_of_state", b)

    def write(self, states: Any, groups: DistributedStepGroups, a: int, b: int) -> None:
        self.run("accept", groups.number, a, b)


class DistributedSplitMerge(StateSplitMerge):
    """Moves on the states of a panel in partitions, and on two weights beta."""

    def __init__(self, data: DistributedPanel, c: int, counts: Places, *args: Any):
        nowhere = np.empty(0, dtype=np.int64)
        super().__init__(nowhere, nowhere, *args)
        self._data, self._c, self._now, self._known = data, c, counts, data.known

    def try_once(self) -> bool:
        """Propose a split or a merge; return whether it was accepted."""
        is_accepted = super().try_once()
        self._data.run("end_move", self._c)
        return is_accepted

    def _count(self) -> Places:
        return self._now

    def _make_splitter(self, a: int, b: int, mass: float) -> DistributedSplitter:
        return DistributedSplitter(
            self._data, self._c, a, b, self._emission, self._transitions, mass, self._rng,
            has_known=self._is_known(a),
        )  # fmt: skip


# The chain of a hidden Markov model over a panel in partitions.


class DistributedHMMSampler(HMMSampler):
    """Markov chain over a panel in partitions, bit-identical to that over the whole panel. It holds
    parameters, drawn given sums; states and missing values stay with the partitions.
    """

    is_distributed = True

    _data_attributes: ClassVar[tuple[str, ...]] = ("data", "_found", "_sums")

    def __init__(self, data: DistributedPanel, c: int, *args: Any, **options: Any):
        self.c = c
        super().__init__(data, *args, **options)

    def _write_first_states(self, panel: Any, init: Any, rng: Stream) -> None:
        data, c = self.data, self.c
        if isinstance(init, str):
            data.seek_first_states(c, self.transitions, self.emission, init, rng)
        else:
            data.run("set_states", c, each=init)
        if data.known is not None:
            if isinstance(init, str):
                data.run("rename", c, rename_by_known(data.sum("count_known", c)[0]))
            data.run("write_known", c)
        self._take_counts()
        log_similarity = self._known_similarity()
        if log_similarity is not None and isinstance(init, str):
            self._agree_with(log_similarity)

    def _agree_with(self, log_similarity: Floats) -> None:
        """Fit the order and the paths of first states to known similarities."""
        data, c = self.data, self.c
        data.result(self._sums)  # wait until the partitions are idle
        if data.known is None:
            data.run("rename", c, find_order(self._found[1], log_similarity[:-1]))
        if np.isneginf(log_similarity).any():
            relaxed = relax_transitions(self.transitions, log_similarity)
            allowed = ~np.isneginf(relaxed.log_similarity)
            write_possible_states(
                DistributedPossibleStates(data, c, allowed, self.emission), relaxed
            )
        self._take_counts()

    def attach(self, data: Any) -> None:
        """Attach the partitions, which may have been restored from files."""
        self.data: DistributedPanel = data
        parameters = data.share(self.emission.copy())
        (flags,) = data.sum("begin", self.c, parameters, data.share(self.duration))
        self._is_incomplete = any(flags)
        self._is_complete = False

    def detach(self) -> None:
        """Drop the partitions."""
        ChainComponent.detach(self)

    @property
    def _n_sequences(self) -> int:
        return sum(n_sequences for n_sequences, _ in self.data.sizes)

    @property
    def known(self) -> KnownStates | None:
        return self.data.known

    def bounds(self) -> Places:
        return self.data.bounds()

    def observations(self, steps: Places) -> Floats:
        return np.concatenate(self.data.sum("take_values", steps)[0])

    # Operations on steps

    def _draw_states(self) -> int:
        key = take_key(self.stream)
        missing_key = take_key(self.stream) if self._is_incomplete else np.zeros_like(key)
        tables = None if self.duration is None else self.duration.tables()
        known = *self.transitions.matrix(), tables
        orders = Orders(self.emission.copy(), *known, key, missing_key)
        self._find(self.data.total("sweep", self.c, self.data.share(orders)))
        self._is_complete = True
        self._count_moved(orders)
        return min(self._found[0], default=-1)

    def _count_moved(self, orders: Orders) -> None:
        """Count the bytes of orders and results that are exchanged with other processes."""
        if self.data._executor.n_processes:
            n_bytes = len(pickle.dumps(orders)) + len(pickle.dumps(self._found))
            self.data.count_moved(0, n_bytes)

    def _take_counts(self) -> None:
        """Count the transitions of new states, and compute the related statistics."""
        self._find(self.data.total("count", self.c, self.transitions.n_states))

    def _find(self, total: Any) -> None:
        """Store the results of the partitions, and start the sums of the emission."""
        self._sums = self.data.total("add_up", self.c, total)
        self._found = self.data.result(total)

    def _count(self) -> Places:
        return self.transitions.without_stays(self._found[1])

    def _split_or_merge(self) -> bool:
        self.data.result(self._sums)  # wait until the partitions are idle
        has_moved = DistributedSplitMerge(
            self.data, self.c, self._count(), self.transitions, self.emission, self.stream
        ).try_once()
        if has_moved:
            self._take_counts()
        return has_moved

    def _draw_duration(self, duration: Any, rng: Stream) -> None:
        duration.take(self._found[4:])
        duration.draw_parameters(rng)

    def _draw_emission(self, rng: Stream, coupling: Coupling | None = None) -> None:
        if self._is_incomplete and not self._is_complete:
            key = take_key(rng)
            self.data.result(self._sums)
            self.data.run("complete", self.c, self.data.share(self.emission.copy()), key)
            self._take_counts()
        self._is_complete = False
        emission: Any = self.emission
        emission.take(self._found[2], self.data.result(self._sums))
        emission.draw_parameters(rng)

    @property
    def n_observed(self) -> int:
        return int(self._found[3].sum())

    def _shares(self) -> Floats:
        counts: Places = self._found[3]
        return counts / counts.sum()

    def _keep_states(self) -> int:
        self.data.run("keep", self.c, self.n_sweeps)
        return self.n_sweeps

    def count_pairs(self, first: int, second: int, n_states: int) -> Places:
        return self.data.sum("count_pairs", self.c, first, second, n_states)[0]
