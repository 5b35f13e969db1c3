"""Type aliases for arrays."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Places = NDArray[np.int64]
"""Positions in other arrays: offsets, pointers."""
