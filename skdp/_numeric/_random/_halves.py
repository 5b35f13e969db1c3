"""Groups cut into random halves: the same halves for the same content.

| name | shape | meaning |
|---|---|---|
| ptr | (J + 1,) | where the items of each group begin |
| contents | (N width,) | the items, `width` integers each, those of a group in a fixed order |
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
    """Draw floor(n / 2) items of every group of n, each set of them with the same probability.

    Parameters
    ----------
    key : (4,) uint64
    ptr : (J + 1,) int64
    contents : (N width,) integers
    width : int
    lengths : (1,) int64
        Scratch.
    is_second : (N,) bool, output
    rng : (4,) uint64
        Scratch: the stream of a group is a function of `key` and the group's content.
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
    """Return which items are in the second half of their group, floor(n / 2) of n items.

    The halves of a group are random, but depend only on its own content: two models, two fits and
    two calls have the same ones.

    Parameters
    ----------
    ptr : (J + 1,) array of int64
    contents : (N,) or (N, width) array of integers
        Items. The halves of a group do not depend on the order of its items if the caller sorts
        them.

    Returns
    -------
    (N,) array of bool
    """
    key = derive_stream(np.random.SeedSequence(0), Role.HALVES)
    width = contents.shape[1] if contents.ndim == 2 else 1
    is_second = np.empty(len(contents), dtype=np.bool_)
    lengths, rng = np.empty(1, dtype=np.int64), np.empty(4, dtype=np.uint64)
    draw_second_halves(
        key, as_readonly(ptr), as_readonly(contents.ravel()), width, lengths, is_second, rng
    )
    return is_second
