"""Values without the part that their noise repeats from step to step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp.data import SequencePanel
from skdp.sequence._detector._criterion import Residuals

_CLEAR = 2.0
"""Smallest coefficient, in standard errors, that is not taken as 0."""


def learn_memory(panel: SequencePanel, states: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much of the last residual the next one repeats, given states, (D,).

    Parameters
    ----------
    panel : SequencePanel
        N values of D columns.
    states : (N,) array of int

    Returns
    -------
    (D,) array
        The coefficients a of `judge_states`, from 0 to .999. 0 if a is within two standard errors
        of 0.
    """
    residuals = Residuals.of(panel.values, panel.ptr, states)
    n_pairs = np.count_nonzero(residuals.lags == residuals.usual_lag)
    is_clear = residuals.correlations * np.sqrt(n_pairs) >= _CLEAR
    return np.where(is_clear, residuals.memory, 0.0)


def forget(panel: SequencePanel, memory: NDArray[np.float64]) -> SequencePanel:
    """Return values less what they repeat: y_t = x_t - a x_t-1, column by column.

    If x_t - m = a (x_t-1 - m) + e_t with the mean m of a state, then y_t = (1 - a) m + e_t: the
    noise of successive steps is independent, and each state has a mean, except at the first step
    after a change, whose value still has its share of the previous state. Where there is no value
    before, at the beginning of a sequence or after a gap, x_t takes its place.

    Parameters
    ----------
    panel : SequencePanel
    memory : (D,) array
        a, from 0 to 1.
    """
    before = np.roll(panel.values, 1, axis=0)
    before[panel.ptr[:-1]] = np.nan
    before = np.where(np.isnan(before), panel.values, before)
    return SequencePanel(panel.values - memory * before, panel.ptr)
