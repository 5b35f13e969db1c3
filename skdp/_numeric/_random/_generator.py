"""Random numbers for parts of a chain that users write."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random._xoshiro import next_uint64


def make_generator(rng: NDArray[np.uint64]) -> np.random.Generator:
    """Return a numpy Generator that continues the stream of a chain.

    A part of a chain is given the stream and must draw from nothing else. Then equal seeds give
    equal fits, and an interrupted fit continues as if it had not been interrupted.

    Parameters
    ----------
    rng : (4,) array of uint64
        The stream that `draw` and `start` are given. It advances, so the next Generator is another
        one.

    Returns
    -------
    numpy.random.Generator
    """
    return np.random.default_rng([int(next_uint64(rng)), int(next_uint64(rng))])
