"""Sequences drawn from a model that interpolates the contexts of a trie.

| name | symbol | shape | meaning |
|---|---|---|---|
| child_ptr, symbol, above, leaf, text, cell_ptr, outcome | | | as in `_kernels_trie` |
| symbols | | (most + 1,) int32 | the beginning, `n_words`, then the output |
| cumulative | | (X + 1,) | cumulative sums of mass over the preceding cells |
| base_cumulative | H | (n_outcomes + 1,) | cumulative sums of the base |
"""

# mypy: ignore-errors

from skdp._numeric._numba import njit, njit_forceinline
from skdp._numeric._random import next_double
from skdp.language._ngram._kernels_trie import chain_backoff, match_text
from skdp.processes._kernels_interpolated import find_place


@njit_forceinline
def _draw_place(cumulative, first, last, u):
    """Return the last index in ``first:last`` at which the cumulative weight is at most u."""
    while last - first > 1:
        middle = (first + last) >> 1
        if cumulative[middle] <= u:
            first = middle
        else:
            last = middle
    return first


@njit
def draw_words(
    symbols,
    n_words,
    ends,
    child_ptr,
    symbol,
    above,
    leaf,
    text,
    cell_ptr,
    outcome,
    cumulative,
    base_cumulative,
    chain,
    rng,
):
    """Draw a sequence word by word until it ends or `symbols` is full; return its length."""
    for slot in range(1, symbols.shape[0]):
        u = 0
        m = 0
        while m < slot:
            v = find_place(symbols[slot - 1 - m], symbol, child_ptr[u], child_ptr[u + 1])
            if v < 0:
                break
            u = v
            m += 1
        w = -1
        if leaf.shape[0] > 0 and leaf[u] >= 0 and m < slot:
            n = match_text(symbols, slot, m, text, leaf[u], n_words)
            if next_double(rng) >= chain_backoff(chain, m, n):
                w = outcome[cell_ptr[u]]
        # The cells of u have total mass 1 - backoff_u; otherwise the word is drawn from the next
        # shorter context, and finally from the base.
        while w < 0 and u >= 0:
            first, last = cell_ptr[u], cell_ptr[u + 1]
            v = next_double(rng)
            if v < cumulative[last] - cumulative[first]:
                w = outcome[_draw_place(cumulative, first, last, v + cumulative[first])]
            u = above[u]
        if w < 0:
            n_outcomes = base_cumulative.shape[0] - 1
            w = _draw_place(base_cumulative, 0, n_outcomes, next_double(rng))
        if ends and w == n_words:
            return slot - 1
        symbols[slot] = w
    return symbols.shape[0] - 1
