r"""Runs of steps whose observations stay the same, and the jumps from one to the next.

If factors stay on or off for a while, one of them is switched at nearly every jump. Then jumps are,
up to sign, rows of the weights plus noise, and groups of similar jumps identify the factor.
Jumps are scaled by the noise of their columns.

| name | symbol | shape | meaning |
|---|---|---|---|
| sums | | (T + 1, D) | sums of the scaled values of a sequence before each step |
| counts | | (T + 1, D) | sums over the same steps of the numbers of observed values |
| costs, candidates | | (T + 1,) | scratch |
| before | | (T + 1,) int64 | the beginning of the last run of the first e steps |
| penalty, longest | | scalars | cost of a run, largest number of its steps |
| jumps | | (n, D) | differences of the means of runs |
| totals | | (n, D) | jumps times precisions; sums of these in the rows of groups |
| precisions | | (n, D) | of the noise of jumps; their sums in the rows of groups |
| inverse | | (D,) | 1 / variance of weights |
| own | | (n,) | of groups: their log evidence less that of noise alone |
| groups | | (n,) int64 | group of each jump, with the number of one of its jumps |
| signs | | (n,) int8 | sign of each jump in its group |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop


@njit_internal_nogc
def cost_of_run(sums, counts, begin, end):
    """Return the squares of the values less the squared distances from their means, negated."""
    result = 0.0
    for d in range(sums.shape[1]):
        n = counts[end, d] - counts[begin, d]
        if n > 0.0:
            total = sums[end, d] - sums[begin, d]
            result -= total * total / n
    return result


@njit_loop
def cut_runs(sums, counts, penalty, longest, costs, before, candidates):
    """Write the beginning of the last run of the best cut of the first e steps to `before[e]`."""
    # Dynamic programming; beginnings that can never be best again are dropped (PELT; Killick,
    # Fearnhead and Eckley, 2012).
    costs[0] = -penalty
    n_candidates = 0
    for end in range(1, sums.shape[0]):
        candidates[n_candidates] = end - 1
        n_candidates += 1
        costs[end] = math.inf
        for c in range(n_candidates):
            begin = candidates[c]
            cost = costs[begin] + cost_of_run(sums, counts, begin, end) + penalty
            if cost < costs[end]:
                costs[end] = cost
                before[end] = begin
        n_kept = 0
        for c in range(n_candidates):
            begin = candidates[c]
            cost = costs[begin] + cost_of_run(sums, counts, begin, end)
            if cost <= costs[end] and end - begin < longest:
                candidates[n_kept] = begin
                n_kept += 1
        n_candidates = n_kept


@njit_internal_nogc
def log_evidence_of_group(totals, precisions, sign, others, other_precisions, inverse):
    """Return log p(jumps of two groups), as one group, less that of noise; weights integrated out.
    Arrays are rows of groups; `sign` is that of the other group in the first, 0 without the other.
    """
    result = 0.0
    for d in range(totals.shape[0]):
        total, precision = totals[d], precisions[d]
        if sign != 0.0:
            total += sign * others[d]
            precision += other_precisions[d]
        result += 0.5 * total * total / (precision + inverse[d])
        result -= 0.5 * math.log1p(precision / inverse[d])
    return result


@njit_internal_nogc
def weigh_pair(totals, precisions, own, i, j, inverse):
    """Return the gain of merging two groups, and the sign of the second in the first."""
    overlap = 0.0
    for d in range(inverse.shape[0]):
        overlap += totals[i, d] * totals[j, d] / (precisions[i, d] + precisions[j, d] + inverse[d])
    sign = 1.0 if overlap >= 0.0 else -1.0
    both = log_evidence_of_group(totals[i], precisions[i], sign, totals[j], precisions[j], inverse)
    return both - own[i] - own[j], sign


@njit_loop
def group_jumps(totals, precisions, inverse, own, gains, groups, signs):
    """Write groups of jumps that are similar up to sign, by merging pairs while there is a gain.
    `totals` and `precisions` are added up in place; `own` is an output, `gains`, (n, n), scratch.
    """
    n = groups.shape[0]
    for i in range(n):
        groups[i], signs[i] = i, 1
        own[i] = log_evidence_of_group(
            totals[i], precisions[i], 0.0, totals[i], precisions[i], inverse
        )
    for i in range(n):
        for j in range(i + 1, n):
            gains[i, j] = weigh_pair(totals, precisions, own, i, j, inverse)[0]
    while True:
        best, first, second = 0.0, -1, -1
        for i in range(n):
            if groups[i] != i:
                continue
            for j in range(i + 1, n):
                if groups[j] == j and gains[i, j] > best:
                    best, first, second = gains[i, j], i, j
        if first < 0:
            return
        sign = weigh_pair(totals, precisions, own, first, second, inverse)[1]
        for d in range(inverse.shape[0]):
            totals[first, d] += sign * totals[second, d]
            precisions[first, d] += precisions[second, d]
        own[first] += own[second] + best
        for i in range(n):
            if groups[i] == second:
                groups[i] = first
                signs[i] *= int(sign)
        for i in range(n):
            if groups[i] == i and i != first:
                low, high = min(i, first), max(i, first)
                gains[low, high] = weigh_pair(totals, precisions, own, low, high, inverse)[0]
