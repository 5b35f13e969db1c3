"""Divisions of documents into parts, and known cuts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array, check_integers, is_list_like, is_number, shorten
from skdp.data import SegmentedCorpus
from skdp.topics._segmenter._arrays import LONGEST, KnownUnits, nothing_known
from skdp.topics._segmenter._kernels_divide import find_division
from skdp.topics._segmenter._model import SegmenterModel
from skdp.topics._shared._expected_topics import expect_topics

RARE = 0.001  # of 200 topics about six are left in a unit of ten words
"""Expected number of words of a topic in a unit below which the topic is left out."""


def check_known(corpus: SegmentedCorpus, y: Any, most: int | None) -> KnownUnits:
    """Return documents with the known cuts of `y`; raise a ValueError if they do not fit."""
    data = nothing_known(corpus)
    if y is None:
        return data
    if hasattr(y, "__array__"):
        y = np.asarray(y)
    if not is_list_like(y) or len(y) != len(corpus):
        raise ValueError(
            f"y must have an array of known cuts for each of the {len(corpus)} documents, got "
            f"{shorten(y)}."
        )
    if any(isinstance(given, set | frozenset) for given in y):
        raise ValueError("y must hold arrays of known cuts, not sets of topics.")
    if not any(given is None or is_list_like(given) for given in y):
        return data  # labels of documents, which a pipeline passes to all of its steps
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


def check_numbers(n_parts: Any, corpus: SegmentedCorpus, most: int | None) -> NDArray[np.int64]:
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
    fewest = np.zeros(len(corpus), dtype=np.int64) if most is None else -(-n_units // most)
    if (numbers < fewest).any():
        d = int(np.argmax(numbers < fewest))
        raise ValueError(
            f"n_parts must be at least {fewest[d]} in document {d} of {n_units[d]} units, because "
            f"max_units is {most}; got {numbers[d]}."
        )
    return np.where(n_units > 0, numbers, 0)


def divide(
    corpus: SegmentedCorpus,
    models: list[SegmenterModel],
    shares: list[tuple[NDArray[Any], ...]],  # E[mu] (D, K), E[nu] of units (J, K), and more
    n_parts: NDArray[np.int64],  # (D,); 0: any number
    most_words: int | None,
) -> list[NDArray[np.int64]]:
    """Return the first unit of each part but the first in the most probable divisions."""
    log_cut, log_rest = np.mean(
        [[np.log(m.cut_probability), np.log1p(-m.cut_probability)] for m in models], axis=0
    )
    lengths, found = np.diff(corpus.segment_ptr), []
    for d, (begin, end) in enumerate(pairwise(corpus.doc_ptr.tolist())):
        n_units = end - begin
        tokens = corpus.tokens[corpus.segment_ptr[begin] : corpus.segment_ptr[end]]
        counts = np.stack([
            expect_topics(tokens, lengths[begin:end], nu[begin:end], model.components)
            for model, (_, nu, *_) in zip(models, shares, strict=True)
        ])  # fmt: skip
        bases = np.stack([
            model.concentration * mu[d] for model, (mu, *_) in zip(models, shares, strict=True)
        ])  # fmt: skip
        best = np.empty((n_parts[d] + 1, n_units + 1))
        starts = np.zeros(n_units, dtype=np.int8)
        find_division(
            int(n_parts[d]), drop_rare(counts), bases, np.ascontiguousarray(lengths[begin:end]),
            log_cut, log_rest, models[0].max_units or LONGEST,
            LONGEST if most_words is None else most_words, np.empty(bases.shape[1]),
            np.empty(n_units + 1), best, np.zeros(best.shape, dtype=np.int64), starts,
        )  # fmt: skip
        starts[:1] = 0
        found.append(np.flatnonzero(starts))
    return found


def drop_rare(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return expected counts (M, U, K) without rare topics, whose words go to the others."""
    kept = np.where(counts < RARE, 0.0, counts)
    sums = kept.sum(axis=2, keepdims=True)
    scaled = kept * counts.sum(axis=2, keepdims=True)
    # A unit all of whose topics are rare keeps them.
    return np.divide(scaled, sums, out=counts.copy(), where=sums > 0.0)


def join_units(corpus: SegmentedCorpus, starts: NDArray[np.bool_]) -> SegmentedCorpus:
    """Return the corpus with parts, which begin at the marked units, in place of units."""
    ends = np.append(corpus.segment_ptr[:-1][starts], corpus.segment_ptr[-1])
    doc_ptr = np.append(0, np.cumsum(starts))[corpus.doc_ptr]
    return SegmentedCorpus(corpus.tokens, ends, doc_ptr, corpus.n_features)
