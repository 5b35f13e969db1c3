"""A partition of a panel in the process that holds it.

That process has the observations and the states of every chain. It receives parameters, and returns
sums over steps that are bit-identical wherever the panel is cut: transitions, statistics of
observations, log probabilities of proposals. States are drawn with one stream for each sequence,
which depends on its index in the whole panel.
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

from skdp._numeric._typing import Floats, Ints, Places
from skdp.callback._part_files import part_header
from skdp.callback._pickles import read_checked, write_checked
from skdp.data import SequencePanel, concatenate
from skdp.emissions._protocol import values_for
from skdp.sequence._hmm._first_states import Start, begin, count, follow, list_chosen
from skdp.sequence._hmm._hints import KnownStates
from skdp.sequence._hmm._messages import HMMMessages
from skdp.sequence._hmm._segment_messages import SegmentMessages
from skdp.sequence._hmm._transitions import Transitions
from skdp.sequence._observed_steps import count_pairs, observed_steps


class Orders(NamedTuple):
    """Parameters of a sweep."""

    emission: Any  # a `SummedEmission` without observations
    startprob: Floats
    transmat: Floats
    tables: tuple[Floats, Floats] | None  # of durations
    key: NDArray[np.uint64]  # of the streams of states
    missing_key: NDArray[np.uint64]  # of the streams of missing values


Found = tuple[Any, ...]
"""Impossible sequences, transitions, measures of the emission, observed steps of each state, and
sums of the duration."""


@dataclass
class PanelChain:
    """State of a chain in the process that holds a partition."""

    emission: Any  # a `SummedEmission` with the observations
    duration: Any  # a `SummedDuration` or None
    states: Places
    kept: dict[int, NDArray[np.int32]] = field(default_factory=dict)  # states by their sweep
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
    start: Start | None = None  # in the first partition, while first states are sought
    known: KnownStates | None = None

    @cached_property
    def is_observed(self) -> NDArray[np.bool_]:
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
        assert self.known is not None
        return (self.known.count(self.chains[c].states),)

    def write_known(self, c: int) -> None:
        """Write the known states of known steps."""
        assert self.known is not None
        self.known.write(self.chains[c].states)

    def list_lengths(self) -> tuple[list[int]]:
        """Return the lengths of all sequences."""
        return (np.diff(self.panel.ptr).tolist(),)

    def compute(self, f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the result of `f` for the observations."""
        with self._naming():
            result: tuple[Any, ...] = f(self.panel.values, *args)
        return result

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
        rng: NDArray[np.uint64],
        are_all: bool,
    ) -> tuple[NDArray[np.uint64], Any]:
        """Seek the first states of some sequences; return the stream and the learned model."""
        rng, (panels,) = rng.copy(), some
        self.start = begin(concatenate(panels), transitions, emission, init, rng, are_all=are_all)
        return rng, self.start._replace(states=np.empty(0, dtype=np.int64))

    def take_start(self) -> tuple[Ints]:
        """Return the first states that were found."""
        assert self.start is not None
        states, self.start = self.start.states.astype(np.int32), None
        return (states,)

    def follow(
        self,
        c: int,
        states: tuple[Ints],
        learned: Start,
        key: NDArray[np.uint64],
        stride: int,
        begin_at: int,
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
        return (
            [int(np.count_nonzero(list_chosen(self.panel.ptr, stride, self.first_sequence)[1]))],
        )

    def set_states(self, c: int, states: Places) -> None:
        """Set the first states."""
        self.chains[c].states[:] = states

    def rename(self, c: int, order: Places) -> None:
        """Rename state j to ``order[j]``."""
        states = self.chains[c].states
        states[:] = order[states]

    def complete(self, c: int, emission: Any, key: NDArray[np.uint64]) -> None:
        """Draw the missing values, given parameters."""
        chain = self.chains[c]
        chain.emission.adopt(emission.copy())
        chain.emission.complete_with(chain.states, key, self.first_step)

    def count(self, c: int, n_states: int) -> Found:
        """Return the transitions, measures of the emission, and observed steps of each state."""
        chain = self.chains[c]
        counts = count(self.panel.ptr, chain.states, n_states)
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
        messages: HMMMessages | SegmentMessages = (
            HMMMessages(*known)
            if orders.tables is None
            else SegmentMessages(*known, *orders.tables)
        )
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
        sums: tuple[Any, ...] = chain.emission.add_up(chain.states, found[2])
        return sums

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
