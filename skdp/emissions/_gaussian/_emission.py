"""Emissions of Gaussian vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from skdp._numeric import Floats
from skdp._sklearn_compat import Interval, StrOptions
from skdp.emissions._common._columns import (
    ClippedRows,
    ConstantColumns,
    GridColumns,
    Observations,
    PartedEmission,
    VaryingColumns,
    check_numbers,
    find_moments,
    find_varying,
    moments_of,
)
from skdp.emissions._common._protocol import is_symmetric, read_array, read_dof
from skdp.emissions._gaussian._sampler import (
    GaussianPrior,
    GaussianSampler,
    ScalePrior,
    are_very_few,
)
from skdp.emissions._kernels import _gaussian as kernels

# Default priors are computed from the data. For one column, a state is expected to have this share
# of their covariance: with a share of 1 small states are merged, with .05 large ones are split. For
# D columns the share is the D-th root, because the same number of states divides a D-dimensional
# space into parts of about this volume.
_SHARE = 0.2

# Means are nearly free: a precision c of .1 makes additional states so cheap that the prior favors
# more states than there are. But with c = .01, each column adds 2.3 nats to the cost of a state,
# -D / 2 log c, and with many columns clear states are merged. So the cost does not grow beyond that
# of ten columns, as far as c = .25 allows; with c near 1, groups of a few rows become states.
_SMALLEST_PRECISION, _LARGEST_PRECISION, _LARGEST_COST = 0.01, 0.25, 23.0


def _count_rows(values: Floats) -> tuple[int]:
    """Return the number of rows."""
    return (len(values),)


class GaussianEmission(GridColumns, PartedEmission):
    r"""Gaussian vectors, with a mean and a covariance for each state.

    The prior is normal-inverse-Wishart. In state j,

    .. math::

        x_t &\sim \mathrm{N}(\mu_j, \Sigma_j), \quad
        \mu_j \sim \mathrm{N}(m, \Sigma_j / c), \quad
        \Sigma_j \sim \mathrm{IW}(\nu, S), \\
        p(\Sigma) &\propto |\Sigma|^{-(\nu + D + 1) / 2} \exp(-\mathrm{tr}(S \Sigma^{-1}) / 2)

    With "diag", the same holds for each column separately, with D = 1: precisions (inverse
    variances) are Gamma(nu / 2, S_d / 2) (shape and rate).

    Parameters
    ----------
    covariance_type : {"full", "diag"}, default="full"
        Whether columns are correlated or independent, given the state.
    mean_prior : (D,) array or None, default=None
        m; None: the mean of the observations.
    mean_precision_prior : float or None, default=None
        c, from 1e-8 to 1e8: the prior mean counts as c observations. None:
        exp(-46 / W), but at least 0.01 (up to W = 10) and at most 0.25 (from W = 34 on), where W is
        D with full covariances and 1 with diagonal ones. The prior of the means is then wider than
        the data, and a state of many columns does not cost more than one of ten.
    degrees_of_freedom_prior : float or None, default=None
        nu > D - 1 ("full") or nu > 0 ("diag"). The larger it is, the more similar the covariances
        of different states are. None: 2 D + 1 ("full"; with fewer, small states of many columns
        overfit combinations of columns that hardly vary) or 3 ("diag"). With full covariances of
        two columns or more, and unless `covariance_prior` is given, nu is drawn from 2 D + 1,
        3 D + 1, 5 D + 1, 9 D + 1 and 17 D + 1.
    covariance_prior : "auto", (D, D) or (D,) array or None, default=None
        S: symmetric and positive definite ("full"), or positive numbers ("diag"). The prior mean of
        a covariance is S / (nu - D - 1), or S_d / (nu - 2). None: this mean is 0.2^(1 / D) times
        the covariance (or the variances) of the observations, since a state is expected to be
        tighter than all the data; it may be much tighter. (S for nu below D + 2, or 3, is that for
        D + 2, or 3.) Values far from all others hardly count (see Notes). "auto": S is drawn, so
        that states share information about their covariances; given nu, its prior mean is the S of
        None. If nu is drawn and there are fewer than 6 rows per column, None is the same as
        "auto".
    resolution

    See Also
    --------
    StudentTEmission : The same with outliers.
    AutoregressiveEmission : Vectors that depend on earlier ones.
    RegressionEmission : Columns that depend on other columns.

    Notes
    -----
    NaN marks a missing value, in some or all columns of a row; values must be missing at random.
    States are drawn given the observed values. With full covariances, the missing values of a
    partly observed row are drawn as well, once per sweep, and in mixtures together with the
    component of the row; the log evidence is that of the observations completed in this way.

    Default priors are robust to outliers, such as codes for missing values: -9999 does not stretch
    the scale on which states are distinguished. In each column, the interdecile range of the values
    that differ from the median is computed. Values within ten such ranges of the median are used
    unchanged, and values beyond count less the farther out they are. Only the priors are affected:
    the data are not changed, and outliers may have their own states.

    Columns must be constant or range over at least 1e-150, because squares of smaller numbers
    underflow. A column that is constant in the training data (over all partitions) has no influence
    on states, and D does not count it. It is in the fitted arrays, with the constant as the mean,
    the variance 1 and the covariance 0. In new data, it has a Student t distribution with 3 degrees
    of freedom, the same in all states and independent of the other columns: it multiplies each
    density by the same factor. If an array of numbers is given for `covariance_prior`, or no column
    varies, all columns are modeled. A given nu must be valid for all columns.

    A drawn S has a Wishart prior with D degrees of freedom; with "diag", each S_d is Gamma(1 / 2)
    with the same mean. It is drawn once a sweep: first covariances given the states and S, then S
    given these. In directions in which columns are constant or collinear, S keeps its value for
    None, and overall it does not fall below about 1e-4 of that. The `trace_` records
    `emission_scale`, the D-th root of the ratio of the determinants of S and its prior mean.

    A reading in whole degrees stands for any value of its cell. Taken as exact, readings of the
    same degree would be a state of their own, with hardly any variance. So a value on a grid of
    step h counts as values spread about it with the variance h^2 / 10: the log likelihood is the
    mean of theirs, log N(x; mu, Sigma) - tr(Sigma^-1 R) / 2 with R = diag(h^2) / 10. "auto" finds
    the largest step of which the differences of repeated values are multiples, in any unit, if at
    least 90 % of the values of the column occur repeatedly. In mixtures, full covariances of more
    than 12 columns, or next to other parts of `IndependentEmissions`, take values as exact: there
    "auto" is the same as None. Drawn missing values count as spread about like the others.

    If nu is drawn, all its values have the same prior probability. It is drawn once a sweep, with
    means and covariances integrated out and S / (nu - D - 1) unchanged, because this is the prior
    mean of a covariance. The `trace_` records it as `emission_degrees_of_freedom`. If there are few
    rows for the columns, large values are more probable: then states have nearly the same
    covariance, which can be estimated from all rows. With fewer than 6 rows per column, S is drawn,
    too: with a large nu and an S that follows the same rows, a single state would be more probable
    than several.

    A stored sample holds the posterior means of mu and Sigma given the states; if that of Sigma
    does not exist (nu + n_j <= D + 1), it holds the inverse of the posterior mean of Sigma^-1.
    Scores, probabilities and samples are those of the posterior predictive distribution: given the
    states, the next observation of state j follows a Student t distribution with nu + n_j - D + 1
    degrees of freedom (with "diag", each column separately, D = 1), which also reflects the
    uncertainty about small states.

    References
    ----------
    C. E. Rasmussen (2000), The infinite Gaussian mixture model, NIPS 12: a prior of the shared
    scale of components.
    """

    allows_nan = True
    """NaN is a missing value."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GridColumns._parameter_constraints,
        "covariance_type": [StrOptions({"full", "diag"})],
        "mean_prior": ["array-like", None],
        "mean_precision_prior": [Interval(Real, 1e-8, 1e8, closed="both"), None],
        "degrees_of_freedom_prior": [Interval(Real, 0, 1e8, closed="right"), None],
        "covariance_prior": [StrOptions({"auto"}), "array-like", None],
    }

    def __init__(
        self,
        covariance_type: str = "full",
        *,
        mean_prior: ArrayLike | None = None,
        mean_precision_prior: float | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: str | ArrayLike | None = None,
        resolution: str | float | ArrayLike | None = "auto",
    ):
        self._store(locals())

    def _check_values(self, values: Floats) -> None:
        check_numbers(values)

    def _make_sampler_of(self, data: Any, n_states: int) -> GaussianSampler:
        n_dims, constants = data.n_features, None
        if self.covariance_prior is None or isinstance(self.covariance_prior, str):
            constants = ConstantColumns.of(data)
        spread = self._read_resolution(data, None if constants is None else constants.varying)
        if constants is not None:
            data = VaryingColumns(data, constants)
        prior = self._make_prior(n_dims, lambda: moments_of(data), constants)
        (n_rows,) = data.sum(_count_rows)
        few = are_very_few(n_rows, prior.mean.shape[1])
        scale_prior = self._make_scale_prior(prior, data, has_very_few_rows=few)
        full = self.covariance_type == "full"
        sampler = GaussianSampler(n_states, prior, scale_prior, None, constants, full=full)
        return self._with_spread(sampler, spread)

    def _with_spread(self, sampler: Any, spread: Floats | None) -> Any:
        """Return a sampler after R, (D,), of columns on a grid has been set."""
        if spread is not None:
            sampler.spread = spread.reshape(sampler.prior.mean.shape)
            sampler.resolution_is_given = not isinstance(self.resolution, str)
        return sampler

    def _make_scale_prior(
        self, prior: GaussianPrior, data: Observations, *, has_very_few_rows: bool = False
    ) -> ScalePrior | None:
        """Return the prior of nu and S if either is drawn; `prior` has the first nu and E[S]."""
        draws_scale = isinstance(self.covariance_prior, str)
        draws_dof = (
            prior.mean.shape[1] > 1
            and self.degrees_of_freedom_prior is None
            and (self.covariance_prior is None or draws_scale)
        )
        draws_scale = draws_scale or (draws_dof and has_very_few_rows)
        if not draws_scale and not draws_dof:
            return None
        varies = np.zeros(prior.mean.shape, dtype=bool)
        if draws_scale:
            ranges, _, squares = find_moments(ClippedRows(data))
            varies = find_varying(ranges, squares).reshape(prior.mean.shape)
        return ScalePrior.about(prior.scale, varies, prior.dof, draws_dof=draws_dof)

    def _make_prior(
        self,
        n_dims: int,
        moments: Callable[[], tuple[Floats, Floats]],
        constants: ConstantColumns | None = None,
    ) -> GaussianPrior:
        """Return the prior of columns not left out; `moments` returns their mean and covariance."""
        places = np.arange(n_dims) if constants is None else constants.varying
        full, all_dims, n_dims = self.covariance_type == "full", n_dims, len(places)
        width = n_dims if full else 1
        dof = read_dof(self, all_dims if full else 1, width)
        mean, scale = self._read_arrays(all_dims)
        mean = None if mean is None else mean[places]
        if mean is None or scale is None:
            mean_of_data, covariance = moments()
            mean = mean_of_data if mean is None else mean
            if scale is None:
                share = _SHARE ** (1.0 / n_dims) * max(dof - width - 1.0, 1.0)
                scale = share * (covariance if full else np.diag(covariance))
        mean, precision = mean.reshape(-1, width), self._read_precision(width)
        scale = np.ascontiguousarray(scale).reshape(-1, width, width)
        return GaussianPrior(mean, precision, dof, scale)

    def _read_precision(self, width: int) -> float:
        """Return c."""
        if self.mean_precision_prior is not None:
            return float(self.mean_precision_prior)
        precision = math.exp(-2.0 * _LARGEST_COST / width)
        return min(max(precision, _SMALLEST_PRECISION), _LARGEST_PRECISION)

    def _read_arrays(self, n_dims: int) -> tuple[Floats | None, Floats | None]:
        """Return m and S after checks, or None if they are not given."""
        mean = scale = None
        if self.mean_prior is not None:
            mean = read_array(self, "mean_prior", self.mean_prior, (n_dims,), n_dims)
        if self.covariance_prior is not None and not isinstance(self.covariance_prior, str):
            full = self.covariance_type == "full"
            shape = (n_dims, n_dims) if full else (n_dims,)
            scale = read_array(self, "covariance_prior", self.covariance_prior, shape, n_dims)
            if full and not is_symmetric(scale):
                raise ValueError(f"{type(self).__name__}: covariance_prior must be symmetric.")
            if not kernels.factorize(scale.copy() if full else np.diag(scale)):
                wanted = "positive definite" if full else "positive"
                raise ValueError(f"{type(self).__name__}: covariance_prior must be {wanted}.")
        return mean, scale
