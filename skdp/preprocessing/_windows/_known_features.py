"""Features that are known in enough windows to learn principal components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp.preprocessing._windows._features import Steps
from skdp.preprocessing._windows._layout import WindowLayout

_FEW = 0.1
"""Components learned from a smaller share of the windows do not stand for them."""


class TooFewValuesError(ValueError):
    """In no window are enough values observed."""


def find_observed(steps: Steps, layout: WindowLayout) -> NDArray[np.bool_]:
    """Return which windows are observed as usual, (W,): at least half as much as the median one."""
    counts = np.concatenate([[0], np.cumsum(steps.observed.sum(axis=1))])
    shares = (counts[layout.ends] - counts[layout.starts]) / (layout.ends - layout.starts)
    # Windows in long gaps, where nothing is observed, do not count.
    usual = np.median(shares[shares > 0.0]) if shares.any() else 0.0
    return np.asarray(shares >= 0.5 * usual)


def choose_features(
    raw: NDArray[np.float64], is_observed: NDArray[np.bool_]
) -> NDArray[np.int64] | None:
    """Return the numbers of the features to keep, or None for all of them.

    If under a tenth of the windows are complete, features with the most NaN are left out until half
    are: filters of odd dilation see too few values of a sensor at half the rate of the others.
    """
    missing = np.isnan(raw[is_observed])
    if np.count_nonzero(~missing.any(axis=1)) >= _FEW * len(missing):
        return None
    order = np.argsort(missing.sum(axis=0), kind="stable")
    missing = missing[:, order]
    # The number of features, the fullest first, that each window has without a gap.
    numbers = np.where(missing.any(axis=1), missing.argmax(axis=1), len(order))
    n_kept = np.sort(numbers)[len(numbers) // 2]
    return np.sort(order[:n_kept]) if n_kept else None
