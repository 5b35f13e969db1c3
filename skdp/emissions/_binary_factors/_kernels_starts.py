r"""First states and binary vectors from the observations alone.

| name | symbol | shape | meaning |
|---|---|---|---|
| values | y_td | (N, D) | NaN marks a missing value |
| weights | w_fd | (F + 1, D) | row 0 is the background |
| scales | | (D,) | weight of a squared deviation in a column |
| activities | | (N, F) | in [0, 1] |
| centers | | (K, D) | centers of groups of steps |
| states | z_t | (N,) int64 | |
| rest, counts, nearest | | (D,), (K, D), (N,) | scratch |
| rng | | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double


@njit_loop
def fit_activities(values, weights, scales, n_rounds, activities, rest):
    """Write least squares of every step with activities in [0, 1], by coordinate descent."""
    n_dims = values.shape[1]
    for t in range(values.shape[0]):
        for d in range(n_dims):
            seen = not math.isnan(values[t, d])
            rest[d] = values[t, d] - weights[0, d] if seen else 0.0
        for f in range(activities.shape[1]):
            activities[t, f] = 0.0
        for _ in range(n_rounds):
            moved = 0.0
            for f in range(activities.shape[1]):
                overlap, norm = 0.0, 0.0
                for d in range(n_dims):
                    if not math.isnan(values[t, d]):
                        overlap += scales[d] * weights[f + 1, d] * rest[d]
                        norm += scales[d] * weights[f + 1, d] ** 2
                if norm == 0.0:
                    continue
                now = activities[t, f]
                best = min(max(now + overlap / norm, 0.0), 1.0)
                for d in range(n_dims):
                    rest[d] -= (best - now) * weights[f + 1, d]
                activities[t, f] = best
                moved = max(moved, abs(best - now))
            if moved < 1e-3:
                break


@njit_internal_nogc
def square_distance(values, t, center, scales):
    """Return the scaled squared distance of the values of a step that are not missing."""
    result = 0.0
    for d in range(center.shape[0]):
        if not math.isnan(values[t, d]):
            result += scales[d] * (values[t, d] - center[d]) ** 2
    return result


@njit_loop
def group_steps(values, scales, middle, n_rounds, centers, counts, nearest, states, rng):
    """Write groups of similar steps to `states`, by k-means from the seeds of k-means++.
    `middle`, (D,), replaces missing values of seeds and of groups.
    """
    n_steps, n_dims = values.shape
    n_groups = centers.shape[0]
    for t in range(n_steps):
        nearest[t] = 1.0
    for k in range(n_groups):
        total = 0.0
        for t in range(n_steps):
            total += nearest[t]
        left = next_double(rng) * total
        seed = 0
        for t in range(n_steps):
            if nearest[t] > 0.0:
                seed = t
                left -= nearest[t]
                if left < 0.0:
                    break
        for d in range(n_dims):
            missing = math.isnan(values[seed, d])
            centers[k, d] = middle[d] if missing else values[seed, d]
        for t in range(n_steps):
            distance = square_distance(values, t, centers[k], scales)
            nearest[t] = distance if k == 0 else min(nearest[t], distance)
    for i in range(n_rounds):
        for t in range(n_steps):
            smallest = math.inf
            for k in range(n_groups):
                distance = square_distance(values, t, centers[k], scales)
                if distance < smallest:
                    smallest = distance
                    states[t] = k
        if i == n_rounds - 1:
            break
        for k in range(n_groups):
            for d in range(n_dims):
                counts[k, d] = 0.0
                centers[k, d] = 0.0
        for t in range(n_steps):
            for d in range(n_dims):
                if not math.isnan(values[t, d]):
                    counts[states[t], d] += 1.0
                    centers[states[t], d] += values[t, d]
        for k in range(n_groups):
            for d in range(n_dims):
                empty = counts[k, d] == 0.0
                centers[k, d] = middle[d] if empty else centers[k, d] / counts[k, d]
