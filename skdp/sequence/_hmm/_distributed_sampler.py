"""The chain of a hidden Markov model over a panel in partitions."""

from __future__ import annotations

import pickle
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import draw_key
from skdp._numeric._typing import Floats, Places
from skdp._part import Part
from skdp.emissions._protocol import Coupling
from skdp.sequence._durations._protocol import SummedDuration
from skdp.sequence._hmm._distributed import DistributedPanel
from skdp.sequence._hmm._distributed_first_states import DistributedPossibleStates
from skdp.sequence._hmm._distributed_moves import DistributedSplitMerge
from skdp.sequence._hmm._hints import KnownStates, rename_by_known
from skdp.sequence._hmm._initial_split_merge import find_order
from skdp.sequence._hmm._partition import Orders
from skdp.sequence._hmm._possible_states import relax_transitions, write_possible_states
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import Transitions
from skdp.sequence._similarities._protocol import SimilaritySampler


class DistributedHMMSampler(HMMSampler):
    """Markov chain over a panel in partitions, bit-identical to that over the whole panel. It holds
    parameters, drawn given sums; states and missing values stay with the partitions.
    """

    is_distributed = True

    _data_attributes: ClassVar[tuple[str, ...]] = ("data", "_found", "_sums")

    def __init__(
        self,
        data: DistributedPanel,
        c: int,
        transitions: Transitions,
        emission: Any,
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
        *,
        similarity: SimilaritySampler | None = None,
        duration: SummedDuration | None = None,
        n_frozen: int = 0,
        init: Any = "auto",
    ):
        self.c = c
        self.n_frozen = n_frozen
        self.n_sweeps = 0
        self.transitions, self.emission = transitions, emission
        self.similarity, self.duration = similarity, duration
        self.stream = stream
        self.attach(data)
        if isinstance(init, str):
            data.seek_first_states(c, transitions, emission, init, init_stream)
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
        self._begin(init_stream)

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
        parameters = data.share(self._parameters())
        (flags,) = data.sum("begin", self.c, parameters, data.share(self.duration))
        self._is_incomplete = any(flags)
        self._is_complete = False

    def detach(self) -> None:
        """Drop the partitions."""
        Part.detach(self)

    @property
    def _n_sequences(self) -> int:
        return sum(n_sequences for n_sequences, _ in self.data.sizes)

    @property
    def known(self) -> KnownStates | None:
        """The known states of the panel."""
        return self.data.known

    def _parameters(self) -> Any:
        """Return the sampler of the observations, for partitions to copy from."""
        return self.emission.copy()

    # Operations on steps

    def _draw_states(self) -> int:
        key, missing_key = np.empty((2, 4), dtype=np.uint64)
        startprob, transmat = self.transitions.matrix()
        draw_key(self.stream, key)
        if self._is_incomplete:
            draw_key(self.stream, missing_key)
        tables = None if self.duration is None else self.duration.tables()
        orders = Orders(self._parameters(), startprob, transmat, tables, key, missing_key)
        self._find(self.data.total("sweep", self.c, self.data.share(orders)))
        self._is_complete = True
        self._count_moved(orders)
        impossible: int = min(self._found[0], default=-1)
        return impossible

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

    def _draw_duration(self, rng: NDArray[np.uint64]) -> None:
        duration: Any = self.duration
        duration.take(self._found[4:])
        duration.draw_parameters(rng)

    def _draw_emission(self, rng: NDArray[np.uint64], coupling: Coupling | None = None) -> None:
        if self._is_incomplete and not self._is_complete:
            key = np.empty(4, dtype=np.uint64)
            draw_key(rng, key)
            self.data.result(self._sums)
            self.data.run("complete", self.c, self.data.share(self._parameters()), key)
            self._take_counts()
        self._is_complete = False
        emission: Any = self.emission
        emission.take(self._found[2], self.data.result(self._sums))
        emission.draw_parameters(rng)

    def _shares(self) -> NDArray[np.float64]:
        counts: Places = self._found[3]
        return counts / counts.sum()

    def _keep_states(self) -> int:
        self.data.run("keep", self.c, self.n_sweeps)
        return self.n_sweeps

    def count_pairs(self, first: int, second: int, n_states: int) -> Places:
        """Count the observed steps by their pair of states in two kept draws."""
        return self.data.sum("count_pairs", self.c, first, second, n_states)[0]
