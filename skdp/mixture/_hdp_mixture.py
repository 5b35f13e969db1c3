"""Mixtures for grouped rows that share components, the number of which is inferred."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count, check_memory
from skdp._fit import FitState
from skdp._fit._estimator import warn_of_counter
from skdp._numeric import Floats, Places
from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp._sklearn_compat import with_callbacks
from skdp.data import SequencePanel, check_panel
from skdp.data._coding import TableFormat
from skdp.data._sequence_panel import check_no_lengths, split
from skdp.mixture._base import BaseMixture
from skdp.mixture._explanation import complete_groups
from skdp.mixture._rows._hdp import (
    HDPMixtureModel,
    HDPMixtureSampler,
    score_completions,
    sum_scores,
)
from skdp.mixture._rows._partition import (
    LabeledRows,
    RowCopies,
    check_labels_of_groups,
    check_weights_of_groups,
    first_labels_of_groups,
    weighted_mean,
)
from skdp.processes._partitions import TopPriors, check_concentration_or_prior


class HDPMixture(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseMixture):
    r"""HDP mixture of groups of rows that share components, whose number is inferred.

    In a hierarchical Dirichlet process, every group mixes the same components in its own
    proportions, and new groups may have new components.

    .. math::

        \beta \sim \mathrm{GEM}(\gamma), \quad
        \theta_j \sim \mathrm{DP}(\alpha, \beta), \quad
        z_{ji} \sim \theta_j, \quad
        x_{ji} \sim F(\phi_{z_{ji}})

    A sample is a group; the order of its rows does not matter. With the shares theta and the
    parameters phi integrated out, the component of every row is drawn given all others, with a new
    component among the choices (direct assignment), then the weights beta.

    Parameters
    ----------
    emission
    concentration : float or "auto", default="auto"
        Concentration alpha of the shares of groups, in [1e-8, 1e8]: the larger, the more they are
        like beta. "auto": drawn.
    concentration_prior : (shape, rate), default=(1.0, 0.1)
        Gamma prior under which alpha is drawn; shape and rate from 1e-8 to 1e8.
    top_concentration : float or "auto", default="auto"
        Concentration gamma of the weights of components, in [1e-8, 1e8]: the larger, the more
        components. "auto": drawn.
    top_concentration_prior : (shape, rate), default=(1.0, 0.1)
        Gamma prior under which gamma is drawn; shape and rate from 1e-8 to 1e8.
    split_merge : bool, default=True
        Whether each sweep also tries to split components, to merge two, and to redistribute the
        rows of two: 20 + sqrt(number of rows) / 10 moves.
    point_estimate
    init : {"sequential"} or list of (n_rows_j,) arrays of int, default="sequential"
        First partition of each chain. "sequential": rows join components in turn, in
        random order, each given the rows before. From 4,000 rows on, a subset of 2,000 comes first
        and is moved by a hundred sweeps, and the others join the components found; from 40,000 on,
        a subset of 20,000 is moved by fifty sweeps. If the emission draws its degrees
        of freedom ("gaussian" does) and there are fewer than 20 rows per column, partitions into 2
        to 13 clusters by k-means are tried as well: each is moved by 15 sweeps, and the chain goes
        on from the one with the highest mean log joint. Or your own labels, an array for each group
        (for a single array X: one array). They are only a start: components may be merged, split
        or emptied, so `labels_` has other numbers, by decreasing size. Labels in y of `fit` do not
        change, and keep their numbers.
    use_y, merge_overlapping
    max_iter : int, default=500
    burn_in
    thin : int, default=5
    n_samples, n_chains, warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    labels_ : list of (n_rows_j,) arrays of int
        Number (see `cluster_labels_`) of the cluster of each row in the representative partition,
        by group. If X was a single array, one array.
    n_clusters_, n_components_, cluster_labels_, component_labels_
    n_components_distribution_ : array
        Posterior distribution of the number of components: entry k is P(K = k), over the kept
        sweeps of all chains.
    weights_ : (K,) array
        Weights beta of the components: the expected shares of a new group. The remainder to 1 is
        the weight of new components.
    group_weights_ : (n_groups, K) array
        Expected shares theta of the training groups, given the representative partition; the
        remainder of a row to 1 is the share of new components.
    means_, covariances_, emission_
    concentration_, top_concentration_ : float
        Posterior means of alpha and gamma.
    trace_, n_iter_, convergence_, n_features_in_
    feature_names_in_ : (n_features,) array
        Only if X was a data frame with string column names, or a list of them.
    categories_

    See Also
    --------
    DPMixture : Mixture of the rows of a single group.
    skdp.topics.HDPTopicModel : The corresponding model of documents of words.
    skdp.sequence.HDPHMMLT : Model of rows whose order matters.

    Notes
    -----
    With the weights beta of the K components that have rows, and beta_u of all others, the joint
    distribution is

    .. math::

        \gamma^K \beta_u^{\gamma - 1} \prod_k \frac{f(X_k)}{\beta_k}
        \prod_j \frac{\Gamma(\alpha)}{\Gamma(\alpha + n_j)}
        \prod_k \frac{\Gamma(\alpha \beta_k + n_{jk})}{\Gamma(\alpha \beta_k)}

    where the parameters of the components are integrated out of f. A row of group j
    joins component k with weight n_jk + alpha beta_k, and a new one with alpha beta_u, which is
    then split by Beta(1, gamma), as in [1]_. A sweep over all rows is followed by moves that split
    a component, merge two or redistribute the rows of two. These are the moves of
    `PitmanYorMixture`, as in [2]_, but the proposal also includes how the two components share
    their weight; exact Metropolis-Hastings accepts or rejects them. Then tables, beta, alpha and
    gamma are drawn. Nothing is truncated.

    New groups have the components of a sample, with predictive densities given the training rows,
    and one more that represents all others, whose rows are independent draws from the prior
    predictive. Their shares, given their rows, are means over 100 Gibbs sweeps of the rows'
    components. The random numbers of a group depend on its rows and on a seed that is drawn in the
    fit, so the results for a group do not depend on other groups.

    Columns of a `GaussianEmission` that are constant in the training data have no influence on the
    components. One row is enough for a fit, and there may be fewer rows than columns. A
    group has at least one row.

    References
    ----------
    .. [1] Y. W. Teh, M. I. Jordan, M. J. Beal and D. M. Blei, "Hierarchical Dirichlet processes",
       Journal of the American Statistical Association 101, 2006, section 5.3.
    .. [2] S. Jain and R. M. Neal, "A split-merge Markov chain Monte Carlo procedure for the
       Dirichlet process mixture model", Journal of Computational and Graphical Statistics 13, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.mixture import HDPMixture
    >>> rng = np.random.default_rng(0)
    >>> centers = [[0, 5], [0, 10], [0, 0, 10]]
    >>> groups = [rng.normal(rng.choice(own, (40, 1)), 0.5, (40, 2)) for own in centers]
    >>> model = HDPMixture(max_iter=100, random_state=0).fit(groups)
    >>> model.n_components_
    3
    >>> np.count_nonzero(model.transform(groups) > 0.05, axis=1).tolist()
    [2, 2, 2]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseMixture._parameter_constraints,
        "top_concentration": "no_validation",
        "top_concentration_prior": [tuple, list],
    }

    _feature_attributes = (*BaseMixture._feature_attributes, "_is_single")

    _learned = ("concentration", "top_concentration")

    _is_single: bool
    _key: NDArray[np.uint64]
    _models: list[HDPMixtureModel]
    _representative: HDPMixtureModel

    def __init__(
        self,
        emission: Any = "gaussian",
        *,
        concentration: float | str = "auto",
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        top_concentration: float | str = "auto",
        top_concentration_prior: tuple[float, float] = (1.0, 0.1),
        split_merge: bool = True,
        point_estimate: str = "binder",
        init: Any = "sequential",
        use_y: bool = True,
        merge_overlapping: bool | str = "auto",
        max_iter: int = 500,
        burn_in: int | None = None,
        thin: int = 5,
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
        tags.transformer_tags.preserves_dtype = []
        return tags

    # Validation

    def _concentration(self, name: str) -> tuple[float, tuple[float, float] | None]:
        """Return a concentration, or its initial value and its prior if it is drawn."""
        value, prior = getattr(self, name), getattr(self, f"{name}_prior")
        return check_concentration_or_prior(value, prior, name)

    def _check_hyper(self) -> None:
        for name in self._learned:
            self._concentration(name)

    def _check_input(self, X: Any, y: Any = None, sample_weight: Any = None) -> LabeledRows:
        coded = self._with_codes(X, reset=True)
        panel, is_single = check_panel(self, coded, reset=True, ensure_all_finite=self._finite)
        check_no_lengths(y, panel, is_single, "group")
        self._warn_of_codes(panel.values)
        warn_of_counter(self, panel.values, panel.ptr)
        rows = check_labels_of_groups(panel, is_single, y if self.use_y else None)
        self._is_single = is_single
        is_whole = is_single or isinstance(X, SequencePanel)
        self._format = TableFormat.of(X) if is_whole else TableFormat.joined(X)
        if sample_weight is None:
            return rows
        weights = check_weights_of_groups(sample_weight, panel.ptr, is_single)
        return self._copy_rows(rows, weights)

    def _first_labels(self, rows: LabeledRows) -> Places | None:
        """Return the given first partition with labels without gaps, or None if none is given."""
        return None if isinstance(self.init, str) else first_labels_of_groups(self.init, rows)

    # Chains

    def _start_sampler(
        self, rows: LabeledRows, root: np.random.SeedSequence, c: int
    ) -> HDPMixtureSampler:
        self._check_memory(rows.values)
        concentration, prior = self._concentration("concentration")
        top_concentration, top_prior = self._concentration("top_concentration")
        return HDPMixtureSampler(
            rows,
            self._make_emission(rows.values, rows.powers),
            TopPriors(prior, top_prior),
            concentration,
            top_concentration,
            self._first_labels(rows),
            derive_stream(root, Role.INIT, c),
            derive_stream(root, Role.SWEEP, c),
            split_merge=bool(self.split_merge),
        )

    def _model_of(
        self, sampler: Any, labels: Places, learned: dict[str, float], root: np.random.SeedSequence
    ) -> HDPMixtureModel:
        rng = derive_stream(root, Role.LIKELIHOOD)
        model: HDPMixtureModel = sampler.model_of(labels, **learned, rng=rng)
        return model

    def _find_components(self, model: HDPMixtureModel, rows: Places, copies: RowCopies) -> Places:
        return model.find_components(rows, copies)

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        trace, labels = attributes["trace_"], attributes["labels_"]
        sampler, model = state.runs[0].sampler, attributes["_representative"]
        indicators = np.eye(len(model.weights))[model.labels]
        ptr = sampler.ptr if sampler.copies is None else sampler.copies.ptr
        return {
            **attributes,
            "_key": derive_stream(state.root, Role.TRANSFORM),
            "labels_": split(labels, ptr, self._is_single),
            "group_weights_": model.shares(sampler.ptr, indicators)[:, :-1],
            "top_concentration_": float(trace["top_concentration"].mean()),
        }

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture to groups of rows.

        Parameters
        ----------
        X : SequencePanel, list of groups, or (n_rows, n_features) array
            Each group in a list is a (n_rows_j, n_features) or (n_rows_j,) array, or a data frame.
            An array or data frame is one group.
        y : list of (n_rows_j,) arrays of int, default=None
            Known labels of rows, for each group an array, or None if it has none; for a single
            array X, one array. Labels are from 0, with or without gaps; -1, None or NaN: unknown.
            Rows with the same label are always of the same component, and rows with different
            labels never are, in any groups; the other rows may join any of these components or
            open new ones. A list of numbers or names, one for each group, is ignored, because it
            holds classes of groups. Sizes of groups are refused, and y does not define groups:
            pass ``SequencePanel.from_frame(df, by="group")``, or
            ``[X[names == name] for name in np.unique(names)]``, as X.
        sample_weight : list of (n_rows_j,) arrays, default=None
            How many rows each row stands for, >= 0, for each group an array, or None if all its
            weights are 1; for a single array X, one array. Weights are repetitions, and fractions
            powers of the likelihood, as in `DPMixture`; they need independent columns, such as
            those of ``GaussianEmission("diag")``.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y, sample_weight or a parameter is invalid, a group has no rows, y holds the sizes
            of groups, or `init` contradicts y. The estimator is left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current sweep. It is fitted with the samples so far,
            in the burn-in with the current state unless it was fitted before; another `fit` with
            ``warm_start=True`` continues.

        Warns
        -----
        ConvergenceWarning, UserWarning
            As in `DPMixture.fit`.
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def predict(self, X: Any) -> Any:
        """Return the most probable cluster of each row, given its group.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of (n_rows_j,) arrays of int
            Numbers from `cluster_labels_`, under the representative partition: the label of a
            cluster, or without labels a number from 0 to ``n_clusters_ - 1``; for a single
            array, one array. Training rows may have another cluster than in `labels_`, because
            each row is itself one of the rows that it is compared to; a label in `y` makes no
            difference here.
        """
        known, _, panel, is_single = self._responsibilities(X)
        found = self.cluster_labels_[np.argmax(self._of_clusters(known), axis=1)]
        return split(found, panel.ptr, is_single)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the known clusters for each row.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of (n_rows_j, C) arrays
            Probabilities given all rows of the group and that the row is of a known cluster, under
            the representative partition; for a single array, one array. Column c is the cluster
            with the number ``cluster_labels_[c]``.
        """
        known, _, panel, is_single = self._responsibilities(X)
        return split(self._of_clusters(known), panel.ptr, is_single)

    def novelty(self, X: Any) -> Any:
        """Return the probability that each row is of a component without training rows.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of (n_rows_j,) arrays
            Probabilities given all rows of the group, under the representative partition; for a
            single array, one array.
        """
        _, new, panel, is_single = self._responsibilities(X)
        return split(new, panel.ptr, is_single)

    def transform(self, X: Any) -> Floats:
        """Return the shares of the clusters among the rows of each group.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_groups, C) array
            Means over the rows of each group of the probabilities of clusters; rows sum to 1. For a
            single array, every row is a sample, (n_rows, C). Column c is the cluster with the
            number ``cluster_labels_[c]``.
        """
        known, _, panel, is_single = self._responsibilities(X)
        known = self._of_clusters(known)
        if is_single:
            return known
        return np.array([part.mean(axis=0) for part in split(known, panel.ptr, is_single)])

    def score_samples(self, X: Any) -> Floats:
        """Return the log predictive density (or probability) of a held-out half of each group.

        Groups are scored by document completion, as in topic models: a random half of the rows of
        each group determines its shares of the components (ceil(n / 2) of n rows), and the others
        are scored, each with sum_k E[theta_k] f_k(x), including a new component. These densities
        are averaged over the stored samples of all chains, row by row. The halves depend only on
        the set of rows of the group. So the score of a group does not depend on the order of its
        rows or on the other groups, and all models score the same rows.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_groups,) array
            Natural logarithms, summed over the scored rows of a group; 0 for a group of one row.
            For a single array, one value per row, (n_rows,): 0 for rows that are not scored.
        """
        return sum_scores(*self._score_rows(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log predictive density (or probability) of a scored row.

        Parameters
        ----------
        X : as in `fit`
        y : ignored
            Sizes of groups are refused, as in `fit`.
        sample_weight : as in `fit`
            Weights of the scored rows in the mean.

        Returns
        -------
        float
            ``score_samples(X).sum()`` divided by the number of scored rows; higher is better.

        Raises
        ------
        ValueError
            If every group has only one row, all scored rows have weight 0, or X is invalid.
        """
        logs, scored, panel, is_single = self._score_rows(X)
        check_no_lengths(y, panel, is_single, "group")
        weights = np.ones(len(panel.values))
        if sample_weight is not None:
            weights = check_weights_of_groups(sample_weight, panel.ptr, is_single)
        if not weights[scored].any():
            raise ValueError(
                "X has no rows to score: half of the rows of each group are scored given the "
                "others, and every group has only one row, or these rows have weight 0."
            )
        if sample_weight is not None:
            return weighted_mean(logs, weights[scored])
        return float(sum_scores(logs, scored, panel, is_single).sum() / len(scored))

    def sample(
        self,
        n_rows: int,
        n_groups: int = 1,
        *,
        as_frame: str | bool = "auto",
        random_state: Any = None,
    ) -> Any:
        """Draw new groups, each given a random stored sample.

        Parameters
        ----------
        n_rows : int
            Number of rows of a group, >= 1.
        n_groups : int, default=1
        as_frame : "auto" or bool, default="auto"
            Whether to return data frames, as in `DPMixture`.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        SequencePanel, or list of data frames or arrays of objects
            Given its shares of the components, the rows of a group are independent draws of the
            components' predictive distributions.
        """
        check_is_fitted(self)
        self._wants_frame(as_frame)
        n_rows = check_count(n_rows, "n_rows", at_least=1)
        n_groups = check_count(n_groups, "n_groups", at_least=1)
        check_memory(
            16.0 * n_rows * n_groups * self.n_features_in_, f"n_groups={n_groups} of {n_rows} rows"
        )
        rng = np.random.default_rng(make_seed_sequence(random_state))
        chosen = rng.integers(len(self._models), size=n_groups)
        groups = [self._models[s].sample(n_rows, rng) for s in chosen]
        parts = [self._in_format(group, as_frame) for group in groups]
        return SequencePanel.from_sequences(parts) if parts[0] is groups[0] else parts

    # Predictions of the stored samples

    def _check_groups(self, X: Any) -> tuple[SequencePanel, bool]:
        check_is_fitted(self)
        coded = self._with_codes(X, reset=False)
        return check_panel(self, coded, reset=False, ensure_all_finite=self._finite)

    def _read_table(self, X: Any) -> tuple[Floats, Places | None]:
        panel, is_single = self._check_groups(X)
        return panel.values, None if is_single else panel.ptr

    def _complete(
        self, values: Floats, ptr: Places | None, rng: np.random.Generator | None
    ) -> Floats:
        ptr = np.array([0, len(values)]) if ptr is None else ptr
        return complete_groups(self._models, ptr, values, self._key, rng)

    def _responsibilities(self, X: Any) -> tuple[Floats, Floats, SequencePanel, bool]:
        """Return `known_and_new` under the representative partition, the panel, and `is_single`."""
        panel, is_single = self._check_groups(X)
        known, new = self._representative.known_and_new(panel.ptr, panel.values, self._key)
        return known, new, panel, is_single

    def _score_rows(self, X: Any) -> tuple[Floats, Places, SequencePanel, bool]:
        """Return the log densities of the scored rows, their indices, the panel, and is_single."""
        panel, is_single = self._check_groups(X)
        found = score_completions(self._models, panel.ptr, panel.values, self._key, self.n_jobs)
        return *found, panel, is_single

    @property
    def _n_features_out(self) -> int:
        return int(self.n_clusters_)
