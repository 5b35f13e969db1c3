"""Functions of arrays: posteriors of classes, robust scales of columns, and distinct rows."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from skdp._numeric import Floats

# Bayes' rule for given log probabilities.


def log_posterior(log_joint: Floats, log_prior: Floats) -> Floats:
    """Return the log probability of each class given each row, (N, K), normalized.
    A row with probability 0 in every class (-inf) is evidence for none of them: it gets the prior.
    """
    possible = np.any(log_joint != -np.inf, axis=1, keepdims=True)
    logs = np.where(possible, log_joint, log_prior)
    return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))


# Robust locations and scales of columns, which set the scale of priors if none is given.

SMALLEST_REACH = 1e-150
"""Squares of smaller numbers underflow."""

_LEFT_OUT = {"narrow": (0.05, 0.759), "wide": (0.01, 0.925)}
"""The fraction of largest deviations to omit, and the mean square of the others if normal."""

_SHARE_OF_NOISE = 0.25
_RESOLUTION = 1e-6
"""Fraction of the largest deviation: sums of squares have about twice as many digits."""


class RobustScales(NamedTuple):
    """Robust locations and scales of columns; one value, however large, changes only the reach.
    Variances are those of normal values with the same mean square without a share of the largest.
    """

    middles: Floats  # (D,), medians; 0 for a column without values
    variances: Floats  # (D,), without 5 %, so that rare values hardly count
    wide_variances: Floats  # (D,), without 1 %, so that they count
    reaches: Floats  # (D,), largest deviations from the medians
    counts: Floats  # (D,), numbers of values that are not missing

    @property
    def resolutions(self) -> Floats:
        """(D,) array of the smallest deviations that sums with the largest one can resolve."""
        return _RESOLUTION * self.reaches


def find_spreads(values: Floats) -> RobustScales:
    """Return robust locations and scales of columns; NaN is missing."""
    middles, reaches, counts = np.zeros((3, values.shape[1]))
    narrow, wide = np.ones((2, values.shape[1]))
    for d, column in enumerate(values.T):
        seen = column[~np.isnan(column)]
        counts[d] = len(seen)
        if len(seen):
            middles[d] = np.median(seen)
            deviations = np.sort(np.abs(seen - middles[d]))
            reaches[d] = deviations[-1]
            if 0.0 < reaches[d] < SMALLEST_REACH:
                raise ValueError(
                    f"X must hold columns that vary by {SMALLEST_REACH:g} or more, because squares "
                    f"of smaller numbers underflow; got {reaches[d]:g} in column {d}: scale the "
                    "columns of X."
                )
            narrow[d] = _trimmed_variance(deviations, *_LEFT_OUT["narrow"])
            wide[d] = _trimmed_variance(deviations, *_LEFT_OUT["wide"])
    return RobustScales(middles, narrow, wide, reaches, counts)


def _trimmed_variance(deviations: Floats, share: float, expected: float) -> float:
    """Return the mean square of sorted deviations, without a fraction of the largest."""
    squares = deviations**2
    n_kept = len(squares) - math.ceil(share * len(squares))
    trimmed = squares[:n_kept].mean() / expected if n_kept else 0.0
    return float(trimmed or squares.mean() or 1.0)  # 1 for a constant column


def standardize(values: Floats, middles: Floats, scales: Floats) -> Floats:
    """Return columns minus their medians, in units of their scales, rounded to eight decimals."""
    # Results then do not depend on the unit of the data, even if there are ties.
    return np.asarray(np.round((values - middles) / scales, 8))


def find_noise_rates(variances: Floats, resolutions: Floats, counts: Floats) -> Floats:
    """Return rates of Gamma priors with shape 1 for precisions of noise, from `RobustScales`."""
    # Noise is kept from being much below the resolution, however many values there are.
    return np.maximum(_SHARE_OF_NOISE * variances, resolutions**2 * (1.0 + 0.5 * counts))


# The distinct rows of an array, computed without code that a signal handler could break.


class UniqueRows(NamedTuple):
    """The distinct rows of an array, in lexicographic order."""

    distinct: NDArray[Any]
    places: NDArray[np.intp]  # ``distinct[places]`` equals the rows
    counts: NDArray[np.intp]
    firsts: NDArray[np.intp]  # of occurrences: ``rows[firsts]`` equals `distinct`


def unique_rows(rows: NDArray[Any]) -> UniqueRows:
    """Return the distinct rows of an array without missing values."""
    # ``np.unique(rows, axis=0)`` runs Python code to compare rows. If a signal handler raises
    # there, numpy replaces its exception, so that a Ctrl-C would become a TypeError.
    n_rows, n_columns = rows.shape
    order = np.lexsort(rows.T[::-1]) if n_columns else np.arange(n_rows)
    ordered = rows[order]
    is_new = np.ones(n_rows, dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    places = np.empty(n_rows, dtype=np.intp)
    places[order] = np.cumsum(is_new) - 1
    counts = np.bincount(places, minlength=int(is_new.sum()))
    return UniqueRows(ordered[is_new], places, counts, order[is_new])
