"""Initial numbers of topics that pilots choose."""

import signal
import warnings

import numpy as np
import pytest

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.topics import AdaptiveTopicModel, HDPTopicModel, SegmentedTopicModel
from skdp.topics._shared import _pilots
from skdp.topics._shared._pilots import (
    Pilot,
    choose_number,
    choose_number_of_topics,
    hold_out_words,
    is_hopeless,
    numbers_beside,
)

SEED = np.random.SeedSequence(0)
MODELS = [HDPTopicModel(), SegmentedTopicModel("auto"), AdaptiveTopicModel("auto")]


def corpus_of(n_topics, n_documents=70, segment_length=10):
    """Return documents of topics that share no word."""
    return make_segmented_corpus(
        n_documents, components=np.kron(np.eye(n_topics), np.ones((1, 20))), n_segments=2,
        segment_length=segment_length, doc_topic_prior=0.3, random_state=0,
    ).data  # fmt: skip


class TestHeldOutWords:
    def test_all_words_are_somewhere(self):
        corpus = corpus_of(3, 200, 20)
        held_out = hold_out_words(corpus, SEED)
        rest, tokens, segment_of, unit_of = held_out
        np.testing.assert_array_equal(rest.doc_ptr, corpus.doc_ptr)
        n_words, n_segments = corpus.n_features, len(corpus.segment_ptr) - 1
        cells = np.zeros((2, n_segments, n_words), dtype=int)
        for i, part in enumerate((corpus, rest)):
            of = np.repeat(np.arange(n_segments), np.diff(part.segment_ptr))
            np.add.at(cells[i], (of, part.tokens), 1)
        np.add.at(cells[1], (segment_of, tokens), 1)
        np.testing.assert_array_equal(cells[1], cells[0])
        assert len(tokens) == pytest.approx(0.2 * len(corpus.tokens), rel=0.1)
        np.testing.assert_array_equal(unit_of, segment_of // 2)

    def test_units_are_segments_in_few_documents(self):
        segments = [[0, 1, 2, 3, 4] for _ in range(300)]
        held_out = hold_out_words(SegmentedCorpus.from_documents([segments], 5), SEED)
        np.testing.assert_array_equal(held_out.unit_of, held_out.segment_of)

    @pytest.mark.parametrize(
        "documents",
        [[[[0] * 900]], [[[0, 1]]] * 400, [[[0] * 5_000]] * 9, [[[]] * 300]],
        ids=["one document", "short", "few documents", "empty"],
    )
    def test_too_small(self, documents):
        """Four hundred documents of two words have 800."""
        corpus = SegmentedCorpus.from_documents(documents, 2)
        assert hold_out_words(corpus, SEED) is None


class TestChoice:
    """Scores of 400 units; the standard error of the difference of two pilots is 0.28."""

    def scores(self, losses, climb=0.0):
        """Return scores of pilots with given losses that have all climbed in the last third."""
        rng = np.random.default_rng(0)
        noise = {number: rng.permutation(np.repeat([-0.01, 0.01], 200)) for number in losses}
        return {
            number: (-(loss + climb) / 400 + noise[number], -loss / 400 + noise[number])
            for number, loss in losses.items()
        }

    @pytest.mark.parametrize(
        ("losses", "expected"),
        [
            ({1: 0.0, 5: 2.0, 20: 5.0}, 1),
            ({1: 9.0, 5: 0.1, 20: 0.0}, 5),
            ({1: 0.2, 5: 0.0, 20: 0.1}, 1),
            ({1: 50.0, 5: 20.0, 20: 0.4, 80: 0.0}, 80),
        ],
    )
    def test_smallest_as_good_as_the_best(self, losses, expected):
        assert choose_number(self.scores(losses), 100.0) == expected

    def test_small_corpora_are_no_excuse(self):
        """A loss within a standard error counts if it is large for each word."""
        rng = np.random.default_rng(1)
        best, worse = rng.normal(size=(2, 100))
        worse += (best.sum() - worse.sum() - 5.0) / 100
        scores = {5: (worse, worse), 20: (best, best)}
        assert choose_number(scores, 10.0) == 5
        assert choose_number(scores, 1.0) == 20

    @pytest.mark.parametrize(
        ("climb", "expected"), [(0.0, 5), (20.0, 20), (60.0, 80), (200.0, 300)]
    )
    def test_larger_while_the_best_climbs(self, climb, expected):
        losses = {1: 90.0, 5: 0.2, 20: 0.0, 80: 40.0, 300: 150.0}
        assert choose_number(self.scores(losses, climb), 1e3) == expected

    def test_hopeless(self):
        scores = self.scores({1: 0.0, 5: 0.1, 20: 50.0})
        assert not is_hopeless(1, scores)
        assert not is_hopeless(5, scores)
        assert is_hopeless(20, scores)
        climbing = self.scores({1: 0.0, 5: 0.1, 20: 50.0}, climb=60.0)
        assert not is_hopeless(20, climbing)

    @pytest.mark.parametrize(
        ("number", "known", "expected"),
        [
            (1, [1, 5, 20], [2]),
            (5, [20, 1, 5], [2, 10]),
            (20, [1, 5, 20], [10]),
            (80, [1, 5, 20, 80, 300], [40, 155]),
            (300, [1, 5, 20, 80, 300], [155]),
            (1, [1, 2], []),
        ],
    )
    def test_numbers_beside(self, number, known, expected):
        assert numbers_beside(number, known) == expected


class Fixed:
    """A chain whose words have probability 1 / 4 in the first sweeps, then 1 / 2."""

    n_sweeps = 0

    def sweep(self):
        self.n_sweeps += 1

    def shares(self):
        return np.ones((3, 1)), np.ones((3, 1))

    def components(self):
        return np.full((1, 4), 0.25 if self.n_sweeps <= 30 else 0.5)


def test_probabilities_of_each_third():
    corpus = SegmentedCorpus.from_documents([[[0]], [[1]], [[2]]], 4)
    segments = np.array([0, 0, 2])
    pilot = Pilot(
        Fixed(), _pilots.HeldOut(corpus, np.arange(3, dtype=np.int32), segments, segments)
    )
    for _ in range(_pilots.N_ROUNDS):
        pilot.run_round()
    before, last = pilot.score()
    np.testing.assert_allclose(before, np.log(0.25) * np.array([2.0, 0.0, 1.0]))
    np.testing.assert_allclose(last, np.log(0.5) * np.array([2.0, 0.0, 1.0]))


@pytest.mark.parametrize(
    ("topics_that_fit", "expected"), [(6.0, {1, 2, 5}), (1e9, {1, 2, 5, 20}), (0.5, {1})]
)
def test_numbers_are_bounded_by_memory(topics_that_fit, expected):
    """The pilot from one topic predicts best, that from 20 is hopeless."""
    tried = set()

    class Worse(Fixed):
        def __init__(self, number):
            self.number = number

        def shares(self):
            return None, np.ones((200, 1))

        def components(self):
            return np.full((1, 4), 0.25 / self.number)

    def start(rest, number):
        tried.add(number)
        return Worse(number)

    corpus = SegmentedCorpus.from_documents([[[0, 1, 2, 3] * 10]] * 200, 4)
    size = _pilots.LARGEST_START / topics_that_fit
    assert choose_number_of_topics(corpus, size, start, SEED, None) == 1
    assert tried == expected


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=repr)
class TestInFits:
    def fit(self, model, X, **params):
        params = {"max_iter": 30, "random_state": 0, "n_chains": 1, "n_jobs": None, **params}
        return type(model)(**{**model.get_params(), **params}).fit(X)

    @pytest.mark.slow
    def test_few_topics(self, model):
        """By default: 16,000 words of five topics."""
        fitted = self.fit(model, corpus_of(5, 200, 40), max_iter=500)
        assert fitted.initial_components_ <= 20
        assert np.count_nonzero(fitted.weights_ > 1e-3) == 5
        assert fitted.n_effective_components_ == pytest.approx(5.0, abs=0.1)

    def test_nothing_to_find(self, model):
        """Words of all documents have the same probabilities."""
        p = 1.0 / np.arange(1, 101)
        counts = np.random.default_rng(0).multinomial(30, p / p.sum(), size=100)
        fitted = self.fit(model, counts)
        assert fitted.initial_components_ <= 5
        assert fitted.n_effective_components_ < 1.2

    def test_too_small_for_pilots(self, model):
        fitted = self.fit(model, [[[0, 1, 2]]] * 30)
        assert fitted.initial_components_ == _pilots.DEFAULT_NUMBER

    @pytest.mark.parametrize("X", [[[[0]]], [[[0] * 10]], [[[0]]] * 50, [[[0] * 2_000]]])
    def test_odd_corpora(self, model, X):
        assert self.fit(model, X, max_iter=3).components_.shape[1] == 1

    def test_same_for_all_chains_and_threads(self, model):
        one = self.fit(model, corpus_of(4), max_iter=6)
        two = self.fit(model, corpus_of(4), max_iter=6, n_chains=2, n_jobs=2)
        assert one.initial_components_ == two.initial_components_
        np.testing.assert_array_equal(one.trace_["log_joint"][0], two.trace_["log_joint"][0])
        assert not np.array_equal(*two.trace_["log_joint"])

    def test_continued_fits_have_the_bits(self, model):
        X = corpus_of(4)
        whole = self.fit(model, X, max_iter=12, warm_start=True)
        part = self.fit(model, X, max_iter=6, warm_start=True)
        part.set_params(max_iter=12).fit(X)
        np.testing.assert_array_equal(part.components_, whole.components_)
        assert part.initial_components_ == whole.initial_components_

    def test_iterated_sweeps_are_those_of_fit(self, model):
        X = corpus_of(4)
        fitted = self.fit(model, X, max_iter=3, burn_in=2, thin=1)
        fresh = type(model)(**fitted.get_params())
        *_, state = fresh.iter_sweeps(X)
        assert state.log_joint() == fitted.trace_["log_joint"][0, -1]

    def test_same_as_the_number_given(self, model):
        X = corpus_of(4)
        chosen = self.fit(model, X, max_iter=4)
        number = chosen.initial_components_
        given = self.fit(model, X, max_iter=4, initial_components=number)
        np.testing.assert_array_equal(given.trace_["log_joint"], chosen.trace_["log_joint"])
        other = self.fit(model, X, max_iter=4, initial_components=number + 1)
        assert not np.array_equal(other.trace_["log_joint"], chosen.trace_["log_joint"])

    def test_given_numbers_and_topics_need_no_pilots(self, model, monkeypatch):
        monkeypatch.setattr("skdp.topics._inferred_number.choose_number_of_topics", None)
        X = corpus_of(3)
        assert self.fit(model, X, initial_components=7).initial_components_ == 7
        assert self.fit(model, X, init=np.eye(4, 60) + 0.01).initial_components_ == 4

    def test_interrupt_in_pilots(self, model, monkeypatch):
        """The fit has no result, and the next one has the bits of one that was not interrupted."""
        X = corpus_of(4)
        rounds = 0

        def interrupt(self):
            nonlocal rounds
            rounds += 1
            if rounds == 7:
                signal.raise_signal(signal.SIGINT)
            return run_round(self)

        run_round = Pilot.run_round
        stopped = type(model)(**{**model.get_params(), "max_iter": 4, "random_state": 0})
        stopped.set_params(warm_start=True)
        with monkeypatch.context() as patch:
            patch.setattr(Pilot, "run_round", interrupt)
            with pytest.raises(KeyboardInterrupt):
                stopped.fit(X)
        assert rounds < 7 + 3
        assert not hasattr(stopped, "components_")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stopped.fit(X)
        np.testing.assert_array_equal(
            stopped.components_, self.fit(model, X, max_iter=4).components_
        )
