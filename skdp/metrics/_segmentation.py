"""How well a segmentation of a text agrees with the true one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array, check_count


def pk(true: ArrayLike, predicted: ArrayLike, k: int | None = None) -> float:
    """Compute P_k, the probability that a segmentation misjudges two units k apart.

    This is the share of pairs of units (sentences, paragraphs) i and i + k that lie in one segment
    according to `true` but not according to `predicted`, or vice versa [1]_.

    Parameters
    ----------
    true : array_like of bool or {0, 1}, shape (n_units - 1,)
        For each gap between neighboring units, whether a segment ends there.
    predicted : array_like of bool or {0, 1}, shape (n_units - 1,)
        The segmentation to judge.
    k : int, default=None
        Distance of the two units, in 1, ..., n_units - 1. None: half the mean length of the true
        segments, ``n_units / (2 n_segments)``, rounded, and at least 1.

    Returns
    -------
    error : float
        In [0, 1]; lower is better. With the default k, no boundaries, all boundaries and random
        boundaries have about 0.5.

    Raises
    ------
    ValueError
        If the sequences are not 1-D, have different lengths or no gaps, if they hold anything but 0
        and 1, or if `k` is out of range.

    See Also
    --------
    window_diff : Counts the boundaries between the two units.

    References
    ----------
    .. [1] D. Beeferman, A. Berger and J. Lafferty, "Statistical Models for Text Segmentation",
       Machine Learning 34, 1999.

    Examples
    --------
    >>> from skdp.metrics import pk
    >>> true, predicted = [0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0, 1, 0]
    >>> pk(true, true), pk(true, predicted, k=2)
    (0.0, 0.2857142857142857)
    """
    inside, guessed = _count_boundaries(true, predicted, k)
    return float(np.mean((inside > 0) != (guessed > 0)))


def window_diff(true: ArrayLike, predicted: ArrayLike, k: int | None = None) -> float:
    """Compute WindowDiff, the share of windows in which the number of boundaries is wrong.

    This is the share of pairs of units i and i + k between which the numbers of boundaries in
    `predicted` and `true` differ [1]_. Unlike `pk`, it does not overlook a boundary that is added
    next to a true one.

    Parameters
    ----------
    true : array_like of bool or {0, 1}, shape (n_units - 1,)
        For each gap between neighboring units (sentences, paragraphs), whether a segment ends
        there.
    predicted : array_like of bool or {0, 1}, shape (n_units - 1,)
        The segmentation to judge.
    k : int, default=None
        Distance of the two units, in 1, ..., n_units - 1. None: half the mean length of the true
        segments, ``n_units / (2 n_segments)``, rounded, and at least 1.

    Returns
    -------
    error : float
        In [0, 1]; lower is better. It is never below `pk` with the same `k`.

    Raises
    ------
    ValueError
        If the sequences are not 1-D, have different lengths or no gaps, if they hold anything but 0
        and 1, or if `k` is out of range.

    See Also
    --------
    pk : Counts only whether there is a boundary between the two.

    References
    ----------
    .. [1] L. Pevzner and M. A. Hearst, "A Critique and Improvement of an Evaluation Metric for
       Text Segmentation", Computational Linguistics 28, 2002.

    Examples
    --------
    >>> from skdp.metrics import pk, window_diff
    >>> true, predicted = [0, 0, 0, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0]
    >>> pk(true, predicted, k=3), window_diff(true, predicted, k=3)
    (0.2, 0.6)
    """
    inside, guessed = _count_boundaries(true, predicted, k)
    return float(np.mean(inside != guessed))


def _count_boundaries(
    true: ArrayLike, predicted: ArrayLike, k: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many boundaries both have between units i and i + k, for every i."""
    first, second = _check_boundaries(true, "true"), _check_boundaries(predicted, "predicted")
    n_gaps = len(first)
    if len(second) != n_gaps:
        raise ValueError(
            f"predicted must have as many entries as true, {n_gaps}, got {len(second)}."
        )
    if k is None:
        k = max(1, round((n_gaps + 1) / (2 * (int(first.sum()) + 1))))
    elif (k := check_count(k, "k", at_least=1)) > n_gaps:
        raise ValueError(f"k must be at most {n_gaps}, the number of gaps, got {k}.")
    sums = (np.concatenate([[0], np.cumsum(sequence)]) for sequence in (first, second))
    inside, guessed = (total[k:] - total[:-k] for total in sums)
    return inside, guessed


def _check_boundaries(boundaries: ArrayLike, name: str) -> NDArray[np.int64]:
    array = as_array(boundaries, name)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(
            f"{name} must be 1-D with an entry for each gap between units, at least one; "
            f"got shape {array.shape}."
        )
    if array.dtype.kind not in "biuf" or not np.all((array == 0) | (array == 1)):
        raise ValueError(f"{name} must hold only 0 and 1 (or False and True).")
    return array.astype(np.int64)
