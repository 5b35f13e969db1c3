"""Initial numbers of topics that pilots choose."""

import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from skdp.data import SegmentedCorpus
from skdp.datasets import make_segmented_corpus
from skdp.topics import AdaptiveTopicModel, HDPTopicModel, SegmentedTopicModel
from skdp.topics._shared import _pilots
from skdp.topics._shared._pilots import Comparison, Pilot, choose_number_of_topics, hold_out_words
from skdp.topics._shared._sampler import START_TOPIC_WORD_PRIOR

SEED = np.random.SeedSequence(0)
MODELS = [HDPTopicModel(), SegmentedTopicModel("auto"), AdaptiveTopicModel("auto")]


def corpus_of(n_topics, n_documents=70, segment_length=10):
    """Return documents of topics that share no word."""
    return make_segmented_corpus(
        n_documents, components=np.kron(np.eye(n_topics), np.ones((1, 20))), n_segments=2,
        segment_length=segment_length, doc_topic_prior=0.3, random_state=0,
    ).data  # fmt: skip


CORPUS = corpus_of(4, 40)


class TestHeldOutWords:
    def test_all_words_are_somewhere(self):
        corpus = corpus_of(3, 200, 20)
        held_out = hold_out_words(corpus, SEED)
        rest, tokens, segment_of, unit_of = held_out
        assert_array_equal(rest.doc_ptr, corpus.doc_ptr)
        n_words, n_segments = corpus.n_features, len(corpus.segment_ptr) - 1
        cells = np.zeros((2, n_segments, n_words), dtype=int)
        for i, part in enumerate((corpus, rest)):
            of = np.repeat(np.arange(n_segments), np.diff(part.segment_ptr))
            np.add.at(cells[i], (of, part.tokens), 1)
        np.add.at(cells[1], (segment_of, tokens), 1)
        assert_array_equal(cells[1], cells[0])
        assert len(tokens) == pytest.approx(0.2 * len(corpus.tokens), rel=0.1)
        assert_array_equal(unit_of, segment_of // 2)

    def test_units_are_segments_in_few_documents(self):
        segments = [[0, 1, 2, 3, 4] for _ in range(300)]
        held_out = hold_out_words(SegmentedCorpus.from_documents([segments], 5), SEED)
        assert_array_equal(held_out.unit_of, held_out.segment_of)

    @pytest.mark.parametrize(
        "documents",
        [[[[0] * 900]], [[[0, 1]]] * 140, [[[0] * 5_000]] * 9, [[[]] * 300]],
        ids=["one document", "short", "few documents", "empty"],
    )
    def test_too_small(self, documents):
        """All but the second have fewer than 20 segments with words; it has 280 words."""
        corpus = SegmentedCorpus.from_documents(documents, 2)
        assert hold_out_words(corpus, SEED) is None


class TestComparison:
    """Scores of 400 units; the standard error of the difference of two pilots is 0.28."""

    @pytest.mark.parametrize(
        ("losses", "best", "as_good"),
        [
            ({1: 0.0, 5: 2.0, 20: 5.0}, 1, [1]),
            ({1: 9.0, 5: 0.1, 20: 0.0}, 20, [5, 20]),
            ({1: 0.2, 5: 0.0, 20: 0.1}, 5, [1, 5, 20]),
            ({1: 50.0, 5: 20.0, 20: 0.4, 80: 0.0}, 80, [80]),
        ],
    )
    def test_as_good_as_the_best(self, losses, best, as_good):
        rng, noise = np.random.default_rng(0), np.repeat([-0.01, 0.01], 200)
        scores = {number: rng.permutation(noise) - loss / 400 for number, loss in losses.items()}
        compared = Comparison({number: (found, found) for number, found in scores.items()}, 10_000)
        assert compared.best == best
        assert compared.as_good == as_good

    def test_small_corpora_are_no_excuse(self):
        """A loss within a standard error counts if it is large for each word."""
        rng = np.random.default_rng(1)
        best, worse = rng.normal(size=(2, 100))
        worse += (best.sum() - worse.sum() - 5.0) / 100
        scores = {5: (worse, worse), 20: (best, best)}
        assert Comparison(scores, 1_000).as_good == [5, 20]
        assert Comparison(scores, 100).as_good == [20]

    def test_chance_is_no_climb(self):
        rng = np.random.default_rng(0)
        scores = {1: (np.zeros(100), rng.normal(0.1, 1.0, 100))}
        assert scores[1][1].sum() == pytest.approx(17.0, abs=2.0)  # the standard error is 10
        assert not Comparison(scores, 100).is_climbing


class Scripted:
    """A chain in which all words have the same probability, given by the number of sweeps."""

    bursts = None

    def __init__(self, probability):
        self.probability, self.n_sweeps = probability, 0

    def sweep(self):
        self.n_sweeps += 1

    def score_words(self, tokens, segment_of, out):
        out += self.probability(self.n_sweeps)


def test_probabilities_of_blocks():
    corpus = SegmentedCorpus.from_documents([[[0]], [[1]], [[2]]], 4)
    segments = np.array([0, 0, 2])
    held_out = _pilots.HeldOut(corpus, np.arange(3, dtype=np.int32), segments, segments)
    pilot = Pilot(Scripted(lambda n: 0.25 if n <= 30 else 0.5 if n <= 45 else 0.75), held_out)
    for n_blocks, expected in ((3, (0.25, 0.5)), (1, (0.5, 0.75))):
        for _ in range(n_blocks * _pilots.ROUNDS_OF_BLOCK):
            pilot.run_round()
        for score, probability in zip(pilot.score(), expected, strict=True):
            assert_allclose(score, np.log(probability) * np.array([2.0, 0.0, 1.0]))


class TestOneTopic:
    def test_probabilities(self):
        """Its prior is at the mode of the posterior, found by a search."""
        rng = np.random.default_rng(0)
        corpus = SegmentedCorpus.from_documents(
            [[row.tolist()] for row in rng.integers(0, 9, (50, 4))], 12
        )
        tokens, units = np.array([0, 1, 1, 11], dtype=np.int32), np.array([0, 0, 1, 1])
        found = _pilots.score_one_topic(_pilots.HeldOut(corpus, tokens, units, units))
        counts = np.bincount(corpus.tokens, minlength=12)

        def minus_log_posterior(gamma):
            rises = gammaln(counts + gamma).sum() - 12 * gammaln(gamma)
            return 0.1 * gamma - rises + gammaln(200 + 12 * gamma) - gammaln(12 * gamma)

        gamma = minimize_scalar(minus_log_posterior, bounds=(0.01, 50.0), method="bounded").x
        logs = np.log((counts + gamma) / (200 + 12 * gamma))[tokens]
        assert_allclose(found, [logs[:2].sum(), logs[2:].sum()], rtol=1e-4)

    @pytest.mark.parametrize(("gain", "expected"), [(0.25, False), (0.35, True), (-0.4, False)])
    def test_three_standard_errors(self, gain, expected):
        """Of the sum over 100 units, 10."""
        noise = np.tile([-1.0, 1.0], 50)
        compared = Comparison({5: (noise, noise)}, 1_000)
        assert compared.is_clearly_better(np.full(100, -gain)) is expected

    @pytest.mark.parametrize("other", [1e3, -1e3])
    @pytest.mark.parametrize("gain", [0.0, 1.0])
    def test_one_document_decides_nothing(self, gain, other):
        """The gain of a huge document would be the standard error, too."""
        gains = np.tile([-1.0, 1.0], 50) + gain
        gains[7] = other
        compared = Comparison({5: (gains, gains)}, 1_000)
        assert compared.is_clearly_better(np.zeros(100)) is (gain > 0.0)


class TestLadder:
    """Chains with scripted probabilities, over 8,000 words in 200 documents."""

    CORPUS = SegmentedCorpus.from_documents([[[0, 1, 2, 3] * 10]] * 200, 4)

    def choose(self, probability, topics_that_fit=1e9):
        """Return the chosen number, and the sweeps of each pilot."""
        chains = {}

        def start(rest, number):
            chains[number] = Scripted(lambda n: probability(number, n))
            return chains[number]

        size = _pilots.LARGEST_START / topics_that_fit
        number = choose_number_of_topics(self.CORPUS, size, start, SEED, None, None).number
        return number, {number: chain.n_sweeps for number, chain in chains.items()}

    @pytest.mark.parametrize(
        ("topics_that_fit", "tried"), [(6.0, [1, 2, 5]), (1e9, [1, 2, 5, 20]), (0.5, [1])]
    )
    def test_numbers_are_bounded_by_memory(self, topics_that_fit, tried):
        """The fewer topics the better; the large ones are hopeless."""
        number, n_sweeps = self.choose(lambda k, n: 0.25 / k, topics_that_fit)
        assert number == 1
        assert n_sweeps == dict.fromkeys(tried, 45)

    def test_beside_the_best(self):
        number, n_sweeps = self.choose(lambda k, n: 0.25 / (1.0 + abs(np.log(k / 45))))
        assert number == 40
        assert sorted(n_sweeps) == [1, 5, 20, 40, 80, 155, 300]

    def test_the_largest_contender_of_those_that_climb_to_the_end(self):
        """All climb alike; 300 is too far behind."""
        loss = {1: 3.0, 5: 2.0, 20: 0.0, 80: 0.05, 155: 0.1, 300: 0.3}
        number, n_sweeps = self.choose(lambda k, n: 0.01 * np.exp(n / 100 - loss.get(k, 1.0)))
        assert number == 80
        assert n_sweeps == {1: 45, 5: 45, 10: 45, 20: 90, 40: 45, 80: 90, 300: 45}

    def test_the_smallest_where_the_best_stops_late(self):
        loss = {20: 0.0, 80: 0.05}
        number, n_sweeps = self.choose(
            lambda k, n: 0.01 * np.exp(min(n, 50) / 100 - loss.get(k, 1.0))
        )
        assert number == 20
        assert n_sweeps[20] == n_sweeps[80] == 75


def fit(model, X, **params):
    params = {"max_iter": 30, "random_state": 0, "n_chains": 1, "n_jobs": None, **params}
    return type(model)(**{**model.get_params(), **params}).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS[::2], ids=repr)
def test_few_topics(model):
    """By default: 16,000 words of five topics."""
    fitted = fit(model, corpus_of(5, 200, 40), max_iter=500, random_state=1)
    assert fitted.initial_components_ <= 20
    assert np.count_nonzero(fitted.weights_ > 1e-3) == 5
    assert fitted.n_effective_components_ == pytest.approx(5.0, abs=0.1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestInFits:
    @pytest.mark.parametrize(
        ("model", "n_documents", "length", "power", "n_words"),
        [
            (MODELS[0], 20, 60, 0.0, 200),
            (MODELS[0], 150, 20, 1.0, 200),
            (MODELS[0], 150, 80, 0.0, 500),  # several topics are better than one with bursts
            pytest.param(MODELS[1], 30, 20, 0.0, 200, marks=pytest.mark.slow),
        ],
        ids=repr,
    )
    def test_random_words(self, model, n_documents, length, power, n_words):
        """There is one topic, however few and however even the words are."""
        p = np.arange(1.0, n_words + 1.0) ** -power
        fitted = fit(model, np.random.default_rng(0).multinomial(length, p / p.sum(), n_documents))
        assert fitted.initial_components_ == fitted.n_components_ == 1
        assert fitted.n_components_distribution_.tolist() == [0.0, 1.0]

    def test_too_small_for_pilots(self):
        fitted = fit(MODELS[0], [[[0, 1, 2]]] * 30)
        assert fitted.initial_components_ == _pilots.DEFAULT_NUMBER
        for X in ([[[0]]], [[[0] * 10]], [[[0]]] * 50, [[[0] * 2_000]]):
            for model in MODELS[:2]:
                assert fit(model, X, max_iter=3).components_.shape[1] == 1

    def test_the_prior_is_learned_with_seed_words(self):
        seeded = fit(MODELS[0], [[[0, 1, 2, 3] * 3]] * 100, seed_words={0: [0]}, max_iter=6)
        assert seeded.topic_word_prior_ != START_TOPIC_WORD_PRIOR

    @pytest.mark.parametrize(
        "model", [MODELS[0], pytest.param(MODELS[1], marks=pytest.mark.slow)], ids=repr
    )
    def test_chains_begin_with_the_number_of_the_pilots(self, model):
        """All chains, and a fit that continues; the bits are those of a number that is given."""
        chosen = fit(model, CORPUS, max_iter=6, warm_start=True)
        number, joints = chosen.initial_components_, chosen.trace_["log_joint"]
        assert chosen.topic_word_prior_ != START_TOPIC_WORD_PRIOR
        two = fit(model, CORPUS, max_iter=6, n_chains=2, n_jobs=2)
        assert two.initial_components_ == number
        assert_array_equal(two.trace_["log_joint"][:1], joints)
        assert not np.array_equal(*two.trace_["log_joint"])
        given, other = (
            fit(model, CORPUS, max_iter=6, initial_components=n) for n in (number, number + 1)
        )
        assert_array_equal(given.trace_["log_joint"], joints)
        assert not np.array_equal(other.trace_["log_joint"], joints)
        *_, state = type(model)(**chosen.get_params()).iter_sweeps(CORPUS)
        assert state.log_joint() == joints[0, -1]
        chosen.set_params(max_iter=12).fit(CORPUS)
        assert chosen.initial_components_ == number
        whole = fit(model, CORPUS, max_iter=12, initial_components=number)
        assert_array_equal(chosen.components_, whole.components_)

    def test_given_numbers_and_topics_need_no_pilots(self, monkeypatch):
        monkeypatch.setattr("skdp.topics._inferred_number.choose_number_of_topics", None)
        assert fit(MODELS[0], CORPUS, initial_components=7).initial_components_ == 7
        assert fit(MODELS[0], CORPUS, init=np.eye(4, 80) + 0.01).initial_components_ == 4

    def test_interrupt_in_pilots(self, monkeypatch):
        """The fit has no result, and the next one has the bits of one that was not interrupted."""
        rounds, run_round = [], Pilot.run_round

        def interrupt(self):
            rounds.append(self)
            if len(rounds) == 7:
                signal.raise_signal(signal.SIGINT)
            return run_round(self)

        stopped = HDPTopicModel(max_iter=4, random_state=0, warm_start=True)
        with monkeypatch.context() as patch:
            patch.setattr(Pilot, "run_round", interrupt)
            with pytest.raises(KeyboardInterrupt):
                stopped.fit(CORPUS)
        assert len(rounds) < 7 + 3
        assert not hasattr(stopped, "components_")
        expected = fit(MODELS[0], CORPUS, max_iter=4)
        assert_array_equal(stopped.fit(CORPUS).components_, expected.components_)
