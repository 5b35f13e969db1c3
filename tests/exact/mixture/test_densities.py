"""Densities, evidence and draws of rows given their clusters, against the oracles."""

from itertools import combinations

import numpy as np
import pytest
from exact.mixture.chains import A, B, in_order, make_chain_sampler
from exact.mixture.problems import CLOSE, EVERY, GAPS, NAN, PROBLEMS, STUDENTS, TABLES
from exact.oracles import gaps, mixtures, student_t
from exact.oracles.normal_wishart import NormalWishart
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature
from scipy import integrate, stats
from scipy.special import betaln, gammaln, logsumexp

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.emissions import MultinomialEmission
from skdp.emissions._gaussian._model import GaussianModel
from skdp.mixture import PitmanYorMixture
from skdp.mixture._rows._cluster_tree import make_cluster_tree
from skdp.mixture._rows._sampler import BlockedSampler, LeftOutDensities

PARTITIONS = [(0, 0, 0, 0, 0, 0), (0, 1, 2, 3, 4, 5), (0, 0, 1, 1, 2, 0), (0, 1, 0, 1, 0, 1)]


def without(values, i):
    return [value for j, value in enumerate(values) if j != i]


def left_out(problem, labels, a=A, b=B):
    """Return the oracle's log p(x_i given the others and their clusters) of all rows."""
    rows = problem.known
    return [
        mixtures.log_predictive(
            row, without(rows, i), in_order(without(labels, i)), problem.family, a, b
        )
        for i, row in enumerate(rows)
    ]


def log_next(row, own, family):
    """Return log p(rows of a cluster, and an exact value of the next one)."""
    parts = [(each, slice(None)) for each in getattr(family, "families", [family])]
    for each, columns in getattr(family, "parts", parts):
        each.last_is_exact = not np.isnan(np.array(row, dtype=float)[columns]).any()
    result = family.log_marginal([*own, row])
    for each, _ in getattr(family, "parts", parts):
        each.last_is_exact = False
    return result


@pytest.mark.parametrize("name", [*PROBLEMS, "default-priors", *TABLES])
def test_densities(name):
    """Of rows alone, of all rows, of further rows in each cluster, and of rows given the others.
    Cells that are missing are left out of the densities, and powers of rows count."""
    problem, rows = EVERY[name], np.array(EVERY[name].known)
    family, others = problem.family, problem._replace(rows=problem.others, powers=None).known
    has_float32 = name in TABLES or name == "categorical"
    for labels in PARTITIONS:
        labels = labels[: len(rows)]
        sampler = make_chain_sampler(problem, init=labels)
        alone = [family.log_marginal([row]) for row in rows]
        np.testing.assert_allclose(sampler._log_alone, alone, rtol=1e-9, atol=1e-12)
        expected = mixtures.log_joint(rows, labels, family, A, B)
        assert sampler.log_joint() == pytest.approx(expected, rel=1e-10)

        model, tolerance = sampler.model(), 1e-6 if has_float32 else 1e-9
        clusters = [rows[np.equal(labels, k)] for k in range(max(labels) + 1)]
        expected = [
            [log_next(row, own, family) - family.log_marginal(own) for own in clusters]
            + [log_next(row, [], family)]
            for row in others
        ]
        values = np.array(problem.others, dtype=float)
        found = model.emission.log_obs(values)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
        assert np.all(found[np.isnan(values).all(axis=1)] == 0.0)
        if "grid" not in name:
            expected = [mixtures.log_predictive(x, rows, labels, family, A, B) for x in others]
            np.testing.assert_allclose(model.log_densities(values), expected, atol=tolerance)

        if problem.powers is None:
            found = LeftOutDensities(sampler.emission)(model)
            np.testing.assert_allclose(found, left_out(problem, labels), rtol=1e-9, atol=1e-12)


def test_draws_of_covariances_of_rows_on_a_grid():
    """Of the last column given the other: a false alarm in 10^6."""
    problem = PROBLEMS["full-grid"]
    sampler = make_chain_sampler(problem, init=[0, 0, 0, 1, 1], sampler=BlockedSampler)
    clusters, draws = sampler._move(0, 0, sampler.stream), []
    for _ in range(2000):
        factors = sampler._draw_parameters(clusters, sampler.stream).factors
        draws.append(2.0 * factors[-1, -1, 0] ** 2)
    family = problem.family
    known = NormalWishart(family.mean, family.precision, family.dof, family.scale)
    known = known.given(problem.rows[:3])
    inverse = np.linalg.inv(known.scale + 3.0 * np.diag(family.away**2))
    found = stats.kstest(np.array(draws) / inverse[-1, -1], stats.chi2(known.dof).cdf)
    assert found.pvalue > 1e-6


def test_densities_of_compound_rows():
    """Given the numbers of tables, theta ~ Dirichlet(prior + tables); those of new rows are summed
    out. A row of 600 events, which is far beyond quadrature, loses no digits either."""
    problem, labels = EVERY["compound"], (0, 0, 1, 1)
    sampler = make_chain_sampler(problem, init=labels)
    for _ in range(3):
        sampler._draw_shared()
    model = sampler.model()
    values = np.array(problem.others, dtype=float)
    found = model.emission.log_obs(values)
    for k in range(3):
        own = sampler.emission._events.find(np.flatnonzero(np.equal(labels, k)))[1]
        tables = np.bincount(sampler.emission._events.kinds[own], sampler.emission._tables[own], 3)
        family = mixtures.Compound((tables + np.array([0.5, 0.8, 0.6])).tolist(), 2.5)
        expected = [family.log_marginal([row]) for row in problem.others]
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-9, atol=1e-12)
    every = np.array([[a, b, 12 - a - b] for a in range(13) for b in range(13 - a)], dtype=float)
    np.testing.assert_allclose(np.exp(model.emission.log_obs(every)).sum(axis=0), 1.0, rtol=1e-10)
    many = np.array([[0.0, 590.0, 10.0], [300.0, 0.0, 300.0]])
    theta = np.random.default_rng(0).dirichlet([0.5, 0.8, 0.6], 200_000)
    for row, log_density in zip(many, model.emission.log_obs(many)[:, -1], strict=True):
        drawn = stats.dirichlet_multinomial.pmf(row, 2.5 * theta + 1e-300, 600)
        error = drawn.std() / np.sqrt(len(theta))
        assert abs(np.exp(log_density) - drawn.mean()) < 5.0 * error
    assert log_density > -20.0
    draws = model.emission.sample(np.full(20_000, 1), np.random.default_rng(1))
    assert set(draws.sum(axis=1)) == {2.0, 5.0, 6.0}
    twos = draws[draws.sum(axis=1) == 2.0]
    rows, counts = np.unique(twos, axis=0, return_counts=True)
    probs = np.exp(model.emission.log_obs(rows)[:, 1])
    assert stats.chisquare(counts, probs * len(twos)).pvalue > 1e-6


def test_many_events_of_few_kinds():
    """Numbers of tables far apart under a new and a known component: nothing underflows."""
    rows = [[4000.0, 0.0], [3000.0, 1000.0], [0.0, 4000.0]]
    for b in (0.01, 5.0, 1e3, 1e7):
        problem = PROBLEMS["multinomial"]._replace(
            rows=rows, emission=MultinomialEmission([0.5, 0.8], b)
        )
        sampler = make_chain_sampler(problem, init=(0, 0, 1))
        sampler._draw_shared()
        events, tables = sampler.emission._events, sampler.emission._tables
        x = np.array([0.0, 1.0, 20.0, 1900.0, 3980.0, 4000.0])
        found = sampler.model().emission.log_obs(np.column_stack([x, 4000.0 - x]))
        odds = np.arange(-400.0, 400.0, 0.01)
        logs = -np.logaddexp(0.0, [-odds, odds])
        for k in range(3):
            own = events.find(np.flatnonzero(np.equal((0, 0, 1), k)))[1]
            c = np.array([0.5, 0.8]) + np.bincount(events.kinds[own], tables[own], 2)
            law = c @ logs - betaln(*c) + np.log(0.01)
            shapes = b * np.exp(np.maximum(logs, -650.0))
            more = gammaln(x[:, None] + shapes[0]) + gammaln(4000.0 - x[:, None] + shapes[1])
            more = more - gammaln(shapes).sum(axis=0) + gammaln(b) - gammaln(4000.0 + b)
            more += (gammaln(4001.0) - gammaln(x + 1.0) - gammaln(4001.0 - x))[:, None]
            np.testing.assert_allclose(found[:, k], logsumexp(more + law, axis=1), rtol=1e-5)


def test_no_compound_is_the_limit():
    plain = make_chain_sampler(PROBLEMS["multinomial"], init=(0, 0, 1, 1, 1))
    wide = make_chain_sampler(
        PROBLEMS["multinomial"]._replace(emission=MultinomialEmission([0.5, 0.8, 0.6], 1e8)),
        init=(0, 0, 1, 1, 1),
    )
    wide._draw_shared()
    assert wide.log_joint() == pytest.approx(plain.log_joint(), abs=1e-4)
    values = np.array(PROBLEMS["multinomial"].others, dtype=float)
    expected = plain.model().emission.log_obs(values)
    np.testing.assert_allclose(wide.model().emission.log_obs(values), expected, atol=1e-5)


def test_a_row_that_is_far_out():
    """It leaves its cluster, from whose statistics it cannot be subtracted: no digit is left."""
    rows = [[0.0, 0.1], [0.1, 0.0], [0.2, 0.1], [3e5, -2e5], [0.3, 0.0]]
    problem, labels = PROBLEMS["full"]._replace(rows=rows), (0, 0, 0, 0, 1)
    sampler = make_chain_sampler(problem, init=labels)
    found = LeftOutDensities(sampler.emission)(sampler.model())
    np.testing.assert_allclose(found, left_out(problem, labels), rtol=1e-6)
    sampler._seat(sampler._order, sampler.stream)
    assert np.count_nonzero(sampler.labels == sampler.labels[3]) == 1
    assert np.isfinite(sampler.log_joint())


def test_rows_that_come_and_go_leave_no_trace():
    """Thousands of moves within a sweep: the clusters' numbers are those of the data."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 2)).tolist()
    problem = PROBLEMS["full"]._replace(rows=rows)
    gibbs = make_chain_sampler(problem, init=rng.integers(0, 2, 3000))
    makes, rooms = gibbs._make_room, []

    def make_room(n_spare):
        rooms.append(makes(n_spare))
        return rooms[-1]

    gibbs._make_room = make_room
    gibbs._seat(gibbs._order, gibbs.stream)
    moved, rebuilt = rooms[-1][0], make_chain_sampler(problem, init=gibbs.labels)
    room = rebuilt._make_room(1)
    terms = rebuilt._terms
    rebuilt._kernels.sweep(
        0, np.empty(0, dtype=np.int64), terms.rows, terms.prior, room[0], gibbs.n_clusters,
        rebuilt.labels, rebuilt._log_alone, A, B, *room[1:], rebuilt.stream,
    )  # fmt: skip
    n = gibbs.n_clusters
    assert 100 < moved.vectors[1, :n].max() <= 1001  # rows came and went
    np.testing.assert_allclose(moved.factors[..., :n], room[0].factors[..., :n], atol=1e-9)
    np.testing.assert_allclose(moved.points[..., :n], room[0].points[..., :n], atol=1e-9)
    np.testing.assert_allclose(moved.vectors[2:, :n], room[0].vectors[2:, :n], rtol=1e-9)


POWERS = [0.5, 1.0, 0.3]


def integrate_evidence(cells, weights, log_density):
    """Return the log of the mean over parameters of the densities of cells with these powers."""
    logs = sum(w * log_density(x) for x, w in zip(cells, POWERS, strict=True))
    return np.log(np.sum(weights * np.exp(logs)))


def test_the_evidence_of_the_oracle_is_an_integral():
    rates, weights = gamma_quadrature(1.75, 0.3)
    expected = integrate_evidence([3, 0, 5], weights, lambda x: stats.poisson.logpmf(x, rates))
    found = mixtures.Count(1.75, 0.3).log_marginal([3, 0, 5], POWERS)
    assert found == pytest.approx(expected, abs=1e-4)

    z = np.linspace(-12.0, 12.0, 4001)
    errors = 1.0 / np.sqrt(rates[:, np.newaxis])
    means, weights = 0.2 + z * errors / np.sqrt(0.3), np.outer(weights, 0.006 * stats.norm.pdf(z))
    cells = [0.4, -0.3, 1.0]
    expected = integrate_evidence(cells, weights, lambda x: stats.norm.logpdf(x, means, errors))
    family = mixtures.Normal(0.2, 0.3, 3.5, 0.6)
    assert family.log_marginal(cells, POWERS) == pytest.approx(expected, abs=1e-4)
    family.away = 0.7
    expected = integrate_evidence(cells, weights, lambda x: sum(
        0.5 * stats.norm.logpdf(x + y, means, errors) for y in (-0.7, 0.7)
    ))  # fmt: skip
    assert family.log_marginal(cells, POWERS) == pytest.approx(expected, abs=1e-4)

    p, weights = beta_quadrature(1.5, 2.0)
    expected = integrate_evidence([1, 0, 1], weights, lambda x: stats.bernoulli.logpmf(x, 1.0 - p))
    found = mixtures.Symbol([1.5, 2.0]).log_marginal([1, 0, 1], POWERS)
    assert found == pytest.approx(expected, abs=1e-4)


# Trees of clusters: every merge is the best of all pairs


def all_pairs(nodes, n_labels):
    """Return the pairs that may be merged: with two labels only if there are no others."""
    pairs = list(combinations(nodes, 2))
    first = set(range(n_labels))
    return [pair for pair in pairs if not all(nodes[k] & first for k in pair)] or pairs


@pytest.mark.parametrize("n_labels", [0, 2, 3])
@pytest.mark.parametrize("labels", [[0, 1, 2, 3, 4, 5], [2, 0, 1, 0, 2, 1]], ids=["rows", "some"])
@pytest.mark.parametrize("name", [*PROBLEMS, *TABLES])
def test_merges(name, labels, n_labels):
    problem, rows = EVERY[name], np.array(EVERY[name].known)
    labels = np.array(labels[: len(rows)])
    summary = make_chain_sampler(problem).summarize(labels)
    tree = make_cluster_tree(summary, n_labels)

    def loss(a, b):
        own, other = (np.isin(labels, sorted(nodes[k])) for k in (a, b))
        evidence = [problem.family.log_marginal(rows[x]) for x in (own, other, own | other)]
        return evidence[0] + evidence[1] - evidence[2]

    nodes = {k: {k} for k in range(max(labels) + 1)}
    for i, (pair, found) in enumerate(zip(tree.merges.tolist(), tree.losses, strict=True)):
        best = min(loss(a, b) for a, b in all_pairs(nodes, n_labels))
        assert loss(*pair) == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert found * len(labels) == pytest.approx(best, rel=1e-9, abs=1e-9)
        nodes[max(labels) + 1 + i] = nodes.pop(pair[0]) | nodes.pop(pair[1])
    assert len(nodes) == 1
    np.testing.assert_array_equal(tree.sizes, np.bincount(labels))
    again = make_cluster_tree(summary, n_labels)  # what was given has not changed
    np.testing.assert_array_equal(again.losses, tree.losses)


# Rows with missing values or weights


@pytest.mark.parametrize("row", [[0.3, NAN], [NAN, 3.0], [NAN, NAN]])
def test_predictive_densities_of_rows_with_gaps(row):
    problem, labels = PROBLEMS["full"], [0, 0, 1, 1, 2]
    model = make_chain_sampler(problem, init=labels).model()
    family = gaps.Gapped(problem.family)
    expected = mixtures.log_predictive(row, problem.rows, labels, family, A, B)
    assert model.log_densities(np.array([row]))[0] == pytest.approx(expected, abs=3e-5)


def test_a_row_without_values_changes_no_density():
    sampler = make_chain_sampler(GAPS["empty-row"])
    assert sampler._log_alone[1] == pytest.approx(0.0, abs=1e-12)


def weighted_evidence(problem, sampler, own):
    """Return the evidence of rows with the weights and missing values that the chain is at."""
    rows, weights = sampler.emission.completed, sampler.emission.drawn_weights[:, 0]
    known = problem.family
    return student_t.log_weighted_evidence(
        rows[own], weights[own], known.mean, known.precision, known.dof, known.scale
    )


@pytest.mark.parametrize("name", ["t-gap", "t-two-columns"])
def test_log_joint_given_weights_and_missing_values(name):
    problem = STUDENTS[name]
    sampler = make_chain_sampler(problem, init=[0, 1, 0])
    weights = sampler.emission.drawn_weights[:, 0]
    expected = mixtures.log_prior([0, 1, 0], A, B)
    expected += stats.gamma.logpdf(weights, 1.5, scale=1.0 / 1.5).sum()
    expected += sum(weighted_evidence(problem, sampler, own) for own in ([0, 2], [1]))
    assert sampler.log_joint() == pytest.approx(expected, abs=1e-9)


def test_unions_of_clusters_with_weights():
    problem = STUDENTS["t-two-columns"]
    sampler = make_chain_sampler(problem, init=[0, 1, 0])
    logs = np.log(sampler.emission.drawn_weights[:, 0])

    def evidence(own):
        return weighted_evidence(problem, sampler, own) - logs[own].sum()

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

    total = integrate.quad(density, -np.inf, np.inf, limit=400)[0]
    for point in (0.5, -2.0):
        share = integrate.quad(density, -np.inf, point, limit=400)[0] / total
        z = ((draws < point).mean() - share) / np.sqrt(share * (1.0 - share) / len(draws))
        assert abs(z) < 4.4


@pytest.mark.parametrize("name", ["gaussian", "student_t", "known"])
def test_draws_of_missing_columns(name):
    """One missing column: given the others, by quadrature; and two at once, their marginals."""
    if name == "student_t":
        sampler = make_chain_sampler(STUDENTS["t-two-columns"], init=[0, 1, 0])
    else:
        sampler = make_chain_sampler(PROBLEMS["full"], init=[0, 0, 1, 1, 2])
    model = sampler.model().emission
    if name == "known":
        model = GaussianModel(model.means, model.covariances)
    n, states = 20_000, np.full(20_000, 1)
    rng = np.random.default_rng(0)
    for row in ([8.0, NAN], [NAN, 0.3], [NAN, NAN]):
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


# Rows that are left out


def test_labels_stay_and_hyperparameters_are_those_of_the_sample():
    problem, labels = PROBLEMS["full"], PARTITIONS[2][:5]
    sampler = make_chain_sampler(problem, 0.1, 2.0, init=labels)
    model = sampler.model()
    sampler.discount, sampler.concentration = 0.9, 9.0
    found = LeftOutDensities(sampler.emission)(model)
    np.testing.assert_allclose(found, left_out(problem, labels, 0.1, 2.0), rtol=1e-9)
    np.testing.assert_array_equal(model.labels, labels)


def leave_one_out(problem, a, b):
    """Return log p(x_i given x_-i) of all rows, by enumeration of all partitions."""

    def log_evidence(rows):
        every = mixtures.partitions(len(rows))
        return logsumexp(mixtures.log_joints(every, rows, problem.family, a, b))

    n = len(problem.rows)
    return log_evidence(problem.rows) - [log_evidence(without(problem.rows, i)) for i in range(n)]


def test_harmonic_means_are_leave_one_out_densities():
    """Over the exact posterior, weights 1 / f turn the posterior into that without the row."""
    problem = CLOSE._replace(rows=CLOSE.rows[:5])
    every = mixtures.partitions(len(problem.rows))
    weights = mixtures.posterior(every, problem.rows, problem.family, A, B)
    logs = []
    for labels in every:
        sampler = make_chain_sampler(problem, init=labels)
        logs.append(LeftOutDensities(sampler.emission)(sampler.model()))
    found = -logsumexp(-np.array(logs), axis=0, b=weights[:, np.newaxis])
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
