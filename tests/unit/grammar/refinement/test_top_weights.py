import numpy as np
import pytest

from skdp.grammar._refinement._top_weights import (
    ChildRows,
    PairRows,
    log_gem,
    log_joint,
    maximize,
)
from skdp.grammar._top_weights import MIN_WEIGHT, TopPrior

RNG = np.random.default_rng(0)
N_SYMBOLS, K = 3, 4
CHILDREN = ChildRows(1.5, np.array([0, 2], dtype=np.int32), -RNG.gamma(4.0, size=(2, K)),
                     np.array([1.0, 4.0]))  # fmt: skip
PAIRS = PairRows(
    2.5, np.array([0, 1, 2], dtype=np.int32), np.array([1, 1, 0], dtype=np.int32),
    -RNG.gamma(20.0, size=(3, K, K)), np.array([4.0, 8.0, 4.0]),
)  # fmt: skip


@pytest.mark.parametrize("concentration", [0.5, 1.0, 3.0])
def test_gradient_matches_differences(concentration):
    beta = RNG.dirichlet(np.full(K, 2.0), N_SYMBOLS)
    slopes = log_joint(beta, concentration, CHILDREN, PAIRS)[1]
    step = 1e-6
    for s in range(N_SYMBOLS):
        for i in range(K - 1):
            values = []
            for sign in (1.0, -1.0):  # along the simplex
                moved = beta.copy()
                moved[s, i] += sign * step
                moved[s, -1] -= sign * step
                values.append(log_joint(moved, concentration, CHILDREN, PAIRS)[0])
            difference = (values[0] - values[1]) / (2.0 * step)
            assert difference == pytest.approx(slopes[s, i] - slopes[s, -1], rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("concentration", [0.5, 1.0, 3.0])
def test_log_gem_is_the_sum_over_symbols(concentration):
    beta = RNG.dirichlet(np.full(K, 2.0), N_SYMBOLS)
    prior = TopPrior("gem", concentration)
    expected = sum(prior.log_density(row) for row in beta)
    assert log_gem(beta, concentration)[0] == pytest.approx(expected)
    assert log_gem(np.ones((2, 1)), concentration)[0] == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_maximize_climbs(seed):
    beta = np.random.default_rng(seed).dirichlet(np.full(K, 1.0), N_SYMBOLS)
    beta = MIN_WEIGHT + (1.0 - K * MIN_WEIGHT) * beta
    found = maximize(beta, 1.0, CHILDREN, PAIRS)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert found.min() >= MIN_WEIGHT * (1.0 - 1e-6)
    before, after = (log_joint(b, 1.0, CHILDREN, PAIRS)[0] for b in (beta, found))
    assert after > before
