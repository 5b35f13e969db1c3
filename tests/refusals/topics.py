"""Topic models: mistakes and their messages."""

import numpy as np
import pandas as pd

from refusals.samples import DAYS, DOCUMENTS, HIDDEN, STRAY, TINY, TOPICS, given, stm
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    TopicSegmenter,
)

TABLE = r"""
GibbsLDA(2).fit(HIDDEN) -> ValueError: X must not be a masked array
stm(init=HIDDEN) -> ValueError: 'init'...SegmentedTopicModel...masked array
given(HIDDEN) -> ValueError: components must not be a masked array
stm().transform(HIDDEN) -> ValueError: X must not be a masked array
GibbsLDA(2).fit([['a', 'cat'], ['dogs']])
    ValueError: X holds text...str.split).fit_transform([' '.join(words) for words in X])
GibbsLDA(2).fit([[['a', 'cat'], ['dogs']]])
    ValueError: X holds text...for words in document] for document in X])
stm().transform(['a cat'])
    ValueError ~ X holds text.*: pass transform\(X\) of the vectorizer of the fit\.$
GibbsLDA(2).fit([['a cat', 'dogs']])
    ValueError: X holds text...SegmentVectorizer().fit_transform(X)
GibbsLDA(2).fit([[(0, 2), (3, 1)], [(1, 1)]])
    ValueError: pairs of a word id and its count...corpus2csc(documents, num_terms=...).T
stm().top_words(3) -> ValueError: n_features=4 names...get_feature_names_out()...shape ()
GibbsLDA(2).fit(DAYS) -> ValueError: X must hold numbers, got dates
GibbsLDA(10 ** 6).fit([[[0, 1], [1]]] * 3)
    ValueError: n_components=1000000 topics: the matrix that matches the topics...GiB, more than the
GibbsLDA(2).fit((d for d in DOCUMENTS)) -> TypeError: generator...pass list(X)
GibbsLDA(2, seed_words=[[0]]).fit(DOCUMENTS) -> ValueError: 'seed_words'...dict
GibbsLDA(2, seed_words={}).fit(DOCUMENTS) -> ValueError: seed_words must have at least one topic
GibbsLDA(2, seed_words={True: [0]}).fit(DOCUMENTS)
    ValueError: numbers or names of topics as keys, got True
GibbsLDA(2, seed_words={2: [0]}).fit(DOCUMENTS)
    ValueError: below n_components=2; topic 2 has the number 2
GibbsLDA(2, seed_words={-1: [0]}).fit(DOCUMENTS)
    ValueError: from 0 to below n_components=2; topic -1
stm(seed_words={'a': [0], 1: [1], 'b': [2]})
    ValueError: n_components=2; topic 'b' has the number 2
HDPTopicModel(seed_words={1: [0]}).fit(DOCUMENTS)
    ValueError: number of topics with seed words, 1, because they come first; topic 1
HDPTopicModel(seed_words={0: [0], 1: [1]}, initial_components=1).fit(DOCUMENTS)
    ValueError: initial_components has 1 topics, but seed_words has 2
stm(n_components='auto', seed_words={0: [0], 1: [1]}, max_components=1)
    ValueError: max_components has 1 topics, but seed_words has 2
HDPTopicModel(seed_words={0: [0], 1: [1]}, init=np.ones((1, 4))).fit(DOCUMENTS)
    ValueError: init has 1 topics, but seed_words has 2
stm(seed_words={0: 'war'}) -> ValueError: seed_words[0] must be a list
stm(seed_words={'a': []}) -> ValueError: ['a']...at least one word
stm(seed_words={0: [0.5]}) -> ValueError: [0] must hold words or...0.5
stm(seed_words={0: [-1]}) -> ValueError: words or word ids, got -1
stm(seed_words={0: ['war']}) -> ValueError: X does not name its words...vectorizer.vocabulary_
stm(seed_words={0: [9]}) -> ValueError: 4 words: 9. No seed word
stm(seed_weight=0.5) -> ValueError: 'seed_weight'...int
stm(seed_weight=0) -> ValueError: 'seed_weight'...int
stm(fixed_components=np.full((3, 4), 0.25))
    ValueError: fixed_components has 3 topics, but n_components is 2
stm(fixed_components=[[0.5, 0.5]])
    ValueError: fixed_components must have shape ... n_features=4, got (1, 2)
stm(fixed_components=[[0.25] * 4, [5, 1, 0, 0]])
    ValueError: fixed_components must have rows that sum to 1, but row 1 sums to 6
stm(fixed_components=[[1.5, -0.5, 0, 0]])
    ValueError: fixed_components must hold non-negative numbers
stm(fixed_components=[[np.nan] * 4]) -> ValueError: fixed_compon...NaN
stm(fixed_components=np.ones((0, 4))) -> ValueError: fixed_co...at least
stm(fixed_components=[0.25] * 4) -> ValueError: fixed_compon...2-D array
stm(fixed_components=[['a'] * 4]) -> ValueError: fixed_components must hold
stm(fixed_components=0.5) -> ValueError: 'fixed_components'
stm(fixed_components=[[0.25] * 4], seed_words={0: [1]})
    ValueError: seed_words must have topics that are not in fixed_components, ... got topic 0
stm(fixed_components=[[1, 0, 0, 0], [0.5, 0.5, 1e-19, 0]])
    ValueError: The word 2 (document 0, segment 1) can have no topic
GibbsLDA(2, fixed_components=[[0, 0, 0.5, 0.5]]).fit(DOCUMENTS, [{0}, None])
    ValueError: The word 0 (document 0, segment 0) can have no topic
HDPTopicModel(
        fixed_components=[[0.25] * 4], seed_words={'a': [0]}, max_components=1).fit(DOCUMENTS)
    ValueError: max_components has 1 topics, but fixed_components has 1 and seed_words has 1
GibbsLDA(1, fixed_components=[[1.0, 0, 0,
        0]]).fit(PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(DOCUMENTS), 2))
    ValueError ~ The word \d \(document 0, segment \d\) can have no topic
GibbsLDA(2).fit(DOCUMENTS, [{0}])
    ValueError: y must have a set of topics, or None, for each of the 2 documents, got 1
GibbsLDA(2).fit(DOCUMENTS, [{0}, {2}])
    ValueError: y[1] must hold topics from 0 to below n_components=2; got 2
GibbsLDA(2).fit(DOCUMENTS, [{True}, None]) -> ValueError: y[0] must hold topics...True
GibbsLDA(2, seed_words={'a': [0]}).fit(DOCUMENTS, [{'a'}, {'b'}])
    ValueError: y[1]...names among ['a']; got 'b'
GibbsLDA(2).fit(DOCUMENTS, [[0], [0, 1]])
    ValueError: y[0] must be a set of topics, or a list of such sets
GibbsLDA(2).fit(DOCUMENTS, [{0}, 1]) -> ValueError: y[1] must be a set of topics or None, got 1
GibbsLDA(2).fit(DOCUMENTS, [[{0}, {1}], None]) -> ValueError: y[0] must be one set...level='segment'
GibbsLDA(2, level='segment').fit(DOCUMENTS, [None, [{0}]])
    ValueError: y[1] must have a set for each of the 2 segments of document 1, got 1
HDPTopicModel().fit(DOCUMENTS, [{0}, {1}])
    ValueError: y[0] has the topic 0, but no topics have numbers...give seed_words or fixed_comp
SegmentedTopicModel('auto', seed_words={'a': [0]}).fit(DOCUMENTS, [{0}, {1}])
    ValueError: y[1]...below the number of topics with... words, 1, or names among ['a']; got 1
LatentDirichletCoClustering(2).fit(DOCUMENTS, [{0}, {1}])
    ValueError: no input for this LatentDirichletCoClustering
TopicSegmenter(2).fit(DOCUMENTS, [{0}, {1}])
    ValueError: y must hold arrays of known cuts, not sets of topics
GibbsLDA(2).fit(PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(DOCUMENTS), 2), [{0}])
    ValueError: for each of the 2 documents, got 1
GibbsLDA(2).fit(PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(DOCUMENTS), 2), [{0},
        {2}]) -> ValueError: y[1] must hold topics from 0 to below n_components=2; got 2
LatentDirichletCoClustering(2).fit(PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(
        DOCUMENTS), 2), [{0}, {1}]) -> ValueError: no input for this LatentDirichletCoClustering
stm(n_components=True) -> ValueError: n_components...int...True
stm(topic_word_prior=True) -> ValueError: topic_word_prior...True
stm(dirichlet_prior=(True, 1.0)) -> ValueError: dirichlet_prior
stm(n_components=10000000000.0) -> ValueError: n_components...int...10000000000.0
stm(n_components=10 ** 10) -> ValueError: n_components...10000000000
stm(n_components=2 ** 31 - 1) -> ValueError: n_components=...GiB
stm(n_chains=2 ** 31 - 1) -> ValueError: n_chains=2147483647...GiB
stm(n_shards=2 ** 31 - 1) -> ValueError: n_shards=2147483647...GiB
stm(max_iter=10 ** 20) -> ValueError ~ max_iter.*10{20}
LatentDirichletCoClustering(2, 2 ** 31 - 1).fit(DOCUMENTS)
    ValueError: n_document_topics=2147483647...GiB
HDPTopicModel(initial_components=2 ** 31 - 1).fit(DOCUMENTS)
    ValueError: initial_components=2147483647...GiB
stm(n_components='auto', initial_components=2 ** 31 - 1)
    ValueError: initial_components=2147483647...GiB
stm(n_components='auto', doc_topic_prior=0.1)
    ValueError: doc_topic_prior must be 'auto' if n_components is 'auto'
HDPTopicModel(n_components=20) -> TypeError: n_components
given(TOPICS).log_likelihood([[[0, 1, 2] * 9]], n_particles=2 ** 31 - 1)
    ValueError: n_particles=2147483647 of a document of 27 words...GiB
stm().top_words(n=99) -> ValueError: n must be at most n_features=4
stm().top_words(relevance=True) -> ValueError: relevance...True
stm().summary(np.ma.masked_array(list('abcd'), [1, 0, 0, 0]))
    ValueError: feature_names must not be a masked array
stm().representative_documents(n_documents=3)
    ValueError: n_documents must be at most the number of documents, 2, got 3
given(TOPICS).summary() -> ValueError: summary needs the shares of topics in a training corpus
stm(dirichlet_prior=TINY) -> ValueError: dirichlet_prior...1e-08 to
stm(concentration_prior=TINY) -> ValueError: concentration_prior
stm(discount_prior=TINY) -> ValueError: discount_prior...1e-08 to
stm(doc_topic_prior=['a', 'b']) -> ValueError: doc_topic_prior
stm(init=[[1, 2], [3]]) -> ValueError: init must hold real
given(TOPICS[:, :2], n_components=3) -> ValueError: n_compon
given(TOPICS[0]) -> ValueError: components must be a 2-D array
given([TOPICS]) -> ValueError: components must be a 2-D array
given(None) -> ValueError: components must hold real numbers
given([[1e+308, 1e+308]]) -> ValueError: components must have rows
SegmentedTopicModel.from_topics(TOPICS, doc_topic_prior=[1.0])
    ValueError: doc_topic_prior must hold n_components=2
given(TOPICS, discount="auto") -> ValueError: discount must be
given(TOPICS, foo=1) -> TypeError: SegmentedTopicModel.__init__()...'foo'
stm(n_components=np.int64(2), topic_word_prior=np.float32(0.5)) -> fine
stm(topic_word_prior=1, concentration=10, discount=0, doc_topic_prior=1) -> fine
stm(doc_topic_prior=[1, 2], dirichlet_prior=[1, 1], init=np.ones((2, 4)).tolist()) -> fine
given(pd.DataFrame(TOPICS)) -> fine
stm().summary(pd.Series(list('abcd')), np.int64(2), relevance=np.float32(0.5)) -> fine
pd.DataFrame(stm().summary()) -> fine
SegmentedTopicModel(20).fit([[[0, 1], [STRAY]], [[2]]])
    ValueError: 2147483646, document 0, segment 1...GiB, more than the memory
LatentDirichletCoClustering(20).fit([[[0, 1]], [[2], [STRAY]]])
    ValueError: 2147483646, document 1, segment 1...GiB
HDPTopicModel(fixed_components=np.eye(3, 4), max_components=3, max_iter=2).fit(DOCUMENTS)
    ValueError: The word 3 (document 0, segment 1) can have no topic: all topics...fixed_components
SegmentedTopicModel("auto", fixed_components=np.eye(3, 4), max_components=3).fit(DOCUMENTS)
    ValueError: The word 3 (document 0, segment 1) can have no topic
AdaptiveTopicModel("auto", fixed_components=np.eye(3, 4), max_components=3).fit(DOCUMENTS)
    ValueError: The word 3 (document 0, segment 1) can have no topic
GibbsLDA(2, max_iter=2).fit(DOCUMENTS, {0: {0}, 1: {1}}) -> TypeError: y must be a list...got dict
GibbsLDA(2, max_iter=2).fit(DOCUMENTS, np.array(1))
    TypeError: y must be a list, an array or a column...got ndarray without dimensions
GibbsLDA(2, max_iter=2).fit(DOCUMENTS, {0, 1}) -> TypeError: y must be a list...got set
GibbsLDA(2, max_iter=2).fit(DOCUMENTS, [np.array([0]), None]) -> ValueError: y[0]
GibbsLDA(2, max_iter=2).fit(DOCUMENTS, [range(1), range(2)]) -> ValueError: y[0]
TopicSegmenter(2, max_iter=2).fit(DOCUMENTS, np.array(1))
    ValueError: y must have an array of known cuts for each of the 2 documents
TopicSegmenter(2, max_iter=2).fit(DOCUMENTS, [[[1], [1, 2]], None])
    ValueError: y[0] must have a value for each of the 1 gaps
SegmentedTopicModel(2, seed_words={0: [[1], [1, 2]]}).fit(DOCUMENTS)
    ValueError: seed_words[0] must hold words or word ids
"""
