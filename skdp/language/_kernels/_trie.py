"""A trie of contexts: look-ups, probabilities from the longest context upwards, and draws.

A context with a single event may be a *leaf*: longer contexts of that event are not in the trie but
in the text, where they precede the event. Each of them has one customer at one table, so it leaves
the share (theta + d) / (theta + 1) to the shorter context, and keeps the rest for the event's
outcome. `chain`, (n_laws,), contains the shares of the laws; the shares along a chain of contexts
are multiplied.

| name | shape | meaning |
|---|---|---|
| symbols | (n_slots,) | symbols of sentences: a beginning, words, an end |
| slots, positions | (n_events,) | slot of an event, and number of preceding slots in its sentence |
| child_ptr, symbol | (U + 1,), (U,) | children of a context, and the far symbol of each context |
| above | (U,) | the context without its far symbol; -1 for the empty one |
| cell_ptr, outcome | (U + 1,), (X,) | cells of a context, and the outcome of each cell |
| cell_above, node | (X,) | the cell with the same outcome one context above, and the context |
| leaf | (U,) or (0,) | slot in `text` of the event of a leaf; -1: the context is no leaf |
| text | (n_slots,) | symbols of the training sentences, if there are leaves |
| contexts, depths, cells, tails | (n_events,) int32 | results of the search: see `reach` |
| mass, backoff, base | (X,), (U,), (n_outcomes,) | of an interpolated model |
| top, total | (n_outcomes,), (n, n_outcomes) | distribution after the empty context; sums |
"""

# mypy: ignore-errors

from skdp._numeric._numba import njit, njit_forceinline
from skdp._numeric._random import next_double
from skdp.processes._kernels_interpolated import find_place


@njit_forceinline
def match_text(symbols, slot, depth, text, other, begin):
    """Return the number of equal symbols before two slots beyond `depth`, up to a beginning."""
    n = depth
    while text[other - 1 - n] == symbols[slot - 1 - n]:
        n += 1
        if text[other - n] == begin:
            break
    return n - depth


@njit
def reach(
    symbols, slots, positions, begin, child_ptr, symbol, above, cell_ptr, outcome, leaf, text,
    contexts, depths, cells, tails,
):  # fmt: skip
    """Write the longest context seen before each event, and the longest with its outcome."""
    # `contexts` are in the trie and have `depths` symbols; at a leaf, `tails` more agree with the
    # text. `cells` are of the outcome, in the longest context that has one; -1 if there is none.
    for i in range(slots.shape[0]):
        u = 0
        m = 0
        while m < positions[i]:
            far = symbols[slots[i] - 1 - m]
            v = find_place(far, symbol, child_ptr[u], child_ptr[u + 1])
            if v < 0:
                break
            u = v
            m += 1
        contexts[i] = u
        depths[i] = m
        tails[i] = 0
        if leaf.shape[0] > 0 and leaf[u] >= 0 and m < positions[i]:
            tails[i] = match_text(symbols, slots[i], m, text, leaf[u], begin)
        x = -1
        while u >= 0 and x < 0:
            x = find_place(symbols[slots[i]], outcome, cell_ptr[u], cell_ptr[u + 1])
            u = above[u]
        cells[i] = x


@njit_forceinline
def chain_backoff(chain, depth, n):
    """Return the share left by contexts of depth + 1, ..., depth + n symbols with one customer."""
    last = chain.shape[0] - 1
    share = 1.0
    while n > 0 and depth < last:
        depth += 1
        share *= chain[depth]
        n -= 1
    if n > 0:
        share *= chain[last] ** n
    return share


@njit
def add_probabilities_upwards(
    outcomes, contexts, depths, cells, tails, above, cell_above, node, mass, backoff, chain, base,
    total,
):  # fmt: skip
    """Add to `total` the probability of each event's outcome."""
    for i in range(outcomes.shape[0]):
        u = contexts[i]
        x = cells[i]
        p = 0.0
        share = 1.0
        if tails[i] > 0:
            share = chain_backoff(chain, depths[i], tails[i])
            if x >= 0 and node[x] == u:  # a leaf has one cell
                p = 1.0 - share
        while u >= 0:
            if x >= 0 and node[x] == u:
                p += share * mass[x]
                x = cell_above[x]
            share *= backoff[u]
            u = above[u]
        total[i] += p + share * base[outcomes[i]]


@njit
def add_distributions_upwards(
    contexts, depths, tails, above, cell_ptr, outcome, mass, backoff, chain, top, total
):
    """Add to the rows of `total` the distributions after contexts."""
    for i in range(contexts.shape[0]):
        u = contexts[i]
        share = 1.0
        if tails[i] > 0:
            share = chain_backoff(chain, depths[i], tails[i])
            total[i, outcome[cell_ptr[u]]] += 1.0 - share
        while u > 0:
            for x in range(cell_ptr[u], cell_ptr[u + 1]):
                total[i, outcome[x]] += share * mass[x]
            share *= backoff[u]
            u = above[u]
        for w in range(top.shape[0]):
            total[i, w] += share * top[w]


# Sequences drawn from a model that interpolates the contexts of a trie.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | child_ptr, symbol, above, leaf, text, cell_ptr, outcome | | | as above |
# | symbols | | (most + 1,) int32 | the beginning, `n_words`, then the output |
# | cumulative | | (X + 1,) | cumulative sums of mass over the preceding cells |
# | base_cumulative | H | (n_outcomes + 1,) | cumulative sums of the base |


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
    symbols, n_words, ends, child_ptr, symbol, above, leaf, text, cell_ptr, outcome,
    cumulative, base_cumulative, chain, rng,
):  # fmt: skip
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
