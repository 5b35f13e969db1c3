"""Metrics of segmentations: boundaries of segments, and words found in strings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array, check_count, shorten


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
    true, predicted, k
        As in `pk`.

    Returns
    -------
    error : float
        In [0, 1]; lower is better. It is never below `pk` with the same `k`.

    Raises
    ------
    ValueError
        As in `pk`.

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


# Scores of words found in strings without spaces.


class SegmentationScores(NamedTuple):
    """Precision, recall and F of words, boundaries and word types: see `segmentation_scores`."""

    token_precision: float
    token_recall: float
    token_f: float
    boundary_precision: float
    boundary_recall: float
    boundary_f: float
    type_precision: float
    type_recall: float
    type_f: float


def segmentation_scores(
    true: Iterable[Sequence[Any]], predicted: Iterable[Sequence[Any]]
) -> SegmentationScores:
    """Compare words that were found in strings to the true ones.

    Parameters
    ----------
    true, predicted : lists of lists of words
        The words of each string: strings, or sequences of ids. Joined they must be the same.

    Returns
    -------
    SegmentationScores
        A named tuple of precision (share of the predicted that are true), recall (share of the true
        that are predicted) and F (their harmonic mean), each from 0 to 1, of

        - tokens: words with both ends right;
        - boundaries: cuts between two words, without the ends of strings;
        - types: distinct words, wherever they are.

        A share of nothing is 1 if there was nothing to find either, otherwise 0.

    Raises
    ------
    TypeError
        If an item is a text instead of the list of its words.
    ValueError
        If there are not as many strings, or the letters of a string differ.

    Notes
    -----
    The conventions of the package wordseg.

    Examples
    --------
    >>> from skdp.metrics import segmentation_scores
    >>> scores = segmentation_scores([["a", "dog", "ran"]], [["a", "dogran"]])
    >>> round(scores.token_f, 3), scores.boundary_precision, scores.boundary_recall
    (0.4, 1.0, 0.5)
    """
    true, predicted = list(true), list(predicted)
    for name, strings in (("true", true), ("predicted", predicted)):
        for i, words in enumerate(strings):
            if isinstance(words, str | bytes):
                raise TypeError(
                    f"{name}[{i}] must be the list of its words, got the text {shorten(words)}: "
                    "split it first."
                )
    if len(true) != len(predicted):
        raise ValueError(
            f"true and predicted must have as many strings, got {len(true)} and {len(predicted)}."
        )
    tokens, cuts = [0, 0, 0], [0, 0, 0]  # true, predicted, both
    types: tuple[set[Any], set[Any]] = (set(), set())
    for i, pair in enumerate(zip(true, predicted, strict=True)):
        spans, inner = [], []
        for words, seen in zip(pair, types, strict=True):
            ends = [0]
            for word in words:
                seen.add(_key(word))
                ends.append(ends[-1] + len(word))
            spans.append(set(pairwise(ends)))
            inner.append(set(ends[1:-1]))
        if _letters(pair[0]) != _letters(pair[1]):
            raise ValueError(f"true and predicted must have the same letters: string {i} has not.")
        for counts, (a, b) in ((tokens, spans), (cuts, inner)):
            counts[0] += len(a)
            counts[1] += len(b)
            counts[2] += len(a & b)
    of_types = [len(types[0]), len(types[1]), len(types[0] & types[1])]
    return SegmentationScores(*_shares(*tokens), *_shares(*cuts), *_shares(*of_types))


def _key(word: Any) -> Any:
    return word if isinstance(word, str) else tuple(word)


def _letters(words: Sequence[Any]) -> list[Any]:
    return [letter for word in words for letter in word]


def _shares(n_true: int, n_predicted: int, n_both: int) -> tuple[float, float, float]:
    """Return precision, recall and F."""
    precision = n_both / n_predicted if n_predicted else float(n_true == 0)
    recall = n_both / n_true if n_true else float(n_predicted == 0)
    total = precision + recall
    return precision, recall, 2.0 * precision * recall / total if total else 0.0
