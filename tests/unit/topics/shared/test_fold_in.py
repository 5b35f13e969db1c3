"""New documents: halves and scores, and where and in which order the work is done."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp import topics
from skdp.data import SegmentedCorpus
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)
from skdp.topics._base import BaseTopicModel
from skdp.topics._shared import _fold_in
from skdp.topics._shared._fold_in import Halt, slices, split_words

pytestmark = pytest.mark.filterwarnings("ignore:.*sweeps after:UserWarning")

N_WORDS = 12
CLASSES = [getattr(topics, name) for name in topics.__all__]
MODELS = {kind.__name__: kind() for kind in CLASSES if issubclass(kind, BaseTopicModel)}
MODELS |= {
    "LDA of segments": GibbsLDA(3, level="segment"),
    "ssa": SegmentedTopicModel(3, sampler="ssa"),
    "cmgs": AdaptiveTopicModel(3, sampler="cmgs"),
}
SHORT = {"max_iter": 6, "random_state": 0}


def shuffled(documents, seed=0):
    rng = np.random.default_rng(seed)
    return [[rng.permutation(words).tolist() for words in document] for document in documents]


class TestScores:
    @pytest.mark.parametrize("name", MODELS)
    def test_they_do_not_depend_on_the_order_of_words(self, name):
        """Nor of documents."""
        model, rng = MODELS[name].set_params(**SHORT), np.random.default_rng(1)
        documents = [[rng.integers(0, N_WORDS, n) for n in (9, 0, 4, 1)] for _ in range(4)]
        X = SegmentedCorpus.from_documents(documents, n_features=N_WORDS)
        expected = model.fit(X).score_samples(X)
        assert len(set(expected)) == 4
        for seed in range(2):
            other = shuffled(documents, seed)
            found = model.score_samples(other[::-1])[::-1]
            assert_allclose(found, expected, rtol=0, atol=1e-12)
            assert_array_equal(model.transform(other), model.transform(X))
            assert model.score(other) == pytest.approx(model.score(X), abs=1e-12)
            assert model.perplexity(other) == pytest.approx(model.perplexity(X), rel=1e-12)
        assert_allclose([model.score_samples([document])[0] for document in other], expected)
        if hasattr(model, "log_likelihood"):
            expected, found = (model.log_likelihood(Y, n_particles=2) for Y in (X, other))
            assert_allclose(found, expected, rtol=0, atol=1e-12)


class TestHalves:
    def test_words_are_given_or_scored(self):
        corpus = SegmentedCorpus.from_documents([[[3, 0, 3, 1, 1], []], [], [[2], [0, 4]]])
        observed, scored, segment_of = split_words(corpus)
        assert_array_equal(observed.doc_ptr, corpus.doc_ptr)
        assert_array_equal(np.diff(observed.segment_ptr), [3, 0, 1, 1])
        assert_array_equal(segment_of, [0, 0, 3])
        words = [*observed.tokens[:3], *scored[:2]]
        assert_array_equal(np.sort(words), [0, 1, 1, 3, 3])
        assert observed.tokens[3] == 2
        assert {observed.tokens[4], scored[2]} == {0, 4}
        for half in (observed.tokens[:3], scored[:2]):
            assert_array_equal(half, np.sort(half))

    def test_a_word_that_occurs_twice_is_in_one_half_about_half_of_the_time(self):
        """In 38 of 78 segments of 20 + 20 words. Sorted words by turns: never.

        4,000 segments of other words: a right split is five standard errors off for one in two
        million sets of them. This set is fixed.
        """
        rng = np.random.default_rng(0)
        segments = [[0, 0, *rng.choice(np.arange(1, 500), 38, replace=False)] for _ in range(4_000)]
        observed, _, _ = split_words(SegmentedCorpus.from_documents([segments]))
        n_seen = np.add.reduceat(observed.tokens == 0, observed.segment_ptr[:-1])
        chance = 2 * (20 * 19) / (40 * 39)
        error = np.sqrt(chance * (1 - chance) / 4_000)
        assert abs(np.mean(n_seen != 1) - chance) < 5 * error


def count_slices(monkeypatch):
    """Return a list that has an entry for every slice that models begin."""
    done = []

    def counted(halt, corpus):
        for each in slices(halt, corpus):
            done.append(each)
            yield each

    for name in ("_tables._model", "_lda._sampler", "_lda._ldcc"):
        monkeypatch.setattr(sys.modules[f"skdp.topics.{name}"], "slices", counted)
    return done


class TestSlices:
    @pytest.mark.parametrize(
        "model",
        [
            SegmentedTopicModel(3),
            SegmentedTopicModel(3, sampler="ssa", concentration_scope="segment"),
            SequentialLDA(3, sampler="cmgs"),
            SequentialLDA(3, sampler="ssa"),
            AdaptiveTopicModel(3, sampler="ssa", concentration_scope="segment"),
            AdaptiveTopicModel(3),
            GibbsLDA(3),
            GibbsLDA(3, level="segment"),
            LatentDirichletCoClustering(3),
        ],
        ids=repr,
    )
    def test_where_they_are_cut_has_no_effect(self, model, monkeypatch):
        """A call for every sweep of every document, or one for all of them."""
        rng = np.random.default_rng(0)
        X = [[rng.integers(0, 9, n) for n in (4, 0, 7, 1)] * 5 for _ in range(4)] + [[], [[]]]
        model.set_params(max_iter=4, transform_max_iter=6, random_state=0).fit(X)

        methods = model.transform, model.transform_segments, model.score_samples
        monkeypatch.setattr(_fold_in, "_FIRST_SLICE", 10**12)
        expected = [method(X) for method in methods]
        monkeypatch.setattr(_fold_in, "_FIRST_SLICE", 1)
        monkeypatch.setattr(_fold_in, "_SLICE_SECONDS", 0.0)
        done = count_slices(monkeypatch)
        for method, whole in zip(methods, expected, strict=True):
            done.clear()
            assert_array_equal(method(X), whole)
            assert len(done) == 6 * len(X) or (method == model.score_samples and len(done) > 5)

    def test_they_follow_the_clock(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr(time, "perf_counter", lambda: now[0])
        cuts, work = slices(Halt(), [0]), []
        for seconds_per_unit in [1e-7] * 9 + [1e-3] * 9:
            work.append(next(cuts)[0])
            now[0] += work[-1] * seconds_per_unit
        assert work[0] == 20_000
        assert work[1] == 40_000  # at most twice as much as before
        assert work[8] == pytest.approx(1e6, rel=1e-6)  # a tenth of a second
        assert work[-1] == pytest.approx(100, abs=1)
        assert min(work) >= 1

    def test_none_after_a_halt(self):
        halt = Halt()
        cuts = slices(halt, [0])
        next(cuts)
        halt.called = True
        assert list(cuts) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGINT to send")
@pytest.mark.parametrize(
    ("cls", "method", "n_jobs"),
    [
        (AdaptiveTopicModel, "score", 2),
        (GibbsLDA, "transform", 1),
        (LatentDirichletCoClustering, "transform_segments", 2),
    ],
)
def test_an_interrupt_ends_a_transform(cls, method, n_jobs, monkeypatch):
    """After the slice under way, in every thread; the whole would take hours."""
    rng = np.random.default_rng(0)
    X = [[rng.integers(0, 100, 20) for _ in range(1000)] for _ in range(2 * n_jobs)]
    model = cls(5, max_iter=2, n_jobs=n_jobs, random_state=0).fit([[range(100)]])
    model.transform([[[1, 2], [3]]])
    model.set_params(transform_max_iter=10**7)
    done, at_signal = count_slices(monkeypatch), []

    def interrupt():
        while len(done) < 3 * n_jobs:
            time.sleep(0.01)
        at_signal.append(len(done))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        getattr(model, method)(X)
    at_exception = len(done)
    time.sleep(1.0)
    # Threads may have begun other slices before the main one was woken; then each ends its own.
    assert at_exception <= at_signal[0] + (1 if n_jobs == 1 else 10)
    assert len(done) <= at_exception + (0 if n_jobs == 1 else n_jobs)
