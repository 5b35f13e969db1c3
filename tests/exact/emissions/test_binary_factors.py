"""Binary vectors, weights, noise and decay against enumeration and quadrature.

Runs of a chain in 40 batches; |z| < 5 fails a right sampler once in 80,000 comparisons (see
`exact.oracles.batch_means`). There are 1,200: a false alarm for one choice of the seeds in 65.
"""

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means
from exact.oracles.binary_factors import (
    Problem,
    configurations,
    expect,
    log_coupling,
    log_likelihood,
    log_prior,
)
from scipy import special, stats

from skdp._random import make_seed_sequence, make_stream
from skdp.emissions import _kernels_factors as kernels
from skdp.emissions import _kernels_links as linking
from skdp.emissions._binary_factor_part import make_links
from skdp.emissions._binary_factors import BinaryFactorEmission
from skdp.emissions._protocol import Coupling
from skdp.sequence._similarities._laplacian import LaplacianSimilarity

NAN = np.nan
N_DRAWS = 20_000

DATA = {
    "values": ((0.4, 1.1), (0.7, 0.2), (1.3, -0.3), (0.1, 0.9)),
    "states": (0, 0, 1, 0),
    "weights": ((0.1, -0.2), (0.8, 0.5), (-0.4, 0.7)),
    "precisions": (1.5, 0.7),
    "probit": (False, False),
}
MIXED = {
    **DATA,
    "values": ((0.4, 1.0), (0.7, 0.0), (1.3, 1.0), (0.1, 1.0)),
    "precisions": (1.5, 1.0),
    "probit": (False, True),
}
MISSING = {**DATA, "values": ((0.4, NAN), (NAN, 0.2), (NAN, -0.3), (0.1, 0.9))}
VARIED = {**DATA, "amplitude_variance": 0.6}
THREE_FACTORS = {**DATA, "weights": (*DATA["weights"], (0.6, 0.6)), "activity_prior": (0.7, 1.6)}
ONE_FACTOR = {
    "values": ((1.0,), (0.0,), (1.0,), (1.0,)),
    "states": (0, 1, 1, 0),
    "weights": ((-0.6,), (1.9,)),
    "precisions": (1.0,),
    "probit": (True,),
}
TWO_STATES = {
    "decay": 0.6,
    "counts": ((1, 2), (1, 6), (0, 1)),
    "log_rates": ((-0.3, 1.2), (1.0, -0.4), (0.0, 0.0)),
}
# A sum of rates that is all but one term, and another whose largest term is far from the diagonal.
TINY_RATES = {
    "decay": 0.8,
    "counts": ((0, 2), (1, 1), (0, 1)),
    "log_rates": ((-1000.0, -3.0), (-1000.0, -1002.0), (0.0, -1000.0)),
}
GREAT_DECAY = {
    "decay": 400.0,
    "counts": ((1, 0), (0, 0), (0, 1)),
    "log_rates": ((-401.0, -1.0), (0.0, -1000.0), (0.0, 0.0)),
}
THREE_STATES = {
    "n_states": 3,
    "decay": 0.6,
    "counts": ((1, 1, 0), (1, 6, 0), (0, 0, 0), (0, 1, 0)),
    "log_rates": ((0.3, -1.2, 1.5), (-2.0, 0.4, 0.9), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
}
FOUR_STATES = {
    "n_states": 4,
    "decay": 1.3,
    "counts": ((1, 3, 0, 0), (2, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 1, 0, 0)),
    "log_rates": (
        (0.3, -1.2, 1.5, 0.1), (-2.0, 0.4, 0.9, -1000.0), (0.0,) * 4, (0.0,) * 4, (0.0,) * 4,
    ),
}  # fmt: skip

CASES = {
    "normal": Problem(**DATA),
    "idle state": Problem(**DATA, n_states=3, activity_prior=(0.4, 1.5)),
    "missing": Problem(**MISSING),
    "three factors": Problem(**THREE_FACTORS),
    "probit": Problem(**ONE_FACTOR),
    "both": Problem(**MIXED),
    "amplitudes": Problem(**VARIED, n_states=3),
    "amplitudes, missing": Problem(**MISSING, amplitude_variance=0.6),
    "amplitudes, three factors": Problem(**THREE_FACTORS, amplitude_variance=0.3),
    "coupled": Problem(**DATA, **TWO_STATES),
    "coupled, amplitudes": Problem(**THREE_FACTORS, **TWO_STATES, amplitude_variance=0.6),
    "coupled, both": Problem(**MIXED, **TWO_STATES),
    "coupled, missing": Problem(**MISSING, **TWO_STATES),
    "coupled, three factors": Problem(**THREE_FACTORS, **TWO_STATES),
    "coupled, probit": Problem(**ONE_FACTOR, **TWO_STATES),
    "coupled, tiny rates": Problem(**THREE_FACTORS, **TINY_RATES),
    "coupled, great decay": Problem(**DATA, **GREAT_DECAY),
    "coupled, idle state": Problem(**DATA, **THREE_STATES),
    "coupled, two idle states": Problem(**DATA, **FOUR_STATES, activity_prior=(0.4, 1.5)),
}


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def make_sampler(problem, **parameters):
    values = np.array(problem.values)
    parameters = {
        "weights": problem.weights,
        "noise_variance": "auto" if all(problem.probit) else 1.0 / np.array(problem.precisions),
        **parameters,
    }
    sampler = BinaryFactorEmission(
        len(problem.weights) - 1,
        output=["probit" if p else "normal" for p in problem.probit],
        activity_prior=problem.activity_prior,
        **{"amplitude_variance": problem.amplitude_variance, **parameters},
    ).make_sampler(values, problem.n_states)
    sampler.attach(values)
    return sampler


def make_coupling(problem):
    if problem.decay is None:
        return None
    return Coupling(problem.decay, np.array(problem.counts), np.array(problem.log_rates))


@pytest.mark.parametrize("case", CASES)
def test_vectors(case):
    problem = CASES[case]
    expected = expect(problem)
    sampler, rng = make_sampler(problem), stream()
    states, coupling = np.array(problem.states), make_coupling(problem)
    powers = 2 ** np.arange(sampler.factors.size)[::-1]
    codes = np.empty(N_DRAWS, dtype=int)
    for i in range(N_DRAWS):
        sampler.draw(states, rng, coupling)
        codes[i] = powers @ sampler.factors.reshape(-1)
    assert_means(codes[:, np.newaxis] == np.arange(len(expected)), expected)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("decay", [0.3, 5.0, 80.0, 900.0])
def test_change_of_a_vector(scale, decay):
    """Log ratios of likelihoods, and sums of rates after many changes, agree to 1e-9."""
    draws = np.random.default_rng(1)
    n_states, n_factors = 6, 9
    factors = draws.integers(2, size=(n_states, n_factors)).astype(np.int8)
    counts = draws.poisson(1.0, size=(n_states + 1, n_states))
    counts[2] = 0
    log_rates = -scale * draws.exponential(size=counts.shape)
    links = make_links(Coupling(decay, counts, log_rates))
    linking.start_links(links, factors, counts, decay)
    for _ in range(100):
        j, changed = draws.integers(n_states), factors.copy()
        on, off = np.flatnonzero(factors[j]), np.flatnonzero(1 - factors[j])
        size = 2 if len(on) and len(off) and draws.random() < 0.5 else 1
        flips = [draws.choice(on), draws.choice(off)] if size == 2 else draws.integers(n_factors)
        changed[j, flips] ^= 1
        before, after = (np.abs(x - x[j]).sum(axis=1) for x in (factors, changed))
        links.change[:] = after - before
        spins = np.ascontiguousarray(2.0 * factors.T - 1.0)
        linking.turn_to(links, spins, j, decay)
        found = linking.weigh_change(links, spins, j, size, decay)
        old = log_coupling(factors, decay, counts, log_rates)
        new = log_coupling(changed, decay, counts, log_rates)
        assert found == pytest.approx(new - old, rel=1e-11, abs=1e-11 * abs(old) + 1e-9)
        if draws.random() < 0.5:
            linking.make_change(links, spins, j, decay)
            factors = changed
    distances = np.abs(factors[:, np.newaxis].astype(int) - factors).sum(axis=2)
    totals = special.logsumexp(log_rates[:-1] - decay * distances, axis=1)
    np.testing.assert_allclose(links.log_totals[links.busy], totals[links.busy], rtol=1e-12)


X = (
    (0.4, 1.0), (0.7, NAN), (1.3, 0.0), (0.1, 1.0), (NAN, 1.0), (1.9, 0.0), (1.7, 0.0), (0.2, 1.0),
)  # fmt: skip
STATES = (0, 0, 1, 0, 1, 2, 2, 0)
FACTORS = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int8)
SCALE, SHAPE, RATE = 1.3, 1.5, 0.7


def test_weights_and_noise():
    """Given vectors: tau by quadrature, weights given tau by the normal posterior."""
    problem = Problem(X, STATES, ((0.0,) * 2,) * 3, (1.0, 1.0), (False, False), n_states=3)
    sampler = make_sampler(
        problem, weights=None, weights_scale=SCALE, noise_variance="auto", noise_prior=(SHAPE, RATE)
    )
    states, rng = np.array(STATES), stream(1)
    sampler.start(states, rng)
    states[:] = STATES
    sampler.factors[:] = FACTORS
    sampler._draw_factors = lambda coupling, rng: None
    draws = []
    for _ in range(N_DRAWS):
        sampler.draw(states, rng)
        precisions, weights = sampler.precisions, sampler.weights
        draws.append(np.vstack([weights, weights**2, precisions, np.log(precisions)]))
    expected = []
    for d in range(2):
        column = np.array(X)[:, d]
        seen = ~np.isnan(column)
        design = np.column_stack([np.ones(seen.sum()), FACTORS[states[seen]]])
        y = column[seen]
        log_tau = np.linspace(-6.0, 5.0, 800)
        log_density, moments = [], []
        for x in log_tau:
            tau = np.exp(x)
            covariance = np.eye(len(y)) / tau + SCALE**2 * design @ design.T
            log_density.append(
                stats.multivariate_normal.logpdf(y, cov=covariance) + SHAPE * x - RATE * tau
            )
            posterior = np.linalg.inv(tau * design.T @ design + np.eye(3) / SCALE**2)
            mean = tau * posterior @ design.T @ y
            moments.append([*mean, *(mean**2 + np.diag(posterior)), tau, x])
        expected.append(special.softmax(log_density) @ np.array(moments))
    assert_means(draws, np.transpose(expected))


def test_amplitudes():
    """Weights and both variances given vectors: one column, one factor, a grid of all four."""
    values, states = ((0.9,), (2.1,), (NAN,), (-0.2,), (3.1,)), (0, 0, 0, 1, 0)
    problem = Problem(values, states, ((0.0,),) * 2, (1.0,), (False,))
    sampler = make_sampler(
        problem, weights=None, weights_scale=SCALE, noise_variance="auto",
        noise_prior=(3.0, 2.0), amplitude_variance="auto", amplitude_prior=(4.0, 2.0),
    )  # fmt: skip
    z, rng = np.array(states), stream(6)
    sampler.start(z, rng)
    z[:] = states
    sampler.factors[:] = [[1], [0]]
    sampler._draw_factors = lambda coupling, rng: None
    draws = []
    for _ in range(2 * N_DRAWS):
        sampler.draw(z, rng)
        (w,), (v,) = sampler.weights
        logs = -np.log(sampler.precisions[0]), np.log(sampler.amplitude_variance)
        figures = np.array([w, v, *logs])
        draws.append([*figures, *figures**2, w * v, v * figures[3], figures[2] * figures[3]])
    axes = [np.linspace(-5.0, 5.0, 50)] * 2 + [np.linspace(-4.0, 4.0, 40)] * 2
    w, v, noise, variance = np.meshgrid(*axes, indexing="ij")
    log_joint = -0.5 * (w**2 + v**2) / SCALE**2
    log_joint += -3.0 * noise - 2.0 * np.exp(-noise) - 4.0 * variance - 2.0 * np.exp(-variance)
    for (y,), j in zip(values, states, strict=True):
        if not np.isnan(y):
            on = 1.0 - j
            total = np.exp(noise) + on * v**2 * np.exp(variance)
            log_joint -= 0.5 * (np.log(total) + (y - w - on * v) ** 2 / total)
    probs = special.softmax(log_joint)
    figures = [w, v, noise, variance]
    figures += [x**2 for x in figures] + [w * v, v * variance, noise * variance]
    assert_means(draws, np.array([(probs * x).sum() for x in figures]))


def test_probit_weights():
    """Vectors enumerated, weights by quadrature."""
    problem = Problem(
        ((1.0,), (0.0,), (1.0,), (1.0,), (0.0,)), (0, 1, 1, 0, 1), ((0.0,),) * 2, (1.0,), (True,)
    )
    sampler = make_sampler(problem, weights=None, weights_scale=SCALE)
    states, rng = np.array(problem.states), stream(2)
    sampler.start(states, rng)
    states[:] = problem.states
    draws = []
    for _ in range(4 * N_DRAWS):
        sampler.draw(states, rng)
        (w,), (v,) = sampler.weights
        (a,), (b,) = sampler.factors
        draws.append([a == b, w, w**2, v**2, a * v, b * v, a * v**2])
    nodes, node_weights = special.roots_hermitenorm(60)
    total, expected = 0.0, 0.0
    for factors in configurations(2, 1):
        prior = np.exp(log_prior(factors, 1.0, 1.0))
        (a,), (b,) = factors
        w, v = (SCALE * x for x in np.meshgrid(nodes, nodes, indexing="ij"))
        joint = prior * np.outer(node_weights, node_weights)
        joint *= stats.norm.cdf(w + a * v) ** 2
        joint *= stats.norm.cdf(w + b * v) * stats.norm.cdf(-w - b * v) ** 2
        figures = np.array([(a == b) * v**0, w, w**2, v**2, a * v, b * v, a * v**2])
        total += joint.sum()
        expected += (figures * joint).sum(axis=(1, 2))
    assert_means(draws, expected / total)


@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.3, 2.0)])
@pytest.mark.parametrize("case", ["coupled", "coupled, tiny rates", "coupled, two idle states"])
def test_decay(case, prior):
    """lambda given transitions against quadrature."""
    problem = CASES[case]
    counts, log_rates = np.array(problem.counts), np.array(problem.log_rates)
    emission = make_sampler(problem)
    n_states, n_factors = emission.factors.shape
    emission.factors[:] = np.random.default_rng(3).integers(2, size=(n_states, n_factors))
    similarity, rng = LaplacianSimilarity(decay_prior=prior).make_sampler(n_states), stream(3)
    similarity.start(emission, rng)
    draws = []
    for _ in range(N_DRAWS):
        similarity.draw(counts, log_rates, emission, rng)
        x = similarity.decay
        draws.append([x, x**2, np.log(x)])
    grid = np.linspace(np.log(1e-12), np.log(300.0), 2000)
    shape, rate = prior
    log_density = [
        shape * x - rate * np.exp(x) + log_coupling(emission.factors, np.exp(x), counts, log_rates)
        for x in grid
    ]
    figures = np.array([np.exp(grid), np.exp(2 * grid), grid])
    assert_means(draws, figures @ special.softmax(log_density))


@pytest.mark.parametrize("case", ["both", "missing", "three factors", "amplitudes, missing"])
def test_log_evidence(case):
    """log p(x, vectors, weights, noise, variance of amplitudes | z) to 1e-10."""
    problem = CASES[case]
    varied = problem.amplitude_variance > 0.0
    sampler = make_sampler(
        problem, weights=None, weights_scale=SCALE, noise_variance="auto",
        noise_prior=(SHAPE, RATE), amplitude_variance="auto" if varied else 0.0,
        amplitude_prior=(RATE, SHAPE),
    )  # fmt: skip
    states, rng = np.array(problem.states), stream(4)
    sampler.start(states, rng)
    sampler.draw(states, rng)
    expected = log_prior(sampler.factors, *problem.activity_prior)
    expected += log_likelihood(
        problem.values, states, sampler.factors, sampler.weights, sampler.precisions,
        problem.probit, sampler.amplitude_variance,
    )  # fmt: skip
    if varied:
        precision = 1.0 / sampler.amplitude_variance
        expected += stats.gamma.logpdf(precision, RATE, scale=1.0 / SHAPE) + np.log(precision)
    expected += stats.norm.logpdf(sampler.weights, 0.0, SCALE).sum()
    for tau in sampler.precisions[~np.array(problem.probit)]:
        expected += stats.gamma.logpdf(tau, SHAPE, scale=1.0 / RATE) + np.log(tau)
    assert sampler.log_evidence() == pytest.approx(expected, rel=1e-10)


def test_log_normal_cdf():
    x = np.concatenate([np.linspace(-60.0, 9.0, 1000), [-1e4, -1e150]])
    found = [kernels.log_normal_cdf(value) for value in x]
    np.testing.assert_allclose(found, special.log_ndtr(x), rtol=2e-13, atol=1e-16)


@pytest.mark.parametrize("bound", [-2.0, 0.3, 0.6, 3.0, 20.0])
def test_normal_above(bound):
    """Shares below quantiles; |z| < 5."""
    rng, n = stream(5), 20_000
    draws = np.array([kernels.draw_normal_above(bound, rng) for _ in range(n)])
    assert draws.min() > bound
    tail = np.linspace(0.05, 0.95, 19)
    quantiles = stats.norm.isf(tail * stats.norm.sf(bound))
    shares = (draws[:, np.newaxis] > quantiles).mean(axis=0)
    assert np.abs((shares - tail) / np.sqrt(tail * (1.0 - tail) / n)).max() < 5.0
