"""Binary latent features with an Indian buffet process prior."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from skdp._checks import (
    check_concentration,
    check_gamma_prior,
    check_jobs,
    check_memory,
    check_scale,
)
from skdp._fit import ChainEstimator, FitState
from skdp._fit._estimator import warn_of_counter
from skdp._numeric import Floats
from skdp._numeric._random import Role, derive_stream
from skdp._sklearn_compat import Interval, StrOptions, with_callbacks
from skdp.data._coding import TableFormat
from skdp.data._validation import check_rows
from skdp.inference._convergence import warn_of_drifts, warn_of_latent_bound
from skdp.inference._trace import Trace
from skdp.mixture._rows._latent_features import (
    DataScale,
    FeaturePrior,
    LatentFeatureModel,
    LatentFeatureSampler,
    find_scale,
)
from skdp.mixture._rows._sampler import draw_rows
from skdp.processes._partitions import expected_features

_FIRST_CONCENTRATION = 1.0
_LARGEST_RATE = 1e60
"""Bound on the rate of the prior of a variance, which is not unitless."""


class IBPLatentFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ChainEstimator):
    r"""Indian buffet process model of rows made of binary features, whose number is inferred.

    A row is the sum of the weights of its features, and noise. With a binary matrix Z of rows and
    features,

    .. math::

        X = Z A + \mathrm{noise}, \quad
        Z \sim \mathrm{IBP}(\alpha)

    Unlike in a mixture, a row may have any number of features. After N rows the next one has a
    feature of m of them with probability m / (N + 1), and a Poisson number of new ones with mean
    alpha / (N + 1), so that the number of features is inferred, too.

    Parameters
    ----------
    concentration : float or "auto", default="auto"
        alpha, above 0: the expected number of features of a row before any data. "auto": drawn.
    concentration_prior : (shape, rate), default=(1.0, 1.0)
        Gamma prior under which alpha is drawn; shape and rate from 1e-8 to 1e8.
    noise_variance : float, "auto" or "columns", default="auto"
        Variance of the noise, above 0, the same in all columns. "auto": drawn. "columns": each
        column has its own variance, which is drawn; use it if columns differ in scale, or
        some of them hardly vary.
    noise_prior : (shape, rate) or None, default=None
        Gamma prior of the reciprocal of a drawn `noise_variance`; the rate, from 1e-60 to 1e60, has
        the unit of X squared. None: the shape is 1, and the rate is a fourth of the robust variance
        of the columns, on average or (with ``noise_variance="columns"``) of each column, so that
        results do not depend on the unit of X. The robust variance is that of normal values with
        the same mean squared deviation from the median without the largest 5 %. The rate is larger
        if X has a value so large that rounding would hide the noise, from about 100,000 standard
        deviations on.
    weights_variance : float or "auto", default="auto"
        Variance of the weights A, which are normal with mean 0, above 0. "auto": drawn. With
        ``noise_variance="columns"`` it is in units of the variance of a column's noise.
    weights_prior : (shape, rate) or None, default=None
        Gamma prior of the reciprocal of a drawn `weights_variance`. None: the shape is 1, and the
        rate is the robust variance of the columns, as in `noise_prior`, or 1 with
        ``noise_variance="columns"``.
    center : bool, default=True
        Whether the means of the columns are subtracted first. Without it a row that has no feature
        is 0 but for noise; choose this if 0 means absence. With it a feature and its absence may be
        swapped, since only the difference is identified.
    split_merge : bool, default=True
        Whether each sweep tries five moves that split a feature or merge two.
    max_iter : int, default=500
    burn_in
    thin : int, default=5
    n_samples : int, default=20
        Number of kept samples of each chain, evenly spaced, to store. Densities and imputed values
        are averages over them; features are taken from the sample with the highest log joint.
    n_chains : int, default=1
        Number of independent chains, each from its own first state. The samples of all of them are
        pooled.
    transform_max_iter : int, default=50
        Number of sweeps over the features of a new row in a sample with more than 16 features; the
        first half is discarded. With up to 16 features all their combinations are summed over.
    warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    components_ : (K, n_features) array
        Posterior means of the weights A in the stored sample with the highest log joint. Features
        are sorted by decreasing number of rows that have them.
    feature_probabilities_ : (K,) array
        Probabilities that the next row has each feature.
    n_components_ : int
        Number K of features.
    n_components_distribution_ : array
        Posterior distribution of the number of features: entry k is P(K = k), over the kept sweeps
        of all chains.
    mean_ : (n_features,) array
        Vector that is subtracted from rows: means of the columns, or 0.
    concentration_, weights_variance_ : float
        Posterior means.
    noise_variance_ : float or (n_features,) array
        Posterior mean; an array with ``noise_variance="columns"``, over the stored samples.
    trace_ : Trace
        Scalars of every kept sweep of every chain, "n_components" among them.
    n_iter_, convergence_, n_features_in_
    feature_names_in_ : (n_features,) array
        Only if X was a data frame with string column names.

    See Also
    --------
    PitmanYorMixture : Mixture in which each row is of one component.
    skdp.sequence.FactorialHMM : Binary features that persist over time in sequences.

    Notes
    -----
    The joint distribution is that of [1]_, with the weights integrated out. A sweep visits the
    rows. It takes a row out, draws the features that other rows have one by one, in random order,
    then the number of its own features, without a truncation, and puts the row back. The posterior
    of the weights is updated with each row ([2]_), so a row takes time in proportion to
    K (K + n_features). Then the sweep tries to split a feature in two and to merge two, an analogue
    for features of the cluster moves of [3]_, draws alpha from its Gamma posterior, and both
    variances by slice sampling.

    The number of features is bounded. Only diverging chains reach the bound, for example if given
    variances are far from the scale of X: twice the number that is expected a priori, two a row up
    to 1,000, and 100.

    NaN marks a missing value. Missing entries of a row are integrated out while its features are
    drawn, then they are drawn; so the posterior is exact if values are missing at random.

    Samples differ in the number and meaning of their features, and are never aligned. Only
    quantities that need no labels are averaged over samples: densities, imputed values, the number
    of features.

    References
    ----------
    .. [1] T. L. Griffiths and Z. Ghahramani, "The Indian buffet process: an introduction and
       review", Journal of Machine Learning Research 12, 2011.
    .. [2] F. Doshi-Velez and Z. Ghahramani, "Accelerated sampling for the Indian buffet process",
       ICML 2009.
    .. [3] D. B. Dahl, "Sequentially-allocated merge-split sampler for conjugate and nonconjugate
       Dirichlet process mixture models", technical report, Texas A&M University, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.datasets import make_feature_images
    >>> from skdp.mixture import IBPLatentFeatures
    >>> images = make_feature_images(100, random_state=0)
    >>> model = IBPLatentFeatures(center=False, random_state=0).fit(images.data)
    >>> found = model.components_ > 0.5
    >>> wrong = (found[:, np.newaxis] != (images.glyphs > 0.5)).sum(axis=2)
    >>> wrong.min(axis=0).tolist()  # pixels of each of the four glyphs
    [0, 0, 0, 0]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ChainEstimator._parameter_constraints,
        "concentration": "no_validation",
        "concentration_prior": [tuple, list],
        "noise_variance": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"auto", "columns"}),
        ],
        "noise_prior": [tuple, list, None],
        "weights_variance": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "weights_prior": [tuple, list, None],
        "center": ["boolean"],
        "split_merge": ["boolean"],
        "transform_max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    _free_in_warm_start = ChainEstimator._free_in_warm_start | {"transform_max_iter"}
    _free_in_checkpoints = ChainEstimator._free_in_checkpoints | {"transform_max_iter"}

    _models: list[LatentFeatureModel]
    _best: LatentFeatureModel
    _key: NDArray[np.uint64]
    n_features_in_: int
    mean_: Floats
    components_: Floats

    def __init__(
        self,
        concentration: float | str = "auto",
        *,
        concentration_prior: tuple[float, float] = (1.0, 1.0),
        noise_variance: float | str = "auto",
        noise_prior: tuple[float, float] | None = None,
        weights_variance: float | str = "auto",
        weights_prior: tuple[float, float] | None = None,
        center: bool = True,
        split_merge: bool = True,
        max_iter: int = 500,
        burn_in: int | None = None,
        thin: int = 5,
        n_samples: int = 20,
        n_chains: int = 1,
        transform_max_iter: int = 50,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: NaN is allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # Validation

    def _gamma_prior(self, name: str, rate: float = 1.0) -> tuple[float, float]:
        """Return the Gamma prior of the inverse of a variance, by default with the given rate."""
        prior = getattr(self, name)
        return (1.0, rate) if prior is None else check_gamma_prior(prior, name, _LARGEST_RATE)

    def _prior(self, scale: DataScale) -> FeaturePrior:
        """Return the priors of the drawn parameters."""
        own = self._has_own_noise()
        shared = check_gamma_prior(self.concentration_prior, "concentration_prior")
        noise = self._gamma_prior("noise_prior", scale.noise_rate)
        weights = self._gamma_prior("weights_prior", 1.0 if own else scale.variance)
        rates = np.array([self._gamma_prior("noise_prior", r)[1] for r in scale.noise_rates])
        return FeaturePrior(
            shared if _is_auto(self.concentration) else None,
            noise if _is_auto(self.noise_variance) else None,
            weights if _is_auto(self.weights_variance) else None,
            (noise[0], rates) if own else None,
        )

    def _has_own_noise(self) -> bool:
        """Return whether every column has its own noise variance."""
        return isinstance(self.noise_variance, str) and self.noise_variance == "columns"

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        check_gamma_prior(self.concentration_prior, "concentration_prior")
        for name in ("noise_prior", "weights_prior"):
            self._gamma_prior(name)
        if not _is_auto(self.concentration):
            try:
                check_concentration(self.concentration)
            except ValueError as error:
                raise ValueError(f"{error} It may also be 'auto'.") from None

    def _check_input(self, X: Any, y: Any = None) -> Floats:
        values = check_rows(self, X, reset=True, ensure_all_finite="allow-nan")
        check_scale(values)
        empty = np.isnan(values).all(axis=0)
        if empty.any():
            raise ValueError(f"Column {np.argmax(empty)} of X has no observed value: leave it out.")
        warn_of_counter(self, values)
        return values

    def _check_rows(self, X: Any) -> Floats:
        """Return validated and centered new rows."""
        check_is_fitted(self)
        values = check_rows(self, X, reset=False, ensure_all_finite="allow-nan")
        check_scale(values)
        return np.asarray(values - self.mean_)

    # Chains

    def _start_sampler(
        self, values: Floats, root: np.random.SeedSequence, c: int
    ) -> LatentFeatureSampler:
        n_rows, n_columns = values.shape
        alpha = _FIRST_CONCENTRATION if _is_auto(self.concentration) else float(self.concentration)
        n_features = alpha * expected_features(n_rows, 1.0)
        check_memory(
            24.0 * n_rows * n_columns + n_features * (n_rows + 16.0 * (n_features + n_columns)),
            f"X of shape {values.shape} with concentration={alpha:g}, {n_features:.3g} features,",
        )
        scale = find_scale(values, center=bool(self.center))
        scales, noise, weights = np.ones(n_columns), scale.first_noise, scale.mean_square
        if self._has_own_noise():
            scales, noise = np.sqrt(scale.first_noises), 1.0
            weights = float(np.mean(scale.mean_squares / scale.first_noises))
        if isinstance(self.noise_variance, Real):
            noise = float(self.noise_variance)
        if isinstance(self.weights_variance, Real):
            weights = float(self.weights_variance)
        return LatentFeatureSampler(
            values,
            np.nanmean(values, axis=0) if self.center else np.zeros(n_columns),
            self._prior(scale),
            alpha,
            noise,
            weights,
            scales,
            derive_stream(root, Role.SWEEP, c),
            split_merge=bool(self.split_merge),
        )

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        trace, models = attributes["trace_"], attributes["_models"]
        best = max(models, key=lambda model: model.log_joint)
        numbers = trace["n_components"].astype(np.int64).ravel()
        learned = {
            f"{name}_": float(trace[name].mean())
            for name in ("concentration", "noise_variance", "weights_variance")
        }
        if self._has_own_noise():
            learned["noise_variance_"] = np.mean([model.scales**2 for model in models], axis=0)
        return {
            **attributes,
            "_best": best,
            "_key": derive_stream(state.root, Role.TRANSFORM),
            "components_": best.means.copy(),
            "feature_probabilities_": best.probabilities(),
            "n_components_": len(best.counts),
            "n_components_distribution_": np.bincount(numbers) / len(numbers),
            "mean_": state.runs[0].sampler.center.copy(),
            **learned,
        }

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        warn_of_drifts(self, trace, "features")
        numbers = [len(model.counts) for model in self._models]
        warn_of_latent_bound(self, numbers, self._best.most, "features")

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the latent features of the rows of X.

        Parameters
        ----------
        X : (n_samples, n_features) array-like
            NaN: a missing value.
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
            If interrupted, at the end of the current sweep. It is fitted with the samples so far,
            in the burn-in with the current state unless it was fitted before; another `fit` with
            ``warm_start=True`` continues.

        Warns
        -----
        ConvergenceWarning
            If the log joint of a chain still climbs, the number of features still grows or falls,
            or there are fewer than 12 sweeps after the burn-in; raise `max_iter` then.
            If chains plainly disagree; compare them in `trace_` then.
            If most stored samples have as many features as there may be (see Notes).
        """
        return self._fit(X, y)

    def transform(self, X: Any) -> Floats:
        """Return the probabilities that each row has each of the features of `components_`.

        New features, which no training row has, are left out. With up to 16 features the
        probabilities are exact, given the sample of `components_`; with more they are means over
        Gibbs sweeps.

        Parameters
        ----------
        X : (n_samples, n_features) array-like
            NaN: a missing value.

        Returns
        -------
        (n_samples, K) array
        """
        return self._predict(self._check_rows(X), [self._best], new=False, density=False)[0][0]

    def inverse_transform(self, X: Any) -> Floats:
        """Return the expected rows given their features.

        Parameters
        ----------
        X : (n_samples, K) array-like
            Features, or their probabilities, as `transform` returns them.

        Returns
        -------
        (n_samples, n_features) array
            ``X @ components_ + mean_``.
        """
        check_is_fitted(self)
        features = check_array(X, dtype=np.float64, ensure_min_features=0, input_name="X")
        if features.shape[1] != len(self.components_):
            raise ValueError(
                f"X has {features.shape[1]} features, but {type(self).__name__} found "
                f"{len(self.components_)}."
            )
        return np.asarray(features @ self.components_ + self.mean_)

    def impute(self, X: Any) -> Any:
        """Return X with missing values replaced by their posterior means.

        Observed values do not change.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            NaN: a missing value.

        Returns
        -------
        (n_samples, n_features) array, or a data frame for a data frame
            Means given the observed entries of the row, under the density of `score_samples`: over
            the stored samples of all chains, by how well they fit these entries.
        """
        rows = self._check_rows(X)
        parts = self._predict(rows, self._models, new=True, density=True)
        weights = softmax([part[1] for part in parts], axis=0)
        means = np.zeros_like(rows)
        for (shares, _), model, own in zip(parts, self._models, weights, strict=True):
            means += own[:, np.newaxis] * (shares @ model.means)
        return TableFormat.of(X).with_cells(X, np.isnan(rows), means + self.mean_, None)

    def score_samples(self, X: Any) -> Floats:
        """Return the log predictive density of each row.

        Densities are averaged over the stored samples of all chains. A new row may have features
        that no training row has. Missing values are left out. With up to 16 features, a sample's
        density is an exact sum over the features of a row. With more, it is estimated: the eight
        features about which 50 sweeps (`transform_max_iter`) are least certain are summed over, and
        the others are drawn, 32 times. The estimate of a density is unbiased, but its logarithm is
        too low and has an error: under one sample of the handwritten digits its standard error was
        .1 with 20 features, .3 with 37 and 2 with 104 (median of 40 rows), and .5, 1.7 and 3.5 in
        one row of ten. So compare scores of fits with many features with care.

        Parameters
        ----------
        X : (n_samples, n_features) array-like

        Returns
        -------
        (n_samples,) array
            Natural logarithms.
        """
        parts = self._predict(self._check_rows(X), self._models, new=True, density=True)
        return np.asarray(logsumexp([part[1] for part in parts], axis=0) - np.log(len(parts)))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log predictive density of a row; higher is better.

        Parameters
        ----------
        X : (n_samples, n_features) array-like
        y : ignored

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Floats:
        """Draw rows from the predictive density of `score_samples`.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        (n_samples, n_features) array
            Independent rows, each given a stored sample at random.
        """
        check_is_fitted(self)
        rows = draw_rows(self._models, n_samples, self.n_features_in_, random_state)
        return np.asarray(rows + self.mean_)

    def _predict(
        self, rows: Floats, models: list[LatentFeatureModel], *, new: bool, density: bool
    ) -> list[tuple[Floats, Floats]]:
        """Return feature probabilities and log densities of rows under each given sample."""
        return list(
            Parallel(n_jobs=check_jobs(self.n_jobs), prefer="threads")(
                delayed(model.predict)(
                    rows, self._key, self.transform_max_iter, new=new, density=density
                )
                for model in models
            )
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
