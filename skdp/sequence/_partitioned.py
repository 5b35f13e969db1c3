"""Fits of hidden Markov models to panels in partitions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from skdp._executors import Executor
from skdp._fit._partitions import PartitionedSampling, check_no_warm_start
from skdp._numeric._random import Role, derive_stream
from skdp.data import PartitionedPanel
from skdp.data._validation import check_partitions
from skdp.emissions._independent import list_unsummed
from skdp.sequence._base import CheckPanel, check_columns_observed
from skdp.sequence._durations._protocol import SummedDuration
from skdp.sequence._hmm._opening import check_init
from skdp.sequence._hmm._placed import PlacedPanel, check_part, list_lengths
from skdp.sequence._hmm._placed_walker import PlacedHMMWalker
from skdp.sequence._hmm._predictions import HMMPredictions
from skdp.sequence._hmm._transitions import Transitions
from skdp.sequence._parts import make_part
from skdp.sequence._similarities._protocol import EmissionCoupledSampler


class PartitionedHMM(HMMPredictions):
    """Base class of hidden Markov models that can be fitted to a panel in partitions.

    A subclass gives `_emission_object`, `_priors`, `_check_size` and `_n_held`.
    """

    n_components: int
    duration: Any
    state_sampler: str
    init: Any

    def _check_partitions(self, X: PartitionedPanel) -> None:
        cure = f"takes no {type(X).__name__} yet: X.compute() gathers it in a SequencePanel."
        for emission in list_unsummed(self._part("emission")):
            raise TypeError(
                f"{type(self).__name__} with {type(emission).__name__} {cure} Partitions are for "
                "'gaussian', 'autoregressive', 'poisson', 'bernoulli', 'categorical', "
                "'multinomial' and IndependentEmissions of these."
            )
        duration = self._make_option("duration")
        if duration is not None and not isinstance(duration, SummedDuration):
            name = type(self._part("duration")).__name__
            raise TypeError(f"{type(self).__name__} with {name} {cure}")
        if self.state_sampler == "beam":
            raise TypeError(f"state_sampler='beam' {cure}")
        check_no_warm_start(self, X)

    def _check_input(self, X: Any, y: Any = None, executor: Executor | None = None) -> Any:
        if executor is None:
            return super()._check_input(X, y)
        check_partitions(self, X, reset=True)
        for name in ("_n_words", "categories_"):
            self.__dict__.pop(name, None)
        placed = PlacedPanel(X, executor)
        check = CheckPanel(
            type(self).__name__,
            self._part("emission"),
            allows_nan=self._allows_nan(),
            n_given=self._n_given(),
        )
        (n_seen,) = placed.sum(check_part, check)
        if self._allows_nan():
            check_columns_observed(n_seen == 0, None)
        self._check_size(max(n_steps for _, n_steps in placed.sizes))
        return placed

    def _make_procedure(self, data: Any) -> Any:
        if not isinstance(data, PlacedPanel):
            return super()._make_procedure(data)
        return self._make_sampling(PartitionedSampling, data, unit="steps")

    def _keeps_partitions(self, executor: Executor) -> bool:
        """Return whether chains continue later with the partitions of an executor."""
        return False

    def _make_option(self, name: str) -> Any:
        """Return the sampler of the similarity or the duration, or None."""
        part = self._part(name)
        return None if part is None else make_part(part, name, self.n_components)

    def _start_placed_walker(
        self, data: PlacedPanel, root: np.random.SeedSequence, c: int
    ) -> PlacedHMMWalker:
        """Return the walker of a new chain over partitions."""
        init_stream = derive_stream(root, Role.INIT, c)
        similarity, duration = self._make_option("similarity"), self._make_option("duration")
        if isinstance(similarity, EmissionCoupledSampler):
            name = type(self._part("similarity")).__name__
            raise TypeError(
                f"{name} takes no PartitionedPanel yet: X.compute() gathers it in a SequencePanel."
            )
        emission = self._emission_object()
        return PlacedHMMWalker(
            data,
            c,
            Transitions(
                self.n_components, self._priors(), init_stream, self_transitions=duration is None
            ),
            emission.make_sampler_of(data.observations(), self.n_components),
            init_stream,
            derive_stream(root, Role.SWEEP, c),
            similarity=similarity,
            duration=duration,
            n_held=self._n_held(),
            init=self._read_init(data),
        )

    def _read_init(self, data: PlacedPanel) -> Any:
        """Return how states begin: a name, or the first states of each partition."""
        if isinstance(self.init, str):
            return self.init
        (lengths,) = data.sum(list_lengths)
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        states: Any = check_init(self.init, ptr, self.n_components)
        ends = np.cumsum([0, *(n_steps for _, n_steps in data.sizes)])
        return [states[begin:end] for begin, end in pairwise(ends)]
