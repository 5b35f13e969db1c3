"""Matching of labels between samples: labels of mixture components are exchangeable."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment


def align_labels(
    reference: NDArray[np.floating], current: NDArray[np.floating]
) -> NDArray[np.intp]:
    """Match the rows of two matrices of probabilities.

    Maximises the sum of Bhattacharyya coefficients, that is minimises the sum of squared
    Hellinger distances, by the Hungarian method.

    Parameters
    ----------
    reference, current : (K, W) arrays
        Non-negative rows with the same sum.

    Returns
    -------
    (K,) array
        Row k of `current` matches row ``result[k]`` of `reference`.
    """
    roots = (np.sqrt(rows, dtype=np.float32, casting="same_kind") for rows in (current, reference))
    similarity = next(roots) @ next(roots).T
    return linear_sum_assignment(similarity, maximize=True)[1]
