"""Faults in the use of containers, vectorizers, generators and measures are named.

The message has the parameter, the class or the place, and what to do about it.

Beside them stand habits that look alike and are fine.
"""

import datetime

import numpy as np
import pandas as pd
import pytest
from bad_inputs import (
    DAYS,
    DOCUMENTS,
    HALF,
    HIDDEN,
    SENTENCES,
    SERIES,
    TEXTS,
    TOPICS,
    check_fault,
    faults,
    inverse_segments,
    inverse_tokens,
    segments,
    tokens,
)

from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences, concatenate
from skdp.datasets import (
    make_cocktail_party,
    make_lt_panel,
    make_pcfg_corpus,
    make_segmented_corpus,
    make_sticky_panel,
)
from skdp.feature_extraction import SegmentVectorizer, TokenVectorizer
from skdp.metrics import hellinger_distance, pk, segment_entropy, topic_coherence
from skdp.processes import (
    StirlingRatios,
    expected_table_count,
    sample_concentration,
    sample_crp,
    sample_gem,
    sample_table_counts,
)

FRAME = pd.DataFrame(
    {
        "k": ["a", "a", "b"],
        "t": pd.to_datetime(["2024-01-02", "2024-01-01", "2024-01-01"]),
        "x": [1.0, 2.0, 3.0],
        "name": ["Rex", "Rex", "Ada"],
    }
)
PANEL = SequencePanel.from_sequences([SERIES])


def from_frame(frame=FRAME, by="k", time="t", columns=("x",)):
    return SequencePanel.from_frame(frame, by=by, time=time, columns=columns)


@faults(
    # Silent nonsense
    ("a negative id", lambda: inverse_segments([[[-1]]]), ValueError, "document 0, segment 0.*-1"),
    ("half an id", lambda: inverse_segments([[[0.5]]]), ValueError, "document 0, segment 0.*ids"),
    ("an unknown id", lambda: inverse_segments([[[0], [99]]]), ValueError, "segment 1.*99"),
    ("a negative id", lambda: inverse_tokens([[0], [-1]]), ValueError, "sentence 1.*-1"),
    ("half an id", lambda: inverse_tokens([[0.5]]), ValueError, "sentence 0.*word ids"),
    (
        "ids of another vocabulary",
        lambda: inverse_tokens(TokenSequences.from_sequences([[0, 57]])),
        ValueError,
        "X must hold word ids of the vocabulary.*57",
    ),
    ("a word twice", lambda: tokens(vocabulary=["a", "a"]), ValueError, "vocabulary.*once.*'a'"),
    ("an id twice", lambda: tokens(vocabulary={"a": 0, "b": 0}), ValueError, "vocabulary.*ids"),
    ("gaps in ids", lambda: tokens(vocabulary={"a": 0, "b": 5}), ValueError, "vocabulary.*ids"),
    ("a word as words", lambda: tokens(vocabulary="word"), ValueError, "vocabulary must be words"),
    ("a number as a word", lambda: tokens(vocabulary=[7]), ValueError, "vocabulary must hold str"),
    ("an id twice", lambda: segments(vocabulary={"a": 0, "b": 0}), ValueError, "vocabulary.*ids"),
    ("a text as words", lambda: segments(vocabulary="the"), ValueError, "vocabulary must be words"),
    (
        "words read once",
        lambda: segments(vocabulary=(w for w in ["a"])),
        ValueError,
        "vocabulary must not be a generator",
    ),
    (
        "masked",
        lambda: SegmentedCorpus.from_documents([[HIDDEN[0]]]),
        ValueError,
        "masked array",
    ),
    ("masked", lambda: SegmentedCorpus.from_counts([HIDDEN]), ValueError, "documents.0.*masked"),
    ("masked", lambda: TokenSequences.from_sequences([HIDDEN[0]]), ValueError, "sentence 0.*mask"),
    ("masked", lambda: SequencePanel.from_sequences([HIDDEN]), ValueError, "sequence 0.*mask"),
    ("masked", lambda: SequencePanel(HIDDEN, [0, 2]), ValueError, "values must not be a masked"),
    ("masked", lambda: hellinger_distance(HIDDEN), ValueError, "p must not be a masked array"),
    ("masked", lambda: pk(HIDDEN[0] > 1, [1, 0]), ValueError, "true must not be a masked array"),
    (
        "masked",
        lambda: topic_coherence(HIDDEN, DOCUMENTS, n_words=2),
        ValueError,
        "topics must not be a masked",
    ),
    (
        "masked",
        lambda: expected_table_count(HIDDEN, 0.5, 1.0),
        ValueError,
        "n must not be a masked array",
    ),
    # Containers
    ("no documents", lambda: SegmentedCorpus.from_documents(None), TypeError, "documents must be"),
    ("a text", lambda: SegmentedCorpus.from_documents("text"), TypeError, "documents must be"),
    (
        "a number as a document",
        lambda: SegmentedCorpus.from_documents([[[0]], 3]),
        ValueError,
        "document 1: must be a list of segments",
    ),
    ("no counts", lambda: SegmentedCorpus.from_counts(None), TypeError, "documents must be"),
    ("none at all", lambda: SegmentedCorpus.from_counts([]), ValueError, "no matrices"),
    (
        "dates as counts",
        lambda: SegmentedCorpus.from_counts([DAYS]),
        ValueError,
        "documents.0. must hold counts",
    ),
    ("no sentences", lambda: TokenSequences.from_sequences(None), TypeError, "sequences must be"),
    ("no sequences", lambda: SequencePanel.from_sequences(7), TypeError, "sequences must be"),
    (
        "an id of 64 bits",
        lambda: SegmentedCorpus.from_documents([[[1], np.array([2**63], dtype=np.uint64)]]),
        ValueError,
        "document 0, segment 1.*9223372036854775808",
    ),
    (
        "a truth value as a number",
        lambda: TokenSequences([0], [0, 1], True),
        ValueError,
        "n_features must be an integer",
    ),
    (
        "dates as objects",
        lambda: SequencePanel.from_sequences([[datetime.date(2020, 1, 1)]]),
        ValueError,
        "sequence 0: must be",
    ),
    (
        "too many counts",
        lambda: SegmentedCorpus.from_counts([np.full((1, 2), 2**30 - 1)]),
        ValueError,
        "tokens",
    ),
    ("a truth value", lambda: tokens(min_count=True), ValueError, "min_count.*True"),
    ("a truth value", lambda: segments(max_features=True), ValueError, "max_features.*True"),
    (
        "a truth value",
        lambda: sample_crp(5, discount=False, concentration=1.0),
        ValueError,
        "discount must be a number",
    ),
    (
        "a truth value",
        lambda: sample_gem(5, discount=0.5, concentration=True),
        ValueError,
        "concentration must be",
    ),
    (
        "a huge number",
        lambda: sample_crp(10**20, discount=0.5, concentration=1.0),
        ValueError,
        "n must be at most",
    ),
    (
        "no number of customers",
        lambda: StirlingRatios.for_counts(None, 0.5),
        ValueError,
        "n_max must be an integer",
    ),
    (
        "counts beyond 64 bits",
        lambda: sample_table_counts([10**30], [1.0], discount=0.5, concentration=1.0),
        ValueError,
        "counts must hold integers",
    ),
    (
        "an extreme prior",
        lambda: sample_concentration([3], [2], discount=0.5, prior=(1e-300, 1.0)),
        ValueError,
        "prior must be two positive",
    ),
    # Data frames
    ("no frame", lambda: from_frame(frame=[[1]]), TypeError, "a data frame, got list"),
    ("no frame", lambda: from_frame(frame={"k": [1]}), TypeError, "a data frame, got dict"),
    ("no such column", lambda: from_frame(by="q"), ValueError, r"by: frame has no column 'q'.*'k'"),
    ("no such column", lambda: from_frame(by=["k", "q"]), ValueError, "by: .*no column 'q'"),
    ("no such column", lambda: from_frame(by=None), ValueError, "by: .*no column None"),
    ("no columns", lambda: from_frame(by=[]), ValueError, "by must name at least one"),
    ("no such column", lambda: from_frame(time="q"), ValueError, "time: .*no column 'q'"),
    ("no such column", lambda: from_frame(columns=["q"]), ValueError, "columns: .*no column 'q'"),
    ("a name for a list", lambda: from_frame(columns="x"), ValueError, "columns must be a list of"),
    ("a column twice", lambda: from_frame(columns=["x", "x"]), ValueError, "each column once"),
    (
        "a column twice",
        lambda: from_frame(frame=FRAME[["k", "t", "x", "x"]]),
        ValueError,
        "different names, got 'x' twice",
    ),
    (
        "text as numbers",
        lambda: from_frame(columns=None),
        ValueError,
        "column 'name' must hold numbers, got .*name the columns",
    ),
    ("text as numbers", lambda: from_frame(columns=["name"]), ValueError, "'name' must hold numb"),
    ("dates as numbers", lambda: from_frame(columns=["t"]), ValueError, "'t' must hold.*datetime"),
    (
        "no columns left",
        lambda: from_frame(frame=FRAME[["k", "t"]], columns=None),
        ValueError,
        "no columns of observations",
    ),
    (
        "a time twice",
        lambda: from_frame(frame=FRAME.assign(t="noon")),
        ValueError,
        "time: the sequence with k=a has two rows with t=noon",
    ),
    (
        "a time that is missing",
        lambda: from_frame(frame=FRAME.assign(t=[1.0, np.nan, 2.0])),
        ValueError,
        "time: column 't' has a missing value in row 1",
    ),
    (
        "a key that is missing",
        lambda: from_frame(frame=FRAME.assign(k=["a", "b", None])),
        ValueError,
        "by: column 'k' has a missing value in row 2",
    ),
    (
        "times without an order",
        lambda: from_frame(frame=FRAME.assign(t=[1, "x", 2.0])),
        ValueError,
        "time: column 't' must hold values that can be ordered",
    ),
    # Containers of several
    ("one container", lambda: concatenate(PANEL), TypeError, "must be a list.*single SequencePan"),
    ("no containers", lambda: concatenate([]), ValueError, "at least one container"),
    ("arrays", lambda: concatenate([SERIES, SERIES]), TypeError, "container 0 is of type ndarray"),
    (
        "two kinds",
        lambda: concatenate([PANEL, TokenSequences.from_sequences([[0]])]),
        TypeError,
        "container 1 is of type TokenSequences, container 0 of type SequencePanel",
    ),
    (
        "two vocabularies",
        lambda: concatenate([TokenSequences.from_sequences(s) for s in ([[0]], [[5]])]),
        ValueError,
        "container 1 has 6, but container 0 has 1",
    ),
    # Parameters: of another kind
    ("a number as an affix", lambda: tokens(prefixes=(1, 2)), ValueError, "prefixes must hold str"),
    ("an empty affix", lambda: tokens(suffixes=("",)), ValueError, "suffixes must hold str"),
    ("no pattern", lambda: tokens(token_pattern="("), ValueError, "token_pattern must be a reg"),
    ("no pattern", lambda: segments(token_pattern="("), ValueError, "token_pattern must be a reg"),
    ("no pattern", lambda: segments(token_pattern=None), ValueError, "token_pattern must be"),
    ("no encoding", lambda: segments(encoding="klingon"), ValueError, "encoding must be the name"),
    ("letters", lambda: segments(ngram_range=("a", "b")), ValueError, "ngram_range.*two integers"),
    ("one number", lambda: segments(ngram_range=(1,)), ValueError, "ngram_range.*two integers"),
    ("lists as words", lambda: segments(stop_words=[["a"]]), ValueError, "stop_words must hold"),
    ("a dict of texts", lambda: TokenVectorizer().fit({"a": 1}), ValueError, "X must be an iter"),
    ("no texts", lambda: SegmentVectorizer().fit(None), ValueError, "X must be an iterable"),
    # Generators and measures
    ("no number", lambda: make_segmented_corpus(None), ValueError, "n_documents must be an int"),
    ("a truth value", lambda: make_pcfg_corpus(True), ValueError, "n_sentences must be an int"),
    ("a huge number", lambda: make_sticky_panel(10**20), ValueError, "n_sequences must be at most"),
    ("many documents", lambda: make_segmented_corpus(10**9), ValueError, "n_documents=10{9}.*GiB"),
    ("long segments", lambda: make_segmented_corpus(9, segment_length=1e20), ValueError, "GiB"),
    (
        "a ragged prior",
        lambda: make_segmented_corpus(mixing_prior=[[1], [1, 2]]),
        ValueError,
        "mix",
    ),
    ("an array", lambda: make_segmented_corpus(model=HALF), ValueError, "model must be one of"),
    ("many sentences", lambda: make_pcfg_corpus(10**9), ValueError, "n_sentences=10{9}.*GiB"),
    ("many steps", lambda: make_cocktail_party(2 * 10**9), ValueError, "n_steps=20{9}.*GiB"),
    ("long turns", lambda: make_cocktail_party(turn_length=1e20), ValueError, "turn_length=1e.20"),
    ("words as weights", lambda: make_cocktail_party(weights="x"), ValueError, "weights must hold"),
    ("many states", lambda: make_sticky_panel(n_states=10**9), ValueError, "n_states=10{9}.*GiB"),
    ("many sequences", lambda: make_sticky_panel(10**9), ValueError, "n_sequences=10{9}.*GiB"),
    ("many states", lambda: make_lt_panel(n_states=10**9), ValueError, "n_states=10{9}.*GiB"),
    ("many dimensions", lambda: make_lt_panel(n_dims=2 * 10**9), ValueError, "n_dims=20{9}.*GiB"),
    ("ragged sizes", lambda: make_sticky_panel(n_steps=[[1], [1, 2]]), ValueError, "n_steps"),
    (
        "a word",
        lambda: sample_gem(discount=0.5, concentration=1.0, tolerance="x"),
        ValueError,
        "tolerance must be None or in",
    ),
    (
        "a huge number",
        lambda: sample_table_counts(
            [5, 3], [0.5, 0.5], discount=0.5, concentration=1.0, n_sweeps=2**31 - 1
        ),
        ValueError,
        "n_sweeps=2147483647 of 2 counts.*GiB",
    ),
    ("a list", lambda: topic_coherence(TOPICS, DOCUMENTS, measure=[]), ValueError, "measure must"),
    ("ragged", lambda: hellinger_distance([[1, 2], [3]]), ValueError, "p must be a 2-D array"),
    ("ragged", lambda: segment_entropy(HALF, [[0], [1, 2]]), ValueError, "doc_ptr must be"),
)
def test_a_fault_is_named(fault):
    check_fault(fault)


@pytest.mark.parametrize(
    "call",
    [
        lambda: segments(stop_words=["the"], ngram_range=(1, 2), vocabulary={"cat": 1, "dog": 0}),
        lambda: SegmentVectorizer().fit(text for text in TEXTS),
        lambda: SegmentVectorizer().fit(pd.Series(TEXTS)),
        lambda: TokenVectorizer().fit(np.array(TEXTS, dtype=object)),
        lambda: TokenSequences.from_sequences(np.array(ids) for ids in SENTENCES),
        lambda: SegmentedCorpus.from_documents(document for document in DOCUMENTS),
        lambda: SequencePanel.from_sequences(x for x in [SERIES]),
        lambda: expected_table_count([1.0, 2.0], 0.5, 1),
    ],
)
def test_habits_that_are_fine(call):
    call()


def test_ids_of_two_types_are_joined():
    parts = [np.array([1, 2], dtype=np.int64), np.array([3], dtype=np.uint64), [0]]
    assert TokenSequences.from_sequences(parts).tokens.tolist() == [1, 2, 3, 0]
    assert SegmentedCorpus.from_documents([parts]).tokens.tolist() == [1, 2, 3, 0]
    assert TokenSequences.from_sequences(parts).tokens.dtype == np.int32


def test_ids_that_are_given_are_kept():
    vectorizer = TokenVectorizer(vocabulary={"the": 2, "cat": 0, "sat": 1}, unknown_words="single")
    sentences = vectorizer.fit_transform(TEXTS)
    assert vectorizer.get_feature_names_out().tolist() == ["cat", "sat", "the", "UNK"]
    assert [ids.tolist() for ids in sentences] == [[2, 0, 1], [2, 3]]
    back = vectorizer.inverse_transform(sentences)
    assert [words.tolist() for words in back] == [["the", "cat", "sat"], ["the", "UNK"]]
    named = TokenVectorizer(vocabulary={"UNK": 1, "the": 0}, unknown_words="single").fit(TEXTS)
    assert named.vocabulary_ == {"UNK": 1, "the": 0}
