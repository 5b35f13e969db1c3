"""Log densities of the rows of a fit, each given the other rows and their clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdp._numeric._typing import Floats
from skdp.emissions._clusters import ClusterTerms
from skdp.emissions._kernels_clusters import AUGMENTED
from skdp.mixture._cluster_sampler import IMPOSSIBLE
from skdp.mixture._kernels import kernels_of
from skdp.mixture._model import MixtureModel


class LeftOutDensities:
    """Log p(x_i given x_-i, c_-i and the hyperparameters) under samples: f_i, as of `log_average`.

    Posterior draws of c_-i have the density p(c_-i given x_-i) f_i / p(x_i given x_-i), so that the
    harmonic mean of f_i over them is p(x_i given x_-i).
    """

    def __init__(self, emission: Any):
        self._terms: ClusterTerms = emission.cluster_terms()
        if getattr(emission, "may_be_alike", False):
            raise TypeError(
                "to_arviz requires columns of categories with a known prior, such as "
                "CategoricalEmission(prior=0.5). Otherwise the fit draws which columns differ "
                "between clusters, and that depends on the row that is left out."
            )
        if self._terms.kind == AUGMENTED:
            raise TypeError(
                "to_arviz requires an emission without drawn weights or missing values of rows: "
                "StudentTEmission draws weights, and GaussianEmission with full covariances draws "
                'missing values. GaussianEmission("diag") takes missing values.'
            )

    def __call__(self, model: MixtureModel) -> Floats:
        """Return the log densities of the rows under a stored sample, (N,)."""
        assert model.hyper is not None
        kind, rows, _ = self._terms
        discount, concentration, prior = model.hyper
        if _list_shapes(prior) != _list_shapes(self._terms.prior):
            raise ValueError("to_arviz: the emission is not that of the fit. Fit again.")
        terms, kernels = ClusterTerms(kind, rows, prior), kernels_of(kind)
        labels = model.labels.astype(np.int64)
        n_rows, n_clusters = len(labels), int(labels.max()) + 1
        alone, out = np.empty((2, n_rows))
        room, scratch = terms.make_clusters(n_clusters + 1), terms.make_scratch(n_clusters + 1)
        members, ends = np.empty(n_rows, np.int64), np.empty(n_clusters + 2, np.int64)
        possible = kernels.weigh_alone(rows, prior, room, members, scratch, alone)
        possible &= kernels.weigh_left_out(
            rows, prior, room, n_clusters, labels, alone, discount, concentration,
            np.empty(n_clusters + 2), members, ends, scratch, out,
        )  # fmt: skip
        if not possible:
            raise ValueError(IMPOSSIBLE)
        return out


def _list_shapes(prior: Any) -> Any:
    """Return the shapes of all arrays of a prior, in its structure."""
    if isinstance(prior, tuple):
        return type(prior).__name__, *map(_list_shapes, prior)
    return np.shape(prior)
