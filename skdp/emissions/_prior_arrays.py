"""Arrays that users give as parameters of priors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import LARGEST_SQUARED, as_floats, shorten


def is_symmetric(matrix: NDArray[np.float64]) -> bool:
    """Return whether a matrix is symmetric up to rounding on the scale of its diagonal."""
    deviations = np.sqrt(np.abs(np.diag(matrix)))
    bound = 1e-8 * np.multiply.outer(deviations, deviations)
    return bool(np.all(np.abs(matrix - matrix.T) <= bound))


def read_array(
    owner: Any, name: str, value: ArrayLike, shape: tuple[int, ...], n_dims: int
) -> NDArray[np.float64]:
    """Return a new array of finite numbers, or raise a ValueError that names the parameter."""
    kind = type(owner).__name__
    try:
        array = np.array(as_floats(value, name))
    except ValueError:
        raise ValueError(f"{kind}: {name} must hold numbers, got {shorten(value)}.") from None
    if array.shape != shape:
        raise ValueError(
            f"{kind}: {name} must be of shape {shape} for X of {n_dims} features, got "
            f"{array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{kind}: {name} must be finite.")
    if (np.abs(array) > LARGEST_SQUARED).any():
        raise ValueError(f"{kind}: {name} must hold numbers up to {LARGEST_SQUARED:g}.")
    return array
