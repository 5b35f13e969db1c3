"""The scale that states share, drawn: against quadrature, weighted draws of its prior, and Geweke.

The oracle is the joint distribution: S = F + R Q R^T, Q ~ Wishart(n, I / n) cut off where the
harmonic mean of its eigenvalues is below 1e-4, and the inverse Wishart prior of each state's
covariance given S. If nu is drawn, it is D + 1 + g D with g one of 1, 2, 4, 8 and 16, and S is g
times as large. Expected scales are written from the docstring of `GaussianEmission`.
"""

from math import lgamma, log, pi

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means
from scipy import stats
from scipy.special import digamma, logsumexp, multigammaln

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import GaussianEmission, StudentTEmission

LOWEST = 1e-4
PRECISION, FREEDOM = 0.3, 4.5
RATIOS = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
STATES = np.array([0, 0, 1, 0, 1, 1, 0, 2])
N_STATES = 4  # the last one is empty
RNG = np.random.default_rng(11)
PLANE = RNG.normal(size=(8, 2)) @ [[1.5, 0.9], [0.0, 0.4]] + 2.0 * RNG.normal(size=(3, 2))[STATES]
N_DRAWS = 20_000


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def make_sampler(
    values, covariance_type="full", kind=GaussianEmission, freedom=FREEDOM, **parameters
):
    n_dims = values.shape[1]
    emission = kind(
        covariance_type=covariance_type,
        mean_prior=np.zeros(n_dims),
        mean_precision_prior=PRECISION,
        degrees_of_freedom_prior=freedom,
        covariance_prior="auto",
        **parameters,
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
    weights = np.exp(logs - logsumexp(logs))
    return weights @ log_q, weights @ q


def follow(sampler, measure, states=STATES, n_draws=N_DRAWS, seed=1):
    rng, found = stream(seed), []
    for _ in range(n_draws):
        sampler.draw(states, rng)
        found.append(measure(sampler.prior.scale))
    return np.array(found)


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_one_column(covariance_type):
    """Two figures: a false alarm in 1e-5 of seeds."""
    values = PLANE[:, :1]
    mean = expected_scale(values)
    found = follow(make_sampler(values, covariance_type), lambda s: s[0, 0, 0] / mean[0, 0])
    expected = line_posterior(values, STATES, np.sqrt(mean[0]), np.zeros((1, 1)))
    assert_means(np.column_stack([np.log(found), found]), np.array(expected), "q")


def test_columns_that_are_independent_have_a_scale_each():
    values = PLANE.copy()
    values[[1, 4], 0] = np.nan
    values[2, 1] = np.nan
    sampler = make_sampler(values, "diag")
    found = follow(sampler, lambda s: s[:, 0, 0])
    for d in range(2):
        seen = ~np.isnan(values[:, d])
        column = values[seen][:, [d]]
        mean = expected_scale(column, 2)
        expected = line_posterior(column, STATES[seen], np.sqrt(mean[0]), np.zeros((1, 1)))
        q = found[:, d] / mean[0, 0]
        assert_means(np.column_stack([np.log(q), q]), np.array(expected), f"column {d}")


def follow_both(sampler, step, n_draws=N_DRAWS):
    """Return log det S / g, and which value g has, after each of many steps."""
    width, rng = sampler.prior.mean.shape[1], stream(1)
    found = np.empty((n_draws, 1 + len(RATIOS)))
    for i in range(n_draws):
        step(rng)
        ratio = (sampler.prior.dof - width - 1.0) / width
        found[i, 0] = np.linalg.slogdet(sampler.prior.scale[0] / ratio)[1]
        found[i, 1:] = np.abs(RATIOS - ratio) < 1e-9
    assert np.all(found[:, 1:].sum(axis=1) == 1.0)
    return found


def test_degrees_of_freedom_of_one_column():
    """By quadrature. Six figures: a false alarm in 1e-5 of seeds."""
    values = PLANE[:, :1]
    sampler = make_sampler(values, freedom=3.0)
    sampler.scale_prior = sampler.scale_prior._replace(freedoms=tuple(2.0 + RATIOS))
    found = follow_both(sampler, lambda rng: sampler.draw(STATES, rng), 2 * N_DRAWS)
    mean = expected_scale(values, freedom=3.0)
    log_q = np.linspace(log(LOWEST), log(200.0), 4001)
    scales = np.exp(log_q)[:, np.newaxis, np.newaxis] * mean
    prior = stats.gamma(0.5, scale=2.0).logpdf(np.exp(log_q)) + log_q
    logs = np.array([prior + log_evidences(values, STATES, g * scales, 2.0 + g) for g in RATIOS])
    weights = np.exp(logs - logsumexp(logs))
    expected = [weights.sum(axis=0) @ log_q + log(mean[0, 0]), *weights.sum(axis=1)]
    assert_means(found, np.array(expected), "log S / g, g")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "student t"])
def test_degrees_of_freedom_of_two_columns(kind):
    """By weighted draws of S / g. Six figures, 4.5 standard errors: a false alarm in 4e-5.

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
    found = follow_both(
        sampler,
        lambda rng: sampler._draw_shared(sampler.scale_prior, statistics, rng),
        3 * N_DRAWS,
    )
    scales = stats.wishart(2, mean / 2).rvs(400_000, random_state=4)
    logs = np.array([
        log_evidences(PLANE, STATES, g * scales, 3.0 + 2.0 * g, chances) for g in RATIOS
    ])  # fmt: skip
    traces = np.einsum("mde,ed->m", np.linalg.inv(scales), mean)
    shares = np.exp(logs - logs.max()) * (traces * LOWEST <= 2.0)
    shares /= shares.sum()
    figures = np.zeros((len(RATIOS), len(scales), 6))
    figures[:, :, 0] = np.linalg.slogdet(scales)[1]
    figures[np.arange(5), :, 1 + np.arange(5)] = 1.0
    expected = np.einsum("gm,gmf->f", shares, figures)
    errors = np.sqrt((np.einsum("gm,gmf->mf", shares, figures - expected) ** 2).sum(axis=0))
    batches = found.reshape(60, -1, 6).mean(axis=1)
    own_errors = batches.std(axis=0, ddof=1) / np.sqrt(60)
    assert np.abs((found.mean(axis=0) - expected) / np.hypot(errors, own_errors)).max() < 4.5


def test_degrees_of_freedom_given_the_covariances():
    """In closed form, with S integrated out. Six figures: a false alarm in 1e-5 of seeds."""
    sampler = make_sampler(PLANE, freedom=None)
    sampler.draw(STATES, stream())
    factors = sampler.precision_factors.copy()
    found = follow_both(sampler, sampler.move_shared, 2 * N_DRAWS)
    np.testing.assert_array_equal(sampler.precision_factors, factors)
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
    weights = np.exp(logs - logsumexp(logs))
    assert_means(found, np.array([weights @ log_dets, *weights]), "log det S / g, g")


def weighted_draws(values, states, n_draws, seed=5):
    """Return draws of S from its prior, and their posterior weights."""
    n_dims = values.shape[1]
    mean = expected_scale(values)
    scales = stats.wishart(n_dims, mean / n_dims).rvs(n_draws, random_state=seed)
    traces = np.einsum("mde,ed->m", np.linalg.inv(scales), mean)
    scales = scales[traces * LOWEST <= n_dims]
    logs = log_evidences(values, states, scales)
    return scales, np.exp(logs - logs.max())


@pytest.mark.slow
def test_full_scales():
    """Five figures, 4.5 standard errors of both sides: a false alarm in 4e-5 of seeds."""
    sampler = make_sampler(PLANE)

    def measure(s):
        return [*s[0][np.tril_indices(2)], np.linalg.slogdet(s[0])[1], np.linalg.inv(s[0])[0, 0]]

    found = follow(sampler, measure, n_draws=60_000)
    scales, weights = weighted_draws(PLANE, STATES, 1_000_000)
    figures = np.column_stack([
        scales[:, *np.tril_indices(2)], np.linalg.slogdet(scales)[1], np.linalg.inv(scales)[:, 0, 0]
    ])  # fmt: skip
    shares = weights / weights.sum()
    expected = shares @ figures
    errors = np.sqrt((shares**2) @ (figures - expected) ** 2)
    batches = found.reshape(60, -1, 5).mean(axis=1)
    own_errors = batches.std(axis=0, ddof=1) / np.sqrt(60)
    assert np.abs((found.mean(axis=0) - expected) / np.hypot(errors, own_errors)).max() < 4.5


def test_directions_in_which_nothing_varies_stay():
    """A column that is a multiple of the other: Q is a number."""
    x = PLANE[:, 0]
    values = np.column_stack([x, -2.0 * x + 1.0])
    mean = expected_scale(values)
    lengths = np.sqrt(np.diag(mean))
    root = lengths * [1.0, -1.0] * np.sqrt(0.5 * (2.0 - 1e-4))
    fixed = mean - np.outer(root, root)
    sampler = make_sampler(values)
    scales = follow(sampler, lambda s: s[0])
    free = np.einsum("d,mde,e->m", root, scales, root) / (root @ root) ** 2
    free -= root @ fixed @ root / (root @ root) ** 2
    rest = scales - free[:, np.newaxis, np.newaxis] * np.outer(root, root)
    np.testing.assert_allclose(rest, np.broadcast_to(fixed, rest.shape), rtol=1e-9, atol=1e-12)
    expected = line_posterior(values, STATES, root, fixed)
    assert_means(np.column_stack([np.log(free), free]), np.array(expected), "q")


def test_a_constant_column_has_no_scale():
    """It is left out, or its scale is a number with Student t states."""
    x = PLANE[:, :1]
    values = np.column_stack([x, np.full(len(x), 3.0)])
    alone, together = (
        follow(make_sampler(own), lambda s: s[0].copy(), n_draws=20) for own in (x, values)
    )
    np.testing.assert_array_equal(together, alone)
    student = follow(make_sampler(values, kind=StudentTEmission), lambda s: s[0].copy(), n_draws=20)
    assert np.ptp(student[:, 0, 0]) > 0.0
    assert np.all(student[:, 1, 1] == student[0, 1, 1])
    assert np.all(student[:, 0, 1] == 0.0)


@pytest.mark.parametrize("kind", ["full", "diag", "student t"])
def test_geweke(kind):
    """S, then observations given it, in turn: S has its prior, cut off. At most six figures."""
    parameters = {"kind": StudentTEmission} if kind == "student t" else {}
    sampler = make_sampler(PLANE, "diag" if kind == "diag" else "full", **parameters)
    n_blocks, width = sampler.prior.mean.shape
    mean = sampler.prior.scale.copy()
    rng, numbers, found = stream(3), np.random.default_rng(3), []
    values, chances = PLANE.copy(), np.ones(len(PLANE))
    for _ in range(40_000):
        for b in range(n_blocks):
            rows = slice(b * width, (b + 1) * width)
            for k in range(3):
                at = np.flatnonzero(k == STATES)
                factor = sampler.precision_factors[k * n_blocks + b]
                noise = numbers.normal(size=(len(at), width))
                noise /= np.sqrt(chances[at])[:, np.newaxis]
                values[at, rows] = sampler.means[k * n_blocks + b] + noise @ np.linalg.inv(factor).T
        sampler.attach(values)
        if kind == "student t":
            sampler.complete(STATES, rng)
            chances = sampler._weights[:, 0].copy()
        sampler.draw(STATES, rng)
        found.append(sampler.prior.scale.copy())
    found = np.array(found)
    for b in range(n_blocks):
        prior = stats.wishart(width, mean[b] / width).rvs(400_000, random_state=b)
        prior = prior.reshape(-1, width, width)
        traces = np.einsum("mde,ed->m", np.linalg.inv(prior), mean[b])
        prior = prior[traces * LOWEST <= width]
        expected = np.mean(measure_prior(prior, mean[b]), axis=0)
        assert_means(measure_prior(found[:, b], mean[b]), expected, f"block {b}")


def measure_prior(scales, mean):
    log_dets = np.linalg.slogdet(scales)[1]
    ratio = scales[:, 0, 0] / mean[0, 0]
    return np.column_stack([log_dets, np.exp(-ratio), np.minimum(ratio, 2.0)])


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_given_the_covariances(covariance_type):
    """What `move_shared` draws has the mean of a Wishart matrix, and is put back as it was."""
    sampler = make_sampler(PLANE, covariance_type)
    sampler.draw(STATES, stream())
    first, factors = sampler.prior, sampler.precision_factors.copy()
    n_blocks, width = first.mean.shape
    mean = sampler.scale_prior.inverses
    rng, found = stream(7), []
    for _ in range(N_DRAWS):
        before = sampler.move_shared(rng)
        found.append(sampler.prior.scale.copy())
        sampler.restore_shared(before)
        assert sampler.prior is first
    np.testing.assert_array_equal(sampler.precision_factors, factors)
    found = np.array(found)
    for b in range(n_blocks):
        own = factors[b::n_blocks]
        total = width * mean[b] + np.einsum("kde,kdf->ef", own, own)
        expected = (width + FREEDOM * N_STATES) * np.linalg.inv(total)
        rows, columns = np.tril_indices(width)
        assert_means(found[:, b, rows, columns], expected[rows, columns], f"block {b}")


def test_degrees_of_freedom_are_in_the_log_evidence():
    sampler = make_sampler(PLANE, freedom=None)
    rng, tried = stream(), set()
    for _ in range(200):
        sampler.draw(STATES, rng)
        nu, scale = sampler.prior.dof, sampler.prior.scale
        if nu not in tried:
            tried.add(nu)
            root = np.linalg.inv(np.linalg.cholesky(expected_scale(PLANE, freedom=5.0)))
            q = root @ scale[0] @ root.T / (0.5 * (nu - 3.0))
            expected = log_evidences(PLANE, STATES, scale, nu)[0] - log(5.0)
            expected += stats.wishart(2, np.eye(2) / 2).logpdf(q) + 1.5 * np.linalg.slogdet(q)[1]
            np.testing.assert_allclose(sampler.log_evidence(), expected, rtol=1e-9)
    assert len(tried) > 2


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_the_log_evidence_has_the_density_of_the_scale(covariance_type):
    """In proportion to dQ / det(Q)^((n + 1) / 2)."""
    sampler = make_sampler(PLANE, covariance_type)
    sampler.draw(STATES, stream())
    scale = sampler.prior.scale
    if covariance_type == "full":
        blocks = [(PLANE, scale[0])]
    else:
        blocks = [(PLANE[:, [d]], scale[d]) for d in range(2)]
    expected = 0.0
    for values, own in blocks:
        n = values.shape[1]
        root = np.linalg.inv(np.linalg.cholesky(expected_scale(values, 2)))
        q = root @ own @ root.T
        expected += log_evidences(values, STATES, own[np.newaxis])[0]
        expected += stats.wishart(n, np.eye(n) / n).logpdf(q)
        expected += 0.5 * (n + 1) * np.linalg.slogdet(q)[1]
    np.testing.assert_allclose(sampler.log_evidence(), expected, rtol=1e-9)


def test_the_scale_stays_above_its_bound():
    """Rows that are equal in each state would pull it to 0."""
    states = np.repeat([0, 1, 2], 100)
    values = np.array([0.0, 3.0, 1.0])[states][:, np.newaxis]
    found = follow(make_sampler(values), lambda s: s[0, 0, 0], states, n_draws=300)
    ratios = found / expected_scale(values)[0, 0]
    assert LOWEST <= ratios.min() < 0.01


def test_held():
    sampler = make_sampler(PLANE)
    sampler.held = True
    before = sampler.prior
    sampler.draw(STATES, stream())
    assert sampler.prior is before
    assert sampler.move_shared(stream()) is None
