"""CMGS, the exact collapsed multiplicity Gibbs sampler (Du, 2012, algorithm 4, corrected).

Symbols as in `_kernels/_tables`. First every word is drawn: it leaves its topic and removes a table
only if it must (t = n); it enters by

    sharing a table   U[n][t]                              if t >= 1
    opening one       (b + a T) (alpha_k + c_k) / (A + c.)  if t = n

A word may open a table whenever t = n, not only when both are zero as in (5.3): a state with t = n
is reached from one with t + 1 = n + 1. Then the tables of every topic of the segment are drawn, by
(5.4). `Ratios` hold U and V.
"""

# mypy: ignore-errors

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_internal_nogc
from skdp._numeric._random import next_double
from skdp.processes._kernels_stirling import open_ratio, share_ratio

# CMGS in a chain: draws of the tables of a node given everything else.
#
# Symbols as in `_kernels/_tables` and `_kernels/_chain`. The tables (s, t) of topic k in segment j
# have the conditional
#
#     B_K(alpha + c) B(S_j + lambda_S, T_j + lambda_T) (b_j|a)_{Td_j} S^N_{s+t} C(s + t, s)
#         S^{N'}_{T'} / (b_{j-1})_{Nd_{j-1}},
#
# where N' = n_{j-1,k} + t and T' are customers and tables of the topic in the previous segment. It
# is drawn along three lines: s given t, t given s, and both given their sum. Successive weights
# along a line differ by simple ratios, and the draw is made in the same pass.
#
# Without the tables to be drawn, `base` is alpha_k + c_k, `total` A + c., `n_document` S_j,
# `n_previous` T_j; in the previous segment the topic has `above` customers and `above_tables`
# tables, and all topics have `above_customers`. If `mixed`, the segment has two parents.


@njit_forceinline
def next_stirling(n, t, values, row_ptr, a):
    """Return S^n_{t+1} / S^n_t, from V[n][t] = 1 + (n - a (t + 1)) S^n_{t+1} / S^n_t."""
    return (open_ratio(values, row_ptr, n, t, a) - 1.0) / (n - a * (t + 1))


@njit_forceinline
def pass_by(change, weight, weights, rng):
    """Advance to the next weight, `change` times the last, and draw whether it is selected so far.

    Return this, the weight and the sum on a common scale, and whether all others are negligible.
    """
    weight *= change
    weights += weight
    drawn = next_double(rng) * weights < weight
    done = change < 1.0 and weight < 1e-18 * weights
    if weight > 1e200:
        weight *= 1e-200
        weights *= 1e-200
    return drawn, weight, weights, done


@njit_internal_nogc
def draw_to_document(
    n, t, smallest, base, total, n_document, n_previous, b, a, mixed,
    to_document, to_previous, values, row_ptr, rng,
):  # fmt: skip
    """Draw s given t; `smallest` is the smallest s."""
    drawn, weight, weights = smallest, 1.0, 1.0
    for s in range(smallest, n - t):
        change = (base + s) / (total + s) * (b + a * (n_document + s + n_previous))
        if mixed:
            change *= n_document + s + to_document
            change /= n_document + s + n_previous + to_document + to_previous
        change *= next_stirling(n, s + t, values, row_ptr, a) * (s + t + 1) / (s + 1)
        accepted, weight, weights, done = pass_by(change, weight, weights, rng)
        if accepted:
            drawn = s + 1
        if done:
            break
    return drawn


@njit_internal_nogc
def draw_to_previous(
    n, s, smallest, above, above_tables, above_customers, above_b, n_document, n_previous, b, a,
    mixed, to_document, to_previous, values, row_ptr, rng,
):  # fmt: skip
    """Draw t given s; `smallest` is the smallest t."""
    drawn, weight, weights = smallest, 1.0, 1.0
    if above_tables == 0:  # no tables there
        return drawn
    for t in range(smallest, n - s):
        change = b + a * (n_document + n_previous + t)
        if mixed:
            change *= n_previous + t + to_previous
            change /= n_document + n_previous + t + to_document + to_previous
        change *= next_stirling(n, s + t, values, row_ptr, a) * (s + t + 1) / (t + 1)
        change *= share_ratio(values, row_ptr, above + t, above_tables, a)
        change /= above_b + above_customers + t
        accepted, weight, weights, done = pass_by(change, weight, weights, rng)
        if accepted:
            drawn = t + 1
        if done:
            break
    return drawn


@njit_internal_nogc
def draw_split(
    n_tables, largest, base, total, above, above_tables, above_customers, above_b, n_document,
    n_previous, a, to_document, to_previous, values, row_ptr, rng,
):  # fmt: skip
    """Draw s given s + t = `n_tables`; `largest` is the largest s that leaves enough t."""
    drawn, weight, weights = 0, 1.0, 1.0
    for s in range(largest):
        t = n_tables - s - 1  # t of the next weight
        change = (base + s) / (total + s) * (t + 1) / (s + 1)
        change *= (n_document + s + to_document) / (n_previous + t + to_previous)
        change *= above_b + above_customers + t
        change /= share_ratio(values, row_ptr, above + t, above_tables, a)
        accepted, weight, weights, done = pass_by(change, weight, weights, rng)
        if accepted:
            drawn = s + 1
        if done:
            break
    return drawn


@njit_forceinline
def resample_tables(i, k, first, total, served, assignments, prior, ratios, levels, rng):
    """Draw s_jk and t_jk of level `i` given everything else; return the change of A + c."""
    a, concentration, alpha = prior.discount, prior.concentration, prior.alpha
    to_document, to_previous = prior.to_document, prior.to_previous
    values, row_ptr = ratios.values, ratios.row_ptr
    tables, segment_tables = assignments.tables, assignments.segment_tables
    previous, segment_previous = assignments.to_previous, assignments.segment_to_previous
    customers, level_customers = levels.customers, levels.level_customers
    j = first + i
    n = np.int64(customers[i, k])
    s, t = np.int64(tables[j, k]), np.int64(previous[j, k])
    b = concentration[j]
    had = s
    from_document = i == 0 or to_document > 0.0
    from_previous = i > 0 and to_previous > 0.0
    mixed = from_document and from_previous
    rest, rest_total = alpha[k] + (served[k] - s), total - s
    n_document, n_previous = segment_tables[j] - s, segment_previous[j] - t
    if from_document:
        s = draw_to_document(
            n, t, 0 if t > 0 else 1, rest, rest_total, n_document, n_previous + t, b, a, mixed,
            to_document, to_previous, values, row_ptr, rng,
        )  # fmt: skip
    if from_previous:
        above = np.int64(customers[i - 1, k] - t)
        above_tables = np.int64(tables[j - 1, k] + previous[j - 1, k])
        above_customers = level_customers[i - 1] - t
        fewest = max(above_tables - above, 0)  # as many tables need as many customers
        above_b = concentration[j - 1]
        t = draw_to_previous(
            n, s, max(fewest, 0 if s > 0 else 1), above, above_tables, above_customers, above_b,
            n_document + s, n_previous, b, a, mixed, to_document, to_previous, values, row_ptr, rng,
        )  # fmt: skip
        if mixed and above_tables > 0:
            both = s + t
            s = draw_split(
                both, both - fewest, rest, rest_total, above, above_tables, above_customers,
                above_b, n_document, n_previous, a, to_document, to_previous, values, row_ptr, rng,
            )  # fmt: skip
            t = both - s
        customers[i - 1, k] = above + t
        level_customers[i - 1] = above_customers + t
    tables[j, k], previous[j, k] = s, t
    segment_tables[j], segment_previous[j] = n_document + s, n_previous + t
    served[k] += s - had
    return s - had
