"""The most probable division of a document, given draws of its cuts.

The draws are those of a Markov chain over the beginnings of parts: after a part that begins at s,
the next one begins at e with probability (N_se + q_se) / (N_s + 1). N counts draws, and q is what
gaps would have if they were independent: one more draw, so that every division is possible.

| name | symbol | shape | meaning |
|---|---|---|---|
| drawn | | (U, S) int8 | whether a part begins at each unit, in S draws |
| sizes | | (U,) int64 | words of each unit |
| probabilities | | (U,) float64 | probability that a part begins at a unit, neither 0 nor 1 |
| most_words | | | largest number of words of a part of several units |
| best | | (P + 1, U + 1) float64 | largest log probability of p parts that end before a unit |
| before | | (P + 1, U + 1) int64 | where the last of them begins |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop


@njit_internal_nogc
def weigh_next(s, drawn, probabilities, logs):
    """Write the log probability that the part after one that begins at `s` begins at e > s."""
    n_units, n_draws = drawn.shape
    for e in range(s + 1, n_units + 1):
        logs[e] = 0.0
    n_here = 0
    for x in range(n_draws):
        if s == 0 or drawn[s, x] == 1:
            n_here += 1
            e = s + 1
            while e < n_units and drawn[e, x] == 0:
                e += 1
            logs[e] += 1.0
    log_rest = 0.0
    for e in range(s + 1, n_units + 1):
        log_here = log_rest
        if e < n_units:
            log_here += math.log(probabilities[e])
            log_rest += math.log1p(-probabilities[e])
        logs[e] = math.log(logs[e] + max(math.exp(log_here), 1e-300)) - math.log(n_here + 1.0)


@njit_loop
def find_division(n_parts, drawn, sizes, probabilities, most_words, logs, best, before, starts):
    """Write the most probable division into `n_parts` parts (0: any number) to `starts`.

    Parameters
    ----------
    logs : (U + 1,) float64, scratch
    best, before : scratch
        With ``n_parts + 1`` rows, or one.
    starts : (U,) int8, output
    """
    n_units = drawn.shape[0]
    n_rows = best.shape[0]
    for p in range(n_rows):
        for e in range(n_units + 1):
            best[p, e] = -math.inf
    best[0, 0] = 0.0
    for s in range(n_units):
        weigh_next(s, drawn, probabilities, logs)
        n_words = 0
        for e in range(s + 1, n_units + 1):
            n_words += sizes[e - 1]
            if e > s + 1 and n_words > most_words:
                break
            for p in range(n_rows):
                q = min(p + 1, n_rows - 1)
                if (q > p or n_parts == 0) and best[p, s] + logs[e] > best[q, e]:
                    best[q, e] = best[p, s] + logs[e]
                    before[q, e] = s
    for u in range(n_units):
        starts[u] = 0
    p, e = n_rows - 1, n_units
    while e > 0:
        e = before[p, e]
        starts[e] = 1
        p = max(p - 1, 0)
