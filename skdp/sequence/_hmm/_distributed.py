"""Panels in partitions that an executor has distributed, as the data of a fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._executors import Distributed, Executor
from skdp._numeric._random import draw_key
from skdp.data import PartitionedPanel
from skdp.sequence._hmm._first_states import check_followed, choose_stride
from skdp.sequence._hmm._hints import KnownStates
from skdp.sequence._hmm._partition import PanelPartition
from skdp.sequence._hmm._transitions import Transitions


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
            ends = np.cumsum([n_steps for _, n_steps in self.sizes])
            each = [(own, known.n_states) for own in np.split(known.states, ends[:-1])]
        self.run("set_known", each=each)

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
        self, c: int, transitions: Transitions, emission: Any, init: str, rng: NDArray[np.uint64]
    ) -> None:
        """Set the first states of chain `c`, as `write_first_states` does for a whole panel."""
        # The process of the first partition seeks them, on some sequences of all partitions.
        stride = choose_stride(sum(n for n, _ in self.sizes), self.n_units)
        some = self.total("take_some", stride)
        rng[:], learned = self.first("seek", some, transitions, emission, init, rng, stride == 1)
        emission.adopt(learned.emission)
        (sizes,) = self.sum("count_chosen", stride)
        key = np.zeros_like(rng)
        if stride > 1:
            draw_key(rng, key)
        states = self._executor.call(0, "take_start")
        shared = self.share(learned)
        begins = (np.cumsum(sizes) - sizes).tolist()
        impossible, _ = self.sum("follow", c, states, shared, key, stride, each=begins)
        check_followed(min(impossible, default=-1))


class DistributedObservations:
    """Observations of a panel in partitions, with the interface of `ObservedSequences`."""

    def __init__(self, data: DistributedPanel):
        self._data = data

    @property
    def n_features(self) -> int:
        """Number D of columns."""
        return self._data.n_features

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over partitions of tuples ``f(values, *args)``."""
        return self._data.sum("compute", f, args)

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the sum over partitions of tuples ``f(values, ptr, *args)``."""
        return self._data.sum("compute_sequences", f, args)
