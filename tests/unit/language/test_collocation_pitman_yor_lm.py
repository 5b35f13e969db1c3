"""Input, results and continuation of CollocationPitmanYorLM."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skdp.language import CollocationPitmanYorLM, strip_spaces
from skdp.language._nested import _layout

SPACED = ["the dog ran", "a dog sat", "the cat sat", "a cat ran", "the dog and a cat ran"] * 8
X, Y = strip_spaces(SPACED)
ALPHABET = sorted(set("".join(X)))
IDS = [[ALPHABET.index(c) for c in text] for text in X]
pytestmark = pytest.mark.filterwarnings(
    "ignore:The log joint:sklearn.exceptions.ConvergenceWarning"
)


def model(**params):
    return CollocationPitmanYorLM(
        **{"max_iter": 8, "anneal": (1.5, 4), "n_chains": 1, "random_state": 0, **params}
    )


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model(n_chains=2).fit(X)


def test_words_join_to_the_string(fitted):
    viterbi = model(n_chains=2, predict_method="viterbi").fit(X)
    for estimator in (fitted, viterbi):
        assert ["".join(words) for words in estimator.predict([*X, "", "zzz"])] == [*X, "", "zzz"]


def test_kernels_get_strings_in_portions(fitted, monkeypatch):
    """How many letters go through a kernel at a time does not matter."""
    fit, words, scores = model().fit(X), fitted.predict(X), fitted.score_samples(X)
    cuts = np.concatenate(fitted.predict_proba(X))
    monkeypatch.setattr(_layout, "_LETTERS_A_CALL", 20)
    assert fitted.predict(X) == words
    np.testing.assert_array_equal(fitted.score_samples(X), scores)
    np.testing.assert_array_equal(np.concatenate(fitted.predict_proba(X)), cuts)
    assert model().fit(X).trace_["log_joint"].tolist() == fit.trace_["log_joint"].tolist()


def test_lexicons(fitted):
    for counts, lengths in (
        (fitted.lexicon_counts_, map(len, fitted.lexicon_)),
        (fitted.collocation_counts_, (len("".join(words)) for words in fitted.collocations_)),
    ):
        assert list(counts) == sorted(counts, reverse=True)
        letters = sum(n * length for n, length in zip(counts, lengths, strict=True))
        assert letters == pytest.approx(sum(map(len, X)))
    assert {w for words in fitted.collocations_ for w in words} == set(fitted.lexicon_)


def test_transform_and_back(fitted):
    sequences = fitted.transform([*X, ""])
    assert sequences.n_features == len(fitted.lexicon_) + 1
    known = set(fitted.lexicon_)
    expected = [[w if w in known else None for w in of] for of in fitted.predict([*X, ""])]
    assert fitted.inverse_transform(sequences) == expected


def test_scores(fitted):
    samples = fitted.score_samples(X)
    assert fitted.score(X) == pytest.approx(samples.sum() / sum(map(len, X)))
    alone = [fitted.score_samples([text])[0] for text in X[:5]]
    np.testing.assert_allclose(fitted.score_samples(X[:5][::-1])[::-1], alone, rtol=1e-12)
    assert np.isfinite(fitted.score_samples(["", "z", "é", "\U00010000x", "\ud800"])).all()


def test_ids_as_strings(fitted):
    of_ids = model(n_chains=2).fit(IDS)
    words = [["".join(ALPHABET[x] for x in w) for w in of] for of in of_ids.predict(IDS)]
    assert words == fitted.predict(X)
    assert of_ids.score(IDS) == fitted.score(X)
    assert len(of_ids.collocations_) == len(fitted.collocations_)


def test_known_cuts():
    estimator = model(warm_start=True).fit(X, Y)
    assert estimator.segmentations_ == [text.split() for text in SPACED]
    half = [y if i % 2 else None for i, y in enumerate(Y)]
    estimator = model(warm_start=True).fit(X, half)
    assert estimator.segmentations_[1::2] == [text.split() for text in SPACED[1::2]]
    assert model().fit(X, ["a"] * len(X)).score(X) == model().fit(X).score(X)
    with pytest.raises(ValueError, match="so that a word would have 16"):
        model().fit(X, [None] * 39 + [np.zeros(len(Y[-1]))])


def test_tables_move_where_cuts_are_known():
    """Tables of strings with and without known cuts keep to what is known of each of them."""
    texts = ["abab"] * 30
    y = [np.array([-1, 1, -1]) if i % 3 else np.array([0, -1, -1]) for i in range(30)]
    for state in model(warm_start=True, anneal=None).iter_sweeps(texts, y):
        cuts = state.cuts.reshape(30, 4)
        assert all(cuts[i, 1] if i % 3 else not cuts[i, 0] for i in range(30))


def test_short_fits():
    assert CollocationPitmanYorLM(max_iter=10, n_chains=1, random_state=0).fit(X).n_iter_ == 10


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"anneal": (1.5, 5)}, "anneal must not outlast the burn-in"),
        ({"max_collocation_length": 11}, "must not be smaller than max_word_length=12"),
        ({"max_collocation_length": 65}, "max_collocation_length"),
        ({"max_word_length": 65, "max_collocation_length": 64}, "max_word_length"),
        ({"stop_probability": 0.0}, "stop_probability"),
        ({"stop_probability": 1.0}, "stop_probability"),
        ({"stop_probability": "auto", "stop_prior": (0.0, 1.0)}, "stop_prior"),
        ({"discount": (0.5, 0.5)}, "discount must be a number, 'auto' or three of them"),
        ({"discount": (0.5, [0.1, 0.2], 0.5)}, "must hold, for collocations, words and"),
        ({"concentration": (0.0, 1.0, 1.0)}, "concentration must hold"),
        ({"word_length": 3.0}, "word_length has no effect without length_correction='poisson'"),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        model(**params).fit(X)


@pytest.mark.parametrize(
    "params",
    [
        {"character_order": 1},
        {"max_word_length": 1, "max_collocation_length": 1},
        {"max_word_length": 64, "max_collocation_length": 64},
        {"length_correction": "poisson", "word_length": "auto"},
        {"length_correction": np.arange(1.0, 13.0)},
        {"end_probability": "auto", "stop_probability": "auto", "stop_prior": (2.0, 1.0)},
        {"discount": ("auto", 0.25, 0.5), "concentration": (7.0, "auto", [1.0, 2.0, 3.0, 4.0])},
        {"init": "whole", "anneal": None},
    ],
    ids=str,
)
def test_every_parameter(params):
    estimator = model(**params).fit([*X, "", "t"])
    assert ["".join(words) for words in estimator.predict(X)] == X
    longest = max(len(word) for words in estimator.predict(X) for word in words)
    assert longest <= estimator.max_word_length
    longest = max(len("".join(words)) for words in estimator.collocations_)
    assert longest <= estimator.max_collocation_length
    if "discount" in params:
        assert estimator.word_discounts_.tolist() == [0.25]
        assert estimator.character_discounts_.tolist() == [0.5] * 4
        assert estimator.collocation_concentration_ == 7.0
        assert estimator.character_concentrations_.tolist() == [1.0, 2.0, 3.0, 4.0]
    is_poisson = isinstance(params.get("length_correction"), str)
    assert is_poisson == hasattr(estimator, "word_length_") == ("word_length" in estimator.trace_)
    for name in ("word_length", "end_probability", "stop_probability")[not is_poisson :]:
        values = estimator.trace_[name]
        if params.get(name) == "auto":
            assert values.std() > 0.0
            assert getattr(estimator, f"{name}_") == pytest.approx(values.mean())
        else:
            given = getattr(estimator, name)
            assert (values == (7.0 if given == "entropy" else given)).all()


def test_jobs_do_not_matter():
    one, two = (model(n_chains=2, n_jobs=n).fit(X) for n in (1, 2))
    assert one.score(X) == two.score(X)
    assert one.collocations_ == two.collocations_


def test_going_on():
    """A fit in two parts, pickled between them, is one in a whole, bit for bit."""
    params = {"burn_in": 4, "warm_start": True}
    straight = model(**params).fit(X)
    first = model(max_iter=5, **params).fit(X)
    second = pickle.loads(pickle.dumps(first)).set_params(max_iter=8).fit(X)
    assert second.segmentations_ == straight.segmentations_
    assert second.score(X) == straight.score(X)
    assert second.trace_["log_joint"].tolist() == straight.trace_["log_joint"].tolist()


def test_state():
    states = [state.copy() for state in model().iter_sweeps(X)]
    *_, live = model().iter_sweeps(X)
    last = states[-1]
    assert np.array_equal(last.cuts, live.cuts)
    assert np.array_equal(last.ends, live.ends)
    assert last.cuts[last.ends].all()
    assert not live.ends.flags.writeable
    assert last.log_joint() == live.log_joint() != states[0].log_joint()
    assert last.word_tables.shape == last.word_discounts.shape == (1,)
    assert last.collocation_tables > 1
    assert last.stop_probability == 0.5
    assert 0.0 < last.collocation_discount < 1.0 < last.collocation_concentration + 1.0


def test_pickle_is_small(fitted):
    other = pickle.loads(pickle.dumps(fitted))
    assert other.score(X) == fitted.score(X)
    assert len(pickle.dumps(fitted)) < 200_000
    assert clone(fitted).get_params() == fitted.get_params()


def test_long_strings():
    """No underflow of long strings, of long stretches without a cut, of rare letters."""
    rng = np.random.default_rng(0)
    text = "".join(rng.choice(["the", "dog", "ran", "acat", "sat"], 3000))
    strange = "".join(chr(0x5000 + i % 3000) for i in range(3000))
    y = [None, None, np.zeros(63)]
    estimator = model(max_iter=3, anneal=None, max_word_length=64, max_collocation_length=64).fit(
        [text, strange, strange[:64]], y
    )
    for found, whole in zip(estimator.predict([text, strange]), [text, strange], strict=True):
        assert "".join(found) == whole
    assert np.isfinite(estimator.score_samples([text, strange, strange[::-1]])).all()
    cuts = np.concatenate(estimator.predict_proba([text, strange]))
    assert ((cuts >= 0.0) & (cuts <= 1.0)).all()
