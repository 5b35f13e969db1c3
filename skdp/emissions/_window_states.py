"""First states of regressions: windows of steps, each assigned to the best of several fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import next_double
from skdp._numeric._typing import Places

_WIDTH, _N_PASSES = 10, 5


def write_states_of_windows(
    sampler: Any, n_states: int, states: Places, rng: NDArray[np.uint64]
) -> None:
    """Write initial states, by assigning windows of steps to the regressions that fit best."""
    n_windows = -(-len(states) // _WIDTH)
    windows = np.arange(len(states)) // _WIDTH
    places = np.arange(n_windows)
    for i in range(min(n_states, n_windows - 1)):  # a partial random permutation
        j = i + int(next_double(rng) * (n_windows - i))
        places[[i, j]] = places[[j, i]]
    chosen = np.full(n_windows, -1)  # each state begins with one random window
    chosen[places[:n_states]] = np.arange(min(n_states, n_windows))
    log_obs = np.empty((len(states), n_states))
    sums = np.empty((n_windows, n_states))
    for _ in range(_N_PASSES):
        sampler.condition(chosen[windows])
        sampler.write_log_predictive(log_obs)
        np.add.reduceat(log_obs, np.arange(0, len(states), _WIDTH), axis=0, out=sums)
        chosen = sums.argmax(axis=1)
    states[:] = chosen[windows]
