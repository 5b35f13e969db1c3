"""Durations of states: negative binomial and Poisson distributions, and the interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from skdp._checks import LARGEST, SMALLEST, check_beta_prior, check_memory
from skdp._numeric import Floats, Places
from skdp._numeric._random import draw_log_beta, draw_log_gamma
from skdp._part import ChainComponent
from skdp._sklearn_compat import Interval
from skdp.emissions._common import Stream
from skdp.emissions._common._marginals import StatesMixin
from skdp.emissions._common._protocol import TransitionPart
from skdp.sequence._kernels import _segments as kernels

# What durations share: counts of segments by state and length are the statistics of the samplers.


def tabulate(
    write: Callable[..., None], n_states: int, max_duration: int, *parameters: Any
) -> tuple[Floats, Floats]:
    """Return log P(D = d) and log P(D >= d) for d = 1 to max_duration, (J, max_duration)."""
    log_pmf, log_survival = np.empty((2, n_states, max_duration))
    write(*parameters, log_pmf, log_survival)
    return log_pmf, log_survival


class SegmentCounts(ChainComponent):
    """Counts of segments by state and length, the base class of both samplers."""

    def __init__(self, n_states: int, max_duration: int):
        check_memory(
            64.0 * n_states * max_duration,
            f"max_duration={max_duration} with {n_states} states",
            "Time is linear in max_duration, too: set it only a little above the durations you "
            "expect.",
        )
        self.max_duration = max_duration
        # Segments that lasted d = 1, ... steps, and censored ones, which lasted at least d steps.
        self.exact = np.zeros((n_states, max_duration), dtype=np.int64)
        self.at_least = np.zeros((n_states, max_duration), dtype=np.int64)
        self.counts = np.zeros(n_states)  # segments
        self.totals = np.zeros(n_states)  # their durations less 1, with censored ones drawn

    def draw(self, ptr: NDArray[Any], states: Places, rng: Stream) -> None:
        """Draw the censored durations of segments, then the parameters given all durations."""
        self.take(self.add_up(ptr, states))
        self.draw_parameters(rng)

    def add_up(self, ptr: NDArray[Any], states: Places) -> tuple[Places, Places]:
        """Return the numbers of complete and censored segments by state and length."""
        exact, at_least = np.empty_like(self.exact), np.empty_like(self.at_least)
        kernels.count_segments(ptr, states, exact, at_least)
        return exact, at_least

    def take(self, sums: tuple[Places, ...]) -> None:
        """Store the numbers of all segments."""
        self.exact, self.at_least = sums

    def draw_parameters(self, rng: Stream) -> None:
        """Draw the censored durations of segments, then the parameters given all durations."""
        raise NotImplementedError

    def tables(self) -> tuple[Floats, Floats]:
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
        """Return the mean length of segments and the share of steps in those of `max_duration`."""
        # Censored segments have their observed lengths.
        counts = self.exact.sum(axis=0) + self.at_least.sum(axis=0)
        lengths = np.arange(1, self.max_duration + 1)
        n_steps = counts @ lengths
        return {
            "mean_duration": float(n_steps / max(counts.sum(), 1)),
            "longest_share": float(counts[-1] * self.max_duration / max(n_steps, 1)),
        }


# Negative binomial durations.


_MOST_PHASES = 100_000
"""With more phases, durations are practically indistinguishable from Poisson ones."""

_LEAST_END = 1e-16
"""Least probability that a phase ends, per phase; durations drawn with it exceed any cap."""


class NegativeBinomialDuration(TransitionPart):
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
        self, n_phases: int = 2, prior: tuple[float, float] = (1.0, 1.0), max_duration: int = 100
    ):
        self._store(locals())

    def _make_sampler(self, n_states: int) -> Any:
        a, b = check_beta_prior(self.prior, "prior")
        return NegativeBinomialDurationSampler(
            n_states, int(self.max_duration), int(self.n_phases), a, b
        )


class NegativeBinomialDurationSampler(SegmentCounts):
    """Sampler of the probabilities of staying of all states."""

    def __init__(self, n_states: int, max_duration: int, n_phases: int, a: float, b: float):
        super().__init__(n_states, max_duration)
        self.n_phases, self.a, self.b = n_phases, a, b
        self.log_p, self.log_q = np.empty(n_states), np.empty(n_states)

    def start(self, rng: Stream) -> None:
        for j in range(len(self.log_p)):
            self.log_p[j], self.log_q[j] = draw_log_beta(self.a, self.b, rng)

    def draw_parameters(self, rng: Stream) -> None:
        kernels.draw_probabilities(
            self.exact, self.at_least, self.n_phases, self.a, self.b, self.log_p, self.log_q,
            self.counts, self.totals, rng,
        )  # fmt: skip

    def tables(self) -> tuple[Floats, Floats]:
        parameters = self.n_phases, self.log_p, self.log_q
        return tabulate(kernels.write_negative_binomial, *self.exact.shape, *parameters)

    def log_density(self) -> float:
        terms = self.a * self.log_p + self.b * self.log_q - betaln(self.a, self.b)
        return float(terms.sum()) + self._log_density_of_lengths()

    def model(self) -> NegativeBinomialDurationModel:
        stays = self.a + self.totals
        ends = self.b + self.n_phases * self.counts
        probs = np.minimum(stays / (stays + ends), 1.0 - _LEAST_END * self.n_phases)
        return NegativeBinomialDurationModel(probs, self.n_phases, self.max_duration)


@dataclass(frozen=True, eq=False)
class NegativeBinomialDurationModel(StatesMixin):
    """Durations min(1 + NB, max_duration) with known probabilities.

    Attributes
    ----------
    probs : (J,) array
        p: probabilities of staying.
    n_phases : int
        r.
    max_duration : int
    """

    probs: Floats
    n_phases: int
    max_duration: int

    def tables(self) -> tuple[Floats, Floats]:
        parameters = self.n_phases, np.log(self.probs), np.log1p(-self.probs)
        shape = len(self.probs), self.max_duration
        return tabulate(kernels.write_negative_binomial, *shape, *parameters)

    def sample(self, states: Places, rng: np.random.Generator) -> Places:
        more = rng.negative_binomial(self.n_phases, 1.0 - self.probs[states])
        return np.minimum(1 + more, self.max_duration)


# Poisson durations.


class PoissonDuration(TransitionPart):
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
    NegativeBinomialDuration : Durations that vary more; its notes and source are for both.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shape": [Interval(Real, SMALLEST, LARGEST, closed="both")],
        "rate": [Interval(Real, SMALLEST, LARGEST, closed="both")],
        "max_duration": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, shape: float = 1.0, rate: float = 0.1, max_duration: int = 100):
        self._store(locals())

    def _make_sampler(self, n_states: int) -> Any:
        return PoissonDurationSampler(
            n_states, int(self.max_duration), float(self.shape), float(self.rate)
        )


class PoissonDurationSampler(SegmentCounts):
    """Sampler of the means of the durations of all states."""

    def __init__(self, n_states: int, max_duration: int, shape: float, rate: float):
        super().__init__(n_states, max_duration)
        self.shape, self.rate = shape, rate
        self.log_means = np.empty(n_states)

    def start(self, rng: Stream) -> None:
        self.log_means[:] = [
            draw_log_gamma(self.shape, rng) - log(self.rate) for _ in self.log_means
        ]

    def draw_parameters(self, rng: Stream) -> None:
        kernels.draw_means(
            self.exact, self.at_least, self.shape, self.rate, self.log_means, self.counts,
            self.totals, rng,
        )  # fmt: skip

    def tables(self) -> tuple[Floats, Floats]:
        return tabulate(kernels.write_poisson, *self.exact.shape, self.log_means)

    def log_density(self) -> float:
        shape, rate = self.shape, self.rate
        terms = shape * self.log_means - rate * np.exp(self.log_means)
        constant = shape * log(rate) - gammaln(shape)
        prior = float(terms.sum() + len(terms) * constant)
        return prior + self._log_density_of_lengths()

    def model(self) -> PoissonDurationModel:
        return PoissonDurationModel(
            (self.shape + self.totals) / (self.rate + self.counts), self.max_duration
        )


@dataclass(frozen=True, eq=False)
class PoissonDurationModel(StatesMixin):
    """Durations min(1 + Poisson, max_duration) with known means.

    Attributes
    ----------
    means : (J,) array
        omega: means of the Poisson part.
    max_duration : int
    """

    means: Floats
    max_duration: int

    def tables(self) -> tuple[Floats, Floats]:
        shape = len(self.means), self.max_duration
        return tabulate(kernels.write_poisson, *shape, np.log(self.means))

    def sample(self, states: Places, rng: np.random.Generator) -> Places:
        return np.minimum(1 + rng.poisson(self.means[states]), self.max_duration)


# The interface of durations, the times that states last in hidden semi-Markov models.


class DurationModel(Protocol):
    """Durations with known parameters, one distribution per state, in a stored sample.

    Attributes
    ----------
    max_duration : int
        The longest duration, >= 1.
    """

    max_duration: int

    def tables(self) -> tuple[Floats, Floats]:
        """Return log P(D = d) and log P(D >= d) for d = 1 to max_duration, (J, max_duration) each;
        P(D = max_duration) includes all longer durations.
        """

    def sample(self, states: Places, rng: np.random.Generator) -> Places:
        """Draw a duration for each state, (n,).

        Parameters
        ----------
        states : (n,) array of int
        rng : numpy.random.Generator
        """

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order.

        Parameters
        ----------
        order : (J,) array of int
        """


class DurationSampler(Protocol):
    """Sampler of the parameters of the durations of all states; made by a duration.

    It draws this part of a sampler's state given the rest. A duration is an estimator that only
    holds parameters. Its method ``make_sampler(n_states)`` checks them and returns an object with
    these methods. The last segment of a sequence is right-censored: only D >= d is known.

    Attributes
    ----------
    max_duration : int
        The longest duration, >= 1.

    See Also
    --------
    make_generator : Random numbers from the stream of a chain.
    """

    max_duration: int

    def start(self, rng: Stream) -> None:
        """Draw the first parameters from their prior.

        Parameters
        ----------
        rng : (4,) array of uint64
            Stream of random numbers.
        """

    def draw(self, ptr: NDArray[Any], states: Places, rng: Stream) -> None:
        """Draw the parameters given the states.

        Parameters
        ----------
        ptr : (n_sequences + 1,) array of int
            Sequence s is states[ptr[s]:ptr[s + 1]].
        states : (N,) array of int
        rng : as in `start`
        """

    def tables(self) -> tuple[Floats, Floats]:
        """Return the tables of the current parameters, as `DurationModel.tables` does."""

    def log_density(self) -> float:
        """Return log p(lengths of the segments, parameters) for the states passed last."""

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""

    def model(self) -> DurationModel:
        """Return the posterior mean of the parameters given the states that were passed last."""

    def copy(self) -> Self:
        """Return the same parameters in new arrays."""


@runtime_checkable
class SummedDuration(DurationSampler, Protocol):
    """Sampler that needs only sums over sequences, so that a panel may be partitioned."""

    def add_up(self, ptr: NDArray[Any], states: Places) -> tuple[NDArray[Any], ...]:
        """Return sums free of the parameters and bit-identical for any partition of the panel."""

    def take(self, sums: tuple[NDArray[Any], ...]) -> None:
        """Store the sums over all sequences."""

    def draw_parameters(self, rng: Stream) -> None:
        """Draw the parameters given the stored sums: the last step of `draw`."""
