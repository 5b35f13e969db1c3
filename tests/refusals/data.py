"""Containers, vectorizers, generators and measures: mistakes and their messages."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

from refusals.samples import SERIES
from skdp.data import SegmentedCorpus, SequencePanel

FRAME = pd.DataFrame(
    {
        "k": ["a", "a", "b"],
        "t": pd.to_datetime(["2024-01-02", "2024-01-01", "2024-01-01"]),
        "x": [1.0, 2.0, 3.0],
        "name": ["Rex", "Rex", "Ada"],
    }
)

PANEL = SequencePanel.from_sequences([SERIES])


CORPUS = SegmentedCorpus.from_documents([[[0, 1, 0], [2]], [], [[], [3, 3]]])
documents = SegmentedCorpus.from_documents
counted = SegmentedCorpus.from_counts
sequences = SequencePanel.from_sequences
cut = CORPUS.with_parts


def in_parts(part_ptr):
    return SegmentedCorpus(CORPUS.tokens, CORPUS.segment_ptr, CORPUS.doc_ptr, 4, part_ptr)


def from_frame(frame=FRAME, by="k", time="t", columns=("x",)):
    return SequencePanel.from_frame(frame, by=by, time=time, columns=columns)


TABLE = r"""
inverse_segments([[[-1]]]) -> document 0, segment 0...-1
inverse_segments([[[0.5]]]) -> document 0, segment 0...ids
inverse_segments([[[0], [99]]]) -> segment 1...99
inverse_tokens([[0], [-1]]) -> sentence 1...-1
inverse_tokens([[0.5]]) -> sentence 0...word ids
inverse_tokens(TokenSequences.from_sequences([[0, 57]]))
    X must hold word ids of the vocabulary...57
tokens(vocabulary=['a', 'a']) -> vocabulary...once...'a'
tokens(vocabulary={'a': 0, 'b': $}) for $ in 0 | 5 -> vocabulary...ids
tokens(vocabulary='word') -> vocabulary must be words
tokens(vocabulary=[7]) -> vocabulary must hold str
segments(vocabulary={'a': 0, 'b': 0}) -> vocabulary...ids
segments(vocabulary='the') -> vocabulary must be words
segments(vocabulary=(w for w in ['a'])) -> vocabulary must not be a generator
SegmentedCorpus.from_documents([[HIDDEN[0]]]) -> masked array
SegmentedCorpus.from_counts([HIDDEN]) -> documents[0]...masked
TokenSequences.from_sequences([HIDDEN[0]]) -> sentence 0...mask
SequencePanel.from_sequences([HIDDEN]) -> sequence 0...mask
SequencePanel(HIDDEN, [0, 2]) -> values must not be a masked
hellinger_distance(HIDDEN) -> p must not be a masked array
pk(HIDDEN[0] > 1, [1, 0]) -> true must not be a masked array
topic_coherence(HIDDEN, DOCUMENTS, n_words=2) -> topics must not be a masked
expected_table_count(HIDDEN, 0.5, 1.0) -> n must not be a masked array
SegmentedCorpus.from_documents($) for $ in None | 'text' -> TypeError: documents must be
SegmentedCorpus.from_documents([[[0]], 3]) -> document 1: must be a list of segments
SegmentedCorpus.from_counts(None) -> TypeError: documents must be
SegmentedCorpus.from_counts([]) -> no matrices
SegmentedCorpus.from_counts([DAYS]) -> documents[0] must hold counts
TokenSequences.from_sequences(None) -> TypeError: sequences must be
SequencePanel.from_sequences(7) -> TypeError: sequences must be
SegmentedCorpus.from_documents([[[1], np.array([2 ** 63], dtype=np.uint64)]])
    document 0, segment 1...9223372036854775808
TokenSequences([0], [0, 1], True) -> n_features must be an integer
SequencePanel.from_sequences([[datetime.date(2020, 1, 1)]]) -> sequence 0: must be
SegmentedCorpus.from_counts([np.full((1, 2), 2 ** 30 - 1)]) -> tokens
sample_crp(5, discount=False, concentration=1.0) -> discount must be a number
sample_gem(5, discount=0.5, concentration=True) -> concentration must be
sample_crp(10 ** 20, discount=0.5, concentration=1.0) -> n must be at most
StirlingRatios.for_counts(None, 0.5) -> n_max must be an integer
sample_table_counts([10 ** 30], [1.0], discount=0.5, concentration=1.0) -> counts must hold integers
sample_concentration([3], [2], discount=0.5, prior=(1e-300, 1.0)) -> prior must be two positive
in_parts([0, 2, 3]) -> part_ptr must rise from 0 to 4, the number of segments
in_parts([0, 1, 1, 2, 4]) -> part_ptr: part 1 has no segments
in_parts([0, 1, 3, 4]) -> part_ptr: a part begins before segment 2, where document 1 begins
in_parts([0.0, 4.0]) -> part_ptr must be a 1-D array of integers
cut($) for $ in [[1]] | None | np.array(3) | pd.DataFrame(np.ones((3, 3)))
    cuts must have an array for each of the 3 documents
cut([[$], [], []]) for $ in 2 | 0 -> cuts[0] must hold the first segments...from 1 to 1, got [$]
cut([[1], [1], []]) -> cuts[1] must hold...document 1 but the first, of which it has one
cut([[$], [], []]) for $ in 1.5 | [1], [1, 2] -> cuts[0] must hold integers
cut([sp.csr_matrix((1, 2)), [], []]) -> cuts[0]
counted([np.eye(2), [[0, 1], [0.5, 0]]]) -> counts...document 1, segment 1 has 0.5 of word 0
counted([[[0, -1]]]) -> document 0, segment 0 has -1 of word 1
counted([[[np.nan, 1]]]) -> documents[0] contains NaN
counted([[[1e12]]]) -> at most 2147483647 tokens, but the counts sum to 1e
counted([[[2 ** 62] * 4]]) -> at most 2147483647 tokens
counted([np.eye(2), np.eye(3)]) -> equal width...[2, 3]
counted([]) -> no matrices: the size of the vocabulary is unknown
counted([[['a']]]) -> ~ could not convert string|not compatible
documents([[[0]], [[1], [], [2, 17]]], 10)
    document 1, segment 2: word id 17 is out of range [0, 10
documents([[[0]], [], [[3, -1]]]) -> document 2, segment 0: word id -1 is out of range
documents([[[2 ** 40]]]) -> document 0, segment 0: word id 1099511627776 is out of range
documents([[[0]], [[1.0]]]) -> document 1, segment 0: must be a sequence of word ids...[1.0]
documents([[$]]) for $ in [0], ['a'] | [0], 1 | [0], [[1], [2, 3]] | [], sp.csr_matrix([[1, 2]])
    document 0, segment 1: must be a sequence of word ids
documents([[[[0], [1]], 2]]) -> document 0: must be a list of parts...has 2 among its parts
documents([[[[0]]], [[1]]]) -> document 1, segment 0: must be a sequence of word ids...got 1
documents([[[$]]]) for $ in [[0]] | True -> document 0, segment 0: must be a sequence of word ids
documents([[[0]]], $) for $ in -1 | 2.5 -> n_features must be an integer
SegmentedCorpus([0, 1], $, 2) for $ in [0, 3], [0, 1] | [0, 2, 1, 2], [0, 3] | [1, 2], [0, 1]
    segment_ptr must rise from 0 to 2, the number of tokens
SegmentedCorpus([0, 1], [0, 2], [0, 2], 2) -> doc_ptr must rise from 0 to 1, the number of segments
SegmentedCorpus([0, 1], [], [0, 1], 2) -> segment_ptr must be a 1-D array of integers
SegmentedCorpus([0, 1], [0.0, 2.0], [0, 1], 2) -> segment_ptr must be a 1-D array of integers
SegmentedCorpus([[0, 1]], [0, 1], [0, 1], 2) -> tokens must be a 1-D array of integers
SegmentedCorpus([0.0], [0, 1], [0, 1], 2) -> tokens must be a 1-D array of integers
SegmentedCorpus([0, 2], [0, 2], [0, 1], 2) -> document 0, segment 0: word id 2
TokenSequences.from_sequences([[0], [1, 5]], 5) -> sentence 1: word id 5 is out of range [0, 5)
TokenSequences.from_sequences([[0], [], [-2]]) -> sentence 2: word id -2 is out of range
TokenSequences.from_sequences([[0], ['dog']]) -> sentence 1: must be a sequence of word ids
TokenSequences.from_sequences([[0], 1]) -> sentence 1: must be a sequence of word ids
TokenSequences.from_sequences([[0.5]]) -> sentence 0: must be a sequence of word ids
TokenSequences.from_sequences(['dog']) -> sentence 0: must be a sequence of word ids
TokenSequences([0, 1], [0, 1], 2) -> ptr must rise from 0 to 2, the number of tokens
sequences([np.zeros((2, 2)), np.zeros((2, 3))]) -> sequence 1 has 3 features, but sequence 0 has 2
sequences([np.zeros((2, 2)), np.zeros((1, 2, 2))]) -> sequence 1: must be a
sequences([np.zeros(2), 1.0]) -> sequence 1: must be a
sequences([[$]]) for $ in 'a' | 1j | [1, 2], [3] -> sequence 0: must be a...real numbers
sequences([]) -> no sequences
sequences([FRAME[['x', 'name']], FRAME[['name', 'x']]])
    sequence 1 has ['name', 'x'], but sequence 0 has
SequencePanel(np.zeros((3, 1)), [0, 2]) -> ptr must rise from 0 to 3, the number of observations
SequencePanel(np.zeros((3, 1, 1)), [0, 3]) -> values: must be a
from_frame(FRAME.set_index('k', drop=False)) -> both a column and a level of the index...'k'
from_frame(FRAME.set_index('k'), by='q') -> by: ...no column 'q'...levels of the index ['k'
from_frame($) for $ in FRAME.assign(k=['a', None, 'b']).set_index('k') |
        pl.DataFrame({'k': ['a', None], 'x': [1, 2]}), time=None
    by: column 'k' has a missing value in row 1
from_frame(pl.DataFrame({'k': ['a'], 'x': ['b']}), time=None) -> column 'x' must hold numbers
concatenate([sequences([FRAME[['x']]]), sequences([FRAME[['x']].rename(columns={'x': 'y'})])])
    container 1 has ['y'], but container 0
concatenate([sequences([np.zeros(3)]), PANEL]) -> container 1 has 2, but container 0 has 1
from_frame(frame=[[1]]) -> TypeError: a data frame, got list
from_frame(frame={'k': [1]}) -> TypeError: a data frame, got dict
from_frame(by='q') -> by: frame has no column 'q'...'k'
from_frame(by=['k', 'q']) -> by: ...no column 'q'
from_frame(by=None) -> by: ...no column None
from_frame(by=[]) -> by must name at least one
from_frame(time='q') -> time: ...no column 'q'
from_frame(columns=['q']) -> columns: ...no column 'q'
from_frame(columns='x') -> columns must be a list of
from_frame(columns=['x', 'x']) -> each column once
from_frame(frame=FRAME[['k', 't', 'x', 'x']]) -> different names, got 'x' twice
from_frame(columns=None) -> column 'name' must hold numbers, got ...name the columns
from_frame(columns=['name']) -> 'name' must hold numb
from_frame(columns=['t']) -> 't' must hold...datetime
from_frame(frame=FRAME[['k', 't']], columns=None) -> no columns of observations
from_frame(frame=FRAME.assign(t=7)) -> time: the sequence with k=a has two rows with t=7
from_frame(frame=FRAME.assign(t=['8:00', '10:00', '9:00'])) -> holds text...'8:00'
from_frame(frame=FRAME.assign(t=['12/30/2023', '1/1/2024', '1/2/2024']))
    time: column 't' holds text...to_datetime
from_frame(frame=FRAME.assign(t=['Jan', 'Feb', 'Mar'])) -> the alphabet would sort
from_frame(frame=FRAME.assign(t=pd.Categorical(['Jan', 'Feb', 'Mar'])))
    time: column 't' holds categories without an order
from_frame(frame=FRAME.assign(t=['2024-01-02', '2024-01-01', '2024-01-01'])) -> fine
from_frame(frame=FRAME.assign(t=pd.Categorical(['a', 'b', 'b'], ['a', 'b'], ordered=True))) -> fine
from_frame(frame=FRAME.assign(t=[1.0, np.nan, 2.0]))
    time: column 't' has a missing value in row 1
from_frame(frame=FRAME.assign(k=['a', 'b', None])) -> by: column 'k' has a missing value in row 2
from_frame(frame=FRAME.assign(t=[1, (2,), 2.0]))
    time: column 't' must hold values that can be ordered
PartitionedCorpus() -> TypeError: from_bag, from_corpus, from_delayed, from_files
PartitionedCorpus.from_delayed([CORPUS], 5) -> TypeError: partition 0: must be a dask.delayed
PartitionedCorpus.from_delayed([], 5) -> at least one partition
PartitionedCorpus.from_bag([[[0]]], 5) -> TypeError: bag must be
concatenate(PANEL) -> TypeError: must be a list...single SequencePan
concatenate([]) -> at least one container
concatenate([SERIES, SERIES]) -> TypeError: container 0 is of type ndarray
concatenate([PANEL, TokenSequences.from_sequences([[0]])])
    TypeError: container 1 is of type TokenSequences, container 0 of type SequencePanel
concatenate([TokenSequences.from_sequences(s) for s in ([[0]], [[5]])])
    container 1 has 6, but container 0 has 1
tokens(prefixes=(1, 2)) -> prefixes must hold str
tokens(suffixes=('',)) -> suffixes must hold str
tokens(token_pattern='(') -> token_pattern must be a reg
segments(token_pattern=$) for $ in '(' | None -> token_pattern must be a reg
segments(encoding='klingon') -> encoding must be the name
segments(ngram_range=($)) for $ in 'a', 'b' | 1, -> ngram_range...two integers
segments(stop_words=[['a']]) -> stop_words must hold
TokenVectorizer().fit({'a': 1}) -> X must be an iter
SegmentVectorizer().fit(None) -> X must be an iterable
make_segmented_corpus(None) -> n_documents must be an int
make_pcfg_corpus(True) -> n_sentences must be an int
make_sticky_panel(10 ** 20) -> n_sequences must be at most
make_segmented_corpus(10 ** 9) -> ~ n_documents=10{9}.*GiB
make_segmented_corpus(9, segment_length=1e+20) -> GiB
make_segmented_corpus(mixing_prior=[[1], [1, 2]]) -> mix
make_segmented_corpus(model=HALF) -> model must be one of
make_pcfg_corpus(10 ** 9) -> ~ n_sentences=10{9}.*GiB
make_cocktail_party(2 * 10 ** 9) -> ~ n_steps=20{9}.*GiB
make_cocktail_party(turn_length=1e+20) -> turn_length=1e+20
make_cocktail_party(weights='x') -> weights must hold
make_sticky_panel(n_states=10 ** 9) -> ~ n_states=10{9}.*GiB
make_sticky_panel(10 ** 9) -> ~ n_sequences=10{9}.*GiB
make_lt_panel(n_states=10 ** 9) -> ~ n_states=10{9}.*GiB
make_lt_panel(n_dims=2 * 10 ** 9) -> ~ n_dims=20{9}.*GiB
make_sticky_panel(n_steps=[[1], [1, 2]]) -> n_steps
sample_gem(discount=0.5, concentration=1.0, tolerance='x') -> tolerance must be None or in
sample_table_counts([5, 3], [0.5, 0.5], discount=0.5, concentration=1.0, n_sweeps=2 ** 31 - 1)
    n_sweeps=2147483647 of 2 counts...GiB
topic_coherence(TOPICS, DOCUMENTS, measure=[]) -> measure must
hellinger_distance([[1, 2], [3]]) -> p must be a 2-D array
segment_entropy(HALF, [[0], [1, 2]]) -> doc_ptr must be
segments(stop_words=['the'], ngram_range=(1, 2), vocabulary={'cat': 1, 'dog': 0}) -> fine
SegmentVectorizer().fit($) for $ in (text for text in TEXTS) | pd.Series(TEXTS) -> fine
TokenVectorizer().fit(np.array(TEXTS, dtype=object)) -> fine
TokenSequences.from_sequences((np.array(ids) for ids in SENTENCES)) -> fine
SegmentedCorpus.from_documents((document for document in DOCUMENTS)) -> fine
SequencePanel.from_sequences((x for x in [SERIES])) -> fine
expected_table_count([1.0, 2.0], 0.5, 1) -> fine
"""
