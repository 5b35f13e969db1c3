"""Fits of `HDPPCFG`, whose runs are ascents of a bound or Markov chains, and its predictions."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdp._checks import (
    check_count,
    check_gamma_prior,
    check_how_many,
    check_jobs,
    check_word_names,
)
from skdp._executors import Executor, choose_executor, predict_parts
from skdp._fit import ChainEstimator, FitState
from skdp._numeric._random import Role, derive_seed, make_seed_sequence
from skdp._sklearn_compat import Interval, StrOptions, validate_parameters
from skdp.data import PartitionedSentences, TokenSequences, check_sentences
from skdp.data._parse_tree import ParseTree
from skdp.data._validation import check_partitioned_sentences
from skdp.grammar._chart._ascents import Expectation, TopPrior, warn_of_unparsed
from skdp.grammar._chart._engine import TreeArrays, expected_symbols, inside, join_trees, viterbi
from skdp.grammar._chart._k_best import draw_sentences
from skdp.grammar._chart._paths import RuleWeights, SentenceBatches, Sentences, without_empty
from skdp.grammar._induction._ascent import Induction, InductionAscents, start_weights
from skdp.grammar._induction._gibbs import GammaPrior, GrammarSampler, LearnedConcentrations
from skdp.grammar._induction._layout import (
    GrammarLayout,
    add_brackets,
    check_size,
    count_active_rules,
    read_row,
)
from skdp.grammar._induction._partitions import (
    DistributedSentences,
    RankTrees,
    make_trees,
    rank_by_expectation,
    rule_counts,
)
from skdp.grammar._induction._variational import (
    GrammarPriors,
    MaximumLikelihoodGrammar,
    VariationalGrammar,
)
from skdp.inference._convergence import warn_user

_ANNEALED_SHARE = 0.2
"""Share of the iterations that are annealed, at most `_MOST_ANNEALED` iterations."""

_MOST_ANNEALED = 40

_FIRST_CONCENTRATION = 1.0
"""Initial value of learned concentrations."""

_OF_CHAINS = {"n_chains": 1}
"""Parameters rejected without chains, with defaults: they resemble numbers of starts."""

_OF_ASCENTS = {"init": "random", "dtype": "float64", "tol": 1e-4, "n_init": 1}
"""Parameters refused with chains, with defaults."""

_CONCENTRATIONS = ("top_concentration", "root_concentration", "binary_concentration")

_POSITIVE = Interval(Real, 1e-8, 1e8, closed="both")
_AUTO = StrOptions({"auto"})


class GrammarEstimator(ChainEstimator):
    """Validation and fit of `HDPPCFG`, with "gibbs" as a `ChainEstimator`, else by ascents."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ChainEstimator._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_preterminals": [Interval(Integral, 1, None, closed="left"), None],
        "top_prior": [StrOptions({"gem", "dirichlet"})],
        "top_concentration": [_POSITIVE, _AUTO, None],
        "root_concentration": [_POSITIVE, _AUTO],
        "rule_type_prior": [_POSITIVE, "array-like"],
        "emission_prior": [_POSITIVE],
        "binary_concentration": [_POSITIVE, _AUTO, "array-like"],
        "child_prior": [StrOptions({"joint", "independent"})],
        "inference": [StrOptions({"vb", "gibbs", "em", "viterbi-em"})],
        **{f"{name}_prior": [tuple, list] for name in _CONCENTRATIONS},
        "pseudo_count": [Interval(Real, 0, 1e8, closed="both")],
        "init": [StrOptions({"random", "annealed"})],
        "predict_method": [StrOptions({"expected-log", "mean", "expected"})],
        "max_length": [Interval(Integral, 1, None, closed="left"), None],
        "dtype": [StrOptions({"float64", "float32"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    _free_in_warm_start = ChainEstimator._free_in_warm_start | {"tol", "predict_method"}

    _free_in_checkpoints = ChainEstimator._free_in_checkpoints | {"predict_method"}

    _feature_attributes = (
        *ChainEstimator._feature_attributes, "n_words_", "_sentence_length"
    )  # fmt: skip

    _optional_attributes = frozenset(
        ["lower_bound_", "lower_bounds_", "init_lower_bounds_", "trace_", "_best_chain", "_models"]
    )

    @property
    def _is_sampled(self) -> bool:
        return isinstance(self.inference, str) and self.inference == "gibbs"

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether a fit has a result, which an early interruption prevents."""
        return hasattr(self, "_grammar")

    # Validation

    def _validate_parameters(self) -> None:
        if self._is_sampled:
            super()._validate_parameters()
        else:
            validate_parameters(self)
        self._priors(GrammarLayout(1, self.n_components, self.n_preterminals))
        self._learned()
        self._refuse_unused()

    def _refuse_unused(self) -> None:
        """Raise for parameters that would have no effect."""
        way = f"inference={self.inference!r}"
        for name, default in (_OF_ASCENTS if self._is_sampled else _OF_CHAINS).items():
            if getattr(self, name) != default:
                raise ValueError(f"{name} has no effect with {way}; got {getattr(self, name)!r}.")
        if self.inference in ("vb", "gibbs") and self.pseudo_count != 0.0:
            raise ValueError(
                f"pseudo_count is for inference='em' and 'viterbi-em'; {self.inference!r} has "
                f"priors instead. Got pseudo_count={self.pseudo_count!r}."
            )
        if self.inference in ("em", "viterbi-em") and self.child_prior != "joint":
            raise ValueError(
                f"child_prior is for inference='vb' and 'gibbs'; {self.inference!r} has no priors. "
                f"Got child_prior={self.child_prior!r}."
            )
        if self.inference == "viterbi-em" and self.init == "annealed":
            raise ValueError(
                "init='annealed' has no effect with inference='viterbi-em': the best trees are the "
                "same under any power of the weights."
            )

    def _is_learned(self, name: str) -> bool:
        """Return whether a concentration is drawn; raise if it cannot be drawn."""
        value = getattr(self, name)
        is_auto = isinstance(value, str) and value == "auto"
        if is_auto and not self._is_sampled:
            raise ValueError(
                f"{name}='auto' is for inference='gibbs'; got inference={self.inference!r}."
            )
        return is_auto

    def _learned(self) -> LearnedConcentrations:
        """Return the priors of the concentrations that are drawn."""

        def prior(name: str) -> GammaPrior:
            given = check_gamma_prior(getattr(self, f"{name}_prior"), f"{name}_prior")
            return given if self._is_learned(name) else None

        return LearnedConcentrations(*map(prior, _CONCENTRATIONS))

    def _priors(self, layout: GrammarLayout) -> GrammarPriors:
        top, root = (
            _FIRST_CONCENTRATION if self._is_learned(name) else getattr(self, name)
            for name in _CONCENTRATIONS[:2]
        )
        if self._is_learned("binary_concentration"):
            binary = np.full(len(layout.blocks), _FIRST_CONCENTRATION)
        else:
            n_blocks = len(layout.blocks)
            binary = read_row(self, "binary_concentration", n_blocks, "type of binary rules")
        return GrammarPriors(
            TopPrior(self.top_prior, None if top is None else float(top)),
            float(root),
            read_row(self, "rule_type_prior", layout.n_rule_types, "rule type"),
            float(self.emission_prior),
            binary,
            self.child_prior == "independent",
        )

    def _check_input(
        self, X: Any, y: Any = None, executor: Executor | None = None
    ) -> Sentences | DistributedSentences:
        if executor is not None:
            return self._distribute(X, y, executor)
        checked = add_brackets(check_sentences(self, X, reset=True), y)
        sentences, has_words = without_empty(checked)
        self._check_words(bool(has_words.any()))
        self._check_size()
        if self.max_length is None:
            return sentences
        short = np.diff(sentences.ptr) <= self.max_length
        if self._is_sampled and not short.all():
            first = np.flatnonzero(~short)[:1]
            raise ValueError(
                f"Sentence {np.flatnonzero(has_words)[first][0]} has "
                f"{np.diff(sentences.ptr)[first][0]} words, more than max_length="
                f"{self.max_length}: inference='gibbs' leaves no sentence out."
            )
        self._check_lengths(int(np.count_nonzero(short)), len(short))
        if not short.all():
            sentences = sentences[short]
        return sentences

    def _distribute(
        self, X: PartitionedSentences, y: Any, executor: Executor
    ) -> DistributedSentences:
        """Return sentences in partitions, which are opened by their workers."""
        if self._is_sampled:
            raise TypeError(
                "inference='gibbs' takes no PartitionedSentences, since chains keep the trees of "
                "all sentences. Use X.compute(), or another inference."
            )
        check_partitioned_sentences(self, X, reset=True)
        self._check_size()
        data = DistributedSentences(X, executor, self.max_length, y)
        self._check_words(data.n_with_words > 0)
        self._check_lengths(data.n_kept, data.n_with_words)
        return data

    def _check_words(self, has_any: bool) -> None:
        if not has_any:
            raise ValueError(
                f"Found 0 word(s) in X while a minimum of 1 is required by {type(self).__name__}."
            )

    def _check_lengths(self, n_kept: int, n: int) -> None:
        """Raise if no sentence is short enough; warn if some are not."""
        if n_kept == 0:
            raise ValueError(f"All sentences are longer than max_length={self.max_length} words.")
        if n_kept < n:
            warn_user(
                f"{n - n_kept} of {n} sentences are longer than max_length={self.max_length} words "
                "and are left out of the fit.",
                UserWarning,
            )

    def _check_size(self) -> None:
        """Raise if the grammars of all runs would not fit into memory."""
        n_grammars, what = self.n_init, f"n_init={self.n_init}"
        if self._is_sampled:
            n_grammars = self.n_chains * (1 + self.n_samples)
            what = f"n_chains={self.n_chains}, n_samples={self.n_samples}"
        check_size(self.n_words_, self.n_components, self.n_preterminals, n_grammars, what)

    # Runs

    def _make_procedure(self, data: Sentences | DistributedSentences) -> Any:
        if self._is_sampled:
            return super()._make_procedure(data)
        in_partitions = isinstance(data, DistributedSentences)
        n_words = data.n_words if isinstance(data, DistributedSentences) else len(data.tokens)
        return InductionAscents(
            partial(self._start_ascents, data), self._expectation(data),
            self.tol * n_words, self.max_iter, self.n_jobs, in_partitions=in_partitions,
        )  # fmt: skip

    def _start_ascents(self, data: Sentences | DistributedSentences) -> FitState:
        """Return the grammars of all starts."""
        root = make_seed_sequence(self.random_state)
        layout = GrammarLayout(data.n_features, self.n_components, self.n_preterminals)
        grammar: Any
        if self.inference == "vb":
            priors = self._priors(layout)
            grammar = VariationalGrammar(layout, priors)
            rule_types = priors.rule_type / priors.rule_type.sum()
        else:
            rule_types = np.full(layout.n_rule_types, 1.0 / layout.n_rule_types)
            grammar = MaximumLikelihoodGrammar(layout, float(self.pseudo_count))
        n_annealed = 0
        if self.init == "annealed":
            n_annealed = min(_MOST_ANNEALED, int(_ANNEALED_SHARE * self.max_iter))
        flat, runs = start_weights(layout, rule_types), []
        for i in range(self.n_init):
            rng = np.random.default_rng(derive_seed(root, Role.INIT, i))
            start = start_weights(layout, rule_types, rng)
            runs.append(Induction(grammar, start, flat, n_annealed))
        return FitState(runs, root)

    def _start_sampler(
        self, data: Sentences, root: np.random.SeedSequence, c: int
    ) -> GrammarSampler:
        layout = GrammarLayout(data.n_features, self.n_components, self.n_preterminals)
        return GrammarSampler(data, layout, self._priors(layout), self._learned(), root, c)

    def _expectation(self, data: Sentences | DistributedSentences) -> Expectation:
        """Return the function that counts rules under given weights."""
        dtype = None if self.inference == "viterbi-em" else np.dtype(self.dtype)
        if isinstance(data, DistributedSentences):
            return partial(data.rule_counts, dtype)
        n_jobs = self.n_jobs if self.n_init == 1 else 1  # starts use the threads
        return partial(rule_counts, SentenceBatches.of(data), dtype, n_jobs)

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        if self._is_sampled:
            of_chains = super()._fitted_attributes(state, final=final)
            best = max(of_chains["_models"], key=lambda draw: draw.log_joint)
            return {**_attributes_of(best.grammar), **of_chains}
        bounds = [run.bound for run in state.runs]
        best = state.runs[int(np.argmax(bounds))]
        return {
            **_attributes_of(best.grammar),
            "lower_bound_": max(bounds),
            "lower_bounds_": np.array(best.lower_bounds),
            "init_lower_bounds_": np.array(bounds),
            "n_iter_": best.n_iter,
        }


def _attributes_of(grammar: Any) -> dict[str, Any]:
    """Return the fitted attributes that describe a grammar."""
    layout, probabilities = grammar.layout, grammar.probabilities()
    nodes: NDArray[np.float64] = grammar.counts.of_nodes(layout)
    active = grammar.counts.active(layout)
    return {
        "top_weights_": np.concatenate(grammar.top_weights),
        "root_probs_": probabilities.root,
        "rule_type_probs_": probabilities.rule_type,
        "emission_probs_": probabilities.emission,
        "binary_probs_": probabilities.binary,
        "symbol_shares_": nodes / nodes.sum(),
        "n_active_components_": int(np.count_nonzero(active)),
        "n_active_rules_": count_active_rules(grammar.weights(), active, layout),
        "_grammar": grammar,
    }


# Predictions and draws from a fitted grammar.


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
        return join_trees([ranked[0] if ranked else (_NO_NODES, _NO_NODES) for ranked in found])

    def _weights_of_samples(self) -> list[RuleWeights]:
        """Return the posterior mean of the grammar, for each stored sample if there are any."""
        if not self._is_sampled:
            return [self._mean_weights()]
        layout = self._grammar.layout
        return [draw.grammar.probabilities().weights(layout) for draw in self._models]

    def _mean_weights(self) -> RuleWeights:
        return self._grammar.probabilities().weights(self._grammar.layout)
