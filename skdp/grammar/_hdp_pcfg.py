"""Probabilistic context-free grammars whose size is inferred."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from skdp._executors import Executor, choose_executor
from skdp._public import public
from skdp._random import Role, make_seed_sequence
from skdp._resumable import ResumableEstimator, SavedRuns
from skdp._sklearn_compat import (
    Interval,
    StrOptions,
    validate_parameters,
    with_callbacks,
)
from skdp.data import PartitionedSentences, TokenSequences, check_sentences
from skdp.data._validation import check_partitioned_sentences
from skdp.grammar._chart._batches import SentenceBatches, without_empty
from skdp.grammar._coordinate_ascent import Expectation, warn_unless_converged
from skdp.grammar._induction._ascent import Induction, start_weights
from skdp.grammar._induction._counts import count_active_rules, count_expected
from skdp.grammar._induction._layout import Layout, check_size, read_row
from skdp.grammar._induction._maximum_likelihood import MaximumLikelihoodGrammar
from skdp.grammar._induction._partitions import PlacedSentences
from skdp.grammar._induction._predictions import GrammarPredictions
from skdp.grammar._induction._trees import count_best_trees
from skdp.grammar._induction._variational import GrammarPriors, VariationalGrammar
from skdp.grammar._top_weights import TopPrior
from skdp.inference import warn_user

_ANNEALED_SHARE = 0.2
"""Annealed starts anneal for this share of the iterations, at most `_MOST_ANNEALED`."""

_MOST_ANNEALED = 40

_POSITIVE = Interval(Real, 1e-8, 1e8, closed="both")


@public
class HDPPCFG(GrammarPredictions, ResumableEstimator):
    r"""Probabilistic context-free grammar with a hierarchical Dirichlet process (HDP-PCFG).

    It learns a grammar from sentences alone. A symbol z emits a word, z -> x, or has two children,
    z -> z' z''. The distributions over pairs of children share top-level weights beta, phi^B_z ~
    DP(alpha, beta beta'), so the data decide how many symbols are used. The fit is by structured
    mean field, or by maximum likelihood as a baseline.

    Parameters
    ----------
    n_components : int, default=20
        Upper bound K on the number of symbols, or of constituents if `n_preterminals` is given.
    n_preterminals : int or None, default=None
        Upper bound P on the number of symbols that only emit words. The K others then only branch:
        their children are preterminals or constituents (PP, PC, CP, CC). None: symbols do both.
    top_prior : {"gem", "dirichlet"}, default="gem"
        Prior of beta: truncated GEM(gamma) or Dirichlet(gamma / K), which is sparser.
    top_concentration : float, default=1.0
        Concentration gamma of the top-level weights beta, from 1e-8 to 1e8: the larger, the more
        components are used.
    root_concentration : float, default=1.0
        The first symbol of a tree has a distribution from Dirichlet(root_concentration beta).
    rule_type_prior : float or array-like, default=1.0
        alpha^T > 0, the Dirichlet prior of the types of rules: (emission, binary), or (PP, PC, CP,
        CC). Random starts have the types that it expects, so it has a strong effect: a value ten
        times the others encourages nested constituents for CC, right branches for PC and CC.
    emission_prior : float, default=1.0
        Dirichlet prior alpha^E of each word of a symbol, from 1e-8 to 1e8.
    binary_concentration : float or array-like, default=1.0
        alpha^B > 0: the larger, the closer the children follow beta, whatever their parent. An
        array holds one value for each of (PP, PC, CP, CC).
    inference : {"vb", "em", "viterbi-em"}, default="vb"
        "vb": structured mean field. "em": maximum likelihood. "viterbi-em": maximum likelihood of
        the best analysis of each sentence alone. The last two have no priors but use
        `pseudo_count`.
    pseudo_count : float, default=0.0
        Number, at least 0, that "em" and "viterbi-em" add to the count of every rule.
    init : {"random", "annealed"}, default="random"
        Both start from a random grammar with the types of rules that `rule_type_prior` expects.
        "annealed": during the first fifth of the iterations, at most 40, the weights of rules are
        interpolated between those of a uniform grammar with these types and their own (a product of
        powers, one rising to 1, the other falling to 0).
    predict_method : {"expected-log", "mean"}, default="expected-log"
        Whether the best tree is the one under the expected logarithms of the rules, as in the fit,
        or under their posterior means (Liang et al. 2009, 4.3, options 1 and 2).
    max_length : int or None, default=None
        The fit leaves out longer sentences, with a warning, since time grows with the cube of the
        length. None: use all sentences. Other methods accept any length.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the expectations in the fit. "float32" takes about half the time.
    max_iter : int, default=100
        Largest number of iterations from each start.
    tol : float, default=1e-4
        The ascent stops when the lower bound rises by no more than `tol` per word.
    n_init : int, default=1
        Number of random starts; the one with the highest lower bound is kept.
    warm_start : bool, default=False
        Keep the state of the fit, so that another `fit` on the same X continues where this one
        stopped: after an interruption, or with a larger `max_iter`.
    n_jobs : int or None, default=None
        Number of threads (or of workers of joblib's active backend). Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of random numbers. An int gives the same result every time.
    verbose : int, default=0
        Print a line every `verbose` sweeps or iterations; 0: print nothing.

    Attributes
    ----------
    top_weights_ : (n_symbols,) array
        beta. n_symbols is K, or P + K with preterminals. These come first, here and below; their
        weights sum to 1, and so do those of the constituents. Without "vb": uniform.
    root_probs_ : (n_symbols,) array
        Probabilities of the first symbol of a tree (posterior means, as below).
    rule_type_probs_ : (K, 2) or (K, 4) array
        Probabilities of (emission, binary) or of (PP, PC, CP, CC).
    emission_probs_ : (K, n_words) or (P, n_words) array
        Probabilities of words, given that the symbol emits one.
    binary_probs_ : (K, n_symbols, n_symbols) array
        Probabilities of left and right children, given that the symbol branches.
    symbol_shares_ : (n_symbols,) array
        Expected shares of the symbols among the nodes of all training trees. After "em" without
        pseudo-counts, trees drawn from the grammar have the same shares; under other grammars,
        trees may be infinite and have no such shares.
    lower_bound_ : float
        Lower bound on log p(sentences, beta), with a density of beta: less log p(beta), a bound on
        log p(sentences | beta). Without "vb": the maximized log likelihood.
    lower_bounds_ : (n_recorded,) array
        Lower bound after each iteration that was neither annealed nor in vain; never decreasing.
    init_lower_bounds_ : (n_init,) array
        The last lower bound of each start.
    n_active_components_ : int
        Number of symbols with at least 1e-6 expected nodes in the training trees.
    n_active_rules_ : int
        Number of rules of these symbols, including emissions, with a weight of at least 1e-6.
    n_iter_ : int
        Number of iterations from the best start.
    n_words_ : int
        Size V of the vocabulary.
    n_features_in_ : int
        V, or the length of a sentence if the model was fitted on an array.
    feature_names_in_ : array
        Only if X was a data frame with string column names.

    See Also
    --------
    inside_outside : Expected counts under a known grammar.

    Notes
    -----
    q(beta) is a point, the q(phi) are Dirichlet distributions, and q(z) is any distribution over
    trees. Each iteration maximizes the bound over q(phi) and beta jointly, which takes fewer
    iterations than taking turns; the bound never falls. The weights beta stay above 1e-8, because
    their density is unbounded at the edge of the simplex. Under the "gem" prior, symbols are sorted
    whenever that raises the bound.

    A grammar in which several symbols share the role of one is a local maximum. So, with "vb", when
    the bound rises by less than 1e-4 of itself, symbols are removed one by one, the least used
    first, and all rules among the others are given a small probability. If the bound exceeds its
    old value within ten expectations, the ascent continues from there. Such a trial counts as an
    iteration, and the fit stops only when no symbol can be removed. Many local maxima remain: use
    `n_init`. `n_jobs` threads work on starts, or on sentences if there is only one start.

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
                "init='annealed' has no effect with inference='viterbi-em': the best trees are the "
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

    def _check_input(
        self, X: Any, y: Any = None, executor: Executor | None = None
    ) -> TokenSequences | PlacedSentences:
        if executor is not None:
            return self._place(X, executor)
        sentences, has_words = without_empty(check_sentences(self, X, reset=True))
        self._check_words(bool(has_words.any()))
        check_size(self.n_words_, self.n_components, self.n_preterminals, self.n_init)
        if self.max_length is None:
            return sentences
        short = np.diff(sentences.ptr) <= self.max_length
        self._check_lengths(int(np.count_nonzero(short)), len(short))
        if not short.all():
            sentences = sentences[short]
        return sentences

    def _place(self, X: PartitionedSentences, executor: Executor) -> PlacedSentences:
        """Return sentences in partitions, opened where they are worked on."""
        check_partitioned_sentences(self, X, reset=True)
        check_size(self.n_words_, self.n_components, self.n_preterminals, self.n_init)
        placed = PlacedSentences(X, executor, self.max_length)
        self._check_words(placed.n_with_words > 0)
        self._check_lengths(placed.n_kept, placed.n_with_words)
        return placed

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

    # Coordinate ascent

    def _start(self, data: TokenSequences | PlacedSentences) -> SavedRuns:
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

    def _plan(
        self, run: Induction, data: TokenSequences | PlacedSentences
    ) -> tuple[Expectation, float, int]:
        n_words = data.n_words if isinstance(data, PlacedSentences) else len(data.tokens)
        tol = self.tol * n_words
        run.judge(tol)  # that of an earlier fit may have been larger
        return self._expectation(run.grammar.layout, data), tol, self.max_iter

    def _expectation(self, layout: Layout, data: TokenSequences | PlacedSentences) -> Expectation:
        """Return what counts rules under given weights."""
        is_best, dtype = self.inference == "viterbi-em", np.dtype(self.dtype)
        if isinstance(data, PlacedSentences):
            return data.best_counts(layout) if is_best else data.expected_counts(dtype)
        n_jobs = self.n_jobs if self.n_init == 1 else 1  # starts have the threads
        if is_best:
            return partial(count_best_trees, data, layout, n_jobs)
        return partial(count_expected, SentenceBatches.of(data), dtype, n_jobs)

    def _advance_all(self, runs: list[Induction], plans: list[Any], step: int) -> list[Induction]:
        if isinstance(getattr(plans[0][0].func, "__self__", None), PlacedSentences):
            # The partitions have the threads or the workers.
            pairs = zip(runs, plans, strict=True)
            return [self._advance(run, plan, step) for run, plan in pairs]
        return super()._advance_all(runs, plans, step)

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
            equal length. Sentences without words are left out. Or PartitionedSentences: expected
            counts are summed over partitions, in threads or, with
            ``joblib.parallel_config("dask")``, in the workers of a cluster. Results depend on the
            partitions by rounding, on nothing else.
        y : ignored
            Present by scikit-learn's convention.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X or a parameter is invalid. The estimator is left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current iteration. If every start has a lower bound by
            then, the estimator is fitted with the result so far; another `fit` with
            ``warm_start=True`` continues.

        Warns
        -----
        ConvergenceWarning
            If the best start did not converge within `max_iter` iterations.
        """
        if not isinstance(X, PartitionedSentences):
            return self._fit(X)
        self._validate_parameters()
        with choose_executor(self.n_jobs) as executor:
            return self._fit(X, executor=executor)
