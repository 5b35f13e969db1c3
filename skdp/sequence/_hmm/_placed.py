"""Panels in partitions: data that stay with a partition, and data that are exchanged.

The process that holds a partition has the observations and the states of every chain. Only
parameters are exchanged, and sums over steps that are bit-identical wherever the panel is cut:
transitions, statistics of observations, log probabilities of proposals. States are drawn with one
stream for each sequence, which depends on its index in the whole panel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from skdp._executors import Executor, Placed
from skdp._numeric._random import draw_key
from skdp._numeric._typing import Floats, Ints, Places
from skdp.callback._part_files import part_header
from skdp.callback._pickles import read_checked, write_checked
from skdp.data import PartitionedPanel, SequencePanel, concatenate
from skdp.emissions._protocol import values_for
from skdp.sequence._hmm._first_states import (
    Start,
    begin,
    check_followed,
    choose_stride,
    count,
    follow,
    list_chosen,
)
from skdp.sequence._hmm._hints import KnownStates
from skdp.sequence._hmm._messages import HMMMessages
from skdp.sequence._hmm._segment_messages import SegmentMessages
from skdp.sequence._hmm._transitions import Transitions
from skdp.sequence._observed_steps import count_pairs, observed_steps


@dataclass
class PlacedHMMChain:
    """State of a chain in the process that holds a partition.

    Attributes
    ----------
    emission : SummedEmission
        Sampler with the observations.
    duration : SummedDuration or None
    states : (N,) array of int64
    kept : dict
        States of stored samples by their sweep.
    move : object or None
        State of an unfinished move: see `_placed_moves`.
    """

    emission: Any
    duration: Any
    states: Places
    kept: dict[int, NDArray[np.int32]] = field(default_factory=dict)
    move: Any = None


@dataclass
class PanelPart:
    """A partition in the process that holds it.

    Attributes
    ----------
    panel : SequencePanel
    place : int
        Index of the partition.
    number, first : int
        Indices of its first sequence and of its first step in the whole panel.
    chains : dict
        Chains by their index.
    start : Start or None
        It is set in the first partition while first states are sought.
    known : KnownStates or None
    """

    panel: SequencePanel
    place: int = 0
    number: int = 0
    first: int = 0
    chains: dict[int, PlacedHMMChain] = field(default_factory=dict)
    start: Start | None = None
    known: KnownStates | None = None

    @cached_property
    def is_observed(self) -> NDArray[np.bool_]:
        """Whether any value of each step was observed, (N,)."""
        return observed_steps(self.panel.values)


class Orders(NamedTuple):
    """Parameters of a sweep.

    Attributes
    ----------
    emission : SummedEmission
        Parameters, without observations.
    startprob, transmat : (J,), (J, J) arrays
    tables : tuple of arrays or None
        Tables of durations.
    key, missing_key : (4,) arrays of uint64
        Keys of the streams of states and of missing values.
    """

    emission: Any
    startprob: Floats
    transmat: Floats
    tables: tuple[Floats, Floats] | None
    key: NDArray[np.uint64]
    missing_key: NDArray[np.uint64]


Found = tuple[Any, ...]
"""Impossible sequences, transitions, measures of the emission, observed steps of each state, and
sums of the duration."""


@contextmanager
def naming(part: PanelPart) -> Iterator[None]:
    """Add the index of the partition to a ValueError."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"partition {part.place}: {error}") from None


def measure_part(part: PanelPart) -> tuple[list[tuple[int, int]]]:
    """Return the numbers of sequences and of steps."""
    return ([(len(part.panel), len(part.panel.values))],)


def number_part(part: PanelPart, numbers: tuple[int, int, int]) -> tuple[int]:
    """Set the partition index and the indices of its first sequence and step."""
    part.place, part.number, part.first = numbers
    return (0,)


def set_known_part(part: PanelPart, known: tuple[Places, int] | None) -> tuple[int]:
    """Set the known states of the steps, given these and the number of states."""
    part.known = None if known is None else KnownStates(*known)
    return (0,)


def count_known_part(part: PanelPart, c: int) -> tuple[Places]:
    """Count the steps by state and known state."""
    assert part.known is not None
    return (part.known.count(part.chains[c].states),)


def write_known_part(part: PanelPart, c: int) -> tuple[int]:
    """Write the known states of known steps."""
    assert part.known is not None
    part.known.write(part.chains[c].states)
    return (0,)


def list_lengths(part: PanelPart) -> tuple[list[int]]:
    """Return the lengths of all sequences."""
    return (np.diff(part.panel.ptr).tolist(),)


def sum_part(part: PanelPart, f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the result of `f` for the observations."""
    with naming(part):
        result: tuple[Any, ...] = f(part.panel.values, *args)
    return result


def sum_sequences_part(
    part: PanelPart, f: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the result of `f` for the sequences."""
    return sum_part(part, f, (part.panel.ptr, *args))


def check_part(part: PanelPart, check: Callable[[SequencePanel], None]) -> tuple[Places]:
    """Check the observations; return the number of observed values of each column."""
    with naming(part):
        check(part.panel)
    return ((~np.isnan(part.panel.values)).sum(axis=0),)


def digest_part(part: PanelPart) -> tuple[list[str]]:
    """Return a hash of the observations and the known states."""
    data: Any = part.panel
    if part.known is not None:
        data = part.panel, part.known.states
    return ([joblib.hash(data)],)


# A chain


def begin_part(part: PanelPart, c: int, emission: Any, duration: Any) -> tuple[list[bool]]:
    """Create a chain; return whether it has to draw missing values."""
    own = emission.copy()
    with naming(part):
        own.attach(*values_for(own, part.panel.values, part.panel.ptr))
    if c in part.chains:  # it was read from a checkpoint
        part.chains[c].emission, part.chains[c].duration = own, duration
    else:
        states = np.zeros(len(part.panel.values), dtype=np.int64)
        part.chains[c] = PlacedHMMChain(own, duration, states)
    return ([own.is_incomplete],)


def take_some(part: PanelPart, stride: int) -> tuple[list[SequencePanel]]:
    """Return the sequences on which first states are sought."""
    chosen, _ = list_chosen(part.panel.ptr, stride, part.number)
    return ([part.panel[chosen]],)


def seek_part(
    part: PanelPart,
    some: tuple[list[SequencePanel]],
    transitions: Transitions,
    emission: Any,
    init: str,
    rng: NDArray[np.uint64],
    are_all: bool,
) -> tuple[NDArray[np.uint64], Any]:
    """Seek the first states of some sequences; return the stream and the learned model."""
    rng, (panels,) = rng.copy(), some
    part.start = begin(concatenate(panels), transitions, emission, init, rng, are_all=are_all)
    return rng, part.start._replace(states=np.empty(0, dtype=np.int64))


def take_start(part: PanelPart) -> tuple[Ints]:
    """Return the first states that were found."""
    assert part.start is not None
    states, part.start = part.start.states.astype(np.int32), None
    return (states,)


def follow_part(
    part: PanelPart,
    c: int,
    states: tuple[Ints],
    learned: Start,
    key: NDArray[np.uint64],
    stride: int,
    begin_at: int,
) -> tuple[list[int], int]:
    """Store the first states of the chosen sequences, and draw those of the others."""
    chain = part.chains[c]
    _, is_chosen = list_chosen(part.panel.ptr, stride, part.number)
    own = states[0][begin_at : begin_at + np.count_nonzero(is_chosen)]
    impossible = follow(
        part.panel.ptr, chain.states, chain.emission, learned._replace(states=own), is_chosen, key,
        part.number,
    )  # fmt: skip
    return _list_impossible(part, impossible), 0


def count_chosen(part: PanelPart, stride: int) -> tuple[list[int]]:
    """Return the number of steps of chosen sequences."""
    return ([int(np.count_nonzero(list_chosen(part.panel.ptr, stride, part.number)[1]))],)


def set_part(part: PanelPart, c: int, states: Places) -> tuple[int]:
    """Set the first states."""
    part.chains[c].states[:] = states
    return (0,)


def rename_part(part: PanelPart, c: int, order: Places) -> tuple[int]:
    """Rename state j to ``order[j]``."""
    states = part.chains[c].states
    states[:] = order[states]
    return (0,)


def complete_part(part: PanelPart, c: int, emission: Any, key: NDArray[np.uint64]) -> tuple[int]:
    """Draw the missing values, given parameters."""
    chain = part.chains[c]
    chain.emission.adopt(emission.copy())
    chain.emission.complete_with(chain.states, key, part.first)
    return (0,)


def count_part(part: PanelPart, c: int, n_states: int) -> Found:
    """Return the transitions, measures of the emission, and observed steps of each state."""
    chain = part.chains[c]
    counts = count(part.panel.ptr, chain.states, n_states)
    lengths = ()
    if chain.duration is not None:
        lengths = chain.duration.add_up(part.panel.ptr, chain.states)
    held = np.bincount(chain.states[part.is_observed], minlength=n_states)
    return [], counts, chain.emission.measure(chain.states), held, *lengths


def sweep_part(part: PanelPart, c: int, orders: Orders) -> Found:
    """Draw the states and the missing values; return the result of `count_part`."""
    chain, states = part.chains[c], part.chains[c].states
    chain.emission.adopt(orders.emission.copy())
    n_states = len(orders.startprob)
    log_obs = np.empty((len(states), n_states))
    chain.emission.write_log_obs(log_obs)
    if part.known is not None:
        part.known.clamp(log_obs)
    known = part.panel.ptr, orders.startprob, orders.transmat, log_obs
    messages: HMMMessages | SegmentMessages = (
        HMMMessages(*known) if orders.tables is None else SegmentMessages(*known, *orders.tables)
    )
    impossible = messages.sample_states_with(states, orders.key, part.number)
    chain.emission.complete_with(states, orders.missing_key, part.first)
    _, *found = count_part(part, c, n_states)
    return _list_impossible(part, impossible), *found


def _list_impossible(part: PanelPart, impossible: int) -> list[int]:
    """Return the index in the whole panel of an impossible sequence, if there is one."""
    return [part.number + impossible] if impossible >= 0 else []


def add_part(part: PanelPart, c: int, found: Found) -> tuple[Any, ...]:
    """Return the sums of the emission, given the measures of all partitions."""
    chain = part.chains[c]
    sums: tuple[Any, ...] = chain.emission.add_up(chain.states, found[2])
    return sums


def keep_part(part: PanelPart, c: int, sweep: int) -> tuple[int]:
    """Keep the current states."""
    chain = part.chains[c]
    chain.kept[sweep] = chain.states.astype(np.int32)
    return (0,)


def count_pairs_part(
    part: PanelPart, c: int, first: int, second: int, n_states: int
) -> tuple[Places]:
    """Count the observed steps by their pair of states in two kept draws."""
    kept = part.chains[c].kept
    return (count_pairs(kept[first], kept[second], part.is_observed, n_states),)


def write_part(part: PanelPart, path: Path) -> tuple[list[int]]:
    """Write the states of chains, without the observations; return the size of the file."""
    chains = [(c, chain.states, chain.kept) for c, chain in part.chains.items()]
    return ([write_checked(path, chains, part_header(path))],)


def read_part(part: PanelPart, path: Path) -> tuple[int]:
    """Restore the states of chains from a file."""
    for c, states, kept in read_checked(path, part_header(path)):
        part.chains[c] = PlacedHMMChain(None, None, states, kept)
    return (0,)


class PlacedPanel(Placed):
    """Partitions of sequences that an executor has placed: the data of a fit.

    Parameters
    ----------
    X : PartitionedPanel
    executor : Executor

    Attributes
    ----------
    n_features, n_partitions, n_moved : as in `Placed`
    sizes : list of (int, int)
        Numbers of sequences and steps of the partitions.
    """

    def __init__(self, X: PartitionedPanel, executor: Executor):
        super().__init__(X, executor, PanelPart)
        self.sizes: list[tuple[int, int]]
        (self.sizes,) = self.sum(measure_part)
        ends = np.cumsum([(0, 0), *self.sizes], axis=0)
        self.sum(number_part, each=[(s, *row) for s, row in enumerate(ends[:-1].tolist())])
        self.known: KnownStates | None = None

    def set_known(self, known: KnownStates | None) -> None:
        """Set the known states of all steps."""
        self.known = known
        each: list[Any] = [None] * len(self.sizes)
        if known is not None:
            ends = np.cumsum([n_steps for _, n_steps in self.sizes])
            each = [(own, known.n_states) for own in np.split(known.states, ends[:-1])]
        self.sum(set_known_part, each=each)

    @property
    def n_units(self) -> int:
        """Number of steps, the units of a sweep."""
        return sum(n_steps for _, n_steps in self.sizes)

    def observations(self) -> PlacedObservations:
        """Return the observations, for functions that work on parts of them."""
        return PlacedObservations(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a digest that represents the data when they are hashed."""
        return str, (repr((self.n_features, self.sum(digest_part)[0])),)

    def write(self, folder: Path) -> None:
        """Write the states of chains of all partitions to files in `folder`."""
        self.write_files(write_part, folder)

    def read(self, folder: Path) -> None:
        """Restore the states of chains of all partitions from files in `folder`."""
        self.sum(read_part, each=self._paths(folder))

    def seek_first_states(
        self, c: int, transitions: Transitions, emission: Any, init: str, rng: NDArray[np.uint64]
    ) -> None:
        """Set the states of chain `c` to those that `write_first_states` would write.

        They are sought in the process of the first partition, to which the others send some
        sequences.
        """
        stride = choose_stride(sum(n for n, _ in self.sizes), self.n_units)
        some = self.total(take_some, stride)
        rng[:], learned = self.first(seek_part, some, transitions, emission, init, rng, stride == 1)
        emission.adopt(learned.emission)
        (sizes,) = self.sum(count_chosen, stride)
        key = np.zeros_like(rng)
        if stride > 1:
            draw_key(rng, key)
        states = self._executor.call(0, take_start)
        shared = self.share(learned)
        begins = (np.cumsum(sizes) - sizes).tolist()
        impossible, _ = self.sum(follow_part, c, states, shared, key, stride, each=begins)
        check_followed(min(impossible, default=-1))


class PlacedObservations:
    """Observations of a panel in partitions, with the interface of `ObservedSequences`."""

    def __init__(self, data: PlacedPanel):
        self._data = data

    @property
    def n_features(self) -> int:
        """Number D of columns."""
        return self._data.n_features

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over partitions of tuples ``f(values, *args)``."""
        return self._data.sum(sum_part, f, args)

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over partitions of tuples ``f(values, ptr, *args)``."""
        return self._data.sum(sum_sequences_part, f, args)
