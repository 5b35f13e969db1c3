"""Descriptions of topics for readers: words, documents, a table, a tree, and merged topics."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import entropy
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count, check_how_many, check_word_names, is_number
from skdp._merge_tree import MergeTree, check_at_most
from skdp._numeric import Floats, Places
from skdp.data import SegmentedCorpus, check_corpus
from skdp.metrics import hellinger_distance
from skdp.topics._kernels._counts import merge_topics
from skdp.topics._shared._fold_in import expect_topics

# A table of topics with their sizes and top words.


REST = -1
"""Number in the shared row of all topics that have no separate row."""


class TopicRow(NamedTuple):
    """A row of the table, which describes one topic, or the rest of them."""

    topic: int
    share: float
    n_tokens: float
    top_words: list[Any]


class TopicTable(Sequence[TopicRow]):
    """Rows of a table of topics, shown as text.

    Parameters
    ----------
    rows : list of TopicRow
    names : list of str or None
        Names of all topics; None for a topic that is shown by its number.
    """

    def __init__(self, rows: list[TopicRow], names: list[str | None]):
        self._rows = rows
        self._names = names

    @overload
    def __getitem__(self, place: int) -> TopicRow: ...

    @overload
    def __getitem__(self, place: slice) -> TopicTable: ...

    def __getitem__(self, place: int | slice) -> TopicRow | TopicTable:
        """Return a row, or a table of some of them."""
        rows = self._rows[place]
        return TopicTable(rows, self._names) if isinstance(rows, list) else rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __repr__(self) -> str:
        shown = [self._show(row.topic) for row in self]
        width = max(5, *map(len, shown))
        lines = [f"{'topic':<{width}}  share    n_tokens  top_words"]
        for topic, row in zip(shown, self, strict=True):
            words = " ".join(map(str, row.top_words))
            lines.append(f"{topic:>{width}}  {row.share:5.3f}  {row.n_tokens:10.1f}  {words}")
        return "\n".join(lines)

    def _show(self, topic: int) -> str:
        """Return the name or the number of a topic."""
        if topic == REST:
            return "rest"
        name = self._names[topic]
        return str(topic) if name is None else name


# Representative segments, whose topics are the most similar to the topics of their part.


def choose_representatives(
    corpus: SegmentedCorpus,
    segment_topic: Floats,
    components: NDArray[np.floating],
    n_segments: int,
) -> list[Places]:
    """Return up to `n_segments` segments of each document, in reading order."""
    lengths, part_ptr = np.diff(corpus.segment_ptr), corpus._own_parts()
    found = []
    for begin, end in pairwise(corpus.doc_ptr.tolist()):
        first, last = np.searchsorted(part_ptr, (begin, end))
        tokens = corpus.tokens[corpus.segment_ptr[begin] : corpus.segment_ptr[end]]
        sums = expect_topics(tokens, lengths[begin:end], segment_topic[begin:end], components)
        ranked = [
            b - begin + _rank(sums[b - begin : e - begin])
            for b, e in pairwise(part_ptr[first : last + 1].tolist())
        ]
        n_words = [int(lengths[begin + segments].sum()) for segments in ranked]
        chosen = _share_out(n_words, [len(segments) for segments in ranked], n_segments)
        kept = [segments[:n] for segments, n in zip(ranked, chosen, strict=True)]
        found.append(np.sort(np.concatenate([np.empty(0, dtype=np.int64), *kept])))
    return found


def _rank(sums: Floats) -> Places:
    """Return the segments of a part that have words, the nearest to the whole part first."""
    filled = np.flatnonzero(sums.sum(axis=1))
    if len(filled) == 0:
        return filled
    distances = hellinger_distance(sums[filled], sums.sum(axis=0, keepdims=True))[:, 0]
    return filled[np.argsort(distances, kind="stable")]


def _share_out(n_words: list[int], limits: list[int], n: int) -> list[int]:
    """Return how many segments parts get: one, the largest first, then by words per segment."""
    chosen = [0] * len(n_words)
    for _ in range(min(n, sum(limits))):
        open_parts = [p for p, limit in enumerate(limits) if chosen[p] < limit]
        best = max(open_parts, key=lambda p: (chosen[p] == 0, n_words[p] / (chosen[p] + 1)))
        chosen[best] += 1
    return chosen


# Words, names and documents of topics.


_N_TOP_WORDS, _N_DOCUMENTS, _N_NAME_WORDS, _N_ROWS = 10, 5, 3, 20


class WordsOfTopicsMixin:
    """Mixin of the topic models: topics as people read them, and views with fewer topics."""

    components_: Floats
    doc_topic_: Floats
    n_features_in_: int
    _topic_tokens: Floats
    """Expected numbers of training tokens of the topics, (K,); missing if topics were given."""

    _documents_share_topics: bool
    _topic_names: list[str] | None = None
    """Names set by `name_topics`; a fit discards them."""

    _rest_of_tree: MergeTree | None = None
    """Tree of a coarse view; a fit discards it."""

    def top_words(
        self,
        feature_names: ArrayLike | None = None,
        n: int | None = None,
        *,
        weights: bool = False,
        relevance: float = 1.0,
    ) -> list[list[Any]]:
        """Return the most probable, or the most relevant, words of every topic.

        Parameters
        ----------
        feature_names : (n_features,) array-like or None
            Names of the words, such as those from a vectorizer's ``get_feature_names_out()``.
            None: the column names of `fit` if X was a data frame, otherwise word ids.
        n : int or None, default=None
            Number of words per topic, at most `n_features_in_`. None: 10, or all words if there are
            fewer.
        weights : bool, default=False
            Whether to return pairs (name, probability of the word in the topic) instead of names.
        relevance : float, default=1.0
            The lambda of [1]_, in [0, 1]: words are ordered by ``lambda log p(w|k) + (1 - lambda)
            log(p(w|k) / p(w))``. 1 orders by probability, which favors words that are frequent
            everywhere; 0 orders by lift, which favors words that are rare elsewhere, even if they
            are rare here, too. 0.6 is a good start.

        Returns
        -------
        list of n_components lists of n names or pairs
            The first is the most probable, or relevant, word of its topic.

        Raises
        ------
        ValueError
            If an argument is out of range, or if `relevance` is below 1 and topics were given to
            `from_topics`: without training documents they have no shares.

        Notes
        -----
        p(w) is the sum over topics of ``components_`` weighted by their shares of the training
        tokens: the probability of a word of the training corpus under the model. So no word, not
        even one that is not in the corpus, has a lift of more than one over the share of the topic.

        References
        ----------
        .. [1] C. Sievert and K. E. Shirley (2014). LDAvis: a method for visualizing and
           interpreting topics. Workshop on interactive language learning, visualization, and
           interfaces, ACL.
        """
        check_is_fitted(self)
        names = self._word_names(feature_names)
        n_words = self.n_features_in_
        n = check_how_many(n, "n", _N_TOP_WORDS, n_words, f"n_features={n_words}")
        order = np.argsort(-self._relevance(relevance), axis=1, kind="stable")[:, :n]
        if not weights:
            return [names[row].tolist() for row in order]
        found = np.take_along_axis(self.components_, order, axis=1)
        return [
            list(zip(names[row].tolist(), of_topic.tolist(), strict=True))
            for row, of_topic in zip(order, found, strict=True)
        ]

    def name_topics(
        self,
        feature_names: ArrayLike | None = None,
        n: int | None = None,
        *,
        relevance: float = 1.0,
    ) -> Self:
        """Name the topics by their top words, and use these names for the columns of `transform`.

        A name is the number of the topic (or its name in `topic_names_`) and its words, such as "0:
        court, judge, law". After
        ``set_output(transform="pandas")`` data frames have these names, and
        `get_feature_names_out` returns them. They last until the next `fit`, and a clone has none.

        Parameters
        ----------
        feature_names : (n_features,) array-like or None
            As in `top_words`.
        n : int or None, default=None
            Number of words in a name, at most `n_features_in_`. None: 3, or all words if there are
            fewer.
        relevance : float, default=1.0
            As in `top_words`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an argument is invalid, as in `top_words`.
        TypeError
            If the columns are not topics of words (`LatentDirichletCoClustering`).
        """
        check_is_fitted(self)
        if not self._documents_share_topics:
            raise TypeError(
                f"{type(self).__name__}.transform returns shares of topics of segments, which have "
                "no words to be named by."
            )
        if n is None:
            n = min(_N_NAME_WORDS, self.n_features_in_)
        words = self.top_words(feature_names, n, relevance=relevance)
        self._topic_names = self._name_by_words(words)
        return self

    def _name_by_words(self, words: list[Any]) -> list[str]:
        """Return names of topics followed by words, numbers where there is no name."""
        names = enumerate(self._given_names())
        return [
            f"{k if name is None else name}: {', '.join(map(str, row))}"
            for (k, name), row in zip(names, words, strict=True)
        ]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : ignored
            Present by scikit-learn's convention.

        Returns
        -------
        (n_features_out,) array of str objects
            The lower-case name of the class and the number of the column, such as "gibbslda0",
            unless the topic has a name in `topic_names_`, or `name_topics` has named the topics by
            their words.
        """
        check_is_fitted(self)
        if self._topic_names is not None:
            return np.array(self._topic_names, dtype=object)
        estimator: Any = super()
        names = np.asarray(estimator.get_feature_names_out(input_features))
        if self._documents_share_topics:
            for k, name in enumerate(self._given_names()):
                names[k] = names[k] if name is None else name
        return names

    def representative_documents(
        self, X: Any = None, n_documents: int | None = None
    ) -> NDArray[np.intp]:
        """Return the documents in which every topic has its largest shares.

        Parameters
        ----------
        X : as in `fit`, or None
            None: the training documents, by their shares in `doc_topic_`. Otherwise documents are
            folded in as by `transform`.
        n_documents : int or None, default=None
            Number of documents per topic, at most the number in X. None: 5, or all documents if
            there are fewer.

        Returns
        -------
        (n_topics, n_documents) array of int
            Indices of documents in X, in decreasing order of share. The rows are the columns of
            ``transform(X)``.

        Raises
        ------
        ValueError
            If `n_documents` is out of range, or X is None and there are no training documents.
        """
        check_is_fitted(self)
        if X is None and not hasattr(self, "doc_topic_"):
            raise ValueError(
                "X must be given if topics are given: there are no training documents."
            )
        estimator: Any = self
        shares = np.asarray(self.doc_topic_) if X is None else estimator.transform(X)
        largest = f"the number of documents, {len(shares)}"
        n = check_how_many(n_documents, "n_documents", _N_DOCUMENTS, len(shares), largest)
        return np.argsort(-shares.T, axis=1, kind="stable")[:, :n]

    def representative_segments(self, X: Any, n_segments: int = 3) -> list[Places]:
        """Return representative segments of every document, such as for a summary.

        The topics of their words are the most similar to the topics of the whole document by the
        Hellinger distance. In a document that is divided into parts (`SegmentedCorpus.part_ptr`)
        they are the most similar to their part, and spread over the parts: every part gets one, the
        part with the most words first; each further one goes to the part in which it represents the
        most words.

        Parameters
        ----------
        X : as in `fit`
            Documents are folded in as by `transform_segments`.
        n_segments : int, default=3
            Number of segments of each document, at least 1. If fewer segments of a document have
            words, all of these are returned.

        Returns
        -------
        list of n_documents arrays of int
            Indices of segments, counted from 0 in their document, in reading order.

        Raises
        ------
        ValueError
            If `n_segments` or X is invalid.
        """
        check_is_fitted(self)
        n_segments = check_count(n_segments, "n_segments", at_least=1)
        estimator: Any = self
        corpus = check_corpus(estimator, X, reset=False)
        shares = estimator._fold_in(X)[1]
        return choose_representatives(corpus, shares, self.components_, n_segments)

    def summary(
        self,
        feature_names: ArrayLike | None = None,
        n: int | None = None,
        *,
        n_topics: int | None = _N_ROWS,
        min_share: float = 0.0,
        relevance: float = 1.0,
    ) -> TopicTable:
        """Return a table of the topics, the largest first.

        Parameters
        ----------
        feature_names : (n_features,) array-like or None
            As in `top_words`.
        n : int or None, default=None
            As in `top_words`.
        n_topics : int or None, default=20
            Largest number of topics with their own row; the others share the last row. None: all
            topics have their own.
        min_share : float, default=0.0
            Topics with a smaller share of the training tokens, in [0, 1], share the last row.
        relevance : float, default=1.0
            As in `top_words`.

        Returns
        -------
        TopicTable
            A sequence of tuples (topic, share, n_tokens, top_words), shown as a table: the number
            of a topic, its expected share and number of the training tokens, and its words. In the
            row of all other topics together the number is -1, shown as "rest". A single topic
            that is left has its own row. The text shows the names in `topic_names_` in place of
            numbers. ``pandas.DataFrame(list(summary))`` turns the table into a data frame.

        Raises
        ------
        ValueError
            If an argument is out of range, or topics were given to `from_topics`: without training
            documents they have no shares.
        """
        check_is_fitted(self)
        words = self.top_words(feature_names, n, relevance=relevance)
        n_tokens = self._tokens_of_topics("summary")
        n_topics = len(n_tokens) if n_topics is None else check_count(n_topics, "n_topics", 1)
        if not is_number(min_share) or not 0.0 <= min_share <= 1.0:
            raise ValueError(f"min_share must be a number in [0, 1], got {min_share!r}.")
        order, total = np.argsort(-n_tokens, kind="stable"), n_tokens.sum()
        n_own = min(n_topics, int(np.count_nonzero(n_tokens >= min_share * total)))
        if len(order) - n_own == 1:
            n_own += 1
        rows = [
            TopicRow(k, float(n_tokens[k] / total), float(n_tokens[k]), words[k])
            for k in order[:n_own].tolist()
        ]
        if n_own < len(order):
            rest = order[n_own:]
            merged = n_tokens[rest] @ self.components_[rest] / n_tokens[rest].sum()
            best = np.argsort(-self._relevance(relevance, merged[np.newaxis])[0], kind="stable")
            names = self._word_names(feature_names)[best[: len(words[0])]].tolist()
            n_rest = float(n_tokens[rest].sum())
            rows.append(TopicRow(REST, n_rest / float(total), n_rest, names))
        return TopicTable(rows, self._given_names())

    def _given_names(self) -> list[str | None]:
        """Return the names of topics, None for those without."""
        return getattr(self, "topic_names_", None) or [None] * len(self.components_)

    def _word_names(self, feature_names: ArrayLike | None) -> NDArray[Any]:
        """Return the names of the words."""
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        return check_word_names(feature_names, self.n_features_in_)

    def _tokens_of_topics(self, user: str) -> Floats:
        """Return expected numbers of training tokens, (K,)."""
        if not hasattr(self, "_topic_tokens"):
            raise ValueError(
                f"{user} needs the shares of topics in a training corpus, and given topics have "
                "none."
            )
        return self._topic_tokens

    def _relevance(self, relevance: float, components: Floats | None = None) -> Floats:
        """Return the criterion by which words are ordered, (K, W): probabilities or relevances."""
        if not is_number(relevance) or not 0.0 <= relevance <= 1.0:
            raise ValueError(f"relevance must be a number in [0, 1], got {relevance!r}.")
        topics = self.components_ if components is None else components
        if relevance == 1.0:
            return topics  # two words may have the same logarithm
        n_tokens = self._tokens_of_topics("relevance below 1")
        marginal = n_tokens / n_tokens.sum() @ self.components_
        logs = np.full(topics.shape, -np.inf)
        np.log(topics, out=logs, where=topics > 0.0)
        np.log(marginal, out=marginal, where=marginal > 0.0)
        return logs - (1.0 - relevance) * marginal

    def topic_tree(self) -> MergeTree:
        """Return the tree of the topics: which are merged first if there should be fewer.

        Two topics at a time are merged, so that their merge loses the least likelihood of the
        training words given their topics. The loss is the Jensen-Shannon divergence of the two
        topics, weighted by their numbers of words. It is never negative.

        The words of topics are compared without the prior: the counts are `components_` times the
        number of words, less `topic_word_prior_` and, for seed words, `seed_weight`. They are
        nearly exact for a model whose attributes are one sample and approximate for means of
        samples. The words of `fixed_components` are as given. From a topic that is a Pitman-Yor
        process (`topic_word_discount`) the concentration times the base is subtracted. What the
        discount takes from the words remains, spread in proportion to the base: the number of
        tables is not an attribute. The tree of a coarse view is the rest of the tree of its model.

        Returns
        -------
        MergeTree
            With the attributes `merges`, `losses` (nats per word), `sizes` and `linkage` (for
            scipy), and the method `labels`: the coarse topic of every topic.

        Raises
        ------
        TypeError
            If the columns are not topics of words (`LatentDirichletCoClustering`).
        ValueError
            If topics were given to `from_topics`: without training documents they have no sizes.

        See Also
        --------
        skdp.inspection.TopicTreeDisplay : Plots the tree.
        """
        check_is_fitted(self)
        if not self._documents_share_topics:
            raise TypeError(f"{type(self).__name__} has two kinds of topics, which have no tree.")
        if self._rest_of_tree is not None:
            return self._rest_of_tree
        tokens = self._tokens_of_topics("topic_tree")
        return make_topic_tree(self.components_, tokens, self._pseudo_counts())

    def _pseudo_counts(self) -> Floats:
        """Return the part that the prior has in the counts of words, (K, W)."""
        estimator: Any = self
        counts = np.empty_like(self.components_)
        if hasattr(self, "topic_word_base_"):
            counts[:] = estimator.topic_word_concentration_ * estimator.topic_word_base_
        else:
            counts[:] = estimator.topic_word_prior_
        if (seeds := estimator._seeds) is not None:
            counts[seeds.topics, seeds.words] += seeds.weight
        counts[: estimator._n_fixed_in_fit] = 0.0
        return counts

    def reduce_topics(self, n_topics: int) -> Self:
        """Return a coarse view of the model: an estimator with merged topics.

        Prediction likes hundreds of topics, and people read twenty. Topics are merged as in
        `topic_tree`; this estimator is not changed.

        Parameters
        ----------
        n_topics : int
            Number of topics of the view, at most the number of topics of this model.

        Returns
        -------
        Fitted estimator
            Its topics are means of the merged ones, weighted by their tokens, in decreasing order
            of size; shares and priors are their sums, and names are joined by " + ". Topics in
            `components_` and `doc_topic_` are the merged ones, and `transform` and `score` use
            these as given topics. It has the parameters of this estimator, so another `fit` begins
            from scratch.

        Raises
        ------
        ValueError, TypeError
            As in `topic_tree`, or if `n_topics` is out of range.
        """
        tree = self.topic_tree()
        labels = tree.labels(check_at_most(n_topics, "n_topics", tree.n_components, "topics"))
        is_part = np.zeros((len(labels), labels.max() + 1))
        is_part[np.arange(len(labels)), labels] = 1.0
        coarse: Any = copy(self)
        for name in _OF_THE_CHAIN:
            vars(coarse).pop(name, None)
        tokens = np.maximum(coarse._topic_tokens, np.finfo(float).tiny)[:, np.newaxis]
        means = (is_part * tokens).T @ self.components_
        coarse.components_ = means / means.sum(axis=1, keepdims=True)
        for name in _SUMMED:
            if name in vars(coarse):
                setattr(coarse, name, vars(coarse)[name] @ is_part)
        if hasattr(coarse, "weights_"):
            coarse.n_components_ = len(coarse.weights_)
            coarse.n_effective_components_ = effective_number(coarse.weights_)
        coarse._rest_of_tree = tree.coarse(n_topics)
        coarse._topic_names = None
        if "topic_names_" in vars(coarse):
            coarse.topic_names_ = _join_names(coarse.topic_names_, labels)
        coarse._models = [coarse._averaged_model()]
        view: Self = coarse
        return view


# The tree of topics.


def make_topic_tree(
    components: Floats,  # (K, W)
    tokens: Floats,  # (K,)
    pseudo_counts: Floats,  # (K, W), a_kw of the prior; 0 if the words are given
) -> MergeTree:
    """Return the tree of greedy merges of topics."""
    totals = tokens + pseudo_counts.sum(axis=1)
    # One sample's probabilities (n_kw + a_kw) / (n_k + a_k), solved for n_kw: approximate for means
    # of samples, so that words that a topic does not have may have slightly less than 0.
    counts = np.maximum(components * totals[:, np.newaxis] - pseudo_counts, 0.0)
    n_topics = len(components)
    merges, losses = np.empty((n_topics - 1, 2), dtype=np.int64), np.empty(n_topics - 1)
    merge_topics(counts, counts.sum(axis=1), merges, losses)
    return MergeTree(merges, losses / max(tokens.sum(), 1.0), tokens)


# Coarse views of topic models: a fine model predicts, and people read a few topics.


_OF_THE_CHAIN = "_saved", "n_components_distribution_", "initial_components_"
"""Attributes that do not apply to merged topics."""

_SUMMED = (
    "doc_topic_prior_", "weights_", "_topic_tokens", "doc_topic_", "section_topic_",
    "segment_topic_",
)  # fmt: skip
"""Attributes whose last axis lists topics; merged topics have the sums."""


def _join_names(names: list[str | None], labels: NDArray[np.intp]) -> list[str | None]:
    """Return the names of merged topics: those of their parts, None if no part has a name."""
    joined: list[list[str]] = [[] for _ in range(labels.max() + 1)]
    for name, label in zip(names, labels, strict=True):
        joined[label] += [] if name is None else [name]
    return [" + ".join(parts) or None for parts in joined]


def effective_number(weights: Floats) -> float:
    """Return the exponential of the entropy of weights, which are scaled to a sum of 1."""
    return float(np.exp(entropy(weights)))
