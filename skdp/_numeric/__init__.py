"""Numerical tools: kernels and their cache, SIMD, elementary functions, and random draws."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Places = NDArray[np.int64]
"""Integers: positions in other arrays, such as offsets, and numbers of states or clusters."""

Stream = NDArray[np.uint64]
"""State of a stream of random numbers, or a key from which streams are made, (4,)."""
