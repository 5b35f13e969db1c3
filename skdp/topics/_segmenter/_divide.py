"""Divisions of documents into parts, and what users say of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array, check_integers, is_number, shorten
from skdp.data import SegmentedCorpus
from skdp.topics._segmenter._arrays import LONGEST, KnownUnits, nothing_known
from skdp.topics._segmenter._kernels_divide import find_division


def check_known(corpus: SegmentedCorpus, y: Any, most: int | None) -> KnownUnits:
    """Return documents with the cuts that `y` says to be known.

    Labels of documents say nothing of cuts: a pipeline passes them to all of its steps.

    Raises
    ------
    ValueError
        If `y` does not fit the documents, or a part would be longer than `most` units.
    """
    data = nothing_known(corpus)
    if y is None:
        return data
    if hasattr(y, "__array__"):
        y = np.asarray(y)
    if isinstance(y, str) or not hasattr(y, "__len__") or len(y) != len(corpus):
        raise ValueError(
            f"y must have an array of known cuts for each of the {len(corpus)} documents, got "
            f"{shorten(y)}."
        )
    if all(np.ndim(given) == 0 and given is not None for given in y):
        return data
    for d, given in enumerate(y):
        if given is None:
            continue
        begin, end = int(corpus.doc_ptr[d]), int(corpus.doc_ptr[d + 1])
        cuts = as_array(given, f"y[{d}]")
        n_gaps = max(end - begin - 1, 0)
        if cuts.shape != (n_gaps,):
            raise ValueError(
                f"y[{d}] must have a value for each of the {n_gaps} gaps between the units of "
                f"document {d}, got shape {cuts.shape}."
            )
        if n_gaps == 0:
            continue
        if not np.isin(cuts, (-1, 0, 1)).all():
            raise ValueError(
                f"y[{d}] must hold 1 (a cut), 0 (no cut) and -1 (unknown), got {shorten(given)}."
            )
        data.known[begin + 1 : end] = cuts
        joined = np.diff(np.flatnonzero(np.concatenate([[True], cuts != 0, [True]])))
        if most is not None and joined.max() > most:
            raise ValueError(
                f"y[{d}] joins {joined.max()} units to one part, but max_units is {most}."
            )
    return data


def check_numbers(n_parts: Any, corpus: SegmentedCorpus) -> NDArray[np.int64]:
    """Return the number of parts of every document, 0 for those without units."""
    n_units = np.diff(corpus.doc_ptr)
    if is_number(n_parts):
        n_parts = np.full(len(corpus), n_parts)
    numbers = check_integers(n_parts, "n_parts")
    if numbers.shape != (len(corpus),):
        raise ValueError(
            f"n_parts must be an int, or one for each of the {len(corpus)} documents, got shape "
            f"{numbers.shape}."
        )
    wrong = np.flatnonzero((n_units > 0) & ((numbers < 1) | (numbers > n_units)))
    if len(wrong):
        d = wrong[0]
        raise ValueError(
            f"n_parts must be from 1 to the number of units, which is {n_units[d]} in document "
            f"{d}, got {numbers[d]}."
        )
    return np.where(n_units > 0, numbers, 0)


def divide(
    drawn: NDArray[np.int8],
    probabilities: NDArray[np.float64],
    sizes: NDArray[np.int64],
    n_parts: int,
    most_words: int | None,
) -> NDArray[np.int64]:
    """Return the first unit of each part but the first in the most probable division.

    Parameters
    ----------
    drawn : (U, S) array
        Draws of the beginnings of parts.
    probabilities : (U,) array
        Probabilities that a part begins at each unit.
    sizes : (U,) array
        Words of each unit.
    n_parts : int
        0: any number.
    most_words : int or None
    """
    n_units, n_draws = drawn.shape
    least = 0.5 / (n_draws + 1.0)
    best = np.empty((n_parts + 1, n_units + 1))
    starts = np.zeros(n_units, dtype=np.int8)
    find_division(
        n_parts, np.ascontiguousarray(drawn), np.asarray(sizes, dtype=np.int64),
        np.clip(probabilities, least, 1.0 - least), LONGEST if most_words is None else most_words,
        np.empty(n_units + 1), best, np.zeros(best.shape, dtype=np.int64), starts,
    )  # fmt: skip
    starts[:1] = 0
    return np.flatnonzero(starts)


def join_units(corpus: SegmentedCorpus, starts: NDArray[np.bool_]) -> SegmentedCorpus:
    """Return the corpus with parts, which begin at the marked units, in place of units."""
    ends = np.append(corpus.segment_ptr[:-1][starts], corpus.segment_ptr[-1])
    doc_ptr = np.append(0, np.cumsum(starts))[corpus.doc_ptr]
    return SegmentedCorpus(corpus.tokens, ends, doc_ptr, corpus.n_features)
