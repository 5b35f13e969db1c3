"""Base class of the mixtures, their methods for tables, and their emissions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin, DensityMixin
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_memory, shorten
from skdp._fit import ChainEstimator, FitState
from skdp._fit._estimator import keep_numbers
from skdp._merge_tree import MergeTree, check_at_most
from skdp._numeric import Floats, Places
from skdp._numeric._random import Role, derive_seed, make_seed_sequence
from skdp._sklearn_compat import HasMethods, StrOptions
from skdp.data import SequencePanel
from skdp.data._coding import Categories, TableFormat
from skdp.data._validation import SparseRows
from skdp.emissions._common._clusters import ClusterEmission
from skdp.emissions._common._columns import find_columns
from skdp.emissions._common._protocol import (
    CollapsedEmission,
    EmissionSampler,
    check_part,
    make_part_for,
    resolve_part,
)
from skdp.emissions._discrete._bernoulli import BernoulliEmission
from skdp.emissions._discrete._categorical import CategoricalEmission
from skdp.emissions._discrete._multinomial import MultinomialEmission
from skdp.emissions._discrete._poisson import PoissonEmission
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.emissions._gaussian._model import GaussianModel
from skdp.emissions._gaussian._student_t import StudentTEmission
from skdp.emissions._independent import IndependentEmissions, has_numbers
from skdp.emissions._table import TableEmissionSampler, code_categories, whole_weights_error
from skdp.inference._convergence import warn_of_drifts, warn_user
from skdp.inference._trace import Trace
from skdp.mixture._explanation import ClusterExplanation, check_names, explain_clusters
from skdp.mixture._rows._cluster_tree import Summary, make_cluster_tree
from skdp.mixture._rows._partition import (
    LabeledRows,
    RowCopies,
    copy_rows,
    representative_partition,
)
from skdp.mixture._unions import find_clusters

# Methods for tables: imputation, synthetic rows, and explanations of clusters.


class TableMethods:
    """Mixin of the methods; a subclass implements `_read_table` and `_complete`."""

    n_features_in_: int
    component_labels_: Places
    cluster_labels_: Places
    weights_: Floats
    emission_: Any
    _format: TableFormat

    def _read_table(self, X: Any) -> tuple[Floats, Places | None]:
        """Return the rows of X, and the offsets of their groups if X is a list of groups."""
        raise NotImplementedError

    def _complete(
        self, values: Floats, ptr: Places | None, rng: np.random.Generator | None
    ) -> Floats:
        """Return rows in which missing cells are predicted or, with `rng`, drawn."""
        raise NotImplementedError

    def impute(self, X: Any) -> Any:
        """Return X with missing cells replaced by the values that the model expects there.

        A number is replaced by its mean given the observed cells of the row, under the density of
        `score_samples`: over the stored samples, and over the components by how well they fit the
        observed cells. A count is replaced by the rounded mean, and a flag or a category by the
        most probable one. Observed cells do not change.

        Parameters
        ----------
        X : as in `fit`
            NaN, None, pandas' NA or a null of polars or Arrow: a missing cell. In rows of counts of
            a `MultinomialEmission`, whole rows.

        Returns
        -------
        X
            Of the kind of X: a data frame for a data frame, with its column types, and an array for
            an array or a list of rows. In columns of integers, numbers are rounded.

        Raises
        ------
        ValueError, TypeError
            If X is invalid.

        See Also
        --------
        sample_missing : Draws of missing cells, which keep the spread of the columns.
        """
        return self._with_cells(X, None)

    def sample_missing(self, X: Any, *, random_state: Any = None) -> Any:
        """Return X with missing cells replaced by draws, for multiple imputation.

        The cells of a row are drawn together, given its observed cells: a stored sample, then the
        component, then the cells. The mean of an analysis of several results, and the spread
        between them, account for the uncertainty about the missing cells.

        Parameters
        ----------
        X : as in `impute`
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        X
            A table of the kind of X, as in `impute`.

        Raises
        ------
        ValueError, TypeError
            If X is invalid.
        """
        check_is_fitted(self)
        return self._with_cells(X, np.random.default_rng(make_seed_sequence(random_state)))

    def _with_cells(self, X: Any, rng: np.random.Generator | None) -> Any:
        values, ptr = self._read_table(X)
        if isinstance(values, SparseRows):
            raise TypeError("X is sparse, and has no missing cells: impute X.toarray() instead.")
        filled, hidden = self._complete(values, ptr, rng), np.isnan(values)
        if isinstance(X, SequencePanel):
            return SequencePanel(filled, X.ptr)
        known = vars(self).get("categories_")
        if ptr is None:
            table = TableFormat.of(X).with_defaults(self._format)
            return table.with_cells(X, hidden, filled, known)
        formats = [TableFormat.of(part).with_defaults(self._format) for part in X]
        return [
            table.with_cells(part, hidden[a:b], filled[a:b], known)
            for table, part, a, b in zip(formats, X, ptr[:-1], ptr[1:], strict=True)
        ]

    def explain(self, feature_names: Any = None) -> ClusterExplanation:
        """Return which columns set each cluster apart.

        The contribution of a column to a cluster is KL(p(x_d | cluster) || p(x_d)), in nats: the
        mean log ratio of the column's density in the cluster to that in the mixture of all
        clusters, for rows of the cluster. Densities are predictive, under the representative
        partition. The mean of the contributions of a column over the clusters, by their weights, is
        the mutual information of the column and the cluster. A column without information, close to
        0, does not help to distinguish the clusters: leave such columns out and fit again, because
        many of them drown the others.

        Parameters
        ----------
        feature_names : list of n_features str, default=None
            Names of the columns. None: `feature_names_in_`, or x0, x1 and so on.

        Returns
        -------
        ClusterExplanation
            A sequence of named tuples (component, column, divergence, inside, outside,
            inside_share, outside_share), by cluster and decreasing divergence. `inside` and
            `outside` are the mean of the column in the cluster and in all others, or its most
            common category, with its share. ``print`` shows the table, ``to_frame()`` returns it as
            a pandas data frame, ``of(component)`` the tuples of one cluster, and `information` is
            the mutual information by column.

        Raises
        ------
        ValueError
            If `feature_names` are not unique names of all columns.

        Notes
        -----
        Sums over categories, flags and counts are exact up to rounding (counts that are large for
        their spread are summed in narrow cells). Densities of numbers are integrated by
        Gauss-Legendre quadrature. With a `MultinomialEmission`, a column is the number of events of
        one kind, over the distribution of totals in `fit`.
        """
        check_is_fitted(self)
        names = check_names(feature_names, vars(self).get("feature_names_in_"), self.n_features_in_)
        known = vars(self).get("categories_")
        joint = self._members().T * self.weights_
        exists = joint.any(axis=1)
        labels = self.cluster_labels_[exists]
        return explain_clusters(self.emission_, joint[exists], labels, names, known)

    def _members(self) -> Any:
        """Return which components (rows) are of which clusters (columns), (K, C)."""
        return self.component_labels_[:, np.newaxis] == self.cluster_labels_

    def _wants_frame(self, as_frame: Any) -> bool:
        """Return whether `sample` returns data frames."""
        table = self._format
        if isinstance(as_frame, str) and as_frame == "auto":
            return table.is_mixed
        if not isinstance(as_frame, bool | np.bool_):
            raise ValueError(f"as_frame must be 'auto' or a bool, got {shorten(as_frame)}.")
        if as_frame and not table.is_frame:
            raise ValueError("as_frame=True needs a fit to a data frame, which has the columns.")
        return bool(as_frame)

    def _in_format(self, values: Floats, as_frame: Any) -> Any:
        """Return drawn rows as `sample` returns them."""
        known = vars(self).get("categories_")
        if self._wants_frame(as_frame) or (as_frame == "auto" and known is not None):
            return self._format.make(values, known)
        return values


# Emissions of mixtures, and columns of categories.


EMISSIONS: Mapping[str, Callable[[], Any]] = {
    "gaussian": partial(GaussianEmission, covariance_prior="auto"),
    "bernoulli": BernoulliEmission,
    "categorical": CategoricalEmission,
    "poisson": PoissonEmission,
    "multinomial": MultinomialEmission,
    "student_t": partial(StudentTEmission, "auto", covariance_prior="auto"),
}
"""Emissions by name."""

_MANY = 1000
"""Smallest largest code of a column that may be too large for its number of symbols."""

_SUPPORTED = (
    "emission must be a GaussianEmission, StudentTEmission, CategoricalEmission, "
    "BernoulliEmission, PoissonEmission or MultinomialEmission, whose parameters can be summed "
    "out, or IndependentEmissions of these (without StudentTEmission)"
)


def fit_for_table(
    emission: Any, n_columns: int, names: list[str] | None, categories: Categories | None
) -> Any:
    """Return the emission with a part for each column of categories, and with named parts."""
    known = [None] * n_columns if categories is None else categories
    if isinstance(emission, CategoricalEmission) and n_columns == 1:
        return _with_symbols(emission, known[0])
    if isinstance(emission, CategoricalEmission):
        parts: list[tuple[str, Any, Any]] = []
        for d in range(n_columns):
            own = None if names is None else names[d]
            is_usable = own is not None and own and "__" not in own and own != "emissions"
            own_emission = _with_symbols(emission, known[d])
            parts.append((own if is_usable else f"column{d}", own_emission, [d]))  # type: ignore
        return IndependentEmissions(parts)
    if not isinstance(emission, IndependentEmissions) or not isinstance(
        emission.emissions, list | tuple
    ):
        return emission
    parts = []
    for part in emission.emissions:
        if not isinstance(part, list | tuple) or len(part) != 3:
            return emission  # `make_sampler` raises
        name, own, columns = part
        own = resolve_part(own, EMISSIONS)
        where = f"IndependentEmissions: emission {name!r}"
        if isinstance(own, CategoricalEmission | IndependentEmissions):
            found = find_columns(columns, n_columns, names, where)
            own_names = None if names is None else [names[d] for d in found]
            own = fit_for_table(own, len(found), own_names, [known[d] for d in found])
        parts.append((name, own, columns))
    return IndependentEmissions(parts)


def check_observed(emission: Any, values: Floats, names: list[str] | None, places: Places) -> None:
    """Raise ValueError if a column of categories, among those at `places`, has only gaps."""
    for _, d in _find_category_columns(emission, names, places):
        if np.isnan(values[:, d]).all():
            raise ValueError(
                f"X, column {d if names is None else repr(names[d])}, has no observed value "
                "(in a row with weight): a column of categories needs one. Leave it out."
            )


def warn_of_codes(
    emission: Any, values: Floats, names: list[str] | None, categories: Categories | None
) -> None:
    """Warn if most symbols of a column do not occur, because its labels are taken for codes."""
    found = []
    for own, d in _find_category_columns(emission, names, np.arange(values.shape[1])):
        observed = values[~np.isnan(values[:, d]), d]
        largest = observed.max(initial=0.0)
        are_labels = categories is not None and categories[d] is not None
        if are_labels or own.n_symbols is not None or not _MANY <= largest < np.inf:
            continue
        n_different = len(np.unique(observed))
        if largest >= 10 * n_different:
            found.append((d if names is None else repr(names[d]), n_different, largest))
    if not found:
        return
    name, n_different, largest = found[0]
    others = f" (of {len(found)} such columns)" if len(found) > 1 else ""
    warn_user(
        f"X, column {name}{others}: its {n_different} different numbers are taken for codes of "
        f"{largest + 1:.0f} symbols, from 0 to the largest. Such a fit is slow, and each symbol "
        "improbable. If the numbers are labels, such as zip codes, convert the column to text or "
        "to a pandas Categorical; if they are codes, give n_symbols.",
        UserWarning,
    )


def _find_category_columns(
    emission: Any, names: list[str] | None, places: Places
) -> Iterator[tuple[CategoricalEmission, int]]:
    """Yield the columns of categories, among those at `places`, with their emissions."""
    if isinstance(emission, CategoricalEmission):
        yield from ((emission, int(d)) for d in places)
    elif isinstance(emission, IndependentEmissions) and isinstance(
        emission.emissions, list | tuple
    ):
        own_names = None if names is None else [names[d] for d in places]
        for part in emission.emissions:
            if not isinstance(part, list | tuple) or len(part) != 3:
                return  # `make_sampler` raises
            name, own, columns = part
            own = resolve_part(own, EMISSIONS)
            if isinstance(own, CategoricalEmission | IndependentEmissions):
                where = f"IndependentEmissions: emission {name!r}"
                found = find_columns(columns, len(places), own_names, where)
                yield from _find_category_columns(own, names, places[found])


def _with_symbols(emission: CategoricalEmission, labels: Any) -> CategoricalEmission:
    """Return the emission of a column; without `n_symbols`, labels determine their number."""
    if labels is None or emission.n_symbols is not None:
        return emission
    own = copy(emission)
    own.n_symbols = len(labels)
    return own


# The base class.


class BaseMixture(TableMethods, ClusterMixin, DensityMixin, ChainEstimator):
    """Base class: a subclass has `_check_hyper`, `_check_input`, `_start_sampler`, `_model_of`.

    Parameters
    ----------
    emission : str or emission object, default="gaussian"
        Distribution of the rows of a component: `GaussianEmission` or, for rows with outliers,
        `StudentTEmission` ("full" or "diag"), `PoissonEmission`, `CategoricalEmission` (columns of
        categories, numbers or text), `BernoulliEmission` (columns of 0 and 1),
        `MultinomialEmission` (rows of counts), or its name: "gaussian", "student_t", "poisson",
        "categorical", "bernoulli" or "multinomial". "gaussian" stands for
        ``GaussianEmission(covariance_prior="auto")``, whose covariance prior is learned jointly
        from all components, and "student_t" for ``StudentTEmission("auto",
        covariance_prior="auto")``, which also learns its degrees of freedom; the others stand for
        the object with default settings. For a table with columns of several kinds,
        `IndependentEmissions` of any of these but `StudentTEmission`, with the same names. NaN is a
        missing value.
    point_estimate : {"binder", "vi"}, default="binder"
        The loss whose posterior mean the representative partition minimizes. "binder":
        the number of pairs of rows that are together in only one of two partitions. "vi": the
        variation of information, which merges components if rows could be in either. The best of
        the stored partitions is improved by moves of rows and merges until few rows move, provided
        that its contingency tables with the others take less than a gigabyte. The result has at
        most the median number of clusters of the stored partitions.
    use_y : bool, default=True
        Whether `fit` reads `y` as known labels of rows. False: it ignores `y`, for a pipeline or
        a search in which `y` holds the classes of a later step or of a metric. After a fit with
        labels, predictions for the training rows are computed as for new rows, without their
        labels. If every row has a label, these are the components, and the fit finds no others.
    merge_overlapping : "auto" or bool, default="auto"
        Whether components without a gap between their rows form one cluster. A group of rows that
        is skewed, or has long tails or sharp edges, takes several components. `labels_`, `predict`
        and `predict_proba` refer to clusters; densities, `weights_` and `emission_` to components,
        whose clusters are in `component_labels_`. "auto": if some columns are numbers or counts;
        without them, True is refused. False: each component is a cluster.
    n_samples : int, default=20
        Number of kept samples of each chain, evenly spaced, to store. Densities are averaged over
        them, and the representative partition is chosen by them.
    n_chains : int, default=1
        Number of independent chains, each from its own first state. The samples of all of them are
        pooled.

    Attributes
    ----------
    n_clusters_, n_components_ : int
        Numbers C of clusters and K of components; see `merge_overlapping`.
    cluster_labels_ : (C,) array of int
        Number of each cluster, in the order of the columns of `predict_proba`. Without known
        labels: 0 to C - 1, by decreasing size. Otherwise first the labels in ascending order, then,
        by decreasing size, the clusters without a label, whose numbers follow the largest label.
    component_labels_ : (K,) array of int
        Number of the cluster of each component, in the order of `weights_`.
    means_, covariances_ : (K, n_features), (K, n_features, n_features) arrays
        Posterior means of the parameters given the representative partition, with a
        `GaussianEmission`; with "diag", variances, (K, n_features).
    emission_ : object
        Distributions of the next row of each component.
    trace_ : Trace
        Scalars of every kept sweep of every chain, "n_components" among them.
    categories_ : list of n_features arrays or None
        Only if a column of categories held labels: for each column its categories, in the order of
        the codes that stand for them in the model; None: the column holds numbers.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ChainEstimator._parameter_constraints,
        "emission": [StrOptions(set(EMISSIONS)), HasMethods("make_sampler")],
        "concentration": "no_validation",
        "concentration_prior": [tuple, list],
        "split_merge": ["boolean"],
        "point_estimate": [StrOptions({"binder", "vi"})],
        "init": [StrOptions({"sequential"}), "array-like"],
        "use_y": ["boolean"],
        "merge_overlapping": ["boolean", StrOptions({"auto"})],
    }

    _feature_attributes = (
        *ChainEstimator._feature_attributes,
        "categories_",
        "_format",
        "_checksum",
    )
    _optional_attributes = frozenset(["means_", "covariances_"])

    emission: Any
    split_merge: bool
    point_estimate: str
    init: Any
    use_y: bool
    merge_overlapping: bool | str
    n_features_in_: int

    _learned: ClassVar[tuple[str, ...]]
    """Scalars of the trace whose means accompany the representative partition."""

    _models: list[Any]
    _representative: Any
    _summary: Summary
    _n_labels: int
    _components: Places
    """Index of the component of each row of X."""
    _sources: Places | None
    """Index of the row of X of each row of the stored partitions, in a fit with weights."""
    labels_: Any
    component_labels_: Places
    cluster_labels_: Places
    n_components_: int

    # Validation

    def _part(self, name: str) -> Any:
        return resolve_part(getattr(self, name), EMISSIONS if name == "emission" else {})

    def _check_hyper(self) -> None:
        """Raise for parameters of the prior of partitions that are out of range."""
        raise NotImplementedError

    def _validate_parameters(self) -> None:
        if isinstance(self.emission, Integral):
            raise ValueError(
                f"emission must be the name of a distribution or an emission object, got "
                f"{shorten(self.emission)}. If this was to be the number of components: it is "
                "inferred."
            )
        check_part(self.emission, "emission")
        super()._validate_parameters()
        self._check_hyper()
        is_asked = self.merge_overlapping not in ("auto", False)
        if is_asked and not has_numbers(self._part("emission")):
            raise ValueError(
                "merge_overlapping=True needs an emission of numbers or of counts in columns, and "
                f"{shorten(self.emission)} has none."
            )

    @property
    def _names(self) -> list[str] | None:
        """Names of the columns, if they have any."""
        names = vars(self).get("feature_names_in_")
        return None if names is None else [str(name) for name in names]

    def _warn_of_codes(self, values: Floats) -> None:
        categories = vars(self).get("categories_")
        warn_of_codes(self._part("emission"), values, self._names, categories)

    def _make_emission(self, values: Floats, powers: Floats | None = None) -> Any:
        """Return the emission's sampler; `powers`, (N,), are of rows' likelihoods, None: all 1."""
        names = self._names
        check_observed(self._part("emission"), values, names, np.arange(values.shape[1]))
        known = vars(self).get("categories_")
        emission = fit_for_table(self._part("emission"), values.shape[1], names, known)
        if names is not None and hasattr(emission, "with_feature_names"):
            emission = emission.with_feature_names(names)
        if hasattr(emission, "n_lags"):  # rows have no order
            raise TypeError(f"{_SUPPORTED}; got {type(emission).__name__}.")
        sampler = make_part_for(EmissionSampler, emission, "emission", values, 1)
        has_gaps = isinstance(values, np.ndarray) and bool(np.isnan(values).any())
        is_plain = not has_gaps or getattr(sampler, "draws_gaps", False)
        if isinstance(sampler, ClusterEmission) and powers is None and is_plain:
            return sampler
        if not isinstance(sampler, CollapsedEmission):
            raise TypeError(f"{_SUPPORTED}; got {type(emission).__name__}.")
        if powers is not None and getattr(sampler, "draws_row_weights", False):
            raise whole_weights_error(type(emission).__name__)
        return TableEmissionSampler(sampler, _SUPPORTED)

    def _allows_nan(self) -> bool:
        """Whether NaN marks a missing value in at least some columns."""
        return bool(getattr(self._part("emission"), "allows_nan", False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_nan()
        return tags

    @property
    def _finite(self) -> bool | str:
        """Value of ``ensure_all_finite`` for checks of X."""
        return "allow-nan" if self._allows_nan() else True

    def _with_codes(self, X: Any, *, reset: bool) -> Any:
        """Return X with codes in place of text if the emission is categorical."""
        return code_categories(
            self,
            self._part("emission"),
            X,
            reset=reset,
            allow_missing=self._allows_nan(),
            reads_types=True,
        )

    def _copy_rows(self, rows: LabeledRows, weights: Floats) -> LabeledRows:
        """Return the rows of a fit with weights."""
        copied: LabeledRows = copy_rows(rows, weights, self.n_samples * self.n_chains)
        return copied

    # Chains

    def _check_memory(self, values: Floats) -> None:
        """Raise if the stored partitions do not fit into memory."""
        check_memory(
            8.0 * values.size + 4.0 * len(values) * self.n_samples * self.n_chains,
            f"n_samples={self.n_samples} partitions of {len(values)} rows, in "
            f"n_chains={self.n_chains} chains",
        )

    def _model_of(
        self, sampler: Any, labels: Places, learned: dict[str, float], root: np.random.SeedSequence
    ) -> Any:
        """Return the predictive model of new rows given a partition and hyperparameters."""
        raise NotImplementedError

    def _find_components(self, model: Any, rows: Places, copies: RowCopies) -> Places:
        """Return the most probable components of rows of X that were left out of the fit."""
        raise NotImplementedError

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        trace, models = attributes["trace_"], attributes["_models"]
        sampler = state.runs[attributes["_best_chain"]].sampler
        labels = representative_partition(
            np.array([model.labels for model in models]), self.point_estimate, sampler.known
        )
        sampler = sampler.settled(labels)
        learned = {name: float(trace[name].mean()) for name in self._learned}
        model = self._model_of(sampler, labels, learned, state.root)
        n_components, names = len(model.weights) - 1, sampler.names
        clusters = np.arange(n_components)
        merges = self.merge_overlapping and has_numbers(self._part("emission"))
        if merges and n_components > 1:
            rng = np.random.default_rng(derive_seed(state.root, Role.TRANSFORM, 1))
            clusters = find_clusters(model, sampler.values, labels, len(names), rng)
        others = names.max(initial=-1) + 1 + np.arange(clusters.max() + 1 - len(names))
        cluster_labels = np.concatenate([names, others])
        component_labels = cluster_labels[clusters]
        n_left, n_settled = sampler.n_left, sampler.n_settled
        if n_settled > 0 and len(vars(self).get("labels_", ())) == n_left + n_settled:
            past = np.sort(self.cluster_labels_)
            shared = np.zeros((len(past), len(cluster_labels)))
            before = np.searchsorted(past, self.labels_[n_left:])
            np.add.at(shared, (before, clusters[labels[:n_settled]]), 1.0)
            numbers = keep_numbers(shared, past, names)
            component_labels = numbers[clusters]
            others = np.setdiff1d(np.union1d(past, numbers), names)
            cluster_labels = np.concatenate([names, others])
        components, sources = labels, None
        if sampler.copies is not None:
            copies: RowCopies = sampler.copies
            found = self._find_components(model, copies.left_out, copies)
            components, sources = copies.of_rows(labels, found), copies.sources
        numbers = trace["n_components"].astype(np.int64).ravel()
        geometry = {}
        if isinstance(model.emission, GaussianModel):
            geometry = {
                "means_": model.emission.means[:-1].copy(),
                "covariances_": model.emission.covariances[:-1].copy(),
            }
        return {
            **attributes,
            **geometry,
            "_representative": model,
            "_summary": sampler.summarize(labels),
            "_n_labels": len(names),
            "_components": components,
            "_sources": sources,
            "labels_": component_labels[components],
            "component_labels_": component_labels,
            "cluster_labels_": cluster_labels,
            "n_components_": n_components,
            "n_clusters_": len(np.unique(clusters)),
            "n_components_distribution_": np.bincount(numbers) / len(numbers),
            "weights_": model.weights[:-1].copy(),
            "emission_": model.emission.reorder(np.arange(n_components)),
            "concentration_": learned["concentration"],
        }

    # Public methods

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the mixture and return `labels_`.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`

        Returns
        -------
        labels
            `labels_`.
        """
        return self.fit(X, y, sample_weight).labels_

    def iter_sweeps(self, X: Any, y: Any = None, sample_weight: Any = None) -> Iterator[Any]:
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
            and the iterator can continue from there.

        Raises
        ------
        ValueError, TypeError
            At the call, before the first sweep, if `fit` would raise it.
        """
        return self._iter_sweeps(X, y, sample_weight=sample_weight)

    def cluster_tree(self) -> MergeTree:
        """Return the tree of the components: which are merged first if there should be fewer.

        Two at a time are merged, so that the rows lose the least evidence, the log
        probability of the rows, with the parameters of the clusters integrated out.

        Returns
        -------
        MergeTree
            With the attributes `merges`, `losses` (nats per row), `sizes` and `linkage` (for
            scipy), and the method `labels`: the merged cluster of every component. With
            ``merge_overlapping=False``, the merged clusters of new rows are
            ``tree.labels(n)[model.predict_proba(X).argmax(axis=1)]``. Components of different
            labels are merged last, after all without a label.

        See Also
        --------
        skdp.inspection.ClusterTreeDisplay : Plots the tree.
        """
        check_is_fitted(self)
        return make_cluster_tree(self._summary, self._n_labels)

    def labels_at(self, n_clusters: int) -> Any:
        """Return the clusters of the training rows, merged until `n_clusters` are left.

        The components are merged as in `cluster_tree`; this estimator is not changed.

        Parameters
        ----------
        n_clusters : int
            From 1 to `n_components_`.

        Returns
        -------
        labels
            In the form of `labels_`, numbered from 0 by decreasing size.

        Raises
        ------
        ValueError
            If `n_clusters` is out of range.
        """
        check_is_fitted(self)
        n_clusters = check_at_most(n_clusters, "n_clusters", self.n_components_, "components")
        merged = self.cluster_tree().labels(n_clusters)[self._components]
        if isinstance(self.labels_, list):
            return np.split(merged, np.cumsum([len(labels) for labels in self.labels_])[:-1])
        return merged

    def _of_clusters(self, of_components: Floats) -> Floats:
        """Return the probabilities of clusters, (N, C), given those of components, (N, K)."""
        return np.asarray(of_components @ self._members())

    def _places_of_rows(self) -> Places:
        """Return the place of each row of X in the stored partitions, -1 if it has weight 0."""
        n_rows = len(self._components)
        if self._sources is None:
            return np.arange(n_rows)
        places = np.full(n_rows, -1)
        rows, first = np.unique(self._sources, return_index=True)
        places[rows] = first
        return places

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        warn_of_drifts(self, trace, "components")
