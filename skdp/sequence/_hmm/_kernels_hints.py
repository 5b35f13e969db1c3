"""Known states of steps: kernels that loop over steps.

| name | shape | meaning |
|---|---|---|
| ptr | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| known | (N,) int64 | known state of each step; -1: unknown |
| log_obs | (N, J) float64 | log density of each step in each state |
| allowed | (J + 1, J) bool | possible transitions, with first states in the last row |
| before, now | (J,) bool | scratch: the states that paths reach at the step before, at a step |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_loop


@njit_loop
def clamp(known, log_obs):
    """Set the log densities of known steps to -inf in all states but theirs."""
    for t in range(known.shape[0]):
        if known[t] >= 0:
            for j in range(log_obs.shape[1]):
                if j != known[t]:
                    log_obs[t, j] = -math.inf


@njit_loop
def find_impossible_step(ptr, known, allowed, before, now):
    """Return the first step that no allowed path through the known states reaches, or -1."""
    n_states = before.shape[0]
    for s in range(ptr.shape[0] - 1):
        for t in range(ptr[s], ptr[s + 1]):
            is_possible = False
            for k in range(n_states):
                now[k] = False
                if known[t] >= 0 and k != known[t]:
                    continue
                if t == ptr[s]:
                    now[k] = allowed[n_states, k]
                else:
                    for j in range(n_states):
                        if before[j] and allowed[j, k]:
                            now[k] = True
                            break
                is_possible |= now[k]
            if not is_possible:
                return t
            for k in range(n_states):
                before[k] = now[k]
    return -1
