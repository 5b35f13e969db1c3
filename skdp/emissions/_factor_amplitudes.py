"""Amplitudes of binary factors that vary from step to step."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._random import draw_gamma
from skdp.emissions import _kernels_factor_amplitudes as kernels
from skdp.emissions._kernels_gaussian import HALF_LOG_2_PI

SMALLEST_VARIANCE, LARGEST_VARIANCE = 1e-12, 1e12


class Pattern(NamedTuple):
    """Steps whose missing values are in the same columns.

    Attributes
    ----------
    rows : (n,) array of int64
    seen : (D,) array of bool
    """

    rows: NDArray[np.int64]
    seen: NDArray[np.bool_]


def find_patterns(values: NDArray[np.float64]) -> list[Pattern]:
    """Return steps by the columns of their missing values."""
    seen, kinds = np.unique(~np.isnan(values), axis=0, return_inverse=True)
    kinds = kinds.reshape(-1)
    return [Pattern(np.flatnonzero(kinds == i), row) for i, row in enumerate(seen)]


class _Weighed(NamedTuple):
    """What steps of one pattern tell, with the amplitudes summed out."""

    rows: NDArray[np.int64]
    projections: NDArray[np.float64]
    rests: NDArray[np.float64]
    constant: float
    roots: kernels.Roots


def _weigh(
    values: NDArray[np.float64],
    pattern: Pattern,
    factors: NDArray[np.int8],
    weights: NDArray[np.float64],
    precisions: NDArray[np.float64],
    variance: float,
) -> _Weighed:
    n_states, n_factors = factors.shape
    known = np.where(pattern.seen, precisions, 0.0)
    products = np.empty((n_factors, n_factors))
    kernels.write_products(weights, known, products)
    projections, rests = np.empty((len(pattern.rows), n_factors)), np.empty(len(pattern.rows))
    kernels.project(values, pattern.rows, weights, known, projections, rests)
    roots = kernels.Roots(
        np.empty((n_states, n_factors), dtype=np.int64), np.empty(n_states, dtype=np.int64),
        np.empty((n_states, n_factors, n_factors)), np.empty(n_states),
        np.empty((n_states, n_factors)),
    )  # fmt: skip
    kernels.write_roots(factors, products, variance, roots)
    constant = (0.5 * np.log(precisions[pattern.seen]) - HALF_LOG_2_PI).sum()
    return _Weighed(pattern.rows, projections, rests, float(constant), roots)


def weigh_varying(
    values: NDArray[np.float64],
    patterns: list[Pattern],
    factors: NDArray[np.int8],
    weights: NDArray[np.float64],
    precisions: NDArray[np.float64],
    variance: float,
    out: NDArray[np.float64],
) -> None:
    """Write log p(y_t given state j) to `out`, amplitudes summed out."""
    column = np.empty(factors.shape[1])
    for pattern in patterns:
        own = _weigh(values, pattern, factors, weights, precisions, variance)
        kernels.weigh_steps(
            own.rows, own.projections, own.rests, own.constant, variance, own.roots, column, out
        )


class AmplitudeSampler:
    """Amplitudes N(1, tau^2) of factors that are on, as a part of the emission's chain.

    Vectors and states are drawn with the amplitudes summed out; weights, noise and tau^2 given a
    draw of them, and given a draw of missing values.

    Parameters
    ----------
    n_states, n_factors, n_dims : int
    variance : float or None
        tau^2; None: drawn.
    prior : (float, float)
        Shape and rate of the Gamma prior of 1 / tau^2.

    Attributes
    ----------
    variance : float
        tau^2.
    """

    def __init__(
        self,
        n_states: int,
        n_factors: int,
        n_dims: int,
        variance: float | None,
        prior: tuple[float, float],
    ):
        self.draws, self.prior = variance is None, prior
        self.variance = prior[1] / prior[0] if variance is None else variance
        self._products = np.zeros((n_factors, n_factors))
        self._sizes = np.zeros(n_states)
        self._totals = np.zeros((n_states, n_factors))
        self._squares = np.zeros((n_states, n_factors, n_factors))
        self._gram = np.zeros((n_factors + 1, n_factors + 1))
        self._cross = np.zeros((n_factors + 1, n_dims))
        self._n_steps = 0
        self._residuals = np.zeros(n_dims)
        self.log_likelihood = 0.0
        self._deviations = 0, 0.0

    def attach(self, values: NDArray[np.float64]) -> None:
        """Take the observations."""
        self._values = values
        self._patterns = find_patterns(values)
        self._all = np.arange(len(values))
        self._amplitudes = np.empty((len(values), len(self._products)))

    def detach(self) -> None:
        """Drop the observations."""
        del self._values, self._patterns, self._all, self._amplitudes

    def fill(
        self,
        states: NDArray[np.int64],
        factors: NDArray[np.int8],
        weights: NDArray[np.float64],
        precisions: NDArray[np.float64],
        rng: NDArray[np.uint64],
    ) -> NDArray[np.float64]:
        """Return the observations with draws in the place of missing values."""
        partial = [pattern for pattern in self._patterns if not pattern.seen.all()]
        if not partial:
            return self._values
        filled = self._values.copy()
        amplitudes = np.empty((len(filled), factors.shape[1]))
        for pattern in partial:
            own = _weigh(self._values, pattern, factors, weights, precisions, self.variance)
            self._draw_amplitudes(own, states, amplitudes, rng)
            kernels.fill_missing(
                self._values, own.rows, amplitudes, weights, precisions, filled, rng
            )
        return filled

    def add_up(
        self,
        filled: NDArray[np.float64],
        states: NDArray[np.int64],
        weights: NDArray[np.float64],
        precisions: NDArray[np.float64],
    ) -> None:
        """Add up what the observations tell of vectors."""
        n_factors = len(self._products)
        kernels.write_products(weights, precisions, self._products)
        projections, rests = np.empty((len(filled), n_factors)), np.empty(len(filled))
        kernels.project(filled, self._all, weights, precisions, projections, rests)
        kernels.add_up_projections(projections, states, self._sizes, self._totals, self._squares)

    def projections(self) -> kernels.Projections:
        """Return what the observations tell of vectors."""
        return make_projections(
            self.variance, self._products, self._sizes, self._totals, self._squares
        )

    def draw(
        self,
        filled: NDArray[np.float64],
        states: NDArray[np.int64],
        factors: NDArray[np.int8],
        weights: NDArray[np.float64],
        precisions: NDArray[np.float64],
        rng: NDArray[np.uint64],
    ) -> None:
        """Draw the amplitudes, and tau^2 given them; add up what weights depend on."""
        everything = Pattern(self._all, np.ones(len(precisions), dtype=np.bool_))
        own = _weigh(filled, everything, factors, weights, precisions, self.variance)
        self._draw_amplitudes(own, states, self._amplitudes, rng)
        kernels.add_up_regression(filled, self._amplitudes, self._gram, self._cross)
        self._deviations = kernels.add_up_deviations(factors, states, self._amplitudes)
        if self.draws:
            shape, rate = self._posterior()
            precision = draw_gamma(shape, rng) / rate
            self.variance = 1.0 / min(max(precision, 1 / LARGEST_VARIANCE), 1 / SMALLEST_VARIANCE)

    def weights_given(
        self, precisions: NDArray[np.float64], scale: float, normals: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return a draw of the weights made of standard normal draws; their mean if these are 0."""
        weights = np.empty(normals.shape)
        kernels.write_regression_weights(
            self._gram, self._cross, precisions, scale, normals, weights, np.empty(self._gram.shape)
        )
        return weights

    def add_up_residuals(self, filled: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Add up what the noise depends on, given the amplitudes last drawn."""
        self._n_steps = len(filled)
        kernels.add_up_residuals(filled, self._amplitudes, weights, self._residuals)

    def noise(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the number of values of every column, and the sum of their squared residuals."""
        return np.full(len(self._residuals), float(self._n_steps)), self._residuals

    def add_up_likelihood(
        self,
        states: NDArray[np.int64],
        factors: NDArray[np.int8],
        weights: NDArray[np.float64],
        precisions: NDArray[np.float64],
    ) -> None:
        """Keep log p(y given states and parameters), amplitudes summed out."""
        column = np.empty(factors.shape[1])
        self.log_likelihood = 0.0
        for pattern in self._patterns:
            own = _weigh(self._values, pattern, factors, weights, precisions, self.variance)
            self.log_likelihood += own.constant * len(own.rows)
            self.log_likelihood += kernels.log_likelihood_of_steps(
                own.rows, states, own.projections, own.rests, self.variance, own.roots, column
            )

    def write_log_obs(
        self,
        factors: NDArray[np.int8],
        weights: NDArray[np.float64],
        precisions: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None:
        """Write the log densities of all steps."""
        weigh_varying(
            self._values, self._patterns, factors, weights, precisions, self.variance, out
        )

    def log_density(self) -> float:
        """Return the log density of log tau^2, 0 if it is given."""
        if not self.draws:
            return 0.0
        shape, rate = self.prior
        scaled = rate / self.variance
        return float(shape * np.log(scaled) - scaled - gammaln(shape))

    def mean_variance(self) -> float:
        """Return rate / shape of the distribution of 1 / tau^2 given the amplitudes last drawn."""
        if not self.draws:
            return self.variance
        shape, rate = self._posterior()
        return rate / shape

    def copy(self) -> Self:
        """Return the same parameters in arrays of their own."""
        other = object.__new__(type(self))
        other.__dict__ = {
            name: value.copy() if isinstance(value, np.ndarray) and name in _OWN else value
            for name, value in self.__dict__.items()
        }
        return other

    def _posterior(self) -> tuple[float, float]:
        n, total = self._deviations
        return self.prior[0] + 0.5 * n, self.prior[1] + 0.5 * total

    def _draw_amplitudes(
        self,
        own: _Weighed,
        states: NDArray[np.int64],
        amplitudes: NDArray[np.float64],
        rng: NDArray[np.uint64],
    ) -> None:
        kernels.draw_amplitudes(
            own.rows, states, own.projections, self.variance, own.roots,
            np.empty(amplitudes.shape[1]), amplitudes, rng,
        )  # fmt: skip


_OWN = ("_products", "_sizes", "_totals", "_squares", "_gram", "_cross", "_residuals")


def make_projections(
    variance: float,
    products: NDArray[np.float64],
    sizes: NDArray[np.float64],
    totals: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> kernels.Projections:
    """Return what observations tell of vectors, with room for a step."""
    n_factors = len(products)
    return kernels.Projections(
        variance, products, sizes, totals, squares, np.empty(n_factors, dtype=np.int64),
        np.empty((n_factors, n_factors)), *np.empty((2, n_factors)),
    )  # fmt: skip


NO_PROJECTIONS = make_projections(
    0.0, np.zeros((1, 1)), np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1, 1))
)
