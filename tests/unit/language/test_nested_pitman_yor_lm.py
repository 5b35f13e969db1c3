"""NestedPitmanYorLM and CollocationPitmanYorLM: input, results and continuation."""

import pickle
import tracemalloc
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from skdp.data import TokenSequences
from skdp.feature_extraction import TokenVectorizer
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    NestedPitmanYorLM,
    strip_spaces,
)
from skdp.language._nested import _layout
from skdp.language._nested._layout import expected_word_length
from skdp.metrics import segmentation_scores

SPACED = ["the dog ran", "a dog sat", "the cat sat", "a cat ran", "the dog and a cat ran"] * 8
CUT = [text.split() for text in SPACED]
X, Y = strip_spaces(SPACED)
ALPHABET = sorted(set("".join(X)))
IDS = [[ALPHABET.index(c) for c in text] for text in X]
ODD = ["", "z", "é", "\U00010000x", "\ud800"]
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(log joint|too few sweeps):sklearn.exceptions.ConvergenceWarning"
)

KINDS = {
    "nested": NestedPitmanYorLM,
    "triples": partial(NestedPitmanYorLM, 3),  # has kernels of its own
    "collocations": CollocationPitmanYorLM,
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def model(kind="nested", **params):
    params = {"max_iter": 8, "anneal": (1.5, 4), "n_chains": 1, "random_state": 0, **params}
    return KINDS[kind](**params)


@cache
def fitted(kind="nested"):
    return model(kind, n_chains=2).fit(X)


def is_share(values):
    return bool(np.all((values >= 0.0) & (values <= 1.0)))


def joined(words):
    return ["".join(of) for of in words]


# --- strings --------------------------------------------------------------------------------------


def test_strip_spaces():
    assert X[0] == "thedogran"
    assert Y[0].tolist() == [0, 0, 1, 0, 0, 1, 0, 0]
    assert Y[0].dtype == np.int8
    texts, cuts = strip_spaces(["", " a\t\u3000b ", "x", " "])
    assert texts == ["", "ab", "x", ""]
    assert [c.tolist() for c in cuts] == [[], [1], [], []]
    assert strip_spaces(["\ufeffa b"])[0] == ["ab"]


def test_characters_are_code_points():
    """A byte order mark is none."""
    estimator = model(max_iter=2, anneal=None).fit(["e\u0301a", "\ufeff\U0001f600b"] * 3)
    assert estimator.alphabet_ == ["a", "b", "e", "\u0301", "\U0001f600"]
    marked = ["\ufeff" + X[0], *X[1:]]
    np.testing.assert_array_equal(fitted().score_samples(marked), fitted().score_samples(X))
    assert fitted().predict(marked) == fitted().predict(X)


@every_kind
def test_words_of_strings(kind):
    lm, texts = fitted(kind), [*X, *ODD]
    for method in ("viterbi", "mbr"):
        words = lm.set_params(predict_method=method).predict(texts)
        assert joined(words) == texts
    sequences, known = lm.transform(texts), set(lm.lexicon_)
    assert sequences.n_features == len(lm.lexicon_) + 1
    expected = [[word if word in known else None for word in of] for of in words]
    assert lm.inverse_transform(sequences) == expected
    assert lm.inverse_transform([[0]]) == [[lm.lexicon_[0]]]
    proba, samples = lm.predict_proba(texts), lm.score_samples(texts)
    assert [len(p) for p in proba] == [max(len(text) - 1, 0) for text in texts]
    assert is_share(np.concatenate(proba))
    assert np.isfinite(samples).all()
    assert lm.score(texts) == pytest.approx(samples.sum() / sum(map(len, texts)))
    assert lm.perplexity(texts) == pytest.approx(np.exp(-lm.score(texts)))
    assert len(pickle.dumps(lm)) < 200_000


@every_kind
def test_lexicons(kind):
    lm = fitted(kind)
    lexicons = [(lm.lexicon_, lm.lexicon_counts_)]
    if kind == "collocations":
        lexicons.append((joined(lm.collocations_), lm.collocation_counts_))
        assert {word for words in lm.collocations_ for word in words} == set(lm.lexicon_)
    for found, counts in lexicons:
        assert list(counts) == sorted(counts, reverse=True)
        assert counts.min() > 0.0
        letters = sum(len(word) * n for word, n in zip(found, counts, strict=True))
        assert letters == pytest.approx(sum(map(len, X)))


@every_kind
def test_kernels_get_strings_in_portions(kind, monkeypatch):
    """How many letters go through a kernel at a time does not matter."""
    lm, short = fitted(kind), model(kind, max_iter=3, anneal=None)
    joints = short.fit(X).trace_["log_joint"]

    def results():
        return lm.predict(X), lm.score_samples(X).tolist(), np.concatenate(lm.predict_proba(X))

    words, scores, cuts = results()
    monkeypatch.setattr(_layout, "_LETTERS_A_CALL", 20)
    assert len(list(_layout.portions(np.array([len(x) for x in X])))) > 10
    found = results()
    assert found[:2] == (words, scores)
    np.testing.assert_array_equal(found[2], cuts)
    np.testing.assert_array_equal(short.fit(X).trace_["log_joint"], joints)


@every_kind
def test_ids_as_strings(kind):
    lm, of_ids = fitted(kind), model(kind, n_chains=2).fit(IDS)
    assert of_ids.alphabet_ is None
    assert lm.alphabet_ == ALPHABET
    words = [["".join(ALPHABET[x] for x in w) for w in of] for of in of_ids.predict(IDS)]
    assert words == lm.predict(X)
    sequences = TokenSequences.from_sequences(IDS)
    assert of_ids.score(sequences) == lm.score(IDS) == lm.score(X)


def test_characters_of_a_vectorizer():
    """Without a class of unknown characters, ids are as in strings, and so is everything else."""
    lm, vectorizer = fitted(), TokenVectorizer(analyzer="char", min_count=1, unknown_words="drop")
    pipeline = make_pipeline(vectorizer, model(n_chains=2)).fit(X)
    assert pipeline.score_samples(X).tolist() == lm.score_samples(X).tolist()
    words = [pipeline[0].inverse_transform(words) for words in pipeline.predict(X)]
    assert [joined(of) for of in words] == lm.predict(X)
    assert pipeline.transform(X).tokens.tolist() == lm.transform(X).tokens.tolist()
    known = pipeline.set_params(nestedpitmanyorlm__warm_start=True).fit(X, Y)[-1]
    assert [len(words) for words in known.segmentations_] == [len(words) for words in CUT]
    pipeline = make_pipeline(
        TokenVectorizer(analyzer="char"), model(), HierarchicalPitmanYorLM(2, max_iter=4)
    ).fit(X, Y)
    assert pipeline[-1].n_features_in_ == len({word for words in CUT for word in words}) + 1
    assert -5.0 < pipeline.score([*X, "thez"]) < 0.0


# --- known cuts -----------------------------------------------------------------------------------


@every_kind
def test_known_cuts(kind):
    lm = model(kind, warm_start=True).fit(pd.Series(X), pd.Series(Y, index=range(7, 47)))
    assert lm.segmentations_ == CUT
    if kind == "triples":  # a text of known words knows the word that two others ask for
        assert lm.score_samples(["adogsat"]) > lm.score_samples(["adogran"])
    *_, state = model(kind).iter_sweeps(X, Y)
    assert state.cuts[: len(X[0]) - 1].tolist() == Y[0].tolist()
    assert state.log_joint() == lm.trace_["log_joint"][0, -1]
    half = [y if i % 2 else None for i, y in enumerate(Y)]
    assert model(kind, warm_start=True).fit(X, half).segmentations_[1::2] == CUT[1::2]
    expected = model(kind).fit(X).score(X)
    for labels in (np.arange(len(X)) % 2, ["a"] * len(X)):
        assert model(kind).fit(X, labels).score(X) == expected


def test_tables_move_where_cuts_are_known():
    """Tables of strings with and without known cuts keep to what is known of each of them."""
    texts = ["abab"] * 30
    y = [np.array([-1, 1, -1]) if i % 3 else np.array([0, -1, -1]) for i in range(30)]
    for state in model("collocations", anneal=None).iter_sweeps(texts, y):
        cuts = state.cuts.reshape(30, 4)
        assert all(cuts[i, 1] if i % 3 else not cuts[i, 0] for i in range(30))


def test_long_known_words():
    """By default, words have at most 20 letters."""
    texts, y = strip_spaces(["a characteristically long word", "an internationalization"] * 3)
    lexicon = model(max_iter=2, anneal=None).fit(texts, y).lexicon_
    assert {"characteristically", "internationalization"} < set(lexicon)


@pytest.mark.parametrize(
    ("longest", "expected"),
    [
        (12, [["abcdefgh"], ["ab"], ["abca", "bcab"], ["a"]]),
        (3, [["abc", "def", "gh"], ["ab"], ["a", "bca", "bca", "b"], ["a"]]),
    ],
)
def test_first_state_of_whole_strings(longest, expected):
    """The only cuts are the known ones and those that the longest word requires."""
    texts = ["abcdefgh", "ab", "abcabcab", "a"]
    y = [None, np.array([0]), np.array([-1, 0, 0, 1, 0, -1, -1]), None]
    estimator = model(init="whole", anneal=None, max_word_length=longest)
    strings = estimator._check_input(texts, y)
    sampler = estimator._start_sampler(strings, np.random.SeedSequence(0), 0)
    words = [["".join("abcdefgh"[x] for x in word) for word in of] for of in sampler.segmentation()]
    assert words == expected
    assert sampler.tables_of_levels()[-1] >= len({word for of in words for word in of})


# --- parameters and states ------------------------------------------------------------------------

LEVELS = {"discount": ("auto", 0.25, 0.5), "concentration": (7.0, "auto", [1.0, 2.0, 3.0, 4.0])}
AUTO = {"end_probability": "auto", "stop_probability": "auto", "stop_prior": (2.0, 1.0)}


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("nested", {"word_order": 1, "type_moves": 2.0}),
        ("nested", {"character_order": 6, "max_word_length": 2}),
        ("nested", {"character_order": 1, "max_word_length": 1, "type_moves": 2.0}),
        ("nested", {"length_correction": "none"}),
        ("nested", {"length_correction": np.arange(1.0, 21.0)}),
        ("nested", {"word_length": "auto", "length_prior": (20.0, 10.0)}),
        ("nested", {"word_length": 3.0, "discount": 0.0, "concentration": 1.0}),
        ("nested", {"end_probability": "auto", "end_probability_prior": (2.0, 1.0)}),
        ("nested", {"discount": ("auto", 0.3), "concentration": ([1.0, 2.0], "auto")}),
        ("nested", {"init": "whole", "anneal": None}),
        ("triples", {"type_moves": 1.0}),
        ("triples", {"init": "whole", "anneal": None}),
        ("collocations", {"character_order": 1, "init": "whole", "anneal": None}),
        ("collocations", {"max_word_length": 1, "max_collocation_length": 1}),
        ("collocations", {"length_correction": "poisson", "word_length": "auto"}),
        ("collocations", {"length_correction": np.arange(1.0, 13.0)}),
        ("collocations", AUTO),
        ("collocations", LEVELS),
    ],
    ids=str,
)
def test_every_parameter(kind, params):
    lm = model(kind, **params).fit([*X, "", "t"])
    assert joined(lm.predict(X)) == X
    assert max(len(word) for words in lm.predict(X) for word in words) <= lm.max_word_length
    assert len(lm.character_concentrations_) == lm.character_order
    if kind == "collocations":
        assert max(map(len, joined(lm.collocations_))) <= lm.max_collocation_length
    else:
        assert len(lm.word_discounts_) == lm.word_order
        assert lm.trace_["acceptance"].min() > 0.5
    if params is LEVELS:
        assert lm.word_discounts_.tolist() == [0.25]
        assert lm.character_discounts_.tolist() == [0.5] * 4
        assert lm.collocation_concentration_ == 7.0
        assert lm.character_concentrations_.tolist() == [1.0, 2.0, 3.0, 4.0]
    elif isinstance(lm.discount, tuple):
        assert lm.word_concentrations_.tolist() == [1.0, 2.0]
        assert lm.character_discounts_.tolist() == [0.3] * 4
    is_poisson = isinstance(lm.length_correction, str) and lm.length_correction == "poisson"
    assert is_poisson == hasattr(lm, "word_length_") == ("word_length" in lm.trace_)
    for name in ("word_length", "end_probability", "stop_probability")[not is_poisson :]:
        if name not in lm.trace_:
            assert (kind, name) != ("collocations", "stop_probability")
            continue
        values, given = lm.trace_[name], getattr(lm, name)
        assert getattr(lm, f"{name}_") == pytest.approx(values.mean())
        if given == "auto":
            assert values.std() > 0.0
        else:
            assert (values == (7.0 if given == "entropy" else given)).all()


@every_kind
def test_states(kind):
    states = [state.copy() for state in model(kind).iter_sweeps(X)]
    *_, live = model(kind).iter_sweeps(X)
    last, n_levels = states[-1], {"nested": 2, "triples": 3, "collocations": 1}[kind]
    assert len(states) == 8
    assert np.array_equal(last.cuts, live.cuts)
    assert not live.cuts.flags.writeable
    assert states[0].log_joint() != last.log_joint() == live.log_joint()
    for of_words in (last.word_tables, last.word_discounts, last.word_concentrations):
        assert of_words.shape == (n_levels,)
    for of_letters in (last.character_tables, last.character_discounts):
        assert of_letters.shape == last.character_concentrations.shape == (4,)
    assert last.word_tables.min() > 0
    if kind == "collocations":
        assert np.array_equal(last.ends, live.ends)
        assert not live.ends.flags.writeable
        assert last.cuts[last.ends].all()
        assert last.collocation_tables > 1
        assert last.stop_probability == 0.5
        assert 0.0 < last.collocation_discount < 1.0 < last.collocation_concentration + 1.0
    else:
        assert last.word_tables[1] >= last.word_tables[0]
        assert (last.word_length, last.end_probability) == (7.0, 0.95)


@pytest.mark.parametrize(
    ("params", "same"),
    [
        ({"max_iter": 1}, 0),
        ({"max_iter": 10}, 5),
        ({"max_iter": 8, "burn_in": 7}, 7),
        ({"max_iter": 8, "burn_in": 0}, 0),
        ({"max_iter": 34}, 15),
        ({"max_iter": 4, "burn_in": 20, "warm_start": True}, 15),
    ],
    ids=str,
)
def test_annealing_ends_with_the_burn_in(params, same):
    """By default, with any number of sweeps."""
    default = NestedPitmanYorLM(n_chains=1, random_state=0, **params)
    found, expected = (
        [state.cuts.copy() for state in estimator.iter_sweeps(X[:5])]
        for estimator in (default, model(anneal=(1.5, same), **params))
    )
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(("word_order", "type_moves"), [(1, 0.5), (2, 0.0)])
def test_spans_that_occur_once(monkeypatch, word_order, type_moves):
    """The search for customers that they cannot have is skipped, which changes nothing."""
    params = {"word_order": word_order, "type_moves": type_moves, "word_length": 3.0}
    texts = [*X[:6], "whatever", "once", "thedogonce"] * 2
    expected = model(**params).fit(texts)
    monkeypatch.setattr(_layout, "find_shared", lambda spans: np.full(len(spans.ids), 20, np.int32))
    found = model(**params).fit(texts)
    np.testing.assert_allclose(found.trace_["log_joint"], expected.trace_["log_joint"], rtol=1e-12)
    assert found.predict(texts) == expected.predict(texts)


# --- long strings and large alphabets -------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("nested", {}),
        pytest.param("triples", {}, marks=pytest.mark.slow),
        pytest.param(
            "collocations",
            {"max_word_length": 64, "max_collocation_length": 64},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_long_strings(kind, params):
    """No underflow of long strings, of long words, and of letters that were never seen."""
    rng = np.random.default_rng(0)
    text = "".join(rng.choice(["the", "dog", "ran", "acat", "sat"], 2000))[:4000]
    strange = "".join(chr(0x5000 + i % 3000) for i in range(4000))
    lm = model(kind, max_iter=4, anneal=None, **params)
    word = "\u4e00" * lm.max_word_length
    lm.fit([text, word, "\u4e00" * 3], [None, np.zeros(len(word) - 1), None])
    assert joined(lm.predict([text, strange])) == [text, strange]
    score, *halves = lm.score_samples([text, text[:2000], text[2000:]])
    assert -8000 < score < -400
    assert abs(score - sum(halves)) < 50.0
    cuts, of_strange = lm.predict_proba([text, strange])
    assert 1.0 / lm.max_word_length < cuts.mean() < 0.9
    assert is_share(of_strange)
    assert np.isfinite(lm.score([strange]))


@pytest.mark.parametrize("init", ["online", "whole"])
def test_lengths_far_beyond_the_mean(init):
    """Poisson probabilities of 100 letters underflow; a log joint does not."""
    lm = model(word_length=0.001, max_word_length=100, init=init).fit(["abcabc" * 20] * 3)
    assert np.isfinite(lm.trace_["log_joint"]).all()
    assert joined(lm.predict(["abcabc" * 20])) == ["abcabc" * 20]


@pytest.mark.parametrize("make", [NestedPitmanYorLM, CollocationPitmanYorLM])
def test_a_stray_character_takes_no_memory(make):
    """Tables do not have a place for each character of the alphabet."""
    lm = make(n_chains=1, max_iter=4, random_state=0).fit([[0, 1, 2, 1], [1, 2, 0], [0, 3]])
    tracemalloc.start()
    lm.fit([[0, 1, 2, 1], [1, 2, 0], [0, 10**7]])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6
    assert lm.n_features_in_ == 10**7 + 1


# --- lengths of words, from the entropy of characters ---------------------------------------------


@pytest.mark.parametrize(
    ("n_characters", "expected"),
    [(1, 7.0), (2, 7.0), (16, 7.0), (32, 6.4), (512, 160.0 / 81.0), (16384, 1.0)],
)
def test_characters_as_frequent_as_each_other(n_characters, expected):
    tokens = np.tile(np.arange(n_characters, dtype=np.int32), 3)
    assert expected_word_length(tokens) == pytest.approx(expected)


def test_unequal_characters():
    tokens = np.repeat(np.arange(1000, dtype=np.int32), np.arange(1, 1001))
    p = np.arange(1, 1001) / 500_500
    entropy = -sum(x * np.log2(x) for x in p)
    assert expected_word_length(tokens) == pytest.approx(160.0 / entropy**2)
    assert expected_word_length(tokens + 7) == expected_word_length(tokens)


@pytest.mark.slow
@pytest.mark.parametrize("word_length", ["entropy", "auto"])
def test_words_of_many_different_characters(word_length):
    """Such as Chinese: by default no more is wrong than with a cut behind every character."""
    rng = np.random.default_rng(0)
    lengths = rng.choice(3, size=700, p=[0.25, 0.6, 0.15]) + 1
    lexicon = ["".join(chr(0x4E00 + c) for c in rng.integers(0, 1500, k)) for k in lengths]
    p = 1.0 / np.arange(1, 701)
    true = [rng.choice(lexicon, size=6, p=p / p.sum()).tolist() for _ in range(400)]
    texts = joined(true)
    lm = NestedPitmanYorLM(word_length=word_length, n_chains=1, random_state=0).fit(texts)
    found = segmentation_scores(true, lm.predict(texts)).token_f
    assert 1.0 <= lm.word_length_ < 3.5
    assert found > segmentation_scores(true, [list(text) for text in texts]).token_f + 0.1
    assert found > 0.85


def test_letters_without_words():
    """Random letters: words neither of one letter nor as long as is allowed."""
    letters = np.random.default_rng(0).integers(97, 123, size=(150, 20))
    texts = ["".join(map(chr, row)) for row in letters]
    lm = model(anneal="auto").fit(texts)
    assert lm.word_length_ == 7.0
    words = [word for words in lm.predict(texts) for word in words]
    assert 2.0 < np.mean([len(word) for word in words]) < 15.0


def test_start_of_a_learned_length():
    """It is the mean of the prior, and held while the sweeps are annealed."""
    for prior, first in [((20.0, 10.0), 2.0), (None, 7.0)]:
        estimator = model(word_length="auto", length_prior=prior)
        states = estimator.iter_sweeps(["thedog", "adog", "thecat"])
        lengths = [state.word_length for state in states]
        assert lengths[:4] == [first] * 4
        assert len(set(lengths)) == 5
