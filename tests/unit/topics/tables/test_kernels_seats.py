"""The tables of SSA one by one, in long lists."""

import numpy as np

from skdp._numeric._numba import njit
from skdp.topics._tables._kernels_seats import LONG_WALK, take_seat

N_TABLES = 3 * LONG_WALK
DISCOUNT = 0.3


@njit
def take(target, heads, links, sizes):
    take_seat(0, 0, target, DISCOUNT, heads, links, sizes)


def in_order(heads, links):
    seats, seat = [], heads[0, 0]
    while seat >= 0:
        seats.append(int(seat))
        seat = links[seat]
    return seats


def test_a_table_far_down_moves_to_the_head():
    """Each table is chosen at its share of the running sum, in any order."""
    rng = np.random.default_rng(0)
    order = rng.permutation(N_TABLES)
    sizes = rng.integers(1, 50, N_TABLES).astype(np.int32)
    heads = np.full((1, 1), order[0], dtype=np.int32)
    links = np.empty(N_TABLES, dtype=np.int32)
    links[order] = np.append(order[1:], -1)
    for position in [*rng.integers(0, N_TABLES, 200), LONG_WALK - 1, LONG_WALK, N_TABLES - 1]:
        before, old_sizes = in_order(heads, links), sizes.copy()
        ends = np.cumsum(sizes[before] - DISCOUNT)
        seat = before[position]
        take(ends[position] - 0.5 * (1.0 - DISCOUNT), heads, links, sizes)
        old_sizes[seat] += 1
        np.testing.assert_array_equal(sizes, old_sizes)
        rest = [other for other in before if other != seat]
        expected = before if position < LONG_WALK else [seat, *rest]
        assert in_order(heads, links) == expected
