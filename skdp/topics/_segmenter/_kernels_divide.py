"""The most probable division of a document into parts, given the expected topics of its words.

The log probability of a division is the sum over its parts of the log evidence of their topics,
averaged over M samples, and of the log prior of its cuts. The evidence of a part of units s to
e - 1 is that of a Dirichlet-multinomial distribution with expected counts n_k, which are fractions:

    log E(s, e) = sum_k log Gamma(b mu_k + n_k) / Gamma(b mu_k) - log Gamma(b + n) / Gamma(b).

| name | symbol | shape | meaning |
|---|---|---|---|
| counts | | (M, U, K) float64 | expected number of words of each topic in each unit |
| bases | b mu_k | (M, K) float64 | |
| sizes | | (U,) int64 | words of each unit |
| log_cut, log_rest | log rho, log (1 - rho) | scalars | |
| most_units, most_words | | scalars | largest sizes of a part; words: if it has several units |
| evidence | log E(s, e) | (U + 1,) float64 | of parts that begin at unit s |
| best | | (P + 1, U + 1) float64 | largest log probability of p parts that end before a unit |
| before | | (P + 1, U + 1) int64 | where the last of them begins |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop


@njit_internal_nogc
def weigh_parts(s, end, counts, bases, n_k, evidence):
    """Write the log evidence of the parts that begin at `s` and end at `end` or before."""
    n_samples, n_topics = bases.shape
    for e in range(s + 1, end + 1):
        evidence[e] = 0.0
    for m in range(n_samples):
        b, n, log_evidence = 0.0, 0.0, 0.0
        for k in range(n_topics):
            n_k[k] = 0.0
            b += bases[m, k]
        for u in range(s, end):
            n_words = 0.0
            for k in range(n_topics):
                c = counts[m, u, k]
                if c > 0.0:
                    at = bases[m, k] + n_k[k]
                    log_evidence += math.lgamma(at + c) - math.lgamma(at)
                    n_k[k] += c
                    n_words += c
            log_evidence -= math.lgamma(b + n + n_words) - math.lgamma(b + n)
            n += n_words
            evidence[u + 1] += log_evidence / n_samples


@njit_loop
def find_division(
    n_parts, counts, bases, sizes, log_cut, log_rest, most_units, most_words, n_k, evidence, best,
    before, starts,
):  # fmt: skip
    """Write the most probable division into `n_parts` parts (0: any number) to `starts` (U,)."""
    n_units, n_rows = sizes.shape[0], best.shape[0]
    for p in range(n_rows):
        for e in range(n_units + 1):
            best[p, e] = -math.inf
    best[0, 0] = 0.0
    for s in range(n_units):
        end, n_words = s + 1, sizes[s]
        while end < n_units and end - s < most_units and n_words + sizes[end] <= most_words:
            n_words += sizes[end]
            end += 1
        weigh_parts(s, end, counts, bases, n_k, evidence)
        for e in range(s + 1, end + 1):
            log = evidence[e] + (e - s - 1) * log_rest
            if s > 0:
                log += log_cut
            for p in range(n_rows):
                q = min(p + 1, n_rows - 1)
                if (q > p or n_parts == 0) and best[p, s] + log > best[q, e]:
                    best[q, e] = best[p, s] + log
                    before[q, e] = s
    for u in range(n_units):
        starts[u] = 0
    p, e = n_rows - 1, n_units
    while e > 0:
        e = before[p, e]
        starts[e] = 1
        p = max(p - 1, 0)
