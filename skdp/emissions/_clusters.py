"""Rows, prior and clusters as kernels see them, for models that seat row by row."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from skdp._numba import frozen
from skdp._typing import Floats, Ints, Places
from skdp.emissions._kernels_clusters import EVENTS, GAUSSIAN, POISSON
from skdp.emissions._protocol import CollapsedEmission

__all__ = [
    "EVENTS",
    "GAUSSIAN",
    "POISSON",
    "ClusterEmission",
    "ClusterPrior",
    "ClusterTerms",
    "Clusters",
    "Rows",
    "Scratch",
    "count_terms",
    "gaussian_terms",
]


class Rows(NamedTuple):
    """Observations: see `_kernels_clusters`."""

    values: Floats
    ptr: Places
    kinds: Ints
    amounts: Floats
    totals: Floats
    constants: Floats


class ClusterPrior(NamedTuple):
    """Prior of the parameters of a cluster: see `_kernels_clusters`."""

    mean: Floats
    precision: float
    dof: float
    scale: Floats
    log_det: float
    shapes: Floats
    rate: float
    total_shape: float


class Clusters(NamedTuple):
    """Statistics of clusters: see `_kernels_clusters`."""

    sizes: Floats
    updates: Places
    factors: Floats
    centres: Floats
    offsets: Floats
    log_dets: Floats
    ratios: Floats
    powers: Floats
    heads: Floats
    sums: Floats
    sums_of_all: Floats

    @property
    def capacity(self) -> int:
        """Number of clusters that there is room for."""
        return len(self.sizes)


class Scratch(NamedTuple):
    """What kernels of clusters write to and forget."""

    negative: Floats
    sums: Floats
    whitened: Floats
    row: Floats
    matrix: Floats


class ClusterTerms(NamedTuple):
    """All that clusters of an emission follow from.

    Attributes
    ----------
    kind : int
        GAUSSIAN, POISSON or EVENTS.
    rows : Rows
    prior : ClusterPrior
    """

    kind: int
    rows: Rows
    prior: ClusterPrior

    def make_clusters(self, capacity: int) -> Clusters:
        """Return room for so many clusters."""
        n_dims = self.rows.values.shape[1]
        width = self.prior.mean.shape[1]
        vectors = np.zeros((6, capacity))
        return Clusters(
            np.zeros(capacity),
            np.zeros(capacity, dtype=np.int64),
            np.zeros((n_dims, width, capacity)),
            np.zeros((n_dims, capacity)),
            np.zeros((n_dims, capacity)),
            *vectors[:4],
            np.zeros((len(self.prior.shapes), capacity)),
            vectors[4],
        )

    def make_scratch(self, capacity: int) -> Scratch:
        """Return what kernels write to and forget."""
        width = self.prior.mean.shape[1]
        return Scratch(
            np.empty(capacity),
            np.empty(capacity),
            np.empty(width),
            np.empty(width),
            np.empty((width, width)),
        )


@runtime_checkable
class ClusterEmission(CollapsedEmission, Protocol):
    """What samplers offer whose rows can be seated one by one, parameters summed out."""

    def cluster_terms(self) -> ClusterTerms:
        """Return the attached rows and the prior as kernels of clusters take them."""


def gaussian_terms(
    values: Floats, mean: Floats, precision: float, dof: float, scale: Floats
) -> ClusterTerms:
    """Return the terms of Gaussian rows; the prior is that of `GaussianSampler`."""
    nothing = np.empty(0)
    rows = Rows(
        frozen(values),
        np.zeros(1, dtype=np.int64),
        np.empty(0, dtype=np.int32),
        nothing,
        nothing,
        nothing,
    )
    log_det = float(np.linalg.slogdet(scale)[1].sum())
    prior = ClusterPrior(
        np.ascontiguousarray(mean), precision, dof, np.ascontiguousarray(scale), log_det,
        nothing, 0.0, 0.0,
    )  # fmt: skip
    return ClusterTerms(GAUSSIAN, rows, prior)


def count_terms(
    kind: int,
    events: tuple[Places, Ints, Floats],
    constants: Floats,
    shapes: Floats,
    rate: float = 0.0,
) -> ClusterTerms:
    """Return the terms of rows of counts.

    Parameters
    ----------
    kind : {POISSON, EVENTS}
    events : (ptr, kinds, amounts)
    constants : (N,) array
        Logarithms of what all clusters' probabilities of a row share.
    shapes : (V,) array
        Of the Gamma or Dirichlet prior.
    rate : float
        Of the Gamma prior.
    """
    ptr, kinds, amounts = events
    running = np.concatenate([[0.0], np.cumsum(amounts)])
    rows = Rows(
        frozen(np.empty((len(constants), 0))),
        np.ascontiguousarray(ptr, dtype=np.int64),
        np.ascontiguousarray(kinds, dtype=np.int32),
        np.ascontiguousarray(amounts, dtype=np.float64),
        running[ptr[1:]] - running[ptr[:-1]],
        constants,
    )
    shapes = np.ascontiguousarray(shapes, dtype=np.float64)
    prior = ClusterPrior(
        np.empty((0, 1)), 0.0, 0.0, np.empty((0, 1, 1)), 0.0, shapes, rate, float(shapes.sum())
    )
    return ClusterTerms(kind, rows, prior)
