"""Shards: what their sweeps ship and put together, and the limit of counts of a word in a topic."""

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
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.processes._concentration import add_evidence
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
)
from skdp.topics._kernels._counts import move_words
from skdp.topics._kernels._lda import list_words
from skdp.topics._lda._sampler import ListedWords, check_lists
from skdp.topics._shared._arrays import MAX_COUNT, check_counts, empty_counts
from skdp.topics._shared._partition import (
    CountChange,
    Counted,
    Replica,
    decode,
    encode,
    pack,
    unpack,
)

LARGEST = 2**24


class TestChanges:
    @settings(deadline=None)  # compiles
    @given(
        st.lists(st.tuples(st.integers(0, LARGEST), st.integers(0, LARGEST)), max_size=30),
        st.sampled_from([np.float32, np.int32, np.int64]),
    )
    def test_round_trip(self, cells, dtype):
        """Differences go to +-2^24, the largest count in single precision; none take nothing."""
        old, new = np.array(cells, dtype=dtype).reshape(-1, 2).T.copy()
        found = old.copy()
        decode(encode(old, new), found)
        assert_array_equal(found, new)
        assert len(encode(new, new)) == 0

    def test_they_add_up_in_any_order(self):
        rng = np.random.default_rng(0)
        old, *news = rng.poisson(3.0, (4, 40, 16)).astype(np.float32)
        codes = [encode(old, new) for new in news]
        for order in ([0, 1, 2], [2, 0, 1]):
            total = old.copy()
            for i in order:
                decode(codes[i], total)
            assert_array_equal(total, old + sum(new - old for new in news))

    @pytest.mark.parametrize("n_changes", [1, 2, 8])
    @pytest.mark.parametrize("share", [1e-4, 0.02, 0.5, 1.0])
    def test_sums_of_codes(self, n_changes, share):
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
        total = old.copy()
        decode(found.code, total)
        assert_array_equal(total, news.sum(axis=0))
        assert_array_equal(found.totals, np.ones(2) * sum(range(n_changes)))
        assert_array_equal(add_changes(*((change, 1) for change in changes))[0].code, found.code)
        if n_changes == 2:
            both = changes[0] + changes[1]
            assert_array_equal(both.code, found.code)
            assert_array_equal(both.totals, found.totals)
        nothing = CountChange(encode(old, old), np.zeros(2))
        assert_array_equal((changes[0] + nothing).code, changes[0].code)


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
def test_packed_arrays(array):
    found = unpack(pack(array))
    assert found.dtype == array.dtype
    assert found.flags.writeable
    assert_array_equal(found, array)


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


CORPUS = make_segmented_corpus(
    24, n_segments=6, segment_length=30, n_components=4, n_features=60, random_state=0
).data.with_parts([[d % 5 + 1] for d in range(24)])
MODELS = [
    SegmentedTopicModel(4),
    SegmentedTopicModel(4, sampler="ssa", discount="auto", concentration_scope="document"),
    AdaptiveTopicModel(4, concentration_scope="segment"),
    SegmentedTopicModel("auto", initial_components=4),
    GibbsLDA(4, level="segment", fixed_components=np.full((1, 60), 1 / 60)),
    GibbsLDA(400),
    LatentDirichletCoClustering(4, 2),
]


class TestSweeps:
    @pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:50])
    def test_which_shards_share_a_worker_has_no_effect(self, model, counting):
        """One group of five shards, two groups, five groups; as objects and as pickles."""

        def last_state(**params):
            model.set_params(max_iter=4, random_state=0, n_shards=5, **params)
            *_, state = model.iter_sweeps(CORPUS)
            return state.topics.copy(), state.log_joint()

        with parallel_config("threading"):
            found = [last_state(n_jobs=n_jobs) for n_jobs in (1, 2, 5)]
        assert counting.n_bytes == 0
        found.append(last_state(n_jobs=None))
        assert counting.n_bytes > 0
        for topics, joint in found[1:]:
            assert_array_equal(topics, found[0][0])
            assert joint == found[0][1]

    @pytest.mark.parametrize(
        ("model", "bound"),
        [
            (SegmentedTopicModel(100), 15.0),
            (GibbsLDA(100), 15.0),
            (SegmentedTopicModel(100, sampler="ssa"), 40.0),
        ],
        ids=str,
    )
    def test_they_ship_few_bytes(self, model, bound, counting):
        """Words, topics there and back, counts and their changes; never what other shards have."""
        corpus = make_segmented_corpus(
            100, n_segments=10, segment_length=100, n_components=50, n_features=1000, random_state=0
        ).data
        for n_shards in (2, 8):
            model.set_params(max_iter=20, n_shards=n_shards, random_state=0)
            sweeps = model.iter_sweeps(corpus)
            for _ in range(3):
                next(sweeps)
            counting.n_bytes = 0
            next(sweeps)
            assert 1.0 < counting.n_bytes / len(corpus.tokens) < bound

    def test_the_backend_counts(self, counting):
        """The test above would see a payload: joblib sends all arguments through the backend."""
        Parallel()(delayed(np.sum)(np.zeros(10_000)) for _ in range(2))
        assert counting.n_bytes > 160_000

    @pytest.mark.parametrize("n_components", [4, 400])
    def test_counts_are_those_of_the_topics(self, n_components):
        model = GibbsLDA(n_components, n_shards=5, n_jobs=2, max_iter=4, random_state=0)
        for state in model.iter_sweeps(CORPUS):
            expected = np.zeros((n_components, 60))
            np.add.at(expected, (state.topics, CORPUS.tokens), 1)
            sampler = state._sampler
            assert_array_equal(sampler.word_counts, expected)
            assert_array_equal(sampler._words.totals[:n_components], expected.sum(axis=1))

    @pytest.mark.parametrize("scope", ["corpus", "document", "segment"])
    def test_every_shard_draws_on_its_own_stream(self, scope):
        """In draws of parameters, too."""
        model = SegmentedTopicModel(4, n_shards=3, discount="auto", concentration_scope=scope)
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


FULL = "The word 5 occurs 16777216 times or more in topic 1,"


class TestFullCounts:
    """Counts have a limit: what passes it is found, also when it has come back."""

    def refusal_of(self, check):
        """Return the message of the error, or an empty string."""
        try:
            check()
        except ValueError as error:
            return str(error)
        return ""

    def words_of(self, n):
        """Return counts of which word 5 has `n` in topic 1, and others a few more."""
        words = empty_counts(8, 2)
        words.counts[:, :2] = 3
        words.counts[5, 1] = n
        words.totals[:] = words.counts.sum(axis=0, dtype=np.float64)
        return words

    def test_counts_below_the_limit_are_exact(self):
        words = self.words_of(MAX_COUNT - 1)
        words.counts[2, 0] = words.counts[3, 1] = MAX_COUNT - 1  # not a limit of topics or words
        words.totals[:] = words.counts.sum(axis=0, dtype=np.float64)
        check_counts(words)
        check_counts(empty_counts(3, 2))
        assert FULL in self.refusal_of(lambda: check_counts(self.words_of(MAX_COUNT)))

    def test_a_count_that_was_full_and_lost_a_word(self):
        words = self.words_of(MAX_COUNT - 1)
        zeros, ones = np.repeat([[0], [1]], 3, axis=1).astype(np.int32)
        move_words(np.full(3, 5, dtype=np.int32), zeros, ones, words.counts, words.totals)
        assert words.counts[5, 1] == MAX_COUNT  # should be larger by two
        move_words(np.full(3, 5, dtype=np.int32), ones, zeros, words.counts, words.totals)
        assert words.counts[5, 1] < MAX_COUNT - 1
        assert FULL in self.refusal_of(lambda: check_counts(words))

    def test_sums_of_shards(self):
        """Each shard stays below the limit, the sum does not."""
        words, copies = self.words_of(MAX_COUNT - 10), []
        for n in (6, 7):
            own = Counted.copy(words)
            own.counts[5, :2] += [-n, n]
            own.totals[:2] += [-n, n]
            copies.append(own)
            check_counts(own)
        changes = [Counted.change(words, own) for own in copies]
        Counted.add(Counted.copy(words), changes[:1])
        assert FULL in self.refusal_of(lambda: Counted.add(Counted.copy(words), changes))
        assert FULL in self.refusal_of(lambda: Counted.merge(words, copies))

    def test_sums_of_partitions(self):
        first, second = (CountChange.of(self.words_of(n)) for n in (MAX_COUNT - 4, 3))
        found = Replica(8, 2).after(1, first + second).counts
        assert_array_equal(found[5, :2], [6, MAX_COUNT - 1])
        too_many = first + second + second
        assert FULL in self.refusal_of(lambda: Replica(8, 2).after(1, too_many))

    @pytest.mark.parametrize("n", [1, 0])
    def test_lists(self, n):
        """`n` words too many: the largest count is full, or it was."""
        tokens = np.repeat(np.arange(8, dtype=np.int32), 3)
        topics = np.arange(24, dtype=np.int32) % 3
        lists = list_words(tokens, topics, 8, 400)
        totals = np.bincount(topics, minlength=400).astype(np.float64)
        at = lists.row_ptr[5] + int(np.flatnonzero(lists.ids[lists.row_ptr[5] :] == 1)[0])
        lists.values[at] += MAX_COUNT - 2
        totals[1] += MAX_COUNT - 2
        check_lists(ListedWords(lists, totals))
        lists.values[at] += n
        totals[1] += 1
        assert FULL in self.refusal_of(lambda: check_lists(ListedWords(lists, totals)))

    def test_it_is_a_limit_of_a_word_in_a_topic(self, monkeypatch):
        """The same word has room in several topics; the total over partitions counts."""
        monkeypatch.setattr("skdp.topics._shared._arrays.MAX_COUNT", 8)
        message = "The word 0 occurs 8 times or more in topic 0"
        for n, error in ((7, ""), (8, message)):
            corpus = SegmentedCorpus.from_documents([[[0] * 4, [1]], [[0] * (n - 4)]])
            for X in (corpus, PartitionedCorpus.from_corpus(corpus, 2)):
                model = SegmentedTopicModel(1, max_iter=2)
                assert error in self.refusal_of(lambda model=model, X=X: model.fit(X))
                assert hasattr(model, "n_features_in_") == (n == 7)
                SegmentedTopicModel(3, max_iter=2, doc_topic_prior=100.0, random_state=0).fit(X)
