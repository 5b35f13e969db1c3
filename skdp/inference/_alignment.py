"""Matching of labels between samples: labels of mixture components are exchangeable."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from skdp._numeric._numba import njit

_BLOCK = 1024


@njit
def _add_products(current, reference, out):
    """Add the sum over rows of the outer products of rows to `out`, skipping zeros."""
    # Not by BLAS, whose threads would compete with joblib's: a hundred times slower when busy.
    for w in range(current.shape[0]):
        for k in range(current.shape[1]):
            x = current[w, k]
            if x > 0.0:
                for m in range(reference.shape[1]):
                    out[k, m] += x * reference[w, m]


def align_labels(
    reference: NDArray[np.floating], current: NDArray[np.floating]
) -> NDArray[np.intp]:
    """Match rows of probabilities: row k of `current` matches row ``result[k]`` of `reference`.
    The Hungarian method minimizes the sum of squared Hellinger distances.
    """
    similarity = np.zeros((len(current), len(reference)))
    for begin in range(0, current.shape[1], _BLOCK):  # in blocks, which avoids whole copies
        block = slice(begin, begin + _BLOCK)
        roots = (np.sqrt(rows[:, block].T, order="C") for rows in (current, reference))
        _add_products(*roots, similarity)
    return linear_sum_assignment(similarity, maximize=True)[1]
