"""Hidden semi-Markov models with given parameters, by enumeration of all segments and their states.

Durations are at most D: pmf[j][d - 1] = P(D = d). The last segment of a sequence is cut off.
"""

import math
from itertools import pairwise

import numpy as np
from exact.oracles.hmm import log, log_sum


def segmentations(n_steps, longest):
    """Yield the durations of the segments of a sequence, the last one cut off."""
    if n_steps == 0:
        yield ()
    for d in range(1, min(n_steps, longest) + 1):
        for rest in segmentations(n_steps - d, longest):
            yield (d, *rest)


def labelings(n_segments, n_states):
    """Yield the states of segments; neighbors differ."""
    if n_segments == 0:
        yield ()
        return
    for states in labelings(n_segments - 1, n_states):
        for j in range(n_states):
            if not states or states[-1] != j:
                yield (*states, j)


def log_joint(startprob, transmat, log_obs, pmf, durations, states):
    """Return log p(x, segments)."""
    result = log(startprob[states[0]])
    for before, after in pairwise(states):
        result += log(transmat[before][after])
    t = 0
    for i, (d, j) in enumerate(zip(durations, states, strict=True)):
        if i < len(states) - 1:
            result += log(pmf[j][d - 1])
        else:
            result += log(math.fsum(pmf[j][d - 1 :]))
        result += math.fsum(log_obs[s][j] for s in range(t, t + d))
        t += d
    return result


def enumerate_segments(startprob, transmat, log_obs, pmf):
    """Return log p(x), and the probability of every sequence of states given x."""
    n_steps, n_states = len(log_obs), len(startprob)
    logs = {}
    for durations in segmentations(n_steps, len(pmf[0])):
        for states in labelings(len(durations), n_states):
            path = tuple(j for d, j in zip(durations, states, strict=True) for _ in range(d))
            assert path not in logs  # neighbors differ, so that states tell segments
            logs[path] = log_joint(startprob, transmat, log_obs, pmf, durations, states)
    total = log_sum(list(logs.values())) if logs else -math.inf
    if total == -math.inf:
        return total, {}
    return total, {path: math.exp(x - total) for path, x in logs.items()}


def predictive(startprob, transmat, log_obs, pmf):
    """Return log p(x_t given x_<t) of every step: what a longer beginning of x adds to log p."""
    totals = [0.0]
    for n in range(1, len(log_obs) + 1):
        totals.append(enumerate_segments(startprob, transmat, log_obs[:n], pmf)[0])
    return np.diff(totals)


# Durations with unknown parameters: a state's omega or p is a point of a grid with weights.


def poisson_pmf(k, omega):
    return np.exp(k * np.log(omega) - omega - math.lgamma(k + 1.0))


def negative_binomial_pmf(k, r, p):
    return math.comb(k + r - 1, k) * (1.0 - p) ** r * p**k


def runs(sequence):
    """Return (state, length) of the runs of a sequence."""
    result = []
    for j in sequence:
        if result and result[-1][0] == j:
            result[-1][1] += 1
        else:
            result.append([j, 1])
    return result


def length_likelihood(sequences, longest, pmf, n_states):
    """Return p(lengths of all segments of state j) for every j and point of the grid.

    `pmf(k)` are P(D = 1 + k) at the points; the mass beyond `longest` is at `longest`.
    """
    tables = [pmf(k) for k in range(longest)]
    at_least = [1.0 - sum(tables[:k], np.zeros_like(tables[0])) for k in range(longest)]
    result = np.ones((n_states, len(tables[0])))
    for sequence in sequences:
        segments = runs(sequence)
        for i, (j, d) in enumerate(segments):
            if d > longest:
                return np.zeros_like(result)
            cut = i + 1 == len(segments) or d == longest
            result[j] *= (at_least if cut else tables)[d - 1]
    return result
