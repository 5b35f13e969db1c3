"""Two states whose similarity comes from their own observations: everything summed or integrated.

beta ~ Dirichlet(gamma / 2, gamma / 2); pi_jj' ~ Gamma(alpha beta_j' + kappa [j = j'], 1), first
states from rates Gamma(alpha beta_j', 1); transitions have probabilities pi_jj' phi_jj' over their
sum, with phi_01 = phi_10 = s = exp(-lambda d(theta_0, theta_1)) and phi_00 = phi_11 = 1. A state
has one parameter, theta_j, and one column of observations.

The states z are enumerated. Their probability given s is integrated over beta and the rates once
for a range of log s, and interpolated; theta_0, theta_1, lambda, and a concentration that the prior
of theta may have, are on grids.
"""

from collections.abc import Callable
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature
from scipy import stats
from scipy.interpolate import CubicSpline
from scipy.special import betaln


class Kind(NamedTuple):
    """A distribution of observations with one parameter.

    log_obs(x, theta), and log_affinity(theta, theta') = log int sqrt(f f') dx.
    """

    log_obs: Callable
    log_affinity: Callable


def _log_affinity_of_bits(p, q):
    return np.log(np.sqrt(p * q) + np.sqrt((1.0 - p) * (1.0 - q)))


BITS = Kind(lambda x, p: np.log(np.where(x == 1, p, 1.0 - p)), _log_affinity_of_bits)
COUNTS = Kind(
    lambda x, m: stats.poisson(m).logpmf(x),
    lambda m, n: -0.5 * (np.sqrt(m) - np.sqrt(n)) ** 2,
)


def hellinger(log_affinity):
    """Return sqrt(1 - BC)."""
    return np.sqrt(np.maximum(1.0 - np.exp(log_affinity), 0.0))


def bhattacharyya(log_affinity):
    """Return -log BC."""
    return -log_affinity


class Problem(NamedTuple):
    """What is known; `decay` None: drawn under `decay_prior`."""

    sequences: tuple
    kind: Kind
    metric: Callable = hellinger
    decay: float | None = None
    decay_prior: tuple[float, float] = (2.0, 1.0)
    alpha: float = 1.5
    gamma: float = 2.0
    kappa: float = 0.0
    self_transitions: bool = True
    allowed: tuple[tuple[int, int], ...] = ((1, 1), (1, 1), (1, 1))
    """0: impossible, with phi = 0; the last row: first states."""
    prior: tuple[float, float] = (0.8, 1.2)
    """Of Beta or Gamma(shape, rate) parameters."""
    concentration_prior: tuple[float, float] | None = None
    """theta ~ Beta(A / 2, A / 2) with A ~ Gamma."""


def _count(sequences, states, *, self_transitions):
    """Return first states, (2,), and transitions, (2, 2); None where a segment may not go on."""
    first, counts, t = np.zeros(2, int), np.zeros((2, 2), int), 0
    for x in sequences:
        z = states[t : t + len(x)]
        t += len(x)
        first[z[0]] += 1
        for a, b in pairwise(z):
            if self_transitions or a != b:
                counts[a, b] += 1
    return first, counts


def _row(shapes, counts, log_phi):
    """Return E[prod_k (r_k phi_k / sum r phi)^n_k], r ~ Dirichlet(shapes).

    By trapezoids in logit r.

    Parameters
    ----------
    shapes : (B, 2) array
    counts : (2,) array
    log_phi : (S, 2) array

    Returns
    -------
    (S, B) array
    """
    if counts.sum() == 0:
        return np.ones((len(log_phi), len(shapes)))
    x = np.linspace(-150.0, 150.0, 3001)
    log_r = np.stack([-np.logaddexp(0.0, -x), -np.logaddexp(0.0, x)])
    density = shapes @ log_r - betaln(shapes[:, 0], shapes[:, 1])[:, None]
    away = x + (log_phi[:, 0] - log_phi[:, 1])[:, None]
    logs = -counts[0] * np.logaddexp(0.0, -away) - counts[1] * np.logaddexp(0.0, away)
    return np.exp(logs) @ np.exp(density).T * (x[1] - x[0])


class StateProbabilities:
    """p(z given s) for all z, with rates and beta integrated out."""

    def __init__(self, problem, lowest):
        self.log_s = np.linspace(lowest, 0.0, 160)
        weights, mass = beta_quadrature(0.5 * problem.gamma, 0.5 * problem.gamma, 40)
        beta = np.column_stack([weights, 1.0 - weights])
        n = sum(map(len, problem.sequences))
        self.states = np.array(list(product((0, 1), repeat=n)))
        rows, table = {}, []
        zero = np.zeros_like(self.log_s)
        for z in self.states:
            first, counts = _count(problem.sequences, z, self_transitions=problem.self_transitions)
            shapes = problem.alpha * beta
            moves = np.vstack([counts, first])
            total = np.full(len(beta), float(not moves[np.array(problem.allowed) == 0].any()))
            if all(problem.allowed[2]):
                total *= np.exp(
                    betaln(shapes[:, 0] + first[0], shapes[:, 1] + first[1])
                    - betaln(shapes[:, 0], shapes[:, 1])
                )
            for j in (0, 1):
                if not problem.self_transitions or not all(problem.allowed[j]):
                    continue  # a state can be followed by one state only
                key = (j, *counts[j])
                if key not in rows:
                    own = shapes + problem.kappa * np.eye(2)[j]
                    log_phi = np.column_stack([zero if k == j else self.log_s for k in (0, 1)])
                    rows[key] = _row(own, counts[j], log_phi)
                total = total * rows[key]
            table.append(np.broadcast_to(total, (len(zero), len(beta))) @ mass)
        self.spline = CubicSpline(self.log_s, np.array(table).T)

    def __call__(self, log_s):
        """Return p(z given s), (..., Z)."""
        return self.spline(log_s)


def _theta_grid(problem, step):
    """Return theta, and the weights of theta and A, (A, n), without the prior of A; A and weights.

    Steps are those of log theta, or of its log odds.
    """
    if problem.kind is COUNTS:
        theta, weights = gamma_quadrature(*problem.prior, step=step)
        keep = weights > 1e-12
        return theta[keep], weights[None, keep], np.ones(1), np.ones(1)
    x = np.arange(-33.0, 33.01, step)
    log_p, log_q = -np.logaddexp(0.0, -x), -np.logaddexp(0.0, x)
    p, q = (np.array([c]) for c in problem.prior)
    a, mass = np.ones(1), np.ones(1)
    if problem.concentration_prior is not None:
        a, mass = gamma_quadrature(*problem.concentration_prior, step=0.25)
        keep = (mass > 1e-9) & (a > 0.02)
        a, mass = a[keep], mass[keep]
        p = q = 0.5 * a
    logs = np.outer(p, log_p) + np.outer(q, log_q) - betaln(p, q)[:, None]
    weights = step * np.exp(logs)
    keep = weights.max(axis=0) > 1e-12
    return np.exp(log_p)[keep], weights[:, keep], a, mass


def expect(problem):
    """Return posterior means of what `figures` returns.

    The Hellinger distance has an edge where both parameters are equal, so that the error of the
    trapezoids falls only with the square of their step: two steps tell what it is.
    """
    longest = max(map(len, problem.sequences))
    lowest = -40.0 if problem.decay is None else -problem.decay * 40.0
    probabilities = StateProbabilities(problem, max(lowest, -15.0 * longest))
    coarse, fine = (_integrate(problem, probabilities, step) for step in (0.5, 0.25))
    sums = (4.0 * fine - coarse) / 3.0
    return sums[1:] / sums[0]


def _integrate(problem, probabilities, step):
    """Return p(x), and its integral with each figure."""
    theta, weights, a, mass = _theta_grid(problem, step)
    distances = problem.metric(problem.kind.log_affinity(theta[:, None], theta))
    decays, decay_mass = np.array([problem.decay]), np.ones(1)
    if problem.decay is None:
        decays, decay_mass = gamma_quadrature(*problem.decay_prior, step=0.25)
        keep = decay_mass > 1e-9
        decays, decay_mass = decays[keep], decay_mass[keep]
    x = np.concatenate([np.asarray(s) for s in problem.sequences])
    log_obs = problem.kind.log_obs(x[:, None], theta)  # (T, n)
    states = probabilities.states
    prior = np.einsum("an,am,a->nma", weights, weights, mass)
    flat = prior.sum(axis=2)
    log_a = prior @ np.log(a) / np.maximum(flat, 1e-300)
    # Of each z, the sum over lambda of the prior times p(z), and that times phi and lambda.
    means = np.zeros((3, len(states), *distances.shape))
    for decay, own in zip(decays, decay_mass, strict=True):
        log_s = np.maximum(-decay * distances, probabilities.log_s[0])
        part = own * np.moveaxis(probabilities(log_s), 2, 0)
        means += [part, part * np.exp(-decay * distances), part * decay]
    sums = 0.0
    for i, z in enumerate(states):
        if not means[0, i].any():
            continue  # an impossible path
        joint = flat * np.exp((1 - z) @ log_obs)[:, None] * np.exp(z @ log_obs)
        phi, decay = means[1, i] / means[0, i], means[2, i] / means[0, i]
        values = 1.0, *figures(z, theta[:, None], theta[None], decay, phi, log_a)
        sums = sums + np.array([np.sum(joint * means[0, i] * value) for value in values])
    return sums


def figures(z, theta, other, decay, phi, log_concentration=0.0):
    """Return what is compared: broadcast over theta of state 0 and the other's."""
    same = z[:, None] == z
    pairs = [float(same[t, u]) for t in range(len(z)) for u in range(t)]
    return (
        *pairs,
        float(len(set(z.tolist()))),
        theta,
        np.abs(theta - other),
        phi,
        phi * same[0, 1],
        np.where(z[0], other, theta),
        decay,
        log_concentration,
    )
