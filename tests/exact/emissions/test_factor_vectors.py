"""Binary vectors against enumeration.

Runs of a chain in 40 batches; |z| < 5 fails a right sampler once in 80,000 comparisons (see
`exact.oracles.batch_means`). There are 1,200 in all files of binary factors: a false alarm for one
choice of the seeds in 65.
"""

import numpy as np
import pytest
from exact.emissions.factor_problems import CASES, N_DRAWS, make_coupling, make_sampler, stream
from exact.oracles.batch_means import assert_means
from exact.oracles.binary_factors import expect


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
