"""Values without the part that their noise repeats from step to step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp.data import SequencePanel
from skdp.sequence._detector._criterion import Residuals

_CLEAR = 2.0
"""Smallest coefficient, in standard errors, that is not taken as 0."""


def learn_memory(panel: SequencePanel, states: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of a residual that the next one repeats, (D,); 0 if it is not clear."""
    residuals = Residuals.of(panel.values, panel.ptr, states)
    n_pairs = np.count_nonzero(residuals.lags == residuals.usual_lag)
    is_clear = residuals.correlations * np.sqrt(n_pairs) >= _CLEAR
    return np.where(is_clear, residuals.memory, 0.0)


def forget(panel: SequencePanel, memory: NDArray[np.float64]) -> SequencePanel:
    """Return y_t = x_t - a x_t-1, with a = `memory`; x_t replaces a missing x_t-1. If x_t - m = a
    (x_t-1 - m) + e_t in a state of mean m, y_t = (1 - a) m + e_t has independent noise.
    """
    before = np.roll(panel.values, 1, axis=0)
    before[panel.ptr[:-1]] = np.nan
    before = np.where(np.isnan(before), panel.values, before)
    # The first value after a change still has its share of the previous state.
    return SequencePanel(panel.values - memory * before, panel.ptr)
