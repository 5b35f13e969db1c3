"""The hierarchical Dirichlet (or Pitman-Yor) process back-off classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import shorten
from skdp._fit import ChainEstimator, FitState
from skdp._numeric._random import Role, derive_stream
from skdp._sklearn_compat import Interval, StrOptions, with_callbacks
from skdp.context._backoff._columns import (
    ContextTree,
    GapColumn,
    describe_column,
    label_columns,
)
from skdp.context._backoff._pool import (
    BackoffSampler,
    ChainPool,
    PoolAverages,
    PoolPredictor,
    PoolSample,
    PoolSampler,
    PoolWeights,
    TreePredictor,
    count_models,
    uniform,
)
from skdp.context._base import BackoffClassifier, TrainingEvents
from skdp.processes._franchise import FranchisePriors, LawAverages, check_law_priors, check_laws

_FEWEST_MEASUREMENTS = 20
_MOSTLY_DISTINCT = 0.8
"""Share of distinct values above which a column of floats is taken for measurements."""


class HDPBackoffClassifier(BackoffClassifier, ChainEstimator):
    r"""Classify categories in context: distributions of narrow contexts around those of broad ones.

    Columns of categories, the most important first, form nested contexts: those of the first level,
    those of the first two levels, and so on. The distribution of the classes in a context is a draw
    from a Pitman-Yor process around that of the next broader context (a Dirichlet process with
    ``discount=0.0``). So frequent contexts have their own probabilities, and rare or unseen
    contexts borrow them from broader contexts, to a degree that is learned for each level.

    By default the fit chooses several chains of columns, each a model of this kind, and predicts by
    their weighted product. The weights predict left-out training events best.

    Parameters
    ----------
    levels : "auto", list of columns or of groups of columns, or None, default="auto"
        "auto": several chains of columns are chosen and weighted. None: every column is a level, in
        the given order. Otherwise the columns that each level of contexts adds, the most important
        first: column indices, or names if X is a data frame. The context of a level consists of the
        values of its columns and of those of all preceding levels. Columns that are in no level are
        not used.
    root : bool, default=True
        Whether a context without columns is above all others. If not, contexts whose first level
        was not seen have uniform probabilities.
    discount : "auto", float or (n_levels [+ 1],) array-like, default="auto"
        Discounts d_m, in [0, 1), of the root, if there is one, and of each level. "auto": drawn.
        0.0: hierarchical Dirichlet processes, the model of the source. Arrays need given levels.
    discount_prior : tuple of two floats, default=(1.0, 1.0)
        Parameters p and q of the Beta prior on a learned `discount`, in [1e-8, 1e8].
    concentration : "auto", float or (n_levels [+ 1],) array-like, default="auto"
        Concentrations theta_m, > 0 (the source's alpha). "auto": drawn. Arrays need given levels.
    concentration_prior : tuple of two floats, default=(1.0, 0.1)
        Shape and rate of the Gamma prior on a learned `concentration`, in [1e-8, 1e8].
    concentration_scope : {"level", "context"}, default="level"
        Whether the contexts of a level share a learned concentration, or each has its own. Given
        concentrations are shared.
    classes : (n_classes,) array-like or None, default=None
        All possible labels. None: the labels in y.
    max_iter : int, default=60
    burn_in
    thin : int, default=1
    n_samples : int, default=20
    n_chains, warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    classes_ : (n_classes,) array
    chains_ : list of lists
        With ``levels="auto"`` the columns of each chain, the most important first: names if X has
        names, else indices. Chains of one column come first. The list is empty if no column helps.
    chain_weights_ : (n_chains,) array
        With ``levels="auto"`` the weight w_k >= 0 of each chain in the product. A chain with the
        weight 0 only replaces others in rows with unseen categories.
    chain_scores_ : (n_chains,) array
        With ``levels="auto"`` the mean log probability of a training event under each chain alone,
        given all other events.
    discounts_ : (n_levels [+ 1],) array
        Posterior means of d_m, the root's first, or the given values. With ``levels="auto"`` this
        attribute and the next three are lists with an entry for each chain.
    concentrations_ : (n_levels [+ 1],) array, or list of such arrays
        Posterior means of theta_m, or the given values. With ``concentration_scope="context"`` a
        list with an array for each level, a value for each of its contexts.
    n_contexts_ : (n_levels [+ 1],) array of int
        Number of contexts that were seen, the root's first.
    n_tables_ : (n_levels [+ 1],) array
        Mean number of tables of each level, which count as customers of the broader contexts.
    trace_ : Trace
        Scalars of every kept sweep of every chain: log_joint and, for the root and each level m,
        discount_m, concentration_m (the mean if contexts have their own) and tables_m. With
        ``levels="auto"`` log_joint, the sum over chains, and log_joint_k: 0 is the chain without
        columns, k the k-th chain.
    n_iter_, convergence_
    n_features_in_ : int
    feature_names_in_ : (n_features,) array
        If X is a data frame with names.

    See Also
    --------
    CollinsBackoffClassifier : Fast approximation without sampling.
    HDPBackoffFeatures : Probabilities under chains as features of another classifier.
    skdp.language.HierarchicalPitmanYorLM : The same model for words in sentences.
    DistanceDependentCRPClassifier : Columns without an order, compared by their similarity.
    LexicalizedEventModel : Trees whose events such a classifier predicts.

    Notes
    -----
    Probabilities are averaged over the stored samples of all chains. The sampled variables are
    numbers of tables. Given the outcomes their distribution involves generalized Stirling numbers,
    and the numbers of contexts within one broader context depend on each other, so a sweep visits
    every event in every context once, the narrowest contexts first. Then discounts and
    concentrations are drawn by slice sampling. Events are sorted and counted first, so results do
    not depend on the order of rows, nor on whether equal rows are repeated or weighted (unless a
    column holds objects that cannot be sorted).

    With ``levels="auto"`` the probability of class y in row x is proportional to

        p_0(y) prod_k (p_k(y | x) / p_0(y))^w_k,

    where p_k is the prediction of chain k and p_0 that of the chain without columns. So evidence
    from different columns adds up, as in a logistic regression, and the interactions of columns are
    in the chains. The weights maximize sum_i log p(y_i | x_i, all other events) - sum_k w_k,
    which is concave. The predictions without an event follow exactly from samples given all events
    (see `explain` for those of new rows). Chains are chosen greedily by a fast approximation of the
    same sum: columns, and then up to 16 longer chains that extend columns or chosen chains. Each
    must gain more than log(K) + 2 nats, where K is the number of chains considered, so that the
    best of many gains by chance is not taken for evidence. A chain with a category that was never
    seen is replaced by the best chain among those without its column. If there is none, p_k = p_0,
    unless events whose category occurs once gain more than 2 nats, all together, by the
    probabilities of a new context; p_k then has these. The weights, and the choice between the two,
    depend on at most 20,000 distinct events.

    There is no ``partial_fit``: fit again for more events. Use ``warm_start`` for more sweeps.

    Memory: about 28 bytes for each cell (a class seen in a context) and 20 for each context, plus 4
    bytes for each stored sample and cell with more than one event; with
    ``concentration_scope="context"`` 8 more for each stored sample and context. Each further chain
    takes 8 bytes for each cell and context.

    References
    ----------
    C. R. Dawson (2015), Modeling and unsupervised learning of structured similarity among source
    contexts in Bayesian hierarchical infinite mixture models, dissertation, University of Arizona,
    chapter 2, equations (2.6)-(2.18). -- Y. W. Teh, M. I. Jordan, M. J. Beal, D. M. Blei (2006),
    Hierarchical Dirichlet processes, JASA 101. -- Y. W. Teh (2006), A hierarchical Bayesian
    language model based on Pitman-Yor processes, Proceedings of COLING/ACL.

    Examples
    --------
    >>> from skdp.context import HDPBackoffClassifier
    >>> X = [["the", "big"], ["the", "red"], ["a", "big"], ["to", "big"], ["to", "red"]] * 4
    >>> y = ["noun", "noun", "noun", "verb", "verb"] * 4
    >>> model = HDPBackoffClassifier(random_state=0).fit(X, y)
    >>> model.predict([["the", "odd"], ["to", "odd"]]).tolist()
    ['noun', 'verb']
    >>> in_order = HDPBackoffClassifier([0, 1], random_state=0).fit(X, y)
    >>> [step.level for step in in_order.explain([["to", "odd"]])[0]]
    ['base', 'root', 'column 0', 'column 1']
    """

    _optional_attributes: ClassVar[frozenset[str]] = frozenset(
        ["chains_", "chain_weights_", "chain_scores_", "_pool_weights"]
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ChainEstimator._parameter_constraints,
        "levels": ["array-like", StrOptions({"auto"}), None],
        "root": ["boolean"],
        "discount": [Interval(Real, 0, 1, closed="left"), "array-like", StrOptions({"auto"})],
        "discount_prior": [tuple, list],
        "concentration": [
            Interval(Real, 0, None, closed="neither"), "array-like", StrOptions({"auto"})
        ],
        "concentration_prior": [tuple, list],
        "concentration_scope": [StrOptions({"level", "context"})],
        "classes": ["array-like", None],
    }  # fmt: skip

    def __init__(
        self,
        levels: Any = "auto",
        *,
        root: bool = True,
        discount: Any = "auto",
        discount_prior: tuple[float, float] = (1.0, 1.0),
        concentration: Any = "auto",
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        concentration_scope: str = "level",
        classes: Any = None,
        max_iter: int = 60,
        burn_in: int | None = None,
        thin: int = 1,
        n_samples: int = 20,
        n_chains: int = 1,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    # Validation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        check_law_priors(self)

    def _priors(self, n_levels: int) -> FranchisePriors:
        n = n_levels + bool(self.root)
        what = "of the root and the levels" if self.root else "of the levels"
        return check_laws(self, n, what, by_node=self.concentration_scope == "context")

    def _check_input(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> ContextTree | ChainPool:
        if not isinstance(self.levels, str):
            tree = self._index(X, y, sample_weight)
            self._priors(len(tree.levels))
            return tree
        for name in ("discount", "concentration"):
            if not isinstance(getattr(self, name), str | Real):
                raise ValueError(
                    f"{name} must be a number or 'auto' with levels='auto', whose chains differ in "
                    f"their numbers of levels; got {shorten(getattr(self, name))}."
                )
        self._priors(1)
        events = TrainingEvents.read(self, X, y, sample_weight)
        columns, codes, *occurred = events.encode(range(len(events.values)))
        _warn_of_measurements(columns, len(occurred[0]), events.names)
        return ChainPool.of(columns, codes, *occurred, has_root=bool(self.root))

    # Chains

    def _start_sampler(
        self, data: ContextTree | ChainPool, root: np.random.SeedSequence, c: int
    ) -> BackoffSampler | PoolSampler:
        if isinstance(data, ChainPool):
            return PoolSampler(
                data, lambda tree, k: self._start_tree(tree, derive_stream(root, Role.SWEEP, c, k))
            )
        return self._start_tree(data, derive_stream(root, Role.SWEEP, c))

    def _start_tree(self, tree: ContextTree, rng: NDArray[np.uint64]) -> BackoffSampler:
        priors = self._priors(tree.layout.n_depths - bool(self.root))
        return BackoffSampler(tree, uniform(tree.n_outcomes), priors, rng, finds_start=True)

    def _make_averages(self) -> LawAverages | PoolAverages:
        return PoolAverages() if isinstance(self.levels, str) else LawAverages()

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        best = state.runs[attributes["_best_chain"]]
        if isinstance(best.sampler, PoolSampler):
            return {**attributes, **self._pool_attributes(best, attributes["_models"])}
        tree = best.sampler.context_index
        return {
            **attributes,
            **_attributes_of_tree(best.sampler, best.averages),
            "classes_": tree.classes,
            "_tree": tree,
            "_pool": None,
        }

    def _pool_attributes(self, best: Any, models: list[PoolSample]) -> dict[str, Any]:
        pool = best.sampler.pool
        base = uniform(len(pool.classes))
        weights = PoolWeights.of(pool, models, base)
        by_chain = [
            _attributes_of_tree(*each)
            for each in zip(best.sampler.samplers, best.averages.chains, strict=True)
        ]
        names = getattr(self, "feature_names_in_", None)
        return {
            **{name: [each[name] for each in by_chain[1:]] for name in by_chain[0]},
            "classes_": pool.classes,
            "chains_": [label_columns(chain, names) for chain in pool.chains[1:]],
            "chain_weights_": weights.weights,
            "chain_scores_": weights.evidence[1:],
            "_tree": None,
            "_pool": pool.without_events(),
            "_pool_weights": weights,
        }

    # Predictions

    def _predictor(self) -> TreePredictor | PoolPredictor:
        if self._pool is None:
            return TreePredictor(self._tree, count_models(self._tree, self._models))
        return PoolPredictor(self._pool, self._models, self._pool_weights)

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the distributions of the classes in their contexts.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Categories: integers, strings or other objects, compared by equality. A missing value
            (NaN, None, pandas' NA and NaT) is a category of its column.
        y : (n_samples,) array-like
            Class labels.
        sample_weight : (n_samples,) array-like of int or None, default=None
            How often each event occurred. 0 leaves a row out; its label remains a class.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid. The estimator is left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current sweep. It is fitted with the samples so far,
            in the burn-in with the current state unless it was fitted before; another `fit` with
            ``warm_start=True`` continues.

        Warns
        -----
        ConvergenceWarning
            If the log joint of a chain still climbs, or there are fewer than 12 sweeps after the
            burn-in, too few for a diagnosis; raise `max_iter` then.
            If chains plainly disagree; compare them in `trace_` then.
        UserWarning
            If, with ``levels="auto"``, nearly all values of a column of floats occur once;
            discretize it.
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def iter_sweeps(  # type: ignore[override]  # events have outcomes
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> Iterator[Any]:
        """Yield the state after every sweep of the first chain that `fit` would run.

        The estimator is neither fitted nor changed: use this to watch, plot or stop a chain. It
        always begins at the first sweep, even with `warm_start`.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`

        Returns
        -------
        iterator of states, of length `max_iter`
            Each is a live, read-only view; ``state.copy()`` detaches it from the chain. Exceptions
            from signal handlers during a sweep, such as Ctrl-C, are raised at the end of the sweep,
            and the iterator can continue from there. A state has lists with an array for each
            level, the root's first: ``tables``, ``customers``, ``contexts`` and ``outcomes``
            (indices in `classes_`) of cells; ``discounts``, ``concentrations`` and ``log_joint()``.
            With ``levels="auto"`` it has ``chains``, a list of such states, and their ``columns``;
            the first has no columns.

        Raises
        ------
        ValueError, TypeError
            At the call, before the first sweep, if `fit` would raise it.
        """
        return self._iter_sweeps(X, y, sample_weight=sample_weight)


def _warn_of_measurements(columns: list[GapColumn], n_events: int, names: Any) -> None:
    """Warn of columns of mostly distinct numbers, which are uninformative about new rows."""
    found = [
        describe_column(j, names)
        for j, column in enumerate(columns)
        if n_events >= _FEWEST_MEASUREMENTS
        and column.present is not None
        and len(column.present.values) > _MOSTLY_DISTINCT * n_events
        and np.asarray(column.present.values).dtype.kind == "f"
    ]
    if found:
        warnings.warn(
            f"{', '.join(found[:5])}: numbers that nearly all occur once are of no use as "
            "categories. Discretize them first, such as by sklearn.preprocessing.KBinsDiscretizer("
            "encode='ordinal').",
            UserWarning,
            stacklevel=2,
        )


def _attributes_of_tree(sampler: BackoffSampler, averages: LawAverages) -> dict[str, Any]:
    """Return the attributes of a tree: the means of its laws and tables, and its contexts."""
    means, node_ptr = averages.means(), sampler.context_index.layout.node_ptr
    if sampler.franchise.priors.by_node:
        means["concentrations_"] = np.split(means["concentrations_"], node_ptr[1:-1])
    return {**means, "n_contexts_": np.diff(node_ptr)}
