"""Steps of which something was observed: what shares of states and factors are shares of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Ints, Places


def observed_steps(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether any value of each step was observed, (N,); NaN marks those that were not."""
    return np.asarray(~np.isnan(values).all(axis=1))


def count_pairs(first: Ints, second: Ints, is_observed: NDArray[np.bool_], n_states: int) -> Places:
    """Return how many observed steps have each state of one draw and each of another, (J, J)."""
    pairs = first[is_observed].astype(np.int64) * n_states + second[is_observed]
    return np.bincount(pairs, minlength=n_states * n_states).reshape(n_states, n_states)
