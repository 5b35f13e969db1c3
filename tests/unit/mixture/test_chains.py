"""Chains of all mixtures: continued, in several threads, as states, checkpointed, interrupted."""

import os
import pickle
import signal
import sys

import numpy as np
import pytest
from exact.mixture.chains import make_chain_sampler
from exact.mixture.problems import PROBLEMS
from joblib import parallel_config
from sklearn.base import clone

from skdp.callback import Checkpoint
from skdp.emissions import GaussianEmission
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.mixture._kernels._blocked import BLOCK
from skdp.mixture._rows._sampler import BlockedSampler, ClusterSampler
from skdp.utils._checking import same_fit

RNG = np.random.default_rng(0)
Z = np.repeat(np.arange(3), 10)
X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[Z] + RNG.normal(scale=0.7, size=(30, 2))
GAPS = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
Y = np.where(np.arange(30) % 6 == 0, Z, -1)
FIRST = RNG.integers(3, size=2 * BLOCK + 100)
MANY = RNG.normal(size=(len(FIRST), 2)) + 8.0 * FIRST[:, np.newaxis]
"""Rows of three blocks, and a first partition."""

CASES = {
    "labels": (DPMixture(), X, {"y": Y}),
    "blocked": (PitmanYorMixture(sampler="blocked"), X, {"y": Y}),
    "blocks of rows": (DPMixture(sampler="blocked", init=FIRST, split_merge=False), MANY, {}),
    "weights": (DPMixture(), X, {"sample_weight": np.arange(30) % 3}),
    "gaps": (DPMixture(), GAPS, {}),
    "gaps, blocked": (PitmanYorMixture("student_t", sampler="blocked"), GAPS, {}),
    "weights of rows": (PitmanYorMixture("student_t"), GAPS, {}),
    "groups": (HDPMixture(), [GAPS[:12], GAPS[12:17], GAPS[17:]], {"y": [Y[:12], None, Y[17:]]}),
    "features": (IBPLatentFeatures(center=False), GAPS, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_parts_and_threads(name):
    """A chain in two parts, of which one is pickled, and in threads, is one long chain."""
    model, X, data = CASES[name]
    params = {"burn_in": 2, "thin": 2, "n_chains": 2, "random_state": 0}
    whole = clone(model).set_params(max_iter=8, **params).fit(X, **data)
    part = clone(model).set_params(max_iter=5, warm_start=True, **params).fit(X, **data)
    part = pickle.loads(pickle.dumps(part)).set_params(max_iter=8, n_jobs=2).fit(X, **data)
    same_fit(whole, part.set_params(n_jobs=None, warm_start=False))


@pytest.mark.parametrize("name", [name for name in CASES if name != "blocks of rows"])
def test_states(name):
    """States are those of a fit; a copy stays as it is, and cannot be written to."""
    model, X, data = CASES[name]
    model = clone(model).set_params(max_iter=4, random_state=0)
    copies, joints = [], []
    for state in model.iter_sweeps(X, **data):
        copies.append(state.copy())
        joints.append(state.log_joint())
    fitted = clone(model).set_params(burn_in=0, thin=1).fit(X, **data)
    np.testing.assert_array_equal(fitted.trace_["log_joint"][0], joints)
    np.testing.assert_allclose([state.log_joint() for state in copies], joints, rtol=1e-12)
    last = copies[-1]
    if name == "features":
        arrays, numbers = [last.features], [last.noise_variance, last.weights_variance]
        assert last.features.dtype == bool
        expected = [state.features.shape[1] for state in copies]
        np.testing.assert_array_equal(fitted.trace_["n_components"][0], expected)
    elif name == "groups":
        arrays, numbers = [last.labels, last.top_weights], [last.top_concentration]
        assert last.top_weights.shape == (last.labels.max() + 1,)
        assert 0.0 < last.top_weights.sum() < 1.0
    else:
        arrays, numbers = [last.labels], []
        assert (last.discount > 0.0) == isinstance(model, PitmanYorMixture)
        n_rows = data["sample_weight"].sum() if name == "weights" else len(X)
        assert last.labels.shape == (n_rows,)
        assert all(np.bincount(state.labels).min() > 0 for state in copies)
    assert min([last.concentration, *numbers]) > 0.0
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_blocks_of_rows_are_drawn_in_threads():
    """Whatever a user asks for, they must share their memory; their number has no effect."""
    model = clone(CASES["blocks of rows"][0]).set_params(max_iter=1, burn_in=0, random_state=0)
    expected = clone(model).fit(MANY)
    same_fit(expected, clone(model).set_params(n_jobs=3).fit(MANY))
    with parallel_config("loky", n_jobs=2):
        same_fit(expected, clone(model).fit(MANY))


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("labels", {"y": np.where(Y == 1, 8, Y)}),
        ("labels", {}),
        ("groups", {}),
        ("weights", {"sample_weight": np.arange(30)[::-1] % 3}),
    ],
)
def test_continued_chains_need_the_same_data(name, changed, tmp_path):
    model, X, data = CASES[name]
    model = clone(model).set_params(max_iter=4, burn_in=1, warm_start=True, random_state=0)
    model.set_callbacks(Checkpoint(tmp_path / "file", every_sweeps=1)).fit(X, **data)
    with pytest.raises(ValueError, match="is of a fit to another X or y"):
        clone(model).fit(X, **changed)
    model.set_callbacks()
    with pytest.raises(ValueError, match="needs the same X"):
        model.set_params(max_iter=6).fit(X, **changed)


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
        if kept.ndim == 2 and len(kept) in (2, 6, 7):  # row 1: how often rows came and went
            kept, built = (np.delete(each, 1, axis=0) for each in (kept, built))
        np.testing.assert_allclose(kept[..., :n], built[..., :n], atol=1e-7)


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill would end the process")
@pytest.mark.parametrize(
    ("model", "n_rows", "n_columns"),
    [
        (DPMixture(), 5100, 1),
        (DPMixture(sampler="blocked"), 5100, 1),
        (HDPMixture(), 5100, 1),
        (DPMixture(GaussianEmission()), 60, 20),
    ],
    ids=["collapsed", "blocked", "groups", "few"],
)
def test_the_start_can_be_interrupted(model, n_rows, n_columns, monkeypatch):
    """Sweeps over the first rows, or from several partitions, take seconds."""
    sweep, n_sweeps = ClusterSampler.sweep, 0

    def interrupted(self):
        nonlocal n_sweeps
        n_sweeps += 1
        if n_sweeps == 3:
            os.kill(os.getpid(), signal.SIGINT)
        sweep(self)

    monkeypatch.setattr(ClusterSampler, "sweep", interrupted)
    rows = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    model = clone(model).set_params(split_merge=False, max_iter=2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows)
    assert n_sweeps == 3
    assert not hasattr(model, "labels_")
