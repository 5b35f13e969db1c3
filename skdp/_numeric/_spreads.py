"""Middles and spreads of columns, which set the scale of priors if none is given."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._typing import Floats

SMALLEST_REACH = 1e-150
"""Squares of smaller numbers underflow."""

_LEFT_OUT = {"narrow": (0.05, 0.759), "wide": (0.01, 0.925)}
"""The fraction of largest deviations to omit, and the mean square of the others if normal."""

_SHARE_OF_NOISE = 0.25
_RESOLUTION = 1e-6
"""Fraction of the largest deviation: sums of squares have about twice as many digits."""


class Spreads(NamedTuple):
    """Middles and spreads of columns; a single value, however large, changes only the reach.
    Variances are those of normal values with the same mean square without a share of the largest.
    """

    middles: Floats  # (D,), medians; 0 for a column without values
    variances: Floats  # (D,), without 5 %, so that rare values hardly count
    wide_variances: Floats  # (D,), without 1 %, so that they count
    reaches: Floats  # (D,), largest deviations from the middles
    counts: Floats  # (D,), numbers of values that are not missing

    @property
    def resolutions(self) -> Floats:
        """(D,) array of the smallest deviations that sums with the largest one can resolve."""
        return _RESOLUTION * self.reaches


def find_spreads(values: Floats) -> Spreads:
    """Return the middles and spreads of columns; NaN is missing."""
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
    """Return the mean square of sorted deviations, without a fraction of the largest."""
    squares = deviations**2
    n_kept = len(squares) - math.ceil(share * len(squares))
    trimmed = squares[:n_kept].mean() / expected if n_kept else 0.0
    return float(trimmed or squares.mean() or 1.0)  # 1 for a constant column


def standardize(values: Floats, middles: Floats, scales: Floats) -> Floats:
    """Return columns minus their middles, in units of their scales, rounded to eight decimals."""
    # Results then do not depend on the unit of the data, even if there are ties.
    return np.asarray(np.round((values - middles) / scales, 8))


def find_noise_rates(variances: Floats, resolutions: Floats, counts: Floats) -> Floats:
    """Return rates of Gamma priors with shape 1 for the precisions of noise, from `Spreads`."""
    # Noise is kept from being much below the resolution, however many values there are.
    return np.maximum(_SHARE_OF_NOISE * variances, resolutions**2 * (1.0 + 0.5 * counts))
