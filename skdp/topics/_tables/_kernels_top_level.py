"""The top level of table models whose number of topics is inferred: topics without words, tables.

Symbols as in ``_kernels.py`` and ``processes/_kernels_top_level.py``; alpha and gamma are here the
concentrations of documents and of the topics' weights.

| name | symbol | shape | meaning |
|---|---|---|---|
| weights | beta_k | (K,) | weights of topics |
| rest | beta_u | scalar | weight of all topics without words |
| served | c_dk | (D, C) int32 | customers of documents, the tables of their segments |
| tables | m_.k | (K,) int64 | tables of documents by topic |
| least | delta | scalar | weight that a topic needs to take part in a sweep |

Given their sum beta_u, the weights of the topics without words are sticks broken off it, each a
Beta(1, gamma) share of what is left. Once less than delta is left, none that comes can have more.
"""

# mypy: ignore-errors

from skdp._numeric._numba import njit_loop
from skdp.processes._kernels_top_level import break_weight, draw_table_count


@njit_loop
def break_rest(rest, gamma, least, weights, rng):
    """Draw the weights above `least` of topics without words; return how many there are.

    Parameters
    ----------
    weights : (at least rest / least,) float64, output
    """
    n = 0
    while rest > least:
        weight, rest = break_weight(rest, gamma, rng)
        if weight > least:
            weights[n] = weight
            n += 1
    return n


@njit_loop
def draw_tables_of_documents(served, prior, tables, tables_of_documents, rng):
    """Draw the tables of every document and topic.

    Parameters
    ----------
    served : (D, C) int32
    prior : (K,) float64
        alpha beta_k.
    tables : (K,) int64, output
        m_.k, by topic.
    tables_of_documents : (D,) int64, output
    rng : (4,) uint64
    """
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
