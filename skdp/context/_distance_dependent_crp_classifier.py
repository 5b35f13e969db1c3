"""Classification by links between similar contexts."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skdp._checks import check_concentration, check_gamma_prior, check_memory, shorten
from skdp._fit import ChainEstimator, FitState
from skdp._numeric import Floats
from skdp._numeric._arrays import unique_rows
from skdp._numeric._random import Role, derive_stream
from skdp._sklearn_compat import Interval, StrOptions, with_callbacks
from skdp.context._backoff._columns import (
    GapColumn,
    as_rows,
    describe_column,
    find_codes,
    read_columns,
)
from skdp.context._base import ContextClassifier, read_labels
from skdp.context._distance_dependent._sampler import (
    ContextObservations,
    GivenTable,
    LinkModel,
    LinkSampler,
    Predictor,
    ProductTable,
    Similarity,
    SubsetOverlap,
    SubsetProduct,
    check_decay,
    check_kernel_values,
    check_weights,
    has_few_subsets,
)
from skdp.data._coding import Column
from skdp.data._validation import check_rows
from skdp.inference._convergence import warn_of_drifts
from skdp.inference._trace import Trace
from skdp.mixture._rows._partition import representative_partition

_BLOCK = 2048
"""Number of new contexts per batch in sums by sets of columns."""

_MOST_PAIRS = 4_000_000
"""Number of pairs of new and known contexts per batch in tables."""


class DistanceDependentCRPClassifier(ContextClassifier, ChainEstimator):
    r"""Classify categories in context by a distance-dependent CRP that links similar contexts.

    Each training observation links to another one with probability proportional to the similarity
    of their contexts, or to itself with the concentration alpha:

    .. math::

       p(c_i = j) = \phi(h_i, h_j) / (\alpha + S_i), \quad p(c_i = i) = \alpha / (\alpha + S_i),
       \quad S_i = \sum_{j \ne i} \phi(h_i, h_j).

    Linked observations form a component, which has one outcome, or one distribution of outcomes. A
    new observation links in the same way, and so gets the outcome of a similar observation, or a
    new component. Unlike in back-off models, the columns of a context are not ordered; the
    importance of a difference in each column (its decay) is learned.

    Parameters
    ----------
    kernel : {"product", "overlap", "precomputed"} or callable, default="product"
        Similarity of two contexts h and h'. "product": exp(-sum_n lambda_n [h_n != h'_n]), with a
        decay lambda_n for each column. "overlap": sum_n w_n [h_n = h'_n], with weights that sum to
        1. Callable: ``kernel(A, B)`` of two arrays of contexts, (a, n_features) and
        (b, n_features), returns an (a, b) array of finite numbers >= 0; entry (i, j) is the weight
        of a link from i to j, so the array need not be symmetric. "precomputed": X holds these
        numbers, (n_samples, n_samples) in `fit` and (n_new, n_samples) in prediction.
    decay : "auto", float or (n_features,) array-like, default="auto"
        Decays lambda_n >= 0 of the "product" kernel; a number stands for all columns. 0: the
        column does not matter. "auto": drawn. Other kernels have no decays.
    decay_prior : (shape, rate), default=(1.0, 1.0)
        Shape and rate, from 1e-8 to 1e8, of the Gamma prior on a drawn `decay`.
    weights : None, "auto" or (n_features,) array-like, default=None
        Weights w_n of the "overlap" kernel, >= 0 with sum 1. None: equal weights. "auto": drawn,
        under a uniform prior. Other kernels have no weights.
    concentration : float or "auto", default="auto"
        Concentration alpha > 0: the weight of a link to itself, on the scale of the similarities.
        "auto": drawn.
    concentration_prior : (shape, rate), default=(1.0, 1.0)
        Shape and rate of the Gamma prior on a learned `concentration`, in [1e-8, 1e8].
    outcome_prior : float or "auto", default="auto"
        Parameter gamma, from 1e-8 to 1e8, of the symmetric Dirichlet prior on the distribution of
        outcomes: of the components' outcomes if `outcome_model` is "shared", else of the outcomes
        in each component. "auto": drawn.
    dirichlet_prior : (shape, rate), default=(1.0, 1.0)
        Shape and rate, from 1e-8 to 1e8, of the Gamma prior on a drawn `outcome_prior`.
    outcome_model : {"shared", "dirichlet"}, default="shared"
        "shared": all observations of a component have one outcome, drawn from a distribution that
        is common to all components. "dirichlet": each component has its own distribution.
    classes : (n_classes,) array-like or None, default=None
        All possible labels. None: the labels in y.
    max_iter : int, default=500
    burn_in
    thin : int, default=10
    n_samples : int, default=20
        Number of kept samples of each chain, evenly spaced, to store. Probabilities are averaged
        over them, and the representative partition is chosen by them.
    n_chains : int, default=1
        Number of independent chains, each with its own random streams. The samples of all chains
        are pooled.
    warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    classes_ : (n_classes,) array
    decay_ : (n_features,) array
        Posterior means of the decays, or the given values; only with the "product" kernel.
    weights_ : (n_features,) array
        Posterior means of the weights, or the given values; only with the "overlap" kernel.
    concentration_, outcome_prior_ : float
        Posterior means of alpha and gamma, or the given values.
    labels_ : (n_samples,) array of int
        Component of each training observation in the representative partition, the one with the
        least posterior mean of Binder's loss; components are ordered by size.
    n_components_ : int
        Number of components in the representative partition.
    trace_ : Trace
        Scalars of every kept sweep of every chain: log_joint, n_components, concentration,
        outcome_prior and, for each column n, decay_n or weight_n.
    n_iter_, convergence_
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : (n_features,) array
        Only if X was a data frame with string column names.

    See Also
    --------
    HDPBackoffClassifier : Columns in an order, from the most important to the least.
    sklearn.neighbors.KNeighborsClassifier : Votes of the nearest neighbors, without a model.

    Notes
    -----
    In the "shared" model, the outcome at the end of a link is known. Predictions depend on the
    links only through the number of components of each outcome: they combine a kernel smoother and
    a base distribution, whose decays and concentration have been learned from links. In the
    "dirichlet" model, components pool the outcomes of their members.

    A sweep proposes four links for each observation from their prior, and accepts or rejects them
    based on the outcomes. With the "product" kernel and D columns that takes time O(n 2^D), and
    memory of 12 n 2^D + 16 U 2^D bytes for n observations of U distinct contexts; with "overlap" D
    stands for 2^D. If 2^D is larger than U and D larger than 6, and with other kernels, tables of
    all pairs are made, 16 U^2 bytes; then a sweep takes O(n log n) if the decays are given, and
    O(D U^2) if they are drawn. "dirichlet" takes 8 n n_classes bytes more for each chain. A fit
    that needs more memory than available is refused before it starts.

    References
    ----------
    D. M. Blei, P. I. Frazier (2011), Distance dependent Chinese restaurant processes, JMLR 12. --
    C. R. Dawson (2015), Modeling and unsupervised learning of structured similarity among source
    contexts in Bayesian hierarchical infinite mixture models, dissertation, University of Arizona,
    section 2.4; (2.19) and (2.23) are corrected.

    Examples
    --------
    >>> from skdp.context import DistanceDependentCRPClassifier
    >>> X = [["the", "N"], ["a", "N"], ["the", "V"], ["a", "V"]] * 5
    >>> y = ["noun", "noun", "verb", "verb"] * 5
    >>> model = DistanceDependentCRPClassifier(max_iter=100, random_state=0).fit(X, y)
    >>> model.predict([["that", "V"]]).tolist()
    ['verb']
    >>> bool(model.decay_[1] > model.decay_[0])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ChainEstimator._parameter_constraints,
        "kernel": [StrOptions({"product", "overlap", "precomputed"}), callable],
        "decay": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left"), "array-like"],
        "decay_prior": [tuple, list],
        "weights": [StrOptions({"auto"}), "array-like", None],
        "concentration": "no_validation",
        "concentration_prior": [tuple, list],
        "outcome_prior": [StrOptions({"auto"}), Interval(Real, 1e-8, 1e8, closed="both")],
        "dirichlet_prior": [tuple, list],
        "outcome_model": [StrOptions({"shared", "dirichlet"})],
        "classes": ["array-like", None],
    }

    _optional_attributes = frozenset(["decay_", "weights_"])

    n_features_in_: int
    _models: list[LinkModel]

    def __init__(
        self,
        kernel: Any = "product",
        *,
        decay: Any = "auto",
        decay_prior: tuple[float, float] = (1.0, 1.0),
        weights: Any = None,
        concentration: float | str = "auto",
        concentration_prior: tuple[float, float] = (1.0, 1.0),
        outcome_prior: float | str = "auto",
        dirichlet_prior: tuple[float, float] = (1.0, 1.0),
        outcome_model: str = "shared",
        classes: Any = None,
        max_iter: int = 500,
        burn_in: int | None = None,
        thin: int = 10,
        n_samples: int = 20,
        n_chains: int = 1,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.positive_only = self._is_precomputed()
        tags.input_tags.categorical = not self._is_precomputed()
        tags.input_tags.allow_nan = not (self._is_precomputed() or callable(self.kernel))
        # The matrix of the checks has inner products: rows with large values are close to all
        # others.
        tags.classifier_tags.poor_score = self._is_precomputed()
        return tags

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    # Validation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        check_gamma_prior(self.decay_prior, "decay_prior")
        check_gamma_prior(self.concentration_prior, "concentration_prior")
        check_gamma_prior(self.dirichlet_prior, "dirichlet_prior")
        self._check_concentration()
        is_auto = isinstance(self.decay, str)
        if not is_auto and self._kernel_name() != "product":
            raise ValueError(
                f"decay is for kernel='product': kernel={self.kernel!r} has none. Leave "
                f"decay='auto', got {shorten(self.decay)}."
            )
        if self.weights is not None and self._kernel_name() != "overlap":
            raise ValueError(
                f"weights are for kernel='overlap': kernel={self.kernel!r} has none. Leave "
                f"weights=None, got {shorten(self.weights)}."
            )

    def _kernel_name(self) -> str:
        return self.kernel if isinstance(self.kernel, str) else "callable"

    def _check_concentration(self) -> float | None:
        """Return the concentration, or None if it is drawn."""
        if isinstance(self.concentration, str) and self.concentration == "auto":
            return None
        try:
            return check_concentration(self.concentration)
        except ValueError as error:
            raise ValueError(f"{error} It may also be 'auto'.") from None

    def _check_input(self, X: Any, y: Any = None) -> ContextObservations:
        given: dict[str, Any] = {"columns": None, "contexts": None}
        if self._is_precomputed():
            similarities = self._check_similarities(X, reset=True)
            n_contexts = len(similarities)
            context_of, codes = np.arange(n_contexts), np.empty((n_contexts, 0), dtype=np.int32)
        else:
            values, similarities = read_columns(self, X, reset=True), None
            names = getattr(self, "feature_names_in_", None)
            kind = Column if callable(self.kernel) else GapColumn  # functions know no gaps
            of_columns = [
                kind.of(those, describe_column(j, names)) for j, those in enumerate(values)
            ]
            given["columns"] = [column for column, _ in of_columns]
            codes, context_of, _, firsts = unique_rows(
                np.column_stack([found for _, found in of_columns]).astype(np.int32)
            )
            if callable(self.kernel):
                contexts = as_rows([those[firsts] for those in values])
                self._check_room(len(contexts), codes.shape[1])
                similarities = self._compare(contexts, contexts)
                given["contexts"] = contexts
        labels, classes = read_labels(self, y)
        check_consistent_length(context_of, labels)
        outcomes = np.searchsorted(classes, labels)
        if similarities is None:
            check_decay(self.decay, codes.shape[1])
            check_weights(self.weights, codes.shape[1])
        return ContextObservations(codes, similarities, context_of, outcomes, classes, **given)

    def _check_similarities(self, X: Any, *, reset: bool) -> Floats:
        """Return X, which holds similarities, with a column for each training observation."""
        values = check_rows(self, X, reset=reset, ensure_non_negative=True)
        if reset and values.shape[0] != values.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs a square X, of the similarities of all pairs of "
                f"observations; got shape {values.shape}."
            )
        return check_kernel_values(values, values.shape, "X, with kernel='precomputed',")

    def _compare(self, rows: NDArray[Any], contexts: NDArray[Any]) -> Floats:
        """Return the similarities of contexts by the user's kernel."""
        shape = len(rows), len(contexts)
        return check_kernel_values(self.kernel(rows, contexts), shape, "kernel(A, B)")

    # Chains

    def _check_room(self, n_contexts: int, n_columns: int, n: int = 0, n_outcomes: int = 0) -> None:
        """Raise if the memory of the machine is insufficient."""
        name, n_ways = self._kernel_name(), n_columns
        if name == "product":
            n_ways = 2**n_columns if has_few_subsets(n_columns, n_contexts) else 0
        if name in ("callable", "precomputed"):
            n_ways = 0
        n_bytes = (12.0 * n + 16.0 * n_contexts) * n_ways
        if n_ways == 0:
            n_bytes += (16.0 + 8.0 * (name == "product")) * n_contexts**2 * self.n_chains
        n_bytes += 8.0 * n_outcomes * (n * self.n_chains * (self.outcome_model == "dirichlet"))
        check_memory(
            n_bytes + 4.0 * n * self.n_samples * self.n_chains,
            f"X: {n_contexts} distinct contexts of {n_columns} columns, with kernel={name!r},",
            "Fit to part of the data, or use fewer columns.",
        )

    def _make_similarity(self, observations: ContextObservations) -> Similarity:
        """Return the similarity of a new chain."""
        n_columns = observations.codes.shape[1]
        if observations.similarities is not None:
            return GivenTable(None, None)
        if self._kernel_name() == "overlap":
            weights = check_weights(self.weights, n_columns)
            if weights is None:
                return SubsetOverlap(np.full(n_columns, 1.0 / n_columns), 1.0)
            return SubsetOverlap(weights, None)
        decay = check_decay(self.decay, n_columns)
        prior = None
        if decay is None:
            decay = np.full(n_columns, _FIRST_DECAY)
            prior = check_gamma_prior(self.decay_prior, "decay_prior")
        if has_few_subsets(n_columns, observations.n_contexts):
            return SubsetProduct(decay, prior)
        return ProductTable(decay, prior)

    def _start_sampler(
        self, data: ContextObservations, root: np.random.SeedSequence, c: int
    ) -> LinkSampler:
        n_contexts, n_columns = data.codes.shape
        self._check_room(n_contexts, n_columns, len(data.outcomes), data.n_outcomes)
        concentration = self._check_concentration()
        prior = check_gamma_prior(self.concentration_prior, "concentration_prior")
        draws_outcomes = isinstance(self.outcome_prior, str)
        of_outcomes = check_gamma_prior(self.dirichlet_prior, "dirichlet_prior")
        return LinkSampler(
            data,
            self._make_similarity(data),
            is_shared=self.outcome_model == "shared",
            outcome_prior=1.0 / data.n_outcomes if draws_outcomes else float(self.outcome_prior),
            dirichlet_prior=of_outcomes if draws_outcomes else None,
            concentration=_FIRST_CONCENTRATION if concentration is None else concentration,
            concentration_prior=prior if concentration is None else None,
            stream=derive_stream(root, Role.SWEEP, c),
        )

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        trace, models = attributes["trace_"], attributes["_models"]
        sampler = state.runs[attributes["_best_chain"]].sampler
        labels = representative_partition(np.array([model.labels for model in models]), "binder")
        observations, similarity = sampler.observations, sampler.similarity
        if similarity.name:
            names = [f"{similarity.name}_{d}" for d in range(observations.codes.shape[1])]
            means = np.array([trace[name].mean() for name in names])
            attributes["decay_" if similarity.name == "decay" else "weights_"] = means
        return {
            **attributes,
            "classes_": observations.classes,
            "concentration_": float(trace["concentration"].mean()),
            "outcome_prior_": float(trace["outcome_prior"].mean()),
            "labels_": labels,
            "n_components_": int(labels.max()) + 1,
            "_columns": observations.columns,
            "_contexts": observations.contexts,
            "_predictor": Predictor(
                similarity.smoother(), observations, is_shared=sampler.is_shared
            ),
        }

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        warn_of_drifts(self, trace, "components")

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the links and the similarity of contexts.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            A context in each row: categories of any kind that can be compared by equality, such as
            strings or numbers. A missing value (NaN, None, pandas' NA and NaT) is a category of its
            column; if `kernel` is a function, it is refused. With ``kernel="precomputed"``,
            (n_samples, n_samples) similarities.
        y : (n_samples,) array-like
            Outcomes.

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
            If the log joint of a chain still climbs, the number of components still grows or falls,
            or there are fewer than 12 sweeps after the burn-in; raise `max_iter` then.
            If chains plainly disagree; compare them in `trace_` then.
        """
        return self._fit(X, y)

    def iter_sweeps(  # type: ignore[override]  # chains also learn from outcomes
        self, X: Any, y: Any
    ) -> Iterator[Any]:
        """Yield the state after every sweep of the first chain that `fit` would run.

        The estimator is neither fitted nor changed: use this to watch, plot or stop a chain. It
        always begins at the first sweep, even with `warm_start`.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        iterator of states, of length `max_iter`
            Each is a live, read-only view with `links`, `labels`, `decay`, `weights`,
            `concentration` and ``log_joint()``; ``state.copy()`` detaches it from the chain.
            Exceptions from signal handlers during a sweep, such as Ctrl-C, are raised at the end of
            the sweep, and the iterator can continue from there.

        Raises
        ------
        ValueError, TypeError
            At the call, before the first sweep, if `fit` would raise it.
        """
        return self._iter_sweeps(X, y)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each outcome in each context.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            With ``kernel="precomputed"``, similarities to the training observations.

        Returns
        -------
        (n_samples, n_classes) array
            Means over the stored samples of all chains; columns as in `classes_`.
        """
        return super().predict_proba(X)

    def _find(self, X: Any) -> Floats:
        """Return the distributions of the outcomes in the rows of X."""
        check_is_fitted(self)
        row_of: Any = slice(None)
        if self._is_precomputed():
            contexts: NDArray[Any] = self._check_similarities(X, reset=False)
        else:
            values = read_columns(self, X, reset=False)
            contexts, row_of, *_ = unique_rows(find_codes(self._columns, values))
            if self._contexts is not None:  # the kernel compares the values of all rows
                contexts, row_of = as_rows(values), slice(None)
        step = max(1, min(_BLOCK, _MOST_PAIRS // self._predictor.n_contexts))
        parts = []
        for begin in range(0, len(contexts), step):
            block = contexts[begin : begin + step]
            if self._contexts is not None:
                block = self._compare(block, self._contexts)
            parts.append(self._predictor.predict(block, self._models))
        return np.asarray(np.concatenate(parts)[row_of])


_FIRST_CONCENTRATION, _FIRST_DECAY = 1.0, 5.0
"""Initial drawn decays: small values lead to a single component, which is slow to leave."""
