"""Transitions of a row with their rates summed out, and draws of transitions given states.

Against quadrature and Monte Carlo."""

import numpy as np
import pytest
from exact.oracles.batch_means import check_chain
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature
from exact.sequence.chains import stream
from scipy import integrate, special

from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._kernels import _transitions as kernels

ROWS = {
    "similar": ([3, 0, 1], [0.5, 1.2, 0.3], [1.0, 0.3, 0.05]),
    "far": ([0, 2, 2], [0.8, 0.4, 2.0], [1e-3, 1e-5, 1e-4]),
    "one state": ([0, 5, 0], [0.1, 0.2, 0.3], [0.5, 0.9, 0.1]),
    "small shapes": ([1, 0, 2], [0.02, 0.03, 0.01], [0.7, 1.0, 0.2]),
    "no self-transitions": ([0, 2, 1], [0.7, 0.4, 0.6], [0.0, 1.0, 0.3]),
}


def log_probability(counts, shapes, phi):
    with np.errstate(divide="ignore"):
        return kernels.log_probability_of_row(
            np.array(counts), np.array(shapes), np.log(phi), np.empty(len(counts))
        )


@pytest.mark.parametrize("case", ROWS)
def test_by_quadrature(case):
    """Times u drawn given rates have density u^(n - 1) exp(-u T); rates are summed out first."""
    counts, shapes, phi = map(np.array, ROWS[case])
    n = counts.sum()

    def density(log_u):
        terms = (shapes + counts) * np.logaddexp(0.0, np.log(np.maximum(phi, 1e-300)) + log_u)
        return np.exp(n * log_u - terms.sum())

    integral, _ = integrate.quad(density, -40.0, 1500.0, points=[0, 5, 20, 100], limit=5000)
    gammas = special.gammaln(shapes + counts) - special.gammaln(shapes)
    expected = np.log(integral) - special.gammaln(n) + gammas.sum()
    expected += special.xlogy(counts, phi).sum()
    np.testing.assert_allclose(log_probability(counts, shapes, phi), expected, rtol=1e-6)


@pytest.mark.parametrize("case", ["similar", "far", "one state", "no self-transitions"])
def test_by_monte_carlo(case):
    """The mean of prod P^n over rates drawn from their prior; |z| < 5."""
    counts, shapes, phi = map(np.array, ROWS[case])
    rates = np.random.default_rng(0).gamma(shapes, size=(400_000, len(shapes))) * phi
    values = ((rates / rates.sum(axis=1, keepdims=True)) ** counts).prod(axis=1)
    error = values.std() / np.sqrt(len(values))
    assert abs(np.exp(log_probability(counts, shapes, phi)) - values.mean()) < 5.0 * error


def test_without_similarities():
    """A Dirichlet-multinomial, and its limit from similarities close to 1."""
    for shapes in ([0.5, 1.0, 2.0], [1e-5, 2e-5, 1e-6]):
        shapes = np.array(shapes)
        counts = np.array([2, 0, 3])
        n, mass = counts.sum(), shapes.sum()
        expected = (special.gammaln(shapes + counts) - special.gammaln(shapes)).sum()
        expected += special.gammaln(mass) - special.gammaln(mass + n)
        np.testing.assert_allclose(log_probability(counts, shapes, np.ones(3)), expected)
        near = log_probability(counts, shapes, np.full(3, 1.0 - 1e-13))
        np.testing.assert_allclose(near, expected, rtol=1e-8)


def test_no_transitions():
    assert log_probability([0, 0], [0.1, 1.0], [0.5, 0.5]) == 0.0


def test_changes_of_state_are_counted():
    """Empty sequences, steps between sequences and stays in a state are not counted."""
    ptr, states = np.array([0, 5, 5, 6, 9]), np.array([0, 0, 2, 2, 0, 1, 1, 1, 2])
    counts = np.full((4, 3), 7)
    kernels.count_transitions(ptr, states, counts, False)
    assert counts.tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0], [1, 2, 0]]


# --- draws given the states of two states --------------------------------------------------

STATES = ([0, 0, 1, 0, 0, 0, 1, 1], [1, 0, 0], [0, 1])
LAST = ([0, 0, 0, 1], [0, 0, 1])  # state 1 is never left
PHI = ((0.9, 0.1), (0.02, 0.5))
PRIOR = 2.0, 1.0
SHARE_PRIOR = 2.0, 1.5

# States, alpha, kappa and gamma (None: drawn), phi.
CASES = {
    "plain": (STATES, None, 0.0, None, None),
    "similar": (STATES, None, 0.0, None, PHI),
    "sticky": (STATES, None, 2.5, None, None),
    "sticky, similar": (STATES, None, 2.5, 1.0, PHI),
    "stickiness": (STATES, None, None, None, PHI),
    "stickiness, sum fixed": (STATES, 6.0, None, 1.0, None),
    "never left": (LAST, None, 0.0, None, PHI),
    "no self-transitions": ((0, 1, 0, 1, 0), None, 0.0, None, "no self-transitions"),
}
N_DRAWS, N_FIRST = 24_000, 100


def count(sequences, self_transitions):
    """Return transitions by row, those to first states last."""
    counts = np.zeros((3, 2), dtype=int)
    for states in sequences:
        for before, after in zip([2, *states[:-1]], states, strict=True):
            counts[before, after] += self_transitions or before != after
    return counts


def log_beta_probability(n, a, phi):
    """Return log p(transitions of a row), its two rates Gamma(a, 1) summed out. P is Beta
    distributed before it is weighed with phi: an integral that is hypergeometric."""
    if min(phi) == 0.0 or sum(n) == 0:
        return 0.0  # one transition is possible, or there was none
    first = int(phi[0] > phi[1])  # the less similar: 0 <= 1 - phi / phi' < 1
    n, a, phi = (n[first], n[1 - first]), (a[first], a[1 - first]), (phi[first], phi[1 - first])
    ratio = phi[0] / phi[1]
    result = special.betaln(a[0] + n[0], a[1] + n[1]) - special.betaln(*a) + n[0] * np.log(ratio)
    b, c = a[0] + n[0], a[0] + a[1] + sum(n)
    return result + np.log(special.hyp2f1(sum(n), b, c, 1.0 - ratio))


def expect(counts, alpha, kappa, gamma, phi):
    """Return posterior means of alpha, kappa, gamma, beta_0, its square, P_00 and P_10."""
    alphas = ([alpha], [1.0]) if alpha is not None else gamma_quadrature(*PRIOR)
    shares = ([0.0], [1.0]) if kappa is not None else beta_quadrature(*SHARE_PRIOR, 20)
    gammas = ([gamma], [1.0]) if gamma is not None else gamma_quadrature(*PRIOR)
    gammas = np.array(gammas)[:, :, np.newaxis]
    alphas = np.array(alphas)[:, :, np.newaxis, np.newaxis]
    shares = np.array(shares)[:, :, np.newaxis]
    log_odds = np.arange(-36.0, 36.1, 0.4)
    betas = special.expit(log_odds), special.expit(-log_odds)
    a, k = alphas[0] * (1.0 - shares[0]), alphas[0] * shares[0]
    if kappa is not None:
        k = kappa + 0.0 * k

    def row(j, n):
        shapes = tuple(a * betas[i] + (k if i == j else 0.0) for i in range(2))
        return log_beta_probability(n, shapes, phi[j])

    rows = [row(j, counts[j]) for j in range(3)]
    # Rows do not depend on gamma, which is integrated out of the prior of beta.
    half = 0.5 * gammas[0]
    log_prior = half * np.log(betas[0] * betas[1]) - special.betaln(half, half)
    prior = np.exp(log_prior) * gammas[1]
    mean_gamma = (prior * gammas[0]).sum(axis=0) / prior.sum(axis=0)
    weights = np.exp(sum(rows)) * prior.sum(axis=0) * alphas[1] * shares[1]
    p = [np.exp(row(j, counts[j] + [1, 0]) - rows[j]) for j in range(2)]
    if phi[0][0] == 0.0:
        p = [0.0, 1.0]
    figures = a, k, mean_gamma, betas[0], betas[0] ** 2, *p
    return [(weights * figure).sum() / weights.sum() for figure in figures]


@pytest.mark.parametrize("case", CASES)
def test_posterior(case):
    sequences, alpha, kappa, gamma, phi = CASES[case]
    self_transitions = phi != "no self-transitions"
    if not self_transitions:
        sequences, phi = [sequences], ((0.0, 1.0), (1.0, 0.0))
    phi = np.vstack([np.ones((2, 2)) if phi is None else phi, np.ones((1, 2))])
    ptr = np.cumsum([0, *map(len, sequences)])
    states, rng = np.concatenate(sequences), stream()
    priors = TransitionPriors(gamma, PRIOR, alpha, PRIOR, kappa, SHARE_PRIOR)
    transitions = Transitions(2, priors, rng, self_transitions=self_transitions)
    if self_transitions:
        transitions.log_similarity[:] = np.log(phi)
    expected = expect(count(sequences, self_transitions), alpha, kappa, gamma, phi)
    for _ in range(N_FIRST):
        transitions.draw(ptr, states, rng)

    def step():
        transitions.draw(ptr, states, rng)
        beta, p = transitions.weights[0], transitions.matrix()[1]
        concentrations = transitions.alpha, transitions.kappa, transitions.gamma
        return np.array([*concentrations, beta, beta**2, p[0, 0], p[1, 0]])

    check_chain(step, lambda draws: [(draws, expected, case)], N_DRAWS)
