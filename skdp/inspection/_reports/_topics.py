"""Reports of topic models."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count
from skdp.data import SegmentedCorpus, check_corpus
from skdp.inspection._axes import PALETTE, check_names, write_name
from skdp.inspection._reports._page import (
    check_target,
    choose_evenly,
    count_shown,
    escape,
    number,
    numbers,
    read_file,
    write_page,
)
from skdp.inspection._topic_evolution import shares_of
from skdp.topics._base import BaseTopicModel

# Numbers of a report.


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

    documents: SegmentedCorpus
    shares: NDArray[np.float64]
    """Topic shares of their segments, (n_segments, K)."""
    cut_proba: list[NDArray[np.float64]] | None
    cuts: list[NDArray[np.int64]] | None
    titles: list[str]


def weigh_topics(corpus: ReportedCorpus) -> NDArray[np.float64]:
    """Return expected numbers of tokens of the topics in some documents, (K,)."""
    weights: NDArray[np.float64] = np.diff(corpus.documents.segment_ptr) @ corpus.shares
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
    begin, end = corpus.documents.doc_ptr[d : d + 2].tolist()
    n_segments, document = end - begin, corpus.documents[d : d + 1]
    ptr, part_ptr, shares_of_all = document.segment_ptr, document.part_ptr, corpus.shares[begin:end]
    most = max(1, min(_MOST_COLUMNS, _COLUMNS_OF_PAGE // max(len(corpus.titles), 1)))
    width = max(1, -(-n_segments // most))
    edges = np.unique(np.minimum(np.arange(0, n_segments + width, width), n_segments))
    lengths = np.diff(ptr).astype(np.float64)
    columns, marked, sizes = [], [], []
    for first, last in pairwise(edges):
        weights = lengths[first:last]
        shares = np.average(
            shares_of_all[first:last], axis=0, weights=weights if weights.sum() > 0.0 else None
        )
        tokens = document.tokens[ptr[first] : ptr[last]]
        columns.append(_pack(shares[order], _MOST_SHARES))
        marked.append(_find_marked(tokens, log_p))
        sizes.append(len(tokens))
    ids, counts = np.unique(document.tokens, return_counts=True)
    if len(ids) > _MOST_WORDS:
        ids = np.sort(ids[np.argsort(-counts, kind="stable")[:_MOST_WORDS]])
    found = {
        "t": write_name(corpus.titles[d]),
        "n": len(document.tokens),
        "s": n_segments,
        "z": width,  # segments in a column
        "c": columns,  # their shares of topics
        "l": sizes,  # words in the columns
        "m": marked,  # words that stand out in the columns
        "w": ids,
    }
    if part_ptr is not None and corpus.cuts is None:
        found["p"] = np.unique(part_ptr[1:-1] // width).tolist()  # columns that begin a part
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


# The page of a report.


def topic_report(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    feature_names: ArrayLike | None = None,
    titles: Sequence[str] | None = None,
    title: str | None = None,
    n_words: int = 15,
    max_documents: int = 200,
) -> Path:
    """Write a page about a topic model: its topics, and documents as strips of their segments.

    The page is one HTML file that loads nothing from other places, so it can be sent by mail and
    opened without a network. A slider changes the relevance by which the words of topics are
    ordered, words and documents can be searched, and each document is a strip with a column for
    each segment, colored by the shares of topics. For a `TopicSegmenter`, the strips show the
    probabilities of cuts. The page can be used with a keyboard and with a screen reader, and has
    light and dark colors.

    Parameters
    ----------
    model : fitted topic model
        A model of `skdp.topics`.
    X : as for ``transform``
        The documents to show. They are folded in as new documents.
    path : str or path-like
        The file to write, such as "topics.html". An existing file is replaced once the page is
        complete.
    feature_names : (n_features,) array-like, default=None
        Names of the words. None: those of X or of the training data, if they had any, otherwise
        word ids.
    titles : list of n_documents str, default=None
        Titles of the documents. None: "document 0", "document 1", ...
    title : str, default=None
        Title of the page. None: the name of the class.
    n_words : int, default=15
        Number of words of each topic, >= 1.
    max_documents : int, default=200
        Largest number of documents, >= 1. If X has more, the page shows evenly spaced documents,
        and says so; a document of many segments is shown by means over neighboring segments.

    Returns
    -------
    Path
        `path`.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is not a topic model, or `path` is not a path.
    ValueError
        If X or another argument is invalid.
    OSError
        If there is no such folder, or the file cannot be written.

    See Also
    --------
    TopicEvolutionDisplay : Plots the topic shares of documents.
    state_report : Writes a page about a model of sequences.

    Notes
    -----
    The relevance of word w in topic k is lambda log p(w|k) + (1 - lambda) log(p(w|k) / p(w)), as in
    ``top_words``; p(w) is the mean of the topics weighted by their shares of the training words. If
    topics were given to ``from_topics``, the shares are those of the words that the page shows.

    References
    ----------
    C. Sievert and K. E. Shirley (2014). LDAvis: a method for visualizing and interpreting topics.
    Workshop on interactive language learning, visualization, and interfaces, ACL: (1).

    Examples
    --------
    >>> import tempfile
    >>> from skdp.datasets import make_segmented_corpus
    >>> from skdp.inspection import topic_report
    >>> from skdp.topics import SegmentedTopicModel
    >>> corpus = make_segmented_corpus(8, n_components=3, n_features=50, random_state=0).data
    >>> model = SegmentedTopicModel(3, max_iter=20, random_state=0).fit(corpus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = topic_report(model, corpus, f"{folder}/topics.html")
    ...     page.read_text(encoding="utf-8").count("<html")
    1
    """
    if not isinstance(model, BaseTopicModel):
        raise TypeError(
            f"model must be a topic model of skdp.topics, got {type(model).__name__}. The model of "
            "a pipeline is its last step, and X the output of the steps before."
        )
    target = check_target(path)
    check_is_fitted(model)
    n_words = min(check_count(n_words, "n_words", at_least=1), model.n_features_in_)
    max_documents = check_count(max_documents, "max_documents", at_least=1)
    everything = check_corpus(model, X, reset=False)
    n_documents = len(everything)
    why = ", one for each document of X"
    names = check_names(titles, "titles", n_documents, "document ", why)
    if feature_names is None:
        feature_names = everything._names
    words = model._word_names(feature_names)

    chosen = choose_evenly(n_documents, max_documents)
    samples = X
    if len(chosen) < n_documents:  # a data frame is kept: its columns have names to check
        rows = getattr(X, "iloc", X) if hasattr(X, "columns") else everything
        samples = rows[chosen.tolist()]
    proba = cuts = None
    if hasattr(model, "predict_proba"):
        proba, cuts = model.predict_proba(samples), model.predict(samples)
    shares, shown = shares_of(model, samples)[1], check_corpus(model, samples, reset=False)
    corpus = ReportedCorpus(shown, shares, proba, cuts, [names[d] for d in chosen])

    is_trained = hasattr(model, "_topic_tokens")
    weights = model._tokens_of_topics("topic_report") if is_trained else weigh_topics(corpus)
    given = [
        None if each is None else each.removeprefix(f"{k}: ")
        for k, each in enumerate(model._topic_names or model._given_names())
    ]
    data = collect_topics(model.components_, weights, corpus, given, words, n_words)
    return write_page(
        target,
        model,
        title,
        body=read_file("topics.html").format(
            first=FIRST_STEP / N_STEPS,
            step=FIRST_STEP,
            steps=N_STEPS,
            source="the training documents" if is_trained else "the documents of this page",
            topics="\n".join(_write_topic(topic, data) for topic in data["topics"]),
            documents=escape(count_shown(len(chosen), n_documents, "document")),
        ),
        notes=_write_notes(corpus, data),
        data=data,
        script="topics.js",
    )


def _write_topic(topic: dict[str, Any], data: dict[str, Any]) -> str:
    """Return a topic as HTML, for readers without scripts."""
    label = f"topic {topic['id']}" + ("" if topic["name"] is None else f" · {topic['name']}")
    words = ", ".join(map(escape, first_words(topic, data)))
    return f"<li><b>{escape(label)}</b> {100 * topic['share']:.1f} %<p>{words}</p></li>"


def _write_notes(corpus: ReportedCorpus, data: dict[str, Any]) -> list[str]:
    notes = [
        f"Words are ordered by λ log p(w|k) + (1 - λ) log(p(w|k) / p(w)) (Sievert and Shirley, "
        f"2014). The search covers {len(data['words']):,} words: all listed words, the most "
        "frequent words of the vocabulary, and the words of the documents on this page.",
        "Documents are folded in as new documents. Shares below half a percent are not drawn.",
    ]
    if any(document["z"] > 1 for document in data["documents"]):
        notes.append(
            "Documents with many segments are drawn by means over neighboring segments, weighted "
            "by their numbers of words."
        )
    if corpus.cuts is not None:
        notes.append(
            "Lines in strips are probabilities of cuts. Units that begin a part are those of the "
            "most probable division of the whole document."
        )
    elif corpus.documents.part_ptr is not None:
        notes.append("Lines in strips are the boundaries of the parts of documents.")
    return notes
