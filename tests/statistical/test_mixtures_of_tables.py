"""Geweke's test of a mixture of mixed columns whose priors are drawn: 12 comparisons a sampler.

Two columns with a full covariance, whose scale and degrees of freedom are drawn, a normal column
with a drawn scale and a column of categories with a drawn concentration, the last two with gaps."""

import numpy as np
import pytest
from statistical.geweke import check_joint

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.emissions import CategoricalEmission, GaussianEmission, IndependentEmissions
from skdp.emissions._table import TableEmissionSampler
from skdp.mixture._rows._partition import LabeledRows
from skdp.mixture._rows._sampler import BlockedSampler, MixtureSampler, PartitionPrior

N_ROWS, N_SYMBOLS, DISCOUNT, CONCENTRATION = 7, 3, 0.2, 0.9
PRECISION, SHAPE, RATE = 0.5, 3.0, 1.5
LOWEST = 1e-4
N_PLAIN = N_SWEEPS = 10_000
MISSING = np.zeros((N_ROWS, 4), dtype=bool)
MISSING[[1, 4, 4], [2, 2, 3]] = True


def make_emission():
    full = GaussianEmission(
        mean_prior=[0.1, -0.2], mean_precision_prior=PRECISION, covariance_prior="auto"
    )
    diagonal = GaussianEmission(
        "diag", mean_prior=[0.3], mean_precision_prior=PRECISION, degrees_of_freedom_prior=5.0,
        covariance_prior="auto",
    )  # fmt: skip
    kinds = CategoricalEmission(N_SYMBOLS, "auto", (SHAPE, RATE))
    return IndependentEmissions(
        [("full", full, [0, 1]), ("diag", diagonal, [2]), ("c", kinds, [3])]
    )


def draw_partition(rng):
    sizes, labels = [], []
    for i in range(N_ROWS):
        weights = np.array([n - DISCOUNT for n in sizes] + [CONCENTRATION + DISCOUNT * len(sizes)])
        k = int(rng.choice(len(weights), p=weights / weights.sum())) if i else 0
        sizes = [*sizes, 0] if k == len(sizes) else sizes
        sizes[k] += 1
        labels.append(k)
    return np.array(labels)


def draw_wishart(dof, scale, rng):
    root = np.linalg.cholesky(scale)
    width = len(scale)
    lower = np.tril(rng.standard_normal((width, width)), -1)
    lower[np.diag_indices(width)] = np.sqrt(rng.chisquare(dof - np.arange(width)))
    return root @ lower @ lower.T @ root.T


def draw_scale(prior, dof, rng):
    """Return S given nu: R Q R^T with Q ~ Wishart(n, I / n), harmonic mean of eigenvalues above."""
    given = prior.given(dof)
    n = int(given.n_free[0])
    while True:
        q = draw_wishart(n, np.eye(n) / n, rng)
        if n / np.trace(np.linalg.inv(q)) >= LOWEST:
            root = given.roots[0][:, :n]
            return (given.fixed[0] + root @ q @ root.T)[np.newaxis]


def draw_rows(labels, full, diagonal, weights, rng):
    """Return rows given the clusters and the priors of the parts."""
    x = np.empty((N_ROWS, 4))
    for k in np.unique(labels):
        own = np.flatnonzero(labels == k)
        for prior, columns in ((full, [0, 1]), (diagonal, [2])):
            covariance = np.linalg.inv(draw_wishart(prior.dof, np.linalg.inv(prior.scale[0]), rng))
            root = np.linalg.cholesky(covariance)
            width = len(columns)
            mean = prior.mean[0] + root @ rng.standard_normal(width) / np.sqrt(PRECISION)
            x[np.ix_(own, columns)] = mean + rng.standard_normal((len(own), width)) @ root.T
        gammas = np.maximum(rng.standard_gamma(weights), 1e-300)
        x[own, 3] = rng.choice(N_SYMBOLS, len(own), p=gammas / gammas.sum())
    x[MISSING] = np.nan
    return x


def summarize(labels, full, diagonal, weights, x):
    """Return numbers whose means are compared."""
    spread = np.nanmean(np.arcsinh(x[:, :3]) ** 2, axis=0)
    same = np.nanmean([x[i, 3] == x[j, 3] for i in (0, 2) for j in (3, 5)])
    cross = np.tanh(x[:, 0] * x[:, 1]).mean()
    return [
        labels.max() + 1.0, np.bincount(labels).max(), np.log(full.dof),
        np.linalg.slogdet(full.scale[0])[1], np.log(diagonal.scale[0, 0, 0]),
        np.log(weights.sum()), *spread, same, cross, float(labels[1] == labels[4]),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])
def test_joint_distribution(kind):
    rng = np.random.default_rng(0)
    first = rng.normal(size=(N_ROWS, 4))
    first[:, 3] = rng.integers(0, N_SYMBOLS, N_ROWS)
    emission = TableEmissionSampler(make_emission().make_sampler(first, 1))
    leaves = list(emission.leaves())
    # A column that does not differ between clusters has its own frequencies, not a prior of them:
    # see tests/exact/mixture/test_alike_columns.py.
    leaves[2].may_be_alike = False
    scales = [leaf.scale_prior for leaf in leaves[:2]]
    bases = [leaf.prior for leaf in leaves[:2]]

    def draw_prior():
        found = []
        for prior, base in zip(scales, bases, strict=True):
            dof = float(rng.choice(prior.freedoms))
            found.append(base._replace(dof=dof, scale=draw_scale(prior, dof, rng)))
        weights = np.full(N_SYMBOLS, rng.gamma(SHAPE) / RATE / N_SYMBOLS)
        return (*found, weights)

    plain = np.empty((N_PLAIN, 12))
    for row in plain:
        labels, priors = draw_partition(rng), draw_prior()
        row[:] = summarize(labels, *priors, draw_rows(labels, *priors, rng))

    labels, root = draw_partition(rng), make_seed_sequence(0)
    values = draw_rows(labels, *draw_prior(), rng)
    sampler = kind(
        LabeledRows(values), emission, PartitionPrior(None, None), DISCOUNT, CONCENTRATION, labels,
        derive_stream(root, Role.INIT, 0), derive_stream(root, Role.SWEEP, 0),
    )  # fmt: skip
    chain = np.empty((N_SWEEPS, 12))
    for row in chain:
        sampler.sweep()
        priors = sampler.emission.prior
        values = draw_rows(sampler.labels, *priors, rng)
        row[:] = summarize(sampler.labels, *priors, values)
        values.flags.writeable = False
        sampler.attach(LabeledRows(values))
    check_joint(plain, chain)
