"""Similarities of all pairs of contexts, for too many columns to enumerate their subsets.

| name | symbol | shape | meaning |
|---|---|---|---|
| codes | h_un | (U, D) int32 | categories of the distinct contexts |
| decay | lambda_n | (D,) | |
| repeats | | (U,) | observations of each context |
| distances | | (U, U) | sums of the decays of the columns that differ |
| similarities | phi | (U, U) | |
| context_of_column | | (T,) int64 | |
| column_repeats | | (T,) | observations of each column |
| starts_group | | (T,) bool | whether the column begins a new group |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_loop


@njit_loop
def measure(codes, decay, distances):
    """Write the distances of all pairs of contexts."""
    for u in range(codes.shape[0]):
        for v in range(codes.shape[0]):
            total = 0.0
            for n in range(codes.shape[1]):
                if codes[u, n] != codes[v, n]:
                    total += decay[n]
            distances[u, v] = total


@njit_loop
def split_sums(codes, n, decay, repeats, distances, alike, unlike):
    """Write sums of similarities without column n, over others that agree in n and that differ."""
    for u in range(codes.shape[0]):
        alike[u] = repeats[u] - 1.0  # an observation is not another one to itself
        unlike[u] = 0.0
        for v in range(codes.shape[0]):
            if codes[u, n] != codes[v, n]:
                unlike[u] += repeats[v] * math.exp(decay - distances[u, v])
            elif v != u:
                alike[u] += repeats[v] * math.exp(-distances[u, v])


@njit_loop
def move_apart(codes, n, change, distances):
    """Update the distances after a change of the decay of column n."""
    for u in range(codes.shape[0]):
        for v in range(codes.shape[0]):
            if codes[u, n] != codes[v, n]:
                distances[u, v] += change


@njit_loop
def exponentiate(distances, similarities):
    """Write the similarities for these distances."""
    for u in range(distances.shape[0]):
        for v in range(distances.shape[1]):
            similarities[u, v] = math.exp(-distances[u, v])


@njit_loop
def accumulate(similarities, context_of_column, column_repeats, starts_group, cumulative):
    """Write cumulative sums of similarities over the columns of each group."""
    for u in range(similarities.shape[0]):
        total = 0.0
        for t in range(cumulative.shape[1]):
            if starts_group[t]:
                total = 0.0
            total += column_repeats[t] * similarities[u, context_of_column[t]]
            cumulative[u, t] = total
