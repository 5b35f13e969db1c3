"""The weak limit of the HDP-HMM: states enumerated, rates integrated out, the rest averaged.

beta ~ Dirichlet(gamma / J, ...), pi_jj' ~ Gamma(alpha beta_j' + kappa [j = j'], 1), first states
from the rates pi_0j' ~ Gamma(alpha beta_j', 1); the probability of a transition is pi_jj' phi_jj'
over its sum. Transitions may be impossible, with phi = 0, and states may be known. With durations
a state is left for another one, phi_jj = 0, and lasts D = min(1 + K, D_max) steps.

Rates are integrated out through a time for each state. Concentrations, stickiness, beta and what
similarities depend on, if they are not given, are points of a Sobol sequence under their prior."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from exact.oracles.hmm import runs
from scipy import special, stats
from scipy.stats import qmc

LOG_TIMES = np.arange(-40.0, 100.0, 0.5)


class Durations(NamedTuple):
    """D_max, a quadrature of the prior of a state's parameter, and P(K = k) at its points."""

    longest: int
    grid: np.ndarray
    weights: np.ndarray
    pmf: Callable[[int], np.ndarray]


def poisson_pmf(k, omega):
    return np.exp(k * np.log(omega) - omega - math.lgamma(k + 1.0))


def negative_binomial_pmf(k, r, p):
    return math.comb(k + r - 1, k) * (1.0 - p) ** r * p**k


class Latent(NamedTuple):
    """Parameters that are averaged over. From points (n, n_dims) of the unit cube `draw` makes log
    phi, (n, J, J), or 0; log p(sequences given states), (n,), as a function of them, or 0; and
    figures of parameters, (n, F)."""

    n_dims: int
    draw: Callable


NOTHING = Latent(0, lambda points: (0.0, lambda states: 0.0, points))


@dataclass(frozen=True)
class Problem:
    sequences: tuple[tuple, ...]  # of rows, which are tuples
    evidence: Callable[[tuple, tuple], float] = lambda sequences, states: 0.0  # log p(x given z)
    n_states: int = 2
    alpha: float | None = 1.5  # None: drawn, or alpha + kappa is, from the prior below
    gamma: float | None = 2.0
    kappa: float | None = 0.0  # None: kappa / (alpha + kappa) is drawn
    alpha_prior: tuple[float, float] = (2.0, 1.0)
    gamma_prior: tuple[float, float] = (2.0, 1.0)
    share_prior: tuple[float, float] = (1.0, 1.0)
    phi: tuple[tuple[float, ...], ...] | None = None
    allowed: tuple[tuple[int, ...], ...] | None = None  # 0: impossible; the last row: first states
    known: tuple[tuple[int, ...], ...] | None = None  # the known states of the steps; -1: unknown
    durations: Durations | None = None
    latent: Latent = NOTHING


def of_rows(log_density):
    """Return the evidence of observations of which those of different states are independent."""
    log_density = cache(log_density)

    def evidence(sequences, states):
        rows = [x for sequence in sequences for x in sequence]
        own = [tuple(x for x, z in zip(rows, states, strict=True) if z == j) for j in set(states)]
        return sum(map(log_density, own))

    return evidence


@dataclass(frozen=True)
class NormalInverseWishart:
    """Sigma ~ IW(freedom, scale), mu ~ N(mean, Sigma / precision)."""

    mean: tuple[float, ...]
    precision: float
    freedom: float
    scale: tuple[tuple[float, ...], ...]


def predict(vectors, prior):
    """Return mean, shape and degrees of freedom of the next vector, multivariate t."""
    mean, scale = np.array(prior.mean), np.array(prior.scale)
    precision, freedom = prior.precision, prior.freedom
    for x in vectors:  # one by one
        scale = scale + precision / (precision + 1) * np.outer(x - mean, x - mean)
        mean = (precision * mean + x) / (precision + 1)
        precision, freedom = precision + 1, freedom + 1
    df = freedom - len(mean) + 1
    return mean, scale * (precision + 1) / (precision * df), df


@cache
def log_gaussian_evidence(vectors, prior):
    """Return the log density of the vectors of a state; NaN is missing. Of the last vector the t
    density has a margin of what was observed. Where others, too, were observed in part, in all but
    one entry, that entry is integrated out numerically."""
    vectors = [np.array(x) for x in vectors if not np.isnan(x).all()]
    vectors.sort(key=lambda x: np.isnan(x).any())
    for i, x in enumerate(vectors[:-1]):
        if np.isnan(x).any():
            (missing,) = np.flatnonzero(np.isnan(x))
            grid = np.linspace(-8.0, 8.0, 401)  # of asinh(x)
            terms = []
            for value in np.sinh(grid):
                x[missing] = value
                filled = tuple(map(tuple, [*vectors[:i], x, *vectors[i + 1 :]]))
                terms.append(log_gaussian_evidence(filled, prior))
            return special.logsumexp(terms, b=np.cosh(grid) * (grid[1] - grid[0]))
    result = 0.0
    for i, x in enumerate(vectors):
        mean, shape, df = predict(vectors[:i], prior)
        seen = ~np.isnan(x)
        result += stats.multivariate_t.logpdf(x[seen], mean[seen], shape[np.ix_(seen, seen)], df=df)
    return result


def log_probability_of_row(counts, shapes, log_phi):
    """Return log E[prod_k P_k^n_k], (U, n), with P_k = r_k phi_k / sum r phi, r_k ~ Gamma(a_k, 1),
    for counts (U, K), shapes (n, K), and log phi (K,) or (n, K). 1 / T^n is the integral of
    u^(n - 1) exp(-u T) / Gamma(n), and rates are independent given u: a sum over all log u in steps
    of .5, the error of which is about 1e-10."""
    totals, possible = counts.sum(axis=1), np.isfinite(log_phi)
    log_phi = np.where(possible, log_phi, 0.0)
    logs = np.logaddexp(0.0, LOG_TIMES[:, np.newaxis] + log_phi[..., np.newaxis, :])
    own = np.where(possible, shapes, 0.0)[:, np.newaxis]
    base = np.exp(-(logs * own).sum(axis=-1))  # (n, V)
    base[:, -1] /= -np.expm1(-0.5 * own.sum(axis=(1, 2)))  # later terms are a geometric series
    each = np.exp(LOG_TIMES[:, np.newaxis] * totals - logs @ counts.T)  # (V, U) or (n, V, U)
    integrals = 0.5 * base @ each if each.ndim == 2 else 0.5 * (base[:, np.newaxis] @ each)[:, 0]
    result = np.log(integrals.T) - special.gammaln(np.maximum(totals, 1))[:, np.newaxis]
    for k in range(counts.shape[1]):
        n = counts[:, k, np.newaxis]
        result += special.gammaln(shapes[:, k] + n) - special.gammaln(shapes[:, k])
        result += n * log_phi[..., k]
    result[counts @ ~possible.T > 0] = -np.inf
    result[totals == 0] = 0.0
    return result


def split(sequences, states):
    """Return the states of each sequence."""
    ends = np.cumsum([len(sequence) for sequence in sequences])[:-1]
    return [part.tolist() for part in np.split(np.array(states), ends)]


def possible_states(problem):
    """Return all sequences of states that agree with the known ones."""
    length = sum(map(len, problem.sequences))
    known = [-1] * length if problem.known is None else np.concatenate(problem.known).tolist()
    return list(product(*(range(problem.n_states) if j < 0 else (j,) for j in known)))


def count(problem, states):
    """Return transitions by row, that of first states last; changes only, with durations."""
    counts = np.zeros((problem.n_states + 1, problem.n_states), dtype=int)
    for part in split(problem.sequences, states):
        if problem.durations is not None:
            part = [j for j, _ in runs(part)]
        for before, after in zip([problem.n_states, *part[:-1]], part, strict=True):
            counts[before, after] += 1
    return counts


def length_likelihood(sequences, durations, n_states):
    """Return p(lengths of all segments of state j) for every j and point of the grid. The mass
    beyond the longest duration is there."""
    longest, grid, _, pmf = durations
    tables = [pmf(k) for k in range(longest)]
    at_least = [1.0 - sum(tables[:k], np.zeros_like(grid)) for k in range(longest)]
    result = np.ones((n_states, len(grid)))
    for segments in map(runs, sequences):
        for i, (j, d) in enumerate(segments):
            if d > longest:
                return np.zeros_like(result)
            cut = i + 1 == len(segments) or d == longest
            result[j] *= (at_least if cut else tables)[d - 1]
    return result


def weigh_lengths(problem, states):
    """Return p(lengths given the states), and the mean parameter of durations given both."""
    if problem.durations is None:
        return 1.0, 0.0
    _, grid, weights, _ = problem.durations
    parts = split(problem.sequences, states)
    likelihood = length_likelihood(parts, problem.durations, problem.n_states)
    by_state = np.maximum(likelihood @ weights, 1e-300)
    return by_state.prod(), (likelihood @ (weights * grid) / by_state).mean()


def describe(problem, states):
    """Return the numbers of used states and of segments, and which pairs of steps share a state."""
    segments = sum(len(runs(part)) for part in split(problem.sequences, states))
    pairs = np.equal.outer(states, states)[np.triu_indices(len(states), 1)]
    return np.array([len(set(states)), segments, *pairs], dtype=float)


def conditions(states):
    """Return where figures of parameters are compared: everywhere, if z_0 = z_1, if z_0 = 0."""
    return np.array([1.0, states[0] == states[1], states[0] == 0])


def gamma_quantile(u, shape, rate):
    return special.gammaincinv(shape, u) / rate


def draw_prior(problem, points):
    """Return alpha, kappa, gamma, (n,), and beta, (n, J), at points of the cube, (n, J + 2)."""
    points = iter(points.T)

    def draw(value, prior):
        u = next(points)
        return np.full(len(u), value) if value is not None else gamma_quantile(u, *prior)

    gamma = draw(problem.gamma, problem.gamma_prior)
    alpha = draw(problem.alpha, problem.alpha_prior)
    share = special.betaincinv(*problem.share_prior, next(points))
    kappa = np.full(len(alpha), problem.kappa or 0.0)
    if problem.kappa is None:
        alpha, kappa = alpha * (1.0 - share), alpha * share
    rest, beta, own = np.ones(len(gamma)), [], gamma / problem.n_states
    for n_left in range(problem.n_states - 1, 0, -1):
        v = special.betaincinv(own, n_left * own, next(points))
        beta.append(rest * v)
        rest = rest * (1.0 - v)
    return alpha, kappa, gamma, np.maximum(np.column_stack([*beta, rest]), 1e-290)


class Means(NamedTuple):
    log_evidence: float
    of_states: np.ndarray  # of `describe`
    duration: float  # of the mean parameter of durations
    parameters: np.ndarray  # (3, F): alpha, kappa, gamma, latent figures, times `conditions`


def expect(problem, log2_points=12):
    """Return log p(sequences), and posterior means."""
    n_states, n_prior = problem.n_states, 2 + problem.n_states
    n_latent, draw_latent = problem.latent
    states = possible_states(problem)
    counts = np.array([count(problem, z) for z in states])
    kinds = [np.unique(counts[:, j], axis=0, return_inverse=True) for j in range(n_states + 1)]
    lengths, durations = zip(*(weigh_lengths(problem, z) for z in states), strict=True)
    log_phi = np.zeros((n_states + 1, n_states))
    with np.errstate(divide="ignore"):
        fixed = np.log(lengths) + [problem.evidence(problem.sequences, z) for z in states]
        log_phi[:-1] += 0.0 if problem.phi is None else np.log(problem.phi)
        log_phi += 0.0 if problem.allowed is None else np.log(problem.allowed)
    if problem.durations is not None:
        np.fill_diagonal(log_phi[:-1], -np.inf)
    points = qmc.Sobol(n_prior + n_latent, scramble=False).random_base2(log2_points)
    points += 0.5 / len(points)
    by_states, parameters = 0.0, 0.0
    for some in np.array_split(points, max(1, len(points) // 1024)):
        alpha, kappa, gamma, beta = draw_prior(problem, some[:, :n_prior])
        log_similarity, log_density, figures = draw_latent(some[:, n_prior:])
        logs = np.array(
            [x + log_density(z) + 0.0 * alpha for x, z in zip(fixed, states, strict=True)]
        )
        for j, (each, kind) in enumerate(kinds):
            shapes, own = alpha[:, np.newaxis] * beta, log_phi[j]
            if j < n_states:
                shapes[:, j] += kappa
                own = own + (log_similarity[:, j] if np.ndim(log_similarity) else 0.0)
            logs += log_probability_of_row(each, shapes, own)[kind.ravel()]
        p = np.exp(logs)
        by_states = by_states + p.sum(axis=1)
        parameters = parameters + p @ np.column_stack([alpha, kappa, gamma, figures])
    total = by_states.sum()
    return Means(
        np.log(total / len(points)),
        by_states @ [describe(problem, z) for z in states] / total,
        by_states @ durations / total,
        np.array([conditions(z) for z in states]).T @ parameters / total,
    )
