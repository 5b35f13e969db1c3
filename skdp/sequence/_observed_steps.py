"""Steps with observed values, the basis of the shares of states and factors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Ints, Places


def observed_steps(values: NDArray[np.float64], part: Any = None) -> NDArray[np.bool_]:
    """Return whether any value of a step, in the target columns of `part` if any, is seen, (N,)."""
    columns = getattr(part, "target_columns", None)
    if columns is not None:
        values = values[:, columns]
    return np.asarray(~np.isnan(values).all(axis=1))


def scored_steps(
    values: NDArray[np.float64], ptr: Places, n_given: int, part: Any = None
) -> NDArray[np.bool_]:
    """Return the steps that a score is the mean over, (N,): observed, and from `n_given` on."""
    places = np.arange(len(values)) - np.repeat(ptr[:-1], np.diff(ptr))
    return observed_steps(values, part) & (places >= n_given)


def count_pairs(first: Ints, second: Ints, is_observed: NDArray[np.bool_], n_states: int) -> Places:
    """Count the observed steps by their pair of states in two draws, (J, J)."""
    pairs = first[is_observed].astype(np.int64) * n_states + second[is_observed]
    return np.bincount(pairs, minlength=n_states * n_states).reshape(n_states, n_states)
