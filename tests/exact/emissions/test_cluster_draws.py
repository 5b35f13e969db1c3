"""Parameters of clusters that blocked samplers draw, and densities given them, by analytic moments.

By independent draws: |z| < 5 for some 80 means, taken as normal: a false alarm for one in 20,000
choices of the seeds; these are fixed. The rows are so many that fourth moments of all that is
averaged exist.
"""

import numpy as np
import pytest
from exact.mixture.problems import make_chain_sampler
from exact.oracles.normal_wishart import posterior
from numpy.testing import assert_allclose
from scipy import stats

from skdp._numeric._numba import njit_loop
from skdp.emissions import (
    CategoricalEmission,
    GaussianEmission,
    MultinomialEmission,
    PoissonEmission,
)
from skdp.emissions._kernels_cluster_draws import weigh_counts_given, weigh_gaussian_row_given
from skdp.mixture._blocked_sampler import BlockedSampler

N_DRAWS = 20_000
DISCOUNT = 0.4
MEAN, PRECISION, DOF = [0.5, -1.0, 2.0], 0.7, 4.5
SCALE = np.array([[2.0, 0.7, -0.3], [0.7, 1.0, 0.2], [-0.3, 0.2, 0.6]])
GAUSSIAN = np.random.default_rng(0).normal(size=(12, 3)) @ [[1, 0.8, 0], [0, 0.5, -1], [0, 0, 2]]
COUNTS = np.array([[2, 0, 1], [1, 1, 0], [0, 3, 0], [0, 12, 9], [0, 0, 0]])
SYMBOLS = np.array([[0], [0], [1], [2], [1], [1]])
SHAPES = np.array([0.5, 0.8, 0.6])
PRIOR = {
    "mean_prior": MEAN, "mean_precision_prior": PRECISION, "degrees_of_freedom_prior": DOF,
}  # fmt: skip


@njit_loop
def weigh_gaussian(x, drawn, lines):
    weigh_gaussian_row_given(x, drawn, lines)


@njit_loop
def weigh_counts(i, rows, drawn, lines):
    weigh_counts_given(i, rows, drawn, lines)


class Rows:
    """Rows of one cluster, and what `make_chain_sampler` asks of a problem."""

    def __init__(self, rows, emission):
        self.rows, self.emission = rows, emission


FULL = Rows(GAUSSIAN, GaussianEmission("full", covariance_prior=SCALE, **PRIOR))
DIAG = Rows(GAUSSIAN, GaussianEmission("diag", covariance_prior=np.diag(SCALE), **PRIOR))
POISSON = Rows(COUNTS, PoissonEmission(0.8, 0.4))
MULTINOMIAL = Rows(COUNTS, MultinomialEmission(SHAPES))
CATEGORICAL = Rows(SYMBOLS, CategoricalEmission(3, prior=SHAPES))


def draw(problem, labels=None, n_draws=N_DRAWS):
    """Return a sampler whose clusters are drawn so often, and the draws: (K, n_draws) clusters."""
    labels = np.zeros(len(problem.rows), dtype=np.int64) if labels is None else labels
    sampler = make_chain_sampler(problem, DISCOUNT, 0.7, init=labels, sampler=BlockedSampler)
    clusters, n = sampler._move(0, 0, sampler.stream), sampler.n_clusters
    many = type(clusters)(*(np.repeat(part[..., :n], n_draws, axis=-1) for part in clusters))
    sampler.n_clusters = n * n_draws
    return sampler, sampler._draw_parameters(many, sampler.stream)


def means_and_precisions(drawn):
    """Return what Gaussian draws say: (B, n, W) means, (B, n, W, W) inverse covariances."""
    _, width, n = drawn.factors.shape
    factors = np.tril(drawn.factors.reshape(-1, width, width, n).transpose(0, 3, 1, 2))
    factors *= np.sqrt(2.0)  # above the diagonal, nothing was written
    offsets = np.sqrt(2.0) * drawn.offsets.reshape(-1, width, n).transpose(0, 2, 1)
    means = np.linalg.solve(factors, offsets[..., None])[..., 0]
    return means, np.swapaxes(factors, -1, -2) @ factors


def assert_means(draws, expected, what):
    """Compare the means of independent draws to what is expected."""
    error = np.maximum(draws.std(axis=0) / np.sqrt(len(draws)), 1e-12)
    z = (draws.mean(axis=0) - expected) / error
    assert np.all(np.abs(z) < 5.0), f"{what}: z = {z}"


def assert_moments(draws, expected, variance, what):
    assert_means(draws, expected, what)
    assert_means((draws - expected) ** 2, variance, f"variance of {what}")


def assert_posterior(means, precisions, expected):
    away = means - expected.center
    squares = away[:, :, None] * away[:, None, :]
    spread, concentration = expected.spread(), expected.concentration()
    assert_means(means, expected.center, "mean")
    assert_means(squares, spread / expected.precision, "covariance of the mean")
    assert_means(np.linalg.inv(precisions), spread, "covariance")
    assert_moments(
        precisions, concentration, expected.variances_of_concentration(), "inverse covariance"
    )
    # Given the covariance, the mean is as far out as a standard normal vector.
    heights = np.einsum("ni,nij,nj->n", away, precisions, away) * expected.precision
    assert_moments(heights, len(expected.center), 2.0 * len(expected.center), "distance")


def test_full_covariances():
    _, drawn = draw(FULL)
    (means,), (precisions,) = means_and_precisions(drawn)
    assert_posterior(means, precisions, posterior(GAUSSIAN, MEAN, PRECISION, DOF, SCALE))


def test_diagonal_covariances():
    """Each column as if it were alone."""
    _, drawn = draw(DIAG)
    means, precisions = means_and_precisions(drawn)
    for d in range(3):
        expected = posterior(GAUSSIAN[:, [d]], MEAN[d : d + 1], PRECISION, DOF, [[SCALE[d, d]]])
        assert_posterior(means[d], precisions[d], expected)


def test_intensities():
    """Gamma posteriors, independent."""
    _, drawn = draw(POISSON)
    shapes, rate = 0.8 + COUNTS.sum(axis=0), 0.4 + len(COUNTS)
    draws = np.exp(drawn.logs.T)
    assert_moments(draws, shapes / rate, shapes / rate**2, "intensities")
    away = draws - shapes / rate
    assert_means(away * np.roll(away, 1, axis=1), np.zeros(3), "covariances")


@pytest.mark.parametrize(
    ("problem", "events"),
    [(MULTINOMIAL, COUNTS.sum(axis=0)), (CATEGORICAL, np.bincount(SYMBOLS[:, 0]))],
    ids=["multinomial", "categorical"],
)
def test_probabilities(problem, events):
    """Dirichlet posteriors."""
    _, drawn = draw(problem)
    expected = stats.dirichlet(SHAPES + events)
    draws = np.exp(drawn.logs.T)
    assert_allclose(draws.sum(axis=1), 1.0)
    assert_moments(draws, expected.mean(), expected.var(), "probabilities")


def log_weights(drawn, kind):
    """Return the logs of what clusters are weighed by beside the densities of rows."""
    if kind in ("full", "diag"):
        _, precisions = means_and_precisions(drawn)
        return drawn.heads - 0.5 * np.linalg.slogdet(precisions)[1].sum(axis=0)
    return drawn.heads + (np.exp(drawn.logs).sum(axis=0) if kind == "poisson" else 0.0)


def log_densities(drawn, kind, row):
    """Return the log densities of a row given what was drawn for each cluster."""
    if kind in ("full", "diag"):
        means, precisions = means_and_precisions(drawn)
        covariances, width = np.linalg.inv(precisions), means.shape[2]
        return np.array([
            sum(
                stats.multivariate_normal.logpdf(
                    row[b * width : (b + 1) * width], means[b, k], covariances[b, k]
                )
                for b in range(len(means))
            )
            for k in range(means.shape[1])
        ])  # fmt: skip
    chances = np.exp(drawn.logs.T)
    if kind == "poisson":
        return stats.poisson.logpmf(row, chances).sum(axis=1)
    return stats.multinomial.logpmf(row, int(row.sum()), chances)


KINDS = {
    "full": FULL, "diag": DIAG, "poisson": POISSON, "multinomial": MULTINOMIAL,
    "categorical": CATEGORICAL,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_weights(kind):
    """Gamma draws of shape n_k - a: divided by their sum, with another one, they are Dirichlet."""
    problem = KINDS[kind]
    _, drawn = draw(problem)
    shape = len(problem.rows) - DISCOUNT
    assert_moments(np.exp(log_weights(drawn, kind)), shape, shape, "weights")


@pytest.mark.parametrize("kind", KINDS)
def test_densities_of_rows(kind):
    """Log densities of rows under all clusters, but for what these share."""
    problem = KINDS[kind]
    labels = np.arange(len(problem.rows)) // 3
    sampler, drawn = draw(problem, labels, n_draws=3)
    lines = np.empty((3, len(drawn.heads)))
    for i, row in enumerate(problem.rows):
        if kind in ("full", "diag"):
            weigh_gaussian(row, drawn, lines)
        else:
            weigh_counts(i, sampler._terms.rows, drawn, lines)
        events = np.eye(3, dtype=int)[row[0]] if kind == "categorical" else row
        expected = log_weights(drawn, kind) + log_densities(drawn, kind, events)
        apart = lines[0] - expected
        assert_allclose(apart - apart[0], 0.0, atol=1e-9)
