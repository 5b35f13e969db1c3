"""Mixtures of rows: fits, and predictions from the stored partitions."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_array, check_concentration, check_gamma_prior, check_jobs
from skdp._fit._estimator import StreamMixin, checksum, warn_of_counter
from skdp._numeric import Floats, Places
from skdp._numeric._arrays import log_posterior
from skdp._numeric._random import Role, derive_stream
from skdp._sklearn_compat import StrOptions, with_callbacks
from skdp.data._coding import TableFormat
from skdp.data._validation import SparseRows, check_rows
from skdp.mixture._base import BaseMixture
from skdp.mixture._explanation import complete_rows
from skdp.mixture._rows._partition import (
    LabeledRows,
    RowCopies,
    check_agreement,
    check_labels,
    check_weights,
    weighted_mean,
)
from skdp.mixture._rows._sampler import (
    BlockedSampler,
    LeftOutDensities,
    MixtureModel,
    MixtureSampler,
    PartitionPrior,
    draw_rows,
)

_FIRST_DISCOUNT, _FIRST_CONCENTRATION = 0.1, 1.0
"""Initial values of a drawn discount and concentration."""


class RowMixture(StreamMixin, BaseMixture):
    """Base class: a subclass has the parameters and defines `_discount_and_prior`.

    Parameters
    ----------
    concentration_prior : (shape, rate), default=(1.0, 1.0)
        Gamma prior under which b is drawn; shape and rate from 1e-8 to 1e8.
    sampler : {"collapsed", "blocked"}, default="collapsed"
        "collapsed": rows are drawn in turn, each given all others. "blocked":
        parameters are drawn, then all rows at once given them, in `n_jobs` threads if there is one
        chain; use it for more than about 50,000 rows. Both have the same posterior; a blocked sweep
        mixes more slowly if clusters overlap.
    split_merge : bool, default=True
        Whether each sweep also tries to split components, to merge two, and to redistribute the
        rows of two: 20 + sqrt(number of rows) / 10 moves, or 20 with ``sampler="blocked"``, and 20
        more of large components if there are more than 20,000 rows.
    init : {"sequential"} or (n_samples,) array of int, default="sequential"
        First partition of each chain. "sequential": rows join components in turn, in
        random order, each given the rows before. From 4,000 rows on, a subset of 2,000 comes first
        and is moved by a hundred sweeps, and the others join the components found; from 40,000 on,
        a subset of 20,000 is moved by fifty sweeps. If the emission draws its degrees
        of freedom ("gaussian" does) and there are fewer than 20 rows per column, partitions into 2
        to 13 clusters by k-means are tried as well: each is moved by 15 sweeps, and the chain goes
        on from the one with the highest mean log joint. Or your own labels. They are only a
        start: components may be merged, split or emptied, so `labels_` has other numbers, by
        decreasing size. Labels in y of `fit` do not change, and keep their numbers.

    Attributes
    ----------
    labels_ : (n_samples,) array of int
        Number (see `cluster_labels_`) of the cluster of each row in the representative partition.
    n_components_distribution_ : array
        Posterior distribution of the number of components: entry k is P(K = k), over the kept
        sweeps of all chains.
    weights_ : (K,) array
        Probabilities that the next row is of each component; the remainder to 1 is the probability
        of a new one.
    feature_names_in_ : (n_features,) array
        Only if X was a data frame with string column names.
    """

    concentration: Any
    concentration_prior: Any
    sampler: str

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseMixture._parameter_constraints,
        **StreamMixin._stream_constraints,
        "sampler": [StrOptions({"collapsed", "blocked"})],
    }

    _learned = ("discount", "concentration")

    _models: list[MixtureModel]
    _representative: MixtureModel

    # Validation

    def _discount_and_prior(self) -> tuple[float | None, tuple[float, float]]:
        """Return the discount, or None if it is drawn, and its Beta prior."""
        raise NotImplementedError

    def _concentration_and_prior(
        self, discount: float | None
    ) -> tuple[float | None, tuple[float, float]]:
        """Return the concentration, or None if it is drawn, and its Gamma prior."""
        prior = check_gamma_prior(self.concentration_prior, "concentration_prior")
        if isinstance(self.concentration, str) and self.concentration == "auto":
            return None, prior
        try:
            return check_concentration(self.concentration, above=-(discount or 0.0)), prior
        except ValueError as error:
            raise ValueError(f"{error} It may also be 'auto'.") from None

    def _check_hyper(self) -> None:
        self._concentration_and_prior(self._discount_and_prior()[0])

    def _check_input(self, X: Any, y: Any = None, sample_weight: Any = None) -> LabeledRows:
        values = self._read_rows(X, reset=True)
        if isinstance(values, SparseRows):
            self._format, self._checksum = TableFormat(None), checksum(*values.arrays)
        else:
            self._warn_of_codes(values)
            warn_of_counter(self, values)
            self._format, self._checksum = TableFormat.of(X), checksum(values)
        rows = check_labels(values, y if self.use_y else None)
        if sample_weight is None:
            return rows
        weights = check_weights(sample_weight, len(values))
        return self._copy_rows(rows, weights)

    def _first_labels(self, rows: LabeledRows) -> NDArray[np.int64] | None:
        """Return the given first partition with labels without gaps, or None if none is given."""
        if isinstance(self.init, str):
            return None
        n_samples = len(rows.values if rows.copies is None else rows.copies.values)
        labels = as_array(self.init, "init")
        if labels.shape != (n_samples,) or labels.dtype.kind not in "iu":
            raise ValueError(
                f"init must be 'sequential' or {n_samples} integers, a label per row of X; got "
                f"{labels.dtype} of shape {labels.shape}."
            )
        if rows.copies is not None:
            labels = labels[rows.copies.sources]
        first = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        check_agreement(first, rows)
        return first

    # Chains

    def _check_batch(self, earlier: LabeledRows, X: Any, y: Any) -> tuple[LabeledRows, range]:
        values = self._check_rows(X)
        batch = check_labels(values, y if self.use_y else None)
        staying = self._staying(len(earlier.values), len(values))
        rows = earlier.followed_by(batch, staying.start)
        if not isinstance(rows.values, SparseRows):
            self._checksum = checksum(rows.values)
        return rows, staying

    def _extend_sampler(
        self, sampler: MixtureSampler, data: LabeledRows, n_left: int
    ) -> MixtureSampler:
        before = copy(sampler)
        before.labels = np.unique(sampler.labels[n_left:], return_inverse=True)[1]
        extended = self._make_chain(data, before, sampler.stream, sampler.stream)
        extended.n_left = n_left
        return extended

    def _start_sampler(
        self, rows: LabeledRows, root: np.random.SeedSequence, c: int
    ) -> MixtureSampler:
        streams = (derive_stream(root, role, c) for role in (Role.INIT, Role.SWEEP))
        return self._make_chain(rows, self._first_labels(rows), *streams)

    def _make_chain(
        self, rows: LabeledRows, init: Any, init_stream: Any, stream: Any
    ) -> MixtureSampler:
        """Return a chain from a first partition, or from a chain of the first rows."""
        self._check_memory(rows.values)
        discount, discount_prior = self._discount_and_prior()
        concentration, concentration_prior = self._concentration_and_prior(discount)
        make: Any = MixtureSampler
        if self.sampler == "blocked":
            make = partial(BlockedSampler, n_jobs=self._n_jobs_of_chain())
        sampler: MixtureSampler = make(
            rows,
            self._make_emission(rows.values, rows.powers),
            PartitionPrior(
                discount_prior if discount is None else None,
                concentration_prior if concentration is None else None,
            ),
            _FIRST_DISCOUNT if discount is None else discount,
            _FIRST_CONCENTRATION if concentration is None else concentration,
            init,
            init_stream,
            stream,
            split_merge=bool(self.split_merge),
        )
        return sampler

    def _model_of(
        self, sampler: Any, labels: Places, learned: dict[str, float], root: np.random.SeedSequence
    ) -> MixtureModel:
        model: MixtureModel = sampler.model_of(labels, **learned)
        return model

    def _find_components(self, model: MixtureModel, rows: Places, copies: RowCopies) -> Places:
        log_joint = model.log_joint_with(copies.values[rows])[:, :-1]
        return np.argmax(log_posterior(log_joint, model.log_weights[:-1]), axis=1)

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture to the rows of X.

        Parameters
        ----------
        X : (n_samples, n_features) array-like
            Or, with a `MultinomialEmission` or a `BernoulliEmission`, a sparse matrix or array of
            any format, here and in all methods but `impute` and `sample_missing`. The fit is that
            to the dense array (for bits, up to random numbers), and its memory is in proportion to
            the nonzero entries, and to the components times the features for each stored sample.
        y : (n_samples,) array-like of int, default=None
            Known labels of rows, from 0, with or without gaps; -1, None or NaN: unknown. Rows with
            the same label are always of the same component, and rows with different labels never
            are; the other rows may join any of these components or open new ones. None, or
            ``use_y=False``: all are unknown.
        sample_weight : (n_samples,) array-like or None, default=None
            How many rows each row stands for, >= 0. A row of weight 3 is fitted as three equal
            rows: the fit is that to ``np.repeat(X, sample_weight, axis=0)``, and the row has the
            label of most of the three. A row of weight 0 is left out, and has the label of the most
            probable component. The fraction of a weight is one more row, the likelihood of which
            has this power: with weight 0.2, a row counts as a row in the sizes of components, but
            its values as a fifth of a row. Fractions need an emission of independent columns, such
            as ``GaussianEmission("diag")``, "poisson", "bernoulli", "categorical" or
            `IndependentEmissions` of such parts; "gaussian" with full covariances (unless X has one
            column) and "student_t" take whole weights. None: all weights are 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y, sample_weight or a parameter is invalid, or `init` contradicts y. The estimator
            is left unchanged.
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
        UserWarning
            If a column of codes from 0 has far fewer different ones than its largest: labels, such
            as zip codes, have to be text or a pandas Categorical.
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def compact(self) -> Self:
        """Drop the clusters that `partial_fit` has left without rows, and their columns of zeros.

        The other clusters keep their numbers.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        exists = np.isin(self.cluster_labels_, self.component_labels_)
        self.cluster_labels_ = self.cluster_labels_[exists]
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the most probable cluster of each row under the representative partition.

        Parameters
        ----------
        X : (n_samples, n_features) array-like

        Returns
        -------
        (n_samples,) array of int
            Numbers from `cluster_labels_`: the label of a cluster, or without labels a number from
            0 to ``n_clusters_ - 1``. Training rows may have another cluster than in `labels_`,
            because each row is itself one of the rows that it is compared to; a label in `y` makes
            no difference here.
        """
        best = np.argmax(self._of_clusters(self._proba(X)), axis=1)
        return np.asarray(self.cluster_labels_[best])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the known clusters for each row.

        Parameters
        ----------
        X : (n_samples, n_features) array-like

        Returns
        -------
        (n_samples, C) array
            Probabilities given that the row is of a known cluster, under the representative
            partition. Column c is the cluster with the number ``cluster_labels_[c]``. A row whose
            density is 0 in all clusters has the prior probabilities of any next row.
        """
        return self._of_clusters(self._proba(X))

    def novelty(self, X: Any) -> Floats:
        """Return the probability that each row is of a component without training rows.

        Parameters
        ----------
        X : (n_samples, n_features) array-like

        Returns
        -------
        (n_samples,) array
            Probabilities under the representative partition.
        """
        logs = log_posterior(self._log_joint(X), self._representative.log_weights)
        return np.exp(logs[:, -1])

    def score_samples(self, X: Any) -> Floats:
        """Return the log predictive density (or probability) of each row.

        Densities are averaged over the stored samples of all chains and include a new component.

        Parameters
        ----------
        X : (n_samples, n_features) array-like

        Returns
        -------
        (n_samples,) array
            Natural logarithms.
        """
        values = self._check_rows(X)
        parts: Any = Parallel(n_jobs=check_jobs(self.n_jobs), prefer="threads")(
            delayed(model.log_densities)(values) for model in self._models
        )
        return np.asarray(logsumexp(parts, axis=0) - np.log(len(parts)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log predictive density (or probability) of a row; higher is better.

        Parameters
        ----------
        X : (n_samples, n_features) array-like
        y : ignored
        sample_weight : (n_samples,) array-like or None, default=None
            Weights of the rows in the mean, >= 0. None: all are 1.

        Returns
        -------
        float
        """
        logs = self.score_samples(X)
        if sample_weight is None:
            return float(logs.mean())
        return weighted_mean(logs, check_weights(sample_weight, len(logs)))

    def to_arviz(self, X: Any) -> Any:
        """Return the stored samples for ``arviz.loo``, which estimates leave-one-out scores.

        Parameters
        ----------
        X : (n_samples, n_features) array-like
            The data of the fit. With fewer than about 200 stored samples (parameter `n_samples`,
            times `n_chains`), estimates are poor.

        Returns
        -------
        arviz.InferenceData, or the DataTree of ArviZ 1
            The group "posterior" has the scalars of `trace_` at the stored samples, and the group
            "log_likelihood" the variable "x" with the dimensions "chain", "draw" and "row":
            log p(x_i) given the clusters of the other rows, their values, and the hyperparameters.

        Raises
        ------
        ImportError
            If arviz is not installed (``pip install skdp[arviz]``).
        ValueError
            If X is not the data of the fit, the fit had weights or known labels, or the emission
            was changed after the fit.
        TypeError
            If the fit drew weights or missing values of rows (with a `StudentTEmission`, or with
            missing values in a `GaussianEmission` with full covariances), or which of several
            columns of categories differ between clusters (with
            ``CategoricalEmission(prior="auto")``).

        Notes
        -----
        The parameters of the components and the component of row i are integrated out of its
        density, which has less variance than a density given drawn parameters. Draws of the
        clusters of the other rows, weighted by the inverse of these densities, are draws from the
        posterior without row i, so ``arviz.loo`` is valid. ``arviz.waic`` is not: it requires
        densities given parameters.

        References
        ----------
        A. Vehtari, T. Mononen, V. Tolvanen, T. Sivula, O. Winther (2016). Bayesian leave-one-out
        cross-validation approximations for Gaussian latent variable models. Journal of Machine
        Learning Research 17, section 3.6 (integrated importance sampling).
        """
        values = self._check_rows(X)
        is_sparse = isinstance(values, SparseRows)
        self._check_training_data(*(values.arrays if is_sparse else (values,)))
        if self._sources is not None or self._n_labels > 0:
            raise ValueError(
                f"{type(self).__name__}.to_arviz is for fits without sample_weight and without "
                "known labels in y: leaving out such a row is not defined."
            )
        emission = self._make_emission(values)
        emission.attach(values)
        return self._to_arviz([*map(LeftOutDensities(emission), self._models)], "row")

    def sample(
        self, n_samples: int = 1, *, as_frame: str | bool = "auto", random_state: Any = None
    ) -> Any:
        """Draw rows from the predictive density of `score_samples`: a synthetic table.

        Parameters
        ----------
        n_samples : int, default=1
        as_frame : "auto" or bool, default="auto"
            Whether to return a data frame with the column names and types of X in `fit`. "auto": if
            X was a data frame whose columns are not all numbers of one type. False: an array of
            numbers, in which codes stand for categories.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        (n_samples, n_features) array or data frame
            Independent rows, each given a stored sample at random. Categories are those of
            `categories_`; numbers in columns of integers are rounded. If X was an array of objects
            with text, so is the result, unless ``as_frame=False``.

        Raises
        ------
        ValueError
            If `n_samples` is not positive, or ``as_frame=True`` and X was no data frame.
        """
        check_is_fitted(self)
        self._wants_frame(as_frame)
        drawn = draw_rows(self._models, n_samples, self.n_features_in_, random_state)
        return self._in_format(drawn, as_frame)

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._read_rows(X, reset=False)

    def _read_rows(self, X: Any, *, reset: bool) -> Any:
        return check_rows(
            self, self._with_codes(X, reset=reset), reset=reset, ensure_all_finite=self._finite,
            accept_sparse=self._allows_sparse(),
        )  # fmt: skip

    def _allows_sparse(self) -> bool:
        """Whether X may be sparse."""
        return bool(getattr(self._part("emission"), "allows_sparse", False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._allows_sparse()
        return tags

    def _read_table(self, X: Any) -> tuple[Floats, Places | None]:
        return self._check_rows(X), None

    def _complete(
        self, values: Floats, ptr: Places | None, rng: np.random.Generator | None
    ) -> Floats:
        return complete_rows(self._models, values, rng)

    def _proba(self, X: Any) -> Floats:
        """Return the probabilities of the known components for each row."""
        log_joint = self._log_joint(X)[:, :-1]
        return np.exp(log_posterior(log_joint, self._representative.log_weights[:-1]))

    def _log_joint(self, X: Any) -> Floats:
        """Return log p(x, component) under the representative partition; the last one is new."""
        values = self._check_rows(X)
        return self._representative.log_joint_with(values)
