"""Shards: what their sweeps ship and put together, wherever they are done."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import Parallel, delayed, parallel_config, register_parallel_backend
from joblib._parallel_backends import ThreadingBackend
from numpy.testing import assert_array_equal
from scipy.special import psi

from skdp._executors._base import add_changes
from skdp._numeric._random import derive_stream
from skdp.datasets import make_segmented_corpus
from skdp.processes._concentration import add_evidence
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
)
from skdp.topics._shared._packing import decode, encode, pack, unpack
from skdp.topics._shared._partition import CountChange

LARGEST = 2**24


class CountingBackend(ThreadingBackend):
    """A backend that pickles tasks and results as processes would, and counts the bytes."""

    n_bytes = 0

    def submit(self, func, callback=None):
        sent = pickle.dumps(func, pickle.HIGHEST_PROTOCOL)
        task = pickle.loads(sent)

        def run():
            result = pickle.dumps(task(), pickle.HIGHEST_PROTOCOL)
            CountingBackend.n_bytes += len(sent) + len(result)
            return pickle.loads(result)

        return super().submit(run, callback)


@pytest.fixture
def counting():
    register_parallel_backend("counting", CountingBackend)
    CountingBackend.n_bytes = 0
    with parallel_config("counting", n_jobs=2):
        yield CountingBackend


class TestChanges:
    @settings(deadline=None)  # compiles
    @given(
        st.lists(st.tuples(st.integers(0, LARGEST), st.integers(0, LARGEST)), max_size=30),
        st.sampled_from([np.float32, np.int32, np.int64]),
    )
    def test_round_trip(self, cells, dtype):
        """Differences go to +-2^24, the largest count in single precision."""
        old, new = np.array(cells, dtype=dtype).reshape(-1, 2).T.copy()
        found = old.copy()
        decode(encode(old, new), found)
        assert_array_equal(found, new)

    @pytest.mark.parametrize("difference", [1, 63, 64, -64, -65, 8191, 8192, LARGEST, -LARGEST])
    @pytest.mark.parametrize("gap", [1, 127, 128, 16_383, 16_384])
    def test_every_length_of_numbers(self, gap, difference):
        old, new = np.zeros((2, 2 * gap + 3), dtype=np.int64)
        new[[gap - 1, 2 * gap - 1]] = difference
        code = encode(old, new)
        decode(code, old)
        assert_array_equal(old, new)
        zigzag = 2 * difference if difference > 0 else -2 * difference - 1
        n_bytes = sum(-(-max(number.bit_length(), 1) // 7) for number in (gap, zigzag))
        assert len(code) == 2 * n_bytes

    def test_no_change_takes_nothing(self):
        assert len(encode(np.ones(1000), np.ones(1000))) == 0

    def test_changes_add_up_in_any_order(self):
        rng = np.random.default_rng(0)
        old = rng.poisson(3.0, (40, 16)).astype(np.float32)
        news = [rng.poisson(3.0, (40, 16)).astype(np.float32) for _ in range(3)]
        codes = [encode(old, new) for new in news]
        expected = old + sum(new - old for new in news)
        for order in ([0, 1, 2], [2, 0, 1]):
            total = old.copy()
            for i in order:
                decode(codes[i], total)
            assert_array_equal(total, expected)

    @pytest.mark.parametrize("seed", range(8))
    def test_sums_of_codes(self, seed):
        """Also of changes that cancel, or that leave large gaps."""
        rng = np.random.default_rng(seed)
        old, zero = np.zeros((2, 100_000), dtype=np.int64)
        news = rng.poisson(3.0, (2, 100_000)) * rng.integers(-30, 30, (2, 100_000))
        news *= rng.random((2, 100_000)) < [1e-4, 0.01, 0.5, 1.0][seed % 4]
        news[1, ::5] = -news[0, ::5]
        first, second = (CountChange(encode(old, new), np.ones(2) * new.sum()) for new in news)
        both = first + second
        assert_array_equal(both.code, encode(old, news.sum(axis=0)))
        assert_array_equal(both.totals, np.ones(2) * news.sum())
        decode(both.code, zero)
        assert_array_equal(zero, news.sum(axis=0))
        assert len((first + CountChange(encode(old, old), np.zeros(2))).code) == len(first.code)

    @pytest.mark.parametrize("n_changes", [1, 3, 8])
    @pytest.mark.parametrize("share", [1e-4, 0.02, 1.0])
    def test_sums_of_many_codes(self, n_changes, share):
        """Each has its own cells, and some of them cancel; blocks are passed over or full."""
        rng = np.random.default_rng(n_changes)
        old = np.zeros(50_000, dtype=np.int64)
        news = rng.integers(-300, 300, (n_changes, len(old)))
        news *= rng.random(news.shape) < share
        news[-1, ::3] = -news[0, ::3]
        news[:, 20_000:30_000] = 0
        changes = [CountChange(encode(old, new), np.ones(2) * i) for i, new in enumerate(news)]
        found = CountChange.sum_up(changes)
        assert_array_equal(found.code, encode(old, news.sum(axis=0)))
        assert_array_equal(found.totals, np.ones(2) * sum(range(n_changes)))
        assert_array_equal(add_changes(*((change, 1) for change in changes))[0].code, found.code)


class TestPacking:
    @pytest.mark.parametrize(
        "array",
        [
            np.array([-1, 0, 255], dtype=np.int32),
            np.array([0, 65_536], dtype=np.int64),
            np.array([], dtype=np.int32),
            np.zeros((0, 4), dtype=np.int32),
            np.array([[0, 3, 0], [2**31 - 1, 0, 0]], dtype=np.int32),
            np.array([[-1, 3, -1], [2**31 - 1, 0, -1]], dtype=np.int32),
            np.array([0.5, 2.0]),
        ],
        ids=lambda array: f"{array.dtype} {array.shape}",
    )
    def test_round_trip(self, array):
        found = unpack(pack(array))
        assert found.dtype == array.dtype
        assert found.flags.writeable
        assert_array_equal(found, array)


CORPUS = make_segmented_corpus(
    24, n_segments=6, segment_length=30, n_components=4, n_features=60, random_state=0
).data.with_parts([[d % 5 + 1] for d in range(24)])

MODELS = [
    SegmentedTopicModel(4),
    SegmentedTopicModel(4, sampler="ssa", discount="auto", concentration_scope="document"),
    AdaptiveTopicModel(4, concentration_scope="segment"),
    SegmentedTopicModel("auto"),
    GibbsLDA(4, level="segment"),
    GibbsLDA(400),
    LatentDirichletCoClustering(4, 2),
]


def last_state(model, **params):
    model.set_params(max_iter=4, random_state=0, **params)
    *_, state = model.iter_sweeps(CORPUS)
    return state.topics.copy(), state.log_joint()


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_which_shards_share_a_worker_has_no_effect(model, counting):
    """One group of five shards, two groups, five groups; as objects and as pickles."""
    with parallel_config("threading"):
        expected = last_state(model, n_shards=5, n_jobs=1)
        for n_jobs in (2, 5):
            found = last_state(model, n_shards=5, n_jobs=n_jobs)
            assert_array_equal(found[0], expected[0])
            assert found[1] == expected[1]
    found = last_state(model, n_shards=5)
    assert counting.n_bytes > 0
    assert_array_equal(found[0], expected[0])
    assert found[1] == expected[1]


@pytest.mark.parametrize(
    ("model", "bound"),
    [
        (SegmentedTopicModel(100), 15.0),
        (GibbsLDA(100), 15.0),
        (SegmentedTopicModel(100, sampler="ssa"), 40.0),
    ],
    ids=str,
)
def test_a_sweep_ships_few_bytes(model, bound, counting):
    """Words, topics there and back, counts and their changes; never what other shards have."""
    corpus = make_segmented_corpus(
        100, n_segments=10, segment_length=100, n_components=50, n_features=1000, random_state=0
    ).data
    each = []
    for n_shards in (2, 8):
        model.set_params(max_iter=20, n_shards=n_shards, random_state=0)
        sweeps = model.iter_sweeps(corpus)
        for _ in range(3):
            next(sweeps)
        counting.n_bytes = 0
        next(sweeps)
        each.append(counting.n_bytes / len(corpus.tokens))
    assert max(each) < bound, each


def test_the_backend_counts(counting):
    """The test above would see a payload: joblib sends all arguments through the backend."""
    Parallel()(delayed(np.sum)(np.zeros(10_000)) for _ in range(2))
    assert counting.n_bytes > 160_000


def test_counts_are_those_of_the_topics_after_every_sweep():
    for model in (GibbsLDA(4, n_shards=5, n_jobs=2), GibbsLDA(400, n_shards=5, n_jobs=2)):
        model.set_params(max_iter=4, random_state=0)
        for state in model.iter_sweeps(CORPUS):
            expected = np.zeros((model.n_components, 60))
            np.add.at(expected, (state.topics, CORPUS.tokens), 1)
            sampler = state._sampler
            assert_array_equal(sampler.word_counts, expected)
            assert_array_equal(sampler._words.totals[: len(expected)], expected.sum(axis=1))


@pytest.mark.parametrize("scope", ["corpus", "document", "segment"])
def test_every_shard_draws_on_its_own_stream(scope):
    """Between two draws of parameters: the streams of all shards move, of one shard its own."""
    model = SegmentedTopicModel(
        4, n_shards=3, discount="auto", concentration_scope=scope, max_iter=2, random_state=0
    )
    sampler = next(model.iter_sweeps(CORPUS))._sampler
    for update in (
        lambda: sampler._update_discount(sampler.streams[0]),
        sampler._update_concentration,
    ):
        before = [stream.copy() for stream in sampler.streams]
        update()
        for old, new in zip(before, sampler.streams, strict=True):
            assert (old != new).any()


def test_evidence_of_parts_adds_up():
    """Its mean is known: -log x of Beta(b + 1, N - 1) has psi(b + N) - psi(b + 1)."""
    customers, tables, b = np.array([5, 1, 40, 9, 2]), np.array([2, 1, 7, 9, 1]), 3.0
    streams = [derive_stream(np.random.SeedSequence(0), i) for i in range(2)]
    n, rate = 20_000, 0.0
    for _ in range(n):
        for part, stream, start in zip(
            (slice(0, 2), slice(2, 5)), streams, ((1.5, 0.5), (0.0, 0.0)), strict=True
        ):
            found = add_evidence(customers[part], tables[part], 0.0, b, *start, stream)
            rate += found[1] / n
            assert found[0] == start[0] + (tables[part] - 1).sum()
    assert rate == pytest.approx(0.5 + (psi(b + customers) - psi(b + 1)).sum(), rel=0.01)
