"""TopicSegmenter as an estimator: cuts, what is known of them, and parts."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln
from sklearn.exceptions import NotFittedError

from skdp.data import SegmentedCorpus
from skdp.topics import SegmentedTopicModel, TopicSegmenter
from skdp.topics._segmenter._divide import divide, drop_rare
from skdp.topics._segmenter._model import SegmenterModel
from skdp.utils.estimator_checks import (
    check_resume_after_interruption,
    check_warm_start_continues,
)

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
        cuts.append(np.cumsum(lengths)[:-1])
    return documents, cuts


DOCUMENTS, CUTS = make_documents()
NEW, NEW_CUTS = make_documents(5)


def quick(**params):
    return TopicSegmenter(**{"n_components": 12, "max_iter": 12, "random_state": 0, **params})


@pytest.fixture(scope="module")
def fitted():
    return quick(max_iter=120).fit(DOCUMENTS)


class TestCuts:
    def test_training_documents(self, fitted):
        for probabilities, cuts, n_parts in zip(
            fitted.cut_proba_, CUTS, fitted.n_parts_, strict=True
        ):
            assert_array_equal(np.flatnonzero(probabilities > 0.5) + 1, cuts)
            assert n_parts == 3

    def test_new_documents(self, fitted):
        for found, probabilities, cuts, document in zip(
            fitted.predict(NEW), fitted.predict_proba(NEW), NEW_CUTS, NEW, strict=True
        ):
            assert_array_equal(found, cuts)
            assert probabilities.shape == (len(document) - 1,)
            assert_array_equal(np.flatnonzero(probabilities > 0.5) + 1, cuts)

    def test_numbers_of_parts(self, fitted):
        for n in (1, 2, 3, 5):
            assert [len(cuts) for cuts in fitted.predict(NEW, n_parts=np.int64(n))] == [n - 1] * 5
        for found, cuts in zip(fitted.predict(NEW, n_parts=3), NEW_CUTS, strict=True):
            assert_array_equal(found, cuts)
        each = fitted.predict(NEW, n_parts=[1, 2, 3, 4, len(NEW[4])])
        assert [len(cuts) for cuts in each] == [0, 1, 2, 3, len(NEW[4]) - 1]

    def test_parts_of_so_many_words(self, fitted):
        for most in (1, 8, 20, 40, 10_000):
            for cuts, document in zip(fitted.predict(NEW, max_words=most), NEW, strict=True):
                lengths = np.diff([0, *cuts, len(document)])
                assert ((8 * lengths <= most) | (lengths == 1)).all()
        for found, cuts in zip(fitted.predict(NEW, max_words=10_000), NEW_CUTS, strict=True):
            assert_array_equal(found, cuts)

    @pytest.mark.parametrize("spread", [0.1, 100.0])
    def test_nothing_to_find(self, spread):
        """Texts of one subject: a few of 570 gaps may look like cuts."""
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

    def test_a_unit_without_words_belongs_to_either_side(self, fitted):
        document = [[0, 1, 2, 3, 4, 5, 6, 7]] * 5 + [[]] + [[10, 11, 12, 13, 14, 15, 16, 17]] * 5
        probabilities = fitted.predict_proba([document])[0]
        assert_allclose(probabilities[4:6], 0.5, atol=0.15)
        assert probabilities[4:6].sum() == pytest.approx(1.0, abs=0.3)
        (cuts,) = fitted.predict([document])
        assert cuts.tolist() in ([5], [6])  # one of the two, and not both or none

    def test_count_matrices_are_documents_of_one_unit(self, fitted):
        counts = np.ones((2, 60), dtype=int)
        assert [len(p) for p in fitted.predict_proba(counts)] == [0, 0]

    def test_words_in_another_order(self, fitted):
        turned = [[unit[::-1] for unit in document] for document in NEW]
        for p, q in zip(fitted.predict_proba(NEW), fitted.predict_proba(turned), strict=True):
            assert_array_equal(p > 0.5, q > 0.5)


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

    def test_classes_of_documents_say_nothing(self):
        one, two = quick().fit(DOCUMENTS), quick().fit(DOCUMENTS, ["a", "b"] * 12)
        assert_array_equal(one.components_, two.components_)
        with pytest.raises(ValueError, match=r"y\[0\] must have a value for each of the"):
            quick().fit(DOCUMENTS, [1] + [None] * 23)

    def test_unknown_is_none(self):
        known = [[-1] * (len(document) - 1) for document in DOCUMENTS]
        one, two = quick().fit(DOCUMENTS), quick().fit(DOCUMENTS, known)
        assert_array_equal(one.components_, two.components_)

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            ([[-1]], "for each of the 24 documents"),
            ("cuts", "for each of the 24 documents"),
            ([[0, 1]] * 24, r"y\[0\] must have a value for each of the \d+ gaps"),
            ([[2] * (len(d) - 1) for d in DOCUMENTS], r"y\[0\] must hold 1 \(a cut\), 0"),
            ([[np.nan] * (len(d) - 1) for d in DOCUMENTS], r"y\[0\] must hold 1"),
        ],
    )
    def test_bad_input(self, y, message):
        with pytest.raises(ValueError, match=message):
            quick().fit(DOCUMENTS, y)

    def test_longer_than_parts_may_be(self):
        known = [None] * 23 + [np.zeros(len(DOCUMENTS[23]) - 1)]
        with pytest.raises(ValueError, match=r"y\[23\] joins \d+ units to one part, but max_units"):
            quick(max_units=3).fit(DOCUMENTS, known)


class TestParameters:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_components", 0),
            ("doc_topic_prior", 0.0),
            ("concentration", 0.0),
            ("concentration", "learned"),
            ("cut_probability", 0.0),
            ("cut_probability", 1.0),
            ("cut_probability", "rare"),
            ("cut_prior", (1.0, 0.0)),
            ("max_units", 0),
            ("max_units", 2.5),
            ("init", "kmeans"),
            ("init", np.ones((3, 4))),
            ("max_iter", 0),
        ],
    )
    def test_bad_input(self, name, value):
        model = quick(**{name: value})
        with pytest.raises(ValueError, match=name):
            model.fit(DOCUMENTS)
        assert not hasattr(model, "components_")

    def test_bad_numbers(self, fitted):
        for params, message in (
            ({"n_parts": 0}, "n_parts must be from 1 to the number of units"),
            ({"n_parts": 99}, "n_parts must be from 1 to the number of units"),
            ({"n_parts": [2, 2]}, "one for each of the 5 documents"),
            ({"n_parts": 1.5}, "n_parts"),
            ({"max_words": 0}, "max_words must be"),
            ({"n_parts": 2, "max_words": 9}, "cannot both be given"),
        ):
            with pytest.raises((ValueError, TypeError), match=message):
                fitted.predict(NEW, **params)

    def test_longest_parts(self):
        model = quick(max_units=2).fit(DOCUMENTS)
        for p in model.cut_proba_:
            assert (p[:-1] + p[1:] >= 1.0 - 1e-9).all()
        for cuts, document in zip(model.predict(DOCUMENTS), DOCUMENTS, strict=True):
            assert np.diff([0, *cuts, len(document)]).max() <= 2
        n_units = len(NEW[0])
        with pytest.raises(ValueError, match=f"n_parts must be at least {-(-n_units // 2)} in doc"):
            model.predict(NEW, n_parts=2)

    @pytest.mark.parametrize("init", ["random", np.kron(np.eye(12, 6), np.ones(10)) + 0.01])
    def test_first_topics(self, init):
        assert quick(init=init).fit(DOCUMENTS).components_.shape == (12, 60)

    def test_given_values(self):
        model = quick(concentration=7, cut_probability=0.2, topic_word_prior=0.1).fit(DOCUMENTS)
        assert model.concentration_ == 7.0
        assert model.cut_probability_ == pytest.approx(0.2)
        learned = quick(concentration="auto").fit(DOCUMENTS)
        assert len(np.unique(learned.trace_["concentration"])) > 1

    def test_from_topics(self):
        topics = np.kron(np.eye(6), np.ones(10)) + 0.001
        with pytest.raises(ValueError, match="cut_probability must be given as numbers"):
            TopicSegmenter.from_topics(topics, doc_topic_prior=0.1, cut_probability="auto")
        model = TopicSegmenter.from_topics(topics, doc_topic_prior=0.1)
        for found, cuts in zip(model.predict(NEW), NEW_CUTS, strict=True):
            assert_array_equal(found, cuts)


class TestParts:
    def test_merged(self, fitted):
        parts = fitted.merge(NEW, fitted.predict(NEW))
        assert isinstance(parts, SegmentedCorpus)
        assert np.diff(parts.doc_ptr).tolist() == [3] * 5
        assert_array_equal(parts.tokens, [w for document in NEW for unit in document for w in unit])
        stm = SegmentedTopicModel(6, max_iter=10, random_state=0).fit(parts)
        assert stm.segment_topic_.shape == (15, 6)

    @pytest.mark.parametrize(
        ("cuts", "message"),
        [
            ([[1]] * 4, "for each of the 5 documents"),
            (
                [[0]] * 5,
                r"cuts\[0\] must hold the first segments .*but the first, from 1 to",
            ),
            ([[1]] * 4 + [[99]], r"cuts\[4\] must hold"),
        ],
    )
    def test_bad_input(self, fitted, cuts, message):
        with pytest.raises(ValueError, match=message):
            fitted.merge(NEW, cuts)

    def test_shares_of_units_are_those_of_their_parts(self, fitted):
        shares = fitted.transform_segments(NEW)
        first = len(NEW[0])
        for begin, end in zip([0, *NEW_CUTS[0]], [*NEW_CUTS[0], first], strict=True):
            assert_allclose(shares[begin:end], shares[[begin]].repeat(end - begin, 0), atol=0.05)
        assert_allclose(shares.sum(axis=1), 1.0)
        assert fitted.score(NEW) < 0.0

    def test_not_fitted(self):
        for call in (quick().predict, quick().predict_proba):
            with pytest.raises(NotFittedError):
                call(NEW)
        with pytest.raises(NotFittedError):
            quick().merge(NEW, [[]] * 5)


class TestChains:
    def test_same_seed(self):
        one, two = quick().fit(DOCUMENTS), quick(n_chains=2, n_jobs=2).fit(DOCUMENTS)
        assert_array_equal(one.trace_["log_joint"][0], two.trace_["log_joint"][0])
        assert not np.array_equal(*two.trace_["log_joint"])

    def test_iter_sweeps(self):
        model = quick(burn_in=11, thin=1).fit(DOCUMENTS)
        *_, state = quick().iter_sweeps(DOCUMENTS)
        assert state.log_joint() == model.trace_["log_joint"][0, -1]
        assert state.starts.sum() == model.trace_["n_parts"][0, -1]
        assert state.doc_topic_prior.shape == (12,)

    def test_warm_start(self):
        check_warm_start_continues(quick())

    def test_interruption(self):
        check_resume_after_interruption(quick())

    def test_known_cuts_belong_to_the_data(self):
        model = quick(warm_start=True).fit(DOCUMENTS)
        known = [None] * 23 + [np.zeros(len(DOCUMENTS[23]) - 1)]
        with pytest.raises(ValueError, match="X"):
            model.set_params(max_iter=20).fit(DOCUMENTS, known)


def every_division(units, models, shares):
    """Return the log probability of every division of the words of units, from its definition."""
    results = {}
    for code in range(2 ** (len(units) - 1)):
        starts = [0, *(u for u in range(1, len(units)) if code >> (u - 1) & 1)]
        log = 0.0
        for model, (mu, nu) in zip(models, shares, strict=True):
            rho = model.cut_probability
            log += (len(starts) - 1) * np.log(rho) + (len(units) - len(starts)) * np.log(1.0 - rho)
            for s, e in zip(starts, [*starts[1:], len(units)], strict=True):
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
        parts_of = {d: list(pairwise([0, *d, 7])) for d in every}
        allowed = {
            d: log
            for d, log in every.items()
            if n_parts in (0, len(d) + 1)
            and all(e == s + 1 or not most or sizes[s:e].sum() <= most for s, e in parts_of[d])
            and all(e - s <= (most_units or 7) for s, e in parts_of[d])
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
