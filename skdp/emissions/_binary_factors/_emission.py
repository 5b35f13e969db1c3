"""Observations that depend on binary vectors of the states."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from skdp._checks import (
    as_floats,
    check_beta_prior,
    check_gamma_prior,
    check_memory,
    check_scale,
    shorten,
)
from skdp._numeric import Floats
from skdp._numeric._arrays import find_noise_rates, find_spreads
from skdp._sklearn_compat import EstimatorMixin, Interval, StrOptions, validate_parameters
from skdp.emissions._binary_factors._buffet import BuffetFactorSampler, find_most
from skdp.emissions._binary_factors._part import (
    OUTPUTS,
    BinaryFactorSampler,
    FactorPrior,
    FixedAmplitudes,
    VaryingAmplitudes,
)

_REACH = 3.0
"""Prior standard deviations of a weight that can stand for any value."""


class BinaryFactorEmission(EstimatorMixin, BaseEstimator):
    r"""Binary factors: state j has a vector theta_j of F zeros and ones, which determines its
    means.

    Column d of an observation in state j has the mean m_jd:

    .. math::

        m_{jd} &= w_{0d} + \sum_f \theta_{jf} w_{fd}, \quad
        \theta_{jf} \sim \mathrm{Bernoulli}(\mu_f), \quad
        \mu_f \sim \mathrm{Beta}(p, q), \\
        w_{fd} &\sim \mathrm{N}(0, s^2), \quad
        1 / \sigma_d^2 \sim \mathrm{Gamma}(\mathrm{shape}, \mathrm{rate})

    Normal columns are m_jd plus noise of variance sigma_d^2; probit columns are 1 with probability
    Phi(m_jd), else 0. (p, q) is `activity_prior`, s `weights_scale`, and (shape, rate)
    `noise_prior`. By default the last two follow from the columns, so that results do not depend on
    their units and origins.

    With an amplitude variance tau^2, the strength of a factor varies from step to step:

    .. math::

        y_{td} = w_{0d} + \sum_f \theta_{jf} a_{tf} w_{fd} + \mathrm{noise}, \quad
        a_{tf} \sim \mathrm{N}(1, \tau^2)

    The amplitudes are integrated out: an observation in state j is normal, with mean m_j and the
    covariance :math:`\mathrm{diag}(\sigma^2) + \tau^2 \sum_f \theta_{jf} w_f w_f^T`.

    Parameters
    ----------
    n_factors : int or "auto"
        Number of binary factors, F. "auto": inferred, under an Indian buffet process over the
        states of HDPHMMLT, or under a Markov Indian buffet process in FactorialHMM. The number of
        factors in use is bounded by 24 plus twice the number that the buffet expects at the mean
        mass. In HDPHMMLT, "auto" takes no given weights and no amplitude variance.
    output : {"normal", "probit"} or list of them, default="normal"
        The kind of the columns, one for all or one per column.
    weights : (F + 1, D) array or None, default=None
        w; row 0 is the background. None: drawn.
    weights_scale : float or None, default=None
        Standard deviation of drawn weights, from 1e-30 to 1e30, in the unit of X. None: that of
        each column without the largest 1 % of its deviations from the median, and the prior mean of
        its background is this median instead of 0. For `FactorialHMM` it is at least a third of the
        largest deviation from the median, so that one factor can stand for any value. Probit
        columns have 1 and 0.
    noise_variance : float, (D,) array or "auto", default="auto"
        sigma^2, from 1e-60 to 1e60; entries of an array for probit columns are ignored. "auto":
        drawn.
    noise_prior : (shape, rate) or None, default=None
        Gamma prior of drawn precisions 1 / sigma_d^2, with a shape from 1e-8 to 1e8 and a rate (in
        squared units of X) from 1e-60 to 1e60. None: shape 1, and as the rate of each column a
        fourth of its robust variance, which is that of normal values with the same mean squared
        deviation from the median without the largest 5 %. The rate is larger if the column has a
        value so large that noise would be lost to rounding next to it, from about 100,000 standard
        deviations on.
    amplitude_variance : float or "auto", default=0.0
        tau^2, from 0 to 1e8. "auto": drawn. It must be 0 unless all columns are normal.
    amplitude_prior : (shape, rate), default=(1.0, 0.1)
        Gamma prior of a drawn 1 / tau^2, both from 1e-8 to 1e8.
    activity_prior : (p, q), default=(1.0, 1.0)
        Beta prior of the share of states that have a factor, integrated out; p and q from 1e-8 to
        1e8. With ``n_factors="auto"``, the mass of the buffet stands for p, which is left at its
        default: the buffet is the limit of F factors with Beta(mass q / F, q) as F grows.
        `FactorialHMM` has no such states: leave it at its default there.
    mass_prior : (shape, rate), default=(1.0, 1.0)
        Gamma prior of the mass of the Indian buffet, both from 1e-8 to 1e8; only used with
        ``n_factors="auto"``. The number of factors that any of J states has is Poisson with mean
        mass (q / q + q / (q + 1) + ... + q / (q + J - 1)), about mass log J if q is 1.
        `FactorialHMM` has its own: leave it at its default there.
    init : {"data", "random"}, default="data"
        The first states (for `FactorialHMM`, see there). "data" with given weights: least squares
        for every step with activities in [0, 1], rounded to 1 from .5 on; the most frequent vectors
        become states. "data" with drawn weights: groups of similar steps (k-means) and random
        vectors. "random": random states and vectors. With ``n_factors="auto"``, states start
        without factors.

    See Also
    --------
    skdp.sequence.LaplacianSimilarity : Transitions that prefer states with similar vectors.
    skdp.sequence.FactorialHMM : Factors that are independent chains.

    Notes
    -----
    NaN marks a missing value, in columns of either kind. All other values in probit columns are 0
    or 1.

    Drawn weights determine neither the order of the factors nor which of their two values is 1.

    With drawn weights, the posterior distribution has poor modes that chains do not leave. Run
    several chains (`n_chains`); the most probable one is used.

    Without an amplitude variance, a factor is either on or off: amplitudes that vary while it is on
    are treated as noise or as further factors.
    """

    allows_nan = True
    """Whether NaN marks a missing value."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_factors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "output": [StrOptions(set(OUTPUTS)), list, tuple],
        "weights": ["array-like", None],
        "weights_scale": [Interval(Real, 1e-30, 1e30, closed="both"), None],
        "noise_variance": [
            Interval(Real, 1e-60, 1e60, closed="both"), StrOptions({"auto"}), "array-like",
        ],
        "noise_prior": [tuple, list, None],
        "amplitude_variance": [Interval(Real, 0, 1e8, closed="both"), StrOptions({"auto"})],
        "amplitude_prior": [tuple, list],
        "activity_prior": [tuple, list],
        "mass_prior": [tuple, list],
        "init": [StrOptions({"data", "random"})],
    }  # fmt: skip

    def __init__(
        self,
        n_factors: int | str,
        *,
        output: str | list[str] = "normal",
        weights: ArrayLike | None = None,
        weights_scale: float | None = None,
        noise_variance: float | ArrayLike | str = "auto",
        noise_prior: tuple[float, float] | None = None,
        amplitude_variance: float | str = 0.0,
        amplitude_prior: tuple[float, float] = (1.0, 0.1),
        activity_prior: tuple[float, float] = (1.0, 1.0),
        mass_prior: tuple[float, float] = (1.0, 1.0),
        init: str = "data",
    ):
        self.n_factors = n_factors
        self.output = output
        self.weights = weights
        self.weights_scale = weights_scale
        self.noise_variance = noise_variance
        self.noise_prior = noise_prior
        self.amplitude_variance = amplitude_variance
        self.amplitude_prior = amplitude_prior
        self.activity_prior = activity_prior
        self.mass_prior = mass_prior
        self.init = init

    def make_sampler(self, values: Floats, n_states: int) -> BinaryFactorSampler:
        """Return the sampler of this emission's parameters for these observations.

        Parameters
        ----------
        values : (N, D) array
            The observations, from which some priors are computed.
        n_states : int
            J.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not match the observations.
        """
        mass_prior = check_gamma_prior(self.mass_prior, "mass_prior")
        if isinstance(self.n_factors, str):
            return self._make_buffet(values, n_states, mass_prior)
        return BinaryFactorSampler(*self.check_parts(values, n_states))

    def _make_buffet(
        self, values: Floats, n_states: int, mass_prior: tuple[float, float]
    ) -> BuffetFactorSampler:
        """Return the sampler for `n_factors` "auto"."""
        validate_parameters(self)
        name = 'BinaryFactorEmission: n_factors="auto"'
        if self.weights is not None:
            raise ValueError(
                f"{name} takes no given weights, which belong to a given number of factors: leave "
                "weights at None."
            )
        if self.amplitude_variance != 0.0:
            raise ValueError(
                f"{name} takes only factors of one strength: leave amplitude_variance at 0, got "
                f"{shorten(self.amplitude_variance)}."
            )
        p, q = check_beta_prior(self.activity_prior, "activity_prior")
        if p != 1.0:
            raise ValueError(
                f"{name}: the mass of the Indian buffet stands for the first number of "
                f"activity_prior: leave it at 1.0, got {shorten(self.activity_prior)}."
            )
        most, n_dims = find_most(n_states, q, mass_prior), values.shape[1]
        check_memory(
            8.0 * most * (3.0 * n_dims + 2.0 * n_states + most),
            f"{name} with mass_prior={shorten(self.mass_prior)}, which allows {most:.3g} factors, "
            f"and {n_dims} columns: weights",
        )
        return BuffetFactorSampler(
            *self._check_given(values, n_states, 0, reaches_all=False), mass_prior=mass_prior
        )

    def check_parts(
        self, values: Floats, n_states: int, *, reaches_all: bool = False
    ) -> tuple[Any, ...]:
        """Return the arguments of the sampler, after checks of the parameters.

        Parameters
        ----------
        values, n_states
            As in `make_sampler`.
        reaches_all : bool, default=False
            Whether default scales of weights let a single factor stand for the largest value.

        Returns
        -------
        tuple
            The arguments of `BinaryFactorSampler`.

        Raises
        ------
        ValueError
            As `make_sampler` does.
        """
        validate_parameters(self)
        n_factors = int(self.n_factors)
        n_dims = values.shape[1]
        check_memory(
            8.0 * n_factors * (3.0 * n_dims + n_states + n_factors),
            f"n_factors={n_factors} with {n_dims} columns: weights",
        )
        return self._check_given(values, n_states, n_factors, reaches_all=reaches_all)

    def _check_given(
        self, values: Floats, n_states: int, n_factors: int, *, reaches_all: bool
    ) -> tuple[Any, ...]:
        """Return the arguments of the sampler of a given number of factors."""
        n_dims = values.shape[1]
        check_scale(values)
        probit = _check_output(self.output, n_dims)
        variance = _check_amplitudes(self.amplitude_variance, probit)
        prior = check_gamma_prior(self.amplitude_prior, "amplitude_prior")
        amplitudes: FixedAmplitudes | VaryingAmplitudes
        if variance == 0.0:
            amplitudes = FixedAmplitudes(n_states, probit)
        else:
            amplitudes = VaryingAmplitudes(n_states, n_factors, n_dims, variance, prior)
        return (
            n_states,
            n_factors,
            probit,
            _check_weights(self.weights, (n_factors + 1, n_dims)),
            _check_noise(self.noise_variance, probit),
            self._prior(values, probit, reaches_all),
            check_beta_prior(self.activity_prior, "activity_prior"),
            self.init,
            amplitudes,
        )

    def _prior(self, values: Floats, probit: NDArray[np.bool_], reaches_all: bool) -> FactorPrior:
        """Return the priors of weights and noise; missing ones are computed from the columns."""
        spreads = find_spreads(np.where(probit, 0.0, values))  # the latent ones have scale 1
        middles, scales = np.zeros(len(probit)), np.full(len(probit), self.weights_scale or 1.0)
        if self.weights_scale is None and self.weights is None:
            middles, scales = spreads.middles, np.sqrt(spreads.wide_variances)
            if reaches_all:
                scales = np.maximum(scales, spreads.reaches / _REACH)
        shape, rates = 1.0, find_noise_rates(spreads.variances, spreads.resolutions, spreads.counts)
        if self.noise_prior is not None:
            shape, rate = check_gamma_prior(self.noise_prior, "noise_prior", largest=1e60)
            rates = np.full(len(probit), rate)
        return FactorPrior(middles, scales, shape, rates)


def _check_output(output: str | list[str], n_dims: int) -> NDArray[np.bool_]:
    """Return which of the columns are probit."""
    kinds = [output] * n_dims if isinstance(output, str) else list(output)
    if len(kinds) != n_dims or not all(kind in OUTPUTS for kind in kinds):
        raise ValueError(
            f"BinaryFactorEmission: output must be 'normal', 'probit' or a list of {n_dims} of "
            f"them, one per column of X; got {shorten(output)}."
        )
    return np.array([kind == "probit" for kind in kinds])


def _check_weights(weights: Any, shape: tuple[int, int]) -> Floats | None:
    """Return weights that are given."""
    if weights is None:
        return None
    array = np.array(as_floats(weights, "BinaryFactorEmission: weights"))
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(
            f"BinaryFactorEmission: weights must be finite numbers of shape {shape}, with one more "
            f"row than factors and a column for each of X; got shape {array.shape}."
        )
    return array


def _check_noise(variance: Any, probit: NDArray[np.bool_]) -> Floats | None:
    """Return variances that are given, 1 for probit columns."""
    if isinstance(variance, str):
        return None
    if probit.all():
        raise ValueError(
            f"BinaryFactorEmission: noise_variance={shorten(variance)}, but all columns are "
            "probit, which have no noise."
        )
    array = as_floats(variance, "BinaryFactorEmission: noise_variance")
    if array.shape not in ((), probit.shape):
        raise ValueError(
            f"BinaryFactorEmission: noise_variance must be a number or {len(probit)} of them, one "
            f"per column of X; got shape {array.shape}."
        )
    array = np.where(probit, 1.0, array)
    if not np.all((array >= 1e-60) & (array <= 1e60)):
        raise ValueError(
            "BinaryFactorEmission: noise_variance must be positive and finite, from 1e-60 to 1e60, "
            f"got {shorten(variance)}."
        )
    return array


def _check_amplitudes(variance: Any, probit: NDArray[np.bool_]) -> float | None:
    """Return the variance of amplitudes, None if it is drawn."""
    if variance != 0.0 and probit.any():
        raise ValueError(
            f"BinaryFactorEmission: amplitude_variance={shorten(variance)}, but there are probit "
            "columns: amplitudes may vary only if all columns are normal."
        )
    return None if isinstance(variance, str) else float(variance)
