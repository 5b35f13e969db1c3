"""What transitions tell of binary vectors, and the decay of similarities.

Runs of a chain in 40 batches; |z| < 5 fails a right sampler once in 80,000 comparisons (see
`exact.oracles.batch_means`). There are 1,200 in all files of binary factors: a false alarm for one
choice of the seeds in 65.
"""

import numpy as np
import pytest
from exact.emissions.factor_problems import CASES, N_DRAWS, make_sampler, stream
from exact.oracles.batch_means import assert_means
from exact.oracles.binary_factors import log_coupling
from scipy import special

from skdp._numeric._numba import njit
from skdp.emissions import _kernels_links as linking
from skdp.emissions._binary_factors._part import make_links
from skdp.emissions._protocol import Coupling
from skdp.sequence._similarities._laplacian import LaplacianSimilarity


@njit
def change_vector(links, spins, j, size, decay, kept):
    """Weigh a change, and make it if it is kept: kernels alone may call what does that."""
    linking.turn_to(links, spins, j, decay)
    gain = linking.weigh_change(links, spins, j, size, decay)
    if kept:
        linking.make_change(links, spins, j, decay)
    return gain


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
        kept = draws.random() < 0.5
        found = change_vector(links, spins, j, float(size), decay, kept)
        old = log_coupling(factors, decay, counts, log_rates)
        new = log_coupling(changed, decay, counts, log_rates)
        assert found == pytest.approx(new - old, rel=1e-11, abs=1e-11 * abs(old) + 1e-9)
        if kept:
            factors = changed
    distances = np.abs(factors[:, np.newaxis].astype(int) - factors).sum(axis=2)
    totals = special.logsumexp(log_rates[:-1] - decay * distances, axis=1)
    np.testing.assert_allclose(links.log_totals[links.busy], totals[links.busy], rtol=1e-12)


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
