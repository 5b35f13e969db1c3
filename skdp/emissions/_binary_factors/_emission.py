"""Observations that depend on binary vectors of the states; the sampler of the Indian buffet."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, xlogy

from skdp._checks import (
    as_floats,
    check_beta_prior,
    check_gamma_prior,
    check_memory,
    check_scale,
    shorten,
)
from skdp._numeric import Floats, Places
from skdp._numeric._arrays import RobustScales, find_noise_rates, find_spreads, standardize
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import next_double
from skdp._sklearn_compat import Interval, StrOptions, validate_parameters
from skdp.emissions._binary_factors._part import (
    OUTPUTS,
    BinaryFactorModel,
    BinaryFactorSampler,
    FactorPrior,
    FixedAmplitudes,
    VaryingAmplitudes,
)
from skdp.emissions._common import Stream
from skdp.emissions._common._columns import InMemoryRows, SampledEmission
from skdp.emissions._common._protocol import Coupling
from skdp.emissions._kernels import _binary_factors as kernels
from skdp.emissions._kernels import _buffet as buffet
from skdp.processes._partitions import draw_mass, expected_features

_REACH = 3.0
"""Prior standard deviations of a weight that can stand for any value."""


class BinaryFactorEmission(SampledEmission):
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

    References
    ----------
    C. Dawson, C. Huang, C. T. Morrison (2017), An infinite hidden Markov model with
    similarity-biased transitions, ICML: 4.1 and appendix C; formulas are corrected.
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
        self._store(locals())

    def _make_sampler_of(self, data: InMemoryRows, n_states: int) -> BinaryFactorSampler:
        mass_prior = check_gamma_prior(self.mass_prior, "mass_prior")
        if isinstance(self.n_factors, str):
            return self._make_buffet(data.values, n_states, mass_prior)
        return BinaryFactorSampler(*self.check_parts(data.values, n_states))

    def _make_buffet(
        self, values: Floats, n_states: int, mass_prior: tuple[float, float]
    ) -> BuffetFactorSampler:
        """Return the sampler for `n_factors` "auto"."""
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


# Binary vectors whose number of factors is inferred: the Indian buffet sampler.


MOST_FACTORS = 24
"""Number of factors that a buffet may have beyond twice the number that its prior expects."""


def find_most(n_states: int, concentration: float, mass_prior: tuple[float, float]) -> int:
    """Return the largest number of factors that a buffet may have."""
    expected = expected_features(n_states, concentration)
    return MOST_FACTORS + math.ceil(2.0 * mass_prior[0] / mass_prior[1] * expected)


class BuffetFactorSampler(BinaryFactorSampler):
    """Sampler of the binary vectors of all states, with a buffet prior, weights and noise."""

    amplitudes: FixedAmplitudes

    def __init__(self, *parts: Any, mass_prior: tuple[float, float]):
        super().__init__(*parts)
        n_states, self.concentration = len(self.factors), self.activity_prior[1]
        self.mass_prior = mass_prior
        self.mass = mass_prior[0] / mass_prior[1]  # alpha
        self.expected = expected_features(n_states, self.concentration)
        # The prior has this bound: without it, values many standard deviations of the weights away
        # would be explained by ever more factors.
        self.most_factors = find_most(n_states, self.concentration, mass_prior)

    def draw(self, states: Places, rng: Stream, coupling: Coupling | None = None) -> None:
        """Draw vectors and their number, then the mass, weights and noise."""
        filled = self._fill(states, rng)
        idle, links, decay = self._find_idle(coupling)
        spins, weights = self._with_room(idle, keep_idle=links is not None)
        n_used = int(np.count_nonzero((spins > 0.0).any(axis=1)))  # they come first
        known = self._known._replace(weights=weights[: n_used + 1])
        prior = 0.0, self.concentration
        kernels.draw_busy_bits(
            spins[:n_used], idle, *prior, *self.amplitudes.evidence(known), links, decay,
            np.empty(n_used), np.empty((2, n_used), dtype=np.int64), rng,
        )  # fmt: skip
        self._keep_used(spins, weights)
        # Given the latent normals of probit columns, draw bits once more, and the number of
        # factors, with the weights of factors that a single state has integrated out.
        self.amplitudes.draw_latent(self._known, rng)
        spins, weights = self._with_room(idle, keep_idle=links is not None)
        n_counted = len(idle) - (0 if links is not None else np.count_nonzero(idle))
        log_new = self._log_weights_of_new(int(n_counted))
        rate = self.mass * self.concentration / (self.concentration + max(n_counted, 1) - 1.0)
        log_room = np.logaddexp.accumulate(log_new)[::-1].copy()
        room, n_dims = self.most_factors, len(self.probit)
        n_on, places = np.empty(room), np.empty(room, dtype=np.int64)
        buffet.draw_buffet_bits(
            spins, weights, idle, self.concentration, rate, log_room, self.amplitudes.counts,
            self.amplitudes.totals, self.precisions, self.prior.scales, links, decay, n_on,
            np.empty(n_dims), rng,
        )  # fmt: skip
        buffet.exchange_meanings(
            spins, weights, idle, self.concentration, self.prior.scales, links, decay, n_on, places,
            rng,
        )  # fmt: skip
        buffet.split_or_merge_equals(
            spins, weights, idle, self.mass, self.concentration, log_room, self.prior.scales, links,
            decay, n_on, places, np.empty(room, dtype=np.bool_), np.empty(n_dims), rng,
        )  # fmt: skip
        kernels.draw_idle_bits(spins, idle, *prior, links, decay, np.empty(len(idle)), rng)
        self._keep_used(spins, weights)
        if links is None and idle.any():
            self._draw_factors_of_idle(idle, log_new, rng)
        self.mass = float(draw_mass(self.factors.shape[1], self.expected, *self.mass_prior, rng))
        self._draw_given_latent(filled, states, rng)

    def log_evidence(self) -> float:
        """Return log p(x, set of factors, weights, noise, log mass | z)."""
        shape, rate = self.mass_prior
        result = buffet.log_weight_of_vectors(self.factors, self.concentration)
        result += self.factors.shape[1] * math.log(self.mass) - self.mass * self.expected
        result += shape * math.log(rate * self.mass) - rate * self.mass - math.lgamma(shape)
        return float(result + self.log_density())

    def scalars(self) -> dict[str, float]:
        on = self.factors[self.amplitudes.is_seen()].any(axis=0)
        return {"n_active_factors": float(np.count_nonzero(on)), "mass": self.mass}

    def model(self) -> BinaryFactorModel:
        """Return the vectors last drawn, ordered by use, with means of weights and precisions."""
        model = super().model()
        sizes = self.amplitudes.counts.sum(axis=1) @ self.factors
        order = np.argsort(-sizes, kind="stable")
        weights = np.vstack([model.weights[:1], model.weights[1:][order]])
        return replace(model, factors=model.factors[:, order], weights=weights)

    def _most_groups(self) -> int:
        """Return the number of states: there are as many vectors."""
        return len(self.factors)

    def _with_room(self, idle: NDArray[np.bool_], *, keep_idle: bool) -> tuple[Floats, Floats]:
        """Return spins, (C, J), and weights, (C + 1, D), with room for all possible factors."""
        # Without `keep_idle` factors that only idle states have are left out.
        factors = self.factors if keep_idle else np.where(idle[:, np.newaxis], 0, self.factors)
        used = factors.any(axis=0)
        n_used, (n_states, n_dims) = np.count_nonzero(used), self.amplitudes.counts.shape
        spins = np.full((self.most_factors, n_states), -1.0)
        weights = np.zeros((self.most_factors + 1, n_dims))
        spins[:n_used] = 2.0 * factors.T[used] - 1.0
        weights[0], weights[1 : n_used + 1] = self.weights[0], self.weights[1:][used]
        return spins, weights

    def _keep_used(self, spins: Floats, weights: Floats) -> None:
        """Store the factors that at least one state has."""
        on = spins > 0.0
        used = on.any(axis=1)
        self.factors = np.ascontiguousarray(on[used].T.astype(np.int8))
        self.weights = np.ascontiguousarray(np.vstack([weights[:1], weights[1:][used]]))

    def _log_weights_of_new(self, n_counted: int) -> Floats:
        """Return the log weights of the numbers of factors that only uncounted states have."""
        expected = self.expected - expected_features(n_counted, self.concentration)
        numbers = np.arange(self.most_factors + 1.0)
        rate = self.mass * max(expected, 0.0) if n_counted < len(self.factors) else 0.0
        return np.asarray(xlogy(numbers, rate) - gammaln(numbers + 1.0))

    def _draw_factors_of_idle(self, idle: NDArray[np.bool_], log_new: Floats, rng: Stream) -> None:
        """Draw the factors that only idle states have."""
        n_used = self.factors.shape[1]
        log_new = log_new[: self.most_factors - n_used + 1]
        sums = np.cumsum(np.exp(log_new - log_new.max()))
        n_new = int(np.searchsorted(sums, next_double(rng) * sums[-1], side="right"))
        n_new = min(n_new, len(sums) - 1)
        spins = np.full((n_used + n_new, len(idle)), -1.0)
        spins[:n_used] = 2.0 * self.factors.T - 1.0
        buffet.add_idle_columns(spins, idle, n_used, n_new, self.concentration, rng)
        self._keep_used(spins, np.vstack([self.weights, np.zeros((n_new, len(self.probit)))]))


# First binary vectors from differences between runs of similar observations.


LONGEST_RUN = 2000
"""Largest number of steps of a run. Longer runs are cut: the jump is then noise alone."""
MOST_JUMPS = 1000
"""Largest number of jumps to group, because the time grows with the square of their number."""
N_ROUNDS_OF_CODES = 6
BEAM, MOST_CODES = 100, 60
COST_OF_SWITCH, COST_OF_CLASH = 8.0, 15.0
"""Costs, in nats, of one more factor in a jump, and of switching a factor to its current value."""
_NORMAL_QUARTILE = 0.6744897501960817


class Runs(NamedTuple):
    """Runs of similar observations, cut out of sequences."""

    begins: Places  # (n + 1,), first steps; then the number of steps
    means: Floats  # (n, D), of their values, scaled by the noise; 0 if all are missing
    counts: Floats  # (n, D), numbers of values that are not missing
    follows: NDArray[np.bool_]  # (n,), whether a run follows another one in its sequence
    scales: Floats  # (D,), noise of the columns, a standard deviation


def find_runs(values: Floats, ptr: Places) -> Runs:
    """Cut sequences into runs of similar observations."""
    spreads = find_spreads(values)
    scales = np.maximum(_noise_of_steps(values, ptr, spreads), spreads.resolutions)
    seen = ~np.isnan(values)
    scaled = np.where(seen, standardize(values, spreads.middles, scales), 0.0)
    begins, follows = [], []
    for begin, end in pairwise(ptr.tolist()):
        cuts = _cut(scaled[begin:end], seen[begin:end].astype(np.float64))
        begins += [begin + cut for cut in cuts]
        follows += [cut > 0 for cut in cuts]
    starts = np.array(begins)
    counts = np.add.reduceat(seen.astype(np.float64), starts)
    means = np.add.reduceat(scaled, starts) / np.maximum(counts, 1.0)
    return Runs(np.array([*begins, len(values)]), means, counts, np.array(follows), scales)


def _noise_of_steps(values: Floats, ptr: Places, spreads: RobustScales) -> Floats:
    """Return robust standard deviations of the noise, or of the column if they are 0."""
    inner = np.ones(len(values) - 1, dtype=np.bool_)
    inner[ptr[1:-1] - 1] = False
    scales = np.sqrt(spreads.variances)
    for d, column in enumerate(values.T):
        steps = np.abs(np.diff(column)[inner])
        steps = steps[~np.isnan(steps)]
        scale = np.median(steps) / (_NORMAL_QUARTILE * np.sqrt(2.0)) if len(steps) else 0.0
        if scale > 0.0:
            scales[d] = scale
    return scales


def _cut(scaled: Floats, seen: Floats) -> list[int]:
    """Return the first steps of the runs of a sequence."""
    n_steps, n_dims = scaled.shape
    sums, counts = np.zeros((2, n_steps + 1, n_dims))
    np.cumsum(scaled, axis=0, out=sums[1:])
    np.cumsum(seen, axis=0, out=counts[1:])
    before = np.zeros(n_steps + 1, dtype=np.int64)
    # A run has D + 1 parameters: its mean and its first step.
    penalty = (n_dims + 2.0) * np.log(max(n_steps, 2))
    buffet.cut_runs(
        sums, counts, penalty, LONGEST_RUN, np.empty(n_steps + 1), before,
        np.empty(n_steps + 1, dtype=np.int64),
    )  # fmt: skip
    cuts = [int(before[n_steps])]
    while cuts[-1] > 0:
        cuts.append(int(before[cuts[-1]]))
    return cuts[::-1]


def find_factors(runs: Runs, weights_scales: Floats, n_factors: int | None) -> NDArray[np.int8]:
    """Return binary vectors of all steps, (N, F), estimated from jumps between runs."""
    # Jumps that are similar up to sign are a factor; `n_factors` None: all groups of two or more.
    places = np.flatnonzero(runs.follows)
    before, after = runs.counts[places - 1], runs.counts[places]
    precisions = before * after / np.maximum(before + after, 1.0)
    jumps = runs.means[places] - runs.means[places - 1]
    if len(places) > MOST_JUMPS:
        sizes = (precisions * jumps**2).sum(axis=1)
        kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_JUMPS])
        places, jumps, precisions = places[kept], jumps[kept], precisions[kept]
    inverse = (runs.scales / weights_scales) ** 2
    atoms = _group(jumps, precisions, inverse, n_factors)
    n_atoms = len(atoms)
    vectors = np.zeros(
        (int(runs.begins[-1]), n_atoms if n_factors is None else n_factors), dtype=np.int8
    )
    if n_atoms == 0:
        return vectors
    codes = _list_codes(n_atoms)
    sequences = np.cumsum(~runs.follows)[places]
    resets = np.append(True, sequences[1:] != sequences[:-1])
    # By turns, jumps become sums of at most two factors, each of which is switched on and off
    # alternately, and the factors are fitted to these sums by least squares.
    for i in range(N_ROUNDS_OF_CODES):
        width = BEAM if i >= N_ROUNDS_OF_CODES // 2 else 0
        signs = _decode(jumps, precisions, atoms, codes, resets, width)
        for d, diagonal in enumerate(inverse):
            weighed = signs * precisions[:, d, np.newaxis]
            square = weighed.T @ signs
            square.flat[:: n_atoms + 1] += diagonal
            atoms[:, d] = np.linalg.solve(square, weighed.T @ jumps[:, d])
    for f in range(n_atoms):
        own = signs[:, f] != 0.0
        _write_path(runs, places[own], signs[own, f], vectors[:, f])
    return vectors


def _group(jumps: Floats, precisions: Floats, inverse: Floats, n_factors: int | None) -> Floats:
    """Return the means of groups of similar jumps, (F, D)."""
    n = len(jumps)
    groups, signs = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int8)
    totals, sums, own = precisions * jumps, precisions.copy(), np.empty(n)
    buffet.group_jumps(totals, sums, inverse, own, np.empty((n, n)), groups, signs)
    numbers, sizes = np.unique(groups, return_counts=True)
    order = np.lexsort((-own[numbers], -np.minimum(sizes, 2)))
    if n_factors is None:
        n_factors = int(np.count_nonzero(sizes >= 2))
    chosen = numbers[order][:n_factors]
    return np.asarray(totals[chosen] / (sums[chosen] + inverse))


def _list_codes(n_atoms: int) -> Places:
    """Return all sums of at most two signed atoms, numbered from 1, (C, 2)."""
    signed = [s * (f + 1) for f in range(n_atoms) for s in (1, -1)]
    pairs = [(a, b) for a in signed for b in signed if abs(a) < abs(b)]
    return np.array([(0, 0), *((a, 0) for a in signed), *pairs], dtype=np.int64)


def _decode(
    jumps: Floats,
    precisions: Floats,
    atoms: Floats,
    codes: Places,
    resets: NDArray[np.bool_],
    width: int,
) -> Floats:
    """Return the coefficients of the atoms in each jump, -1, 0 or 1, (n, F); width 0: no beam."""
    n, n_atoms = len(jumps), len(atoms)
    n_kept = min(MOST_CODES, len(codes))
    kept, costs = np.empty((n, n_kept), dtype=np.int64), np.empty((n, n_kept))
    kernels.weigh_codes(as_readonly(jumps), precisions, atoms, codes, COST_OF_SWITCH, kept, costs)
    found = kept[:, 0].copy()
    if width > 0:
        kernels.search_codes(
            kept, costs, codes, resets, COST_OF_CLASH,
            np.empty((2, width, n_atoms), dtype=np.int8), np.empty((2, width)),
            np.empty((n, width), dtype=np.int64), np.empty((n, width), dtype=np.int64),
            np.empty((width, n_kept), dtype=np.bool_), np.empty(n, dtype=np.int64), found,
        )  # fmt: skip
    signs = np.zeros((n, n_atoms))
    for k in range(2):
        some = np.flatnonzero(codes[found, k])
        chosen = codes[found[some], k]
        signs[some, np.abs(chosen) - 1] = np.sign(chosen)
    return signs


def _write_path(runs: Runs, places: Places, signs: Floats, out: NDArray[np.int8]) -> None:
    """Write a path that is on after jumps with one sign, and off after jumps with the other."""
    # It switches at the first jump of a sequence, too. The sign that makes it rarer is on.
    path = np.zeros(len(out), dtype=np.int8)
    firsts = np.flatnonzero(~runs.follows)
    sequences = np.searchsorted(firsts, places, side="right") - 1
    ends = runs.begins[np.append(firsts[1:], len(runs.follows))]
    told = np.zeros(len(out), dtype=np.bool_)
    for i, (place, sign) in enumerate(zip(places, signs, strict=True)):
        sequence = sequences[i]
        is_first = i == 0 or sequences[i - 1] != sequence
        begin, end = runs.begins[place], ends[sequence]
        if is_first:
            start = runs.begins[firsts[sequence]]
            path[start:begin] = sign < 0
            told[start:end] = True
        path[begin:end] = sign > 0
    if 2 * np.count_nonzero(path[told]) > np.count_nonzero(told):
        path[told] = 1 - path[told]
    out[:] = path
