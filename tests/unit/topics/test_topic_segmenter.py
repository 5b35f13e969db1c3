"""TopicSegmenter: cuts, what is known of them, parts, and divisions by their definition."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from skdp.data import SegmentedCorpus
from skdp.topics import SegmentedTopicModel, TopicSegmenter
from skdp.topics._tables._segmenter import SegmenterModel, divide, drop_rare

RNG = np.random.default_rng(0)


def make_documents(n_documents=24, n_subjects=6, n_parts=3):
    """Return documents of units of eight words, and their cuts; subjects share no word."""
    documents, cuts = [], []
    for _ in range(n_documents):
        subjects = RNG.choice(n_subjects, n_parts, replace=False)
        lengths = RNG.integers(3, 7, n_parts)
        documents.append([
            RNG.integers(10 * k, 10 * k + 10, 8).tolist()
            for k, n in zip(subjects, lengths, strict=True)
            for _ in range(n)
        ])  # fmt: skip
        cuts.append(np.cumsum(lengths)[:-1].tolist())
    return documents, cuts


DOCUMENTS, CUTS = make_documents()
NEW, NEW_CUTS = make_documents(5)
N_UNITS = [len(document) for document in NEW]


def quick(**params):
    return TopicSegmenter(**{"n_components": 12, "max_iter": 12, "random_state": 0, **params})


@pytest.fixture(scope="module")
def fitted():
    return quick(max_iter=120).fit(DOCUMENTS)


def lists_of(arrays):
    return [array.tolist() for array in arrays]


def likely(probabilities):
    return [(np.flatnonzero(each > 0.5) + 1).tolist() for each in probabilities]


class TestCuts:
    def test_they_are_found(self, fitted):
        assert likely(fitted.cut_proba_) == CUTS
        assert np.all(fitted.n_parts_ == 3)
        assert lists_of(fitted.predict(NEW)) == likely(fitted.predict_proba(NEW)) == NEW_CUTS
        assert [len(each) + 1 for each in fitted.predict_proba(NEW)] == N_UNITS
        turned = [[unit[::-1] for unit in document] for document in NEW]
        assert likely(fitted.predict_proba(turned)) == NEW_CUTS
        topics = np.kron(np.eye(6), np.ones(10)) + 0.001
        given = TopicSegmenter.from_topics(topics, doc_topic_prior=0.1)
        assert lists_of(given.predict(NEW)) == NEW_CUTS

    def test_numbers_of_parts(self, fitted):
        for n in (1, 2, 3, 5):
            assert [len(cuts) for cuts in fitted.predict(NEW, n_parts=np.int64(n))] == [n - 1] * 5
        assert lists_of(fitted.predict(NEW, n_parts=3)) == NEW_CUTS
        each = fitted.predict(NEW, n_parts=[1, 2, 3, 4, N_UNITS[4]])
        assert [len(cuts) for cuts in each] == [0, 1, 2, 3, N_UNITS[4] - 1]

    def test_largest_numbers_of_words(self, fitted):
        for most in (1, 8, 20, 40, 10_000):
            for cuts, n_units in zip(fitted.predict(NEW, max_words=most), N_UNITS, strict=True):
                lengths = np.diff([0, *cuts, n_units])
                assert ((8 * lengths <= most) | (lengths == 1)).all()
        assert lists_of(fitted.predict(NEW, max_words=10_000)) == NEW_CUTS

    def test_largest_numbers_of_units(self):
        model = quick(max_units=2).fit(DOCUMENTS)
        for p in model.cut_proba_:
            assert (p[:-1] + p[1:] >= 1.0 - 1e-9).all()
        for cuts, document in zip(model.predict(DOCUMENTS), DOCUMENTS, strict=True):
            assert np.diff([0, *cuts, len(document)]).max() <= 2
        with pytest.raises(ValueError, match=f"at least {-(-N_UNITS[0] // 2)} in document 0"):
            model.predict(NEW, n_parts=2)

    @pytest.mark.slow
    @pytest.mark.parametrize("spread", [0.1, 100.0])
    def test_there_are_few_in_texts_of_one_subject(self, spread):
        """Some of 570 gaps may look like cuts."""
        rng = np.random.default_rng(0)
        X = rng.choice(100, (30, 20, 8), p=rng.dirichlet(np.full(100, spread))).tolist()
        model = quick(max_iter=60).fit(X)
        assert np.mean(model.cut_proba_) < 0.2
        assert sum(map(len, model.predict(X))) <= 12

    def test_odd_documents(self, fitted):
        """Units without words, or words that are unknown; documents of one unit and of none."""
        odd = [[[], [0, 1], []], [[3]], [], [[]]]
        assert [len(p) for p in fitted.predict_proba(odd)] == [2, 0, 0, 0]
        assert [len(cuts) for cuts in fitted.predict(odd, n_parts=1)] == [0] * 4
        assert_allclose(fitted.transform(odd).sum(axis=1), 1.0)
        assert fitted.transform_segments(odd).shape == (5, 12)
        counts = np.ones((2, 60), dtype=int)  # documents of one unit
        assert [len(p) for p in fitted.predict_proba(counts)] == [0, 0]

    def test_a_unit_without_words_belongs_to_either_side(self, fitted):
        document = [[0, 1, 2, 3, 4, 5, 6, 7]] * 5 + [[]] + [[10, 11, 12, 13, 14, 15, 16, 17]] * 5
        probabilities = fitted.predict_proba([document])[0]
        assert_allclose(probabilities[4:6], 0.5, atol=0.15)
        assert probabilities[4:6].sum() == pytest.approx(1.0, abs=0.3)
        (cuts,) = fitted.predict([document])
        assert cuts.tolist() in ([5], [6])  # one of the two, and not both or none


class TestKnownCuts:
    def test_they_are_kept(self):
        known = [np.full(len(document) - 1, -1) for document in DOCUMENTS]
        known[0][:2] = 1
        known[1][:] = 0
        known[2] = None
        model = quick().fit(DOCUMENTS, known)
        assert_array_equal(model.cut_proba_[0][:2], 1.0)
        assert_array_equal(model.cut_proba_[1], 0.0)
        assert model.n_parts_[1] == 1

    def test_unknown_ones_and_classes_of_documents_say_nothing(self):
        known = [[-1] * (len(document) - 1) for document in DOCUMENTS]
        expected = quick().fit(DOCUMENTS).components_
        for y in (known, ["a", "b"] * 12):
            assert_array_equal(quick().fit(DOCUMENTS, y).components_, expected)

    def test_they_belong_to_the_data(self):
        model = quick(warm_start=True, max_iter=3).fit(DOCUMENTS)
        known = [None] * 23 + [np.zeros(len(DOCUMENTS[23]) - 1)]
        with pytest.raises(ValueError, match="X"):
            model.set_params(max_iter=5).fit(DOCUMENTS, known)


WHERE = [6, 11, 19]
TEXT = [
    [*RNG.integers(40, 60, 4).tolist(), *RNG.integers(10 * k, 10 * k + 10, 6).tolist()]
    for k in np.repeat(range(4), [6, 5, 8, 5])
]
"""A text of four subjects with common words, and its cuts."""


@pytest.fixture(scope="module")
def model():
    return TopicSegmenter(random_state=0).fit([TEXT])


class TestOneText:
    """One topic, of which each part has its own version."""

    def test_cuts(self, model):
        assert likely(model.cut_proba_) == lists_of(model.predict([TEXT])) == [WHERE]
        assert likely(model.predict_proba([TEXT])) == [WHERE]
        assert lists_of(model.predict([TEXT], n_parts=4)) == [WHERE]
        assert len(model.predict([TEXT], n_parts=9)[0]) == 8
        assert model.n_parts_.tolist() == [4]
        assert model.n_components_ == 1
        assert model.burst_concentration_ >= 0.75 * 240
        assert_array_equal(model.transform([TEXT]), 1.0)
        assert_array_equal(model.transform_segments([TEXT]), np.ones((24, 1)))
        assert_allclose(model.components_.sum(), 1.0)
        (cuts,) = model.predict([TEXT], max_words=40)
        assert np.diff([0, *cuts, 24]).max() <= 4

    def test_further_words_are_likely_in_their_part(self, model):
        without = TopicSegmenter(1, burst_concentration=None, random_state=0).fit([TEXT])
        assert model.score([TEXT]) > without.score([TEXT]) + 0.05
        assert not hasattr(without, "burst_concentration_")
        assert np.ptp(without.cut_proba_[0]) < 1e-9  # all parts have the same words

    def test_the_order_of_words_says_nothing(self, model):
        turned = [unit[::-1] for unit in TEXT]
        other = TopicSegmenter(random_state=0).fit([turned])
        assert_array_equal(other.cut_proba_[0], model.cut_proba_[0])

    @pytest.mark.parametrize("n_words", [60, 600])
    def test_words_without_any_order_are_not_cut(self, n_words):
        rng = np.random.default_rng(1)
        words = rng.choice(n_words, (60, 10), p=rng.dirichlet(np.full(n_words, 0.5)))
        model = TopicSegmenter(random_state=0).fit([words.tolist()])
        assert model.cut_proba_[0].max() < 0.4
        assert lists_of(model.predict([words.tolist()])) == [[]]

    def test_a_unit_fifty_times_is_not_cut(self):
        text = [[0, 1, 2, 3, 3]] * 50
        model = TopicSegmenter(random_state=0).fit([text])
        assert model.cut_proba_[0].max() < 0.3
        assert lists_of(model.predict([text])) == [[]]

    def test_odd_texts(self, model):
        for text in ([[], [0, 1], []], [[3]], [[0], [1]]):
            one = TopicSegmenter(max_iter=4, random_state=0).fit([text])
            assert one.cut_proba_[0].shape == (len(text) - 1,)
        odd = [[[], [0, 1], []], [[3]], [], [[]]]
        assert [len(p) for p in model.predict_proba(odd)] == [2, 0, 0, 0]
        assert [len(cuts) for cuts in model.predict(odd)] == [0] * 4

    def test_known_cuts_and_bounds(self):
        known = np.full(23, -1)
        known[[2, 5]] = 1, 0
        model = TopicSegmenter(random_state=0).fit([TEXT], [known])
        assert model.cut_proba_[0][[2, 5]].tolist() == [1.0, 0.0]
        TopicSegmenter(max_units=23, random_state=0).fit([TEXT, TEXT[:23]])
        with pytest.warns(ConvergenceWarning, match="in parts of max_units=4 units, so longer"):
            model = TopicSegmenter(max_units=4, random_state=0).fit([TEXT])
        assert np.diff([0, *model.predict([TEXT])[0], 24]).max() <= 4

    def test_a_fit_goes_on(self):
        params = {"n_chains": 2, "cut_probability": "auto", "random_state": 0}
        model = TopicSegmenter(max_iter=6, warm_start=True, burn_in=2, **params).fit([TEXT])
        model.set_params(max_iter=12).fit([TEXT])
        whole = TopicSegmenter(max_iter=12, burn_in=2, **params).fit([TEXT])
        assert_array_equal(model.trace_["log_joint"], whole.trace_["log_joint"])
        assert_array_equal(pickle.loads(pickle.dumps(model)).predict([TEXT]), whole.predict([TEXT]))

    def test_seed_words_are_likely(self):
        seeded = TopicSegmenter(
            seed_words={0: [0]}, seed_weight=500, topic_word_prior=0.1, random_state=0
        ).fit([TEXT])
        assert seeded.components_[0, 0] > 0.5

    def test_given_topics(self):
        words = np.full((1, 60), 1 / 60)
        given = TopicSegmenter.from_topics(words, doc_topic_prior=1.0, burst_concentration=60)
        assert lists_of(given.predict([TEXT])) == [WHERE]
        plain = TopicSegmenter.from_topics(words, doc_topic_prior=1.0)
        assert lists_of(plain.predict([TEXT])) == [[]]

    def test_numbers_of_topics(self):
        for n, expected in ((29, 1), (30, 30), (33, 33)):
            documents = [[[d, 0], [d]] for d in range(n)]
            model = TopicSegmenter(max_iter=2, init="random", random_state=0).fit(documents)
            assert model.n_components_ == len(model.components_) == expected

    def test_search(self):
        search = GridSearchCV(
            TopicSegmenter(1, max_iter=20, random_state=0),
            {"burst_concentration": [None, 100.0, "auto"]}, cv=2,
        ).fit(SegmentedCorpus.from_documents(DOCUMENTS[:6], 60))  # fmt: skip
        assert search.best_params_["burst_concentration"] is not None


def test_given_values():
    model = quick(concentration=7, cut_probability=0.2, topic_word_prior=0.1).fit(DOCUMENTS)
    assert model.concentration_ == 7.0
    assert model.cut_probability_ == pytest.approx(0.2)
    learned = quick(concentration="auto").fit(DOCUMENTS)
    assert len(np.unique(learned.trace_["concentration"])) > 1


def test_parts(fitted):
    """Units are merged to parts, and have their shares."""
    parts = fitted.merge(NEW, fitted.predict(NEW))
    assert isinstance(parts, SegmentedCorpus)
    assert np.diff(parts.doc_ptr).tolist() == [3] * 5
    assert_array_equal(parts.tokens, [w for document in NEW for unit in document for w in unit])
    stm = SegmentedTopicModel(6, max_iter=10, random_state=0).fit(parts)
    assert stm.segment_topic_.shape == (15, 6)
    shares = fitted.transform_segments(NEW)
    for begin, end in pairwise([0, *NEW_CUTS[0], N_UNITS[0]]):
        assert_allclose(shares[begin:end], shares[[begin]].repeat(end - begin, 0), atol=0.05)
    assert fitted.score(NEW) < 0.0


def every_division(units, models, shares):
    """Return the log probability of every division of the words of units, from its definition."""
    results = {}
    for code in range(2 ** (len(units) - 1)):
        starts = [0, *(u for u in range(1, len(units)) if code >> (u - 1) & 1)]
        log = 0.0
        for model, (mu, nu) in zip(models, shares, strict=True):
            rho = model.cut_probability
            log += (len(starts) - 1) * np.log(rho) + (len(units) - len(starts)) * np.log(1.0 - rho)
            for s, e in pairwise([*starts, len(units)]):
                n = np.zeros(len(mu[0]))
                for u in range(s, e):
                    for w in units[u]:
                        p = nu[u] * model.components[:, w]
                        n += p / p.sum()
                prior = model.concentration * mu[0]
                log += (gammaln(prior + n) - gammaln(prior)).sum()
                log += gammaln(prior.sum()) - gammaln(prior.sum() + n.sum())
        results[tuple(starts[1:])] = log / len(models)
    return results


@pytest.mark.parametrize("seed", range(4))
def test_divisions(seed):
    """Against all divisions of seven units, under two samples."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 9, 7)
    units = [rng.integers(0, 5, n).tolist() for n in sizes]
    corpus = SegmentedCorpus.from_documents([units], 5)
    most_units = None if seed < 2 else 3
    models = [
        SegmenterModel(rng.dirichlet(np.full(5, 0.2), 3), np.ones(3), b, rho, most_units)
        for b, rho in ((2.0, 0.1), (9.0, 0.3))
    ]
    shares = [
        (rng.dirichlet(np.full(3, 0.5), 1), rng.dirichlet(np.full(3, 0.3), 7)) for _ in models
    ]
    every = every_division(units, models, shares)
    for n_parts, most in ((0, None), (0, 12), (0, 1), (1, None), (3, None), (7, None)):
        allowed = {
            cuts: log
            for cuts, log in every.items()
            if n_parts in (0, len(cuts) + 1)
            and all(
                e - s <= (most_units or 7) and (e == s + 1 or not most or sizes[s:e].sum() <= most)
                for s, e in pairwise([0, *cuts, 7])
            )
        }
        if not allowed:
            continue
        (found,) = divide(corpus, models, shares, np.array([n_parts]), most)
        assert tuple(found.tolist()) in allowed
        assert allowed[tuple(found.tolist())] == pytest.approx(max(allowed.values()), rel=1e-12)


def test_rare_topics_leave_their_words_to_the_others():
    counts = np.array([[[2.9996, 0.0004, 0.0], [0.0, 0.0, 0.0], [0.5, 0.3, 1.2], [4e-4] * 3]])
    expected = [[[3.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.3, 1.2], [4e-4] * 3]]
    assert_allclose(drop_rare(counts), expected)
