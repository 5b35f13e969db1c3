"""Observations that are categories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from skdp._checks import LARGEST, SMALLEST, as_floats
from skdp._memory import check_memory
from skdp._numba import frozen
from skdp._random import next_double
from skdp._sklearn_compat import EstimatorMixin, Interval, validate_parameters
from skdp.emissions import _kernels_counts as kernels
from skdp.emissions._protocol import Coupling
from skdp.inference import Part

MEAN_RUN = 3.0
"""Steps in a run of the first states."""


class CategoricalEmission(EstimatorMixin, BaseEstimator):
    """Categories: theta_j ~ Dirichlet(prior) are the probabilities of the symbols in state j.

    Parameters
    ----------
    n_symbols : int or None, default=None
        Number of symbols V; observations are from 0 to V - 1. None: one more than the largest
        observation in `fit`.
    prior : float or (V,) array, default=0.1
        Parameters of the Dirichlet prior, from 1e-8 to 1e8.

    Notes
    -----
    Observations are one column of integers without missing values.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_symbols": [Interval(Integral, 1, None, closed="left"), None],
        "prior": [Interval(Real, SMALLEST, LARGEST, closed="both"), "array-like"],
    }

    def __init__(self, n_symbols: int | None = None, prior: float | ArrayLike = 0.1):
        self.n_symbols = n_symbols
        self.prior = prior

    def make_sampler(self, values: NDArray[np.float64], n_states: int) -> CategoricalSampler:
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
        if values.shape[1] != 1:
            raise ValueError(
                f"CategoricalEmission: X must have 1 feature, the symbol; got {values.shape[1]}."
            )
        n_symbols = self.n_symbols
        if n_symbols is None:
            n_symbols = int(as_symbols(values).max(initial=0)) + 1
        prior = as_floats(self.prior, "CategoricalEmission: prior")
        in_range = np.all((prior >= SMALLEST) & (prior <= LARGEST))
        if prior.shape not in ((), (n_symbols,)) or not in_range:
            raise ValueError(
                f"CategoricalEmission: prior must be a positive number or {n_symbols} of them, "
                f"from {SMALLEST:g} to {LARGEST:g}, got {self.prior!r}."
            )
        check_memory(
            24.0 * n_symbols * n_states,
            f"X: CategoricalEmission of {n_symbols} symbols (one more than the largest in X, "
            f"unless n_symbols is given) in {n_states} states",
        )
        return CategoricalSampler(n_states, np.full(n_symbols, prior))


def as_symbols(values: NDArray[np.float64], n_symbols: int | None = None) -> NDArray[np.int32]:
    """Return observations as symbols, or raise a ValueError."""
    column = values[:, 0]
    end = 2.0**31 if n_symbols is None else n_symbols
    wrong = ~((column >= 0.0) & (column < end) & (column == np.floor(column)))
    if wrong.any():
        numbers = "from 0" if n_symbols is None else f"from 0 to {n_symbols - 1}"
        raise ValueError(
            f"X must hold symbols, integers {numbers}; got {column[np.argmax(wrong)]:g}."
        )
    return column.astype(np.int32)


class CategoricalSampler(Part):
    """Sampler of the probabilities of symbols in all states."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_symbols", "_sums")
    starts_with_one_state = False  # splits explain chords well with few states, but predict worse

    def __init__(self, n_states: int, prior: NDArray[np.float64]):
        self.prior = prior
        self.counts = np.zeros((len(prior), n_states), dtype=np.int64)
        self.log_probs = np.empty(self.counts.shape)

    def attach(self, values: NDArray[np.float64]) -> None:
        """Take the observations."""
        self._symbols = as_symbols(values, len(self.prior))
        self._sums = np.empty((2, self.counts.shape[1]))

    def complete(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """No value is missing."""

    def restrict(self, steps: NDArray[np.int64], n_states: int) -> CategoricalSampler:
        """Return a sampler for some of the observations."""
        other = CategoricalSampler(n_states, self.prior)
        other._symbols = self._symbols[steps]
        other._sums = np.empty((2, n_states))
        return other

    def condition(self, states: NDArray[np.int64]) -> None:
        """Take the states of the observations; -1: of no state."""
        known = states >= 0
        kernels.count_symbols(self._symbols[known], states[known], self.counts)

    def write_log_predictive(self, out: NDArray[np.float64]) -> None:
        """Write the log probabilities of all symbols given the observations of each state."""
        predictive = self.counts + self.prior[:, np.newaxis]
        kernels.look_up(self._symbols, np.log(predictive / predictive.sum(axis=0)), out)

    def start(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Write first states at random, in runs of `MEAN_RUN` steps in the mean.

        States that get symbols here and there all look like the whole panel; those of runs know
        which symbols are near each other, and a chain of many states starts much closer to its
        mode.
        """
        n_states = self.counts.shape[1]
        state = 0
        for t in range(len(states)):
            if t == 0 or next_double(rng) * MEAN_RUN < 1.0:
                state = int(next_double(rng) * n_states)
            states[t] = state

    def draw(
        self,
        states: NDArray[np.int64],
        rng: NDArray[np.uint64],
        coupling: Coupling | None = None,
    ) -> None:
        """Draw theta given the states."""
        kernels.count_symbols(self._symbols, states, self.counts)
        kernels.draw_log_probs(self.counts, self.prior, self.log_probs, self._sums, rng)

    def write_log_obs(self, out: NDArray[np.float64]) -> None:
        """Write log theta_j of every step's symbol."""
        kernels.look_up(self._symbols, self.log_probs, out)

    def log_evidence(self) -> float:
        """Return log p(x | z)."""
        return kernels.log_evidence_of_symbols(self.counts, self.prior)

    def model(self) -> CategoricalModel:
        """Return E[theta | z]."""
        probs = self.counts.T + self.prior
        return CategoricalModel((probs / probs.sum(axis=1, keepdims=True)).astype(np.float32))


@dataclass(frozen=True, eq=False)
class CategoricalModel:
    """Categories with known probabilities.

    Attributes
    ----------
    probs : (J, V) array
        Probabilities of the symbols in each state.
    """

    probs: NDArray[np.floating]

    @property
    def emissionprob_(self) -> NDArray[np.floating]:
        """(J, V) read-only array: `probs`, by hmmlearn's name."""
        probs: NDArray[np.floating] = frozen(self.probs)
        return probs

    def log_obs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log probability of every observation in every state, (N, J)."""
        symbols = as_symbols(values, self.probs.shape[1])
        with np.errstate(divide="ignore"):
            return np.log(self.probs.T.astype(np.float64))[symbols]

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return a symbol for each state, (N, 1)."""
        ends = np.cumsum(self.probs, axis=1, dtype=np.float64)
        uniform = rng.random(len(states)) * ends[states, -1]
        symbols = (ends[states] <= uniform[:, np.newaxis]).sum(axis=1)
        return symbols.astype(np.float64).reshape(-1, 1)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""
        return replace(self, probs=self.probs[order])
