"""Steps of which something was observed: what shares of states and factors are shares of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def observed_steps(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether any value of each step was observed, (N,); NaN marks those that were not."""
    return np.asarray(~np.isnan(values).all(axis=1))
