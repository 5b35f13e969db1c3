"""Blocked sweeps of mixtures: many rows, threads, resumed chains, statistics that are kept up."""

import os
import pickle
import signal
import sys

import numpy as np
import pytest
from exact.mixture.problems import PROBLEMS, make_chain_sampler
from joblib import parallel_config
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, homogeneity_score

from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.mixture._blocked_sampler import BlockedSampler
from skdp.mixture._cluster_sampler import ClusterSampler
from skdp.mixture._kernels_blocked import BLOCK

N = 3 * BLOCK + 100
"""Rows of four blocks, more than the first partition begins with."""


def grid(n=N, side=3, seed=0):
    """Return rows of components on a grid, and these."""
    rng = np.random.default_rng(seed)
    z = rng.integers(side * side, size=n)
    centers = 8.0 * np.array([[i, j] for i in range(side) for j in range(side)])
    return centers[z] + rng.normal(size=(n, 2)), z


X, Z = grid()


@pytest.fixture(scope="module")
def model():
    return PitmanYorMixture(sampler="blocked", max_iter=12, burn_in=4, random_state=0).fit(X)


def same(model, other):
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.score_samples(X[:100]), other.score_samples(X[:100]))
    assert model.trace_ == other.trace_


def test_components_of_many_rows(model):
    large = model.weights_ > 0.01
    assert large.sum() == 9
    assert adjusted_rand_score(Z, model.labels_) > 0.99
    assert set(model.trace_) == {
        "log_joint", "n_components", "discount", "concentration",
        "emission_scale", "emission_degrees_of_freedom",
    }  # fmt: skip


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_matter(model, n_jobs):
    same(model, clone(model).set_params(n_jobs=n_jobs).fit(X))


def test_backends_do_not_matter(model):
    """Whatever a user asks for, what draws blocks of rows must share their memory."""
    few = clone(model).set_params(max_iter=2, burn_in=0)
    expected = clone(few).fit(X)
    with parallel_config("loky", n_jobs=2):
        same(expected, clone(few).fit(X))
        same(expected, clone(few).set_params(n_jobs=2).fit(X))


def test_warm_start_is_one_long_chain(model):
    short = clone(model).set_params(max_iter=7, warm_start=True).fit(X)
    short = pickle.loads(pickle.dumps(short)).set_params(max_iter=12, n_jobs=2).fit(X)
    same(model, short)


def test_several_chains():
    params = {"sampler": "blocked", "max_iter": 4, "n_chains": 2, "random_state": 0}
    one = DPMixture(**params).fit(X)
    same(one, DPMixture(n_jobs=2, **params).fit(X))
    assert one.trace_["log_joint"].shape[0] == 2


def test_both_samplers_agree_on_the_posterior():
    """The mean number of components of two long chains, on data that leave it open.

    A false alarm for one in 15,000 choices of the seeds if draws ten sweeps apart were independent.
    """
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(m, 1.0, (15, 1)) for m in (0.0, 2.5)])
    numbers = []
    for sampler in ("collapsed", "blocked"):
        fit = DPMixture(sampler=sampler, max_iter=6000, thin=1, random_state=1).fit(rows)
        numbers.append(fit.trace_["n_components"][0, ::10])
    error = np.sqrt(sum(each.var() / len(each) for each in numbers))
    assert abs(numbers[0].mean() - numbers[1].mean()) < 4.0 * error


def test_one_cluster_of_many_rows_is_split():
    """From one cluster of all rows; beginnings look at a thousand of them.

    Pieces of components may be left for a while.
    """
    start = np.zeros(N, dtype=int)
    params = {"sampler": "blocked", "max_iter": 12, "burn_in": 10, "random_state": 0}
    found = DPMixture(init=start, **params).fit(X)
    assert homogeneity_score(Z, found.labels_) > 0.99
    alone = DPMixture(init=start, split_merge=False, **params).fit(X)
    assert np.bincount(alone.labels_).max() > 0.9 * N


@pytest.mark.parametrize("name", PROBLEMS)
def test_statistics_are_kept_up(name):
    """Through clusters that open and close, more than there was room for."""
    rng = np.random.default_rng(0)
    problem = PROBLEMS[name]._replace(rows=np.array(PROBLEMS[name].rows)[rng.integers(5, size=80)])
    sampler = make_chain_sampler(
        problem, 0.8, 3000.0, np.zeros(80, dtype=int), sampler=BlockedSampler
    )
    found = sampler._stir(sampler._move(0, 0, sampler.stream), 3000, sampler.stream)
    n = sampler.n_clusters
    assert sampler._capacity > 16
    assert np.all(sampler.sizes() > 0)
    assert len(sampler.sizes()) == n > 16
    for kept, built in zip(found, sampler._move(0, 0, sampler.stream), strict=True):
        each = ... if kept.shape[0] != 6 else [0, 2, 3, 4, 5]  # but how often rows came and went
        np.testing.assert_allclose(kept[each][..., :n], built[each][..., :n], atol=1e-7)


def test_no_cluster_is_left_empty(model):
    """Rows are drawn, but the first one of each cluster stays."""
    for state in clone(model).set_params(max_iter=3, burn_in=0).iter_sweeps(X):
        assert np.bincount(state.labels).min() > 0


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill would end the process")
@pytest.mark.parametrize(
    "model",
    [DPMixture(), DPMixture(sampler="blocked"), HDPMixture()],
    ids=["collapsed", "blocked", "groups"],
)
def test_the_start_can_be_interrupted(model, monkeypatch):
    """A hundred sweeps over the first rows take seconds: a Ctrl-C does not wait for all of them."""
    sweep, n_sweeps = ClusterSampler.sweep, 0

    def interrupted(self):
        nonlocal n_sweeps
        n_sweeps += 1
        if n_sweeps == 3:
            os.kill(os.getpid(), signal.SIGINT)
        sweep(self)

    monkeypatch.setattr(ClusterSampler, "sweep", interrupted)
    rows = np.random.default_rng(0).normal(size=(5_100, 1))
    with pytest.raises(KeyboardInterrupt):
        model.set_params(split_merge=False, max_iter=2, random_state=0).fit(rows)
    assert n_sweeps == 3
