"""The weak limit of the HDP-HMM with similarities: states enumerated, transitions by Monte Carlo.

beta ~ Dirichlet(gamma / J, ...), pi_jj' ~ Gamma(alpha beta_j' + kappa [j = j'], 1), first states
from the rates pi_0j' ~ Gamma(alpha beta_j', 1); the probability of a transition is pi_jj' phi_jj'
over its sum. States emit symbols with probabilities theta_j ~ Dirichlet(prior). Transitions are
drawn from their prior, and the probability of every sequence of states is averaged over the draws.
Some transitions may be impossible, with phi = 0, and some states may be known.
The sum A of the parameters of theta_j may have a Gamma prior; it is integrated out by quadrature.

Or states emit Gaussian vectors, with a normal-inverse-Wishart prior, such that depend on those
before them, or anything whose evidence is given.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import product

import numpy as np
from exact.oracles import autoregression
from exact.oracles.quadrature import gamma_quadrature
from scipy import special, stats


@dataclass(frozen=True)
class NormalInverseWishart:
    """Sigma ~ IW(freedom, scale), mu ~ N(mean, Sigma / precision)."""

    mean: tuple[float, ...]
    precision: float
    freedom: float
    scale: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Problem:
    sequences: tuple[tuple, ...]  # of symbols or, with a Gaussian prior, vectors
    n_states: int = 2
    n_symbols: int = 2
    prior: float = 0.5
    base: tuple[float, ...] | None = None  # of the symbols; None: uniform
    concentration_prior: tuple[float, float] | None = None  # None: A is n_symbols times the prior
    alpha: float | None = 1.5  # None: drawn, or alpha + kappa is, from the prior below
    gamma: float | None = 2.0
    kappa: float | None = 0.0  # None: kappa / (alpha + kappa) is drawn
    alpha_prior: tuple[float, float] = (2.0, 1.0)
    gamma_prior: tuple[float, float] = (2.0, 1.0)
    share_prior: tuple[float, float] = (1.0, 1.0)
    phi: tuple[tuple[float, ...], ...] | None = None
    allowed: tuple[tuple[int, ...], ...] | None = None  # 0: impossible; the last row: first states
    known: tuple[tuple[int, ...], ...] | None = None  # the known states of the steps; -1: unknown
    gaussian: NormalInverseWishart | None = None
    regression: autoregression.MatrixNormalInverseWishart | None = None
    starting: autoregression.Normal | None = None  # of the first values, if one is missing (NaN)
    evidence: Callable[[tuple], float] | None = None  # log density of the observations of a state

    @property
    def n_lags(self):
        """Number of earlier vectors on which one depends."""
        return (len(self.regression.precision) - 1) // len(self.regression.scale)


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
    """Return the log density of the vectors of a state; NaN is missing.

    Of the last vector the t density has a margin of what was observed. Where others, too, were
    observed in part, in all but one entry, that entry is integrated out numerically.
    """
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


def log_evidence(problem, states):
    """Return log p(x | z): a Dirichlet-multinomial for each state, or what else is given."""
    if problem.starting is not None:
        return autoregression.log_evidence_with_gaps(
            problem.sequences, states, problem.n_lags, problem.regression, problem.starting
        )
    if problem.regression is not None:
        pairs = autoregression.pairs(problem.sequences, problem.n_lags)
        known = [[] for _ in range(problem.n_states)]
        for pair, j in zip(pairs, states, strict=True):
            if pair is not None:
                known[j].append(pair)
        return sum(autoregression.log_evidence(own, problem.regression) for own in known)
    evidence = problem.evidence
    if problem.gaussian is not None:
        evidence = partial(log_gaussian_evidence, prior=problem.gaussian)
    if evidence is not None:
        vectors = tuple(x for sequence in problem.sequences for x in sequence)
        return sum(
            evidence(tuple(x for x, z in zip(vectors, states, strict=True) if z == j))
            for j in range(problem.n_states)
        )
    if problem.concentration_prior is not None:
        return special.logsumexp(concentration_posterior(problem, states)[1])
    return log_evidence_of_symbols(problem, states, problem.n_symbols * problem.prior)


def log_evidence_of_symbols(problem, states, concentration):
    """Return log p(x | z, A), elementwise for an array of concentrations."""
    symbols = [x for sequence in problem.sequences for x in sequence]
    n_symbols = problem.n_symbols
    base = np.full(n_symbols, 1.0 / n_symbols) if problem.base is None else np.array(problem.base)
    result = 0.0
    for j in range(problem.n_states):
        n = 0
        counts = [0] * n_symbols
        for x, z in zip(symbols, states, strict=True):
            if z == j:  # its probability given those before it
                share = concentration * base[x] + counts[x]
                result = result + np.log(share / (concentration + n))
                counts[x] += 1
                n += 1
    return result


def concentration_posterior(problem, states):
    """Return concentrations, and log p(x, A | z) at each times the step of the quadrature."""
    concentrations, weights = gamma_quadrature(*problem.concentration_prior, step=0.1)
    logs = log_evidence_of_symbols(problem, states, concentrations)
    return concentrations, logs + np.log(weights)


def mean_log_concentration(problem, states):
    """Return E[log A given x and z], 0 where A is not drawn."""
    if problem.concentration_prior is None:
        return 0.0
    concentrations, logs = concentration_posterior(problem, states)
    return float(np.exp(logs - special.logsumexp(logs)) @ np.log(concentrations))


def count(problem, states):
    """Return transitions by row, that of first states last."""
    n_states = problem.n_states
    counts = np.zeros((n_states + 1, n_states), dtype=int)
    position = 0
    for sequence in problem.sequences:
        before = n_states
        for _ in sequence:
            counts[before, states[position]] += 1
            before = states[position]
            position += 1
    return counts


def draw_log_gamma(shape, rng):
    """Return logs of Gamma(shape, 1) draws, for small shapes too."""
    return np.log(rng.gamma(shape + 1.0)) + np.log(rng.random(shape.shape)) / shape


def draw_prior(problem, n_draws, rng):
    """Return alpha, kappa, gamma and log P, (n_draws, J + 1, J), of draws from the prior."""
    n_states = problem.n_states

    def draw(value, prior):
        shape, rate = prior
        return np.full(n_draws, value) if value is not None else rng.gamma(shape, 1 / rate, n_draws)

    gamma = draw(problem.gamma, problem.gamma_prior)
    alpha = draw(problem.alpha, problem.alpha_prior)
    if problem.kappa is None:
        share = rng.beta(*problem.share_prior, n_draws)
        alpha, kappa = alpha * (1.0 - share), alpha * share
    else:
        kappa = np.full(n_draws, problem.kappa)
    log_beta = draw_log_gamma(np.repeat(gamma[:, None] / n_states, n_states, axis=1), rng)
    log_beta -= special.logsumexp(log_beta, axis=1, keepdims=True)
    shapes = np.repeat((alpha[:, None] * np.exp(log_beta))[:, None], n_states + 1, axis=1)
    states = np.arange(n_states)
    shapes[:, states, states] += kappa[:, None]
    log_rates = draw_log_gamma(np.maximum(shapes, 1e-300), rng)
    with np.errstate(divide="ignore"):
        if problem.phi is not None:
            log_rates[:, :n_states] += np.log(problem.phi)
        if problem.allowed is not None:
            log_rates += np.log(problem.allowed)
    return alpha, kappa, gamma, log_rates - special.logsumexp(log_rates, axis=2, keepdims=True)


@dataclass
class Expected:
    """Posterior means of functions of states and parameters, and their Monte Carlo errors."""

    mean: dict[str, np.ndarray]
    error: dict[str, np.ndarray]


def expect(problem, n_draws=2_000_000, chunk=20_000, seed=0):
    """Return co-assignment probabilities, number of used states, alpha, kappa, gamma, log A."""
    length = sum(map(len, problem.sequences))
    all_states = np.array(list(product(range(problem.n_states), repeat=length)))
    if problem.known is not None:
        known = np.concatenate(problem.known)
        all_states = all_states[np.all((known < 0) | (known == all_states), axis=1)]
    evidence = np.exp([log_evidence(problem, states) for states in all_states])
    counts = np.array([count(problem, states).ravel() for states in all_states])
    kinds, kind = np.unique(counts, axis=0, return_inverse=True)
    kind = kind.ravel()
    together = (all_states[:, :, None] == all_states[:, None, :]).astype(float)
    used = np.array([len(set(states)) for states in all_states.tolist()], dtype=float)
    # By kind of counts: the evidence, and the evidence times what is asked for.
    logs = [mean_log_concentration(problem, states) for states in all_states]
    functions = np.column_stack([np.ones(len(used)), used, together.reshape(len(used), -1), logs])
    weights = np.zeros((len(kinds), functions.shape[1]))
    np.add.at(weights, kind, evidence[:, None] * functions)
    rng = np.random.default_rng(seed)
    sums = []
    for _ in range(n_draws // chunk):
        alpha, kappa, gamma, log_p = draw_prior(problem, chunk, rng)
        log_p = np.maximum(log_p.reshape(chunk, -1), -700.0)
        values = np.exp(log_p @ kinds.T) @ weights  # (chunk, functions)
        more = values[:, :1] * np.column_stack([alpha, kappa, gamma])
        sums.append(np.concatenate([values, more], axis=1).mean(axis=0))
    sums = np.array(sums)
    ratio = sums.mean(axis=0) / sums[:, 0].mean()
    # Delta method for a ratio of means.
    error = np.std(sums - ratio * sums[:, :1], axis=0) / sums[:, 0].mean() / math.sqrt(len(sums))

    def split(x):
        n = length * length
        return {
            "used": x[1], "together": x[2 : 2 + n].reshape(length, length),
            "log_concentration": x[2 + n],
            "alpha": x[3 + n], "kappa": x[4 + n], "gamma": x[5 + n],
        }  # fmt: skip

    return Expected(split(ratio), split(error))
