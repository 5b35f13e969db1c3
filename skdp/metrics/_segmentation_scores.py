"""Scores of words found in strings without spaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from skdp._checks import shorten


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
