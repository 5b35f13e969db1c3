"""Sequences drawn from a model that interpolates the contexts of a trie.

| name | symbol | shape | meaning |
|---|---|---|---|
| child_ptr, symbol | | (U + 1,), (U,) | children of a context, and the far symbol of each context |
| cell_ptr, outcome | | (U + 1,), (X,) | cells of a context, and the outcome of each cell |
| cumulative | | (X + 1,) | sums of mass over the cells before |
| base_cumulative | H | (n_outcomes + 1,) | sums of the base |
"""

# mypy: ignore-errors

from skdp._numba import njit, njit_step
from skdp._random import next_double
from skdp.processes._kernels_interpolated import find_place


@njit_step
def _draw_place(cumulative, first, last, u):
    """Return the last place in ``first:last`` at which the cumulative weight is at most u."""
    while last - first > 1:
        middle = (first + last) >> 1
        if cumulative[middle] <= u:
            first = middle
        else:
            last = middle
    return first


@njit
def draw_words(
    tokens,
    n_words,
    ends,
    child_ptr,
    symbol,
    cell_ptr,
    outcome,
    cumulative,
    base_cumulative,
    order,
    rng,
):
    """Draw a sequence word by word until it ends or `tokens` is full; return its length.

    In context u the mass of its cells, which sums to 1 - backoff_u, is drawn from first; with the
    rest the next shorter context decides, and at last the base.

    Parameters
    ----------
    tokens : (max_length,) int32, output
    n_words : int
        As a symbol of contexts, the beginning; as an outcome, the end.
    ends : bool
        Whether the outcome `n_words` exists.
    child_ptr, symbol, cell_ptr, outcome : arrays
        The trie's.
    cumulative : (X + 1,) float64
    base_cumulative : (n_outcomes + 1,) float64
    order : int
    rng : (4,) uint64
    """
    for i in range(tokens.shape[0]):
        w = -1
        for m in range(min(order - 1, i + 1), -1, -1):
            u = _descend(tokens, i, m, n_words, child_ptr, symbol)
            if u < 0:
                continue
            first, last = cell_ptr[u], cell_ptr[u + 1]
            v = next_double(rng)
            if v < cumulative[last] - cumulative[first]:
                w = outcome[_draw_place(cumulative, first, last, v + cumulative[first])]
                break
        if w < 0:
            n_outcomes = base_cumulative.shape[0] - 1
            w = _draw_place(base_cumulative, 0, n_outcomes, next_double(rng))
        if ends and w == n_words:
            return i
        tokens[i] = w
    return tokens.shape[0]


@njit_step
def _descend(tokens, i, m, n_words, child_ptr, symbol):
    """Return the context of m symbols before token i; -1 if it was not seen."""
    u = 0
    for j in range(1, m + 1):
        far = tokens[i - j] if j <= i else n_words
        u = find_place(far, symbol, child_ptr[u], child_ptr[u + 1])
        if u < 0:
            break
    return u
