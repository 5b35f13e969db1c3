"""How long states last: explicit durations of hidden semi-Markov models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln
from sklearn.base import BaseEstimator

from skdp._random import draw_log_beta, draw_log_gamma
from skdp._sklearn_compat import Interval, validate_parameters
from skdp.sequence import _kernels_durations as kernels


class DurationModel(Protocol):
    """Durations with known parameters, one distribution for each state."""

    max_duration: int

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log P(D = d) and log P(D >= d) for d = 1 to max_duration, (J, max_duration)."""

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a duration for each state, (n,)."""

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""


class DurationSampler(Protocol):
    """Parameters of the durations of all states, as a part of a chain."""

    max_duration: int

    def start(self, rng: NDArray[np.uint64]) -> None:
        """Draw first parameters from their prior."""

    def draw(self, ptr: NDArray[Any], states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Draw the parameters given the states, (N,), of the sequences that `ptr` cuts."""

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log P(D = d) and log P(D >= d) for d = 1 to max_duration, (J, max_duration)."""

    def log_density(self) -> float:
        """Return log p(lengths of the segments, parameters) of the states last given."""

    def scalars(self) -> dict[str, float]:
        """Return what the trace records."""

    def model(self) -> DurationModel:
        """Return the posterior mean of the parameters given the states last given."""

    def copy(self) -> Self:
        """Return the same parameters in arrays of their own."""


class PoissonDuration(BaseEstimator):
    """Durations 1 + Poisson(omega_j) in state j, omega_j ~ Gamma(shape, rate).

    State j lasts 1 + omega_j steps on average, and the standard deviation is the square root of
    omega_j: for states whose durations are much alike. Before any data the mean is expected to be
    1 + shape / rate.

    Parameters
    ----------
    shape : float, default=1.0
        Shape of the Gamma prior, > 0.
    rate : float, default=0.1
        Rate of the Gamma prior, > 0.
    max_duration : int, default=100
        Longest duration, >= 1: D = min(1 + Poisson, max_duration). After so many steps another
        state follows for sure, and time is linear in it: take it well above the durations to be
        expected, no more. Long segments that are cut into pieces say that it is too small.

    See Also
    --------
    NegativeBinomialDuration : Durations that vary more.

    Notes
    -----
    A sequence begins with a new segment; its last one is right-censored. Durations are capped, not
    truncated: `max_duration` has the probability of itself and of all longer ones.

    References
    ----------
    M. J. Johnson and A. S. Willsky (2013), Bayesian nonparametric hidden semi-Markov models,
    Journal of Machine Learning Research 14.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shape": [Interval(Real, 0, None, closed="neither")],
        "rate": [Interval(Real, 0, None, closed="neither")],
        "max_duration": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, shape: float = 1.0, rate: float = 0.1, max_duration: int = 100):
        self.shape = shape
        self.rate = rate
        self.max_duration = max_duration

    def make_sampler(self, n_states: int) -> PoissonDurationSampler:
        """Return the part of a chain for so many states.

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
        return PoissonDurationSampler(
            n_states, int(self.max_duration), float(self.shape), float(self.rate)
        )


class NegativeBinomialDuration(BaseEstimator):
    """Durations 1 + NB(n_phases, p_j) in state j, p_j ~ Beta(prior).

    A state passes `n_phases` phases; before a phase ends it stays a step more with probability p_j,
    again and again. State j lasts 1 + n_phases p_j / (1 - p_j) steps on average. With one phase
    durations are geometric, as in a hidden Markov model; with many they approach Poisson ones.

    Parameters
    ----------
    n_phases : int, default=2
        r, >= 1: the variance of a duration is m (1 + m / r) where 1 + m is its mean.
    prior : (float, float), default=(1.0, 1.0)
        Parameters (a, b) of the Beta prior, > 0. Before any data the mean is expected to be
        1 + n_phases a / (b - 1), without bound for b <= 1.
    max_duration : int, default=100
        Longest duration, >= 1: D = min(1 + NB, max_duration). After so many steps another
        state follows for sure, and time is linear in it: take it well above the durations to be
        expected, no more. Long segments that are cut into pieces say that it is too small.

    See Also
    --------
    PoissonDuration : Durations that vary less.

    Notes
    -----
    A sequence begins with a new segment; its last one is right-censored. Durations are capped, not
    truncated: `max_duration` has the probability of itself and of all longer ones.

    References
    ----------
    M. J. Johnson and A. S. Willsky (2013), Bayesian nonparametric hidden semi-Markov models,
    Journal of Machine Learning Research 14.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_phases": [Interval(Integral, 1, None, closed="left")],
        "prior": ["array-like"],
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
        """Return the part of a chain for so many states.

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
        prior = np.asarray(self.prior, dtype=np.float64)
        if prior.shape != (2,) or not np.all((prior > 0.0) & (prior < np.inf)):
            raise ValueError(
                f"NegativeBinomialDuration: prior must be two positive numbers, got {self.prior!r}."
            )
        a, b = prior.tolist()
        return NegativeBinomialDurationSampler(
            n_states, int(self.max_duration), int(self.n_phases), a, b
        )


class _SegmentCounts:
    """Segments of all states by length, what both samplers go by.

    Attributes
    ----------
    max_duration : int
    exact, at_least : (J, max_duration) arrays of int
        Segments that lasted d = 1, ... steps, and those of which is known that they would have
        lasted so long or longer.
    sizes, totals : (J,) arrays
        Segments, and the sum of their durations less 1; what was cut off is drawn.
    """

    def __init__(self, n_states: int, max_duration: int):
        self.max_duration = max_duration
        self.exact = np.zeros((n_states, max_duration), dtype=np.int64)
        self.at_least = np.zeros((n_states, max_duration), dtype=np.int64)
        self.sizes = np.zeros(n_states)
        self.totals = np.zeros(n_states)

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the tables of the current parameters."""
        raise NotImplementedError

    def _log_density_of_lengths(self) -> float:
        log_pmf, log_survival = self.tables()
        seen, cut = self.exact > 0, self.at_least > 0
        return float(
            (self.exact[seen] * log_pmf[seen]).sum()
            + (self.at_least[cut] * log_survival[cut]).sum()
        )

    def scalars(self) -> dict[str, float]:
        """Return the mean length of segments, those that are cut off as they are."""
        counts = self.exact.sum(axis=0) + self.at_least.sum(axis=0)
        lengths = np.arange(1, self.max_duration + 1)
        return {"mean_duration": float(counts @ lengths / max(counts.sum(), 1))}

    def copy(self) -> Self:
        """Return the same parameters in arrays of their own."""
        other = object.__new__(type(self))
        other.__dict__ = {
            name: value.copy() if isinstance(value, np.ndarray) else value
            for name, value in self.__dict__.items()
        }
        return other


class PoissonDurationSampler(_SegmentCounts):
    """Means of the durations of all states, as a part of a chain."""

    def __init__(self, n_states: int, max_duration: int, shape: float, rate: float):
        super().__init__(n_states, max_duration)
        self.shape, self.rate = shape, rate
        self.log_means = np.empty(n_states)

    def start(self, rng: NDArray[np.uint64]) -> None:
        """Draw omega from its prior."""
        self.log_means[:] = [
            draw_log_gamma(self.shape, rng) - log(self.rate) for _ in self.log_means
        ]

    def draw(self, ptr: NDArray[Any], states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Draw what was cut off from segments, and omega given all of them."""
        kernels.count_segments(ptr, states, self.exact, self.at_least)
        kernels.draw_means(
            self.exact, self.at_least, self.shape, self.rate, self.log_means, self.sizes,
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
        """Return E[omega] given the segments, completed."""
        return PoissonDurationModel(
            (self.shape + self.totals) / (self.rate + self.sizes), self.max_duration
        )


class NegativeBinomialDurationSampler(_SegmentCounts):
    """Probabilities to stay of all states, as a part of a chain."""

    def __init__(self, n_states: int, max_duration: int, n_phases: int, a: float, b: float):
        super().__init__(n_states, max_duration)
        self.n_phases, self.a, self.b = n_phases, a, b
        self.log_p, self.log_q = np.empty(n_states), np.empty(n_states)

    def start(self, rng: NDArray[np.uint64]) -> None:
        """Draw p from its prior."""
        for j in range(len(self.log_p)):
            self.log_p[j], self.log_q[j] = draw_log_beta(self.a, self.b, rng)

    def draw(self, ptr: NDArray[Any], states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Draw what was cut off from segments, and p given all of them."""
        kernels.count_segments(ptr, states, self.exact, self.at_least)
        kernels.draw_probabilities(
            self.exact, self.at_least, self.n_phases, self.a, self.b, self.log_p, self.log_q,
            self.sizes, self.totals, rng,
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
        """Return E[p] given the segments, completed."""
        stays = self.a + self.totals
        ends = self.b + self.n_phases * self.sizes
        return NegativeBinomialDurationModel(
            stays / (stays + ends), self.n_phases, self.max_duration
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


@dataclass(frozen=True, eq=False)
class NegativeBinomialDurationModel:
    """Durations min(1 + NB, max_duration) with known probabilities.

    Attributes
    ----------
    probs : (J,) array
        p: probabilities to stay.
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
