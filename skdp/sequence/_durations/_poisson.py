"""Durations of states whose excess over one step is Poisson."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.base import BaseEstimator

from skdp._checks import LARGEST, SMALLEST
from skdp._numeric._random import draw_log_gamma
from skdp._sklearn_compat import EstimatorMixin, Interval, validate_parameters
from skdp.sequence._durations import _kernels as kernels
from skdp.sequence._durations._base import SegmentCounts, check_tables


class PoissonDuration(EstimatorMixin, BaseEstimator):
    r"""Durations that vary little around a mean: one step plus a Poisson number of steps.

    A visit to state j lasts D steps:

    .. math::

        D - 1 \sim \mathrm{Poisson}(\omega_j), \quad
        \omega_j \sim \mathrm{Gamma}(\mathrm{shape}, \mathrm{rate})

    State j lasts 1 + omega_j steps on average, with a standard deviation of the square root of
    omega_j. A priori, the expected mean is 1 + shape / rate.

    Parameters
    ----------
    shape : float, default=1.0
        Shape of the Gamma prior, from 1e-8 to 1e8.
    rate : float, default=0.1
        Rate of the Gamma prior, from 1e-8 to 1e8. The prior mean is shape / rate.
    max_duration : int, default=100
        Longest duration, >= 1: longer ones are set to it. After this many steps another state
        always follows. Time is linear in it, so set it well above the durations you expect, but no
        higher. If a twentieth of the steps or more are in segments of this length, `fit` warns:
        longer ones are cut into pieces.

    See Also
    --------
    NegativeBinomialDuration : Durations that vary more.

    Notes
    -----
    A sequence begins with a new segment; its last segment is right-censored. Durations are capped,
    D = min(1 + Poisson, max_duration), not truncated: `max_duration` has the probability of itself
    and of all longer durations.

    References
    ----------
    M. J. Johnson and A. S. Willsky (2013), Bayesian nonparametric hidden semi-Markov models,
    Journal of Machine Learning Research 14.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shape": [Interval(Real, SMALLEST, LARGEST, closed="both")],
        "rate": [Interval(Real, SMALLEST, LARGEST, closed="both")],
        "max_duration": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, shape: float = 1.0, rate: float = 0.1, max_duration: int = 100):
        self.shape = shape
        self.rate = rate
        self.max_duration = max_duration

    def make_sampler(self, n_states: int) -> PoissonDurationSampler:
        """Return the sampler of this duration's parameters.

        Parameters
        ----------
        n_states : int
            J.

        Returns
        -------
        DurationSampler

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        validate_parameters(self)
        check_tables(n_states, self.max_duration)
        return PoissonDurationSampler(
            n_states, int(self.max_duration), float(self.shape), float(self.rate)
        )


class PoissonDurationSampler(SegmentCounts):
    """Sampler of the means of the durations of all states."""

    def __init__(self, n_states: int, max_duration: int, shape: float, rate: float):
        super().__init__(n_states, max_duration)
        self.shape, self.rate = shape, rate
        self.log_means = np.empty(n_states)

    def start(self, rng: NDArray[np.uint64]) -> None:
        """Draw omega from its prior."""
        self.log_means[:] = [
            draw_log_gamma(self.shape, rng) - log(self.rate) for _ in self.log_means
        ]

    def draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        """Draw the censored durations of segments, then omega given all durations."""
        kernels.draw_means(
            self.exact, self.at_least, self.shape, self.rate, self.log_means, self.counts,
            self.totals, rng,
        )  # fmt: skip

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the tables of the current means."""
        log_pmf, log_survival = np.empty((2, *self.exact.shape))
        kernels.write_poisson(self.log_means, log_pmf, log_survival)
        return log_pmf, log_survival

    def log_density(self) -> float:
        """Return log p(lengths, log omega)."""
        shape, rate = self.shape, self.rate
        terms = shape * self.log_means - rate * np.exp(self.log_means)
        constant = shape * log(rate) - gammaln(shape)
        prior = float(terms.sum() + len(terms) * constant)
        return prior + self._log_density_of_lengths()

    def model(self) -> PoissonDurationModel:
        """Return E[omega] given the segments, with censored durations drawn."""
        return PoissonDurationModel(
            (self.shape + self.totals) / (self.rate + self.counts), self.max_duration
        )


@dataclass(frozen=True, eq=False)
class PoissonDurationModel:
    """Durations min(1 + Poisson, max_duration) with known means.

    Attributes
    ----------
    means : (J,) array
        omega: means of the Poisson part.
    max_duration : int
    """

    means: NDArray[np.float64]
    max_duration: int

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log P(D = d) and log P(D >= d) for d = 1 to max_duration, (J, max_duration)."""
        log_pmf, log_survival = np.empty((2, len(self.means), self.max_duration))
        kernels.write_poisson(np.log(self.means), log_pmf, log_survival)
        return log_pmf, log_survival

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a duration for each state, (n,)."""
        return np.minimum(1 + rng.poisson(self.means[states]), self.max_duration)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""
        return replace(self, means=self.means[order])
