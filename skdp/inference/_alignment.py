"""Matching of labels between samples: labels of mixture components are exchangeable."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from skdp._numeric._numba import njit

_BLOCK = 1024


@njit
def _add_products(current, reference, out):
    """Add the sum over rows of the outer products of rows to `out`, skipping zeros.

    BLAS could compute this matrix product, but its threads would compete with joblib's, which on a
    busy machine took a hundred times as long as the product itself.
    """
    for w in range(current.shape[0]):
        for k in range(current.shape[1]):
            x = current[w, k]
            if x > 0.0:
                for m in range(reference.shape[1]):
                    out[k, m] += x * reference[w, m]


def align_labels(
    reference: NDArray[np.floating], current: NDArray[np.floating]
) -> NDArray[np.intp]:
    """Match the rows of two matrices of probabilities.

    Maximizes the sum of Bhattacharyya coefficients, that is minimizes the sum of squared
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
    similarity = np.zeros((len(current), len(reference)))
    for begin in range(0, current.shape[1], _BLOCK):  # in blocks, which avoids whole copies
        block = slice(begin, begin + _BLOCK)
        roots = (np.sqrt(rows[:, block].T, order="C") for rows in (current, reference))
        _add_products(*roots, similarity)
    return linear_sum_assignment(similarity, maximize=True)[1]
