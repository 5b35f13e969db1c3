"""Predictions and draws from a fitted grammar."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count, check_how_many, check_jobs, check_word_names
from skdp._executors import choose_executor, predict_parts
from skdp._numeric._random import make_seed_sequence
from skdp.data import PartitionedSentences, TokenSequences, check_sentences
from skdp.data._parse_tree import ParseTree
from skdp.data._validation import check_partitioned_sentences
from skdp.grammar._chart._batches import without_empty
from skdp.grammar._chart._engine import TreeArrays, expected_symbols, inside, viterbi
from skdp.grammar._chart._sample import draw_sentences
from skdp.grammar._chart._weights import RuleWeights
from skdp.grammar._induction._partitions import DistributedSentences
from skdp.grammar._induction._trees import RankTrees, make_trees, rank_by_expectation
from skdp.grammar._induction._variational import VariationalGrammar
from skdp.grammar._unparsed import warn_of_unparsed

_N_TOP_WORDS = 10
_NO_NODES = np.empty(0, dtype=np.int64)


class GrammarPredictions(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The methods of a fitted `HDPPCFG`."""

    _grammar: Any
    _is_sampled: bool
    _models: list[Any]
    top_weights_: NDArray[np.float64]
    root_probs_: NDArray[np.float64]
    symbol_shares_: NDArray[np.float64]
    emission_probs_: NDArray[np.float64]
    n_words_: int
    predict_method: str
    n_jobs: int | None

    def predict(self, X: Any, feature_names: ArrayLike | None = None) -> Any:
        """Return the best parse tree of each sentence.

        Parameters
        ----------
        X : as in `fit`
        feature_names : (n_words,) array-like or None, default=None
            Names of the words, such as those from a vectorizer's ``get_feature_names_out()``. Not
            with PartitionedSentences.

        Returns
        -------
        list of n_sentences ParseTree or None
            Symbols are labeled S0, S1, ..., or P0, ... and C0, ... in the order of the attributes;
            words are those of `feature_names`, or the ids as text, which
            ``tree.with_leaves(words)`` replaces. A sentence that has no parse gets a flat tree,
            with a warning. A sentence without words has no tree: None. For PartitionedSentences
            under ``joblib.parallel_config("dask")``: a dask.bag.Bag of trees.

        Raises
        ------
        ValueError, TypeError
            If X is invalid, or `feature_names` are not as many as the words of the vocabulary.
        """
        check_is_fitted(self)
        if isinstance(X, PartitionedSentences):
            check_partitioned_sentences(self, X, reset=False)
            if feature_names is not None:
                raise ValueError(
                    "feature_names go with sentences in memory; use tree.with_leaves for trees of "
                    "PartitionedSentences."
                )
            return predict_parts(self, "predict", X)
        words = self._leaves(feature_names)
        sentences, has_words = without_empty(check_sentences(self, X, reset=False))
        layout = self._grammar.layout
        if self._posterior_of_trees() is None:
            trees = viterbi(sentences, self._weights_of_trees(), n_jobs=self.n_jobs)[1]
        else:
            trees = self._choose_trees(sentences)
        unparsed = np.zeros(len(has_words), dtype=bool)
        unparsed[has_words] = np.diff(trees.node_ptr) == 0
        warn_of_unparsed(unparsed, "get a flat tree", 2)
        fallback = layout.names[int(np.argmax(self.root_probs_))]
        made = iter(make_trees(trees, sentences, layout.names, words, fallback))
        return [next(made) if any_words else None for any_words in has_words]

    def k_best(
        self, X: Any, k: int = 10, feature_names: ArrayLike | None = None
    ) -> list[list[tuple[ParseTree, float]]]:
        """Return the best parse trees of each sentence, and their log probabilities.

        Parameters
        ----------
        X : TokenSequences, list of sentences, or (n_sentences, length) array of int
        k : int, default=10
        feature_names : (n_words,) array-like or None, default=None
            Names of the words, as in `predict`.

        Returns
        -------
        list of n_sentences lists of (ParseTree, float)
            The k best trees by `predict_method`, starting with the tree that `predict` returns. The
            number is log p(tree, words), under the same grammar as `score_samples`, so
            ``exp(number - score_samples(X)[i])`` is the posterior probability of a tree of sentence
            i. Only with "mean" are they certain to be in descending order. A sentence has fewer
            than k trees if the grammar allows no more, and no trees if it has no parse or no words.

        Raises
        ------
        ValueError, TypeError
            If X or `feature_names` are invalid, or k < 1.
        """
        check_is_fitted(self)
        k = check_count(k, "k", at_least=1)
        words = self._leaves(feature_names)
        sentences, has_words = without_empty(check_sentences(self, X, reset=False))
        rank = RankTrees(
            self._weights_of_trees(), self._weights_of_samples(), self._grammar.layout.names, words,
            k, self._posterior_of_trees(),
        )  # fmt: skip
        found = iter(
            Parallel(check_jobs(self.n_jobs), prefer="threads")(map(delayed(rank), sentences))
        )
        return [next(found) if any_words else [] for any_words in has_words]

    def top_words(
        self, feature_names: ArrayLike | None = None, n: int | None = None, *, weights: bool = False
    ) -> list[list[Any]]:
        """Return the most probable words of every symbol that emits words.

        Parameters
        ----------
        feature_names : (n_words,) array-like or None, default=None
            Names of the words. None: word ids.
        n : int or None, default=None
            Number of words per symbol, at most the size of the vocabulary. None: 10, or all words
            if there are fewer.
        weights : bool, default=False
            Whether to return pairs (name, probability of the word given that the symbol emits a
            word) instead of names.

        Returns
        -------
        list of lists of n names or pairs
            In the order of the rows of `emission_probs_`; the most probable word first.

        Raises
        ------
        ValueError
            If an argument is out of range.
        """
        check_is_fitted(self)
        if feature_names is None:
            feature_names = np.arange(self.n_words_)
        names = check_word_names(feature_names, self.n_words_)
        n = check_how_many(n, "n", _N_TOP_WORDS, self.n_words_, f"n_words={self.n_words_}")
        order = np.argsort(-self.emission_probs_, axis=1, kind="stable")[:, :n]
        if not weights:
            return [names[row].tolist() for row in order]
        found = np.take_along_axis(self.emission_probs_, order, axis=1)
        return [
            list(zip(names[row].tolist(), probs.tolist(), strict=True))
            for row, probs in zip(order, found, strict=True)
        ]

    def _leaves(self, feature_names: ArrayLike | None) -> list[str]:
        """Return the label of each word in trees."""
        if feature_names is None:
            feature_names = np.arange(self.n_words_)
        return [str(name) for name in check_word_names(feature_names, self.n_words_)]

    def transform(self, X: Any) -> Any:
        """Return the expected shares of the symbols among the nodes of each sentence's tree.

        The expectation is under the posterior mean of the grammar.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sentences, n_symbols) array
            Rows sum to 1. A sentence without words gets the average shares, `symbol_shares_`; a
            sentence that has no parse also gets them, with a warning. For PartitionedSentences
            under ``joblib.parallel_config("dask")``: a dask.array.Array with one chunk per
            partition.
        """
        check_is_fitted(self)
        if isinstance(X, PartitionedSentences):
            check_partitioned_sentences(self, X, reset=False)
            return predict_parts(self, "transform", X, (self._n_features_out,))
        sentences, has_words = without_empty(check_sentences(self, X, reset=False))
        nodes = expected_symbols(sentences, self._mean_weights(), n_jobs=self.n_jobs)
        unparsed = np.zeros(len(has_words), dtype=bool)
        unparsed[has_words] = nodes.sum(axis=1) == 0.0
        warn_of_unparsed(unparsed, "get mean shares", 2)
        shares = np.tile(self.symbol_shares_, (len(has_words), 1))
        parsed = nodes[~unparsed[has_words]]
        shares[has_words & ~unparsed] = parsed / parsed.sum(axis=1, keepdims=True)
        return shares

    def score_samples(self, X: Any) -> Any:
        """Return the log probability of each sentence, under the posterior mean of the grammar.

        With "gibbs" the probability is a mean over the stored samples of all chains, each with the
        posterior mean of the grammar given the sample.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sentences,) array
            Natural logarithm; 0 for a sentence without words; -inf, with a warning, for a sentence
            that has no parse. For PartitionedSentences under ``joblib.parallel_config("dask")``: a
            dask.array.Array with one chunk per partition.
        """
        check_is_fitted(self)
        if isinstance(X, PartitionedSentences):
            check_partitioned_sentences(self, X, reset=False)
            return predict_parts(self, "score_samples", X, ())
        sentences, has_words = without_empty(check_sentences(self, X, reset=False))
        scores = np.zeros(len(has_words))
        each = [inside(sentences, w, n_jobs=self.n_jobs) for w in self._weights_of_samples()]
        scores[has_words] = logsumexp(each, axis=0) - np.log(len(each))
        warn_of_unparsed(np.isneginf(scores), "have probability 0", 2)
        return scores

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log probability per word; higher is better.

        Parameters
        ----------
        X : as in `fit`
        y : ignored

        Returns
        -------
        float
            ``score_samples(X).sum()`` divided by the number of words.

        Raises
        ------
        ValueError
            If no sentence has a word.
        """
        check_is_fitted(self)
        if isinstance(X, PartitionedSentences):
            return self._score_partitions(X)
        sentences = check_sentences(self, X, reset=False)
        if len(sentences.tokens) == 0:
            raise ValueError("X has no words to score.")
        return float(self.score_samples(sentences).sum() / len(sentences.tokens))

    def _score_partitions(self, X: PartitionedSentences) -> float:
        check_partitioned_sentences(self, X, reset=False)
        with choose_executor(self.n_jobs) as executor:
            data = DistributedSentences(X, executor)
            if data.n_words == 0:
                raise ValueError("X has no words to score.")
            return data.score(self._weights_of_samples()) / data.n_words

    def perplexity(self, X: Any) -> float:
        """Return ``exp(-score(X))``; lower is better.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        float
        """
        return float(np.exp(-self.score(X)))

    def sample(
        self, n_sentences: int = 1, *, max_length: int = 200, random_state: Any = None
    ) -> tuple[TokenSequences, list[ParseTree]]:
        """Draw sentences and their trees from the posterior mean of the grammar.

        Parameters
        ----------
        n_sentences : int, default=1
        max_length : int, default=200
            Longer sentences are redrawn, since the trees of a learned grammar may be infinite.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        sentences : TokenSequences
        trees : list of n_sentences ParseTree

        Raises
        ------
        ValueError
            If almost no tree of the grammar is this short.
        """
        check_is_fitted(self)
        n_sentences = check_count(n_sentences, "n_sentences", at_least=1)
        max_length = check_count(max_length, "max_length", at_least=1)
        rng = np.random.default_rng(make_seed_sequence(random_state))
        layout = self._grammar.layout
        weights = self._mean_weights()
        sentences, trees = draw_sentences(weights, n_sentences, max_length, rng)
        return sentences, make_trees(trees, sentences, layout.names, self._leaves(None), "")

    @property
    def _n_features_out(self) -> int:
        return len(self.top_weights_)

    def _weights_of_trees(self) -> RuleWeights:
        """Return the weights for choosing trees."""
        return self._mean_weights() if self.predict_method == "mean" else self._grammar.weights()

    def _posterior_of_trees(self) -> VariationalGrammar | None:
        """Return the posterior that chooses among the best trees, or None if the weights do."""
        # A grammar of maximum likelihood has no posterior: expected probabilities are its own.
        is_posterior = isinstance(self._grammar, VariationalGrammar)
        return self._grammar if self.predict_method == "expected" and is_posterior else None

    def _choose_trees(self, sentences: TokenSequences) -> TreeArrays:
        """Return the tree with the highest expected probability of each sentence."""
        choose = delayed(rank_by_expectation)
        weights, posterior = self._weights_of_trees(), self._posterior_of_trees()
        found = Parallel(check_jobs(self.n_jobs), prefer="threads")(
            choose(words, weights, posterior, 1) for words in sentences
        )
        nodes = [ranked[0] if ranked else (_NO_NODES, _NO_NODES) for ranked in found]
        symbols, lengths = (np.concatenate([_NO_NODES, *part]) for part in zip(*nodes, strict=True))
        sizes = [len(each) for each, _ in nodes]
        return TreeArrays(symbols, lengths, np.concatenate([[0], np.cumsum(sizes)]))

    def _weights_of_samples(self) -> list[RuleWeights]:
        """Return the posterior mean of the grammar, for each stored sample if there are any."""
        if not self._is_sampled:
            return [self._mean_weights()]
        layout = self._grammar.layout
        return [draw.grammar.probabilities().weights(layout) for draw in self._models]

    def _mean_weights(self) -> RuleWeights:
        return self._grammar.probabilities().weights(self._grammar.layout)
