"""Emissions of vectors that depend linearly on earlier ones."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from skdp._checks import check_memory, shorten
from skdp._numeric import Floats, Places
from skdp._sklearn_compat import EstimatorMixin, StrOptions, validate_parameters
from skdp.emissions._common._columns import (
    LEAST,
    PER_COEFFICIENT,
    SHRINKAGE,
    ClippedRows,
    ConstantColumns,
    DependentColumns,
    DerivedRows,
    InMemoryRows,
    Observations,
    ObservedSequences,
    VaryingColumns,
    find_covariance,
    find_deviations,
    find_moments,
    find_varying,
    widen,
)
from skdp.emissions._common._protocol import read_dof
from skdp.emissions._gaussian._autoregressive_model import (
    LEAST_OF_FAR,
    SHRINKAGE_OF_REGRESSORS,
    LagDesign,
    LagsConstraint,
    LinearEmission,
    StartingLags,
    check_lags,
    find_largest_lag,
    read_lags,
)
from skdp.emissions._gaussian._autoregressive_sampler import (
    AutoregressiveSampler,
    fill_for_priors,
    make_rows,
)


class AutoregressiveEmission(LinearEmission, EstimatorMixin, BaseEstimator):
    r"""Vectors that depend linearly on earlier ones, with a regression for each state.

    The prior is matrix-normal inverse-Wishart. In state j,

    .. math::

        x_t &\sim \mathrm{N}(A_j a_t, \Sigma_j), \quad
        a_t = [x_{t-1}, \ldots, x_{t-L}, 1], \\
        A_j &\sim \mathrm{MN}(M, \Sigma_j, C^{-1}), \quad
        \Sigma_j \sim \mathrm{IW}(\nu, S), \\
        p(\Sigma) &\propto |\Sigma|^{-(\nu + D + 1) / 2} \exp(-\mathrm{tr}(S \Sigma^{-1}) / 2)

    a_t has K = D L + 1 numbers; with chosen lags, it has only these, and with a trend the number of
    the step in its sequence, before the 1. Row d of A_j has the covariance C^-1 times the variance
    of column d. States differ in their dynamics, not only in their levels.

    The first steps of each sequence, up to the largest lag, count as given: their densities are 1,
    and their states are inferred from the steps after them only. Sequences that are not longer are
    skipped, with a warning.

    Parameters
    ----------
    lags : int or list of int, default=1
        The earlier steps on which an observation depends: the last L steps for an int L >= 1, or
        chosen lags >= 1, such as ``[1, 2, 12]`` for monthly values with a season.
    trend : {"c", "ct"}, default="c"
        "c": each state has a constant. "ct": it also has a linear trend, whose regressor is the
        number of the step in its sequence, from 1.
    coef_prior : (D, K) array or None, default=None
        M: coefficients of the smallest lag, then of the others, of the trend if there is one, and
        the intercepts in the last column. None: the coefficients of a linear regression on all the
        data.
    coef_precision_prior : float, (K, K) array or None, default=None
        C, symmetric and positive definite, in the order of `coef_prior`. A number from 1e-8 to 1e8:
        the prior counts as this many observations; C is this number times the mean of a_t a_t^T.
        None: D K / 2, with which the squared distance between the predictions of a state and of
        `coef_prior` is expected to be 2, in units of the state's noise.
    degrees_of_freedom_prior : float or None, default=None
        nu > D - 1. None: 2 D + 1. With fewer, small states of many columns overfit combinations of
        columns that hardly vary.
    covariance_prior : (D, D) array or None, default=None
        S, symmetric and positive definite. The prior mean of a covariance is S / (nu - D - 1).
        None: this mean is 0.2^(1 / D) times the covariance of the residuals of `coef_prior`. (S for
        nu below D + 2 is that for D + 2.)
    resolution

    See Also
    --------
    GaussianEmission : Vectors that do not depend on earlier ones.
    RegressionEmission : Columns that depend on other columns of the same step.

    Notes
    -----
    Missing values (NaN) are drawn with the states: in each sweep, all missing values of a sequence
    are drawn jointly, given the observed ones, the states and the parameters. Missing values among
    the first steps, which count as given, have a Gaussian distribution with the mean and covariance
    of as many successive steps of the data. Given fitted states, the missing values of new data are
    integrated out by Monte Carlo with fixed seeds: see `HDPHMMLT.score_samples`. Default priors are
    computed from the steps that are observed with all their lags, or from interpolated values if
    there are fewer than five such steps for each coefficient.

    Like those of `GaussianEmission`, default priors are robust to outliers. Outliers a million
    times as far out as the other values exceed the precision of the products of a regression: then
    the default prior follows them, and a warning recommends replacing them.

    A column that is constant in the training data (over all partitions) has no influence on states
    or other columns, and D does not count it. In the fitted arrays it has coefficients of 0, the
    constant as its intercept, and the variance 1. In new data, it has a Student t distribution with
    3 degrees of freedom, the same in all states and independent of the other columns. If an array
    of numbers is given for a prior, or no column varies, all columns are modeled. A given nu must
    be valid for all columns.

    A column that is a linear function of columns before it, such as a temperature in another unit,
    has no influence, either, and D does not count it: if it is one to a millionth of its deviation,
    with at least five complete observations for each coefficient of the function. The fitted arrays
    are those of the function; as a regressor, it has coefficients of 0. Where one of its columns is
    missing, it gives the value. Leave out columns that earlier steps predict exactly, such as a
    counter: their residuals do not scatter, so they would merge states.

    The posterior is of the same kind as the prior [1]_: with n_j observations in state j,

    .. math::

        C_n &= C + \sum a_t a_t^T, \quad
        M_n = \Big(M C + \sum x_t a_t^T\Big) C_n^{-1}, \\
        \nu_n &= \nu + n_j, \quad
        S_n = S + \sum x_t x_t^T + M C M^T - M_n C_n M_n^T

    Scores, probabilities and samples of a stored sample are those of the posterior predictive
    distribution: given the states, the next observation follows a Student t distribution about
    M_n a_t with :math:`f = \nu_n - D + 1` degrees of freedom and the scale matrix
    :math:`(1 + a_t^T C_n^{-1} a_t) S_n / f`. `coefs`, `intercepts` and `covariances` are posterior
    means (S_n / nu_n instead where Sigma has no mean, nu_n <= D + 1).

    A state may grow without bounds in long samples or forecasts: inspect the eigenvalues of its
    `coefs`.

    References
    ----------
    .. [1] A. Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., 14.2 and 3.6, for one response;
       E. B. Fox, E. B. Sudderth, M. I. Jordan, A. S. Willsky (2011), Bayesian nonparametric
       inference of switching dynamic linear models, IEEE Trans. Signal Process. 59(4), III-A:
       switching vector autoregressions.
    """

    allows_nan: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearEmission._parameter_constraints,
        "lags": [LagsConstraint()],
        "trend": [StrOptions({"c", "ct"})],
    }

    def __init__(
        self,
        lags: int | ArrayLike = 1,
        *,
        trend: str = "c",
        coef_prior: ArrayLike | None = None,
        coef_precision_prior: float | ArrayLike | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: ArrayLike | None = None,
        resolution: str | float | ArrayLike | None = "auto",
    ):
        self._store(locals())

    @property
    def n_lags(self) -> int:
        """The largest lag L: the first L steps of a sequence count as given."""
        return find_largest_lag(self.lags)

    def make_sampler(self, values: Floats, n_states: int, ptr: Places) -> AutoregressiveSampler:
        """Return the sampler of this emission's parameters for these observations.

        Parameters
        ----------
        values : (N, D) array
            The observations, from which some priors are computed.
        n_states : int
            J.
        ptr : (n + 1,) array of int
            Sequence s is steps ``ptr[s]`` to ``ptr[s + 1] - 1``.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not match the observations, or no sequence is longer
            than the largest lag.
        """
        validate_parameters(self)
        check_lags(values, ptr, self.n_lags)
        return self._make_sampler_of(InMemoryRows(values, ptr), n_states)

    def make_sampler_of(self, data: ObservedSequences, n_states: int) -> AutoregressiveSampler:
        """Return the same sampler as `make_sampler`, for observations that may be in parts.

        Parameters
        ----------
        data : object
            Object with ``n_features``, ``sum(f, *args)``, which returns the sum over parts of
            tuples ``f(values, *args)``, and ``sum_sequences(f, *args)`` for
            ``f(values, ptr, *args)``.
        n_states : int
            J.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not match the observations, or no sequence is longer
            than the largest lag.
        """
        validate_parameters(self)
        return self._make_sampler_of(data, n_states)

    def _find_constants(self, data: ObservedSequences) -> ConstantColumns | None:
        """Return constant and dependent columns; None without any, or given an array of priors."""
        given = self.coef_prior, self.coef_precision_prior, self.covariance_prior
        if any(prior is not None and not isinstance(prior, Real) for prior in given):
            return None
        constants = ConstantColumns.of(data)
        found = DependentColumns.of(data, constants) or constants
        if found is not None:
            read_dof(self, found.n_features)
        return found

    def _make_sampler_of(self, data: Any, n_states: int) -> AutoregressiveSampler:
        """Return the sampler; parameters are valid."""
        design = LagDesign(read_lags(self.lags), self.trend == "ct")
        constants, is_incomplete = self._find_constants(data), False
        spread = self._read_resolution(data, None if constants is None else constants.varying)
        if isinstance(data, InMemoryRows):
            values = data.values if constants is None else constants.leave_out(data.values)
            is_incomplete = bool(np.isnan(values).any())
            if is_incomplete:
                values = fill_for_priors(values, data.ptr, design)
            data = InMemoryRows(values, data.ptr)
        elif constants is not None:
            data = VaryingColumns(data, constants)
        n_dims, n_lags = data.n_features, design.n_lags
        full = design.all_lags()  # the first values of a sequence have all lags
        n_lagged, width = n_dims * n_lags, full.width(n_dims) + n_dims
        (sizes,) = data.sum(count_steps)
        own_width = design.width(n_dims) + n_dims + 1
        check_memory(
            8.0 * n_states * 3.0 * own_width**2 + 8.0 * (max(sizes) + 1.0 + width) * (width + 1.0),
            f"lags={shorten(self.lags)} of {n_dims} features in {n_states} states",
        )
        dof = read_dof(self, n_dims)
        near, nothing = ClippedRows(data), np.zeros((n_dims, width - n_dims + 1))
        ranges, means, products = find_moments(DerivedRows(near, width, make_rows, full, nothing))
        least = find_least_deviations(data, near)
        covariance = find_covariance(ranges, products, SHRINKAGE_OF_REGRESSORS)[:-n_dims, :-n_dims]
        leasts = np.tile(least, n_lags)
        if design.has_trend:
            leasts = np.append(leasts, 0.0)
        covariance = widen(covariance, leasts)
        lags = covariance[:n_lagged, :n_lagged]
        start = StartingLags(means[:n_lagged], self._factorize("X", np.ascontiguousarray(lags)))
        chosen = design.columns(n_dims)
        if design.has_trend:
            chosen = np.append(chosen, n_lagged)
        covariance = covariance[np.ix_(chosen, chosen)]
        means = np.append(means[chosen], means[-n_dims:])
        if self.coef_prior is None:
            cross = products[-n_dims:, chosen] / ranges.numbers[0]
            coefs = regress(means, covariance, cross)
        else:
            coefs = self._read_coefs((n_dims, len(chosen) + 1), n_dims)
        opening = residuals = None
        if self.covariance_prior is None or is_incomplete:
            left = ClippedRows(DerivedRows(near, n_dims, make_residuals, design, coefs))
            ranges, _, squares = find_moments(left)
            varies = find_varying(ranges, squares)
            residuals = find_covariance(ranges, squares)
            if ranges.numbers.min() >= PER_COEFFICIENT * (len(chosen) + n_dims + 1):
                lengths = np.sqrt(np.diag(residuals))
                correlations = residuals / np.multiply.outer(lengths, lengths)
                if np.linalg.eigvalsh(correlations)[0] < 2.0 * SHRINKAGE:
                    residuals = find_covariance(ranges, squares, LEAST**2)
            residuals = widen(residuals, least, varies)
            if is_incomplete:
                factor = np.linalg.inv(self._factorize("X", residuals))
                opening = np.hstack([-factor @ coefs, factor])
        means = means[:-n_dims]
        prior = self._make_regression_prior(dof, coefs, means, covariance, residuals, n_dims)
        return AutoregressiveSampler(n_states, design, prior, start, opening, constants, spread)


def count_steps(values: Floats) -> tuple[list[int]]:
    """Return the number of steps."""
    return ([len(values)],)


def make_residuals(values: Floats, ptr: Places, design: LagDesign, coefs: Floats) -> Floats:
    """Return the residuals of a regression; rows of given and of incomplete steps are NaN."""
    return np.ascontiguousarray(make_rows(values, ptr, design, coefs)[:, -len(coefs) :])


def regress(means: Floats, covariance: Floats, cross: Floats) -> Floats:
    """Return least-squares coefficients of values given regressors, (D, K), intercepts first."""
    # `means` are of regressors, then values; `cross`, (D, K - 1), are their covariances.
    n = len(covariance)
    # The covariance is positive definite, so that collinear regressors also have coefficients.
    coefs = np.linalg.solve(covariance, cross.T).T
    return np.hstack([(means[n:] - coefs @ means[:n])[:, np.newaxis], coefs])


def find_least_deviations(data: Observations, near: Observations) -> Floats:
    """Return the smallest deviations of lags and of noise that products of values can resolve."""
    everywhere = find_deviations(data)[0]
    nearby, varies = find_deviations(near)
    floors: Floats = np.where(varies, LEAST, 1.0) * nearby
    floors = np.where(everywhere > nearby, LEAST_OF_FAR * everywhere, floors)
    for d in np.flatnonzero(floors > nearby):
        warnings.warn(
            f"Values in column {d} of X are outliers so far from the others that the default prior "
            "of AutoregressiveEmission has to follow their scale: replace them, for instance by "
            "interpolation.",
            UserWarning,
            stacklevel=2,
        )
    return floors
