"""Middles and spreads of columns, from which priors without a given scale are made."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._typing import Floats

SMALLEST_REACH = 1e-150
"""Squares of smaller numbers underflow."""

_LEFT_OUT = {"narrow": (0.05, 0.759), "wide": (0.01, 0.925)}
"""The share of largest deviations that is left out, and the mean square of normal values then."""

_SHARE_OF_NOISE = 0.25
_RESOLUTION = 1e-6
"""Of the largest deviation: sums of squares hold about twice as many digits."""


class Spreads(NamedTuple):
    """Middles and spreads of columns; one value, however large, changes only the reach.

    Attributes
    ----------
    middles : (D,) array
        Medians; 0 without a value.
    variances, wide_variances : (D,) arrays
        Those of normal values with the same mean squared deviations from the middles without the
        largest 5 % and 1 %, so that rare values of a column hardly count, or do; plain ones where
        these are 0, and 1 where a column is constant.
    reaches : (D,) array
        Largest deviations from the middles.
    counts : (D,) array
        Numbers of values that are not missing.
    """

    middles: Floats
    variances: Floats
    wide_variances: Floats
    reaches: Floats
    counts: Floats

    @property
    def resolutions(self) -> Floats:
        """The smallest deviations that sums with the largest one can resolve, (D,)."""
        return _RESOLUTION * self.reaches


def find_spreads(values: Floats) -> Spreads:
    """Return the middles and spreads of columns.

    Parameters
    ----------
    values : (N, D) array
        NaN is a missing value.

    Raises
    ------
    ValueError
        If a column varies so little that squares underflow.
    """
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
    return Spreads(middles, narrow, wide, reaches, counts)


def _trimmed_variance(deviations: Floats, share: float, expected: float) -> float:
    """Return the mean square of sorted deviations without a share of the largest ones."""
    squares = deviations**2
    n_kept = len(squares) - math.ceil(share * len(squares))
    trimmed = squares[:n_kept].mean() / expected if n_kept else 0.0
    return float(trimmed or squares.mean() or 1.0)


def standardize(values: Floats, middles: Floats, scales: Floats) -> Floats:
    """Return columns less their middles, in units of their scales, rounded to eight decimals.

    Without the last digits, what is found in them does not depend on the unit of the data, not even
    if there are ties.
    """
    return np.asarray(np.round((values - middles) / scales, 8))


def find_noise_rates(variances: Floats, resolutions: Floats, counts: Floats) -> Floats:
    """Return rates of the Gamma priors of the precisions of noise, with a shape of 1.

    A fourth of the variances, or more: the noise that follows is not much smaller than the
    resolution, however many values there are.

    Parameters
    ----------
    variances, resolutions, counts : (D,) arrays
        As of `Spreads`.
    """
    return np.maximum(_SHARE_OF_NOISE * variances, resolutions**2 * (1.0 + 0.5 * counts))
