"""Emissions of columns that depend on other columns of the same step."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from skdp._checks import check_memory
from skdp._numeric import Floats, Places
from skdp._sklearn_compat import StrOptions
from skdp.emissions._common._columns import (
    LEAST,
    ClippedRows,
    InMemoryRows,
    NamedColumns,
    SampledEmission,
    find_covariance,
    find_deviations,
    find_moments,
    find_varying,
    widen,
)
from skdp.emissions._common._protocol import read_dof
from skdp.emissions._gaussian._autoregressive import regress as solve_regression
from skdp.emissions._gaussian._autoregressive_model import (
    LEAST_OF_FAR,
    SHRINKAGE_OF_REGRESSORS,
    LinearEmission,
    RegressionPrior,
)
from skdp.emissions._regression._samplers import (
    CoefPrior,
    LogisticSampler,
    NormalRegressionSampler,
    PoissonRegressionSampler,
    Roles,
)

_PREDICTORS = 4.0  # expected variance of log odds and log rates under the default prior


class RegressionEmission(NamedColumns, LinearEmission, SampledEmission):
    r"""Columns that depend on other columns of the same step, by a regression in each state.

    With a_t = [inputs of step t, 1], the D targets y_t of a step in state j are

    - "normal", a linear regression: :math:`y_t \sim \mathrm{N}(A_j a_t, \Sigma_j)`;
    - "bernoulli", a logistic regression of each target:
      :math:`y_{td} \sim \mathrm{Bernoulli}(1 / (1 + \exp(-A_{jd} a_t)))`. An HMM with such states
      is the GLM-HMM of choices in psychophysics [1]_;
    - "poisson", a log-linear regression of each target:
      :math:`y_{td} \sim \mathrm{Poisson}(\exp(A_{jd} a_t))`, such as the GLM-HMM of spike counts
      [2]_.

    Inputs are given, not modeled: scores are densities of the targets given the inputs.

    Parameters
    ----------
    targets : int, str, slice, or list of int, str or bool
        Columns of the targets, as for scikit-learn's ``ColumnTransformer``; names are for data
        frames.
    inputs : as `targets`, or None, default=None
        Columns of the inputs. None: all other columns. Each column of X is a target or an input.
    output : {"normal", "bernoulli", "poisson"}, default="normal"
        Distribution of the targets. Counts are integers from 0 to 2^53.
    coef_prior : (D, K) array or None, default=None
        Prior means of the coefficients of the K - 1 inputs, and of the intercepts in the last
        column. None: the coefficients of a linear regression on all the data ("normal"), zeros
        ("bernoulli"), or zeros and the logarithms of the mean counts ("poisson").
    coef_precision_prior : float, (K, K) array or None, default=None
        C, symmetric and positive definite, in the order of `coef_prior`. A number from 1e-8 to 1e8:
        the prior counts as this many observations; C is this number times the mean of a_t a_t^T.
        None: D K / 2 ("normal"), with which the squared distance between the predictions of a state
        and of `coef_prior` is expected to be 2, in units of the state's noise; K / 4 ("bernoulli"
        and "poisson"), with which the variance of the log odds or log rates is expected to be 4.
    degrees_of_freedom_prior : float or None, default=None
        nu > D - 1, for normal targets only. None: 2 D + 1.
    covariance_prior : (D, D) array or None, default=None
        S, symmetric and positive definite, for normal targets only. The prior mean of a covariance
        is S / (nu - D - 1). None: this mean is 0.2^(1 / D) times the covariance of the residuals of
        `coef_prior`. (S for nu below D + 2 is that for D + 2.)
    resolution

    See Also
    --------
    AutoregressiveEmission : Vectors that depend on earlier ones.
    GaussianEmission, BernoulliEmission, PoissonEmission : The same kinds of columns without inputs.

    Notes
    -----
    NaN in a target is a missing value; targets must be missing at random. Normal targets of a step
    are all missing or none. Inputs may not be missing. Steps without targets do not count in
    `state_shares_` and scores.

    The prior of normal targets is matrix-normal inverse-Wishart,
    :math:`\Sigma_j \sim \mathrm{IW}(\nu, S)` and :math:`A_j \sim \mathrm{MN}(M, \Sigma_j, C^{-1})`,
    with M in `coef_prior`. It is conjugate: states are split and merged
    with the parameters integrated out, and scores are those of the posterior predictive
    distribution, a multivariate Student t.

    The coefficients of Bernoulli and Poisson targets are Gaussian, A_jd ~ N(M_d, C^-1). Those of
    Bernoulli targets are drawn with Polya-Gamma variables [3]_, given which all moves of states
    integrate the coefficients out. Scores average 1 / (1 + exp(-psi)) over the Gaussian
    distribution of the coefficients given the states and these variables. A choice is weak evidence
    of its state: with a few hundred choices in each state, some fits have small additional
    states; compare seeds and held-out scores.

    The coefficients of Poisson targets are drawn by elliptical slice sampling [4]_ around their
    mode. A split or a merge of states proposes the coefficients together with the states. The draws
    are exact, but scores are not: they average Poisson probabilities over a Gaussian approximation
    of the distribution of the coefficients given the states. Log rates above 40 count as 40. If
    counts vary more than Poisson counts with the same inputs, additional states explain that.

    The log joint in `trace_` has Laplace's approximation of the evidence of both kinds of targets.

    Targets cannot be forecast or drawn without inputs: `HDPHMMLT.forecast` and ``sample`` raise a
    TypeError. ``emission_.predict(inputs)`` returns the mean targets of every state, and
    ``emission_.draw_targets(states, inputs, random_state)`` draws targets. ``coefs`` and
    ``intercepts`` of ``emission_`` are posterior means.

    References
    ----------
    .. [1] Z. C. Ashwood et al. (2022), Mice alternate between discrete strategies during perceptual
       decision-making, Nature Neuroscience 25.
    .. [2] S. Escola, A. Fontanini, D. Katz, L. Paninski (2011), Hidden Markov models for the
       stimulus-response relationships of multistate neural systems, Neural Computation 23.
    .. [3] N. G. Polson, J. G. Scott, J. Windle (2013), Bayesian inference for logistic models using
       Polya-Gamma latent variables, JASA 108.
    .. [4] I. Murray, R. P. Adams, D. J. C. MacKay (2010), Elliptical slice sampling, AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.emissions import RegressionEmission
    >>> from skdp.sequence import HDPHMMLT
    >>> rng = np.random.default_rng(0)
    >>> state = np.repeat([0, 1, 0, 1], 500)
    >>> stimulus = rng.normal(size=2000)
    >>> log_odds = np.where(state == 0, 5.0 * stimulus, 1.5)  # engaged, or biased to the right
    >>> choice = rng.random(2000) < 1.0 / (1.0 + np.exp(-log_odds))
    >>> X = np.column_stack([choice, stimulus])
    >>> emission = RegressionEmission(targets=0, output="bernoulli")
    >>> model = HDPHMMLT(6, emission=emission, stickiness=20.0, max_iter=200, random_state=0).fit(X)
    >>> model.n_active_components_
    2
    >>> bool(np.mean(model.predict(X) == state) > 0.95)
    True
    """

    allows_nan = True
    """NaN is a missing value, in targets only."""

    needs_inputs = True
    """Inputs are given: observations of new steps have no mean and cannot be drawn without them."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearEmission._parameter_constraints,
        "targets": [Integral, str, slice, "array-like"],
        "inputs": [Integral, str, slice, "array-like", None],
        "output": [StrOptions({"normal", "bernoulli", "poisson"})],
    }

    def __init__(
        self,
        targets: Any,
        inputs: Any = None,
        output: str = "normal",
        *,
        coef_prior: ArrayLike | None = None,
        coef_precision_prior: float | ArrayLike | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: ArrayLike | None = None,
        resolution: str | float | ArrayLike | None = "auto",
    ):
        self._store(locals())

    def _make_sampler_of(self, data: InMemoryRows, n_states: int) -> Any:
        values, n_columns = data.values, data.n_features
        roles = Roles.read(self.targets, self.inputs, self.output, n_columns, self._names)
        n_targets, width = len(roles.targets), len(roles.inputs) + 1
        check_memory(
            8.0 * n_states * 3.0 * (width + n_targets) ** 2 * n_targets,
            f"RegressionEmission of {n_targets} targets, {width - 1} inputs and {n_states} states",
        )
        inputs, targets = roles.split(values)
        means, covariance = find_location_and_spread(inputs, roles, roles.inputs, "Values in")
        coefs = None
        if self.coef_prior is not None:
            coefs = self._read_coefs((n_targets, width), n_columns)
        if self.output == "normal":
            prior = self._make_normal_prior(roles, values, means, covariance, coefs)
            spread = self._read_resolution(data, roles.targets)
            return NormalRegressionSampler(n_states, roles, prior, spread)
        for name in ("degrees_of_freedom_prior", "covariance_prior"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"RegressionEmission: {name} is for output='normal', because other targets "
                    "have no noise of their own; leave it None."
                )
        root = self._read_precision(means, covariance, width / _PREDICTORS, n_columns)
        if coefs is None:
            coefs = np.zeros((n_targets, width))
            if self.output == "poisson":
                coefs[:, 0] = find_log_rates(targets)
        make = LogisticSampler if self.output == "bernoulli" else PoissonRegressionSampler
        return make(n_states, roles, CoefPrior(coefs, root))

    def _make_normal_prior(
        self, roles: Roles, values: Floats, means: Floats, covariance: Floats, coefs: Any
    ) -> RegressionPrior:
        """Return the prior of normal targets."""
        inputs, targets = values[:, roles.inputs], values[:, roles.targets]
        dof = read_dof(self, targets.shape[1], what="targets")
        if coefs is None:
            coefs = regress(inputs, targets)
        residuals = None
        if self.covariance_prior is None:
            left = targets - coefs[:, 0] - inputs @ coefs[:, 1:].T
            deviations, varies = find_deviations(ClippedRows(InMemoryRows(targets)))
            floors = np.where(varies, LEAST, 1.0) * deviations
            found = find_location_and_spread(left, roles, roles.targets, "Residuals of", floors)
            residuals = found[1]
        return self._make_regression_prior(
            dof, coefs, means, covariance, residuals, values.shape[1]
        )


def find_log_rates(counts: Floats) -> Floats:
    """Return the logarithms of robust means of counts, or of half a count if all are 0."""
    ranges, means, _ = find_moments(ClippedRows(InMemoryRows(counts)))
    floors: Floats = 0.5 / np.maximum(ranges.numbers, 1)
    return np.log(np.maximum(means, floors))


def find_location_and_spread(
    values: Floats, roles: Roles, columns: Places, kind: str, floors: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return robust means and a definite covariance of values derived from some columns."""
    # Deviations are at least `floors`, and enough for products with outliers to keep some digits.
    ranges, means, products = find_moments(ClippedRows(InMemoryRows(values)))
    covariance = find_covariance(ranges, products, SHRINKAGE_OF_REGRESSORS)
    everywhere, varies = find_deviations(InMemoryRows(values))
    least = np.where(varies, LEAST_OF_FAR * everywhere, 0.0)
    deviations, varies = np.sqrt(np.diag(covariance)), find_varying(ranges, products)
    usual = deviations if floors is None else np.maximum(np.where(varies, deviations, 0.0), floors)
    for d in np.flatnonzero(least > usual):
        warnings.warn(
            f"{kind} {roles.call(columns[d])} of X are outliers so far from the others that the "
            "default prior of RegressionEmission has to follow their scale: replace them.",
            UserWarning,
            stacklevel=2,
        )
    return means, widen(covariance, np.maximum(usual, least), varies)


def regress(inputs: Floats, targets: Floats) -> Floats:
    """Return robust least-squares coefficients of all steps with targets, intercepts first."""
    n, rows = inputs.shape[1], np.hstack([inputs, targets])
    whole = rows[~np.isnan(rows).any(axis=1)]
    ranges, means, products = find_moments(ClippedRows(InMemoryRows(whole)))
    covariance = find_covariance(ranges, products, SHRINKAGE_OF_REGRESSORS)[:n, :n]
    cross = products[n:, :n] / max(len(whole), 1)
    return solve_regression(means, covariance, cross)
