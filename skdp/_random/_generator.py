"""Random numbers for parts of a chain that users write."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._random._xoshiro import next_uint64


def make_generator(rng: NDArray[np.uint64]) -> np.random.Generator:
    """Return a numpy Generator that draws on from a chain's stream.

    A part of a chain gets the stream and must draw from nothing else: then equal seeds give equal
    fits, and a fit that was interrupted goes on as if it had not been.

    Parameters
    ----------
    rng : (4,) array of uint64
        What `draw` and `start` are given. It advances: the next Generator is another one.

    Returns
    -------
    numpy.random.Generator
    """
    return np.random.default_rng([int(next_uint64(rng)), int(next_uint64(rng))])
