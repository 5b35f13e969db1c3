"""Evidence of bits, counts and rows of counts, observation by observation; NaN is missing.

Each factor is the predictive probability given those before it, from the conjugate prior."""

import math
from decimal import Decimal, localcontext
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
    """Return log p(rows given their totals), (n, V), under theta ~ Dirichlet(prior). Event by
    event, in one order, times the number of orders."""
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


def log_count_evidence(rows, shape, rate):
    """Return log p(rows) of (n, D) Poisson counts whose intensities are Gamma(shape, rate)."""
    result = 0.0
    for column in zip(*rows, strict=True):
        a, b = shape, rate
        for x in column:
            if math.isnan(x):
                continue
            result += math.lgamma(a + x) - math.lgamma(a) - math.lgamma(x + 1.0)
            result += a * math.log(b / (b + 1.0)) - x * math.log(b + 1.0)
            a, b = a + x, b + 1.0
    return result


def log_wide_evidence(rows, shape, rate, f):
    """Return log p(rows) of (n, D) Poisson counts with means g m: g ~ Gamma(1 / f, 1 / f), and m f
    is ~ Beta'(shape, rate / f + 1). With p = 1 / (1 + m f) ~ Beta(rate / f + 1, shape), a count is
    the number of failures before 1 / f successes."""
    result, r = 0.0, 1.0 / f
    for column in zip(*rows, strict=True):
        a, b = shape, rate / f + 1.0
        for x in column:
            if math.isnan(x):
                continue
            result += math.lgamma(r + x) - math.lgamma(r) - math.lgamma(x + 1.0)
            result += math.lgamma(a + x) + math.lgamma(b + r) - math.lgamma(a + b + r + x)
            result -= math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
            a, b = a + x, b + r
    return result


def log_symbol_evidence(rows, prior):
    """Return log p(rows) of (n, 1) symbols whose probabilities are Dirichlet(prior)."""
    weights = np.array(prior, dtype=float)
    result = 0.0
    for (v,) in rows:
        if not math.isnan(v):
            result += math.log(weights[int(v)] / weights.sum())
            weights[int(v)] += 1.0
    return result


def log_negative_binomial(count, mean, shape, choices):
    """Return the log probability of a count for a whole shape, in 60 digits, as a float. `choices`
    is the binomial coefficient of shape + count - 1 over count."""
    with localcontext() as context:
        context.prec = 60
        whole, mean = Decimal(shape), Decimal(mean)
        result = Decimal(choices).ln() + whole * (whole / (whole + mean)).ln()
        result += int(count) * (mean / (whole + mean)).ln()
        return float(result)
