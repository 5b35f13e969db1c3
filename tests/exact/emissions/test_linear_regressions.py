"""Regressions on lags or inputs against t densities, quadrature and moments in closed form.

Draws by batch means (see `batch_means`): |z| < 5 for some 200 figures; and by Kolmogorov-Smirnov
tests, each of which fails for one seed in a million.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from exact.oracles import autoregression as oracle
from exact.oracles.batch_means import check_chain
from numpy.testing import assert_allclose
from scipy import stats
from unit.emissions.helpers import stream

from skdp.emissions import AutoregressiveEmission, RegressionEmission
from skdp.emissions._common._protocol import values_for

N_STATES = 3  # the last one is empty
PTR = np.array([0, 9, 15, 26])  # not a multiple of four steps
SIZES = [
    (1, 1, "c"), (2, 1, "c"), (2, 2, "c"), (1, 3, "c"), (5, 2, "c"),
    (1, [1, 4], "ct"), (1, [3], "c"), (2, [2, 3], "c"), (2, 2, "ct"), (3, [1, 3], "ct"),
]  # fmt: skip
every_size = pytest.mark.parametrize(("n_dims", "lags", "trend"), SIZES)
every_number = pytest.mark.parametrize(("n_targets", "n_inputs"), [(1, 1), (1, 3), (2, 2), (3, 1)])


class Problem(NamedTuple):
    emission: Any
    prior: Any
    values: np.ndarray
    states: np.ndarray
    pairs: list  # (a, x) of each step, None for the first ones

    def known(self, states=None):
        """Return the pairs of the steps of each state."""
        states = self.states if states is None else states
        steps = [(z, pair) for z, pair in zip(states, self.pairs, strict=True) if pair is not None]
        return [[pair for z, pair in steps if z == j] for j in range(N_STATES)]

    def sampler(self, ptr=PTR):
        given = values_for(self.emission, self.values, ptr)
        sampler = self.emission.make_sampler(given[0], N_STATES, *given[1:])
        sampler.attach(*given)
        return sampler

    def drawn(self):
        sampler = self.sampler()
        sampler.draw(self.states, stream())
        return sampler


def make_problem(n_dims, lags, trend="c", above=1.5):
    """Return a problem with `above` more degrees of freedom than n_dims - 1."""
    n_lags = lags if isinstance(lags, int) else len(lags)
    width = n_dims * n_lags + (trend == "ct") + 1
    rng = np.random.default_rng(10 * n_dims + width)
    prior = oracle.random_prior(rng, n_dims, width, n_dims - 1 + above)
    emission = AutoregressiveEmission(
        lags, trend=trend, coef_prior=prior.coefs, coef_precision_prior=np.array(prior.precision),
        degrees_of_freedom_prior=prior.freedom, covariance_prior=prior.scale,
    )  # fmt: skip
    values = rng.normal(size=(PTR[-1], n_dims)) @ rng.normal(size=(n_dims, n_dims)) + 1.0
    states = rng.integers(2, size=PTR[-1])
    pairs = oracle.pairs(np.split(values, PTR[1:-1]), lags, trend == "ct")
    return Problem(emission, prior, values, states, pairs)


def make_targets(n_targets, n_inputs):
    """Return a problem of targets and inputs in any order; three targets are missing."""
    rng, n = np.random.default_rng(10 * n_targets + n_inputs), n_targets + n_inputs
    prior = oracle.random_prior(rng, n_targets, n_inputs + 1, n_targets + 1.5)
    columns = rng.permutation(n)
    targets, inputs = columns[:n_targets], columns[n_targets:]
    values = rng.normal(size=(PTR[-1], n)) @ rng.normal(size=(n, n)) + 1.0
    values[np.ix_([3, 8, 9], targets)] = np.nan
    emission = RegressionEmission(
        targets.tolist(), inputs.tolist(), coef_prior=prior.coefs,
        coef_precision_prior=np.array(prior.precision), degrees_of_freedom_prior=prior.freedom,
        covariance_prior=prior.scale,
    )  # fmt: skip
    pairs = [(np.append(x[inputs], 1.0), x[targets]) for x in values]
    pairs = [None if np.isnan(y).any() else (a, y) for a, y in pairs]
    return Problem(emission, prior, values, rng.integers(2, size=PTR[-1]), pairs)


# Evidence and densities


def check_evidence(problem):
    """Check that of all steps, and of two groups of some steps: restricted samplers keep lags."""
    sampler = problem.sampler()
    sampler.condition(problem.states)
    expected = sum(oracle.log_evidence(own, problem.prior) for own in problem.known())
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-10)
    steps = np.flatnonzero(problem.states == 1)
    groups, kept = np.arange(len(steps)) % 3 - 1, np.full(PTR[-1], -1)
    kept[steps] = groups
    part = sampler.restrict(steps, 2)
    part.condition(groups)
    expected = sum(oracle.log_evidence(own, problem.prior) for own in problem.known(kept))
    assert_allclose(part.log_evidence(), expected, rtol=1e-10)


@every_size
def test_log_evidence(n_dims, lags, trend):
    check_evidence(make_problem(n_dims, lags, trend))


@every_number
def test_log_evidence_of_targets(n_targets, n_inputs):
    check_evidence(make_targets(n_targets, n_inputs))


@pytest.mark.slow
def test_log_evidence_by_quadrature():
    problem = make_problem(1, 1, above=4.5)
    sampler = problem.sampler()
    chosen = np.where(np.arange(PTR[-1]) % 4 == 1, problem.states, -1)  # -1: of no state
    sampler.condition(chosen)
    known = [own for own in problem.known(chosen) if own]
    expected = sum(oracle.log_evidence_by_quadrature(own, problem.prior) for own in known)
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-6)


def test_sequences_have_boundaries():
    """Two sequences are not one: first steps have no lags, and are not explained."""
    problem = make_problem(2, 1)
    samplers = problem.sampler(), problem.sampler(PTR[[0, -1]])
    outs = np.empty((2, PTR[-1], N_STATES))
    for sampler, out in zip(samplers, outs, strict=True):
        sampler.draw(problem.states, stream())
        sampler.write_log_obs(out)
    assert np.all(outs[0][PTR[:-1]] == 0.0)
    assert np.all(outs[1][0] == 0.0)
    assert np.all(outs[1][PTR[1:-1]] != 0.0)
    assert [sampler.counts.sum() for sampler in samplers] == [PTR[-1] - 3, PTR[-1] - 1]


def log_predictives(problem, pairs):
    """Return log densities of steps in each state; 0 where there is none."""
    result, known = np.zeros((len(pairs), N_STATES)), problem.known()
    for t, pair in enumerate(pairs):
        for j in range(N_STATES if pair is not None else 0):
            law = oracle.predictive(pair[0], known[j], problem.prior)
            result[t, j] = law.logpdf(pair[1])
    return result


@pytest.mark.parametrize(
    ("n_dims", "lags", "trend", "above"),
    [*((*size, 1.5) for size in SIZES), (1, 1, "c", 0.3), (5, 2, "c", 0.3), (2, 1, "c", 4.5)],
)
def test_predictive_densities(n_dims, lags, trend, above):
    """Of proposals and of stored samples, against ratios of evidences."""
    problem = make_problem(n_dims, lags, trend, above)
    sampler, model = problem.drawn(), problem.drawn().model()
    new, ptr = np.random.default_rng(3).normal(size=(12, n_dims)) * 4.0, np.array([0, 6, 12])
    expected = log_predictives(problem, oracle.pairs(np.split(new, [6]), lags, trend == "ct"))
    assert_allclose(model.degrees_of_freedom[2], above)
    assert_allclose(model.log_obs(new, ptr), expected, rtol=1e-9)
    sampler._rows = None
    sampler.attach(new, ptr)
    found = np.empty(expected.shape)
    sampler.write_log_predictive(found)
    assert_allclose(found, expected, rtol=1e-9)


@every_number
def test_predictive_densities_of_targets(n_targets, n_inputs):
    problem = make_targets(n_targets, n_inputs)
    sampler = problem.drawn()
    expected = log_predictives(problem, problem.pairs)
    assert_allclose(sampler.model().log_obs(problem.values), expected, rtol=1e-8, atol=1e-12)
    found = np.empty(expected.shape)
    sampler.write_log_predictive(found)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


def read_draw(sampler, j, prior):
    """Return A (intercepts last) and the inverse of Sigma of the last draw of a state."""
    n_dims = len(prior.scale)
    to_regressors = np.linalg.inv(sampler.prior.precision_root)
    to_residuals = np.linalg.inv(sampler.prior.scale_root)
    maps = sampler.maps[j]
    left, right = maps[:, :-n_dims], maps[:, -n_dims:]
    assert np.all(np.triu(right, 1) == 0.0)
    factor = right @ to_residuals  # U
    coefs = -np.linalg.solve(factor, left @ to_regressors)  # of what the prior's leave
    coefs = np.hstack([coefs[:, 1:], coefs[:, :1]]) + np.array(prior.coefs)
    return coefs, factor.T @ factor


@pytest.mark.parametrize(
    "problem",
    [make_problem(1, 1), make_problem(2, 2), make_problem(5, 1), make_targets(2, 2)],
    ids=["1-1", "2-2", "5-1", "targets"],
)
def test_densities_with_the_parameters_last_drawn(problem):
    """log_obs of coefficients and covariances that are read off the maps."""
    sampler, found = problem.drawn(), np.empty((PTR[-1], N_STATES))
    sampler.write_log_obs(found)
    for j in range(N_STATES):
        coefs, precision = read_draw(sampler, j, problem.prior)
        covariance = np.linalg.inv(precision)
        for t, pair in enumerate(problem.pairs):
            expected = 0.0
            if pair is not None:
                law = stats.multivariate_normal(coefs @ pair[0], covariance)
                expected = law.logpdf(pair[1])
            assert found[t, j] == pytest.approx(expected, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("j", [1, 2], ids=["a state of some steps", "an empty state"])
def test_draws_of_parameters(j):
    problem = make_problem(2, 2, above=5.5)
    sampler, rng = problem.sampler(), stream(7)
    m, c, nu, scale = oracle.update(problem.known()[j], problem.prior)
    v, upper, some = np.linalg.inv(scale), np.triu_indices(2), np.triu_indices(5)

    def step():
        sampler.draw(problem.states, rng)
        return read_draw(sampler, j, problem.prior)

    def compare(coefs, precisions):
        yield precisions[:, *upper], nu * v[upper], "precisions"
        # Var W_ij = nu (V_ij^2 + V_ii V_jj) of a Wishart(nu, V) matrix.
        variances = nu * (v**2 + np.multiply.outer(np.diag(v), np.diag(v)))
        squares = (precisions - nu * v) ** 2
        yield squares[:, *upper], variances[upper], "their variances"
        away = coefs - m
        yield coefs, m, "coefficients"
        # (A - M) C^1/2 are normal rows with the precision drawn along with them.
        distances = np.einsum("sdk,kl,sde,sel->s", away, c, precisions, away)
        yield distances, 10.0, "distances"
        # Cov vec A = C^-1 x E[Sigma].
        columns = np.einsum("sdk,sdl->skl", away, away)
        expected = np.linalg.inv(c) * np.trace(scale) / (nu - 3.0)
        yield columns[:, *some], expected[some], "covariances of columns"
        rows = np.einsum("sdk,kl,sel->sde", away, c, away)
        yield rows[:, *upper], 5.0 * scale[upper] / (nu - 3.0), "covariances of rows"

    check_chain(step, compare, 20_000)


# Stored samples


@pytest.mark.parametrize(("n_dims", "lags", "trend"), [*SIZES[4:], (2, 2, "c")])
def test_model_and_next_steps(n_dims, lags, trend):
    """Posterior means, and marginals, moments and draws of the step after 8 others."""
    problem = make_problem(n_dims, lags, trend, above=2.5)
    model, known = problem.drawn().model(), problem.known()
    (*_, (a, _)) = oracle.pairs([problem.values[:9]], lags, trend == "ct")
    before = problem.values[:8][::-1][: model.n_lags].ravel()
    marginals = model.marginals_after(before, 9)
    origin = problem.values[0]
    steps = model.steps_about(origin, 9)
    moved = np.append(1.0, before - np.tile(origin, model.n_lags))
    n = n_dims * len(model.lags)
    for j in range(N_STATES):
        coefs, precision, nu, scale = oracle.update(known[j], problem.prior)
        assert_allclose(model.coefs[j], coefs[:, :n], rtol=1e-8, atol=1e-10)
        assert_allclose(model.intercepts[j], coefs[:, -1], rtol=1e-8, atol=1e-10)
        if trend == "ct":
            assert_allclose(model.trends[j], coefs[:, -2], rtol=1e-8, atol=1e-10)
        assert_allclose(model.covariances[j], scale / (nu - n_dims - 1.0), rtol=1e-9)
        assert_allclose(model.scales[j], scale / (nu - n_dims + 1.0), rtol=1e-9)
        order = [len(a) - 1, *range(n), *range(n, len(a) - 1)]  # the constant first
        factor, expected = model.coef_factors[j], np.linalg.inv(precision)[np.ix_(order, order)]
        assert_allclose(factor.T @ factor, expected, rtol=1e-7, atol=1e-10)

        law = oracle.predictive(a, known[j], problem.prior)
        assert_allclose(marginals.locations[j], law.loc, rtol=1e-8)
        assert_allclose(marginals.scales[j] ** 2, np.diag(law.shape), rtol=1e-8)
        mean = (steps.maps[j] @ moved)[1 : n_dims + 1] + origin
        assert_allclose(mean, law.loc, rtol=1e-8)
        size = 1.0 + moved @ steps.precisions[j] @ moved
        noise = steps.covariances[j] * size
        assert_allclose(noise, law.shape * law.df / (law.df - 2.0), rtol=1e-7)
        rng = np.random.default_rng(j)
        draws = model.draw_next(np.full(4000, j), np.tile(before, (4000, 1)), rng, 9)
        for d in range(n_dims):
            single = stats.t(law.df, law.loc[d], np.sqrt(law.shape[d, d]))
            assert stats.kstest(draws[:, d], single.cdf).pvalue > 1e-6
        away = draws - law.loc
        squares = np.einsum("sd,de,se->s", away, np.linalg.inv(law.shape), away) / n_dims
        assert stats.kstest(squares, stats.f(n_dims, law.df).cdf).pvalue > 1e-6
    one = model.sample(np.array([0]), np.random.default_rng(5), problem.values[:8])
    again = model.draw_next(np.array([0]), before[np.newaxis], np.random.default_rng(5), 9)
    assert_allclose(one, again)


def test_model_of_targets():
    """Posterior means, and what is filled in for missing targets."""
    problem = make_targets(2, 2)
    sampler = problem.drawn()
    model, (targets, inputs) = sampler.model(), sampler.roles[:2]
    predicted = model.predict(problem.values[:, inputs])
    for j, own in enumerate(problem.known()):
        coefs, _, freedom, scale = oracle.update(own, problem.prior)
        assert_allclose(model.coefs[j], coefs[:, :-1], rtol=1e-9, atol=1e-12)
        assert_allclose(model.intercepts[j], coefs[:, -1], rtol=1e-9, atol=1e-12)
        assert_allclose(model.covariances[j], scale / (freedom - 3.0), rtol=1e-9)
        rows = np.column_stack([problem.values[:, inputs], np.ones(PTR[-1])])
        assert_allclose(predicted[:, j], rows @ coefs.T, rtol=1e-9, atol=1e-12)
    weights = np.full((PTR[-1], N_STATES), [0.2, 0.5, 0.3])
    expected = problem.values[:, targets]
    missing = np.isnan(expected[:, 0])
    expected[missing] = np.einsum("j,njd->nd", weights[0], predicted[missing])
    assert_allclose(model.fill(problem.values, weights)[:, targets], expected)


def test_draws_of_targets_follow_the_density():
    problem, n = make_targets(2, 2), 20_000
    model, inputs = problem.drawn().model(), np.array([0.5, -2.0])
    for j, own in enumerate(problem.known()):
        rng = np.random.default_rng(j)
        y = model.draw_targets(np.full(n, j), np.tile(inputs, (n, 1)), rng)
        law = oracle.predictive(np.append(inputs, 1.0), own, problem.prior)
        for d in range(2):
            marginal = stats.t(law.df, law.loc[d], np.sqrt(law.shape[d, d]))
            assert stats.kstest(y[:, d], marginal.cdf).pvalue > 1e-6


def test_large_and_small_units():
    """Scores of data in other units differ by the Jacobian only, under default priors."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    logs = []
    for x in (values, values * [1e5, 1e-4, 1e3] + [1e7, 0.3, -2.0]):
        sampler = RegressionEmission([0]).make_sampler(x, 2)
        sampler.attach(x)
        sampler.condition(np.arange(40) // 20)
        logs.append(sampler.log_evidence())
    assert_allclose(logs[1], logs[0] - 40 * np.log(1e5), rtol=1e-6)


# Missing values given states and parameters: a Gaussian in full


def with_gaps(n_dims):
    """Return values, of which first ones, whole steps and single columns are missing."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(PTR[-1], n_dims)) @ rng.normal(size=(n_dims, n_dims)) + 1.0
    for t in (0, 4, 5, 6, 16, 25):
        values[t] = np.nan
    values[[1, 12, 20], -1] = np.nan
    return values, rng.integers(2, size=PTR[-1])


def gaussian(sampler, values, states, lags, trend):
    """Return means and covariances of the missing values of each sequence, from all residuals."""
    n_dims = values.shape[1]
    lags = list(range(1, lags + 1)) if isinstance(lags, int) else lags
    whitening, start, found = sampler.whitening(), sampler.starting_lags, []
    for begin, end in pairwise(PTR):
        n = (end - begin) * n_dims
        rows, constants = [], []
        inverse = np.linalg.inv(start.root @ start.root.T)
        first = np.zeros((len(start.mean), n))
        for e in range(len(start.mean)):
            t = max(lags) - 1 - e // n_dims
            first[e, t * n_dims + e % n_dims] = 1.0
        precision = first.T @ inverse @ first
        linear = first.T @ inverse @ start.mean
        for t in range(max(lags), end - begin):
            w = whitening[states[begin + t]]
            row, constant = np.zeros((n_dims, n)), w[:, 0].copy()
            for i, lag in enumerate(lags):
                at = (t - lag) * n_dims
                row[:, at : at + n_dims] += w[:, 1 + i * n_dims : 1 + (i + 1) * n_dims]
            if trend == "ct":
                constant += w[:, 1 + len(lags) * n_dims] * (t + 1)
            row[:, t * n_dims : (t + 1) * n_dims] += w[:, -n_dims:]
            rows.append(row)
            constants.append(constant)
        rows, constants = np.vstack(rows), np.concatenate(constants)
        precision, linear = precision + rows.T @ rows, linear - rows.T @ constants
        own = values[begin:end].ravel()
        hidden = np.isnan(own)
        covariance = np.linalg.inv(precision[np.ix_(hidden, hidden)])
        known = precision[np.ix_(hidden, ~hidden)] @ own[~hidden]
        found.append((covariance @ (linear[hidden] - known), covariance))
    return found


@pytest.mark.parametrize(
    ("n_dims", "lags", "trend"),
    [(1, 1, "c"), (1, 3, "c"), (2, 1, "c"), (2, 2, "ct"), (1, [1, 4], "ct"), (2, [3], "c")],
)
def test_draws_of_missing_values(n_dims, lags, trend):
    """Standardized draws: moments of up to 15 values."""
    values, states = with_gaps(n_dims)
    emission = AutoregressiveEmission(lags, trend=trend, degrees_of_freedom_prior=n_dims + 4.0)
    sampler, rng = emission.make_sampler(values, N_STATES, PTR), stream(3)
    sampler.attach(values, PTR)
    sampler.draw(states, stream(1))
    expected = gaussian(sampler, values, states, lags, trend)
    ends = np.cumsum([len(mean) for mean, _ in expected])

    def step():
        sampler.complete(states, rng)
        return sampler._drawn.copy()

    def compare(draws):
        parts = np.split(draws, ends[:-1], axis=1)
        z = np.hstack([
            np.linalg.solve(np.linalg.cholesky(covariance), (own - mean).T).T
            for own, (mean, covariance) in zip(parts, expected, strict=True)
        ])  # fmt: skip
        yield z, np.zeros(ends[-1]), "means"
        yield z[:, :, np.newaxis] * z[:, np.newaxis], np.eye(ends[-1]), "products"

    check_chain(step, compare, 4000)


def test_whitening_maps_to_standard_residuals():
    """The rows are those of the densities: squares and log determinants give log_obs."""
    problem = make_problem(2, 1, above=3.5)
    sampler, found = problem.drawn(), np.empty((PTR[-1], N_STATES))
    sampler.write_log_obs(found)
    for t in (1, 10, 25):
        for j, w in enumerate(sampler.whitening()):
            residuals = w @ np.concatenate([[1.0], problem.values[t - 1], problem.values[t]])
            expected = np.linalg.slogdet(w[:, -2:])[1] - np.log(2 * np.pi)
            assert_allclose(found[t, j], expected - 0.5 * residuals @ residuals, rtol=1e-9)


def test_long_gaps_of_smooth_series_keep_their_digits():
    """A gap of 2,000 steps in a double random walk, whose precision has a condition of 1e14."""
    t = np.arange(2400)
    values = (1e-3 * t + np.cumsum(np.cumsum(np.random.default_rng(0).normal(size=2400))))[:, None]
    values[200:2200] = np.nan
    ptr = np.array([0, 2400])
    emission = AutoregressiveEmission(
        2, coef_prior=[[2.0, -1.0, 0.0]], coef_precision_prior=1e6, covariance_prior=[[1e4]],
        degrees_of_freedom_prior=1e4,
    )  # fmt: skip
    sampler = emission.make_sampler(values, 1, ptr)
    sampler.attach(values, ptr)
    states = np.zeros(2400, dtype=np.int64)
    sampler.draw(states, stream())
    sampler.complete(states, stream(2))
    filled = values.copy()
    filled[200:2200, 0] = sampler._drawn
    w = sampler.whitening()[0, 0]
    residuals = w[0] + w[1] * filled[1:-1] + w[2] * filled[:-2] + w[3] * filled[2:]
    assert 0.9 < np.std(residuals) < 1.1
    assert np.abs(residuals).max() < 6.0
