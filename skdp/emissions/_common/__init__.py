"""Code that all emissions share: the interface of samplers, columns, marginals, clusters."""

import numpy as np
from numpy.typing import NDArray

Stream = NDArray[np.uint64]
"""State of a stream of random numbers, or a key from which streams are made, (4,)."""
