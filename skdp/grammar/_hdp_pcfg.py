"""Probabilistic context-free grammars whose size is inferred."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count
from skdp._public import public
from skdp._random import Role, make_seed_sequence
from skdp._resumable import ResumableEstimator, SavedRuns
from skdp._sklearn_compat import HasDocs, Interval, StrOptions, validate_parameters, with_callbacks
from skdp.data import TokenSequences, check_sentences
from skdp.data._parse_tree import ParseTree
from skdp.grammar._chart._batches import SentenceBatches, without_empty
from skdp.grammar._chart._engine import expected_symbols, inside, viterbi
from skdp.grammar._chart._sample import draw_sentences
from skdp.grammar._chart._weights import RuleWeights
from skdp.grammar._coordinate_ascent import Expectation, warn_unless_converged
from skdp.grammar._induction._ascent import Induction, start_weights
from skdp.grammar._induction._counts import count_active_rules, count_expected
from skdp.grammar._induction._layout import Layout, check_size, read_row
from skdp.grammar._induction._maximum_likelihood import MaximumLikelihoodGrammar
from skdp.grammar._induction._trees import count_best_trees, make_trees
from skdp.grammar._induction._variational import GrammarPriors, VariationalGrammar
from skdp.grammar._top_weights import TopPrior

_ANNEALED_SHARE = 0.2
"""Annealed starts anneal for this share of the iterations, at most `_MOST_ANNEALED`."""

_MOST_ANNEALED = 40

_POSITIVE = Interval(Real, 1e-8, 1e8, closed="both")


@public
class HDPPCFG(HasDocs, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ResumableEstimator):
    r"""Probabilistic context-free grammar with a hierarchical Dirichlet process (HDP-PCFG).

    It learns a grammar from sentences alone. A symbol z either emits a word, z -> x, or branches,
    z -> z' z''; the distributions over pairs of children share top-level weights beta, phi^B_z ~
    DP(alpha, beta beta'), which lets the data decide how many symbols are used; `n_components` is
    only a bound. Learnt by structured mean field, or by maximum likelihood for comparison.

    Parameters
    ----------
    n_components : int, default=20
        Bound K of the number of symbols (truncation): of constituents if `n_preterminals` is given.
    n_preterminals : int or None, default=None
        Bound P of the number of symbols that only emit words; the K others then only branch, by
        rules of four types: their children are preterminals or constituents (PP, PC, CP, CC). None:
        every symbol does both.
    top_prior : {"gem", "dirichlet"}, default="gem"
        Prior of beta: truncated GEM(gamma), or Dirichlet(gamma / K), which is sparser.
    top_concentration : float, default=1.0
        gamma, from 1e-8 to 1e8.
    root_concentration : float, default=1.0
        The first symbol of a tree has the distribution Dirichlet(root_concentration beta).
    rule_type_prior : float or array-like, default=1.0
        alpha^T > 0, Dirichlet prior of the types of rules: of (emission, binary), or of (PP, PC,
        CP, CC). Random starts have the types that it expects, which decides much: with ten times
        the others' number CC encourages nested constituents, PC and CC right branches.
    emission_prior : float, default=1.0
        alpha^E > 0, Dirichlet prior of each word.
    binary_concentration : float or array-like, default=1.0
        alpha^B > 0: the larger, the more children are drawn as beta says, whatever their parent. An
        array gives one for each of (PP, PC, CP, CC).
    inference : {"vb", "em", "viterbi-em"}, default="vb"
        "vb": structured mean field. "em": maximum likelihood; "viterbi-em": of the best tree of
        each sentence. The last two know no priors: they use `pseudo_count`.
    pseudo_count : float, default=0.0
        At least 0; added to the count of every rule by "em" and "viterbi-em".
    init : {"random", "annealed"}, default="random"
        Both start at a random grammar with the types of rules that `rule_type_prior` expects.
        "annealed": in the first fifth of the iterations, 40 at most, weights of rules are between
        those of a uniform grammar with these types and their own (of both a power, one rising to 1,
        the other falling to 0).
    predict_method : {"expected-log", "mean"}, default="expected-log"
        The best tree is that under the expected logarithms of the rules, as in the fit, or under
        their posterior means (Liang et al. 2009, 4.3, options 1 and 2).
    max_length : int or None, default=None
        Longer sentences are left out of the fit, with a warning: time grows with the cube of the
        length. None: all are used. Other methods take any length.
    dtype : {"float64", "float32"}, default="float64"
        Precision of expectations in the fit. "float32" takes about half the time.
    max_iter : int, default=100
        Iterations from each start.
    tol : float, default=1e-4
        A run stops when the lower bound rises by no more than `tol` per word and no symbol can be
        left out (see Notes).
    n_init : int, default=1
        Random starts; the one with the highest lower bound counts.
    warm_start : bool, default=False
        Whether `fit` goes on where the last fit stopped.
    n_jobs : int or None, default=None
        Threads, for starts or for sentences; results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
    verbose : int, default=0
        Print a line every `verbose` iterations; 0: none.

    Attributes
    ----------
    top_weights_ : (n_symbols,) array
        beta. n_symbols is K; with preterminals P + K: they come first, here and in all that
        follows, and their weights sum to 1 as those of constituents do. Without "vb": uniform.
    root_probs_ : (n_symbols,) array
        Posterior means, as below: probabilities of the first symbol of a tree.
    rule_type_probs_ : (K, 2) or (K, 4) array
        Of (emission, binary), or of (PP, PC, CP, CC).
    emission_probs_ : (K, n_words) or (P, n_words) array
        Of words, where the symbol emits one.
    binary_probs_ : (K, n_symbols, n_symbols) array
        Of left and right children, where the symbol branches.
    symbol_shares_ : (n_symbols,) array
        Expected shares of the symbols among the nodes of all training trees. After "em" without
        pseudo-counts these are also their shares among the nodes of trees that the grammar draws.
        (Under other grammars trees may be infinite, and then have no such shares.)
    lower_bound_ : float
        Of log p(sentences, beta): it counts a density of beta. ``lower_bound_ - log p(beta)`` is
        at most log p(sentences | beta). Without "vb" the maximised log likelihood.
    lower_bounds_ : (n_recorded,) array
        After each iteration that was neither annealed nor in vain; never decreasing.
    init_lower_bounds_ : (n_init,) array
        The last of each start.
    n_active_components_ : int
        Symbols with at least 1e-6 expected nodes in the training trees.
    n_active_rules_ : int
        Rules, emissions included, of these symbols with a weight of at least 1e-6.
    n_iter_ : int
        Iterations from the best start.
    n_words_ : int
        Size V of the vocabulary.
    n_features_in_ : int
        V, or of a model fitted on an array the length of a sentence.
    feature_names_in_ : array
        Where X was a data frame with string names.

    See Also
    --------
    inside_outside : Expected counts under a grammar that is known.

    Notes
    -----
    q(beta) is a point, q(phi) are Dirichlet distributions, q(z) any distribution over trees. Each
    iteration maximises the bound over q(phi) and beta together, which takes fewer iterations than
    one after the other, and never falls. Weights of beta stay above 1e-8, as its density is
    unbounded at the edge of the simplex. Where "gem" is the prior, symbols are sorted whenever that
    raises the bound.

    Symbols that share out what one could do are local maxima. So, with "vb", when the bound rises
    by less than 1e-4 of itself, symbols are left out one by one, the least used first, with all
    rules among the others a little likely; if the bound gets higher than before within ten
    expectations, the ascent goes on from there. Such a trial counts as an iteration.

    The bound has many local maxima still: use `n_init`.

    References
    ----------
    P. Liang, M. I. Jordan, D. Klein (2009), Probabilistic grammars and hierarchical Dirichlet
    processes, in The Handbook of Applied Bayesian Analysis, Oxford University Press.

    Examples
    --------
    >>> from skdp.grammar import HDPPCFG
    >>> sentences = [[0, 1, 2], [0, 2], [0, 1, 1, 2], [0, 1, 2], [0, 2]]
    >>> model = HDPPCFG(3, emission_prior=0.1, n_init=4, random_state=0).fit(sentences)
    >>> model.predict([[0, 1, 2]])[0].leaves
    ('0', '1', '2')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ResumableEstimator._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_preterminals": [Interval(Integral, 1, None, closed="left"), None],
        "top_prior": [StrOptions({"gem", "dirichlet"})],
        "top_concentration": [_POSITIVE],
        "root_concentration": [_POSITIVE],
        "rule_type_prior": [_POSITIVE, "array-like"],
        "emission_prior": [_POSITIVE],
        "binary_concentration": [_POSITIVE, "array-like"],
        "inference": [StrOptions({"vb", "em", "viterbi-em"})],
        "pseudo_count": [Interval(Real, 0, 1e8, closed="both")],
        "init": [StrOptions({"random", "annealed"})],
        "predict_method": [StrOptions({"expected-log", "mean"})],
        "max_length": [Interval(Integral, 1, None, closed="left"), None],
        "dtype": [StrOptions({"float64", "float32"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    _free_in_warm_start = ResumableEstimator._free_in_warm_start | {"tol", "predict_method"}

    _free_in_checkpoints = ResumableEstimator._free_in_checkpoints | {"predict_method"}

    _steps_in_place = False

    _feature_attributes = (
        *ResumableEstimator._feature_attributes, "n_words_", "_sentence_length"
    )  # fmt: skip

    _step_name = "iteration"

    _sample_kind = "sentence"
    """What `skdp.utils.estimator_checks` feeds it."""

    def __init__(
        self,
        n_components: int = 20,
        *,
        n_preterminals: int | None = None,
        top_prior: str = "gem",
        top_concentration: float = 1.0,
        root_concentration: float = 1.0,
        rule_type_prior: float | ArrayLike = 1.0,
        emission_prior: float = 1.0,
        binary_concentration: float | ArrayLike = 1.0,
        inference: str = "vb",
        pseudo_count: float = 0.0,
        init: str = "random",
        predict_method: str = "expected-log",
        max_length: int | None = None,
        dtype: str = "float64",
        max_iter: int = 100,
        tol: float = 1e-4,
        n_init: int = 1,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.n_preterminals = n_preterminals
        self.top_prior = top_prior
        self.top_concentration = top_concentration
        self.root_concentration = root_concentration
        self.rule_type_prior = rule_type_prior
        self.emission_prior = emission_prior
        self.binary_concentration = binary_concentration
        self.inference = inference
        self.pseudo_count = pseudo_count
        self.init = init
        self.predict_method = predict_method
        self.max_length = max_length
        self.dtype = dtype
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether a fit came to a result: one that was interrupted early did not."""
        return hasattr(self, "_grammar")

    # Validation

    def _validate_parameters(self) -> None:
        validate_parameters(self)
        self._priors(Layout(1, self.n_components, self.n_preterminals))
        if self.inference == "vb" and self.pseudo_count != 0.0:
            raise ValueError(
                "pseudo_count is for inference='em' and 'viterbi-em'; 'vb' has priors instead. Got "
                f"pseudo_count={self.pseudo_count!r}."
            )
        if self.inference == "viterbi-em" and self.init == "annealed":
            raise ValueError(
                "init='annealed' does nothing with inference='viterbi-em': the best trees are the "
                "same under any power of the weights."
            )

    def _priors(self, layout: Layout) -> GrammarPriors:
        return GrammarPriors(
            TopPrior(self.top_prior, float(self.top_concentration)),
            float(self.root_concentration),
            read_row(self, "rule_type_prior", layout.n_rule_types, "rule type"),
            float(self.emission_prior),
            read_row(self, "binary_concentration", len(layout.blocks), "type of binary rules"),
        )

    def _check_input(self, X: Any, y: Any = None) -> TokenSequences:
        sentences, has_words = without_empty(check_sentences(self, X, reset=True))
        if not has_words.any():
            raise ValueError(
                f"Found 0 word(s) in X while a minimum of 1 is required by {type(self).__name__}."
            )
        check_size(self.n_words_, self.n_components, self.n_preterminals, self.n_init)
        if self.max_length is None:
            return sentences
        short = np.diff(sentences.ptr) <= self.max_length
        if not short.any():
            raise ValueError(f"All sentences are longer than max_length={self.max_length} words.")
        if not short.all():
            warnings.warn(
                f"{np.count_nonzero(~short)} of {len(short)} sentences are longer than "
                f"max_length={self.max_length} words and are left out of the fit.",
                stacklevel=4,
            )
            sentences = sentences[short]
        return sentences

    # Coordinate ascent

    def _start(self, data: TokenSequences) -> SavedRuns:
        root = make_seed_sequence(self.random_state)
        layout = Layout(data.n_features, self.n_components, self.n_preterminals)
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
            seed = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, Role.INIT, i))
            start = start_weights(layout, rule_types, np.random.default_rng(seed))
            runs.append(Induction(grammar, start, flat, n_annealed))
        return SavedRuns(runs, root)

    def _plan(self, run: Induction, data: TokenSequences) -> tuple[Expectation, float, int]:
        n_jobs = self.n_jobs if self.n_init == 1 else 1  # starts have the threads
        if self.inference == "viterbi-em":
            expect = partial(count_best_trees, data, run.grammar.layout, n_jobs)
        else:
            batches = SentenceBatches.of(data)
            expect = partial(count_expected, batches, np.dtype(self.dtype), n_jobs)
        tol = self.tol * len(data.tokens)
        run.judge(tol)  # that of an earlier fit may have been larger
        return expect, tol, self.max_iter

    @staticmethod
    def _advance(run: Induction, plan: tuple[Expectation, float, int], n_steps: int) -> Induction:
        expect, tol, max_iter = plan
        run = run.copy()
        for _ in range(min(n_steps, max_iter - run.n_iter)):
            if run.converged:
                break
            run.step(expect, tol)
        return run

    @staticmethod
    def _n_steps(run: Induction) -> int:
        return run.n_iter

    def _is_done(self, run: Induction) -> bool:
        return run.converged or run.n_iter >= self.max_iter

    @staticmethod
    def _has_result(run: Induction) -> bool:
        return bool(run.lower_bounds)

    def _progress(self, runs: list[Induction]) -> str:
        bounds = [run.lower_bounds[-1] for run in runs if run.lower_bounds]
        return f"lower bound {max(bounds):.8g}" if bounds else "annealing"

    def _warn_unless_converged(self, saved: SavedRuns) -> None:
        warn_unless_converged(self, max(saved.runs, key=lambda run: run.bound))

    def _fitted_attributes(self, saved: SavedRuns, *, final: bool = False) -> dict[str, Any]:
        bounds = [run.bound for run in saved.runs]
        best = saved.runs[int(np.argmax(bounds))]
        grammar = best.grammar
        probabilities = grammar.probabilities()
        nodes = grammar.counts.of_nodes(grammar.layout)
        active = grammar.counts.active(grammar.layout)
        return {
            "top_weights_": np.concatenate(grammar.top_weights),
            "root_probs_": probabilities.root,
            "rule_type_probs_": probabilities.rule_type,
            "emission_probs_": probabilities.emission,
            "binary_probs_": probabilities.binary,
            "symbol_shares_": nodes / nodes.sum(),
            "lower_bound_": max(bounds),
            "lower_bounds_": np.array(best.lower_bounds),
            "init_lower_bounds_": np.array(bounds),
            "n_active_components_": int(np.count_nonzero(active)),
            "n_active_rules_": count_active_rules(grammar.weights(), active, grammar.layout),
            "n_iter_": best.n_iter,
            "_grammar": grammar,
        }

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a grammar from sentences.

        Parameters
        ----------
        X : TokenSequences, list of sentences, or (n_sentences, length) array of int
            A sentence in a list is a sequence of word ids; the rows of an array are sentences of
            one length. Sentences without words are left out.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X or a parameter is invalid. The estimator is left as it was.
        KeyboardInterrupt
            When interrupted, once the iteration under way is done. If every start has a bound by
            then, the estimator is fitted with what there is; another `fit` with
            ``warm_start=True`` goes on.

        Warns
        -----
        ConvergenceWarning
            If the best start did not converge within `max_iter` iterations.
        """
        return self._fit(X)

    def predict(self, X: Any) -> list[ParseTree | None]:
        """Return the best parse tree of each sentence.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of n_sentences ParseTree or None
            Symbols are labelled S0, S1, ..., or P0, ... and C0, ... in the order of the attributes;
            words are the ids as text: ``tree.with_leaves(words)`` puts others in their place. A
            sentence that has no parse gets a flat tree, with a warning. None: of a sentence without
            words, of which there is no tree.
        """
        check_is_fitted(self)
        sentences, has_words = without_empty(check_sentences(self, X, reset=False))
        layout = self._grammar.layout
        if self.predict_method == "mean":
            weights = self._mean_weights()
        else:
            weights = self._grammar.weights()
        log_prob, trees = viterbi(sentences, weights, n_jobs=self.n_jobs)
        self._warn_unparsed(np.isneginf(log_prob), "get a flat tree")
        fallback = layout.names[int(np.argmax(self.root_probs_))]
        made = iter(make_trees(trees, sentences, layout.names, fallback))
        return [next(made) if any_words else None for any_words in has_words]

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the expected shares of the symbols among the nodes of each sentence's tree.

        Expected under the posterior mean of the grammar.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sentences, n_symbols) array
            Rows sum to 1. A sentence without words gets `symbol_shares_`, what is known of any
            sentence; one that has no parse gets them, too, with a warning.
        """
        check_is_fitted(self)
        sentences, has_words = without_empty(check_sentences(self, X, reset=False))
        nodes = expected_symbols(sentences, self._mean_weights(), n_jobs=self.n_jobs)
        unparsed = nodes.sum(axis=1) == 0.0
        self._warn_unparsed(unparsed, "get mean shares")
        nodes[unparsed] = self.symbol_shares_
        shares = np.tile(self.symbol_shares_, (len(has_words), 1))
        shares[has_words] = nodes / nodes.sum(axis=1, keepdims=True)
        return shares

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log probability of each sentence, under the posterior mean of the grammar.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sentences,) array
            Natural logarithm; 0 for a sentence without words, of which nothing is scored; -inf,
            with a warning, for one that has no parse.
        """
        check_is_fitted(self)
        sentences, has_words = without_empty(check_sentences(self, X, reset=False))
        scores = np.zeros(len(has_words))
        scores[has_words] = inside(sentences, self._mean_weights(), n_jobs=self.n_jobs)
        self._warn_unparsed(np.isneginf(scores), "have probability 0")
        return scores

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log probability of a word: higher is better.

        Parameters
        ----------
        X : as in `fit`
        y : ignored

        Returns
        -------
        float
            ``score_samples(X).sum()`` over the number of words.

        Raises
        ------
        ValueError
            If no sentence has a word.
        """
        check_is_fitted(self)
        sentences = check_sentences(self, X, reset=False)
        if len(sentences.tokens) == 0:
            raise ValueError("X has no words to score.")
        return float(self.score_samples(sentences).sum() / len(sentences.tokens))

    def perplexity(self, X: Any) -> float:
        """Return ``exp(-score(X))``: lower is better.

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
            Longer sentences are drawn again: a learnt grammar may have trees without end.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        sentences : TokenSequences
        trees : list of n_sentences ParseTree

        Raises
        ------
        ValueError
            If hardly any tree of the grammar is that short.
        """
        check_is_fitted(self)
        n_sentences = check_count(n_sentences, "n_sentences", at_least=1)
        max_length = check_count(max_length, "max_length", at_least=1)
        rng = np.random.default_rng(make_seed_sequence(random_state))
        layout = self._grammar.layout
        weights = self._mean_weights()
        sentences, trees = draw_sentences(weights, n_sentences, max_length, rng)
        return sentences, make_trees(trees, sentences, layout.names, "")

    @property
    def _n_features_out(self) -> int:
        return len(self.top_weights_)

    def _mean_weights(self) -> RuleWeights:
        return self._grammar.probabilities().weights(self._grammar.layout)

    @staticmethod
    def _warn_unparsed(unparsed: NDArray[np.bool_], consequence: str) -> None:
        if unparsed.any():
            warnings.warn(
                f"{np.count_nonzero(unparsed)} of {len(unparsed)} sentences have no parse under "
                f"the grammar and {consequence}.",
                stacklevel=3,
            )
