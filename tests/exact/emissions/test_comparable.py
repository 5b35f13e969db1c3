"""What emissions say of their drawn parameters: their density, and how alike two states are."""

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means, check_chain
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats
from unit.emissions.helpers import stream

from skdp.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
    MultinomialEmission,
    PoissonEmission,
    StudentTEmission,
)
from skdp.emissions._common._protocol import CollapsedEmission, ComparableEmission
from skdp.emissions._kernels import _discrete as kernels

N_STEPS, N_STATES = 25, 4
RNG = np.random.default_rng(3)
NUMBERS = RNG.normal(size=(N_STEPS, 3)) @ [[2.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.5]]
COUNTS = RNG.poisson(3.0, (N_STEPS, 2)).astype(float)
BITS = (RNG.random((N_STEPS, 3)) < 0.4).astype(float)
SYMBOLS = RNG.integers(5, size=(N_STEPS, 1)).astype(float)
STATES = RNG.integers(N_STATES - 1, size=N_STEPS)  # the last one has none
MIXED = IndependentEmissions(
    [("level", GaussianEmission("diag"), [0]), ("events", "poisson", 1), ("kind", "categorical", 2)]
)
PARTS = {
    "full": (GaussianEmission(degrees_of_freedom_prior=5.0), NUMBERS),
    "diag": (GaussianEmission("diag"), NUMBERS),
    "one column": (GaussianEmission(degrees_of_freedom_prior=3.0), NUMBERS[:, :1]),
    "poisson": (PoissonEmission(2.0, 0.5), COUNTS),
    "dispersed": (PoissonEmission(2.0, 0.5, 0.7), COUNTS),
    "bernoulli": (BernoulliEmission((0.5, 1.5)), BITS),
    "categorical": (CategoricalEmission(5, [0.5, 1.0, 0.2, 2.0, 0.3]), SYMBOLS),
    "multinomial": (MultinomialEmission([0.5, 2.0]), COUNTS),
    "mixed": (MIXED, np.column_stack([NUMBERS[:, 0], COUNTS[:, 0], SYMBOLS[:, 0]])),
}

every_part = pytest.mark.parametrize("name", PARTS)


def make_sampler(name):
    emission, values = PARTS[name]
    sampler = emission.make_sampler(values, N_STATES)
    sampler.attach(values)
    sampler.draw(STATES, stream(5))
    return sampler, values


def log_affinity(name, known, j, k):
    """Return log BC of two states of a known model, by another way."""
    if name in ("full", "one column"):
        first, second = known.covariances[j], known.covariances[k]
        mean, away = 0.5 * (first + second), known.means[j] - known.means[k]
        log_dets = [np.linalg.slogdet(matrix)[1] for matrix in (first, second, mean)]
        square = away @ np.linalg.solve(mean, away)
        return 0.25 * (log_dets[0] + log_dets[1]) - 0.5 * log_dets[2] - 0.125 * square
    if name == "diag":
        total, deviations = 0.0, np.sqrt(known.covariances.reshape(len(known.means), -1))
        for d in range(known.means.shape[1]):
            laws = [stats.norm(known.means[i, d], deviations[i, d]) for i in (j, k)]
            ends = min(x.ppf(1e-200) for x in laws), max(x.isf(1e-200) for x in laws)
            x, step = np.linspace(*ends, 20_001, retstep=True)
            total += special.logsumexp(0.5 * (laws[0].logpdf(x) + laws[1].logpdf(x))) + np.log(step)
        return total
    if name == "poisson":
        x = np.arange(400)
        logs = [stats.poisson(m).logpmf(x[:, None]) for m in known.intensities[[j, k]]]
        return np.log(np.exp(0.5 * (logs[0] + logs[1])).sum(axis=0)).sum()
    if name == "dispersed":
        x, p = np.arange(4000), 1.0 / (1.0 + 0.7 * known.intensities)
        logs = [stats.nbinom(1.0 / 0.7, own).logpmf(x[:, None]) for own in p[[j, k]]]
        return np.log(np.exp(0.5 * (logs[0] + logs[1])).sum(axis=0)).sum()
    if name == "bernoulli":
        p, q = known.probs[j], known.probs[k]
        return np.log(np.sqrt(p * q) + np.sqrt((1 - p) * (1 - q))).sum()
    if name in ("categorical", "multinomial"):
        return np.log(np.sqrt(known.probs[j] * known.probs[k]).sum())
    parts = known.models
    kinds = {"level": "diag", "events": "poisson", "kind": "categorical"}
    return sum(log_affinity(kind, parts[part], j, k) for part, kind in kinds.items())


@every_part
def test_log_affinity(name):
    sampler, _ = make_sampler(name)
    parameters = sampler.parameters()
    twice = tuple(np.concatenate([array, array[:2]]) for array in parameters)
    found, known = sampler.log_affinity(twice), sampler.known_model(twice)
    n = N_STATES + 2
    expected = [[log_affinity(name, known, j, k) for k in range(n)] for j in range(n)]
    assert_allclose(found, expected, rtol=1e-7, atol=1e-10)
    assert_allclose(found[:2], found[-2:], rtol=1e-9, atol=1e-12)


def log_density_of_parameters(sampler, name):
    """Return log p(parameters) under the prior, of logarithms and log odds of some of them."""
    known = sampler.known_model(sampler.parameters())
    if name in ("full", "one column", "diag"):
        mean, precision, dof, scale = sampler.prior
        n_blocks, width = mean.shape
        total = 0.0
        for j in range(N_STATES):
            for b in range(n_blocks):
                mu = known.means[j].reshape(n_blocks, width)[b]
                sigma = known.covariances[j].reshape(-1, width, width)[b]
                inverse = np.linalg.inv(sigma)
                total += stats.multivariate_normal(mean[b], sigma / precision).logpdf(mu)
                total += stats.wishart(dof, np.linalg.inv(scale[b])).logpdf(inverse)
        return total
    if name == "poisson":
        law = stats.gamma(sampler.shapes, scale=1.0 / sampler.rates)
        return np.sum(law.logpdf(known.intensities) + np.log(known.intensities))
    if name == "dispersed":
        law = stats.betaprime(sampler.shapes, sampler.rates / 0.7 + 1.0, scale=1.0 / 0.7)
        return np.sum(law.logpdf(known.intensities) + np.log(known.intensities))
    if name == "bernoulli":
        law = stats.beta(*sampler.prior)
        return np.sum(law.logpdf(known.probs) + np.log(known.probs * (1.0 - known.probs)))
    if name in ("categorical", "multinomial"):
        probs = known.probs / known.probs.sum(axis=1, keepdims=True)
        logs = [stats.dirichlet(sampler.prior).logpdf(p) for p in probs]
        return np.sum(logs) + np.log(probs).sum()
    kinds = "diag", "poisson", "categorical"
    pairs = zip(sampler.samplers, kinds, strict=True)
    return sum(log_density_of_parameters(part, kind) for part, kind in pairs)


@every_part
def test_log_posterior_is_what_bayes_says(name):
    """log p(x given z) + log p(parameters given x, z) = log p(x given both) + log p(parameters).

    The known model has the densities that were drawn.
    """
    sampler, values = make_sampler(name)
    log_obs = np.empty((N_STEPS, N_STATES))
    sampler.write_log_obs(log_obs)
    known = sampler.known_model(sampler.parameters())
    assert_allclose(known.log_obs(values), log_obs, rtol=1e-8, atol=1e-8)
    expected = log_obs[np.arange(N_STEPS), STATES].sum() + log_density_of_parameters(sampler, name)
    found = sampler.log_evidence() + sampler.log_posterior()
    if name == "mixed":  # the density of the concentration is that of neither
        part = sampler.samplers[2]
        shape, rate = part.concentration_prior
        a = part.concentration
        expected += stats.gamma(shape, scale=1.0 / rate).logpdf(a) + np.log(a)
    assert_allclose(found, expected, rtol=1e-9)


@every_part
def test_parameters_are_views(name):
    sampler, _ = make_sampler(name)
    saved = tuple(array.copy() for array in sampler.parameters())
    before, after = np.empty((2, N_STEPS, N_STATES))
    sampler.write_log_obs(before)
    sampler.draw(STATES, stream(6))
    for array, own in zip(sampler.parameters(), saved, strict=True):
        assert len(array) == N_STATES
        array[1] = own[1]
    sampler.write_log_obs(after)
    assert_array_equal(after[:, 1], before[:, 1])
    assert np.all(after[:, 0] != before[:, 0])


def test_tiny_probabilities_have_an_affinity():
    """Logs of -10,000 underflow in a sum of products."""
    sampler, _ = make_sampler("categorical")
    logs = np.log1p(-np.array([0.0, 0.0, 0.5, 0.5, 0.5])) - [[0, 1e4, 0, 0, 0], [1e4, 0, 0, 0, 0]]
    logs[0, 2:], logs[1, 2:] = -3e4, -2e4
    found = sampler.log_affinity((logs,))
    assert_allclose(found[0, 1], -5e3 + np.log(2.0), rtol=1e-12)


def test_student_t_states_are_not_comparable():
    sampler = StudentTEmission().make_sampler(NUMBERS, N_STATES)
    assert isinstance(sampler, CollapsedEmission)
    assert not isinstance(sampler, ComparableEmission)
    mixed = IndependentEmissions([("a", "student_t", [0, 1]), ("b", "gaussian", [2])])
    assert not isinstance(mixed.make_sampler(NUMBERS, N_STATES), ComparableEmission)


# The concentration that states share


def test_moves_of_the_concentration_keep_the_joint():
    """A ~ p(A given counts) and theta given A stay what they are, and are reversible.

    Draws are independent: each starts from a fresh draw of both.
    """
    values = np.array([[0.0], [0.0], [1.0], [0.0], [2.0], [1.0]])
    states = np.array([0, 0, 0, 1, 1, 1])
    emission = CategoricalEmission(3, concentration_prior=(2.0, 0.5), base=[0.5, 0.3, 0.2])
    sampler, rng = emission.make_sampler(values, 2), stream(8)
    sampler.attach(values)

    def figures():
        a, log_theta = sampler.concentration, sampler.log_probs
        theta, log_a = np.exp(log_theta), np.log(a)
        return np.array([log_a, theta[0, 0], theta[1, 1], a * theta[0, 0], log_theta[2, 0] * log_a])

    def step():
        for _ in range(5):
            sampler.draw(states, rng)
        before, old = figures(), sampler.prior
        assert sampler.move_shared(rng) is old
        assert_allclose(np.exp(sampler.log_probs).sum(axis=0), 1.0, rtol=1e-12)
        return before, figures()

    def compare(before, after):
        yield after - before, np.zeros(5), "figures", 1e-9
        cross = before[:, 0] * after[:, 1] - after[:, 0] * before[:, 1]
        yield cross, 0.0, "A and theta swapped with their successors", 1e-9

    before, after = check_chain(step, compare, 4_000)
    # Theta moves little where A does: the correlation of log theta is high.
    assert np.corrcoef(before[:, 1], after[:, 1])[0, 1] > 0.5


@pytest.mark.parametrize("growth", [3.0, 0.2])
def test_probabilities_follow_the_prior(growth):
    """Dirichlet draws become those of another prior."""
    counts = np.tile(np.array([[0], [1], [3]]), (1, 20_000))
    before = np.array([0.4, 1.1, 0.3])
    after, sums = growth * before, np.empty((2, counts.shape[1]))
    log_probs, rng = np.empty(counts.shape), stream(2)
    kernels.draw_log_probs(counts, before, log_probs, sums, rng)
    old = np.exp(log_probs)
    kernels.move_log_probs(counts, before, after, log_probs, sums, rng)
    theta, shapes = np.exp(log_probs), after + counts[:, 0]
    law = stats.dirichlet(shapes)
    assert_means(theta.T, law.mean(), "probabilities")
    assert_means((theta.T - law.mean()) ** 2, law.var(), "their variances")
    # log theta of the whole is as expected, too: E log theta = digamma(a) - digamma(sum).
    logs = special.digamma(shapes) - special.digamma(shapes.sum())
    assert_means(log_probs.T, logs, "logarithms")
    assert np.corrcoef(old[2], theta[2])[0, 1] > 0.4


def test_a_held_or_known_concentration_does_not_move():
    sampler, _ = make_sampler("categorical")
    rng = stream(1)
    assert sampler.move_shared(rng) is None
    drawn = CategoricalEmission(5).make_sampler(SYMBOLS, N_STATES)
    drawn.held = True
    assert drawn.move_shared(rng) is None
