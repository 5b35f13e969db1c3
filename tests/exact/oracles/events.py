"""Evidence of bits and of rows of counts, observation by observation; NaN is missing.

Each factor is the predictive probability given those before it, from the conjugate prior.
"""

import math
from itertools import permutations

import numpy as np


def log_bit_evidence(rows, prior):
    """Return log p(rows) of (n, D) bits whose probabilities are Beta(p, q), column by column."""
    result = 0.0
    for column in zip(*rows, strict=True):
        one, zero = prior
        for x in column:
            if math.isnan(x):
                continue
            result += math.log((one if x == 1.0 else zero) / (one + zero))
            one, zero = one + x, zero + 1.0 - x
    return result


def log_row_evidence(rows, prior):
    """Return log p(rows given their totals), (n, V), under theta ~ Dirichlet(prior).

    Event by event, in one order, times the number of orders.
    """
    weights = np.array(prior, dtype=float)
    result = 0.0
    for row in rows:
        if np.isnan(row).all():
            continue
        events = np.repeat(np.arange(len(row)), np.array(row, dtype=int))
        for v in events:
            result += math.log(weights[v] / weights.sum())
            weights[v] += 1.0
        result += math.log(len(set(permutations(events.tolist()))))
    return result
