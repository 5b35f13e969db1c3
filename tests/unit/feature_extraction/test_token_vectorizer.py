"""TokenVectorizer, and what both vectorizers share: bags, and vocabularies that are sets."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from unit.data.dummies import WordShares

from skdp.data import PartitionedCorpus, PartitionedSentences, TokenSequences
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
    pipeline = make_pipeline(vectorizer, WordShares()).set_output(transform="pandas")
    assert pipeline.fit_transform(SENTENCES).shape == (4, 9)


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
    vectorizer = TokenVectorizer(prefixes=("ge",), suffixes=["n", "en"])
    vectorizer.fit(["gelangen gegeben loben rufen gut eilig handeln wandern".split()])
    assert list(vectorizer.vocabulary_) == ["UNK", "UNK:-en", "UNK:-en:ge-", "UNK:-n"]


# Given vocabularies


def test_a_closed_vocabulary():
    """Its order is kept, or the ids that it gives."""
    vectorizer = TokenVectorizer(vocabulary=["dog", "bird"], unknown_words="single")
    sentences = vectorizer.fit_transform(SENTENCES)
    assert vectorizer.vocabulary_ == {"dog": 0, "bird": 1, "UNK": 2}
    assert sentences[0].tolist() == [2, 0, 2, 2]
    vectorizer.set_params(vocabulary={"the": 2, "cat": 0, "sat": 1})
    sentences = vectorizer.fit_transform(["the cat sat", "the dog"])
    assert vectorizer.get_feature_names_out().tolist() == ["cat", "sat", "the", "UNK"]
    assert [ids.tolist() for ids in sentences] == [[2, 0, 1], [2, 3]]
    assert words(vectorizer, sentences) == [["the", "cat", "sat"], ["the", "UNK"]]
    vectorizer.set_params(vocabulary={"UNK": 1, "the": 0}).fit(["the cat"])
    assert vectorizer.vocabulary_ == {"UNK": 1, "the": 0}


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Index])
def test_a_given_vocabulary_keeps_its_order(kind):
    given = ["the", "dog", "UNK:-s", "cat"]
    vectorizer = TokenVectorizer(vocabulary=kind(given)).fit([["Big", "Red", "barks", "the"]])
    expected = [*given, "UNK", "UNK:initial"]
    assert vectorizer.vocabulary_ == {word: i for i, word in enumerate(expected)}
    assert vectorizer.get_feature_names_out().tolist() == expected


@pytest.mark.parametrize(
    ("vectorizer", "kind"), [(SegmentVectorizer, set), (TokenVectorizer, frozenset)]
)
def test_a_set_of_words_is_sorted(vectorizer, kind):
    words = [f"word{i:02d}" for i in range(40)]
    found = vectorizer(vocabulary=kind(words)).fit(["word10 x word02"]).get_feature_names_out()
    assert found.tolist()[:40] == words


@pytest.mark.parametrize("unknown_words", ["classes", "single", "drop"])
def test_a_given_vocabulary_needs_no_fit(unknown_words):
    params = {"vocabulary": ["dog", "The"], "unknown_words": unknown_words}
    fitted = TokenVectorizer(**params).fit([])
    expected, n_unknown = fitted.transform(SENTENCES), int(unknown_words != "drop")
    assert expected[0].tolist() == [1, 0, *[2, 2] * n_unknown]
    assert TokenVectorizer(**params).transform(SENTENCES) == expected
    assert words(TokenVectorizer(**params), expected) == words(fitted, expected)
    unfitted = TokenVectorizer(**params)
    assert unfitted.get_feature_names_out().tolist() == ["dog", "The", *["UNK"] * n_unknown]
    assert unfitted.vocabulary_ == fitted.vocabulary_


# Texts


@pytest.mark.parametrize(
    ("params", "text", "expected"),
    [
        ({"lowercase": True}, "The DOG", ["the", "dog"]),
        ({"lowercase": True}, ("New York", b"IS", "big"), ["new york", "is", "big"]),
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
    """Words of a list are preprocessed, but not cut."""
    vectorizer = TokenVectorizer(min_count=1, **params)
    assert words(vectorizer, vectorizer.fit_transform([text])) == [expected]


def test_byte_order_marks():
    texts = ["\ufeffThe dog", "The dog".encode("utf-8-sig"), ["\ufeffThe", "dog"], "The\ufeff dog"]
    vectorizer = TokenVectorizer(min_count=1)
    assert words(vectorizer, vectorizer.fit_transform(texts)) == [["The", "dog"]] * 4
    letters = TokenVectorizer(analyzer="char", min_count=1).fit(texts[:2])
    assert "\ufeff" not in letters.vocabulary_


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


# Bags

TEXTS = ["a red fox\n\nthe fox", "red and blue", "", "the blue blue fox\n\nruns", "a fox"]


@pytest.mark.parametrize(
    ("vectorizer", "kind"),
    [
        (SegmentVectorizer(), PartitionedCorpus),
        (TokenVectorizer(), PartitionedSentences),
        (TokenVectorizer(unknown_words="drop"), PartitionedSentences),
    ],
)
def test_bags_are_as_lists(vectorizer, kind):
    """The words of one machine, partition by partition."""
    bag = pytest.importorskip("dask.bag").from_sequence(TEXTS, npartitions=3)
    whole, words = vectorizer.fit_transform(TEXTS), dict(vectorizer.vocabulary_)
    X = vectorizer.transform(bag)
    assert type(X) is kind
    assert X.n_partitions == bag.npartitions
    vectorizer.fit(["other words", "words"])  # is not what X is made with
    assert X.compute() == whole
    again = vectorizer.fit_transform(bag)
    assert type(again) is kind
    assert again.compute() == whole
    assert vectorizer.vocabulary_ == words
    given = type(vectorizer)(vocabulary=["fox", "blue"])
    assert given.transform(bag).compute() == given.transform(TEXTS)
