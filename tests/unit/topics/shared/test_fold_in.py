"""Folding documents in, and their likelihoods: where the work is done has no effect."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal

import skdp
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)
from skdp.topics._shared import _fold_in
from skdp.topics._shared._fold_in import Halt, slices


@pytest.mark.slow  # starts a cluster
@pytest.mark.filterwarnings("ignore")  # dask's own
def test_dask():
    distributed = pytest.importorskip("distributed")
    rng = np.random.default_rng(0)
    X = [[list(rng.integers(0, 9, 5)) for _ in range(3)] for _ in range(10)]
    estimators = [
        SegmentedTopicModel(2, max_iter=6, n_chains=2, random_state=0),
        SequentialLDA(2, max_iter=6, random_state=0),
        AdaptiveTopicModel(2, max_iter=6, random_state=0),
        GibbsLDA(2, max_iter=6, random_state=0),
        LatentDirichletCoClustering(2, max_iter=6, random_state=0),
    ]
    expected = [estimator.fit(X).transform(X) for estimator in estimators]
    topics = estimators[0].components_
    likely = [e for e in estimators if hasattr(e, "log_likelihood")]
    likelihoods = [estimator.log_likelihood(X, n_particles=2) for estimator in likely]
    with (
        distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None),
        parallel_config("dask"),
    ):
        assert_array_equal(estimators[0].fit(X).components_, topics)
        for estimator, shares in zip(estimators, expected, strict=True):
            assert_array_equal(estimator.transform(X), shares)
        for estimator, likelihood in zip(likely, likelihoods, strict=True):
            assert_array_equal(estimator.log_likelihood(X, n_particles=2), likelihood)


def models():
    kinds = (SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel)
    for kind in kinds:
        for sampler in ("btigs", "cmgs", "ssa"):
            yield kind(3, sampler=sampler)
        yield kind(3, sampler="ssa", concentration_scope="segment")
    yield GibbsLDA(3)
    yield GibbsLDA(3, level="segment")
    yield LatentDirichletCoClustering(3)


class TestSlices:
    @pytest.mark.parametrize("model", list(models()), ids=repr)
    def test_where_they_are_cut_has_no_effect(self, model, monkeypatch):
        """A call for every sweep of every document, or one for all of them."""
        rng = np.random.default_rng(0)
        X = [[rng.integers(0, 9, n) for n in (4, 0, 7, 1)] * 5 for _ in range(4)] + [[], [[]]]
        model.set_params(max_iter=4, transform_max_iter=6, random_state=0).fit(X)
        n_calls = []

        def count(halt):
            n_calls.append(0)
            for work in slices(halt):
                n_calls[-1] += 1
                yield work

        def results():
            return model.transform(X), model.transform_segments(X), model.score_samples(X)

        monkeypatch.setattr(_fold_in, "_FIRST_SLICE", 10**12)
        expected = results()
        monkeypatch.setattr(_fold_in, "_FIRST_SLICE", 1)
        monkeypatch.setattr(_fold_in, "_SLICE_SECONDS", 0.0)
        for name in ("_tables", "_lda", "_ldcc"):
            monkeypatch.setattr(sys.modules[f"skdp.topics.{name}._model"], "slices", count)
        for found, whole in zip(results(), expected, strict=True):
            assert_array_equal(found, whole)
        assert n_calls[:2] == [6 * len(X)] * 2  # transform and transform_segments
        assert min(n_calls) > 5

    def test_they_follow_the_clock(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr(time, "perf_counter", lambda: now[0])
        cuts, work = slices(Halt()), []
        for seconds_per_unit in [1e-7] * 9 + [1e-3] * 9:
            work.append(next(cuts))
            now[0] += work[-1] * seconds_per_unit
        assert work[0] == 20_000
        assert work[1] == 40_000  # at most twice as much as before
        assert work[8] == pytest.approx(1e6, rel=1e-6)  # a tenth of a second
        assert work[-1] == pytest.approx(100, abs=1)
        assert min(work) >= 1

    def test_none_after_a_halt(self):
        halt = Halt()
        cuts = slices(halt)
        next(cuts)
        halt.called = True
        assert list(cuts) == []


INTERRUPT = """
import os, signal, sys, threading, time
import numpy as np
from skdp import topics
from skdp.topics._shared import _fold_in

kind, method, n_jobs = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = np.random.default_rng(0)
X = [[rng.integers(0, 100, 20) for _ in range(1000)] for _ in range(2 * n_jobs)]
model = getattr(topics, kind)(5, max_iter=2, n_jobs=n_jobs, random_state=0).fit([[range(100)]])
model.transform([[[1, 2], [3]]])
model.set_params(transform_max_iter=10**7)
n_slices, at_signal = [0], []
whole = _fold_in.slices

def count(halt):
    for work in whole(halt):
        n_slices[0] += 1
        yield work

def interrupt():
    while n_slices[0] < 3 * n_jobs:
        time.sleep(0.01)
    at_signal.append(n_slices[0])
    os.kill(os.getpid(), signal.SIGINT)

for name in ("_tables", "_lda", "_ldcc"):
    setattr(sys.modules[f"skdp.topics.{name}._model"], "slices", count)
threading.Thread(target=interrupt, daemon=True).start()
try:
    getattr(model, method)(X)
except KeyboardInterrupt:
    at_exception = n_slices[0]
    time.sleep(1.0)
    print(at_signal[0], at_exception, n_slices[0])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT to send")
@pytest.mark.parametrize(
    ("kind", "method", "n_jobs"),
    [
        ("SegmentedTopicModel", "transform", 1),
        pytest.param("AdaptiveTopicModel", "score", 2, marks=pytest.mark.slow),
        ("GibbsLDA", "transform", 2),
        pytest.param(
            "LatentDirichletCoClustering", "transform_segments", 1, marks=pytest.mark.slow
        ),
    ],
)
def test_an_interrupt_ends_a_transform(kind, method, n_jobs):
    """After the slice under way, in every thread; the whole would take hours."""
    environment = {**os.environ, "PYTHONPATH": str(Path(skdp.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT, kind, method, str(n_jobs)], env=environment,
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    at_signal, at_exception, at_end = map(int, done.stdout.split())
    # Threads may have begun other slices before the main one was woken; then each ends its own.
    assert at_exception <= at_signal + (1 if n_jobs == 1 else 10)
    assert at_end <= at_exception + (0 if n_jobs == 1 else n_jobs)
