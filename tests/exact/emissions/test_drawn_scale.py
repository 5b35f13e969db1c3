"""The scale that states share, drawn: against quadrature and weighted draws of its prior.

By batch means (see `batch_means`): |z| < 5 for about 50 figures.

The oracle is the joint distribution: S = F + R Q R^T, Q ~ Wishart(n, I / n) cut off where the
harmonic mean of its eigenvalues is below 1e-4, and the inverse Wishart prior of each state's
covariance given S. If nu is drawn, it is D + 1 + g D with g one of 1, 2, 4, 8 and 16, and S is g
times as large. Expected scales are written from the docstring of `GaussianEmission`.
"""

from math import lgamma, log, pi

import numpy as np
import pytest
from exact.oracles.batch_means import check_chain
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import digamma, multigammaln, softmax
from unit.emissions.helpers import stream

from skdp.emissions import GaussianEmission, StudentTEmission

LOWEST = 1e-4
PRECISION, FREEDOM = 0.3, 4.5
RATIOS = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
STATES = np.array([0, 0, 1, 0, 1, 1, 0, 2])
N_STATES = 4  # the last one is empty
RNG = np.random.default_rng(11)
PLANE = RNG.normal(size=(8, 2)) @ [[1.5, 0.9], [0.0, 0.4]] + 2.0 * RNG.normal(size=(3, 2))[STATES]
N_DRAWS = 20_000


def make_sampler(values, covariance_type="full", kind=GaussianEmission, freedom=FREEDOM):
    emission = kind(
        covariance_type=covariance_type,
        mean_prior=np.zeros(values.shape[1]),
        mean_precision_prior=PRECISION,
        degrees_of_freedom_prior=freedom,
        covariance_prior="auto",
        resolution=None,
    )
    sampler = emission.make_sampler(values, N_STATES)
    sampler.attach(values)
    return sampler


def expected_scale(values, n_columns=None, freedom=FREEDOM):
    """Return the prior mean of S: what it is with None.

    Of one of `n_columns` independent columns, or of all of them together.
    """
    n_dims = values.shape[1]
    correlations = (1.0 - 1e-4) * np.corrcoef(values.T).reshape(n_dims, n_dims)
    np.fill_diagonal(correlations, 1.0)
    deviations = values.std(axis=0)
    share = 0.2 ** (1.0 / (n_columns or n_dims)) * max(freedom - n_dims - 1.0, 1.0)
    return share * correlations * np.outer(deviations, deviations)


def log_evidences(values, states, scales, freedom=FREEDOM, chances=None):
    """Return log p(x | states, nu, S) for many S, (M, D, D).

    With `chances` u, (N,), x_t ~ N(mu, Sigma / u_t), and D / 2 log u_t is left out.
    """
    n_dims = values.shape[1]
    chances = np.ones(len(values)) if chances is None else chances
    total = np.zeros(len(scales))
    for k in np.unique(states):
        rows = values[states == k]
        n, u = len(rows), chances[states == k]
        mass, mean = u.sum(), u @ rows / u.sum()
        spread = (u[:, np.newaxis] * (rows - mean)).T @ (rows - mean)
        spread += PRECISION * mass / (PRECISION + mass) * np.outer(mean, mean)
        total += 0.5 * freedom * np.linalg.slogdet(scales)[1]
        total -= 0.5 * (freedom + n) * np.linalg.slogdet(scales + spread)[1]
        total += 0.5 * n_dims * (log(PRECISION / (PRECISION + mass)) - n * log(pi))
        total += sum(
            lgamma(0.5 * (freedom + n - d)) - lgamma(0.5 * (freedom - d)) for d in range(n_dims)
        )
    return total


def line_posterior(values, states, root, fixed):
    """Return E[log q] and E[q] where Q is a number, by trapezoids in log q."""
    log_q = np.linspace(log(LOWEST), log(200.0), 4001)
    q = np.exp(log_q)
    scales = fixed + q[:, np.newaxis, np.newaxis] * np.outer(root, root)
    logs = stats.gamma(0.5, scale=2.0).logpdf(q) + log_q + log_evidences(values, states, scales)
    weights = softmax(logs)
    return weights @ log_q, weights @ q


def draw_from(sampler, measure, states=STATES, seed=1):
    """Return a function that draws, and returns what is measured of the scales (B, W, W)."""
    rng = stream(seed)

    def step():
        sampler.draw(states, rng)
        return measure(sampler.prior.scale)

    return step


def compare_numbers(*expected):
    """Return a function that compares numbers q, (n, B), to E[log q] and E[q] of each."""
    return lambda q: [(np.stack([np.log(q), q], axis=-1), np.array(expected), "log q, q")]


def test_one_column():
    values = PLANE[:, :1]
    mean = expected_scale(values)
    expected = line_posterior(values, STATES, np.sqrt(mean[0]), np.zeros((1, 1)))
    step = draw_from(make_sampler(values), lambda s: s[:, 0, 0] / mean[0, 0])
    check_chain(step, compare_numbers(expected), N_DRAWS)


def test_columns_that_are_independent_have_a_scale_each():
    values = PLANE.copy()
    values[[1, 4], 0] = np.nan
    values[2, 1] = np.nan
    means, expected = [], []
    for d in range(2):
        seen = ~np.isnan(values[:, d])
        column = values[seen][:, [d]]
        mean = expected_scale(column, 2)
        means.append(mean[0, 0])
        expected.append(line_posterior(column, STATES[seen], np.sqrt(mean[0]), np.zeros((1, 1))))
    step = draw_from(make_sampler(values, "diag"), lambda s: s[:, 0, 0] / means)
    check_chain(step, compare_numbers(*expected), N_DRAWS)


def test_directions_in_which_nothing_varies_stay():
    """A column that is a multiple of the other: Q is a number."""
    x = PLANE[:, 0]
    values = np.column_stack([x, -2.0 * x + 1.0])
    mean = expected_scale(values)
    lengths = np.sqrt(np.diag(mean))
    root = lengths * [1.0, -1.0] * np.sqrt(0.5 * (2.0 - 1e-4))
    fixed = mean - np.outer(root, root)

    def measure(scale):
        free = root @ (scale[0] - fixed) @ root / (root @ root) ** 2
        rest = scale[0] - free * np.outer(root, root)
        assert_allclose(rest, fixed, rtol=1e-9, atol=1e-12)
        return np.array([free])

    expected = line_posterior(values, STATES, root, fixed)
    check_chain(draw_from(make_sampler(values), measure), compare_numbers(expected), N_DRAWS)


def test_a_constant_column_has_no_scale():
    """It is left out, or its scale is a number with Student t states."""
    x = PLANE[:, :1]
    values = np.column_stack([x, np.full(len(x), 3.0)])
    samplers = make_sampler(x), make_sampler(values), make_sampler(values, kind=StudentTEmission)
    steps = [draw_from(sampler, lambda s: s[0].copy()) for sampler in samplers]
    alone, together, student = (np.array([step() for _ in range(20)]) for step in steps)
    assert_array_equal(together, alone)
    assert np.ptp(student[:, 0, 0]) > 0.0
    assert np.all(student[:, 1, 1] == student[0, 1, 1])
    assert np.all(student[:, 0, 1] == 0.0)


@pytest.mark.slow
def test_full_scales():
    """By a million weighted draws of the prior; errors are those of both sides."""
    lower = np.tril_indices(2)

    def figures(scales):
        inverses = np.linalg.inv(scales)[:, 0, 0]
        return np.column_stack([scales[:, *lower], np.linalg.slogdet(scales)[1], inverses])

    mean = expected_scale(PLANE)
    scales = stats.wishart(2, mean / 2).rvs(1_000_000, random_state=5)
    scales = scales[np.einsum("mde,ed->m", np.linalg.inv(scales), mean) * LOWEST <= 2]
    shares = softmax(log_evidences(PLANE, STATES, scales))
    values = figures(scales)
    expected = shares @ values
    errors = np.sqrt((shares**2) @ (values - expected) ** 2)
    step = draw_from(make_sampler(PLANE), np.copy)
    check_chain(step, lambda s: [(figures(s[:, 0]), expected, "figures", errors)], 60_000)


# Degrees of freedom


def draw_both(sampler, step):
    """Return a function that takes a step, and returns log det S / g, and which value g has."""
    width, rng = sampler.prior.mean.shape[1], stream(1)

    def measured():
        step(rng)
        ratio = (sampler.prior.dof - width - 1.0) / width
        is_value = np.abs(RATIOS - ratio) < 1e-9
        assert is_value.sum() == 1
        return np.array([np.linalg.slogdet(sampler.prior.scale[0] / ratio)[1], *is_value])

    return measured


def compare_both(expected, errors=None):
    return lambda found: [(found, np.array(expected), "log det S / g, g", errors)]


@pytest.mark.slow
def test_degrees_of_freedom_of_one_column():
    """By quadrature."""
    values = PLANE[:, :1]
    sampler = make_sampler(values, freedom=3.0)
    sampler.scale_prior = sampler.scale_prior._replace(freedoms=tuple(2.0 + RATIOS))
    mean = expected_scale(values, freedom=3.0)
    log_q = np.linspace(log(LOWEST), log(200.0), 4001)
    scales = np.exp(log_q)[:, np.newaxis, np.newaxis] * mean
    prior = stats.gamma(0.5, scale=2.0).logpdf(np.exp(log_q)) + log_q
    logs = np.array([prior + log_evidences(values, STATES, g * scales, 2.0 + g) for g in RATIOS])
    weights = softmax(logs)
    expected = [weights.sum(axis=0) @ log_q + log(mean[0, 0]), *weights.sum(axis=1)]
    step = draw_both(sampler, lambda rng: sampler.draw(STATES, rng))
    check_chain(step, compare_both(expected), 2 * N_DRAWS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "student t"])
def test_degrees_of_freedom_of_two_columns(kind):
    """By weighted draws of S / g; errors are those of both sides.

    The weights of the steps stay as drawn first.
    """
    if kind == "gaussian":
        sampler, chances = make_sampler(PLANE, freedom=None), None
        mean = expected_scale(PLANE, freedom=5.0)
    else:
        sampler = make_sampler(PLANE, kind=StudentTEmission, freedom=None)
        mean = sampler.prior.scale[0].copy()  # robust moments have tests of their own
        sampler.complete(STATES, stream(2))
        chances = sampler._weights[:, 0].copy()
        assert chances.max() > 2.0 * chances.min()  # they matter
    sampler.condition(STATES)
    statistics = sampler._statistics()
    step = draw_both(
        sampler, lambda rng: sampler._draw_shared(sampler.scale_prior, statistics, rng)
    )
    scales = stats.wishart(2, mean / 2).rvs(400_000, random_state=4)
    logs = np.array([
        log_evidences(PLANE, STATES, g * scales, 3.0 + 2.0 * g, chances) for g in RATIOS
    ])  # fmt: skip
    traces = np.einsum("mde,ed->m", np.linalg.inv(scales), mean)
    shares = softmax(np.where(traces * LOWEST <= 2.0, logs, -np.inf))
    figures = np.zeros((len(RATIOS), len(scales), 6))
    figures[:, :, 0] = np.linalg.slogdet(scales)[1]
    figures[np.arange(5), :, 1 + np.arange(5)] = 1.0
    expected = np.einsum("gm,gmf->f", shares, figures)
    errors = np.sqrt((np.einsum("gm,gmf->mf", shares, figures - expected) ** 2).sum(axis=0))
    check_chain(step, compare_both(expected, errors), 3 * N_DRAWS)


@pytest.mark.slow
def test_degrees_of_freedom_given_the_covariances():
    """In closed form, with S integrated out."""
    sampler = make_sampler(PLANE, freedom=None)
    sampler.draw(STATES, stream())
    factors = sampler.precision_factors.copy()
    precisions = np.swapaxes(factors, 1, 2) @ factors
    inverse = np.linalg.inv(expected_scale(PLANE, freedom=5.0))
    logs, log_dets = [], []
    for g in RATIOS:
        nu = 3.0 + 2.0 * g
        total = 2.0 + nu * N_STATES  # of the Wishart density of S given all Sigma
        rate = 2.0 * inverse / g + precisions.sum(axis=0)
        log_det = np.linalg.slogdet(rate)[1]
        logs.append(
            np.linalg.slogdet(2.0 * inverse / g)[1] - 0.5 * total * log_det
            + multigammaln(0.5 * total, 2) - N_STATES * multigammaln(0.5 * nu, 2)
            + 0.5 * nu * np.linalg.slogdet(precisions)[1].sum()
        )  # fmt: skip
        log_dets.append(
            digamma(0.5 * total) + digamma(0.5 * (total - 1.0)) + 2.0 * log(2.0 / g) - log_det
        )
    weights = softmax(logs)
    step = draw_both(sampler, sampler.move_shared)
    check_chain(step, compare_both([weights @ log_dets, *weights]), 2 * N_DRAWS)
    assert_array_equal(sampler.precision_factors, factors)


# Given the covariances, and the log evidence


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_given_the_covariances(covariance_type):
    """What `move_shared` draws has the mean of a Wishart matrix, and is put back as it was."""
    sampler = make_sampler(PLANE, covariance_type)
    sampler.draw(STATES, stream())
    first, factors = sampler.prior, sampler.precision_factors.copy()
    n_blocks, width = first.mean.shape
    mean = sampler.scale_prior.inverses
    rng, lower = stream(7), np.tril_indices(width)

    def step():
        before = sampler.move_shared(rng)
        found = sampler.prior.scale.copy()
        sampler.restore_shared(before)
        assert sampler.prior is first
        return found

    def compare(found):
        for b in range(n_blocks):
            own = factors[b::n_blocks]
            total = width * mean[b] + np.einsum("kde,kdf->ef", own, own)
            expected = (width + FREEDOM * N_STATES) * np.linalg.inv(total)
            yield found[:, b, *lower], expected[lower], f"block {b}"

    check_chain(step, compare, N_DRAWS)
    assert_array_equal(sampler.precision_factors, factors)


def log_density_of_both(values, scale, mean, nu=FREEDOM):
    """Return log p(x, S | states, nu), of S in proportion to dQ / det(Q)^((n + 1) / 2)."""
    n = len(mean)
    root = np.linalg.inv(np.linalg.cholesky(mean))
    q = root @ scale @ root.T
    log_density = stats.wishart(n, np.eye(n) / n).logpdf(q)
    log_density += 0.5 * (n + 1) * np.linalg.slogdet(q)[1]
    return log_density + log_evidences(values, STATES, scale[np.newaxis], nu)[0]


def test_degrees_of_freedom_are_in_the_log_evidence():
    sampler = make_sampler(PLANE, freedom=None)
    rng, tried = stream(), set()
    for _ in range(200):
        sampler.draw(STATES, rng)
        nu, (scale,) = sampler.prior.dof, sampler.prior.scale
        if nu not in tried:
            tried.add(nu)
            mean = 0.5 * (nu - 3.0) * expected_scale(PLANE, freedom=5.0)
            expected = log_density_of_both(PLANE, scale, mean, nu) - log(5.0)
            assert_allclose(sampler.log_evidence(), expected, rtol=1e-9)
    assert len(tried) > 2


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_the_log_evidence_has_the_density_of_the_scale(covariance_type):
    sampler = make_sampler(PLANE, covariance_type)
    sampler.draw(STATES, stream())
    columns = [[0, 1]] if covariance_type == "full" else [[0], [1]]
    expected = sum(
        log_density_of_both(PLANE[:, own], scale, expected_scale(PLANE[:, own], 2))
        for own, scale in zip(columns, sampler.prior.scale, strict=True)
    )
    assert_allclose(sampler.log_evidence(), expected, rtol=1e-9)


def test_the_scale_stays_above_its_bound():
    """Rows that are equal in each state would pull it to 0."""
    states = np.repeat([0, 1, 2], 100)
    values = np.array([0.0, 3.0, 1.0])[states][:, np.newaxis]
    step = draw_from(make_sampler(values), lambda s: s[0, 0, 0], states)
    ratios = np.array([step() for _ in range(300)]) / expected_scale(values)[0, 0]
    assert LOWEST <= ratios.min() < 0.01


def test_held():
    sampler = make_sampler(PLANE)
    sampler.held = True
    before = sampler.prior
    sampler.draw(STATES, stream())
    assert sampler.prior is before
    assert sampler.move_shared(stream()) is None
