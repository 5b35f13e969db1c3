"""Durations of states whose excess over one step is negative binomial."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln
from sklearn.base import BaseEstimator

from skdp._checks import check_beta_prior
from skdp._numeric._random import draw_log_beta
from skdp._sklearn_compat import EstimatorMixin, Interval, validate_parameters
from skdp.sequence._durations import _kernels as kernels
from skdp.sequence._durations._base import SegmentCounts, check_tables

_MOST_PHASES = 100_000
"""With more phases, durations are practically indistinguishable from Poisson ones."""

_LEAST_END = 1e-16
"""Least probability that a phase ends, per phase; durations drawn with it exceed any cap."""


class NegativeBinomialDuration(EstimatorMixin, BaseEstimator):
    r"""Durations in several phases: one step plus a negative binomial number of steps.

    A visit to state j lasts D steps, with r standing for `n_phases`:

    .. math::

        D - 1 \sim \mathrm{NB}(r, p_j), \quad
        p_j \sim \mathrm{Beta}(\mathrm{prior})

    A state goes through r phases; in each it stays another step with probability p_j, again and
    again, until the phase ends. State j lasts :math:`1 + r p_j / (1 - p_j)` steps on average. With
    one phase, durations are geometric, as in a hidden Markov model; with many, they approach
    Poisson durations.

    Parameters
    ----------
    n_phases : int, default=2
        r, from 1 to 100,000: the variance of a duration is m (1 + m / r), where 1 + m is its mean.
        Time is linear in it.
    prior : (float, float), default=(1.0, 1.0)
        Parameters (a, b) of the Beta prior, from 1e-8 to 1e8. A priori, the expected mean is 1 +
        n_phases a / (b - 1), or infinite if b <= 1.
    max_duration : int, default=100
        Longest duration, >= 1: longer ones are set to it. After this many steps another state
        always follows. Time is linear in it, so set it well above the durations you expect, but no
        higher. If a twentieth of the steps or more are in segments of this length, `fit` warns:
        longer ones are cut into pieces.

    See Also
    --------
    PoissonDuration : Durations that vary less.

    Notes
    -----
    A sequence begins with a new segment; its last segment is right-censored. Durations are capped,
    D = min(1 + NB, max_duration), not truncated: `max_duration` has the probability of itself and
    of all longer durations.

    References
    ----------
    M. J. Johnson and A. S. Willsky (2013), Bayesian nonparametric hidden semi-Markov models,
    Journal of Machine Learning Research 14.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_phases": [Interval(Integral, 1, _MOST_PHASES, closed="both")],
        "prior": [tuple, list],
        "max_duration": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_phases: int = 2,
        prior: tuple[float, float] = (1.0, 1.0),
        max_duration: int = 100,
    ):
        self.n_phases = n_phases
        self.prior = prior
        self.max_duration = max_duration

    def make_sampler(self, n_states: int) -> NegativeBinomialDurationSampler:
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
        a, b = check_beta_prior(self.prior, "prior")
        check_tables(n_states, self.max_duration)
        return NegativeBinomialDurationSampler(
            n_states, int(self.max_duration), int(self.n_phases), a, b
        )


class NegativeBinomialDurationSampler(SegmentCounts):
    """Sampler of the probabilities of staying of all states."""

    def __init__(self, n_states: int, max_duration: int, n_phases: int, a: float, b: float):
        super().__init__(n_states, max_duration)
        self.n_phases, self.a, self.b = n_phases, a, b
        self.log_p, self.log_q = np.empty(n_states), np.empty(n_states)

    def start(self, rng: NDArray[np.uint64]) -> None:
        """Draw p from its prior."""
        for j in range(len(self.log_p)):
            self.log_p[j], self.log_q[j] = draw_log_beta(self.a, self.b, rng)

    def draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        """Draw the censored durations of segments, then p given all durations."""
        kernels.draw_probabilities(
            self.exact, self.at_least, self.n_phases, self.a, self.b, self.log_p, self.log_q,
            self.counts, self.totals, rng,
        )  # fmt: skip

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the tables of the current probabilities."""
        log_pmf, log_survival = np.empty((2, *self.exact.shape))
        kernels.write_negative_binomial(
            self.n_phases, self.log_p, self.log_q, log_pmf, log_survival
        )
        return log_pmf, log_survival

    def log_density(self) -> float:
        """Return log p(lengths, log(p / (1 - p)))."""
        terms = self.a * self.log_p + self.b * self.log_q - betaln(self.a, self.b)
        return float(terms.sum()) + self._log_density_of_lengths()

    def model(self) -> NegativeBinomialDurationModel:
        """Return E[p] given the segments, with censored durations drawn."""
        stays = self.a + self.totals
        ends = self.b + self.n_phases * self.counts
        probs = np.minimum(stays / (stays + ends), 1.0 - _LEAST_END * self.n_phases)
        return NegativeBinomialDurationModel(probs, self.n_phases, self.max_duration)


@dataclass(frozen=True, eq=False)
class NegativeBinomialDurationModel:
    """Durations min(1 + NB, max_duration) with known probabilities.

    Attributes
    ----------
    probs : (J,) array
        p: probabilities of staying.
    n_phases : int
        r.
    max_duration : int
    """

    probs: NDArray[np.float64]
    n_phases: int
    max_duration: int

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log P(D = d) and log P(D >= d) for d = 1 to max_duration, (J, max_duration)."""
        log_pmf, log_survival = np.empty((2, len(self.probs), self.max_duration))
        kernels.write_negative_binomial(
            self.n_phases, np.log(self.probs), np.log1p(-self.probs), log_pmf, log_survival
        )
        return log_pmf, log_survival

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a duration for each state, (n,)."""
        more = rng.negative_binomial(self.n_phases, 1.0 - self.probs[states])
        return np.minimum(1 + more, self.max_duration)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""
        return replace(self, probs=self.probs[order])
