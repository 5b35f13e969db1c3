"""Look-ups in a trie of contexts.

| name | shape | meaning |
|---|---|---|
| symbols | (n_slots,) | symbols of sentences: a beginning, words, an end |
| slots, positions | (n_events,) | the slot of an event, and how many slots of its sentence precede |
| child_ptr, symbol | (U + 1,), (U,) | children of a context, and the far symbol of each context |
| cell_ptr, outcome | (U + 1,), (X,) | cells of a context, and the outcome of each cell |
| contexts, cells | (n_events, order) | what was found, by depth; -1: nothing |
"""

from skdp._numba import njit, njit_step


@njit_step
def _find(value, values, first, last):
    """Return the place of a value in ``values[first:last]``, which rise; -1 if it is not there."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if values[middle] < value:
            first = middle + 1
        else:
            last = middle
    if first < end and values[first] == value:
        return first
    return -1


@njit
def find_contexts(symbols, slots, positions, child_ptr, symbol, contexts):
    """Write the contexts of events that were seen, from the empty one on."""
    for i in range(slots.shape[0]):
        u = 0
        contexts[i, 0] = 0
        for m in range(1, contexts.shape[1]):
            if u >= 0:
                if positions[i] >= m:
                    far = symbols[slots[i] - m]
                    u = _find(far, symbol, child_ptr[u], child_ptr[u + 1])
                else:
                    u = -1
            contexts[i, m] = u


@njit
def find_cells(outcomes, contexts, cell_ptr, outcome, cells):
    """Write the cells of outcomes in their contexts."""
    for i in range(contexts.shape[0]):
        for m in range(contexts.shape[1]):
            u = contexts[i, m]
            x = -1
            if u >= 0:
                x = _find(outcomes[i], outcome, cell_ptr[u], cell_ptr[u + 1])
            cells[i, m] = x
