"""Densities and draws of rows with missing values, and the evidence of rows with weights."""

import numpy as np
import pytest
from exact.mixture.problems import PROBLEMS, A, B, make_chain_sampler
from exact.mixture.test_student_t import PROBLEMS as STUDENTS
from exact.oracles import gaps, mixtures, student_t
from scipy import integrate, stats

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.emissions._gaussian._model import GaussianModel

NAN = np.nan

LABELS = [0, 0, 1, 1, 2]


@pytest.mark.parametrize("row", [[0.3, NAN], [NAN, 3.0], [NAN, NAN]])
def test_predictive_densities_of_rows_with_gaps(row):
    problem = PROBLEMS["full"]
    family = gaps.Gapped(problem.family)
    model = make_chain_sampler(problem, init=LABELS).model()
    expected = mixtures.log_predictive(row, problem.rows, LABELS, family, A, B)
    assert model.log_densities(np.array([row]))[0] == pytest.approx(expected, abs=3e-5)


@pytest.mark.parametrize("name", ["gap", "two-columns"])
def test_log_joint_given_weights_and_missing_values(name):
    """With the weights and missing values that the chain is at."""
    problem = STUDENTS[name]
    sampler = make_chain_sampler(problem, init=[0, 1, 0])
    rows, weights = sampler.emission.completed, sampler.emission.drawn_weights[:, 0]
    prior = problem.family
    known = prior.mean, prior.precision, prior.dof, prior.scale
    expected = mixtures.log_prior([0, 1, 0], A, B)
    expected += stats.gamma.logpdf(weights, 1.5, scale=1.0 / 1.5).sum()
    for own in ([0, 2], [1]):
        expected += student_t.log_weighted_evidence(rows[own], weights[own], *known)
    assert sampler.log_joint() == pytest.approx(expected, abs=1e-9)


def test_unions_of_clusters_with_weights():
    sampler = make_chain_sampler(STUDENTS["two-columns"], init=[0, 1, 0])
    rows, weights = sampler.emission.completed, sampler.emission.drawn_weights[:, 0]
    prior = STUDENTS["two-columns"].family
    known = prior.mean, prior.precision, prior.dof, prior.scale

    def evidence(own):
        u = weights[own]
        return student_t.log_weighted_evidence(rows[own], u, *known) - np.log(u).sum()

    summary = sampler.summarize(np.array([0, 1, 0]))
    np.testing.assert_allclose(summary.log_evidence(), [evidence([0, 2]), evidence([1])])
    joined = summary.joined(1, np.array([0]))
    np.testing.assert_allclose(joined.log_evidence(), [evidence([0, 1, 2])])


def assert_distribution(draws, log_density, observed, column):
    """Assert that draws of a column follow the density given the rest: a false alarm in 10^5."""

    def density(x):
        row = np.array(observed, dtype=float)
        row[column] = x
        return float(np.exp(log_density(row[np.newaxis])))

    points = [0.5, -2.0]
    total = integrate.quad(density, -np.inf, np.inf, points=None, limit=400)[0]
    for point in points:
        share = integrate.quad(density, -np.inf, point, limit=400)[0] / total
        z = ((draws < point).mean() - share) / np.sqrt(share * (1.0 - share) / len(draws))
        assert abs(z) < 4.4


@pytest.mark.parametrize("name", ["gaussian", "student_t", "known"])
def test_draws_of_missing_columns(name):
    """One missing column: given the others, by quadrature; and two at once, their marginals."""
    if name == "student_t":
        model = make_chain_sampler(STUDENTS["two-columns"], init=[0, 1, 0]).model().emission
    else:
        model = make_chain_sampler(PROBLEMS["full"], init=LABELS).model().emission
    if name == "known":
        model = GaussianModel(model.means, model.covariances)
    n, states = 20_000, np.full(20_000, 1)
    rng = np.random.default_rng(0)
    for row in ([1.0, NAN], [8.0, NAN], [NAN, 0.3], [NAN, NAN]):
        drawn = model.draw_missing(np.tile(row, (n, 1)), states, rng)
        assert not np.isnan(drawn).any()
        for column in np.flatnonzero(np.isnan(row)):
            assert_distribution(
                drawn[:, column], lambda rows: model.log_obs(rows)[0, 1], row, column
            )


@pytest.mark.parametrize("other", [0.7, 4.0])
def test_missing_values_given_the_partition_follow_the_conditional(other):
    """One missing value, so that its draws are independent; the row may be far out."""
    rows = np.array([[0.0, 0.1], [0.4, -0.2], [NAN, other], [1.0, 1.1]])
    problem = PROBLEMS["full"]._replace(rows=rows.tolist())
    sampler = make_chain_sampler(problem, init=[0, 0, 0, 0])
    stream = derive_stream(make_seed_sequence(3), Role.SWEEP, 0)
    draws = np.empty(4000)
    for s in range(len(draws)):
        sampler._draw_latent(sampler._order, stream)
        draws[s] = sampler.emission.completed[2, 0]

    def log_density(row):
        return problem.family.log_marginal(np.concatenate([rows[:2], row, rows[3:]]))

    assert_distribution(draws, log_density, rows[2], 0)
