"""A warning if forecasts begin at levels that no state has."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdp.data import SequencePanel
from skdp.emissions._marginals import Marginals
from skdp.inference._convergence import warn_user
from skdp.sequence._hmm._model import ACTIVE, HMMModel

_FALSE_ALARMS = 1e-3
"""Bound on the probability of a warning for data from the model."""


def warn_of_levels(
    models: list[HMMModel], marginals: list[Marginals], panel: SequencePanel, symbols: list[int]
) -> None:
    """Warn if the last value of a column of a sequence lies outside of all states in use."""
    last = list_last_values(panel)
    outside: list[tuple[int, int, float]] = []
    bound = _FALSE_ALARMS / max(last.size, 1)
    for d in range(panel.n_features):
        if d in symbols:  # categories have no level
            continue
        x, tails = last[:, d], np.zeros(len(last))
        for model, own in zip(models, marginals, strict=True):
            used = model.shares >= ACTIVE
            lower = np.asarray(own.cdf(x, d))[:, used]
            upper = 1.0 - np.asarray(own.cdf(x - 1.0 if own.is_discrete(d) else x, d))[:, used]
            tails = np.maximum(tails, 2.0 * np.minimum(lower, upper).max(axis=1, initial=0.0))
        found = np.flatnonzero((tails < bound) & ~np.isnan(x))
        outside.extend((int(s), d, float(x[s])) for s in found)
    if outside:
        warn_user(describe(outside), UserWarning)


def list_last_values(panel: SequencePanel) -> Any:
    """Return the last observed value of each column of each sequence, (n, D), or NaN."""
    last = np.full((len(panel), panel.n_features), np.nan)
    for s, values in enumerate(panel):
        for d, column in enumerate(values.T):
            seen = column[~np.isnan(column)]
            if len(seen):
                last[s, d] = seen[-1]
    return last


def describe(outside: list[tuple[int, int, float]]) -> str:
    """Return the text of the warning, given sequences, columns and values."""
    s, d, x = outside[0]
    more = "" if len(outside) == 1 else f" (and {len(outside) - 1} more last values)"
    return (
        f"forecast: the last value of column {d} of sequence {s}, {x:g}, lies outside of all "
        f"states{more}, so the forecast jumps back to the levels of the training data. If the "
        "series has a trend, fit and forecast its differences, np.diff(X, axis=0), or use an "
        "AutoregressiveEmission, whose forecasts start from the last values."
    )
