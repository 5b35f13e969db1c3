"""Densities of rows given the other rows and their clusters, and leave-one-out by enumeration."""

import numpy as np
import pytest
from exact.mixture.problems import CLOSE, PAIRS, PROBLEMS, A, B, in_order, make_chain_sampler
from exact.mixture.tables import TABLES, make_table_sampler
from exact.oracles import mixtures, tables
from scipy.special import logsumexp

from skdp.emissions import StudentTEmission
from skdp.mixture import PitmanYorMixture
from skdp.mixture._left_out import LeftOutDensities

PARTITIONS = [(0, 0, 0, 0, 0), (0, 1, 2, 3, 4), (0, 0, 1, 1, 2), (0, 1, 0, 1, 0)]


def left_out(sampler):
    """Return the densities of all rows under the present state of a sampler."""
    return LeftOutDensities(sampler.emission)(sampler.model())


def without(values, i):
    return [value for j, value in enumerate(values) if j != i]


def expect(problem, labels, a=A, b=B):
    """Return log p(x_i given the others and their clusters) of all rows."""
    return [
        mixtures.log_predictive(
            row, without(problem.rows, i), in_order(without(labels, i)), problem.family, a, b
        )
        for i, row in enumerate(problem.rows)
    ]


@pytest.mark.parametrize("labels", PARTITIONS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_densities(name, labels):
    found = left_out(make_chain_sampler(PROBLEMS[name], init=labels))
    np.testing.assert_allclose(found, expect(PROBLEMS[name], labels), rtol=1e-9, atol=1e-12)


def test_labels_stay_and_hyperparameters_are_those_of_the_sample():
    sampler = make_chain_sampler(PROBLEMS["full"], 0.1, 2.0, init=PARTITIONS[2])
    model = sampler.model()
    sampler.discount, sampler.concentration = 0.9, 9.0
    found = LeftOutDensities(sampler.emission)(model)
    expected = expect(PROBLEMS["full"], PARTITIONS[2], 0.1, 2.0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_array_equal(model.labels, PARTITIONS[2])


def test_a_row_that_is_far_out():
    """It cannot be subtracted from the statistics of its cluster, which are computed again."""
    rows = [[0.0, 0.1], [0.1, 0.0], [0.2, 0.1], [3e5, -2e5], [0.3, 0.0]]
    problem = PROBLEMS["full"]._replace(rows=rows)
    labels = (0, 0, 0, 0, 1)
    found = left_out(make_chain_sampler(problem, init=labels))
    np.testing.assert_allclose(found, expect(problem, labels), rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in TABLES if TABLES[name].powers is None])
def test_tables(name):
    """Mixed columns with missing cells: the evidence of a table with and without the row."""
    problem = TABLES[name]
    labels = [0, 1, 0, 1, 2, 0, 1, 0][: len(problem.rows)]
    sampler = make_table_sampler(problem, A, B, init=labels)
    rows = tables.with_powers(problem.rows, None)
    expected = expect(problem._replace(rows=rows), labels)
    np.testing.assert_allclose(left_out(sampler), expected, rtol=1e-9, atol=1e-12)


def leave_one_out(problem, a, b):
    """Return log p(x_i given x_-i) of all rows, by enumeration of all partitions."""

    def log_evidence(rows):
        every = mixtures.partitions(len(rows))
        return logsumexp([
            mixtures.log_prior(labels, a, b) + mixtures.log_likelihood(rows, labels, problem.family)
            for labels in every
        ])  # fmt: skip

    n = len(problem.rows)
    return log_evidence(problem.rows) - [log_evidence(without(problem.rows, i)) for i in range(n)]


@pytest.mark.parametrize("problem", [CLOSE._replace(rows=CLOSE.rows[:5]), PAIRS], ids=len)
def test_harmonic_means_are_leave_one_out_densities(problem):
    """Over the exact posterior, weights 1 / f turn the posterior into that without the row."""
    weights = mixtures.posterior(problem.rows, problem.family, A, B)
    logs = np.array([
        left_out(make_chain_sampler(problem, init=labels))
        for labels in mixtures.partitions(len(problem.rows))
    ])  # fmt: skip
    found = -logsumexp(-logs, axis=0, b=weights[:, np.newaxis])
    np.testing.assert_allclose(found, leave_one_out(problem, A, B), rtol=1e-8)


@pytest.mark.slow  # the import of arviz takes seconds
@pytest.mark.filterwarnings("ignore")  # arviz's own
def test_arviz_agrees_with_enumeration():
    """PSIS-LOO from 1,000 stored samples, to .05 nats, nine standard deviations over seeds."""
    arviz = pytest.importorskip("arviz")
    X = np.array(CLOSE.rows)
    model = PitmanYorMixture(
        CLOSE.emission, discount=A, concentration=B, split_merge=False, max_iter=600, burn_in=100,
        thin=1, n_samples=500, n_chains=2, random_state=0,
    )  # fmt: skip
    data = model.fit(X).to_arviz(X)
    assert data.log_likelihood["x"].dims == ("chain", "draw", "row")
    np.testing.assert_array_equal(data.posterior.coords["draw"], np.arange(101, 601))
    np.testing.assert_array_equal(data.posterior["log_joint"], model.trace_["log_joint"])
    found = arviz.loo(data, pointwise=True)
    np.testing.assert_allclose(found.loo_i, leave_one_out(CLOSE, A, B), atol=0.05)


def test_drawn_weights_are_refused():
    values = np.random.default_rng(0).normal(size=(12, 2))
    emission = StudentTEmission(4.0).make_sampler(values, 1)
    emission.attach(values)
    with pytest.raises(TypeError, match="StudentTEmission draws weights"):
        LeftOutDensities(emission)
