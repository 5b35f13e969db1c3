"""Random initial states that do not depend on the observations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import next_double

MEAN_RUN = 3.0
"""Mean number of steps in a run of the initial states."""


def start_in_runs(states: NDArray[np.int64], n_states: int, rng: NDArray[np.uint64]) -> None:
    """Write random states in runs of `MEAN_RUN` steps on average."""
    # States with scattered steps would all resemble the whole panel; in runs, a chain of many
    # states starts much closer to its mode.
    state = 0
    for t in range(len(states)):
        if t == 0 or next_double(rng) * MEAN_RUN < 1.0:
            state = int(next_double(rng) * n_states)
        states[t] = state
