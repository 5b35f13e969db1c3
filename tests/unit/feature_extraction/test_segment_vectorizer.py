"""SegmentVectorizer; tests/refusals/measures.txt has what it refuses."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline, make_union
from unit.data.dummies import WordGroups

from skdp.data import SegmentedCorpus
from skdp.feature_extraction import SegmentVectorizer

DOCUMENTS = [
    "The fox runs. The dog barks.\n\nThe cat sleeps.", ["the dog", "", "unheard of"], "",
    "fox, dog; cat:\ndog fox\n\n\n\nbarks",
]  # fmt: skip


def words(vectorizer, corpus):
    """Return the words of a corpus as nested lists."""
    return [[s.tolist() for s in d] for d in vectorizer.inverse_transform(corpus)]


def test_words_keep_their_order_and_place():
    vectorizer = SegmentVectorizer()
    corpus = vectorizer.fit_transform(DOCUMENTS)
    assert isinstance(corpus, SegmentedCorpus)
    assert words(vectorizer, corpus) == [
        [["the", "fox", "runs", "the", "dog", "barks"], ["the", "cat", "sleeps"]],
        [["the", "dog"], [], ["unheard", "of"]],
        [],
        [["fox", "dog", "cat", "dog", "fox"], ["barks"]],
    ]
    for again in (vectorizer, vectorizer.fit(DOCUMENTS)):
        assert again.transform(DOCUMENTS) == corpus
    arrays = [np.array(x) if isinstance(x, list) else x for x in DOCUMENTS]
    assert vectorizer.fit_transform(arrays) == corpus
    parts = vectorizer.inverse_transform(corpus[1:2].with_parts([[2]]))[0]
    assert [[s.tolist() for s in part] for part in parts] == [
        [["the", "dog"], []], [["unheard", "of"]],
    ]  # fmt: skip


def test_words_outside_the_vocabulary_leave_empty_segments():
    vectorizer = SegmentVectorizer().fit(["fox dog"])
    corpus = vectorizer.transform(["a bird\n\nthe fox, a bird\n\n", "nothing known"])
    assert words(vectorizer, corpus) == [[[], ["fox"]], [[]]]
    assert corpus.n_features == 2


def test_a_given_vocabulary_needs_no_fit():
    vectorizer = SegmentVectorizer(vocabulary=["dog", "fox"]).fit([])
    assert vectorizer.vocabulary_ == {"dog": 0, "fox": 1}
    corpus = vectorizer.transform(["fox fox dog"])
    assert corpus.tokens.tolist() == [1, 1, 0]
    assert SegmentVectorizer(vocabulary=["dog", "fox"]).transform(["fox fox dog"]) == corpus
    unfitted = SegmentVectorizer(vocabulary={"fox": 1, "dog": 0})
    assert words(unfitted, corpus) == [[["fox", "fox", "dog"]]]
    assert unfitted.get_feature_names_out().tolist() == ["dog", "fox"]


@pytest.mark.parametrize(
    ("segmenter", "expected"),
    [
        ("paragraph", [["ab. Cd\nef"], ["gh"]]),
        ("line", [["ab. Cd"], ["ef"], ["gh"]]),
        ("sentence", [["ab."], ["Cd\nef"], ["gh"]]),
        (lambda text: text.split("C"), [["ab. "], ["d\nef\n\ngh"]]),
        (lambda text: (part for part in text.split("C")), [["ab. "], ["d\nef\n\ngh"]]),
        (lambda text: [text, ""], [["ab. Cd\nef\n\ngh"], []]),
    ],
)
def test_segmenters(segmenter, expected):
    vectorizer = SegmentVectorizer(
        segmenter=segmenter, analyzer=lambda segment: [segment] if segment else []
    )
    assert words(vectorizer, vectorizer.fit_transform(["ab. Cd\nef\n\ngh"])) == [expected]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"stop_words": "english"},
        {"stop_words": ["fox"], "strip_accents": "unicode"},
        {"min_df": 2},
        {"min_df": 0.5, "max_df": 0.7},
        {"max_df": 2},
        {"max_features": 3},
        {"vocabulary": ["dog", "fox"]},
        {"vocabulary": {"fox": 0, "cat": 1}},
        {"lowercase": False},
        {"token_pattern": r"\b[a-z]{4,}\b"},
        {"tokenizer": str.split, "token_pattern": None},
        {"preprocessor": str.upper},
        {"analyzer": str.split},
    ],
    ids=str,
)
def test_counts_are_those_of_count_vectorizer(params):
    texts = ["\n\n".join(d) if isinstance(d, list) else d for d in DOCUMENTS]
    counter, vectorizer = CountVectorizer(**params), SegmentVectorizer(**params)
    corpus = vectorizer.fit_transform(DOCUMENTS)
    expected = counter.fit_transform(texts).toarray()
    np.testing.assert_array_equal(corpus.to_bow().toarray(), expected)
    assert vectorizer.vocabulary_ == counter.vocabulary_
    names = vectorizer.get_feature_names_out()
    assert names.dtype == object
    assert names.tolist() == counter.get_feature_names_out().tolist()


def test_ngrams_stay_in_their_segment():
    vectorizer = SegmentVectorizer(ngram_range=(1, 2))
    corpus = vectorizer.fit_transform([["red fox runs", "dog"]])
    assert words(vectorizer, corpus) == [[["red", "fox", "runs", "red fox", "fox runs"], ["dog"]]]
    characters = SegmentVectorizer(analyzer="char", ngram_range=(2, 2))
    assert words(characters, characters.fit_transform(["abc"])) == [[["ab", "bc"]]]


TEXT = "Füchse\n\nHunde"


def test_bytes_and_files(tmp_path):
    expected, data = SegmentVectorizer().fit_transform([TEXT]), TEXT.encode("latin-1")
    (tmp_path / "text").write_bytes(data)
    latin = SegmentVectorizer(encoding="latin-1")
    assert latin.fit_transform([data]) == expected
    latin.set_params(input="filename")
    assert latin.fit_transform([str(tmp_path / "text")]) == expected
    assert latin.fit_transform([[str(tmp_path / "text")] * 2])[0][0].tolist() == [0, 1]
    latin.set_params(input="file")
    assert latin.fit_transform([io.BytesIO(data)]) == expected
    with pytest.raises(UnicodeDecodeError):
        SegmentVectorizer().fit([data])
    SegmentVectorizer(decode_error="ignore").fit([data])


def test_byte_order_marks(tmp_path):
    expected = SegmentVectorizer().fit_transform([TEXT])
    (tmp_path / "text").write_text(TEXT, "utf-8-sig")
    documents = ["\ufeff" + TEXT, TEXT.encode("utf-8-sig"), ["\ufeffFüchse", "\ufeffHunde"]]
    for vectorizer in (SegmentVectorizer(), SegmentVectorizer(token_pattern=r"[^\s]+")):
        for document in documents:
            assert vectorizer.fit_transform([document]) == expected
        named = clone(vectorizer).set_params(input="filename")
        assert named.fit_transform([str(tmp_path / "text")]) == expected
    characters = SegmentVectorizer(analyzer="char").fit(documents)
    assert "\ufeff" not in characters.vocabulary_


@given(st.lists(st.lists(st.text("ab c\n.", max_size=8), max_size=4), min_size=1, max_size=4))
def test_a_text_is_its_segments(documents):
    documents.append(["a word"])
    paragraphs = [[s.replace("\n", " ") for s in d if s.strip()] for d in documents]
    params = {"token_pattern": r"\w+"}
    of_lists = SegmentVectorizer(**params).fit_transform(paragraphs)
    of_texts = SegmentVectorizer(**params).fit_transform(["\n\n".join(d) for d in paragraphs])
    assert of_lists == of_texts
    assert len(of_lists.segment_ptr) - 1 == sum(map(len, paragraphs))


def test_pipelines(tmp_path):
    """Searches, caches, data frames, and other features of the same texts."""
    rng, y = np.random.default_rng(0), np.arange(20) % 2
    choices = [["fox", "dog", "cat"][i : i + 2] for i in y]
    texts = ["\n\n".join(" ".join(rng.choice(c, size=4)) for _ in range(2)) for c in choices]
    pipeline = make_pipeline(SegmentVectorizer(), WordGroups(), GaussianNB())
    grid = {
        "segmentvectorizer__segmenter": ["paragraph", "line"],
        "wordgroups__n_components": [2, 3],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(texts, y)
    assert search.best_params_["wordgroups__n_components"] == 3
    assert cross_validate(pipeline, texts, y, cv=3)["test_score"].mean() > 0.9
    cached = make_pipeline(SegmentVectorizer(), WordGroups(), memory=str(tmp_path))
    expected = cached.fit_transform(texts)
    np.testing.assert_array_equal(cached.fit_transform(texts), expected)
    frame = clone(cached).set_output(transform="pandas").fit_transform(texts)
    assert frame.columns.tolist() == ["wordgroups0", "wordgroups1", "wordgroups2"]
    assert SegmentVectorizer().set_output(transform="pandas").fit_transform(texts)[0]
    assert make_union(cached, TfidfVectorizer()).fit_transform(texts).shape == (20, 6)


def test_lists_of_words_are_not_segments():
    """A habit of tomotopy and gensim, which would make a segment of every word."""
    documents = ["cats purr at other cats".split(), "dogs bark at cats and other dogs".split()]
    with pytest.warns(UserWarning, match=r"more than one word.*' '\.join\(words\).*str\.split"):
        SegmentVectorizer().fit(documents)
    joined = [" ".join(words) for words in documents]
    corpus = SegmentVectorizer(analyzer=str.split).fit_transform(joined)
    assert (len(corpus.segment_ptr), len(corpus.tokens)) == (3, 12)
    short = [["a", "cat"], ["dog"]], [["a cat", "b", "c", "d", "e"]], [["a"] * 9, "b"]
    for documents in (["cats", "dogs"], *short):
        SegmentVectorizer(token_pattern=r"\w+").fit(documents)
