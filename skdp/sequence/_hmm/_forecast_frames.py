"""Forecasts as data frames whose index continues that of the observations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.data._times import continue_index

Forecast = dict[str, Any]
"""The entries of the forecast of one sequence, arrays by name."""


def has_index(X: Any) -> bool:
    """Return whether X is a pandas data frame."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def as_frame(frame: Any, forecast: Forecast, levels: NDArray[np.float64], symbols: Any) -> Any:
    """Return the forecast after the rows of a data frame as a data frame."""
    import pandas as pd

    if "mean" not in forecast:
        proba = forecast["proba"]
        names = range(proba.shape[1]) if symbols is None else symbols
        return pd.DataFrame(proba, continue_index(frame.index, len(proba)), list(names))
    mean, sd, quantiles = (forecast[name] for name in ("mean", "sd", "quantiles"))
    cells = np.concatenate([mean[..., np.newaxis], sd[..., np.newaxis], quantiles], axis=2)
    kinds: list[Any] = ["mean", "sd", *levels.tolist()]
    columns = pd.MultiIndex.from_product([list(frame.columns), kinds])
    index = continue_index(frame.index, len(mean))
    return pd.DataFrame(cells.reshape(len(mean), -1), index, columns)
