"""Probabilistic context-free grammars of inferred size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from skdp._executors import choose_executor
from skdp._sklearn_compat import with_callbacks
from skdp.data import PartitionedSentences
from skdp.grammar._induction._estimator import GrammarEstimator, GrammarPredictions


def _is_sampled(estimator: Any) -> bool:
    """Return whether the estimator uses Gibbs sampling."""
    return bool(estimator._is_sampled)


class HDPPCFG(GrammarPredictions, GrammarEstimator):
    r"""Probabilistic context-free grammar with a hierarchical Dirichlet process (HDP-PCFG).

    The model learns a grammar from sentences alone. A symbol z emits a word, z -> x, or has two
    children, z -> z' z''. The distributions over pairs of children share top-level weights beta, so
    the data determine the number of used symbols:

    .. math::

        \phi^B_z \sim \mathrm{DP}(\alpha, \beta \beta^T)

    The fit is by structured mean field, by Gibbs sampling, or by maximum likelihood as a baseline.

    Parameters
    ----------
    n_components : int, default=20
        Upper bound K on the number of symbols, or of constituents if `n_preterminals` is given.
    n_preterminals : int or None, default=None
        Upper bound P on the number of symbols that only emit words. The K other symbols then only
        branch: their children are preterminals or constituents (PP, PC, CP, CC). None: symbols do
        both.
    top_prior : {"gem", "dirichlet"}, default="gem"
        Prior of beta: truncated GEM(gamma) or Dirichlet(gamma / K), which is sparser.
    top_concentration : float, "auto" or None, default=1.0
        Concentration gamma of the top-level weights beta, from 1e-8 to 1e8: the larger, the more
        components are used. "auto": learned, with "gibbs" only. None: beta is uniform, and all
        symbols are equally likely a priori.
    root_concentration : float or "auto", default=1.0
        Concentration of the distribution of the first symbol of a tree, which is drawn from
        Dirichlet(root_concentration beta). "auto": as above.
    rule_type_prior : float or array-like, default=1.0
        alpha^T > 0, the Dirichlet prior of the types of rules: (emission, binary), or
        (PP, PC, CP, CC). Random starts have the expected types under this prior, so it has a strong
        effect: a value ten times the others encourages nested constituents for CC, and right
        branches for PC and CC. The default suits likelihood; brackets need small values, such as
        [.01, .1, .01, .1].
    emission_prior : float, default=1.0
        Dirichlet prior alpha^E of each word of a symbol, from 1e-8 to 1e8.
    binary_concentration : float, array-like or "auto", default=1.0
        alpha^B > 0: for larger values, the distributions of children are closer to beta for all
        parents. An array has one value for each of (PP, PC, CP, CC); "auto" learns as many.
    top_concentration_prior, root_concentration_prior : (shape, rate), default=(1.0, 0.1)
        Gamma priors of concentrations that are "auto".
    binary_concentration_prior : (shape, rate), default=(1.0, 0.1)
        Gamma priors of `binary_concentration` for each type of binary rules.
    child_prior : {"joint", "independent"}, default="joint"
        "joint": the pair of children is drawn from DP(alpha, beta beta'). "independent": each child
        is drawn from its own DP(alpha, beta) (Liang et al. 2009, 2.3): fewer parameters, but a
        symbol's left and right children are independent. Not for "em".
    inference : {"vb", "gibbs", "em", "viterbi-em"}, default="vb"
        "vb": structured mean field. "gibbs": draws of trees, rules, beta and concentrations from
        their posterior. "em": maximum likelihood. "viterbi-em": maximum likelihood of the best
        analysis of each sentence alone. The last two use `pseudo_count` instead of priors.
    pseudo_count : float, default=0.0
        Number >= 0 that "em" and "viterbi-em" add to the count of every rule.
    init : {"random", "annealed"}, default="random"
        Both start from a random grammar with the types of rules that `rule_type_prior` expects.
        "annealed": during the first fifth of the iterations, at most 40, the weights of rules are
        interpolated between those of a uniform grammar with these types and their own (a product of
        powers, one rising to 1, the other falling to 0).
    predict_method : {"expected-log", "mean", "expected"}, default="expected-log"
        Criterion for the best tree. "expected-log": the expected logarithms of the rules, as in the
        fit (Liang et al. 2009, (20)). "mean": the posterior means of the rules, which are also
        those of scores and attributes; the source uses the mode (4.3, option 2), which does not
        exist for small priors. "expected": among the 50 best trees by "expected-log", the one with
        the highest expected probability (option 3 and (19)), which differs from the probability
        under the means for trees that use a rule more than once. With "gibbs", given the stored
        sample that the attributes describe; with "em", all are the same.
    max_length : int or None, default=None
        The fit leaves out longer sentences, with a warning, since time grows with the cube of the
        length; "gibbs" raises an error. None: use all sentences. Other methods accept any length.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the expectations in the fit. "float32" takes about half the time. Not for
        "gibbs".
    max_iter : int, default=100
        Largest number of iterations from each start. With "gibbs": number of sweeps of each chain;
        the next three parameters determine which sweeps are kept, and are ignored otherwise.
    burn_in
    thin : int, default=5
    n_samples : int, default=10
        Number of kept samples of each chain, evenly spaced, to store. The score is averaged over
        them.
    n_chains : int, default=1
        Number of independent chains, each from its own random grammar. The score is averaged over
        all chains; everything else refers to a single sample. For "gibbs" only.
    tol : float, default=1e-4
        The ascent stops when the lower bound rises by no more than `tol` per word. Not for "gibbs".
    n_init : int, default=1
        Number of random starts; the one with the highest lower bound is kept. Not for "gibbs".
    warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    top_weights_ : (n_symbols,) array
        beta. n_symbols is K, or P + K with preterminals. The preterminals come first, here and
        below; their weights sum to 1, and so do those of the constituents. After "em": uniform.
        After "gibbs" this and all following attributes refer to the stored sample with the highest
        log joint, with rules averaged given its trees.
    root_probs_ : (n_symbols,) array
        Probabilities of the first symbol of a tree (posterior means, as below).
    rule_type_probs_ : (K, 2) or (K, 4) array
        Probabilities of (emission, binary) or of (PP, PC, CP, CC).
    emission_probs_ : (K, n_words) or (P, n_words) array
        Probabilities of words, given that the symbol emits a word.
    binary_probs_ : (K, n_symbols, n_symbols) array
        Probabilities of left and right children, given that the symbol branches.
    symbol_shares_ : (n_symbols,) array
        Expected shares of the symbols among the nodes of all training trees. After "em" without
        pseudo-counts, trees drawn from the grammar have the same shares; under other grammars,
        trees may be infinite and have no such shares.
    lower_bound_ : float
        Lower bound on log p(sentences, beta), with a density of beta; minus log p(beta), it is a
        bound on log p(sentences | beta). After "em": the maximized log likelihood. With brackets,
        the sentences have only the trees that agree with them. This and the next two are not
        available after "gibbs".
    lower_bounds_ : (n_recorded,) array
        Lower bound after each successful iteration without annealing; never decreasing.
    init_lower_bounds_ : (n_init,) array
        The last lower bound of each start.
    trace_ : Trace
        After "gibbs": scalars of every kept sweep of every chain. "log_joint" is log p(words,
        trees, logits of beta, logs of learned concentrations), with the rules integrated out.
    n_active_components_ : int
        Number of symbols with at least 1e-6 expected nodes in the training trees.
    n_active_rules_ : int
        Number of rules of these symbols, including emissions, with a weight of at least 1e-6.
    n_iter_ : int
        Number of iterations from the best start, or of sweeps.
    convergence_
    n_words_ : int
        Size V of the vocabulary.
    n_features_in_ : int
        V, or the length of a sentence if the model was fitted on an array or a data frame.
    feature_names_in_ : array
        Only if X was a data frame with string column names.

    See Also
    --------
    inside_outside : Expected counts under a known grammar.
    HDPPCFGRefiner : Learns refined symbols from parse trees.

    Notes
    -----
    q(beta) is a point, the q(phi) are Dirichlet distributions, and q(z) is any distribution over
    trees. Each iteration maximizes the bound over q(phi) and beta jointly, which takes fewer
    iterations than alternation; the bound never falls. The weights beta stay above 1e-8, because
    their density is unbounded at the edge of the simplex. Under the "gem" prior, symbols are sorted
    whenever this raises the bound.

    A grammar in which several symbols share the role of one is a local maximum. So, with "vb", when
    the relative rise of the bound is below 1e-4, symbols are removed one by one, the least used
    first, and all rules among the others are given a small probability. If the bound exceeds its
    old value within ten expectations, the ascent continues from there. Such a trial counts as an
    iteration, and the fit stops only when no symbol can be removed. Many local maxima remain: use
    `n_init`. `n_jobs` threads work on starts, or on sentences if there is only one start.

    A sweep of "gibbs" draws a tree of each sentence given the rules, as a block. Then, with the
    rules integrated out, it draws the numbers of tables that serve each root and pair in the
    Chinese restaurants of the rows, each table ordering one left and one right child from beta; the
    concentrations; beta given the orders; and the rules. Symbols of different chains, and of
    distant sweeps of a chain, need not correspond.

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

    _sample_kind = "sentence"
    """Kind of the data that `skdp.utils.estimator_checks` passes to the estimator."""

    def __init__(
        self,
        n_components: int = 20,
        *,
        n_preterminals: int | None = None,
        top_prior: str = "gem",
        top_concentration: float | str | None = 1.0,
        root_concentration: float | str = 1.0,
        rule_type_prior: float | ArrayLike = 1.0,
        emission_prior: float = 1.0,
        binary_concentration: float | str | ArrayLike = 1.0,
        top_concentration_prior: tuple[float, float] = (1.0, 0.1),
        root_concentration_prior: tuple[float, float] = (1.0, 0.1),
        binary_concentration_prior: tuple[float, float] = (1.0, 0.1),
        child_prior: str = "joint",
        inference: str = "vb",
        pseudo_count: float = 0.0,
        init: str = "random",
        predict_method: str = "expected-log",
        max_length: int | None = None,
        dtype: str = "float64",
        max_iter: int = 100,
        burn_in: int | None = None,
        thin: int = 5,
        n_samples: int = 10,
        n_chains: int = 1,
        tol: float = 1e-4,
        n_init: int = 1,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

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
            partitions only by rounding. Not with "gibbs".
        y : list of n_sentences entries or None, default=None
            Known brackets. An entry is None, or a list of spans (i, j), the words i to j - 1 of the
            sentence, counted from 0; or a ParseTree or ``nltk.Tree`` of the sentence, which may be
            partial: a node with many children leaves open how they are joined. Only the spans of a
            tree are used. Its labels are not used, because the symbols of the grammar have no
            names, and its words are not compared with X. The fit considers only the trees in which
            all brackets are constituents; methods for predictions consider all trees. For
            PartitionedSentences: a list of n_partitions entries, each None or a list as above. A
            single number or string for each sentence, such as the class that a pipeline passes to
            all of its steps, is ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid, or two brackets of a sentence cross. The estimator is
            left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current iteration or sweep. If every start has a lower
            bound by then, it is fitted with the result so far; if chains have kept no sweep, with
            their current state, unless it was fitted before. Another `fit` with
            ``warm_start=True`` continues.

        Warns
        -----
        ConvergenceWarning
            If the best start did not converge within `max_iter` iterations, or the log joint of a
            chain still climbs, or there are fewer than 12 sweeps after the burn-in.
            If chains plainly disagree; compare them in `trace_` then.
        """
        if not isinstance(X, PartitionedSentences):
            return self._fit(X, y)
        self._validate_parameters()
        with choose_executor(self.n_jobs) as executor:
            return self._fit(X, y, executor=executor)

    @available_if(_is_sampled)
    def iter_sweeps(self, X: Any, y: Any = None) -> Iterator[Any]:
        """Yield the state after every sweep of the first chain that `fit` would run.

        Only with "gibbs". The estimator is neither fitted nor changed. The chain always begins at
        the first sweep, even with `warm_start`.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        iterator of states, of length `max_iter`
            Each is a live, read-only view; ``state.copy()`` detaches it from the chain. Exceptions
            from signal handlers during a sweep, such as Ctrl-C, are raised at the end of the sweep,
            and the iterator can continue from there.

        Raises
        ------
        ValueError, TypeError
            At the call, before the first sweep, if `fit` would raise it.
        """
        return self._iter_sweeps(X, y)
