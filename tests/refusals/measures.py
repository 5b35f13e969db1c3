"""Measures, grammars of generators, texts, and panels to transform: mistakes and their messages."""

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from refusals.samples import DOCUMENTS, SERIES
from skdp.datasets import make_pcfg_corpus
from skdp.grammar import ParseTree
from skdp.metrics import bracket_scores, topic_coherence
from skdp.preprocessing import PanelTransformer, WindowFeatures

TREE = ParseTree.from_brackets("(S a)")


def brackets(true, predicted, **options):
    def read(tree):
        return ParseTree.from_brackets(tree) if isinstance(tree, str) else tree

    return bracket_scores([*map(read, true)], [*map(read, predicted)], **options)


def cfg(rules, **options):
    return make_pcfg_corpus(grammar=rules, **options)


def transformed(transformer, X=(SERIES,)):
    return PanelTransformer(transformer).fit_transform(X)


def scaler(X):
    return PanelTransformer(StandardScaler()).fit(X)


def windows(features):
    return WindowFeatures(window=2, n_kernels=9, features=features).fit(SERIES)


def cohere(topics, **options):
    return topic_coherence(topics, DOCUMENTS, n_words=2, **options)


TABLE = r"""
make_pcfg_corpus(max_length=0) -> max_length must be an integer >= 1, got 0
make_pcfg_corpus(max_length=4) -> max_length must be at least 5, the length of the shortest sentence
make_pcfg_corpus(grammar='cat') -> grammar must be 'mouse' or 'pairs' or a dictionary, got 'cat'
cfg({}) -> grammar must be the name of a grammar or a dictionary
cfg({'S': [(('a',), 0.7)]}) -> probabilities of 'S' must sum to 1, not 0.7
cfg({'S': []}) -> probabilities of 'S' must sum to 1, not 0
cfg({'S': [('a', 1.0)]}) -> a tuple of at least one str; got ('a', 1.0)
cfg({'S': [$]}) for $ in ((), 1.0) | (('a', 3), 1.0) | 'a' -> rules of 'S' must be pairs
cfg({'S': [(('a',), -1.0), (('b',), 2.0)]}) -> must be in [0, 1], got -1
cfg({'S': [(('a',), np.nan)]}) -> must be in [0, 1], got nan
cfg({'S': [(('a b',), 1.0)]}) -> A word must not contain white space, got 'a b'
cfg({'S(': [(('a',), 1.0)]}) -> A label must not contain white space or
cfg({'S': [(('S', 'a'), 1.0)]}) -> has no sentences: 'S' cannot be turned
cfg({'S': [(('S', 'S'), 2 / 3), (('a',), 1 / 3)]})
    no finite mean length (symbols multiply by 1.333 ...: set max
cfg({'S': [(('S', 'S'), 0.5), (('a',), 0.5)]}) -> no finite mean length (symbols multiply by 1 from
cfg({'S': [(('a',), 1.0)], 'A': [(('A',), 1.0)]}) -> has symbols that can only become one another
cfg({'S': [(('a',), 1e-6), (('a', 'S'), 1 - 1e-6)]}, max_length=2)
    had at most max_length=2 words: too few to draw from
make_segmented_corpus(components=[1.0, 2.0]) -> Expected 2D array
make_sticky_panel(n_features=1, emission='categorical') -> n_features must be an integer >= 2
make_lt_panel(n_features=1, emission='categorical') -> n_features must be an integer >= 2
brackets(['(S a)'], ['(S a)'], same_labels=('AB',)) -> TypeError: such as ('ADVP', 'PRT'), got 'AB'
brackets(['(S a)'], ['(S a)'], same_labels=('ADVP', 'PRT')) -> TypeError: got 'ADVP'
brackets(['(S a)'], ['(S a)'], same_labels='AB') -> TypeError: got the str 'AB'
brackets(['(S a)'], ['(S a)'], same_labels=[$]) for $ in ('A', 1) | 3 -> TypeError: got $
brackets(['(S a)'], ['(S a)'], same_labels=[('A', 'B', 'C')])
    must hold pairs of labels, got 3: ('A', 'B', 'C')
brackets(['(S a)'], ['(S a)'], same_labels=[('A',)]) -> got 1: ('A',)
brackets(['(S a)'], ['(S a)'], deleted_labels='ROOT')
    TypeError: deleted_labels must hold labels, got the str 'ROOT'
brackets($) for $ in ['(S a b)'], ['(S a c)'] | ['(S a (, b))'], ['(S a c)'] |
        ['(S (-LRB- -LRB-) (-RRB- -RRB-))'], [ParseTree('S', [')', '('])]
    Sentence 0: the words of the two trees differ
brackets(['(S a)', '(S a b)'], ['(S a)'] * 2) -> Sentence 1: the words of the two trees
brackets(['(S a)'], []) -> must hold the same number of trees, at least one; got 1 and 0
brackets([], []) -> must hold the same number of trees, at least one; got 0 and 0
bracket_scores([TREE], ['(S a)']) -> TypeError: Trees must be of class ParseTree, got str
bracket_scores(TREE, [TREE]) -> TypeError: true must be ... got one ParseTree: wrap a tree in a li
bracket_scores([TREE], TREE) -> TypeError: predicted must be a sequence of trees, got one ParseTree
bracket_scores('(S a)', [TREE]) -> TypeError: true must be ... got one str: wrap a tree in a li
bracket_scores([TREE], '(S a)') -> TypeError: predicted must be a sequence of trees, got one str
bracket_scores(None, [TREE]) -> TypeError: true must be ... got one NoneType: wrap a tree in a li
bracket_scores([TREE], None) -> TypeError: predicted must be a sequence of trees, got one NoneType
segmentation_scores(['a dog'], ['ado g'])
    TypeError: true[0] must be the list of its words, ...'a dog'
segmentation_scores([['a'], ['a', 'dog']], [['a'], 'ado g'])
    TypeError: predicted[1] must be the list ...'ado g': split it
segmentation_scores('a dog', 'a dog') -> TypeError: true[0] must be the list
segmentation_scores([['a']], [['a'], ['b']]) -> as many strings, got 1 and 2
segmentation_scores([['a'], ['ab']], [['a'], ['a', 'c']]) -> same letters: string 1 has not
pk($) for $ in [], [] | [[0, 1]], [0, 1] -> true must be 1-D
pk([0, 1], 1) -> predicted must be 1-D
pk([$], [0, 1]) for $ in 0, 2 | 0, np.nan | '0', '1' -> true must hold only 0 and 1
pk([0, 1], [0.5, 1]) -> predicted must hold only 0 and 1
pk([0, 1], [0, 1, 0]) -> predicted must have as many entries as true, 2
pk([0, 1], [0, 1], $) for $ in 0 | 1.5 -> k must be an integer >= 1
pk([0, 1], [0, 1], 3) -> k must be at most 2
window_diff([[0, 1]], [0, 1]) -> true must be 1-D
window_diff([0, 1], [0.5, 1]) -> predicted must hold only 0 and 1
window_diff([0, 1], [0, 1], 3) -> k must be at most 2
topic_coherence([[0, 1]], DOCUMENTS, measure='c_p') -> measure must be one of
topic_coherence([[0, 1]], DOCUMENTS, n_words=$) for $ in 1 | 2.0 -> n_words must be an integer >= 2
topic_coherence([[0, 1]], DOCUMENTS) -> n_words must be at most 2
topic_coherence([[0, 1, 2], [0, 1]], DOCUMENTS, n_words=3) -> n_words must be at most 2
topic_coherence(np.eye(3, 4), DOCUMENTS, n_words=5) -> n_words must be at most 4
cohere([[0, 1]], window=$) for $ in 0 | 2.5 -> window must be an integer >= 1
cohere([[0, 1]], window='paragraph') -> window must be an integer >= 1, 'seg
cohere([[0, 4]]) -> topics must hold word ids below ... 4, got 4
cohere([[$]]) for $ in 0, -1 | 1, 1 -> topics must hold word ids >= 0, each once
cohere([[$]]) for $ in 'a', 'b' | [0, 1] -> topics must be a 2-D array
topic_coherence($, DOCUMENTS) for $ in [] | 0.5 | np.ones(4) | [0.5, 0.5]
    topics must be a 2-D array
cohere([$]) for $ in [0.5, np.nan, 0, 0] | [0.5, 0.5], [0.2, 0.2, 0.1] -> topics must hold finite
topic_coherence(np.eye(2, 6), SegmentedCorpus.from_documents(DOCUMENTS), n_words=2)
    X has 4 features, but ... expecting 6
topic_coherence(np.eye(2, 6), [[[0, 1, 6]]], n_words=2) -> word id 6 is out of range
topic_coherence(np.eye(2, 6), np.full((2, 6), 0.5), n_words=2) -> X must hold counts
topic_coherence(np.eye(2, 6), [[[]]], n_words=2) -> X has no tokens
topic_coherence(np.eye(2, 6), np.empty((0, 6)), n_words=2) -> 0 sample
hellinger_distance([[0, 0], [1, 0]], HALF)
    p must have a positive entry in every row, row 0 is zero
hellinger_distance(HALF, [[1, 1], [1, -1]]) -> q must hold finite numbers >= 0
align_topics([[1, 1], [1, np.nan]], HALF) -> reference must hold finite numbers >= 0
align_topics(HALF, [[1, 1], [1, np.inf]]) -> other must hold finite numbers >= 0
hellinger_to_previous([1, 1], [0, 2]) -> segment_topic must be a 2-D array
hellinger_to_document([['a', 'b']] * 2, HALF, [0, 1, 2]) -> doc_topic must be a 2-D array
hellinger_to_document(HALF, [[1, 1], [1, -1]], [0, 1, 2]) -> segment_topic must hold finite
segment_entropy([[1, 1], [0, 0]], [0, 2])
    segment_topic must have a positive entry...row 1 is zero
segment_deviation([[1, 1], [1, np.nan]], HALF, [0, 1, 2]) -> doc_topic must hold finite
segment_deviation(HALF, [1, 1], [0, 1, 2]) -> segment_topic must be a 2-D array
hellinger_distance(HALF, HALF[:, :1]) -> q must have as many columns as p, 2
align_topics(HALF, HALF[:, :1]) -> other must have as many columns as reference
align_topics(HALF, HALF[:1]) -> other must have at least as many topics
hellinger_to_previous(HALF, $) for $ in [0, 1] | SegmentedCorpus.from_documents([[[0]]])
    doc_ptr must rise from 0 to 2, the number of rows of segment_topic
hellinger_to_previous(HALF, [0, 1.5, 2]) -> doc_ptr must be a 1-D array of int
segment_entropy(HALF, [1, 2]) -> doc_ptr must rise from 0 to 2
segment_deviation(HALF, HALF, [0, 2]) -> doc_topic must have a row for each of
segment_deviation(HALF, HALF[:, 1:], [0, 1, 2]) -> segment_topic must have as m
SegmentVectorizer().fit('one text') -> Iterable over raw text documents expected
segments().transform('one text') -> Iterable over raw text documents expected
SegmentVectorizer().fit(['text', 3]) -> document 1: must be text or a list of texts, got 3
segments().transform(['text', 3]) -> document 1: must be text or a list of texts, got 3
SegmentVectorizer().fit(['text', None]) -> document 1: must be text
SegmentVectorizer().fit([['text', 3]]) -> document 0: must be text
SegmentVectorizer().fit([['text'], [['nested']]]) -> document 1: must be text
segments().transform([['text'], [['nested']]]) -> document 1: must be text
SegmentVectorizer().fit(['text', np.nan]) -> document 1: must be text or a list of texts, got nan
segments().transform(['text', np.nan]) -> document 1: must be text or a list of texts, got nan
SegmentVectorizer().fit(pd.DataFrame({'text': TEXTS})) -> pass the column
segments(segmenter=str.upper) -> segmenter must return a list of texts
SegmentVectorizer().fit([]) -> empty vocabulary
SegmentVectorizer(min_df=3).fit(['one text'])
    No word can be in at least min_df=3 and at most max_df=1.0 of ... because X has 1
segments(stop_words=['the', 'cat', 'sat', 'dog']) -> empty vocabulary
segments(ngram_range=(2, 1)) -> Invalid value for ngram_range
segments(vocabulary={'a': 0, 'b': 2}) -> vocabulary must map words to ids from 0 to 1, each once
SegmentVectorizer(vocabulary='dog').transform(['fox']) -> must be
SegmentVectorizer(vocabulary=['dog'], ngram_range=(2, 1)).transform(['fox']) -> must be
TokenVectorizer().fit('one text') -> Iterable over raw text documents expected
tokens().transform('one text') -> Iterable over raw text documents expected
TokenVectorizer().fit(['text', 3]) -> sentence 1: must be text or a list of words, got 3
TokenVectorizer().fit(['text', np.nan]) -> sentence 1: must be text or a list of words, got nan
tokens().transform(['text', np.nan]) -> sentence 1: must be text or a list of words, got nan
TokenVectorizer().fit([['text', $]]) for $ in 3 | None -> sentence 0: must be text
tokens().transform([['text', $]]) for $ in 3 | None -> sentence 0: must be text
TokenVectorizer().fit($) for $ in [] | ['', []] -> empty vocabulary
tokens(suffixes='ing') -> 'suffixes' parameter of TokenVectorizer must be
tokens(unknown_words='drop', min_count=9) -> empty vocabulary
TokenVectorizer(vocabulary=['a', 'a']).transform(TEXTS) -> once
TokenVectorizer(vocabulary=['a'], suffixes=['']).transform(TEXTS) -> suffixes
PanelTransformer(StandardScaler).fit([SERIES])
    TypeError: write PanelTransformer(StandardScaler(...))
transformed($) for $ in None | 'scale' -> 'transformer' parameter of PanelTransformer...'transform'
transformed(HDPHMMLT) -> TypeError: got the class HDPHMMLT
transformed(FunctionTransformer(lambda X: X[::2]))
    one row per row, but FunctionTransformer returned shape (3, 2) for 5
transformed(FunctionTransformer(lambda X: X[:, 0]))
    FunctionTransformer returned shape (5,) for 5 rows
transformed(OneHotEncoder(), [[[0], [1]]]) -> TypeError: OneHotEncoder returned a sparse matrix: set
scaler(SERIES[:, 0]) -> 1D array...np.reshape
scaler(np.zeros((2, 3, 4))) -> dim 3, while PanelTransformer
scaler([]) -> 0 sample
scaler([SERIES, SERIES[:, :1]]) -> sequence 1 has 1 feature
scaler([np.full((2, 2), np.inf)]) -> infinity
scaler([pd.DataFrame(SERIES, columns=['a', 'b']), SERIES]) -> sequence 1 has no names of columns
scaler((x for x in [SERIES])) -> TypeError: pass list(X)
scaler([SERIES]).transform([SERIES[:, :1]]) -> X has 1 features, but PanelTransformer is expecting 2
PanelTransformer(PCA(1)).fit([SERIES, np.full((3, 2), np.nan)])
    PCA does not accept missing values
PanelTransformer(PCA(2)).transform([SERIES]) -> NotFittedError: not fitted
PanelTransformer(PCA(2)).get_feature_names_out() -> NotFittedError: not fitted
WindowFeatures(window=7).fit(SERIES) -> window=7 exceeds the longest sequence, which has 5 steps
windows(lambda w: w) -> features must return a number, or a one-dimensional
windows(lambda w: $) for $ in 'a' | [[1], [1, 2]] | 1j -> features must return a number...got $
windows(lambda w: np.nan) -> features returned NaN or infinity
windows(lambda w: np.ones(1 + (w[0, 0] > 2.5))) -> equally many numbers for each window
WindowFeatures().fit(np.full((50, 1), np.nan)) -> X holds nothing but missing values
WindowFeatures().fit([]) -> Found array with 0 sample
windows('convolutions').inverse_states([0, 1], SERIES) -> one entry per window of X
"""
