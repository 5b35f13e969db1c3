import io
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline, make_union
from unit.data.dummies import WordGroups

from skdp.data import SegmentedCorpus
from skdp.feature_extraction import SegmentVectorizer

DOCUMENTS = [
    "The fox runs. The dog barks.\n\nThe cat sleeps.",
    ["the dog", "", "unheard of"],
    "",
    "fox, dog; cat:\ndog fox\n\n\n\nbarks",
]


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
    assert (
        vectorizer.transform(DOCUMENTS) == corpus == vectorizer.fit(DOCUMENTS).transform(DOCUMENTS)
    )


def test_words_of_parts():
    vectorizer = SegmentVectorizer()
    corpus = vectorizer.fit_transform([["a fox", "the dog", "the cat"], []])
    first, second = vectorizer.inverse_transform(corpus.with_parts([[2], []]))
    assert [[s.tolist() for s in part] for part in first] == [
        [["fox"], ["the", "dog"]],
        [["the", "cat"]],
    ]
    assert second == []


def test_a_given_vocabulary_needs_no_documents():
    vectorizer = SegmentVectorizer(vocabulary=["dog", "fox"]).fit([])
    assert vectorizer.vocabulary_ == {"dog": 0, "fox": 1}
    corpus = vectorizer.transform(["fox fox dog"])
    assert corpus.tokens.tolist() == [1, 1, 0]
    assert SegmentVectorizer(vocabulary=["dog", "fox"]).transform(["fox fox dog"]) == corpus
    unfitted = SegmentVectorizer(vocabulary={"fox": 1, "dog": 0})
    assert words(unfitted, corpus) == [[["fox", "fox", "dog"]]]
    assert unfitted.get_feature_names_out().tolist() == ["dog", "fox"]
    for wrong in ({"vocabulary": "dog"}, {"vocabulary": ["dog"], "ngram_range": (2, 1)}):
        with pytest.raises(ValueError, match="must be"):
            SegmentVectorizer(**wrong).transform(["fox"])


def test_words_outside_the_vocabulary_leave_empty_segments():
    vectorizer = SegmentVectorizer().fit(["fox dog"])
    corpus = vectorizer.transform(["a bird\n\nthe fox, a bird\n\n", "nothing known"])
    assert words(vectorizer, corpus) == [[[], ["fox"]], [[]]]
    assert corpus.n_features == 2


@pytest.mark.parametrize(
    ("segmenter", "expected"),
    [
        ("paragraph", [["ab. cd\nef"], ["gh"]]),
        ("line", [["ab. cd"], ["ef"], ["gh"]]),
        (lambda text: text.split("c"), [["ab. "], ["d\nef\n\ngh"]]),
        (lambda text: [text, ""], [["ab. cd\nef\n\ngh"], []]),
    ],
)
def test_segmenters(segmenter, expected):
    vectorizer = SegmentVectorizer(
        segmenter=segmenter, analyzer=lambda segment: [segment] if segment else []
    )
    assert words(vectorizer, vectorizer.fit_transform(["ab. cd\nef\n\ngh"])) == [expected]


def test_sentences():
    vectorizer = SegmentVectorizer(segmenter="sentence")
    corpus = vectorizer.fit_transform(["The fox runs. The dog barks."])
    assert words(vectorizer, corpus) == [[["the", "fox", "runs"], ["the", "dog", "barks"]]]


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
    counter = CountVectorizer(**params)
    vectorizer = SegmentVectorizer(**params)
    expected = counter.fit_transform(texts)
    corpus = vectorizer.fit_transform(DOCUMENTS)
    np.testing.assert_array_equal(corpus.to_bow().toarray(), expected.toarray())
    assert vectorizer.vocabulary_ == counter.vocabulary_
    names = vectorizer.get_feature_names_out()
    assert names.dtype == object
    assert names.tolist() == counter.get_feature_names_out().tolist()


def test_rare_means_in_few_documents():
    documents = [["fox", "fox"], ["dog"], ["dog"]]
    assert list(SegmentVectorizer(min_df=2).fit(documents).vocabulary_) == ["dog"]
    assert list(SegmentVectorizer(max_df=1).fit(documents).vocabulary_) == ["fox"]


def test_ngrams_stay_in_their_segment():
    vectorizer = SegmentVectorizer(ngram_range=(1, 2))
    corpus = vectorizer.fit_transform([["red fox runs", "dog"]])
    assert words(vectorizer, corpus) == [[["red", "fox", "runs", "red fox", "fox runs"], ["dog"]]]
    characters = SegmentVectorizer(analyzer="char", ngram_range=(2, 2))
    assert words(characters, characters.fit_transform(["abc"])) == [[["ab", "bc"]]]


def test_bytes_and_files(tmp_path):
    text = "Füchse\n\nHunde"
    expected = SegmentVectorizer().fit_transform([text])
    (tmp_path / "text").write_bytes(text.encode("latin-1"))
    latin = SegmentVectorizer(encoding="latin-1")
    assert latin.fit_transform([text.encode("latin-1")]) == expected
    latin.set_params(input="filename")
    assert latin.fit_transform([str(tmp_path / "text")]) == expected
    assert latin.fit_transform([[str(tmp_path / "text")] * 2])[0][0].tolist() == [0, 1]
    latin.set_params(input="file")
    assert latin.fit_transform([io.BytesIO(text.encode("latin-1"))]) == expected
    with pytest.raises(UnicodeDecodeError):
        SegmentVectorizer().fit([text.encode("latin-1")])
    SegmentVectorizer(decode_error="ignore").fit([text.encode("latin-1")])


def test_byte_order_marks(tmp_path):
    text = "Füchse\n\nHunde"
    expected = SegmentVectorizer().fit_transform([text])
    (tmp_path / "text").write_text(text, "utf-8-sig")
    documents = ["\ufeff" + text, text.encode("utf-8-sig"), ["\ufeffFüchse", "\ufeffHunde"]]
    single = SegmentVectorizer(token_pattern=r"[^\s]+")
    for vectorizer in (SegmentVectorizer(), single):
        for document in documents:
            assert vectorizer.fit_transform([document]) == expected
        named = clone(vectorizer).set_params(input="filename")
        assert named.fit_transform([str(tmp_path / "text")]) == expected
    characters = SegmentVectorizer(analyzer="char").fit(documents)
    assert "\ufeff" not in characters.vocabulary_


def test_words_with_marks():
    segments = ["नमस्ते दुनिया", "cafe\u0301 மொழி", "مُحَمَّد a"]
    corpus = (vectorizer := SegmentVectorizer()).fit_transform([segments])
    assert words(vectorizer, corpus) == [[["नमस्ते", "दुनिया"], ["caf\u00e9", "மொழி"], ["مُحَمَّد"]]]


@given(st.lists(st.lists(st.text("ab c\n.", max_size=8), max_size=4), min_size=1, max_size=4))
def test_a_text_is_its_segments(documents):
    documents.append(["a word"])
    paragraphs = [[s.replace("\n", " ") for s in d if s.strip()] for d in documents]
    params = {"token_pattern": r"\w+"}
    of_lists = SegmentVectorizer(**params).fit_transform(paragraphs)
    of_texts = SegmentVectorizer(**params).fit_transform(["\n\n".join(d) for d in paragraphs])
    assert of_lists == of_texts
    assert len(of_lists.segment_ptr) - 1 == sum(map(len, paragraphs))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("one text", "Iterable over raw text documents expected"),
        (["text", 3], "document 1: must be text or a list of texts, got 3"),
        (["text", None], "document 1: must be text"),
        ([["text", 3]], "document 0: must be text"),
        ([["text"], [["nested"]]], "document 1: must be text"),
        (["text", np.nan], "document 1: must be text or a list of texts, got nan"),
        ([], "empty vocabulary"),
        (["the"], "empty vocabulary"),
    ],
)
def test_bad_input(X, message):
    with pytest.raises(ValueError, match=message):
        SegmentVectorizer(stop_words=["the"]).fit(X)
    if "vocabulary" not in message:
        with pytest.raises(ValueError, match=message):
            SegmentVectorizer().fit(["text"]).transform(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"segmenter": "chapter"}, "'segmenter' parameter of SegmentVectorizer must be"),
        ({"segmenter": None}, "'segmenter' parameter of SegmentVectorizer must be"),
        ({"min_df": -1}, "'min_df' parameter of SegmentVectorizer must be"),
        ({"analyzer": "sentence"}, "'analyzer' parameter of SegmentVectorizer must be"),
        ({"ngram_range": (2, 1)}, "Invalid value for ngram_range"),
        (
            {"vocabulary": {"a": 0, "b": 2}},
            "vocabulary must map words to ids from 0 to 1, each once",
        ),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        SegmentVectorizer(**params).fit(DOCUMENTS)


def test_unfitted():
    for method in ("transform", "inverse_transform"):
        with pytest.raises(NotFittedError):
            getattr(SegmentVectorizer(), method)(DOCUMENTS)


def test_clone_and_pickle():
    vectorizer = SegmentVectorizer(segmenter="line", min_df=2)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    corpus = vectorizer.fit_transform(DOCUMENTS)
    assert pickle.loads(pickle.dumps(vectorizer)).transform(DOCUMENTS) == corpus


def test_a_series_of_texts():
    series = pd.Series(DOCUMENTS, index=[3, 1, 4, 2])
    assert SegmentVectorizer().fit_transform(series) == SegmentVectorizer().fit_transform(DOCUMENTS)


RNG = np.random.default_rng(0)
Y = np.arange(20) % 2
TEXTS = [
    "\n\n".join(" ".join(RNG.choice(["fox", "dog", "cat"][y : y + 2], size=4)) for _ in range(2))
    for y in Y
]


def test_pipeline():
    pipeline = make_pipeline(SegmentVectorizer(), WordGroups(), GaussianNB())
    grid = {
        "segmentvectorizer__segmenter": ["paragraph", "line"],
        "wordgroups__n_components": [2, 3],
    }
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(TEXTS, Y)
    assert search.best_params_["wordgroups__n_components"] == 3
    assert cross_validate(pipeline, TEXTS, Y, cv=3)["test_score"].mean() > 0.9


def test_pipeline_with_memory(tmp_path):
    pipeline = make_pipeline(SegmentVectorizer(), WordGroups(), memory=str(tmp_path))
    expected = pipeline.fit_transform(TEXTS)
    np.testing.assert_array_equal(pipeline.fit_transform(TEXTS), expected)


def test_data_frame_output():
    pipeline = make_pipeline(SegmentVectorizer(), WordGroups()).set_output(transform="pandas")
    frame = pipeline.fit_transform(TEXTS)
    assert frame.columns.tolist() == ["wordgroups0", "wordgroups1", "wordgroups2"]
    assert pipeline.get_feature_names_out().tolist() == frame.columns.tolist()
    assert SegmentVectorizer().set_output(transform="pandas").fit_transform(TEXTS)[0]


def test_beside_other_text_features():
    union = make_union(make_pipeline(SegmentVectorizer(), WordGroups()), TfidfVectorizer())
    assert union.fit_transform(TEXTS).shape == (20, 6)


def test_a_segmenter_may_be_a_generator():
    def cut(text):
        yield from text.split("|")

    corpus = SegmentVectorizer(segmenter=cut).fit_transform(["one two|two three", "three|one"])
    assert [len(document) for document in corpus] == [2, 2]
    assert len(corpus.tokens) == 6


def test_a_segmenter_must_return_texts():
    with pytest.raises(ValueError, match="segmenter must return a list of texts"):
        SegmentVectorizer(segmenter=str.upper).fit(["one two"])


def test_documents_may_be_arrays_of_texts():
    documents = [["one two", "two"], ["one"]]
    expected = SegmentVectorizer().fit_transform(documents)
    arrays = [np.array(document) for document in documents]
    assert SegmentVectorizer().fit_transform(arrays) == expected


def test_a_data_frame_is_refused():
    frame = pd.DataFrame({"text": ["one two", "two"]})
    with pytest.raises(ValueError, match="pass the column"):
        SegmentVectorizer().fit(frame)
    assert SegmentVectorizer().fit_transform(frame["text"]).shape == (2, 2)


def test_lists_of_words_are_not_segments():
    """A habit of tomotopy and gensim, which would make a segment of every word."""
    documents = ["cats purr at other cats".split(), "dogs bark at cats and other dogs".split()]
    with pytest.warns(UserWarning, match=r"more than one word.*' '\.join\(words\).*str\.split"):
        SegmentVectorizer().fit(documents)
    joined = [" ".join(words) for words in documents]
    corpus = SegmentVectorizer(analyzer=str.split).fit_transform(joined)
    assert (len(corpus.segment_ptr), len(corpus.tokens)) == (3, 12)


@pytest.mark.parametrize(
    "documents",
    [["cats", "dogs"], [["a", "cat"], ["dog"]], [["a cat", "b", "c", "d", "e"]], [["a"] * 9, "b"]],
)
def test_short_segments_do_not_warn(documents):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SegmentVectorizer(token_pattern=r"\w+").fit(documents)
