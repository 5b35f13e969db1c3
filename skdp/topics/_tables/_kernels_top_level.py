"""Kernels of the top level of table models with inferred numbers of topics: topics and tables.

Symbols as in ``_kernels.py`` and ``processes/_kernels_top_level.py``; alpha and gamma are here the
concentrations of documents and of the topics' weights.

| name | symbol | shape | meaning |
|---|---|---|---|
| weights | beta_k | (K,) | weights of topics |
| rest | beta_u | scalar | weight of all topics without words |
| served | c_dk | (D, C) int32 | customers of documents, the tables of their segments |
| tables | m_.k | (K,) int64 | tables of documents by topic |
| least | delta | scalar | smallest weight of topics that take part in a sweep |

Given their sum beta_u, the weights of the topics without words result from stick breaking: each
takes a Beta(1, gamma) share of the remainder. Once the remainder is below delta, so are all later
weights.
"""

# mypy: ignore-errors

from skdp._numeric._numba import njit_loop
from skdp.processes._kernels_top_level import break_weight, draw_table_count


@njit_loop
def break_rest(rest, gamma, least, weights, rng):
    """Write the drawn `weights` above `least` of topics without words; return their number."""
    n = 0
    while rest > least:
        weight, rest = break_weight(rest, gamma, rng)
        if weight > least:
            weights[n] = weight
            n += 1
    return n


@njit_loop
def draw_tables_of_documents(served, prior, tables, tables_of_documents, rng):
    """Draw the tables of every document and topic, with prior alpha beta_k; write their sums."""
    for k in range(prior.shape[0]):
        tables[k] = 0
    for d in range(served.shape[0]):
        total = 0
        for k in range(prior.shape[0]):
            if served[d, k] > 0:
                drawn = draw_table_count(served[d, k], prior[k], rng)
                tables[k] += drawn
                total += drawn
        tables_of_documents[d] = total
