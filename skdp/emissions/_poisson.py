"""Observations that are counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.base import BaseEstimator

from skdp._checks import LARGEST, SMALLEST
from skdp._numba import frozen
from skdp._random import next_double
from skdp._sklearn_compat import EstimatorMixin, Interval, validate_parameters
from skdp.emissions import _kernels_counts as kernels
from skdp.emissions._protocol import Coupling
from skdp.inference import Part

_MOST = 2.0**53
"""Counts beyond are no longer whole numbers in double precision."""


class PoissonEmission(EstimatorMixin, BaseEstimator):
    """Counts: x_td ~ Poisson(lambda_jd) in state j, independent, lambda_jd ~ Gamma(shape, rate).

    Parameters
    ----------
    shape : float, default=1.0
        Shape of the Gamma prior, from 1e-8 to 1e8.
    rate : float, default=1.0
        Rate of the Gamma prior, from 1e-8 to 1e8. The prior mean is shape / rate.

    Notes
    -----
    Observations are integers >= 0 without missing values.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shape": [Interval(Real, SMALLEST, LARGEST, closed="both")],
        "rate": [Interval(Real, SMALLEST, LARGEST, closed="both")],
    }

    def __init__(self, shape: float = 1.0, rate: float = 1.0):
        self.shape = shape
        self.rate = rate

    def make_sampler(self, values: NDArray[np.float64], n_states: int) -> PoissonSampler:
        """Return the sampler of this emission's parameters for these observations.

        Parameters
        ----------
        values : (N, D) array
            The observations, from which some priors are computed.
        n_states : int
            J.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not match the observations.
        """
        validate_parameters(self)
        return PoissonSampler(n_states, values.shape[1], float(self.shape), float(self.rate))


def check_counts(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return observations if they are counts, or raise a ValueError."""
    wrong = ~((values >= 0.0) & (values == np.floor(values)))
    if wrong.any():
        t, d = np.argwhere(wrong)[0]
        raise ValueError(f"X must hold counts, integers >= 0; got {values[t, d]:g}.")
    if np.any(values > _MOST):
        raise ValueError(f"X must hold counts up to {_MOST:g}, got {values.max():g}.")
    return values


class PoissonSampler(Part):
    """Sampler of the intensities of all states."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_values", "_log_factorials")
    starts_with_one_state = True

    def __init__(self, n_states: int, n_features: int, shape: float, rate: float):
        self.shape, self.rate = shape, rate
        self.counts = np.zeros(n_states)
        self.totals = np.zeros((n_states, n_features))
        self.log_intensities = np.empty((n_states, n_features))

    def attach(self, values: NDArray[np.float64]) -> None:
        """Take the observations."""
        self._values = check_counts(values)
        self._log_factorials = float(gammaln(values + 1.0).sum())

    def complete(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """No value is missing."""

    def restrict(self, steps: NDArray[np.int64], n_states: int) -> PoissonSampler:
        """Return a sampler for some of the observations."""
        other = PoissonSampler(n_states, self.totals.shape[1], self.shape, self.rate)
        other.attach(frozen(self._values[steps]))
        return other

    def condition(self, states: NDArray[np.int64]) -> None:
        """Take the states of the observations; -1: of no state."""
        known = states >= 0
        values = frozen(self._values[known])
        kernels.add_up_values(values, states[known], self.counts, self.totals)
        self._log_factorials = float(gammaln(values + 1.0).sum())

    def write_log_predictive(self, out: NDArray[np.float64]) -> None:
        """Write the log probabilities of all counts given the observations of each state."""
        out[:] = self.model().log_obs(self._values)

    def start(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Write first states at random."""
        n_states = len(self.counts)
        states[:] = [int(next_double(rng) * n_states) for _ in range(len(states))]

    def draw(
        self,
        states: NDArray[np.int64],
        rng: NDArray[np.uint64],
        coupling: Coupling | None = None,
    ) -> None:
        """Draw lambda given the states."""
        kernels.add_up_values(self._values, states, self.counts, self.totals)
        kernels.draw_log_intensities(
            self.counts, self.totals, self.shape, self.rate, self.log_intensities, rng
        )

    def write_log_obs(self, out: NDArray[np.float64]) -> None:
        """Write the log probabilities of all steps."""
        kernels.weigh_counts(self._values, self.log_intensities, out)

    def log_evidence(self) -> float:
        """Return log p(x | z)."""
        shape, rates = self.shape, self.rate + self.counts[:, np.newaxis]
        terms = gammaln(shape + self.totals) - (shape + self.totals) * np.log(rates)
        prior = gammaln(shape) - shape * np.log(self.rate)
        return float((terms - prior).sum()) - self._log_factorials

    def model(self) -> PoissonModel:
        """Return E[lambda | z]."""
        return PoissonModel((self.shape + self.totals) / (self.rate + self.counts[:, np.newaxis]))


@dataclass(frozen=True, eq=False)
class PoissonModel:
    """Counts with known intensities.

    Attributes
    ----------
    intensities : (J, D) array
        Mean counts of each state.
    """

    intensities: NDArray[np.float64]

    def log_obs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log probability of every observation in every state, (N, J)."""
        out = np.empty((len(values), len(self.intensities)))
        kernels.weigh_counts(check_counts(values), np.log(self.intensities), out)
        return out

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return an observation for each state, (N, D)."""
        return rng.poisson(self.intensities[states]).astype(np.float64)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""
        return replace(self, intensities=self.intensities[order])
