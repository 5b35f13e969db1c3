"""Numerical tools: kernels and their cache, SIMD, elementary functions, and random draws."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Places = NDArray[np.int64]
"""Positions in other arrays: offsets, pointers."""
