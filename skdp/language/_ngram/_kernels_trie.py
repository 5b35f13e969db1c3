"""Look-ups in a trie of contexts.

| name | shape | meaning |
|---|---|---|
| symbols | (n_slots,) | symbols of sentences: a beginning, words, an end |
| slots, positions | (n_events,) | the slot of an event, and how many slots are before it |
| child_ptr, symbol | (U + 1,), (U,) | children of a context, and the far symbol of each context |
| contexts | (n_events, order) | what was found, by depth; -1: nothing |
"""

# mypy: ignore-errors

from skdp._numba import njit
from skdp.processes._kernels_interpolated import find_place


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
                    u = find_place(far, symbol, child_ptr[u], child_ptr[u + 1])
                else:
                    u = -1
            contexts[i, m] = u
