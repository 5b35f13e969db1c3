"""Binary factors: vectors and sets of factors by enumeration, weights and decays by quadrature.

By batch means (see `batch_means`): |z| < 5 for about 2,200 quantities in all, a false alarm for one
choice of the seeds in 35; these are fixed.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means, check_chain
from exact.oracles.binary_factors import (
    BuffetProblem,
    Problem,
    configurations,
    describe,
    expect,
    expect_set,
    log_coupling,
    log_likelihood,
    log_prior,
)
from numpy.testing import assert_allclose
from scipy import special, stats
from unit.emissions.helpers import stream

from skdp._numeric._numba import njit
from skdp.emissions._binary_factors._emission import BinaryFactorEmission
from skdp.emissions._binary_factors._part import BinaryFactorModel, make_links
from skdp.emissions._common._protocol import Coupling
from skdp.emissions._kernels import _binary_factors as kernels
from skdp.emissions._kernels import _links as linking
from skdp.sequence._similarities._protocol import LaplacianSimilarity

NAN = np.nan
N_DRAWS = 20_000

# What transitions tell. A sum of rates may be all but one term, or have its largest term far from
# the diagonal.
TWO_STATES = {
    "decay": 0.6,
    "counts": ((1, 2), (1, 6), (0, 1)),
    "log_rates": ((-0.3, 1.2), (1.0, -0.4), (0.0, 0.0)),
}
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
THREE_FACTORS = {**DATA, "weights": (*DATA["weights"], (0.6, 0.6)), "activity_prior": (0.7, 1.6)}
ONE_FACTOR = {
    "values": ((1.0,), (0.0,), (1.0,), (1.0,)),
    "states": (0, 1, 1, 0),
    "weights": ((-0.6,), (1.9,)),
    "precisions": (1.0,),
    "probit": (True,),
}
CASES = {
    "normal": Problem(**DATA),
    "coupled": Problem(**DATA, **TWO_STATES),
    "idle state": Problem(**DATA, n_states=3, activity_prior=(0.4, 1.5)),
    "missing": Problem(**MISSING),
    "both": Problem(**MIXED),
    "three factors": Problem(**THREE_FACTORS),
    "coupled, three factors": Problem(**THREE_FACTORS, **TWO_STATES),
    "amplitudes": Problem(**DATA, amplitude_variance=0.6, n_states=3),
    "amplitudes, missing": Problem(**MISSING, amplitude_variance=0.6),
    "coupled, two idle states": Problem(**DATA, **FOUR_STATES, activity_prior=(0.4, 1.5)),
    "coupled, tiny rates": Problem(**THREE_FACTORS, **TINY_RATES),
    "coupled, great decay": Problem(**DATA, **GREAT_DECAY),
    "coupled, probit": Problem(**ONE_FACTOR, **TWO_STATES),
    "coupled, both": Problem(**MIXED, **TWO_STATES),
    "coupled, missing": Problem(**MISSING, **TWO_STATES),
    "coupled, idle state": Problem(**DATA, **THREE_STATES),
    "coupled, amplitudes": Problem(**THREE_FACTORS, **TWO_STATES, amplitude_variance=0.6),
}

NORMAL = {
    "values": ((0.4, 2.1), (0.7, 1.2), (2.3, -1.3), (0.1, 1.9)),
    "states": (0, 0, 1, 0),
    "scale": 1.1,
    "noise": (0.5, 0.8),
    "probit": (False, False),
}
PROBIT = {
    "values": ((1.0,), (0.0,), (0.0,), (1.0,), (1.0,), (0.0,)),
    "states": (0, 1, 1, 0, 0, 1),
    "scale": 1.0,
    "noise": (1.0,),
    "probit": (True,),
}
BOTH = {
    **NORMAL,
    "values": ((0.4, 1.0), (0.7, 1.0), (2.3, 0.0), (0.1, 1.0)),
    "noise": (0.5, 1.0),
    "probit": (False, True),
    "scale": 1.0,
}
GAPS = {**NORMAL, "values": ((0.4, NAN), (NAN, 0.2), (NAN, -1.3), (0.1, 0.9))}
THREE = {**NORMAL, "states": (0, 2, 1, 0), "n_states": 3, "mass_prior": (3.0, 6.0)}
IDLE = {**THREE, "states": (0, 0, 1, 0)}
ALONE = {**THREE, "states": (1, 1, 1, 1), "concentration": 0.6}
BUFFETS = {
    "normal": BuffetProblem(**NORMAL),
    "coupled": BuffetProblem(**NORMAL, **TWO_STATES),
    "three states": BuffetProblem(**THREE),
    "idle state, bound": BuffetProblem(**IDLE, most=2),
    "probit": BuffetProblem(**PROBIT),
    "both, concentration": BuffetProblem(**BOTH, concentration=2.5),
    "missing, bound": BuffetProblem(**GAPS, most=2, mass_prior=(3.0, 1.0)),
    "idle state": BuffetProblem(**IDLE),
    "two idle states": BuffetProblem(**ALONE),
    "coupled, probit": BuffetProblem(**PROBIT, **TWO_STATES),
    "coupled, bound": BuffetProblem(**NORMAL, **TWO_STATES, most=2),
    "coupled, idle state": BuffetProblem(**{**IDLE, **THREE_STATES}),
}
MOST = {2: 14, 3: 7}
"""Larger sets of factors have hardly any probability, for two and for three states."""


def attached(problem, n_factors, **parameters):
    emission = BinaryFactorEmission(
        n_factors, output=["probit" if p else "normal" for p in problem.probit], **parameters
    )
    values = np.array(problem.values)
    sampler = emission.make_sampler(values, problem.n_states)
    sampler.attach(values)
    return sampler


def make_sampler(problem, **parameters):
    noise = "auto" if all(problem.probit) else 1.0 / np.array(problem.precisions)
    own = {
        "weights": problem.weights,
        "noise_variance": noise,
        "activity_prior": problem.activity_prior,
        "amplitude_variance": problem.amplitude_variance,
    }
    return attached(problem, len(problem.weights) - 1, **{**own, **parameters})


def make_buffet(problem):
    sampler = attached(
        problem,
        "auto",
        activity_prior=(1.0, problem.concentration),
        mass_prior=problem.mass_prior,
        weights_scale=problem.scale,
        noise_variance="auto" if all(problem.probit) else np.array(problem.noise),
    )
    sampler.most_factors = min(sampler.most_factors, problem.most)
    return sampler


def make_coupling(problem):
    if problem.decay is None:
        return None
    return Coupling(problem.decay, np.array(problem.counts), np.array(problem.log_rates))


def some_fast(cases, n_fast):
    """Mark all but the first cases as slow."""
    return [
        case if i < n_fast else pytest.param(case, marks=pytest.mark.slow)
        for i, case in enumerate(cases)
    ]


@pytest.mark.parametrize("case", some_fast(CASES, 5))
def test_vectors(case):
    problem = CASES[case]
    expected = expect(problem)
    sampler, rng, coupling = make_sampler(problem), stream(), make_coupling(problem)
    powers, states = 2 ** np.arange(sampler.factors.size)[::-1], np.array(problem.states)

    def step():
        sampler.draw(states, rng, coupling)
        return powers @ sampler.factors.reshape(-1)

    check_chain(
        step,
        lambda codes: [(codes[:, np.newaxis] == np.arange(len(expected)), expected, "vectors")],
        N_DRAWS,
    )


def numbers_of(factors):
    """Return how often each column that is not empty occurs, in the order of binary numbers."""
    powers = 2 ** np.arange(len(factors))[::-1]
    return np.bincount(powers @ factors, minlength=2 ** len(factors))[1:]


@pytest.mark.parametrize("case", some_fast(BUFFETS, 1))
def test_sets_of_factors(case):
    problem = BUFFETS[case]
    expected = expect_set(problem, MOST[problem.n_states])
    sampler, rng, coupling = make_buffet(problem), stream(), make_coupling(problem)
    states = np.array(problem.states)

    def step():
        sampler.draw(states, rng, coupling)
        return numbers_of(sampler.factors)

    check_chain(step, lambda numbers: [(describe(numbers), expected, "numbers")], N_DRAWS)


# Weights, noise and amplitudes

X = (
    (0.4, 1.0), (0.7, NAN), (1.3, 0.0), (0.1, 1.0), (NAN, 1.0), (1.9, 0.0), (1.7, 0.0), (0.2, 1.0),
)  # fmt: skip
STATES = (0, 0, 1, 0, 1, 2, 2, 0)
FACTORS = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int8)
SCALE, SHAPE, RATE = 1.3, 1.5, 0.7


def start(values, states, factors=None, seed=1, **parameters):
    """Return a sampler that draws weights, and a function that runs a sweep.

    Bits stay as they are given.
    """
    width = len(values[0])
    is_probit = "noise_prior" not in parameters
    problem = Problem(
        values=values, states=states, probit=(is_probit,) * width, n_states=max(states) + 1,
        weights=((0.0,) * width,) * (2 if factors is None else len(factors[0]) + 1),
        precisions=(1.0,) * width,
    )  # fmt: skip
    parameters = {"weights": None, "weights_scale": SCALE, "noise_variance": "auto", **parameters}
    sampler, rng, given = make_sampler(problem, **parameters), stream(seed), np.array(states)
    sampler.start(given.copy(), rng)
    if factors is not None:
        sampler.factors[:] = factors
        sampler._draw_factors = lambda coupling, rng: None
    return sampler, lambda: sampler.draw(given, rng)


def test_weights_and_noise():
    """Given vectors: tau by quadrature, weights given tau by the normal posterior."""
    sampler, sweep = start(X, STATES, FACTORS, noise_prior=(SHAPE, RATE))

    def step():
        sweep()
        precisions, weights = sampler.precisions, sampler.weights
        return np.vstack([weights, weights**2, precisions, np.log(precisions)])

    expected = []
    for d in range(2):
        column = np.array(X)[:, d]
        seen = ~np.isnan(column)
        design = np.column_stack([np.ones(seen.sum()), FACTORS[np.array(STATES)[seen]]])
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
    check_chain(step, lambda draws: [(draws, np.transpose(expected), "moments")], N_DRAWS)


def mean_over(probs, figure):
    """Return the mean of a figure that does not vary along the axes where it has one entry."""
    others = tuple(i for i, n in enumerate(figure.shape) if n == 1)
    return (probs.sum(axis=others, keepdims=True) * figure).sum()


@pytest.mark.slow
def test_amplitudes():
    """Weights and both variances given vectors: one column, one factor, a grid of all four."""
    values, states = ((0.9,), (2.1,), (NAN,), (-0.2,), (3.1,)), (0, 0, 0, 1, 0)
    sampler, sweep = start(
        values, states, [[1], [0]], seed=6,
        noise_prior=(3.0, 2.0), amplitude_variance="auto", amplitude_prior=(4.0, 2.0),
    )  # fmt: skip

    def step():
        sweep()
        (w,), (v,) = sampler.weights
        logs = -np.log(sampler.precisions[0]), np.log(sampler.amplitude_variance)
        figures = np.array([w, v, *logs])
        return np.array([*figures, *figures**2, w * v, v * figures[3], figures[2] * figures[3]])

    axes = [np.linspace(-5.0, 5.0, 50)] * 2 + [np.linspace(-4.0, 4.0, 40)] * 2
    w, v, noise, variance = np.meshgrid(*axes, indexing="ij", sparse=True)
    log_joint = -0.5 * (w**2 + v**2) / SCALE**2 - 3.0 * noise - 2.0 * np.exp(-noise)
    log_joint = log_joint - 4.0 * variance - 2.0 * np.exp(-variance)
    for (y,), j in zip(values, states, strict=True):
        if not np.isnan(y):
            on = 1.0 - j
            total = np.exp(noise) + on * v**2 * np.exp(variance)
            log_joint -= 0.5 * (np.log(total) + (y - w - on * v) ** 2 / total)
    probs = special.softmax(log_joint)
    figures = [w, v, noise, variance]
    figures += [x**2 for x in figures] + [w * v, v * variance, noise * variance]
    expected = np.array([mean_over(probs, x) for x in figures])
    check_chain(step, lambda draws: [(draws, expected, "moments")], 2 * N_DRAWS)


@pytest.mark.slow
def test_probit_weights():
    """Vectors enumerated, weights by quadrature."""
    sampler, sweep = start(((1.0,), (0.0,), (1.0,), (1.0,), (0.0,)), (0, 1, 1, 0, 1), seed=2)

    def step():
        sweep()
        (w,), (v,) = sampler.weights
        (a,), (b,) = sampler.factors
        return np.array([a == b, w, w**2, v**2, a * v, b * v, a * v**2])

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
    check_chain(step, lambda draws: [(draws, expected / total, "moments")], 4 * N_DRAWS)


def drawn(problem, **parameters):
    """Return a sampler after its first draw of vectors, weights and noise."""
    parameters = {"weights": None, "weights_scale": SCALE, "noise_variance": "auto", **parameters}
    sampler, states, rng = make_sampler(problem, **parameters), np.array(problem.states), stream(4)
    sampler.start(states.copy(), rng)
    sampler.draw(states, rng)
    return sampler


@pytest.mark.parametrize("case", ["both", "three factors", "amplitudes, missing"])
def test_log_evidence(case):
    """log p(x, vectors, weights, noise, variance of amplitudes | z) to 1e-10.

    Weights count in units of their prior scale, precisions and variances by their logarithms.
    """
    problem = CASES[case]
    varied = problem.amplitude_variance > 0.0
    sampler = drawn(
        problem, noise_prior=(SHAPE, RATE), amplitude_variance="auto" if varied else 0.0,
        amplitude_prior=(RATE, SHAPE),
    )  # fmt: skip
    factors, weights, variance = sampler.factors, sampler.weights, sampler.amplitude_variance
    precisions, probit = sampler.precisions, problem.probit
    expected = log_prior(factors, *problem.activity_prior) + log_likelihood(
        problem.values, problem.states, factors, weights, precisions, probit, variance
    )
    if varied:
        expected += stats.gamma.logpdf(1.0 / variance, RATE, scale=1.0 / SHAPE) - np.log(variance)
    expected += stats.norm.logpdf(weights / SCALE).sum()
    for tau in precisions[~np.array(probit)]:
        expected += stats.gamma.logpdf(tau, SHAPE, scale=1.0 / RATE) + np.log(tau)
    assert sampler.log_evidence() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("case", ["both", "probit", "amplitudes, missing"])
def test_log_densities(case):
    """Of the sampler and of a model with its parameters; rows have gaps, and one is missing."""
    problem = CASES.get(case) or Problem(**ONE_FACTOR)
    values = np.array([*problem.values, [NAN] * len(problem.probit)])
    values[1, 0] = NAN
    problem = replace(problem, values=values, states=(*problem.states, 0))
    sampler, found = drawn(problem), np.empty((len(values), problem.n_states))
    weights, variance = sampler.all_weights(), sampler.amplitude_variance
    rest = weights, sampler.precisions, problem.probit, variance
    expected = [
        [log_likelihood([row], [0], [vector], *rest) for vector in sampler.factors]
        for row in values
    ]
    sampler.write_log_obs(found)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    output = tuple("probit" if p else "normal" for p in problem.probit)
    known = BinaryFactorModel(sampler.factors, weights, 1.0 / sampler.precisions, output, variance)
    assert_allclose(known.log_obs(values), expected, rtol=1e-10, atol=1e-12)


def test_log_normal_cdf():
    x = np.concatenate([np.linspace(-60.0, 9.0, 1000), [-1e4, -1e150]])
    found = [kernels.log_normal_cdf(value) for value in x]
    assert_allclose(found, special.log_ndtr(x), rtol=2e-13, atol=1e-16)


@pytest.mark.parametrize("bound", [-2.0, 0.3, 0.6, 20.0])
def test_normal_above(bound):
    """Shares below quantiles."""
    rng = stream(5)
    draws = np.array([kernels.draw_normal_above(bound, rng) for _ in range(20_000)])
    assert draws.min() > bound
    tail = np.linspace(0.05, 0.95, 19)
    quantiles = stats.norm.isf(tail * stats.norm.sf(bound))
    assert_means(draws[:, np.newaxis] > quantiles, tail)


# Links by transitions


@njit
def change_vector(links, spins, j, size, decay, kept):
    """Weigh a change, and make it if it is kept: kernels alone may call what does that."""
    linking.turn_to(links, spins, j, decay)
    gain = linking.weigh_change(links, spins, j, size, decay)
    if kept:
        linking.make_change(links, spins, j, decay)
    return gain


@pytest.mark.parametrize(
    ("decay", "scale"),
    [(0.3, 30.0), (0.3, 1000.0), (5.0, 1.0), (80.0, 30.0), (900.0, 1.0), (900.0, 1000.0)],
)
def test_change_of_a_vector(decay, scale):
    """Log ratios of likelihoods, and sums of rates after many changes, agree to 1e-9."""
    draws = np.random.default_rng(1)
    n_states, n_factors = 6, 9
    factors = draws.integers(2, size=(n_states, n_factors)).astype(np.int8)
    counts = draws.poisson(1.0, size=(n_states + 1, n_states))
    counts[2] = 0
    log_rates = -scale * draws.exponential(size=counts.shape)
    known = SimpleNamespace(decay=decay, counts=counts, log_rates=log_rates)
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
        kept = draws.random() < 0.5
        found = change_vector(links, spins, j, float(size), decay, kept)
        old, new = log_coupling(factors, known), log_coupling(changed, known)
        assert found == pytest.approx(new - old, rel=1e-11, abs=1e-11 * abs(old) + 1e-9)
        if kept:
            factors = changed
    distances = np.abs(factors[:, np.newaxis].astype(int) - factors).sum(axis=2)
    totals = special.logsumexp(log_rates[:-1] - decay * distances, axis=1)
    assert_allclose(links.log_totals[links.busy], totals[links.busy], rtol=1e-12)


@pytest.mark.parametrize(
    ("case", "prior"),
    [
        ("coupled", (1.0, 1.0)),
        ("coupled, tiny rates", (0.3, 2.0)),
        ("coupled, two idle states", (0.3, 2.0)),
    ],
    ids=["coupled", "tiny rates", "two idle states"],
)
def test_decay(case, prior):
    """lambda given transitions against quadrature."""
    problem = CASES[case]
    counts, log_rates = np.array(problem.counts), np.array(problem.log_rates)
    emission = make_sampler(problem)
    n_states, n_factors = emission.factors.shape
    emission.factors[:] = np.random.default_rng(3).integers(2, size=(n_states, n_factors))
    similarity, rng = LaplacianSimilarity(decay_prior=prior).make_sampler(n_states), stream(3)
    similarity.start(emission, rng)

    def step():
        similarity.draw(counts, log_rates, emission, rng)
        x = similarity.decay
        return np.array([x, x**2, np.log(x)])

    def log_density(x):
        known = SimpleNamespace(decay=np.exp(x), counts=counts, log_rates=log_rates)
        return prior[0] * x - prior[1] * np.exp(x) + log_coupling(emission.factors, known)

    grid = np.linspace(np.log(1e-12), np.log(300.0), 2000)
    weights = special.softmax([log_density(x) for x in grid])
    expected = np.array([np.exp(grid), np.exp(2 * grid), grid]) @ weights
    check_chain(step, lambda draws: [(draws, expected, "decay")], N_DRAWS)
