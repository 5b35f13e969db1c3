"""Reports of topic models."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count
from skdp._result_line import describe_result
from skdp.data import check_corpus
from skdp.inspection._axes import as_names
from skdp.inspection._reports._page import check_target, escape, write_page
from skdp.inspection._reports._topic_data import (
    FIRST_STEP,
    N_STEPS,
    ReportedCorpus,
    collect_topics,
    first_words,
    weigh_topics,
)
from skdp.inspection._topic_models import shares_of
from skdp.topics._base import BaseTopicModel

_BODY = """<section aria-labelledby="topics-title">
<h2 id="topics-title">Topics</h2>
<div class="controls" id="topic-controls" hidden>
<div><label for="relevance">Relevance of words, &lambda; = <output id="relevance-value" \
for="relevance">{first:.2f}</output></label>
<input type="range" id="relevance" min="0" max="{steps}" step="1" value="{step}" \
aria-describedby="relevance-note">
<p class="note" id="relevance-note">1: the most probable words. 0: words that other topics \
lack.</p></div>
<div><label for="words">Search words</label>
<input type="search" id="words" autocomplete="off" aria-describedby="words-found">
<p class="status" id="words-found" role="status"></p></div>
</div>
<p class="note">The percentage is the share of a topic in the words of {source}.</p>
<ol class="topics" id="topics">
{topics}
</ol>
</section>
<section aria-labelledby="documents-title">
<h2 id="documents-title">Documents</h2>
<p class="note">{documents}</p>
<div id="documents" hidden>
<div class="controls"><div><label for="titles">Search documents by title or word</label>
<input type="search" id="titles" autocomplete="off" aria-describedby="documents-found"></div></div>
<p class="status" id="documents-found" role="status"></p>
<p class="note" id="key"></p>
<div id="strips"></div>
<button type="button" id="more" hidden>Show more documents</button>
</div>
</section>"""


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
    if titles is None:
        names = [f"document {d}" for d in range(n_documents)]
    else:
        names = as_names(titles, "titles", n_documents, ", one for each document of X")
    if feature_names is None:
        feature_names = everything._names
    words = model._word_names(feature_names)

    chosen = np.arange(n_documents)
    if n_documents > max_documents:
        chosen = np.unique(np.linspace(0, n_documents - 1, max_documents).round().astype(np.int64))
    samples = X
    if len(chosen) < n_documents:  # a data frame is kept: its columns have names to check
        rows = getattr(X, "iloc", X) if hasattr(X, "columns") else everything
        samples = rows[chosen.tolist()]
    corpus = _read(model, samples, [names[d] for d in chosen])

    is_trained = hasattr(model, "_topic_tokens")
    weights = model._tokens_of_topics("topic_report") if is_trained else weigh_topics(corpus)
    given = [
        None if each is None else each.removeprefix(f"{k}: ")
        for k, each in enumerate(model._topic_names or model._given_names())
    ]
    data = collect_topics(model.components_, weights, corpus, given, words, n_words)
    name = type(model).__name__
    return write_page(
        target,
        title=name if title is None else str(title),
        summary=f"{name}: {describe_result(model)}",
        body=_BODY.format(
            first=FIRST_STEP / N_STEPS,
            step=FIRST_STEP,
            steps=N_STEPS,
            source="the training documents" if is_trained else "the documents of this page",
            topics="\n".join(_write_topic(topic, data) for topic in data["topics"]),
            documents=escape(_count_documents(len(chosen), n_documents)),
        ),
        notes=_write_notes(corpus, data),
        data=data,
        script="topics.js",
    )


def _read(model: Any, samples: Any, titles: list[str]) -> ReportedCorpus:
    """Return the documents of the page with the model's results for them."""
    corpus = check_corpus(model, samples, reset=False)
    proba = cuts = None
    if hasattr(model, "predict_proba"):
        proba, cuts = model.predict_proba(samples), model.predict(samples)
    return ReportedCorpus(
        corpus.doc_ptr,
        corpus.segment_ptr,
        corpus.tokens,
        shares_of(model, samples)[1],
        corpus.part_ptr,
        proba,
        cuts,
        titles,
    )


def _count_documents(n_shown: int, n_documents: int) -> str:
    if n_shown == n_documents:
        return f"{n_documents:,} document{'' if n_documents == 1 else 's'}."
    return f"A sample of {n_shown:,} of {n_documents:,} documents, evenly spaced."


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
    elif corpus.part_ptr is not None:
        notes.append("Lines in strips are the boundaries of the parts of documents.")
    return notes
