"""Geweke's test of mixtures of rows with missing values and weights: 62 comparisons.

The scale of the covariances and its degrees of freedom are drawn, and those of the Student t
distribution."""

import numpy as np
import pytest
from scipy import stats
from statistical.geweke import check_joint

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions import GaussianEmission, StudentTEmission
from skdp.mixture._rows._partition import LabeledRows
from skdp.mixture._rows._sampler import MixtureSampler, PartitionPrior

A, B, N = 0.3, 0.8, 6
MEAN, PRECISION = np.array([0.3, -0.2]), 0.6
TAIL = 4.0, 1.0
HIDDEN = np.zeros((N, 2), dtype=bool)
HIDDEN[[0, 3, 4, 4], [1, 0, 0, 1]] = True
N_PLAIN, N_SWEEPS = 10_000, 6000
LOWEST = 1e-4


def draw_values(rng, labels, weights, dof, scale):
    """Return rows given the partition, and parameters of clusters from their prior."""
    values = np.empty((N, 2))
    for k in set(labels.tolist()):
        covariance = stats.invwishart.rvs(dof, scale, random_state=rng)
        root = np.linalg.cholesky(covariance)
        mean = MEAN + root @ rng.normal(size=2) / np.sqrt(PRECISION)
        for i in np.flatnonzero(labels == k):
            values[i] = mean + root @ rng.normal(size=2) / np.sqrt(weights[i])
    return values


def draw_prior(rng, scale_prior, draws_weights):
    """Return the partition, weights, nu, degrees of freedom and the scale."""
    labels = [0]
    for i in range(1, N):
        sizes = np.bincount(labels)
        shares = np.append(sizes - A, B + A * len(sizes)) / (i + B)
        labels.append(int(rng.choice(len(shares), p=shares)))
    freedoms = scale_prior.freedoms
    dof = freedoms[rng.integers(len(freedoms))]
    given = scale_prior.given(dof)
    expected = np.linalg.inv(given.inverses[0])
    while True:
        scale = stats.wishart.rvs(2, expected / 2.0, random_state=rng)
        if 2.0 / np.trace(np.linalg.solve(scale, expected)) >= LOWEST:
            break
    freedom, weights = 1.0, np.ones(N)
    if draws_weights:
        freedom = rng.gamma(TAIL[0]) / TAIL[1]
        weights = np.maximum(rng.gamma(0.5 * freedom, size=N) / (0.5 * freedom), 1e-100)
    return np.array(labels), weights, freedom, dof, scale


def summarize(labels, weights, freedom, dof, scale, values):
    x = np.tanh(0.3 * values)
    same = np.equal.outer(labels, labels)[np.triu_indices(N, 1)]
    return np.concatenate(
        [
            x.ravel(), x[:, 0] * x[:, 1], np.abs(x[0] - x[1]), x[HIDDEN] * x[1, 0], same,
            same[:5] * np.abs(x[0, 0] - x[1:, 0]), np.log(weights), [np.log(freedom)],
            [np.log(dof), np.log(np.linalg.det(scale)), np.tanh(scale[0, 1])],
            [labels.max(), labels.max() ** 2],
        ]
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "student_t"])
def test_joint_distribution(name):
    prior = {"mean_prior": MEAN, "mean_precision_prior": PRECISION, "covariance_prior": "auto"}
    emission = GaussianEmission(**prior)
    if name == "student_t":
        emission = StudentTEmission("auto", tail_prior=TAIL, **prior)
    rng = np.random.default_rng(1)
    first = rng.normal(size=(N, 2))
    values = np.where(HIDDEN, np.nan, first)
    values.flags.writeable = False
    streams = [make_stream(make_seed_sequence(i)) for i in range(2)]
    sampler = MixtureSampler(
        LabeledRows(values), emission.make_sampler(values, 1), PartitionPrior(None, None), A, B,
        None, *streams,
    )  # fmt: skip
    scale_prior = sampler.emission.scale_prior
    plain = []
    for _ in range(N_PLAIN):
        drawn = draw_prior(rng, scale_prior, name == "student_t")
        labels, weights, _, dof, scale = drawn
        plain.append(summarize(*drawn, draw_values(rng, labels, weights, dof, scale)))
    found = []
    for _ in range(N_SWEEPS):
        sampler.sweep()
        part = sampler.emission
        labels, scale, dof = sampler.labels, part.prior.scale[0], part.prior.dof
        weights, freedom = np.ones(N), 1.0
        if name == "student_t":
            weights, freedom = part.drawn_weights[:, 0], part.freedom
        complete = draw_values(rng, labels, weights, dof, scale)
        found.append(summarize(labels, weights, freedom, dof, scale, complete))
        part.completed[:] = complete
        values = np.where(HIDDEN, np.nan, complete)
        values.flags.writeable = False
        sampler.attach(LabeledRows(values))
    check_joint(plain, found)
