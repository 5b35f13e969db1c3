"""Descriptions of topics: their words, their documents, and a table of both."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count, check_how_many, check_word_names, is_number
from skdp.data import check_corpus
from skdp.topics._shared._representatives import choose_representatives
from skdp.topics._shared._topic_table import REST, TopicRow, TopicTable

_N_TOP_WORDS, _N_DOCUMENTS, _N_NAME_WORDS, _N_ROWS = 10, 5, 3, 20


class WordsOfTopicsMixin:
    """Mixin of the topic models with human-readable descriptions of topics."""

    components_: NDArray[np.float64]
    doc_topic_: NDArray[np.float64]
    n_features_in_: int
    _topic_tokens: NDArray[np.float64]
    """Expected numbers of training tokens of the topics, (K,); missing if topics were given."""

    _documents_share_topics: bool
    _topic_names: list[str] | None = None
    """Names set by `name_topics`; a fit discards them."""

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

    def representative_segments(self, X: Any, n_segments: int = 3) -> list[NDArray[np.int64]]:
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

    def _tokens_of_topics(self, user: str) -> NDArray[np.float64]:
        """Return expected numbers of training tokens, (K,)."""
        if not hasattr(self, "_topic_tokens"):
            raise ValueError(
                f"{user} needs the shares of topics in a training corpus, and given topics have "
                "none."
            )
        return self._topic_tokens

    def _relevance(
        self, relevance: float, components: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
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
