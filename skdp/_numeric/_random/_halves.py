"""Random halves of groups, which are the same for the same content.

| name | shape | meaning |
|---|---|---|
| key | (4,) uint64 | key of all groups; a group's stream depends on it and its content |
| ptr | (J + 1,) | offsets of the items of each group |
| contents | (N width,) | the items, `width` integers each, in a fixed order within a group |
| is_second | (N,) | whether an item is in the second half |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly, njit_loop
from skdp._numeric._random._streams import Role, derive_stream, stream_of_content
from skdp._numeric._random._xoshiro import next_double


@njit_loop
def draw_second_halves(key, ptr, contents, width, lengths, is_second, rng):
    """Draw floor(n / 2) items of every group of n; all sets have the same probability.
    `lengths`, (1,) int64, and `rng` are scratch.
    """
    for j in range(ptr.shape[0] - 1):
        begin, end = ptr[j], ptr[j + 1]
        lengths[0] = end - begin
        stream_of_content(key, contents[begin * width : end * width], lengths, rng)
        n_missing = (end - begin) // 2
        for i in range(begin, end):
            is_second[i] = next_double(rng) * (end - i) < n_missing
            n_missing -= is_second[i]


def find_second_halves(ptr: NDArray[np.int64], contents: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the items in the second half of their group: floor(n / 2) of n items.
    The halves depend only on the group's content: they are the same in two models, fits or calls.
    """
    key = derive_stream(np.random.SeedSequence(0), Role.HALVES)
    width = contents.shape[1] if contents.ndim == 2 else 1
    is_second = np.empty(len(contents), dtype=np.bool_)
    lengths, rng = np.empty(1, dtype=np.int64), np.empty(4, dtype=np.uint64)
    draw_second_halves(
        key, as_readonly(ptr), as_readonly(contents.ravel()), width, lengths, is_second, rng
    )
    return is_second
