"""Where the sampler of a franchise begins, against definitions and long chains."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import dirichlet_multinomial, gamma

from skdp.context import HDPBackoffClassifier
from skdp.processes._franchise import FranchiseLayout, FranchisePriors, find_start

COUNTS = np.array([[301, 80], [377, 2], [410, 6], [398, 7], [414, 5]])
GRID = np.geomspace(1e-2, 1e4, 61)
BASE = np.array([0.5, 0.5])


def make_layout(counts=COUNTS):
    """Return the franchise of a root and a restaurant for each row of counts, all > 0."""
    n, n_dishes = counts.shape
    node = np.repeat(np.arange(n + 1), n_dishes).astype(np.int32)
    parent = np.tile(np.arange(n_dishes), n + 1)
    parent[:n_dishes] = -1
    observed = np.concatenate([np.zeros(n_dishes), counts.ravel()]).astype(np.int32)
    return FranchiseLayout.of(
        np.array([0, n_dishes, n_dishes * (n + 1)]), np.array([0, 1, n + 1]),
        parent.astype(np.int32), node, observed,
    )  # fmt: skip


def best_concentration(counts, shares):
    """Return the grid's concentration with the highest posterior, from its definition."""
    scores = [
        gamma.logpdf(theta, 1.0, scale=10.0)
        + sum(dirichlet_multinomial.logpmf(row, theta * shares, row.sum()) for row in counts)
        for theta in GRID
    ]
    return GRID[int(np.argmax(scores))]


@pytest.mark.parametrize("discount", [0.0, 0.3, None])
def test_start(discount):
    """Concentrations maximize the posterior, and tables have their expected numbers."""
    fixed = None if discount is None else np.full(2, discount)
    given = FranchisePriors(fixed, np.array([3.0, 4.0]), (1.0, 1.0), (1.0, 0.1))
    assert find_start(make_layout(), BASE, given).concentration.tolist() == [3.0, 4.0]
    start = find_start(make_layout(), BASE, replace(given, concentration=None))
    d = 0.5 if discount is None else discount
    shares = COUNTS.sum(axis=0) / COUNTS.sum()
    expected = (1.0 - d) * (best_concentration(COUNTS, shares) + 1.0) - 1.0
    assert_allclose(start.concentration[1], expected)
    tables = []
    for row in COUNTS:
        for c, share in zip(row, shares, strict=True):
            n, a = 0.0, expected * share
            for i in range(c):  # the chance that the next customer opens a table
                n += (a + d * n) / (a + i)
            tables.append(max(round(n), 1))
    assert start.tables[2:].tolist() == tables
    above = np.array(tables).reshape(5, 2).sum(axis=0)
    expected = max((1.0 - d) * (best_concentration([above], BASE) + 1.0) - 1.0, 1e-2)
    assert_allclose(start.concentration[0], expected)
    assert np.all(start.tables[:2] <= above)


def test_many_restaurants_are_sampled():
    """Some of many restaurants have about the same concentration as all of them."""
    rng = np.random.default_rng(0)
    counts = np.array([rng.multinomial(50, p) for p in rng.dirichlet([4.0, 2.0], 9000)]) + 1
    priors = FranchisePriors(np.zeros(2), None, (1.0, 1.0), (1.0, 0.1))
    assert find_start(make_layout(counts), BASE, priors).concentration[1] == pytest.approx(
        6.0, rel=0.3
    )


@pytest.mark.parametrize("discount", [0.0, "auto"])
def test_few_large_contexts_have_enough_tables_from_the_start(discount):
    """By integration p(1 | new context) is .107 without discount; from one table each it is .37."""
    X = np.repeat(np.arange(5), COUNTS.sum(axis=1))[:, None]
    y = np.concatenate([np.repeat([0, 1], row) for row in COUNTS])
    model = HDPBackoffClassifier([[0]], discount=discount, max_iter=20, random_state=0).fit(X, y)
    assert 0.03 < model.predict_proba([[9]])[0, 1] < 0.2
    assert model.n_tables_[1] > 80
