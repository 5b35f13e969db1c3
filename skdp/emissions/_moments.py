"""Means and covariances of observations, from which default priors are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.emissions._far_values import ROUNDING, PulledIn
from skdp.emissions._gaussian._sums import Ranges, find_moments
from skdp.emissions._whole import Observations, Whole

LEAST = 1e-6
"""Smallest deviation of the noise of a column relative to that of the column.

The noise of a column that does not vary has the deviation 1.
"""

SHRINKAGE = 1e-4
"""Shrinkage of the data's correlations, so that collinear columns have a definite matrix."""


def moments(
    values: NDArray[np.float64], shrinkage: float = SHRINKAGE
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and a positive definite covariance of observed values, far ones pulled in."""
    return moments_of(Whole(values), shrinkage)


def moments_of(
    data: Observations, shrinkage: float = SHRINKAGE
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the moments of observations that may be in parts; far values are pulled in."""
    # Missing values count as means, so that the correlation matrix stays positive definite.
    ranges, mean, squares = find_moments(PulledIn(data))
    return mean, find_covariance(ranges, squares, shrinkage)


def find_covariance(
    ranges: Ranges, squares: NDArray[np.float64], shrinkage: float = SHRINKAGE
) -> NDArray[np.float64]:
    """Return a positive definite covariance, given sums of products of deviations from means."""
    sums, varies = np.diag(squares), find_varying(ranges, squares)
    variances = sums / np.maximum(ranges.numbers, 1)
    lengths = np.sqrt(np.where(varies, sums, 1.0))
    both = np.multiply.outer(varies, varies)
    correlations = (1.0 - shrinkage) * np.where(both, squares, 0.0)
    correlations /= np.multiply.outer(lengths, lengths)
    np.fill_diagonal(correlations, 1.0)
    deviations = np.sqrt(np.where(varies, variances, 1.0))
    return correlations * np.multiply.outer(deviations, deviations)


def find_deviations(data: Observations) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the standard deviation of each column, 1 if it does not vary, and whether it does."""
    ranges, _, squares = find_moments(data)
    deviations = np.sqrt(np.diag(find_covariance(ranges, squares)))
    return deviations, find_varying(ranges, squares)


def widen(
    covariance: NDArray[np.float64], least: NDArray[np.float64], varies: Any = True
) -> NDArray[np.float64]:
    """Return a covariance with the same correlations and at least the given deviations."""
    deviations = np.sqrt(np.diag(covariance))
    # Columns that do not vary get these deviations.
    ratios = np.maximum(np.where(varies, deviations, 0.0), least) / deviations
    return np.asarray(covariance * np.multiply.outer(ratios, ratios))


def find_varying(ranges: Ranges, squares: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each column varies, (D,), given sums of products of deviations from means."""
    variances = np.diag(squares) / np.maximum(ranges.numbers, 1)
    largest = np.maximum(np.abs(ranges.lows), np.abs(ranges.highs))[:, 0]
    roundings = (ROUNDING * np.where(ranges.numbers > 0, largest, 0.0)) ** 2
    return np.asarray(variances > roundings)
