"""The numbers of a report on a topic model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.data._ragged import Offsets
from skdp.inspection._axes import PALETTE, write_name
from skdp.inspection._reports._page import number, numbers

N_STEPS = 20
"""Number of steps of the slider: relevances are computed for multiples of 1 / 20."""
FIRST_STEP = 12
"""First position of the slider: 0.6, as recommended by Sievert and Shirley."""
_N_SEARCHED = 5000
"""Number of most frequent words of the vocabulary that can always be searched."""
_MOST_COLUMNS, _COLUMNS_OF_PAGE = 400, 20_000
"""Most columns of the strip of a document, and of all strips."""
_N_MARKED = 8
"""Number of words that stand out in a column."""
_MOST_WORDS = 2000
"""Number of distinct words of a document that can be searched."""
_LEAST_SHARE, _MOST_SHARES = 5, 12
"""Least share of a topic in a column, in thousandths, and most topics of a column."""
_N_OWNERS = 5
"""Number of topics that are named for a word."""


class ReportedCorpus(NamedTuple):
    """The documents of a page."""

    doc_ptr: Offsets
    segment_ptr: Offsets
    tokens: NDArray[Any]
    shares: NDArray[np.float64]
    """Topic shares of their segments, (n_segments, K)."""
    part_ptr: Offsets | None
    cut_proba: list[NDArray[np.float64]] | None
    cuts: list[NDArray[np.int64]] | None
    titles: list[str]


def weigh_topics(corpus: ReportedCorpus) -> NDArray[np.float64]:
    """Return expected numbers of tokens of the topics in some documents, (K,)."""
    weights: NDArray[np.float64] = np.diff(corpus.segment_ptr) @ corpus.shares
    if not weights.sum() > 0.0:
        raise ValueError("X must have words if topics were given: they have no other shares.")
    return weights


def choose_words(
    log_phi: NDArray[np.float64], log_p: NDArray[np.float64], n_words: int
) -> NDArray[np.int64]:
    """Return words that are among the first `n_words` of a topic at some position of the slider."""
    possible = np.flatnonzero(np.isfinite(log_phi))
    n_words = min(n_words, len(possible))
    found = np.zeros(len(log_phi), dtype=bool)
    if n_words == 0:
        return possible
    for step in range(N_STEPS + 1):
        relevance = log_phi[possible] - (1.0 - step / N_STEPS) * log_p[possible]
        least = np.partition(relevance, len(possible) - n_words)[len(possible) - n_words]
        near = np.flatnonzero(relevance >= least)  # more than n_words if some are equal
        order = np.argsort(-relevance[near], kind="stable")[:n_words]
        found[possible[near[order]]] = True
    return np.flatnonzero(found)


def collect_topics(
    components: NDArray[np.float64],
    weights: NDArray[np.float64],
    corpus: ReportedCorpus,
    names: Sequence[str | None],
    words: NDArray[Any],
    n_words: int,
) -> dict[str, Any]:
    """Return the data of a page; `weights` are the topics' expected numbers of tokens, (K,)."""
    shares = weights / weights.sum()
    marginal = shares @ components
    with np.errstate(divide="ignore"):
        log_phi, log_p = np.log(components), np.log(marginal)
    log_p[marginal <= 0.0] = 0.0  # such words are in no topic
    order = np.argsort(-shares, kind="stable")
    chosen = [choose_words(log_phi[k], log_p, n_words) for k in order]
    documents = [_describe(corpus, d, order, log_p) for d in range(len(corpus.titles))]

    frequent = np.argsort(-marginal, kind="stable")[:_N_SEARCHED]
    in_documents = [each for document in documents for each in (document["w"], *document["m"])]
    known = np.unique(np.concatenate([*chosen, frequent, *in_documents]).astype(np.int64))
    for document in documents:
        document["w"] = np.searchsorted(known, document["w"]).tolist()
        document["m"] = [np.searchsorted(known, each).tolist() for each in document["m"]]
    return {
        "palette": PALETTE,
        "steps": N_STEPS,
        "first": FIRST_STEP,
        "n_words": n_words,
        "words": [write_name(str(word)) for word in words[known]],
        "log_p": numbers(log_p[known]),
        "owners": _find_owners(components[:, known], shares, order),
        "topics": [
            {
                "id": int(k),
                "name": None if names[k] is None else write_name(str(names[k])),
                "share": number(shares[k]),
                "words": np.searchsorted(known, own).tolist(),
                "log_phi": numbers(log_phi[k, own]),
            }
            for k, own in zip(order, chosen, strict=True)
        ],
        "documents": documents,
    }


def first_words(topic: dict[str, Any], data: dict[str, Any], step: int = FIRST_STEP) -> list[str]:
    """Return the words of a topic in the order of the page at a position of the slider."""
    weight = 1.0 - step / N_STEPS
    relevance = [
        -(log_phi - weight * data["log_p"][word])
        for word, log_phi in zip(topic["words"], topic["log_phi"], strict=True)
    ]
    order = np.argsort(relevance, kind="stable")[: data["n_words"]]
    return [data["words"][topic["words"][i]] for i in order]


def _find_owners(
    components: NDArray[np.float64], shares: NDArray[np.float64], order: NDArray[np.int64]
) -> list[list[int]]:
    """Return for each word the ranks and shares (thousandths), by turns, of its largest topics."""
    joint = shares[order, None] * components[order]
    total = joint.sum(axis=0)
    posterior = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0.0)
    return [_pack(column, _N_OWNERS) for column in np.ascontiguousarray(posterior.T)]


def _pack(shares: NDArray[np.float64], most: int) -> list[int]:
    """Return the largest shares, in thousandths, after their positions."""
    thousandths = np.rint(1000.0 * shares).astype(np.int64)
    kept = np.flatnonzero(thousandths >= _LEAST_SHARE)
    if len(kept) > most:
        kept = np.sort(kept[np.argsort(-thousandths[kept], kind="stable")[:most]])
    return np.column_stack([kept, thousandths[kept]]).ravel().tolist()


def _describe(
    corpus: ReportedCorpus, d: int, order: NDArray[np.int64], log_p: NDArray[np.float64]
) -> dict[str, Any]:
    """Return a document for the page, with word ids in place of positions in its list of words."""
    begin, end = corpus.doc_ptr[d : d + 2].tolist()
    n_segments = end - begin
    most = max(1, min(_MOST_COLUMNS, _COLUMNS_OF_PAGE // max(len(corpus.titles), 1)))
    width = max(1, -(-n_segments // most))
    edges = np.minimum(np.arange(begin, end + width, width), end) if n_segments else [begin]
    edges = np.unique(edges)
    lengths = np.diff(corpus.segment_ptr[begin : end + 1]).astype(np.float64)
    columns, marked, sizes = [], [], []
    for first, last in pairwise(edges):
        weights = lengths[first - begin : last - begin]
        shares = np.average(
            corpus.shares[first:last], axis=0, weights=weights if weights.sum() > 0.0 else None
        )
        tokens = corpus.tokens[corpus.segment_ptr[first] : corpus.segment_ptr[last]]
        columns.append(_pack(shares[order], _MOST_SHARES))
        marked.append(_find_marked(tokens, log_p))
        sizes.append(len(tokens))
    tokens = corpus.tokens[corpus.segment_ptr[begin] : corpus.segment_ptr[end]]
    ids, counts = np.unique(tokens, return_counts=True)
    if len(ids) > _MOST_WORDS:
        ids = np.sort(ids[np.argsort(-counts, kind="stable")[:_MOST_WORDS]])
    found = {
        "t": write_name(corpus.titles[d]),
        "n": len(tokens),
        "s": n_segments,
        "z": width,  # segments in a column
        "c": columns,  # their shares of topics
        "l": sizes,  # words in the columns
        "m": marked,  # words that stand out in the columns
        "w": ids,
    }
    if corpus.part_ptr is not None and corpus.cuts is None:
        inner = corpus.part_ptr[(corpus.part_ptr > begin) & (corpus.part_ptr < end)]
        # columns that begin a part of the corpus
        found["p"] = np.unique((inner - begin) // width).tolist()
    if corpus.cut_proba is not None and corpus.cuts is not None:
        places = (np.arange(len(corpus.cut_proba[d])) + 1) // width
        largest = np.zeros(max(len(columns), 1))
        np.maximum.at(largest, places, corpus.cut_proba[d])
        found["q"] = _pack(largest, len(largest))  # columns, and the probability of a cut before
        found["r"] = corpus.cuts[d].tolist()  # units that begin a part of the best division
    return found


def _find_marked(tokens: NDArray[Any], log_p: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the words that are most frequent in comparison with the corpus."""
    ids, counts = np.unique(tokens, return_counts=True)
    gain = counts * (np.log(counts / max(len(tokens), 1)) - log_p[ids])
    best = np.argsort(-gain, kind="stable")[:_N_MARKED]
    return ids[best[gain[best] > 0.0]].astype(np.int64)
