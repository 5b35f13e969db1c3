"""The walker of the mixtures: all that a sweep draws."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp._typing import Floats
from skdp.emissions import _kernels_clusters as clusters
from skdp.emissions._clusters import ClusterTerms
from skdp.inference import Part
from skdp.mixture import _kernels_split_merge as moves
from skdp.mixture import _kernels_sweep as kernels
from skdp.mixture._hyper import PartitionPrior, log_partition
from skdp.mixture._model import MixtureModel, log_shares
from skdp.mixture._state import MixtureState

N_TRIES = 5
"""Splits or merges that are tried in a sweep."""

_FIRST_CAPACITY = 16
_THREE = 3

_IMPOSSIBLE = (
    "The covariance of a cluster is not positive definite to rounding: scale the columns of X, or "
    "give a larger covariance_prior."
)


class MixtureWalker(Part):
    """Markov chain over partitions of rows, discount and concentration, parameters summed out.

    Parameters
    ----------
    values : (N, D) array
    emission : ClusterEmission
        For one state; it holds the prior.
    prior : PartitionPrior
    discount, concentration : float
        What they are, or where they begin.
    init : (N,) array of int or None
        First clusters, named from 0 without gaps. None: one row after the other, in random order,
        joins a cluster given the rows before.
    init_stream, stream : (4,) uint64 arrays
        Streams of the first partition and of the sweeps.
    split_merge : bool, default=True
        Whether sweeps try to split and merge clusters.

    Attributes
    ----------
    labels : (N,) array of int64
    n_clusters : int
    """

    _data_attributes: ClassVar[tuple[str, ...]] = ("_values", "_terms", "_log_alone", "_order")

    def __init__(
        self,
        values: Floats,
        emission: Any,
        prior: PartitionPrior,
        discount: float,
        concentration: float,
        init: NDArray[np.int64] | None,
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
        *,
        split_merge: bool = True,
    ):
        self.emission = emission
        self.prior = prior
        self.discount, self.concentration = discount, concentration
        self.split_merge = split_merge
        self.stream = stream
        self.labels = np.full(len(values), -1, dtype=np.int64)
        self.n_clusters = 0
        self._capacity = _FIRST_CAPACITY
        self.attach(values)
        if init is None:
            self._seat(shuffle(len(values), init_stream), init_stream)
        else:
            self.labels[:] = init
            self.n_clusters = int(init.max()) + 1

    def attach(self, values: Floats) -> None:
        """Take the observations (again)."""
        self._values = values
        self._order = np.arange(len(values))
        self.emission.attach(values)
        self._take_prior()

    def _take_prior(self) -> None:
        """Compute what follows from the rows and the prior of the parameters."""
        self._terms: ClusterTerms = self.emission.cluster_terms()
        self._log_alone = np.empty(len(self._values))
        room, scratch = self._terms.make_clusters(1), self._terms.make_scratch(1)
        if not clusters.weigh_alone(*self._terms_with(room), self._order, scratch, self._log_alone):
            raise ValueError(_IMPOSSIBLE)

    def _terms_with(self, room: Any) -> tuple[Any, ...]:
        return self._terms.kind, self._terms.rows, self._terms.prior, room

    def sweep(self) -> None:
        """Draw the clusters of all rows, then discount, concentration and what clusters share."""
        self._seat(self._order, self.stream)
        if self.split_merge and len(self.labels) > 1:
            self._split_and_merge()
        self._draw_hyper()

    def _build(self, n_spare: int) -> tuple[Any, Any]:
        """Return the clusters, with room for so many more, and scratch space."""
        while self._capacity < self.n_clusters + n_spare:
            self._capacity *= 2
        terms = self._terms
        room, scratch = terms.make_clusters(self._capacity), terms.make_scratch(self._capacity + 1)
        self._members = np.empty(len(self.labels), dtype=np.int64)
        ends = np.empty(self._capacity, dtype=np.int64)
        known = *self._terms_with(room), self.n_clusters, self.labels
        if not kernels.build_clusters(*known, self._members, ends, scratch):
            raise ValueError(_IMPOSSIBLE)
        return room, scratch

    def _seat(self, order: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Let rows choose their clusters in some order."""
        place = 0
        while place < len(order):
            room, scratch = self._build(1)
            place, self.n_clusters = kernels.sweep_rows(
                self._terms.kind, place, order, self._terms.rows, self._terms.prior, room,
                self.n_clusters, self.labels, self._log_alone, self.discount, self.concentration,
                np.empty(self._capacity + 1), self._members, scratch, rng,
            )  # fmt: skip
            if place < 0:
                raise ValueError(_IMPOSSIBLE)

    def _split_and_merge(self) -> None:
        room, scratch = self._build(N_TRIES)
        n_clusters = moves.split_or_merge(
            self._terms.kind, N_TRIES, self._terms.rows, self._terms.prior, room,
            self._terms.make_clusters(_THREE), self.n_clusters, self.labels, self.discount,
            self.concentration, np.empty(_THREE), self._members,
            np.empty(len(self.labels), dtype=np.int8), scratch, self.stream,
        )  # fmt: skip
        if n_clusters < 0:
            raise ValueError(_IMPOSSIBLE)
        self.n_clusters = n_clusters

    def _draw_hyper(self) -> None:
        self.discount, self.concentration = self.prior.draw(
            self.sizes(), self.discount, self.concentration, self.stream
        )
        if hasattr(self.emission, "draw_shared"):
            before = self.emission.prior
            self.emission.draw_shared(self.labels, self.n_clusters, self.stream)
            if self.emission.prior is not before:
                self._take_prior()

    def sizes(self) -> NDArray[np.int64]:
        """Return the numbers of rows of the clusters, (K,)."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    def log_joint(self) -> float:
        """Return log p(X, partition) given what else is drawn, parameters summed out."""
        part = self.emission.restrict(self._order, self.n_clusters)
        part.condition(self.labels)
        log_prior = log_partition(self.sizes(), self.discount, self.concentration)
        return log_prior + float(part.log_evidence())

    def scalars(self) -> dict[str, float]:
        """Return what the trace records."""
        return {
            "log_joint": self.log_joint(),
            "n_components": float(self.n_clusters),
            "discount": self.discount,
            "concentration": self.concentration,
            **(self.emission.scalars() if hasattr(self.emission, "scalars") else {}),
        }

    def model(self) -> MixtureModel:
        """Return the current sample."""
        return self.model_of(self.labels, self.discount, self.concentration)

    def model_of(
        self, labels: NDArray[np.int64], discount: float, concentration: float
    ) -> MixtureModel:
        """Return a partition, and what the next row follows given it."""
        sizes = np.bincount(labels)
        part = self.emission.restrict(self._order, len(sizes) + 1)  # the last one is empty
        part.condition(labels)
        shares = log_shares(sizes, discount, concentration)
        return MixtureModel(labels.astype(np.int32), shares, part.model())

    def state(self) -> MixtureState:
        """Return a live view of the state."""
        return MixtureState(self)


def shuffle(n: int, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the numbers from 0 to n - 1 in random order."""
    order = np.arange(n)
    kernels.shuffle(order, rng)
    return order
