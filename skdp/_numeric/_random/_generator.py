"""Random number generators for user-defined parts of a chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random._xoshiro import next_uint64


def make_generator(rng: NDArray[np.uint64]) -> np.random.Generator:
    """Return a numpy Generator that continues the stream of a chain.

    A part of a chain must draw from this stream only. Then equal seeds give equal fits, and an
    interrupted fit continues as if it had not been interrupted.

    Parameters
    ----------
    rng : (4,) array of uint64
        The stream that is passed to `draw` and `start`. It advances, so the next Generator is
        different.

    Returns
    -------
    numpy.random.Generator
    """
    return np.random.default_rng([int(next_uint64(rng)), int(next_uint64(rng))])
