"""Observations that depend on binary vectors of the states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, ndtr
from sklearn.base import BaseEstimator

from skdp._random import next_double
from skdp._sklearn_compat import Interval, StrOptions, validate_parameters
from skdp.processes._checks import check_beta_prior, check_gamma_prior
from skdp.sequence import _kernels_factor_starts as starts
from skdp.sequence import _kernels_factors as kernels
from skdp.sequence._factor_amplitudes import (
    NO_PROJECTIONS,
    AmplitudeSampler,
    find_patterns,
    weigh_varying,
)
from skdp.sequence._kernels_similarity_laplacian import Links, start_links
from skdp.sequence._similarity import Coupling

OUTPUTS = ("normal", "probit")

N_ROUNDS_OF_LEAST_SQUARES = 50
N_ROUNDS_OF_GROUPING = 10


class BinaryFactorEmission(BaseEstimator):
    r"""Binary factors: state j has a vector theta_j of F zeros and ones, which give its means.

    Column d of an observation in state j has mean m_jd = w_0d + sum_f theta_jf w_fd. Normal columns
    are m_jd plus noise of variance sigma_d^2; probit columns are 1 with probability Phi(m_jd),
    else 0. theta_jf ~ Bernoulli(mu_f) with mu_f ~ Beta(activity_prior),
    w_fd ~ N(0, weights_scale^2) and 1 / sigma_d^2 ~ Gamma(noise_prior).

    With an amplitude variance tau^2 a factor is not as strong at every step: y_td = w_0d +
    sum_f theta_jf a_tf w_fd + noise with a_tf ~ N(1, tau^2), for every step and factor. The
    amplitudes are summed out: an observation in state j is normal, of mean m_j and covariance
    diag(sigma^2) + tau^2 sum_f theta_jf w_f w_f^T.

    Parameters
    ----------
    n_factors : int
        F, the length of the vectors.
    output : {"normal", "probit"} or list of them, default="normal"
        What the columns are, one for all or one a column.
    weights : (F + 1, D) array or None, default=None
        w, the background in row 0. None: drawn.
    weights_scale : float, default=1.0
        Standard deviation of drawn weights, > 0.
    noise_variance : float, (D,) array or "auto", default="auto"
        sigma^2 > 0; of an array, the entries of probit columns mean nothing. "auto": drawn.
    noise_prior : (shape, rate), default=(1.0, 1.0)
        Gamma prior of drawn precisions 1 / sigma_d^2.
    amplitude_variance : float or "auto", default=0.0
        tau^2 >= 0. "auto": drawn. Not 0 for normal columns only.
    amplitude_prior : (shape, rate), default=(1.0, 0.1)
        Gamma prior of a drawn 1 / tau^2.
    activity_prior : (p, q), default=(1.0, 1.0)
        Beta prior of the share of states that have a factor, summed out.
    init : {"data", "random"}, default="data"
        First states. "data" with given weights: least squares of every step with activities in
        [0, 1], from .5 on taken as 1; the most frequent vectors become states. "data" with drawn
        weights: groups of similar steps (k-means), and random vectors. "random": states and
        vectors at random.

    Notes
    -----
    NaN is a missing value, in columns of either kind. Probit columns hold 0 and 1 otherwise.

    Drawn weights tell neither the order of factors nor which of their two values is 1.

    With drawn weights the posterior distribution has poor modes that chains do not leave: run
    several (`n_chains`); the likeliest is used.

    Without an amplitude variance a factor is on or off: amplitudes that vary while it is on are
    taken for noise, or for further factors.
    """

    allows_nan = True
    """NaN is a missing value."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_factors": [Interval(Integral, 1, None, closed="left")],
        "output": [StrOptions(set(OUTPUTS)), list, tuple],
        "weights": ["array-like", None],
        "weights_scale": [Interval(Real, 0, None, closed="neither")],
        "noise_variance": [
            Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), "array-like",
        ],
        "noise_prior": [tuple, list],
        "amplitude_variance": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "amplitude_prior": [tuple, list],
        "activity_prior": [tuple, list],
        "init": [StrOptions({"data", "random"})],
    }  # fmt: skip

    def __init__(
        self,
        n_factors: int,
        *,
        output: str | list[str] = "normal",
        weights: ArrayLike | None = None,
        weights_scale: float = 1.0,
        noise_variance: float | ArrayLike | str = "auto",
        noise_prior: tuple[float, float] = (1.0, 1.0),
        amplitude_variance: float | str = 0.0,
        amplitude_prior: tuple[float, float] = (1.0, 0.1),
        activity_prior: tuple[float, float] = (1.0, 1.0),
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
        self.init = init

    def make_sampler(self, values: NDArray[np.float64], n_states: int) -> BinaryFactorSampler:
        """Return the part of a chain for observations like these.

        Parameters
        ----------
        values : (N, D) array
            The observations, for priors that come from the data.
        n_states : int
            J.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not suit the observations.
        """
        return BinaryFactorSampler(*self.check_parts(values, n_states))

    def check_parts(self, values: NDArray[np.float64], n_states: int) -> tuple[Any, ...]:
        """Return what `BinaryFactorSampler` takes, or raise a ValueError."""
        validate_parameters(self)
        n_dims = values.shape[1]
        probit = _check_output(self.output, n_dims)
        variance = _check_amplitudes(self.amplitude_variance, probit)
        prior = check_gamma_prior(self.amplitude_prior, "amplitude_prior")
        amplitudes = None
        if variance != 0.0:
            amplitudes = AmplitudeSampler(n_states, int(self.n_factors), n_dims, variance, prior)
        return (
            n_states,
            int(self.n_factors),
            probit,
            _check_weights(self.weights, (int(self.n_factors) + 1, n_dims)),
            float(self.weights_scale),
            _check_noise(self.noise_variance, probit),
            check_gamma_prior(self.noise_prior, "noise_prior"),
            check_beta_prior(self.activity_prior, "activity_prior"),
            self.init,
            amplitudes,
        )


def _check_output(output: str | list[str], n_dims: int) -> NDArray[np.bool_]:
    """Return which of the columns are probit."""
    kinds = [output] * n_dims if isinstance(output, str) else list(output)
    if len(kinds) != n_dims or not all(kind in OUTPUTS for kind in kinds):
        raise ValueError(
            f"BinaryFactorEmission: output must be 'normal', 'probit' or a list of {n_dims} of "
            f"them, one a column of X; got {output!r}."
        )
    return np.array([kind == "probit" for kind in kinds])


def _check_weights(weights: Any, shape: tuple[int, int]) -> NDArray[np.float64] | None:
    """Return weights that are given."""
    if weights is None:
        return None
    array = np.array(weights, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(
            f"BinaryFactorEmission: weights must be finite numbers of shape {shape}, one row more "
            f"than factors and a column for each of X; got shape {array.shape}."
        )
    return array


def _check_noise(variance: Any, probit: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """Return variances that are given, 1 for probit columns."""
    if isinstance(variance, str):
        return None
    if probit.all():
        raise ValueError(
            f"BinaryFactorEmission: noise_variance={variance!r}, but all columns are probit, "
            "which have no noise."
        )
    array = np.asarray(variance, dtype=np.float64)
    if array.shape not in ((), probit.shape):
        raise ValueError(
            f"BinaryFactorEmission: noise_variance must be a number or {len(probit)} of them, "
            f"one a column of X; got shape {array.shape}."
        )
    array = np.where(probit, 1.0, array)
    if not np.all((array > 0.0) & (array < np.inf)):
        raise ValueError(
            f"BinaryFactorEmission: noise_variance must be positive and finite, got {variance!r}."
        )
    return array


def _check_amplitudes(variance: Any, probit: NDArray[np.bool_]) -> float | None:
    """Return the variance of amplitudes, None if it is drawn."""
    if variance != 0.0 and probit.any():
        raise ValueError(
            f"BinaryFactorEmission: amplitude_variance={variance!r}, but there are probit columns: "
            "amplitudes may vary where all columns are normal."
        )
    return None if isinstance(variance, str) else float(variance)


def check_outputs(values: NDArray[np.float64], probit: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return observations if they are what the columns can hold, or raise a ValueError."""
    if values.shape[1] != len(probit):
        raise ValueError(f"X must have {len(probit)} features, got {values.shape[1]}.")
    wrong = np.isinf(values) | (probit & ~np.isnan(values) & (values != 0.0) & (values != 1.0))
    if wrong.any():
        t, d = np.argwhere(wrong)[0]
        allowed = "0, 1" if probit[d] else "finite numbers"
        raise ValueError(f"X must hold {allowed} or NaN in column {d}; got {values[t, d]:g}.")
    return values


class BinaryFactorSampler:
    """Binary vectors of all states, weights and noise, as a part of a chain.

    Parameters
    ----------
    n_states, n_factors : int
    probit : (D,) array of bool
    weights : (F + 1, D) array or None
        None: drawn.
    weights_scale : float
    noise_variance : (D,) array or None
        None: drawn.
    noise_prior, activity_prior : (float, float)
    init : {"data", "random"}
    amplitudes : AmplitudeSampler or None
        None: they are all 1.

    Attributes
    ----------
    factors : (J, F) array of int8
        theta.
    weights : (F + 1, D) array
    precisions : (D,) array
        1 / sigma^2; 1 for probit columns.
    """

    def __init__(
        self,
        n_states: int,
        n_factors: int,
        probit: NDArray[np.bool_],
        weights: NDArray[np.float64] | None,
        weights_scale: float,
        noise_variance: NDArray[np.float64] | None,
        noise_prior: tuple[float, float],
        activity_prior: tuple[float, float],
        init: str,
        amplitudes: AmplitudeSampler | None = None,
    ):
        n_dims = len(probit)
        self.amplitudes = amplitudes
        self.probit = probit
        self.weights_scale = weights_scale
        self.noise_prior, self.activity_prior = noise_prior, activity_prior
        self.init = init
        self.draws_weights, self.draws_noise = weights is None, noise_variance is None
        self.factors = np.zeros((n_states, n_factors), dtype=np.int8)
        self.weights = np.zeros((n_factors + 1, n_dims)) if weights is None else weights
        self.precisions = np.ones(n_dims) if noise_variance is None else 1.0 / noise_variance
        self.sizes = np.zeros((n_states, n_dims))
        self.means = np.zeros((n_states, n_dims))
        self.squares = np.zeros(n_dims)
        self._totals = np.zeros((n_states, n_dims))

    def attach(self, values: NDArray[np.float64]) -> None:
        """Take the observations."""
        self._values = check_outputs(values, self.probit)
        if self.amplitudes is not None:
            self.amplitudes.attach(self._values)

    def detach(self) -> None:
        """Drop the observations."""
        del self._values
        if self.amplitudes is not None:
            self.amplitudes.detach()

    def start(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Write first states, and begin with vectors, weights and noise that fit them."""
        self._draw_idle_factors(np.ones(len(self.factors), dtype=np.bool_), rng)
        if self.init == "random":
            n_states = len(self.factors)
            states[:] = [int(next_double(rng) * n_states) for _ in range(len(states))]
        elif self.draws_weights:
            self._group_steps(states, rng)
        else:
            self._threshold_activities(states, rng)
        if self.draws_noise:
            self._begin_noise()
        filled = self._fill(states, rng)
        self._add_up(filled, states)
        self._draw_weights_and_noise(filled, states, rng)

    def draw(
        self,
        states: NDArray[np.int64],
        rng: NDArray[np.uint64],
        coupling: Coupling | None = None,
    ) -> None:
        """Draw vectors, then weights, then noise, given the states and transitions if coupled."""
        filled = self._fill(states, rng)
        self._add_up(filled, states)
        self._draw_factors(coupling, rng)
        self._draw_weights_and_noise(filled, states, rng)

    def write_log_obs(self, out: NDArray[np.float64]) -> None:
        """Write the log densities of all steps."""
        if self.amplitudes is not None:
            self.amplitudes.write_log_obs(self.factors, self.weights, self.precisions, out)
            return
        _weigh(self._values, self._centres(), self.precisions, self.probit, out)

    def log_evidence(self) -> float:
        """Return log p(x, vectors, weights, noise | z), mu summed out.

        Parameters cannot all be summed out, so that this is a joint density; that of precisions is
        of their logs.
        """
        log_prior = kernels.log_prior_of_factors(self.factors, *self.activity_prior)
        return float(log_prior + self.log_density())

    def log_density(self) -> float:
        """Return log p(x, weights, noise, variance of amplitudes | z, vectors)."""
        result = self._log_likelihood()
        if self.draws_weights:
            scaled = self.weights / self.weights_scale
            result -= 0.5 * float((scaled**2).sum())
            result -= scaled.size * (kernels.HALF_LOG_2_PI + np.log(self.weights_scale))
        if self.draws_noise:
            shape, rate = self.noise_prior
            scaled = rate * self.precisions[~self.probit]
            result += float((shape * np.log(scaled) - scaled - gammaln(shape)).sum())
        if self.amplitudes is not None:
            result += self.amplitudes.log_density()
        return float(result)

    def model(self) -> BinaryFactorModel:
        """Return the vectors last drawn, with means of weights and precisions given them.

        Those of weights are given the latent normals of probit columns, too, and those of
        precisions the weights last drawn: exact in turn, no draws of their own.
        """
        weights, variances = self.weights, 1.0 / self.precisions
        if self.draws_weights:
            weights = self._weights_given(np.zeros(self.weights.shape))
        if self.draws_noise:
            seen, residuals = self._noise()
            shape, rate = self.noise_prior
            variances = np.where(self.probit, 1.0, (rate + 0.5 * residuals) / (shape + 0.5 * seen))
        output = tuple(OUTPUTS[int(kind)] for kind in self.probit)
        spread = 0.0 if self.amplitudes is None else self.amplitudes.mean_variance()
        return BinaryFactorModel(self.factors.copy(), weights.copy(), variances, output, spread)

    def copy(self) -> Self:
        """Return the same parameters in arrays of their own."""
        other = object.__new__(type(self))
        other.__dict__ = {
            name: value.copy() if isinstance(value, np.ndarray) and name != "_values" else value
            for name, value in self.__dict__.items()
        }
        if self.amplitudes is not None:
            other.amplitudes = self.amplitudes.copy()
        return other

    @property
    def amplitude_variance(self) -> float:
        """tau^2, 0 if amplitudes are all 1."""
        return 0.0 if self.amplitudes is None else self.amplitudes.variance

    def _fill(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the observations; if amplitudes vary with draws in the place of missing values."""
        if self.amplitudes is None:
            return self._values
        return self.amplitudes.fill(states, self.factors, self.weights, self.precisions, rng)

    def _add_up(self, filled: NDArray[np.float64], states: NDArray[np.int64]) -> None:
        kernels.add_up_observed(filled, states, self.sizes, self.means, self.squares)
        if self.amplitudes is not None:
            self.amplitudes.add_up(filled, states, self.weights, self.precisions)

    def _centres(self) -> NDArray[np.float64]:
        """Return m, (D, J)."""
        centres = np.empty(self.sizes.shape[::-1])
        kernels.write_centres(self.factors, self.weights, centres)
        return centres

    def _noise(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the number of values of every column, and their squared distances from m.

        If amplitudes vary, from what they make of the factors.
        """
        if self.amplitudes is not None:
            return self.amplitudes.noise()
        centres = self._centres()
        seen, residuals = np.empty(len(self.probit)), np.empty(len(self.probit))
        kernels.add_up_noise(self.sizes, self.means, self.squares, centres, seen, residuals)
        return seen, residuals

    def _draw_factors(self, coupling: Coupling | None, rng: NDArray[np.uint64]) -> None:
        idle = ~self.sizes.any(axis=1)
        coupled = coupling is not None and coupling.decay > 0.0
        links, decay = _NO_LINKS, 0.0
        if coupling is not None and coupled:
            links, decay = make_links(coupling), coupling.decay
            start_links(links, self.factors, coupling.counts, decay)
            idle &= ~links.moves.any(axis=1)
        varied = self.amplitudes is not None
        seen = NO_PROJECTIONS if self.amplitudes is None else self.amplitudes.projections()
        n_states, n_factors = self.factors.shape
        kernels.draw_factors(
            self.factors, self.weights, self.sizes, self.means, self.precisions, self.probit,
            idle, *self.activity_prior, coupled, decay, links, varied, seen,
            np.empty((n_factors, n_states)), np.empty(n_factors),
            np.empty((2, len(self.probit))), np.empty(n_states),
            np.empty((2, n_factors), dtype=np.int64), rng,
        )  # fmt: skip

    def _draw_idle_factors(self, idle: NDArray[np.bool_], rng: NDArray[np.uint64]) -> None:
        """Draw the vectors of some states from the prior given those of the others."""
        spins = np.ascontiguousarray(2.0 * self.factors.T - 1.0)
        before = np.empty(len(idle))
        kernels.draw_idle_bits(
            spins, idle, *self.activity_prior, False, 0.0, _NO_LINKS, before, rng
        )
        self.factors[:] = spins.T > 0.0

    def _draw_weights_and_noise(
        self, filled: NDArray[np.float64], states: NDArray[np.int64], rng: NDArray[np.uint64]
    ) -> None:
        varying = self.amplitudes
        if varying is not None:
            varying.draw(filled, states, self.factors, self.weights, self.precisions, rng)
        if self.draws_weights:
            if varying is None:
                centres = self._centres()
                kernels.add_up_latent(
                    self.sizes, self.means, self.probit, centres, self._totals, rng
                )
            normals = np.empty(self.weights.shape)
            kernels.draw_normals(normals, rng)
            self.weights = self._weights_given(normals)
        if varying is not None:
            varying.add_up_residuals(filled, self.weights)
        if self.draws_noise:
            kernels.draw_precisions(
                *self._noise(), self.probit, *self.noise_prior, self.precisions, rng
            )
        if varying is not None:
            varying.add_up_likelihood(states, self.factors, self.weights, self.precisions)

    def _weights_given(self, normals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a draw of the weights made of standard normal draws; their mean if these are 0."""
        if self.amplitudes is not None:
            return self.amplitudes.weights_given(self.precisions, self.weights_scale, normals)
        weights = np.empty(normals.shape)
        factor = np.empty((len(normals), len(normals)))
        kernels.write_weights(
            self.factors, self.sizes, self._totals, self.precisions, self.weights_scale, normals,
            weights, factor,
        )  # fmt: skip
        return weights

    def _log_likelihood(self) -> float:
        """Return log p(y given the states last given and parameters)."""
        if self.amplitudes is not None:
            return self.amplitudes.log_likelihood
        centres = self._centres()
        return float(
            kernels.log_likelihood(
                self.sizes, self.means, self.probit, centres, self.precisions, *self._noise()
            )
        )

    def _begin_noise(self) -> None:
        """Begin with noise as wide as the columns."""
        spreads = _spreads(self._values)
        self.precisions[:] = np.where(self.probit, 1.0, 1.0 / spreads)

    def _threshold_activities(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Let the most frequent vectors of a fit by least squares be states.

        A step whose vector is none of them goes to the one at the least Hamming distance.
        """
        n_states = len(self.factors)
        vectors, labels, counts = np.unique(
            self._fit_activities() >= 0.5, axis=0, return_inverse=True, return_counts=True
        )
        order = np.argsort(-counts, kind="stable")[:n_states]
        chosen = vectors[order].astype(np.int8)
        distances = (vectors[:, np.newaxis] != chosen).sum(axis=2)
        states[:] = distances.argmin(axis=1)[labels.reshape(-1)]
        self.factors[: len(chosen)] = chosen
        self._draw_idle_factors(np.arange(n_states) >= len(chosen), rng)

    def _fit_activities(self) -> NDArray[np.float64]:
        """Return least squares of every step with activities in [0, 1], (N, F)."""
        scales = np.where(self.probit, 1.0, self.precisions)
        values = np.where(self.probit, 2.0 * self._values - 1.0, self._values)
        activities = np.empty((len(values), self.factors.shape[1]))
        starts.fit_activities(
            values, self.weights, scales, N_ROUNDS_OF_LEAST_SQUARES, activities,
            np.empty(len(scales)),
        )  # fmt: skip
        return activities

    def _group_steps(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Group similar steps, into at most as many groups as there are vectors."""
        n_states, n_factors = self.factors.shape
        n_groups = min(n_states, 2 ** min(n_factors, 62), len(states))
        n_dims = len(self.probit)
        starts.group_steps(
            self._values, 1.0 / _spreads(self._values), _centre(self._values),
            N_ROUNDS_OF_GROUPING, np.empty((n_groups, n_dims)), np.empty((n_groups, n_dims)),
            np.empty(len(states)), states, rng,
        )  # fmt: skip


def make_links(coupling: Coupling) -> Links:
    """Return room for what transitions tell of vectors; `start_links` fills it."""
    n_states = coupling.counts.shape[1]
    left = coupling.counts[:-1].sum(axis=1)
    square, row = (n_states, n_states), n_states
    return Links(
        log_rates=coupling.log_rates,
        log_rates_into=np.empty(square),
        moves=np.empty(square),
        left=left.astype(np.float64),
        busy=np.flatnonzero(left),
        log_totals=np.empty(row),
        distances=np.empty(row),
        terms=np.empty(row),
        terms_into=np.empty(row),
        change=np.zeros(row),
        growth=np.empty(row),
        steps=np.empty(row),
        row=np.empty(row),
        all_distances=np.empty(square),
    )


_NO_LINKS = make_links(Coupling(0.0, np.zeros((1, 0), dtype=np.int64), np.zeros((1, 0))))


def _centre(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means of the columns, 0 where all is missing."""
    seen = ~np.isnan(values)
    return np.where(seen, values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)


def _spreads(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return variances of the columns, 1 where they do not vary."""
    variances = _centre((values - _centre(values)) ** 2)
    return np.where(variances > 0.0, variances, 1.0)


def _weigh(
    values: NDArray[np.float64],
    centres: NDArray[np.float64],
    precisions: NDArray[np.float64],
    probit: NDArray[np.bool_],
    out: NDArray[np.float64],
) -> None:
    log_probs = np.empty((2, *centres.shape))
    kernels.weigh_factors(values, centres, precisions, probit, log_probs, out)


@dataclass(frozen=True, eq=False)
class BinaryFactorModel:
    """Binary factors with known parameters.

    Attributes
    ----------
    factors : (J, F) array of int8
        Vectors of the states.
    weights : (F + 1, D) array
        The background in row 0.
    noise_variance : (D,) array
        1 for probit columns.
    output : tuple of str
        "normal" or "probit", for every column.
    amplitude_variance : float, default=0.0
        tau^2.
    """

    factors: NDArray[np.int8]
    weights: NDArray[np.float64]
    noise_variance: NDArray[np.float64]
    output: tuple[str, ...]
    amplitude_variance: float = 0.0

    @property
    def means(self) -> NDArray[np.float64]:
        """(J, D) array: m, before Phi in probit columns."""
        return self.weights[0] + self.factors @ self.weights[1:]

    def log_obs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log density of every observation in every state, (N, J)."""
        out = np.empty((len(values), len(self.factors)))
        values = check_outputs(np.asarray(values, dtype=np.float64), self._probit)
        if self.amplitude_variance > 0.0:
            weigh_varying(
                values, find_patterns(values), self.factors, self.weights,
                1.0 / self.noise_variance, self.amplitude_variance, out,
            )  # fmt: skip
            return out
        centres = np.ascontiguousarray(self.means.T)
        _weigh(values, centres, 1.0 / self.noise_variance, self._probit, out)
        return out

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return an observation for each state, (N, D)."""
        means = self.means[states]
        if self.amplitude_variance > 0.0:
            deviations = rng.standard_normal((len(states), self.factors.shape[1]))
            deviations *= np.sqrt(self.amplitude_variance) * self.factors[states]
            means += deviations @ self.weights[1:]
        normal = means + np.sqrt(self.noise_variance) * rng.standard_normal(means.shape)
        return np.where(self._probit, rng.random(means.shape) < ndtr(means), normal)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""
        return replace(self, factors=self.factors[order])

    @property
    def _probit(self) -> NDArray[np.bool_]:
        return np.array([kind == "probit" for kind in self.output])
