import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from unit.data.dummies import WordShares

from skdp.data import TokenSequences
from skdp.feature_extraction import SegmentVectorizer, TokenVectorizer

SENTENCES = ["The dog barks.", "The dog, the cat.", ["The", "dog", "sleeps", "."], ""]


def words(vectorizer, sentences):
    return [sentence.tolist() for sentence in vectorizer.inverse_transform(sentences)]


def test_all_words():
    vectorizer = TokenVectorizer(min_count=1)
    sentences = vectorizer.fit_transform(SENTENCES)
    assert isinstance(sentences, TokenSequences)
    assert words(vectorizer, sentences) == [
        ["The", "dog", "barks", "."],
        ["The", "dog", ",", "the", "cat", "."],
        ["The", "dog", "sleeps", "."],
        [],
    ]
    names = vectorizer.get_feature_names_out()
    assert names.tolist() == [",", ".", "The", "UNK", "barks", "cat", "dog", "sleeps", "the"]
    assert vectorizer.transform(SENTENCES) == sentences


@pytest.mark.parametrize(
    ("unknown_words", "expected"),
    [
        ("classes", [["The", "dog", "UNK:-s", "."], ["The", "dog", "UNK", "UNK", "UNK", "."]]),
        ("single", [["The", "dog", "UNK", "."], ["The", "dog", "UNK", "UNK", "UNK", "."]]),
        ("drop", [["The", "dog", "."], ["The", "dog", "."]]),
    ],
)
def test_rare_words(unknown_words, expected):
    vectorizer = TokenVectorizer(unknown_words=unknown_words)
    assert words(vectorizer, vectorizer.fit_transform(SENTENCES))[:2] == expected


def test_classes():
    vectorizer = TokenVectorizer(min_count=3)
    rare = "Smith Jones IBM NASA 12 1.5 well-known re-elect walking talking unhappily undoing"
    vectorizer.fit([rare.split()] * 2)
    known = {
        "Brown": "UNK:initial",
        "Jones": "UNK:initial",  # of two occurrences, fewer than min_count, in -s
        "NATO": "UNK:capitals",
        "99": "UNK:digit",
        "well-read": "UNK:hyphen",
        "singing": "UNK:-ing",
        "untying": "UNK:-ing",
        "42nd-floor": "UNK:digit",
        "zebra": "UNK",
        "ing": "UNK",
        "-": "UNK",
    }
    sentence = vectorizer.transform([list(known)])
    assert words(vectorizer, sentence) == [list(known.values())]


def test_affixes_are_parameters():
    vectorizer = TokenVectorizer(prefixes=("ge",), suffixes=["n", "en"])
    vectorizer.fit(
        [["gelangen", "gegeben", "loben", "rufen", "gut", "eilig", "handeln", "wandern"]]
    )
    assert list(vectorizer.vocabulary_) == ["UNK", "UNK:-en", "UNK:-en:ge-", "UNK:-n"]


def test_a_closed_vocabulary():
    vectorizer = TokenVectorizer(vocabulary=["dog", "bird"], unknown_words="single")
    sentences = vectorizer.fit_transform(SENTENCES)
    assert vectorizer.vocabulary_ == {"dog": 0, "bird": 1, "UNK": 2}
    assert sentences[0].tolist() == [2, 0, 2, 2]


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Index])
def test_a_given_vocabulary_keeps_its_order(kind):
    given = ["the", "dog", "UNK:-s", "cat"]
    vectorizer = TokenVectorizer(vocabulary=kind(given)).fit([["Big", "Red", "barks", "the"]])
    expected = [*given, "UNK", "UNK:initial"]
    assert vectorizer.vocabulary_ == {word: i for i, word in enumerate(expected)}
    assert vectorizer.get_feature_names_out().tolist() == expected


@pytest.mark.parametrize("kind", [set, frozenset])
@pytest.mark.parametrize("vectorizer", [SegmentVectorizer, TokenVectorizer])
def test_a_set_of_words_is_sorted(vectorizer, kind):
    words = [f"word{i:02d}" for i in range(40)]
    found = vectorizer(vocabulary=kind(words)).fit(["word10 x word02"]).get_feature_names_out()
    assert found.tolist()[:40] == words


@pytest.mark.parametrize(
    ("params", "text", "expected"),
    [
        ({"lowercase": True}, "The DOG", ["the", "dog"]),
        ({"strip_accents": "unicode"}, "Füchse", ["Fuchse"]),
        ({"preprocessor": str.upper}, "dog", ["DOG"]),
        ({"tokenizer": lambda text: text.split("-"), "token_pattern": None}, "a-b", ["a", "b"]),
        ({"token_pattern": r"\w"}, "ab", ["a", "b"]),
        ({"encoding": "latin-1"}, "Füchse".encode("latin-1"), ["Füchse"]),
        ({"encoding": "ascii", "decode_error": "ignore"}, "Füchse".encode(), ["Fchse"]),
        ({}, "It's well-known: 1.5% (U.S.)", "It's well-known : 1.5 % ( U.S . )".split()),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_text_handling(params, text, expected):
    vectorizer = TokenVectorizer(min_count=1, **params)
    assert words(vectorizer, vectorizer.fit_transform([text])) == [expected]


def test_words_of_a_list_are_preprocessed_but_not_cut():
    vectorizer = TokenVectorizer(min_count=1, lowercase=True)
    sentences = vectorizer.fit_transform([("New York", b"IS", "big")])
    assert words(vectorizer, sentences) == [["new york", "is", "big"]]


@given(st.lists(st.lists(st.text("abS-1sing", min_size=1, max_size=7), max_size=5), max_size=5))
def test_no_word_is_lost(sentences):
    sentences.append(["a", "word"])
    vectorizer = TokenVectorizer()
    container = vectorizer.fit_transform(sentences)
    assert np.diff(container.ptr).tolist() == [len(sentence) for sentence in sentences]
    assert vectorizer.transform(sentences) == container
    counts = {w: sum(s.count(w) for s in sentences) for s in sentences for w in s}
    for sentence, read in zip(sentences, words(vectorizer, container), strict=True):
        for word, name in zip(sentence, read, strict=True):
            assert name == word if counts[word] >= 2 else name.startswith("UNK")
    classes = np.bincount(container.tokens, minlength=container.n_features)
    for name, i in vectorizer.vocabulary_.items():
        assert classes[i] >= 2 or name == "UNK"


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("one text", "Iterable over raw text documents expected"),
        (["text", 3], "sentence 1: must be text or a list of words, got 3"),
        (["text", np.nan], "sentence 1: must be text or a list of words, got nan"),
        ([["text", 3]], "sentence 0: must be text"),
        ([["text", None]], "sentence 0: must be text"),
        ([], "empty vocabulary"),
        (["", []], "empty vocabulary"),
    ],
)
def test_bad_input(X, message):
    with pytest.raises(ValueError, match=message):
        TokenVectorizer().fit(X)
    if "vocabulary" not in message:
        with pytest.raises(ValueError, match=message):
            TokenVectorizer().fit(SENTENCES).transform(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"min_count": 0}, "'min_count' parameter of TokenVectorizer must be"),
        ({"unknown_words": "keep"}, "'unknown_words' parameter of TokenVectorizer must be"),
        ({"suffixes": "ing"}, "'suffixes' parameter of TokenVectorizer must be"),
        ({"unknown_words": "drop", "min_count": 9}, "empty vocabulary"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        TokenVectorizer(**params).fit(SENTENCES)


def test_unfitted():
    for method in ("transform", "inverse_transform", "get_feature_names_out"):
        with pytest.raises(NotFittedError):
            getattr(TokenVectorizer(), method)(SENTENCES)


@pytest.mark.parametrize("params", [{}, {"unknown_words": "single"}, {"unknown_words": "drop"}])
def test_a_given_vocabulary_needs_no_fit(params):
    fitted = TokenVectorizer(vocabulary=["dog", "The"], **params).fit([])
    expected = fitted.transform(SENTENCES)
    n_unknown = int(params.get("unknown_words") != "drop")
    assert expected[0].tolist() == [1, 0, *[2, 2] * n_unknown]
    for X in (SENTENCES, expected):
        unfitted = TokenVectorizer(vocabulary=["dog", "The"], **params)
        if X is SENTENCES:
            assert unfitted.transform(X) == expected
        else:
            found, back = words(unfitted, X), words(fitted, X)
            assert found == back
        assert unfitted.get_feature_names_out().tolist() == ["dog", "The", *["UNK"] * n_unknown]
        assert unfitted.vocabulary_ == fitted.vocabulary_
    for wrong in ({"vocabulary": ["a", "a"]}, {"vocabulary": ["a"], "suffixes": [""]}):
        with pytest.raises(ValueError, match=r"once|suffixes"):
            TokenVectorizer(**wrong).transform(SENTENCES)


def test_clone_and_pickle():
    vectorizer = TokenVectorizer(min_count=3)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    sentences = vectorizer.fit_transform(SENTENCES)
    assert pickle.loads(pickle.dumps(vectorizer)).transform(SENTENCES) == sentences


def test_pipeline():
    pipeline = make_pipeline(TokenVectorizer(), WordShares()).set_output(transform="pandas")
    frame = pipeline.fit_transform(SENTENCES)
    assert frame.shape == (4, len(pipeline[0].vocabulary_))


def test_byte_order_marks():
    texts = ["\ufeffThe dog", "The dog".encode("utf-8-sig"), ["\ufeffThe", "dog"], "The\ufeff dog"]
    vectorizer = TokenVectorizer(min_count=1)
    assert words(vectorizer, vectorizer.fit_transform(texts)) == [["The", "dog"]] * 4
    letters = TokenVectorizer(analyzer="char", min_count=1).fit(texts[:2])
    assert "\ufeff" not in letters.vocabulary_


def test_ids_that_are_given_are_kept():
    vectorizer = TokenVectorizer(vocabulary={"the": 2, "cat": 0, "sat": 1}, unknown_words="single")
    sentences = vectorizer.fit_transform(["the cat sat", "the dog"])
    assert vectorizer.get_feature_names_out().tolist() == ["cat", "sat", "the", "UNK"]
    assert [ids.tolist() for ids in sentences] == [[2, 0, 1], [2, 3]]
    back = vectorizer.inverse_transform(sentences)
    assert [words.tolist() for words in back] == [["the", "cat", "sat"], ["the", "UNK"]]
    named = TokenVectorizer(vocabulary={"UNK": 1, "the": 0}, unknown_words="single").fit(
        ["the cat sat", "the dog"]
    )
    assert named.vocabulary_ == {"UNK": 1, "the": 0}
