"""Binary factors with known parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from skdp.emissions._binary_factors._amplitudes import (
    Parameters,
    find_patterns,
    weigh_fixed,
    weigh_varying,
)
from skdp.emissions._marginals import (
    FactorMarginals,
    StudentMarginals,
    fill_by_means,
    fill_by_regression,
)

OUTPUTS = ("normal", "probit")


def check_outputs(values: NDArray[np.float64], probit: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return observations if their values are valid for the columns, or raise a ValueError."""
    if values.shape[1] != len(probit):
        raise ValueError(f"X must have {len(probit)} features, got {values.shape[1]}.")
    wrong = np.isinf(values) | (probit & ~np.isnan(values) & (values != 0.0) & (values != 1.0))
    if wrong.any():
        t, d = np.argwhere(wrong)[0]
        allowed = "0, 1" if probit[d] else "finite numbers"
        raise ValueError(f"X must hold {allowed} or NaN in column {d}; got {values[t, d]:g}.")
    return values


@dataclass(frozen=True, eq=False)
class BinaryFactorModel:
    """Binary factors with known parameters.

    Attributes
    ----------
    factors : (J, F) array of int8
        Vectors of the states.
    weights : (F + 1, D) array
        The background in row 0.
    noise_variance : (D,) array
        1 for probit columns.
    output : tuple of str
        "normal" or "probit", for every column.
    amplitude_variance : float, default=0.0
        tau^2.
    """

    factors: NDArray[np.int8]
    weights: NDArray[np.float64]
    noise_variance: NDArray[np.float64]
    output: tuple[str, ...]
    amplitude_variance: float = 0.0

    @property
    def means(self) -> NDArray[np.float64]:
        """(J, D) array: m, before Phi in probit columns."""
        return self.weights[0] + self.factors @ self.weights[1:]

    def log_obs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log density of every observation in every state, (N, J)."""
        out = np.empty((len(values), len(self.factors)))
        values = check_outputs(np.asarray(values, dtype=np.float64), self._probit)
        if self.amplitude_variance > 0.0:
            known = Parameters(
                np.array(self.factors), np.array(self.weights), 1.0 / self.noise_variance
            )
            weigh_varying(values, find_patterns(values), known, self.amplitude_variance, out)
            return out
        centers = np.ascontiguousarray(self.means.T)
        weigh_fixed(values, centers, 1.0 / self.noise_variance, self._probit, out)
        return out

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return an observation for each state, (N, D)."""
        means = self.means[states]
        if self.amplitude_variance > 0.0:
            deviations = rng.standard_normal((len(states), self.factors.shape[1]))
            deviations *= np.sqrt(self.amplitude_variance) * self.factors[states]
            means += deviations @ self.weights[1:]
        normal = means + np.sqrt(self.noise_variance) * rng.standard_normal(means.shape)
        return np.where(self._probit, rng.random(means.shape) < ndtr(means), normal)

    def marginals(self) -> FactorMarginals:
        """Return the distributions of single columns of the next observation."""
        means = self.means
        squares = self.factors @ self.weights[1:] ** 2
        variances = self.noise_variance + self.amplitude_variance * squares
        probs = np.where(self._probit, ndtr(means), np.nan)
        return FactorMarginals(StudentMarginals(means, np.sqrt(variances)), probs)

    def fill(
        self, values: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return observations in which NaN is its mean given the rest of the row, (N, D)."""
        if self.amplitude_variance == 0.0:
            return fill_by_means(values, weights, self.marginals().means)
        on = self.factors[:, :, np.newaxis] * self.weights[1:]
        scales = self.amplitude_variance * np.einsum("jfd,jfe->jde", on, on)
        scales += np.diag(self.noise_variance)
        return fill_by_regression(values, weights, self.means, scales)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""
        return replace(self, factors=self.factors[order])

    @property
    def _probit(self) -> NDArray[np.bool_]:
        return np.array([kind == "probit" for kind in self.output])
