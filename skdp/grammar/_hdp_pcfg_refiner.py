"""Refinement of treebank grammars by subsymbols, whose number is inferred."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_memory, is_number, shorten
from skdp._fit import FitState, IterativeEstimator
from skdp._numeric._random import Role, derive_seed, make_seed_sequence
from skdp._sklearn_compat import Interval, StrOptions, validate_parameters, with_callbacks
from skdp.data._parse_tree import as_in_treebanks
from skdp.grammar._chart._ascents import Expectation
from skdp.grammar._refinement._ascent import (
    MaximumLikelihoodRefinement,
    RefinedTables,
    Refinement,
    RefinementPriors,
    VariationalRefinement,
    count_nodes,
    expect,
    expect_best,
)
from skdp.grammar._refinement._parser import RefinedParser, RefinedParsing, make_backoff
from skdp.grammar._refinement._split_merge import (
    RefinementAscents,
    SplitMergeSchedule,
    SubsymbolSplitMerge,
)
from skdp.grammar._refinement._treebank import (
    CoarseRules,
    Treebank,
    TreebankLexicon,
    binarize_all,
    check_preterminals,
    check_sentences,
    check_trees,
    check_yields,
    flatten,
)

ACTIVE = 1e-6
"""Least expected nodes of active subsymbols, and least weight of their active rules."""

_WIDTHS = (10.0, 20.0)
"""Parsing keeps parts of coarse trees whose log probability is below the best by at most the
first width, or the next if the refined grammar allows no tree of these."""

_MOST_STEPS = 50
"""Default of the largest number of iterations."""

_POSITIVE = Interval(Real, 1e-8, 1e8, closed="both")

_AUTO = StrOptions({"auto"})


class _Data(NamedTuple):
    """Training data of `fit`."""

    lexicon: TreebankLexicon
    trees: Treebank
    n_words: int


class HDPPCFGRefiner(RefinedParsing, IterativeEstimator):
    r"""Refined treebank grammar with a hierarchical Dirichlet process (HDP-PCFG-GR).

    The symbols of a treebank are too coarse: an NP that is a subject differs from one that is an
    object. So every symbol s has subsymbols z, which are not part of the trees but learned from
    them. They share top-level weights beta_s, so the data determine the number of subsymbols of a
    symbol; `n_components` is only an upper bound. Sentences are parsed with the refined grammar,
    and the resulting trees have the symbols of the treebank.

    Parameters
    ----------
    n_components : int, default=8
        Upper bound K on the number of subsymbols of each symbol (truncation).
    binary_concentration : float or "auto", default="auto"
        alpha^B > 0. Given the parent, the distribution of the subsymbols of two children s', s'' is
        drawn from DP(alpha^B, beta_s' beta_s''^T): for larger alpha^B they depend less on the
        parent. "auto": 2 K^1.25, which grows faster than K but more slowly than the number of pairs
        (Liang et al. 2009, table 1).
    unary_concentration : float or "auto", default="auto"
        alpha^U > 0, the same for DP(alpha^U, beta_s') for an only child and for the root of a tree.
        "auto": the value of `binary_concentration`.
    top_concentration : float, default=1.0
        Concentration gamma of the top-level weights beta, from 1e-8 to 1e8: the larger, the more
        components are used.
    rule_type_prior : float, default=1.0
        alpha^T > 0, the Dirichlet prior of the types of rules: a word, one child, two children.
    emission_prior : float, default=1.0
        Dirichlet prior alpha^E of each word of a symbol, from 1e-8 to 1e8.
    symbol_prior : float or "auto", default="auto"
        alpha^u, alpha^b > 0, the Dirichlet priors of the coarse symbols of one and of two children.
        "auto": 1 divided by their number, for each symbol.
    inference : {"vb", "em", "viterbi-em", "split-merge"}, default="vb"
        "vb": structured mean field. "em": maximum likelihood. "viterbi-em": maximum likelihood of
        the best analysis of each sentence alone. "split-merge": maximum likelihood by cycles that
        split subsymbols and merge those whose merge loses little; the final numbers of subsymbols
        differ among symbols (Petrov et al. 2006). The last three have no priors; "em" and
        "viterbi-em" use `pseudo_count`.
    pseudo_count : float, default=0.0
        Number >= 0 that "em" and "viterbi-em" add to the count of every rule.
    n_cycles : int or "auto", default="auto"
        Number of cycles of "split-merge", >= 0; 0 gives the treebank's own grammar. "auto": the
        logarithm of `n_components` to base 2, rounded up. No symbol gets more than `n_components`.
    merge_share : float, default=0.5
        Share of the splits of a cycle of "split-merge" that are undone, from 0 to 1.
    min_word_count : int, default=5
        Words that are rarer than this in the training sentences, or do not occur there, are
        unknown: they are replaced by classes that depend on their spelling, as in
        :class:`~skdp.feature_extraction.TokenVectorizer` with its English affixes, and with
        separate classes at the start of sentences. In parsing, a rare word of the training trees
        has the weights of its class times P(tag | word) / P(tag | class), estimated from its own
        tags plus half a token with the tags of the class. If no training word is rare, as with 1,
        all unknown words are one class that has half a token with the tags of all words.
    decoding : {"max-rule", "projection", "marginal"}, default="max-rule"
        Criterion for the best tree, given the posterior probabilities of rules at their places,
        summed over subsymbols. "max-rule": the tree with the highest product of these
        probabilities. "projection": the tree with the highest probability under the distribution
        over trees in which rules are chosen independently and have these probabilities (Liang et
        al. 2009, 4.3.1). "marginal": among the 50 best trees by "max-rule" (4.3, option 3), the
        tree with the highest probability, summed over subsymbols, under the posterior means of the
        rules; in (21) the mean is that of the probability. With one subsymbol it is the most
        probable tree of the treebank's own grammar.
    max_iter : int or "auto", default="auto"
        Largest number of iterations. "auto": 50; with "split-merge" 35 for each cycle. Smaller
        numbers leave out cycles.
    tol : float, default=1e-4
        The ascent stops when the lower bound rises by no more than `tol` per word; with
        "split-merge" the next phase begins.
    n_products : int, default=1
        Number of grammars that parse jointly. They are fitted to the same trees from different
        noise, and the score of a tree is the product of the posterior probabilities of its rules
        under all grammars. The times of fitting and parsing are multiplied by this number.
    horizontal_order : int, default=0
        Number of siblings in the symbols of the intermediate nodes of binary trees (see
        :func:`binarize`), at least 0. 1 gives more rules, and a better grammar with up to four
        subsymbols.
    vertical_order : int, default=1
        Number of ancestors in the symbols of phrases, plus 1; at least 1. Tags and the trees of
        `predict` and `k_best` have the symbols of the treebank for all orders. If a sentence has no
        parse with such symbols, `predict` parses it with the treebank's own grammar, of orders 0
        and 1 and without subsymbols.
    n_jobs, random_state, verbose

    Attributes
    ----------
    symbols_ : tuple of S str
        The symbols of the treebank, in alphabetical order. Those that begin with "@" are
        intermediate nodes made by :func:`binarize`. With `vertical_order` > 1 phrases and
        preterminals are different symbols, and those of phrases have ancestors after a "^".
    top_weights_ : (S, K) array
        beta_s; rows sum to 1. Without "vb": uniform. With "split-merge" K is the largest number of
        subsymbols of a symbol, and missing subsymbols have weight 0.
    subsymbol_counts_ : (S, K) array
        Expected number of nodes of the training trees.
    n_active_components_ : (S,) array of int
        Number of subsymbols with at least 1e-6 expected nodes.
    n_active_rules_ : int
        ``count_active_rules(1e-6)``.
    lower_bound_ : float
        Lower bound on log p(trees, beta), for words and coarse trees jointly, including the
        densities of beta. Without "vb": the maximized log likelihood; with "split-merge", that of
        the smoothed grammar.
    lower_bounds_ : (n_recorded,) array
        Lower bound after each iteration that did not lower it by rounding; never decreasing. With
        "split-merge", the bound after every iteration, which may fall by noise, merges and
        smoothing.
    n_iter_ : int
    convergence_
    binary_concentration_, unary_concentration_ : float
        The values used.
    vocabulary_ : tuple of str
        Known words and classes of unknown words.

    See Also
    --------
    HDPPCFG : Learns grammars from sentences without trees.
    skdp.metrics.bracket_scores : Computes the measure that `score` returns.
    read_trees : Reads the trees in a file.
    skdp.context.LexicalizedEventModel : Ranks the parses of a sentence by their words.

    Notes
    -----
    Brackets are equivalent to their names in treebanks, such as -LRB- and -RRB- for parentheses, in
    trees and in sentences.

    The right-hand sides, words and types of rules of a symbol are those that occur in the trees,
    and the priors are over these. A word is emitted only by the symbols that emit it in the trees.
    The root of a tree is the only child of an invisible symbol without subsymbols.

    A fit starts with the coarse grammar and noise. For K >= 16, it starts with two or three
    subsymbols, which are split in two, with noise, after every ten iterations until there are K.
    These iterations are not counted; their "auto" concentrations are those of the current number of
    subsymbols.

    Each iteration finds the best q(z) over the subsymbols of the trees, in time linear in their
    nodes, then updates q(phi) and the points beta_s alternately. The first 20 iterations leave beta
    uniform, because GEM would drop subsymbols that are needed before they differ. The bound never
    falls. Subsymbols are sorted by their weights whenever this raises it. After the first 50, every
    iteration tries to merge two of them, since several subsymbols that share the role of one are a
    local maximum. `n_jobs` threads parse sentences.

    "split-merge" begins with the grammar of the treebank. In a cycle every subsymbol is split in
    two, with noise, up to `n_components` per symbol; after 20 iterations of EM, the splits with the
    least gain in log likelihood are undone, where each gain is estimated by undoing the split at
    one node at a time. After 15 more iterations, every rule is mixed with the mean over the
    subsymbols of its left side, with weight .01 (.1 for words).

    `predict` works in two passes. First it finds the best tree of the coarse grammar for every item
    of the chart, and drops every item, or rule at a place, whose best tree is more than exp(10)
    times less likely than the best of all (exp(20) times, if the refined grammar allows no
    remaining tree). Then it sums over the subsymbols of the remaining trees, which gives the
    posterior probabilities of coarse rules at their places. From these `decoding` chooses a tree.
    With `n_products` > 1 all grammars sum over the remaining trees, and posterior probabilities are
    multiplied first; attributes and probabilities of sentences and trees come from the grammar with
    the highest lower bound. A sentence without a tree that every grammar allows has no parse.
    Chains of unary rules may be as long as in the training trees; nodes with the same span are
    distinguished by the rules below them.

    References
    ----------
    P. Liang, M. I. Jordan, D. Klein (2009), Probabilistic grammars and hierarchical Dirichlet
    processes, in The Handbook of Applied Bayesian Analysis, Oxford University Press.

    S. Petrov, L. Barrett, R. Thibaux, D. Klein (2006), Learning accurate, compact, and
    interpretable tree annotation, ACL.

    Examples
    --------
    >>> from skdp.grammar import HDPPCFGRefiner, ParseTree
    >>> trees = [
    ...     ParseTree.from_brackets("(S (NP (DT the) (NN dog)) (VP (VB barks)))"),
    ...     ParseTree.from_brackets("(S (NP (DT a) (NN cat)) (VP (VB sleeps)))"),
    ... ]
    >>> sentences = [tree.leaves for tree in trees]
    >>> model = HDPPCFGRefiner(2, min_word_count=1, random_state=0).fit(sentences, trees)
    >>> model.predict([["a", "dog", "sleeps"]])
    [<ParseTree (S (NP (DT a) (NN dog)) (VP (VB sleeps)))>]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeEstimator._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "binary_concentration": [_POSITIVE, _AUTO],
        "unary_concentration": [_POSITIVE, _AUTO],
        "top_concentration": [_POSITIVE],
        "rule_type_prior": [_POSITIVE],
        "emission_prior": [_POSITIVE],
        "symbol_prior": [_POSITIVE, _AUTO],
        "inference": [StrOptions({"vb", "em", "viterbi-em", "split-merge"})],
        "pseudo_count": [Interval(Real, 0, 1e8, closed="both")],
        "n_cycles": [Interval(Integral, 0, None, closed="left"), _AUTO],
        "merge_share": [Interval(Real, 0, 1, closed="both")],
        "min_word_count": [Interval(Integral, 1, None, closed="left")],
        "decoding": [StrOptions({"max-rule", "projection", "marginal"})],
        "max_iter": [*IterativeEstimator._parameter_constraints["max_iter"], _AUTO],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_products": [Interval(Integral, 1, None, closed="left")],
        "horizontal_order": [Interval(Integral, 0, None, closed="left")],
        "vertical_order": [Interval(Integral, 1, None, closed="left")],
    }

    _free_in_checkpoints = IterativeEstimator._free_in_checkpoints | {"decoding"}

    _feature_attributes = (*IterativeEstimator._feature_attributes, "_backoff")

    _sample_kind = "tree"
    """Kind of the data that `skdp.utils.estimator_checks` passes to the estimator."""

    warm_start: ClassVar[bool] = False
    """This is not a parameter: every fit starts from scratch."""

    def __init__(
        self,
        n_components: int = 8,
        *,
        binary_concentration: float | str = "auto",
        unary_concentration: float | str = "auto",
        top_concentration: float = 1.0,
        rule_type_prior: float = 1.0,
        emission_prior: float = 1.0,
        symbol_prior: float | str = "auto",
        inference: str = "vb",
        pseudo_count: float = 0.0,
        n_cycles: int | str = "auto",
        merge_share: float = 0.5,
        min_word_count: int = 5,
        decoding: str = "max-rule",
        max_iter: int | str = "auto",
        tol: float = 1e-4,
        n_products: int = 1,
        horizontal_order: int = 0,
        vertical_order: int = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether a fit has a result."""
        return hasattr(self, "_parser")

    # Validation

    def _validate_parameters(self) -> None:
        validate_parameters(self)
        if self.inference in ("vb", "split-merge") and self.pseudo_count != 0.0:
            instead = "has priors" if self.inference == "vb" else "smooths"
            raise ValueError(
                f"pseudo_count is for inference='em' and 'viterbi-em'; {self.inference!r} "
                f"{instead} instead. Got pseudo_count={self.pseudo_count!r}."
            )
        if self.inference == "split-merge":
            return
        for name, default in (("n_cycles", "auto"), ("merge_share", 0.5)):
            value = getattr(self, name)
            if value != default:
                raise ValueError(
                    f"{name} is for inference='split-merge'. Got {name}={value!r} with "
                    f"inference={self.inference!r}."
                )

    def _priors(self, n_components: int) -> RefinementPriors:
        binary, unary = self.binary_concentration, self.unary_concentration
        if binary == "auto":
            binary = 2.0 * n_components**1.25
        if unary == "auto":
            unary = binary
        return RefinementPriors(
            float(self.top_concentration),
            float(self.rule_type_prior),
            float(self.emission_prior),
            None if self.symbol_prior == "auto" else float(self.symbol_prior),
            float(unary),
            float(binary),
        )

    def _check_input(self, X: Any, y: Any = None) -> _Data:
        sentences, trees = check_sentences(X), check_trees(y)
        if not sentences:
            raise ValueError(
                f"Found array with 0 sample(s) while a minimum of 1 is required by "
                f"{type(self).__name__}."
            )
        check_yields(sentences, trees)
        check_preterminals(trees)
        words = [list(map(as_in_treebanks, sentence)) for sentence in sentences if sentence]
        if not words:
            raise ValueError(
                f"Found 0 word(s) in X while a minimum of 1 is required by {type(self).__name__}."
            )
        orders = self.horizontal_order, self.vertical_order
        full = [tree for tree in trees if tree is not None]
        lexicon = TreebankLexicon(words, self.min_word_count)
        binary = [tree for tree in binarize_all(trees, *orders) if tree is not None]
        flat = flatten(binary, [lexicon.encode(row) for row in words])
        lexicon.count_symbols(words, flat.word_symbols.tolist())
        n_refined = float(self.n_components) ** 3 * len(flat.rules.binary)
        n_refined += float(self.n_components) * len(flat.rules.emission)
        check_memory(
            24.0 * n_refined * self.n_products,
            f"n_components={self.n_components} subsymbols with {len(flat.rules.binary)} binary "
            f"rules and n_products={self.n_products}: weights of rules",
        )
        is_coarse = orders == (0, 1)
        self._backoff = None if is_coarse else make_backoff(full, words, lexicon, _WIDTHS)
        return _Data(lexicon, flat, sum(map(len, words)))

    # Coordinate ascent

    def _make_procedure(self, data: _Data) -> RefinementAscents:
        learn: Treebank | Expectation = data.trees
        if self.inference != "split-merge":
            learn = self._expectation(data.trees)
        return RefinementAscents(
            partial(self._start, data), learn, self.tol * data.n_words, self._most_steps,
            self.n_jobs,
        )  # fmt: skip

    def _start(self, data: _Data) -> FitState:
        root = make_seed_sequence(self.random_state)
        runs = [self._make_run(data, root, i) for i in range(self.n_products)]
        return FitState(runs, root)

    def _make_run(
        self, data: _Data, root: np.random.SeedSequence, number: int
    ) -> Refinement | SubsymbolSplitMerge:
        """Return one of the grammars; the first does not depend on their number."""
        rng = np.random.default_rng(derive_seed(root, Role.INIT, *([number] if number else [])))
        if self.inference == "split-merge":
            return SubsymbolSplitMerge(data.trees, data.lexicon, self._schedule, rng)
        return Refinement(
            partial(self._make_grammar, data.trees.rules), self.n_components, data.trees,
            data.lexicon, self._expectation(data.trees), rng,
        )  # fmt: skip

    def _make_grammar(self, rules: CoarseRules, n_components: int) -> Any:
        """Return a grammar before its first update."""
        if self.inference == "vb":
            return VariationalRefinement(rules, self._priors(n_components), n_components)
        return MaximumLikelihoodRefinement(rules, float(self.pseudo_count), n_components)

    def _expectation(self, trees: Treebank) -> Expectation:
        return partial(expect_best if self.inference == "viterbi-em" else expect, trees)

    @property
    def _schedule(self) -> SplitMergeSchedule:
        """Return the schedule of "split-merge"."""
        n_cycles = self.n_cycles
        if n_cycles == "auto":
            n_cycles = (int(self.n_components) - 1).bit_length()
        return SplitMergeSchedule(int(self.n_components), int(n_cycles), float(self.merge_share))

    @property
    def _most_steps(self) -> int:
        if self.max_iter != "auto":
            return int(self.max_iter)
        return self._schedule.most_steps if self.inference == "split-merge" else _MOST_STEPS

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        run, *others = sorted(state.runs, key=lambda run: -run.bound)
        grammar, lexicon, priors = run.grammar, run.lexicon, self._priors(self.n_components)
        rules, logs = grammar.rules, grammar.weights()
        nodes = count_nodes(rules, grammar.counts)
        parser = RefinedParser(
            rules, run.coarse_counts, run.coarse_logs, logs, grammar.log_means(), len(lexicon),
            lexicon.n_known, _WIDTHS, [other.grammar.weights() for other in others],
        )  # fmt: skip
        return {
            "symbols_": rules.symbols,
            "top_weights_": grammar.top_weights,
            "subsymbol_counts_": nodes,
            "n_active_components_": np.count_nonzero(nodes >= ACTIVE, axis=1),
            "n_active_rules_": _count_active_rules(rules, logs, nodes, ACTIVE),
            "lower_bound_": run.lower_bounds[-1],
            "lower_bounds_": np.array(run.lower_bounds),
            "n_iter_": run.n_iter,
            "binary_concentration_": priors.binary,
            "unary_concentration_": priors.unary,
            "vocabulary_": tuple(lexicon.names),
            "_logs": logs,
            "_lexicon": lexicon,
            "_parser": parser,
            "_backoff": self._backoff,
            "_orders": (self.horizontal_order, self.vertical_order),
        }

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Learn a refined grammar from sentences and their trees.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str
            The words of each sentence, including punctuation.
        y : sequence of n_sentences ParseTree or None
            Trees over these words, each the only child of its node. Nodes may have any number of
            children: trees are binarized (see :func:`binarize`). None stands for the tree of a
            sentence without words; such sentences are left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid, or the words of a tree differ from its sentence. The
            estimator is left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current iteration; the estimator is fitted with the
            result so far.

        Warns
        -----
        ConvergenceWarning
            If the fit did not converge within `max_iter` iterations.
        """
        return self._fit(X, y)

    def count_active_rules(self, threshold: float = ACTIVE) -> int:
        """Return the number of active refined rules, including emissions.

        Parameters
        ----------
        threshold : float, default=1e-6
            A subsymbol is active if it has at least this many expected nodes in the training trees,
            a rule if its weight is at least this large and all its subsymbols are active.

        Returns
        -------
        int
        """
        check_is_fitted(self)
        if not is_number(threshold) or not 0.0 < threshold < np.inf:
            raise ValueError(f"threshold must be a finite number > 0, got {shorten(threshold)}.")
        return _count_active_rules(
            self._parser.rules, self._logs, self.subsymbol_counts_, float(threshold)
        )


def _count_active_rules(
    rules: CoarseRules, logs: RefinedTables, nodes: NDArray[np.float64], threshold: float
) -> int:
    least, active = np.log(threshold), nodes >= threshold
    parent, child = active[rules.unary[:, 0]], active[rules.unary[:, 1]]
    total = np.count_nonzero((logs.emission >= least) & active[rules.emission[:, 0]])
    total += np.count_nonzero((logs.unary >= least) & parent[:, None] & child[:, :, None])
    parent, left, right = (active[symbols] for symbols in rules.binary.T)
    used = left[:, :, None, None] & right[:, None, :, None] & parent[:, None, None]
    return int(total + np.count_nonzero((logs.binary >= least) & used))
