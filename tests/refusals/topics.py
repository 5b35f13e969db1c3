"""Topic models: mistakes and their messages."""

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from refusals.samples import DOCUMENTS
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import GibbsLDA, LatentDirichletCoClustering, SectionedTopicModel, TopicSegmenter


def parts_of(documents, n_features=None):
    return PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(documents, n_features), 2)


PARTS = parts_of(DOCUMENTS)


def pitman_yor(X=DOCUMENTS, **params):
    return GibbsLDA(2, topic_word_discount="auto", **params).fit(X)


def co_clusters(**params):
    return LatentDirichletCoClustering(3, 2, max_iter=2, **params).fit(DOCUMENTS)


def sectioned(**params):
    return SectionedTopicModel(2, **params).fit(DOCUMENTS)


def segmenter(**params):
    return TopicSegmenter(2, max_iter=2, **params).fit(DOCUMENTS)


TABLE = r"""
GibbsLDA(2).fit(HIDDEN) -> X must not be a masked array
stm(init=HIDDEN) -> 'init'...SegmentedTopicModel...masked array
given(HIDDEN) -> components must not be a masked array
stm().transform(HIDDEN) -> X must not be a masked array
GibbsLDA(2).fit([['a', 'cat'], ['dogs']])
    X holds text...str.split).fit_transform([' '.join(words) for words in X])
GibbsLDA(2).fit([[['a', 'cat'], ['dogs']]])
    X holds text...for words in document] for document in X])
stm().transform(['a cat']) -> ~ X holds text.*: pass transform\(X\) of the vectorizer of the fit\.$
GibbsLDA(2).fit([['a cat', 'dogs']]) -> X holds text...SegmentVectorizer().fit_transform(X)
GibbsLDA(2).fit('a text') -> X holds text...SegmentVectorizer().fit_transform(X)
GibbsLDA(2).fit([[(0, 2), (3, 1)], [(1, 1)]])
    pairs of a word id and its count...corpus2csc(documents, num_terms=...).T
stm().top_words(3) -> n_features=4 names...get_feature_names_out()...shape ()
GibbsLDA(2).fit(DAYS) -> X must hold numbers, got dates
GibbsLDA(10 ** 6).fit([[[0, 1], [1]]] * 3)
    n_components=1000000 topics: the matrix that matches the topics...GiB, more than the
GibbsLDA(2).fit((d for d in DOCUMENTS)) -> TypeError: generator...pass list(X)
GibbsLDA(2, seed_words=[[0]]).fit(DOCUMENTS) -> 'seed_words'...dict
GibbsLDA(2, seed_words={}).fit(DOCUMENTS) -> seed_words must have at least one topic
GibbsLDA(2, seed_words={True: [0]}).fit(DOCUMENTS) -> numbers or names of topics as keys, got True
GibbsLDA(2, seed_words={2: [0]}).fit(DOCUMENTS) -> below n_components=2; topic 2 has the number 2
GibbsLDA(2, seed_words={-1: [0]}).fit(DOCUMENTS) -> from 0 to below n_components=2; topic -1
stm(seed_words={'a': [0], 1: [1], 'b': [2]}) -> n_components=2; topic 'b' has the number 2
HDPTopicModel(seed_words={1: [0]}).fit(DOCUMENTS)
    number of topics with seed words, 1, because they come first; topic 1
HDPTopicModel(seed_words={0: [0], 1: [1]}, initial_components=1).fit(DOCUMENTS)
    initial_components has 1 topics, but seed_words has 2
stm(n_components='auto', seed_words={0: [0], 1: [1]}, max_components=1)
    max_components has 1 topics, but seed_words has 2
HDPTopicModel(seed_words={0: [0], 1: [1]}, init=np.ones((1, 4))).fit(DOCUMENTS)
    init has 1 topics, but seed_words has 2
stm(seed_words={0: 'war'}) -> seed_words[0] must be a list
stm(seed_words={'a': []}) -> ['a']...at least one word
stm(seed_words={0: [0.5]}) -> [0] must hold words or...0.5
stm(seed_words={0: [-1]}) -> words or word ids, got -1
stm(seed_words={0: ['war']}) -> X does not name its words...vectorizer.vocabulary_
stm(seed_words={0: [9]}) -> 4 words: 9. No seed word
stm(fixed_components=np.full((3, 4), 0.25)) -> fixed_components has 3 topics, but n_components is 2
stm(fixed_components=[[0.5, 0.5]]) -> fixed_components must have shape ... n_features=4, got (1, 2)
stm(fixed_components=[[0.25] * 4, [5, 1, 0, 0]])
    fixed_components must have rows that sum to 1, but row 1 sums to 6
stm(fixed_components=[[1.5, -0.5, 0, 0]]) -> fixed_components must hold non-negative numbers
stm(fixed_components=[[np.nan] * 4]) -> fixed_compon...NaN
stm(fixed_components=np.ones((0, 4))) -> fixed_co...at least
stm(fixed_components=[0.25] * 4) -> fixed_compon...2-D array
stm(fixed_components=[['a'] * 4]) -> fixed_components must hold
stm(fixed_components=0.5) -> 'fixed_components'
stm(fixed_components=[[0.25] * 4], seed_words={0: [1]})
    seed_words must have topics that are not in fixed_components, ... got topic 0
stm(fixed_components=[[1, 0, 0, 0], [0.5, 0.5, 1e-19, 0]])
    The word 2 (document 0, segment 1) can have no topic
GibbsLDA(2, fixed_components=[[0, 0, 0.5, 0.5]]).fit(DOCUMENTS, [{0}, None])
    The word 0 (document 0, segment 0) can have no topic
HDPTopicModel( fixed_components=[[0.25] * 4], seed_words={'a': [0]},
        max_components=1).fit(DOCUMENTS)
    max_components has 1 topics, but fixed_components has 1 and seed_words has 1
GibbsLDA(1, fixed_components=[[1.0, 0, 0, 0]]).fit(PARTS)
    ~ The word \d \(document 0, segment \d\) can have no topic
GibbsLDA(2).fit($, [{0}]) for $ in DOCUMENTS | PARTS
    y must have a set of topics, or None, for each of the 2 documents, got 1
GibbsLDA(2).fit($, [{0}, {2}]) for $ in DOCUMENTS | PARTS
    y[1] must hold topics from 0 to below n_components=2; got 2
GibbsLDA(2).fit(DOCUMENTS, [{True}, None]) -> y[0] must hold topics...True
GibbsLDA(2, seed_words={'a': [0]}).fit(DOCUMENTS, [{'a'}, {'b'}])
    y[1]...names among ['a']; got 'b'
GibbsLDA(2).fit(DOCUMENTS, [[0], [0, 1]]) -> y[0] must be a set of topics, or a list of such sets
GibbsLDA(2).fit(DOCUMENTS, [{0}, 1]) -> y[1] must be a set of topics or None, got 1
GibbsLDA(2).fit(DOCUMENTS, [[{0}, {1}], None]) -> y[0] must be one set...level='segment'
GibbsLDA(2, level='segment').fit(DOCUMENTS, [None, [{0}]])
    y[1] must have a set for each of the 2 segments of document 1, got 1
HDPTopicModel().fit(DOCUMENTS, [{0}, {1}])
    y[0] has the topic 0, but no topics have numbers...give seed_words or fixed_comp
SegmentedTopicModel('auto', seed_words={'a': [0]}).fit(DOCUMENTS, [{0}, {1}])
    y[1]...below the number of topics with... words, 1, or names among ['a']; got 1
LatentDirichletCoClustering(2).fit($, [{0}, {1}]) for $ in DOCUMENTS | PARTS
    no input for this LatentDirichletCoClustering
TopicSegmenter(2).fit(DOCUMENTS, [{0}, {1}]) -> y must hold arrays of known cuts, not sets of topics
stm(n_components=2 ** 31 - 1) -> n_components=...GiB
stm(n_chains=2 ** 31 - 1) -> n_chains=2147483647...GiB
stm(n_shards=2 ** 31 - 1) -> n_shards=2147483647...GiB
LatentDirichletCoClustering(2, 2 ** 31 - 1).fit(DOCUMENTS) -> n_document_topics=2147483647...GiB
HDPTopicModel(initial_components=2 ** 31 - 1).fit(DOCUMENTS) -> initial_components=2147483647...GiB
stm(n_components='auto', initial_components=2 ** 31 - 1) -> initial_components=2147483647...GiB
stm(n_components='auto', doc_topic_prior=$) for $ in 0.1 | 'auto-symmetric' | [0.1, 0.2]
    doc_topic_prior must be 'auto' if n_components is 'auto'
HDPTopicModel(n_components=20) -> TypeError: n_components
given(TOPICS).log_likelihood([[[0, 1, 2] * 9]], n_particles=2 ** 31 - 1)
    n_particles=2147483647 of a document of 27 words...GiB
stm().top_words(n=99) -> n must be at most n_features=4
stm().top_words(relevance=True) -> relevance...True
stm().summary(np.ma.masked_array(list('abcd'), [1, 0, 0, 0]))
    feature_names must not be a masked array
stm().representative_documents(n_documents=3)
    n_documents must be at most the number of documents, 2, got 3
given(TOPICS).summary() -> summary needs the shares of topics in a training corpus
stm(doc_topic_prior=['a', 'b']) -> doc_topic_prior
stm(init=[[1, 2], [3]]) -> init must hold real
given(TOPICS[:, :2], n_components=3) -> n_compon
given($) for $ in TOPICS[0] | [TOPICS] -> components must be a 2-D array
given(None) -> components must hold real numbers
given([[1e+308, 1e+308]]) -> components must have rows
SegmentedTopicModel.from_topics(TOPICS, doc_topic_prior=[1.0])
    doc_topic_prior must hold n_components=2
given(TOPICS, discount=$) for $ in "auto" | 'auto' -> discount must be given as numbers
given(TOPICS, foo=1) -> TypeError: SegmentedTopicModel.__init__()...'foo'
stm(n_components=np.int64(2), topic_word_prior=np.float32(0.5)) -> fine
stm(topic_word_prior=1, concentration=10, discount=0, doc_topic_prior=1) -> fine
stm(doc_topic_prior=[1, 2], dirichlet_prior=[1, 1], init=np.ones((2, 4)).tolist()) -> fine
given(pd.DataFrame(TOPICS)) -> fine
stm().summary(pd.Series(list('abcd')), np.int64(2), relevance=np.float32(0.5)) -> fine
pd.DataFrame(stm().summary()) -> fine
SegmentedTopicModel(20).fit([[[0, 1], [STRAY]], [[2]]])
    2147483646, document 0, segment 1...GiB, more than the memory
LatentDirichletCoClustering(20).fit([[[0, 1]], [[2], [STRAY]]])
    2147483646, document 1, segment 1...GiB
HDPTopicModel(fixed_components=np.eye(3, 4), max_components=3, max_iter=2).fit(DOCUMENTS)
    The word 3 (document 0, segment 1) can have no topic: all topics...fixed_components
SegmentedTopicModel("auto", fixed_components=np.eye(3, 4), max_components=3).fit(DOCUMENTS)
    The word 3 (document 0, segment 1) can have no topic
AdaptiveTopicModel("auto", fixed_components=np.eye(3, 4), max_components=3).fit(DOCUMENTS)
    The word 3 (document 0, segment 1) can have no topic
GibbsLDA(2, max_iter=2).fit(DOCUMENTS, {0: {0}, 1: {1}}) -> TypeError: y must be a list...got dict
GibbsLDA(2, max_iter=2).fit(DOCUMENTS, np.array(1))
    TypeError: y must be a list, an array or a column...got ndarray without dimensions
GibbsLDA(2, max_iter=2).fit(DOCUMENTS, {0, 1}) -> TypeError: y must be a list...got set
GibbsLDA(2, max_iter=2).fit(DOCUMENTS, [np.array([0]), None]) -> y[0]
GibbsLDA(2, max_iter=2).fit(DOCUMENTS, [range(1), range(2)]) -> y[0]
TopicSegmenter(2, max_iter=2).fit(DOCUMENTS, np.array(1))
    y must have an array of known cuts for each of the 2 documents
TopicSegmenter(2, max_iter=2).fit(DOCUMENTS, [[[1], [1, 2]], None])
    y[0] must have a value for each of the 1 gaps
SegmentedTopicModel(2, seed_words={0: [[1], [1, 2]]}).fit(DOCUMENTS)
    seed_words[0] must hold words or word ids
stm(doc_topic_prior=[$]) for $ in 1, 2, 3 | 1, 0 | 1, np.nan | [1, 1]
    doc_topic_prior must hold n_components=2 numbers from
stm(init=np.ones(($))) for $ in 3, 4 | 2, 3 -> init must have shape ... = (2, 4), got ($)
stm(init=np.ones(4)) -> init must be a 2-D array
stm(init=-np.ones((2, 4))) -> init must hold non-negative numbers, and no row
stm(init=np.zeros((2, 4))) -> init must hold non-negative numbers, and no row
stm(init=np.full((2, 4), np.nan)) -> init contains NaN
stm(burn_in=2) -> burn_in must be smaller than max_iter
stm(transform_burn_in=100) -> transform_burn_in must be smaller than transform_max_iter
stm(discount_prior=np.ones(2)) -> The 'discount_prior' parameter of SegmentedTopicModel
stm(n_components='auto', init=np.ones((3, 3))) -> init must have shape ... n_features=4, got (3, 3)
stm(n_components='auto', max_components=8, initial_components=9)
    initial_components has 9 topics, but max_components is 8
stm(n_components='auto', max_components=8, init=np.ones((9, 4)))
    init has 9 topics, but max_components is 8
HDPTopicModel(init=np.ones((3, 3))).fit(DOCUMENTS)
    init must have shape ... n_features=4, got (3, 3)
HDPTopicModel(max_components=8, initial_components=9).fit(DOCUMENTS)
    initial_components has 9 topics, but max_components is 8
HDPTopicModel(max_components=8, init=np.ones((9, 4))).fit(DOCUMENTS)
    init has 9 topics, but max_components is 8
stm(n_components=5, max_components=4) -> n_components has 5 topics, but max_components is 4
SequentialLDA('auto').fit(DOCUMENTS) -> 'n_components' parameter of SequentialLDA
SegmentedTopicModel.from_topics(TOPICS, n_components='auto', doc_topic_prior='auto')
    components holds 2 topics, but n_components is auto
SegmentedTopicModel.from_topics($) for $ in TOPICS | TOPICS, doc_topic_prior='auto-symmetric'
    doc_topic_prior must be given as numbers
given(TOPICS, discount_prior=(0.0, 1.0)) -> discount_prior must be two positive
given(TOPICS, concentration_scope='all') -> concentration_scope
given([[$]]) for $ in 0.5, -0.5 | 0.0, 0.0 -> components must hold non-negative numbers, and no row
given([[0.5, np.nan]]) -> components contains NaN
AdaptiveTopicModel.from_topics(TOPICS, doc_topic_prior=1.0, mixing_prior='auto')
    mixing_prior must be given as numbers
AdaptiveTopicModel.from_topics(TOPICS, doc_topic_prior=1.0, mixing_prior=(1.0, 0.0))
    mixing_prior must be two positive numbers
AdaptiveTopicModel(2, mixing_prior=$).fit(DOCUMENTS) for $ in () | ((1.0, 1.0),)
    mixing_prior must be two positive
AdaptiveTopicModel(2, mixing_prior=np.ones(2)).fit(DOCUMENTS) -> 'mixing_prior' parameter of Adap
AdaptiveTopicModel(2, mixing_prior={1.0, 2.0}).fit(DOCUMENTS) -> 'mixing_prior' parameter of Adap
GibbsLDA(2, init='lda').fit(DOCUMENTS) -> 'init' parameter of GibbsLDA
GibbsLDA.from_topics(TOPICS) -> doc_topic_prior must be given as numbers
GibbsLDA.from_topics(TOPICS, doc_topic_prior=1.0, level='word') -> 'level' parameter
GibbsLDA.from_topics(TOPICS, doc_topic_prior=1.0, seed_words={0: [1]})
    seed_words must be None in from_topics
pitman_yor(seed_words={0: [1]}) -> seed_words must be None if topics are Pitman-Yor processes
pitman_yor(fixed_components=[[0.25] * 4])
    fixed_components must be None if topics are Pitman-Yor processes
pitman_yor(n_shards=2) -> n_shards must be 1 if topics are Pitman-Yor processes
pitman_yor(topic_word_prior=0.1)
    topic_word_prior must be 'auto' if topics are Pitman-Yor processes
pitman_yor(PARTS) -> TypeError: Topics that are Pitman-Yor processes take no PartitionedCorpus
GibbsLDA(2, burst_concentration='auto').fit(PARTS) -> TypeError: Bursts of words take no Part
SegmentedTopicModel(2, burst_concentration=2.0).fit(PARTS) -> TypeError: Bursts of words
stm(burst_concentration=0.0) -> 'burst_concentration' parameter of SegmentedTopicModel
stm(burst_concentration=2.0, burst_scope='section') -> 'burst_scope' parameter
sectioned(burst_concentration_prior=(0.0, 1.0), burst_concentration='auto')
    burst_concentration_prior must be two positive numbers
HDPTopicModel(10) -> TypeError: positional argument
HDPTopicModel(concentration=$).fit(DOCUMENTS) for $ in 1e9 | 1e-9 | [1.0]
    concentration must be 'auto' or a number
HDPTopicModel(init='lda').fit(DOCUMENTS) -> 'init' parameter of HDPTopicModel
HDPTopicModel.from_topics(TOPICS) -> concentration must be given as a number
HDPTopicModel.from_topics(TOPICS, concentration=-1.0)
    concentration must be 'auto' or a number from 1e-08
co_clusters(document_topic_prior=[$]) for $ in 1.0, 1.0, 1.0 | 1.0, -1.0 | [1.0, 1.0]
    document_topic_prior must hold n_docum
co_clusters(segment_topic_prior=$) for $ in [] | [1.0, 1.0] | [1.0, np.nan, 1.0] | ['a', 'b', 'c'] |
        [[1.0, 1.0, 1.0]] | [[1.0] * 3, [1.0] * 2] | np.ones((3, 2)) | np.zeros((2, 3)) |
        np.ones((1, 2, 3)) -> segment_topic_prior must hold n_components=3
co_clusters(segment_topic_prior='auto-symmetric') -> 'segment_topic_prior' parameter
LatentDirichletCoClustering.from_topics(TOPICS, document_topic_prior=1.0)
    segment_topic_prior must be given as numbers
LatentDirichletCoClustering.from_topics(TOPICS, segment_topic_prior=1.0)
    document_topic_prior must be given as numbers
LatentDirichletCoClustering.from_topics(TOPICS, segment_topic_prior=$) for $ in
        np.ones((3, 2)), n_document_topics=2 | np.ones((2, 3)), document_topic_prior=1.0
    segment_topic_prior must hold
sectioned(concentration=$) for $ in (1.0, 2.0, 3.0) | (1.0, 'other') | (1.0, 0.0) | [[1.0, 2.0]] |
        np.ones((2, 2)) -> concentration must be a number in ...of sections and
sectioned(discount=$) for $ in 1.0 | (-0.1, 0.5) | ()
    discount must be a number in ...of sections and
SectionedTopicModel.from_topics(TOPICS, doc_topic_prior=$) for $ in 1.0 |
        1.0, concentration=(1.0, 'auto') -> concentration must be given as numbers
SectionedTopicModel(2).fit(DOCUMENTS, [{0}, {1}]) -> no input for this SectionedTopicModel
SegmentedTopicModel(2, n_shards=3).fit(PARTS) -> n_partitions=2, got n_shards=3
SegmentedTopicModel(2, init='lda').fit(PARTS) -> TypeError: init='lda' ... another init
SegmentedTopicModel('auto').fit(PARTS) -> TypeError: n_components='auto' ... X.compute()
SegmentedTopicModel(2, init=np.ones((3, 4))).fit(PARTS) -> init must have shape
SegmentedTopicModel(2).iter_sweeps(PARTS) -> TypeError: X.compute()
SegmentedTopicModel(2).fit(parts_of([[[]], [[]]], 3)) -> X has no tokens at all
stm().transform_segments(PARTS) -> TypeError: X.compute()
SegmentedTopicModel(2).score(PARTS) -> NotFittedError: SegmentedTopicModel
stm().transform(parts_of([[[0]], [[1]]], 5)) -> X has 5 features, but SegmentedTopicModel is
stm().score_samples(parts_of([[[0]], [[1]]], 5)) -> X has 5 features, but SegmentedTopicModel is
stm().score(parts_of([[[0]], [[1]]], 5)) -> X has 5 features, but SegmentedTopicModel is
stm().score($) for $ in parts_of([[[0]], [[1]]], 4) | [[[0], [1]], [[]]] -> X has no tokens to score
stm().transform([[[0, 4]]]) -> document 0, segment 0: word id 4 is out of range
stm().score(np.ones((2, 5))) -> X has 5 features
stm().perplexity(SegmentedCorpus.from_documents([[[0]]], 3)) -> X has 3 features
TopicSegmenter(2).fit(DOCUMENTS, $) for $ in [[-1]] | 'cuts' -> for each of the 2 documents
TopicSegmenter(2).fit(DOCUMENTS, [[0, 1], [0]]) -> y[0] must have a value for each of the 1 gaps
TopicSegmenter(2).fit(DOCUMENTS, [1, None]) -> y[0] must have a value for each of the 1 gaps
TopicSegmenter(2).fit(DOCUMENTS, [[$], [0]]) for $ in 2 | np.nan -> y[0] must hold 1 (a cut), 0
TopicSegmenter(2, max_units=1).fit(DOCUMENTS, [None, [0]])
    y[1] joins 2 units to one part, but max_units
TopicSegmenter.from_topics(TOPICS, doc_topic_prior=0.1, cut_probability='auto')
    cut_probability must be given as numbers
segmenter().predict(DOCUMENTS, n_parts=0) -> n_parts must be from 1 to the number of units
segmenter().predict(DOCUMENTS, n_parts=99) -> n_parts must be from 1 to the number of units
segmenter().predict(DOCUMENTS, n_parts=[2, 2, 2]) -> one for each of the 2 documents
segmenter().predict(DOCUMENTS, n_parts=1.5) -> n_parts must hold integers
segmenter().predict(DOCUMENTS, max_words=0) -> max_words must be
segmenter().predict(DOCUMENTS, n_parts=2, max_words=9) -> cannot both be given
segmenter(max_units=1).predict(DOCUMENTS, n_parts=1) -> n_parts must be at least 2 in document 0
segmenter().merge(DOCUMENTS, [[1]]) -> for each of the 2 documents
segmenter().merge(DOCUMENTS, [[0], [1]])
    cuts[0] must hold the first segments ...but the first, from 1 to
segmenter().merge(DOCUMENTS, [[1], [99]]) -> cuts[1] must hold
given(TOPICS).reduce_topics(1) -> topic_tree needs the shares of topics
co_clusters().reduce_topics(2) -> TypeError: two kinds of topics
co_clusters().name_topics() -> TypeError: transform returns shares of topics of segments
stm().reduce_topics(99) -> at most the number of topics, 2, got 99
stm().reduce_topics($) for $ in 0 | 1.5 | 'two' | True -> n_topics must be an integer >= 1
given(TOPICS).log_likelihood([[[0]]], n_particles=$) for $ in 0 | 1.5 | '2' | None | True
    n_particles must be an integer
given(TOPICS).log_likelihood(np.ones((1, 4))) -> X has 4 features
given(TOPICS).top_words(relevance=0.99) -> ~ ^relevance below 1 needs the shares
stm().top_words(relevance=$) for $ in -0.1 | 1.1 | np.nan | '1' | None | [0.5]
    ~ ^relevance must be a number in
stm().top_words(n=$) for $ in 0 | 2.0 | '2' -> ~ ^n must be an integer >= 1
stm().summary(n=$) for $ in True | 0 -> ~ ^n must be an integer >= 1
stm().summary(n_topics=$) for $ in 0 | 1.5 | True -> n_topics must be an integer >= 1
stm().summary(min_share=$) for $ in -0.1 | 1.1 | 'all' | np.nan
    min_share must be a number in [0, 1]
stm().name_topics(['a']) -> feature_names must hold n_features=4 names
stm().name_topics(n=6) -> n must be at most n_features=4, got 6
given(TOPICS).representative_documents() -> ~ ^X must be given if topics are given
stm().representative_documents(n_documents=$) for $ in 0 | 1.5 | '2'
    ~ ^n_documents must be an integer >= 1
stm().representative_segments(DOCUMENTS, $) for $ in 0 | 1.5 | '2'
    ~ ^n_segments must be an integer >= 1
GibbsLDA(2).fit(np.array([[1, -1]])) -> Negative values in data passed to X
GibbsLDA(2).fit(np.array([[1.5, 1.0]]))
    X must hold counts...document 0, segment 0 has 1.5 of word 0
GibbsLDA(2).fit(csr_array([[0.5, 1.0]])) -> X must hold counts
GibbsLDA(2).fit(np.array([[np.nan, 1.0]])) -> X contains NaN
GibbsLDA(2).fit(np.array([[np.inf, 1.0]])) -> X contains infinity
GibbsLDA(2).fit(np.zeros((0, 3))) -> 0 sample(s)
GibbsLDA(2).fit(np.zeros((3, 0))) -> 0 feature(s)
GibbsLDA(2).fit($) for $ in np.zeros((3, 2)) | [[[]], []] -> X has no tokens at all
GibbsLDA(2).fit([[[0, -1]]]) -> document 0, segment 0
GibbsLDA(2).fit([[[0], [1.5]]]) -> document 0, segment 1: must be a sequence of word ids
GibbsLDA(2).fit([[[0]], [['word']]]) -> document 1, segment 0: must be a sequence of word ids
GibbsLDA(2).fit($) for $ in None | np.ones(3) -> Expected 2D array
GibbsLDA(2).fit(np.ones((2, 2, 2))) -> Found array with dim 3
SegmentedCorpus.from_documents([[[0]], [[7]]], n_features=5) -> document 1, segment 0: word id 7
"""
