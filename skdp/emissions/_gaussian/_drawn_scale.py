"""Priors of means and covariances, and of a drawn scale of covariances."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import multigammaln

from skdp._numeric._typing import Floats, Places

_SMALLEST_EIGENVALUE = 3e-4
"""Smallest eigenvalue of correlations: three times that of shrinkage in a constant direction."""

_FREEDOM_RATIOS = 1.0, 2.0, 4.0, 8.0, 16.0
"""Values of nu - W - 1 in units of the first one."""

_FEW_ROWS, _VERY_FEW_ROWS = 20, 6


def are_few(n_rows: float, width: int) -> bool:
    """Return whether there are so few rows that the largest nu outweighs them."""
    return n_rows < _FEW_ROWS * width


def are_very_few(n_rows: float, width: int) -> bool:
    """Return whether the rows are so few that S must be drawn if nu is: see `GaussianEmission`."""
    return n_rows < _VERY_FEW_ROWS * width


class GaussianPrior(NamedTuple):
    """Parameters m, c, nu and S of the prior, in B blocks of W columns: see `_kernels`."""

    mean: Floats  # (B, W)
    precision: float
    dof: float
    scale: Floats  # (B, W, W)

    def with_dof(self, dof: float) -> GaussianPrior:
        """Return the prior with other degrees of freedom and the same mean of covariances."""
        if dof == self.dof:
            return self
        least = self.mean.shape[1] + 1.0
        return self._replace(dof=dof, scale=(dof - least) / (self.dof - least) * self.scale)


class ScalePrior(NamedTuple):
    """Prior of nu, and of the scales S_b = F + R Q R^T of the covariances given the first nu.
    Q ~ Wishart(n, I / n), truncated at `_kernels_drawn_scale.LOWEST`.
    """

    freedoms: tuple[float, ...]  # values of nu, equally probable; a single one if nu is not drawn
    n_free: Places  # (B,): n, the rows of Q; W if no columns are constant or collinear
    roots: Floats  # (B, W, W): R, in the first n columns
    fixed: Floats  # (B, W, W): F, for directions in which the data imply 0 for any clusters
    log_dets: Floats  # (B,): log det E[S]; E[S] is the S that is used if S is not drawn
    inverses: Floats  # (B, W, W): E[S]^-1

    @classmethod
    def about(
        cls, expected: Floats, varies: NDArray[np.bool_], dof: float, *, draws_dof: bool = False
    ) -> ScalePrior:
        """Return the prior with mean `expected`, (B, W, W), of S given `dof`, the first nu."""
        least = expected.shape[-1] + 1.0
        ratios = _FREEDOM_RATIOS if draws_dof else (1.0,)
        freedoms = tuple(least + ratio * (dof - least) for ratio in ratios)
        n_free = np.zeros(len(varies), dtype=np.int64)
        roots, fixed = np.zeros(expected.shape), np.zeros(expected.shape)
        for b in range(len(varies)):
            lengths = np.sqrt(np.diag(expected[b]))
            correlations = expected[b] / np.multiply.outer(lengths, lengths)
            d = np.flatnonzero(varies[b])
            eigenvalues, directions = np.linalg.eigh(correlations[np.ix_(d, d)])
            columns = np.zeros((len(lengths), len(d)))
            columns[d] = lengths[d, np.newaxis] * directions * np.sqrt(eigenvalues)
            is_free = eigenvalues > _SMALLEST_EIGENVALUE
            n_free[b] = is_free.sum()
            roots[b, :, : n_free[b]] = columns[:, is_free]
            fixed[b] = np.diag(np.where(varies[b], 0.0, lengths**2))  # uncorrelated
            fixed[b] += columns[:, ~is_free] @ columns[:, ~is_free].T
        log_dets = np.linalg.slogdet(expected)[1]
        return cls(freedoms, n_free, roots, fixed, log_dets, np.asarray(np.linalg.inv(expected)))

    def given(self, dof: float) -> ScalePrior:
        """Return the prior of S given nu, in which S / (nu - W - 1) has the same distribution."""
        if dof == self.freedoms[0]:
            return self
        width = self.roots.shape[-1]
        ratio = (dof - width - 1.0) / (self.freedoms[0] - width - 1.0)
        return self._replace(
            freedoms=(dof,),
            roots=math.sqrt(ratio) * self.roots,
            fixed=ratio * self.fixed,
            log_dets=self.log_dets + width * math.log(ratio),
            inverses=self.inverses / ratio,
        )

    def log_ratios(self, scale: Floats) -> Floats:
        """Return log det Q of each block, (B,)."""
        ratios: Floats = np.linalg.slogdet(scale)[1] - self.log_dets
        return ratios

    def log_density(self, scale: Floats) -> float:
        """Return the log density of Q for S, up to the constant of the truncation.
        With respect to dQ / det(Q)^((n + 1) / 2), it does not depend on the units of the data.
        """
        n = self.n_free[self.n_free > 0].astype(np.float64)
        log_ratios = self.log_ratios(scale)[self.n_free > 0]
        traces = np.einsum("bde,bed->b", self.inverses, scale)[self.n_free > 0]
        traces -= scale.shape[1] - n  # number of fixed directions
        logs = 0.5 * n * (log_ratios - traces + n * np.log(0.5 * n))
        return float(logs.sum() - sum(multigammaln(0.5 * x, int(x)) for x in n))

    def ratio(self, scale: Floats) -> float:
        """Return the geometric mean of the ratio of S to E[S] over all directions."""
        return math.exp(float(self.log_ratios(scale).mean()) / scale.shape[1])
