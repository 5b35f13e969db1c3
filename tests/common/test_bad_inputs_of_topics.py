"""Faults in the use of topic models are named.

The message has the parameter, the class or the place, and what to do about it.

Beside them stand habits that look alike and are fine.
"""

import numpy as np
import pandas as pd
import pytest
from bad_inputs import DAYS, DOCUMENTS, HIDDEN, STRAY, TINY, TOPICS, check_fault, faults, given, stm

from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics import (
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    TopicSegmenter,
)


@faults(
    ("masked", lambda: GibbsLDA(2).fit(HIDDEN), ValueError, "X must not be a masked array"),
    ("masked", lambda: stm(init=HIDDEN), ValueError, "'init'.*SegmentedTopicModel.*masked array"),
    ("masked", lambda: given(HIDDEN), ValueError, "components must not be a masked array"),
    ("masked", lambda: stm().transform(HIDDEN), ValueError, "X must not be a masked array"),
    (
        "lists of words",
        lambda: GibbsLDA(2).fit([["a", "cat"], ["dogs"]]),
        ValueError,
        r"X holds text.*str\.split\)\.fit_transform\(\[' '\.join\(words\) for words in X\]\)",
    ),
    (
        "segments of words",
        lambda: GibbsLDA(2).fit([[["a", "cat"], ["dogs"]]]),
        ValueError,
        r"X holds text.*for words in document\] for document in X\]\)",
    ),
    (
        "text after a fit",
        lambda: stm().transform(["a cat"]),
        ValueError,
        r"X holds text.*: pass transform\(X\) of the vectorizer of the fit\.$",
    ),
    (
        "segments of text",
        lambda: GibbsLDA(2).fit([["a cat", "dogs"]]),
        ValueError,
        r"X holds text.*SegmentVectorizer\(\)\.fit_transform\(X\)",
    ),
    (
        "pairs of doc2bow",
        lambda: GibbsLDA(2).fit([[(0, 2), (3, 1)], [(1, 1)]]),
        ValueError,
        r"pairs of a word id and its count.*corpus2csc\(documents, num_terms=.*\)\.T",
    ),
    (
        "too few names",
        lambda: stm().top_words(3),
        ValueError,
        r"n_features=4 names.*get_feature_names_out\(\).*shape \(\)",
    ),
    ("dates", lambda: GibbsLDA(2).fit(DAYS), ValueError, "X must hold numbers, got dates"),
    (
        "a stray id",
        lambda: SegmentedTopicModel(20).fit([[[0, 1], [STRAY]], [[2]]]),
        ValueError,
        f"{STRAY}, document 0, segment 1.*GiB, more than the memory",
    ),
    (
        "topics that cannot be matched",
        lambda: GibbsLDA(10**6).fit([[[0, 1], [1]]] * 3),
        ValueError,
        "n_components=1000000 topics: the matrix that matches the topics.*GiB, more than the",
    ),
    (
        "a stray id",
        lambda: LatentDirichletCoClustering(20).fit([[[0, 1]], [[2], [STRAY]]]),
        ValueError,
        f"{STRAY}, document 1, segment 1.*GiB",
    ),
    (
        "a generator",
        lambda: GibbsLDA(2).fit(d for d in DOCUMENTS),
        TypeError,
        r"generator.*pass list\(X\)",
    ),
    # Seed words
    (
        "no dict",
        lambda: GibbsLDA(2, seed_words=[[0]]).fit(DOCUMENTS),
        ValueError,
        "'seed_words'.*dict",
    ),
    (
        "no topics",
        lambda: GibbsLDA(2, seed_words={}).fit(DOCUMENTS),
        ValueError,
        "seed_words must have at least one topic",
    ),
    (
        "a truth value",
        lambda: GibbsLDA(2, seed_words={True: [0]}).fit(DOCUMENTS),
        ValueError,
        "numbers or names of topics as keys, got True",
    ),
    (
        "no such topic",
        lambda: GibbsLDA(2, seed_words={2: [0]}).fit(DOCUMENTS),
        ValueError,
        "below n_components=2; topic 2 has the number 2",
    ),
    (
        "a negative topic",
        lambda: GibbsLDA(2, seed_words={-1: [0]}).fit(DOCUMENTS),
        ValueError,
        "from 0 to below n_components=2; topic -1",
    ),
    (
        "too many names",
        lambda: stm(seed_words={"a": [0], 1: [1], "b": [2]}),
        ValueError,
        "n_components=2; topic 'b' has the number 2",
    ),
    (
        "a gap",
        lambda: HDPTopicModel(seed_words={1: [0]}).fit(DOCUMENTS),
        ValueError,
        "number of topics with seed words, 1, because they come first; topic 1",
    ),
    (
        "few first topics",
        lambda: HDPTopicModel(seed_words={0: [0], 1: [1]}, initial_components=1).fit(DOCUMENTS),
        ValueError,
        "initial_components has 1 topics, but seed_words has 2",
    ),
    (
        "few topics at most",
        lambda: stm(n_components="auto", seed_words={0: [0], 1: [1]}, max_components=1),
        ValueError,
        "max_components has 1 topics, but seed_words has 2",
    ),
    (
        "few topics in init",
        lambda: HDPTopicModel(seed_words={0: [0], 1: [1]}, init=np.ones((1, 4))).fit(DOCUMENTS),
        ValueError,
        "init has 1 topics, but seed_words has 2",
    ),
    ("text", lambda: stm(seed_words={0: "war"}), ValueError, r"seed_words\[0\] must be a list"),
    ("no words", lambda: stm(seed_words={"a": []}), ValueError, r"\['a'\].*at least one word"),
    ("a number", lambda: stm(seed_words={0: [0.5]}), ValueError, r"\[0\] must hold words or.*0.5"),
    ("an id", lambda: stm(seed_words={0: [-1]}), ValueError, r"words or word ids, got -1"),
    (
        "words without names",
        lambda: stm(seed_words={0: ["war"]}),
        ValueError,
        "X does not name its words.*vectorizer.vocabulary_",
    ),
    ("no known word", lambda: stm(seed_words={0: [9]}), ValueError, "4 words: 9. No seed word"),
    ("a float", lambda: stm(seed_weight=0.5), ValueError, "'seed_weight'.*int"),
    ("a weight of 0", lambda: stm(seed_weight=0), ValueError, "'seed_weight'.*int"),
    # Fixed topics
    (
        "many fixed topics",
        lambda: stm(fixed_components=np.full((3, 4), 0.25)),
        ValueError,
        "fixed_components has 3 topics, but n_components is 2",
    ),
    (
        "another vocabulary",
        lambda: stm(fixed_components=[[0.5, 0.5]]),
        ValueError,
        r"fixed_components must have shape .* n_features=4, got \(1, 2\)",
    ),
    (
        "counts as fixed topics",
        lambda: stm(fixed_components=[[0.25] * 4, [5, 1, 0, 0]]),
        ValueError,
        "fixed_components must have rows that sum to 1, but row 1 sums to 6",
    ),
    (
        "a negative number",
        lambda: stm(fixed_components=[[1.5, -0.5, 0, 0]]),
        ValueError,
        "fixed_components must hold non-negative numbers",
    ),
    ("no number", lambda: stm(fixed_components=[[np.nan] * 4]), ValueError, "fixed_compon.*NaN"),
    (
        "no topics",
        lambda: stm(fixed_components=np.ones((0, 4))),
        ValueError,
        "fixed_co.*at least",
    ),
    ("one topic", lambda: stm(fixed_components=[0.25] * 4), ValueError, "fixed_compon.*2-D array"),
    ("words", lambda: stm(fixed_components=[["a"] * 4]), ValueError, "fixed_components must hold"),
    ("a number", lambda: stm(fixed_components=0.5), ValueError, "'fixed_components'"),
    (
        "seed words of a fixed topic",
        lambda: stm(fixed_components=[[0.25] * 4], seed_words={0: [1]}),
        ValueError,
        "seed_words must have topics that are not in fixed_components, .* got topic 0",
    ),
    (
        "an impossible word",
        lambda: stm(fixed_components=[[1, 0, 0, 0], [0.5, 0.5, 1e-19, 0]]),
        ValueError,
        r"The word 2 \(document 0, segment 1\) can have no topic",
    ),
    (
        "an impossible word of a label",
        lambda: GibbsLDA(2, fixed_components=[[0, 0, 0.5, 0.5]]).fit(DOCUMENTS, [{0}, None]),
        ValueError,
        r"The word 0 \(document 0, segment 0\) can have no topic",
    ),
    (
        "few topics at most",
        lambda: HDPTopicModel(
            fixed_components=[[0.25] * 4], seed_words={"a": [0]}, max_components=1
        ).fit(DOCUMENTS),
        ValueError,
        "max_components has 1 topics, but fixed_components has 1 and seed_words has 1, which all",
    ),
    (
        "an impossible word of a partition",
        lambda: GibbsLDA(1, fixed_components=[[1.0, 0, 0, 0]]).fit(
            PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(DOCUMENTS), 2)
        ),
        ValueError,
        r"The word \d \(document 0, segment \d\) can have no topic",
    ),
    # Labels
    (
        "few labels",
        lambda: GibbsLDA(2).fit(DOCUMENTS, [{0}]),
        ValueError,
        "y must have a set of topics, or None, for each of the 2 documents, got 1",
    ),
    (
        "no such topic",
        lambda: GibbsLDA(2).fit(DOCUMENTS, [{0}, {2}]),
        ValueError,
        r"y\[1\] must hold topics from 0 to below n_components=2; got 2",
    ),
    (
        "a truth value",
        lambda: GibbsLDA(2).fit(DOCUMENTS, [{True}, None]),
        ValueError,
        r"y\[0\] must hold topics.*True",
    ),
    (
        "no such name",
        lambda: GibbsLDA(2, seed_words={"a": [0]}).fit(DOCUMENTS, [{"a"}, {"b"}]),
        ValueError,
        r"y\[1\].*names among \['a'\]; got 'b'",
    ),
    (
        "lists of topics",
        lambda: GibbsLDA(2).fit(DOCUMENTS, [[0], [0, 1]]),
        ValueError,
        r"y\[0\] must be a set of topics, or a list of such sets",
    ),
    (
        "a class among sets",
        lambda: GibbsLDA(2).fit(DOCUMENTS, [{0}, 1]),
        ValueError,
        r"y\[1\] must be a set of topics or None, got 1",
    ),
    (
        "sets of segments",
        lambda: GibbsLDA(2).fit(DOCUMENTS, [[{0}, {1}], None]),
        ValueError,
        r"y\[0\] must be one set.*level='segment'",
    ),
    (
        "a set too few",
        lambda: GibbsLDA(2, level="segment").fit(DOCUMENTS, [None, [{0}]]),
        ValueError,
        r"y\[1\] must have a set for each of the 2 segments of document 1, got 1",
    ),
    (
        "sets for any number of topics",
        lambda: HDPTopicModel().fit(DOCUMENTS, [{0}, {1}]),
        ValueError,
        r"y\[0\] has the topic 0, but no topics have numbers.*give seed_words or fixed_components",
    ),
    (
        "sets for any number of topics",
        lambda: SegmentedTopicModel("auto", seed_words={"a": [0]}).fit(DOCUMENTS, [{0}, {1}]),
        ValueError,
        r"y\[1\].*below the number of topics with.* words, 1, or names among \['a'\]; got 1",
    ),
    (
        "sets for co-clustering",
        lambda: LatentDirichletCoClustering(2).fit(DOCUMENTS, [{0}, {1}]),
        ValueError,
        "no input for this LatentDirichletCoClustering",
    ),
    (
        "sets for cuts",
        lambda: TopicSegmenter(2).fit(DOCUMENTS, [{0}, {1}]),
        ValueError,
        "y must hold arrays of known cuts, not sets of topics",
    ),
    (
        "few sets for partitions",
        lambda: GibbsLDA(2).fit(
            PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(DOCUMENTS), 2), [{0}]
        ),
        ValueError,
        "for each of the 2 documents, got 1",
    ),
    (
        "no such topic in a partition",
        lambda: GibbsLDA(2).fit(
            PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(DOCUMENTS), 2), [{0}, {2}]
        ),
        ValueError,
        r"y\[1\] must hold topics from 0 to below n_components=2; got 2",
    ),
    (
        "sets for partitions",
        lambda: LatentDirichletCoClustering(2).fit(
            PartitionedCorpus.from_corpus(SegmentedCorpus.from_documents(DOCUMENTS), 2), [{0}, {1}]
        ),
        ValueError,
        "no input for this LatentDirichletCoClustering",
    ),
    # Parameters: truth values, huge numbers
    ("a truth value", lambda: stm(n_components=True), ValueError, "n_components.*int.*True"),
    ("a truth value", lambda: stm(topic_word_prior=True), ValueError, "topic_word_prior.*True"),
    ("a truth value", lambda: stm(dirichlet_prior=(True, 1.0)), ValueError, "dirichlet_prior"),
    ("a float", lambda: stm(n_components=1e10), ValueError, "n_components.*int.*10000000000.0"),
    ("a huge number", lambda: stm(n_components=10**10), ValueError, "n_components.*10000000000"),
    ("a huge number", lambda: stm(n_components=2**31 - 1), ValueError, "n_components=.*GiB"),
    ("a huge number", lambda: stm(n_chains=2**31 - 1), ValueError, "n_chains=2147483647.*GiB"),
    ("a huge number", lambda: stm(n_shards=2**31 - 1), ValueError, "n_shards=2147483647.*GiB"),
    ("a huge number", lambda: stm(max_iter=10**20), ValueError, "max_iter.*10{20}"),
    (
        "a huge number",
        lambda: LatentDirichletCoClustering(2, 2**31 - 1).fit(DOCUMENTS),
        ValueError,
        "n_document_topics=2147483647.*GiB",
    ),
    (
        "a huge number",
        lambda: HDPTopicModel(initial_components=2**31 - 1).fit(DOCUMENTS),
        ValueError,
        "initial_components=2147483647.*GiB",
    ),
    (
        "a huge number",
        lambda: stm(n_components="auto", initial_components=2**31 - 1),
        ValueError,
        "initial_components=2147483647.*GiB",
    ),
    (
        "a prior of shares",
        lambda: stm(n_components="auto", doc_topic_prior=0.1),
        ValueError,
        "doc_topic_prior must be 'auto' if n_components is 'auto'",
    ),
    (
        "a number of topics",
        lambda: HDPTopicModel(n_components=20),
        TypeError,
        "n_components",
    ),
    (
        "many particles",
        lambda: given(TOPICS).log_likelihood([[[0, 1, 2] * 9]], n_particles=2**31 - 1),
        ValueError,
        "n_particles=2147483647 of a document of 27 words.*GiB",
    ),
    ("many words", lambda: stm().top_words(n=99), ValueError, "n must be at most n_features=4"),
    ("a truth value", lambda: stm().top_words(relevance=True), ValueError, "relevance.*True"),
    (
        "hidden names",
        lambda: stm().summary(np.ma.masked_array(list("abcd"), [1, 0, 0, 0])),
        ValueError,
        "feature_names must not be a masked array",
    ),
    (
        "many documents",
        lambda: stm().representative_documents(n_documents=3),
        ValueError,
        "n_documents must be at most the number of documents, 2, got 3",
    ),
    (
        "shares of given topics",
        lambda: given(TOPICS).summary(),
        ValueError,
        "summary needs the shares of topics in a training corpus",
    ),
    # Parameters: extreme priors
    ("a tiny prior", lambda: stm(dirichlet_prior=TINY), ValueError, "dirichlet_prior.*1e-08 to"),
    ("a tiny prior", lambda: stm(concentration_prior=TINY), ValueError, "concentration_prior"),
    ("a tiny prior", lambda: stm(discount_prior=TINY), ValueError, "discount_prior.*1e-08 to"),
    ("words as a prior", lambda: stm(doc_topic_prior=["a", "b"]), ValueError, "doc_topic_prior"),
    ("rows of two lengths", lambda: stm(init=[[1, 2], [3]]), ValueError, "init must hold real"),
    ("a prior of one topic", lambda: given(TOPICS[:, :2], n_components=3), ValueError, "n_compon"),
    ("a single topic", lambda: given(TOPICS[0]), ValueError, "components must be a 2-D array"),
    ("a cube of topics", lambda: given([TOPICS]), ValueError, "components must be a 2-D array"),
    ("no topics", lambda: given(None), ValueError, "components must hold real numbers"),
    ("infinite sums", lambda: given([[1e308, 1e308]]), ValueError, "components must have rows"),
    (
        "a prior of another length",
        lambda: SegmentedTopicModel.from_topics(TOPICS, doc_topic_prior=[1.0]),
        ValueError,
        "doc_topic_prior must hold n_components=2",
    ),
    (
        "a parameter that is none",
        lambda: given(TOPICS, foo=1),
        TypeError,
        r"SegmentedTopicModel.__init__\(\).*'foo'",
    ),
)
def test_a_fault_is_named(fault):
    check_fault(fault)


@pytest.mark.parametrize(
    "call",
    [
        lambda: stm(n_components=np.int64(2), topic_word_prior=np.float32(0.5)),
        lambda: stm(topic_word_prior=1, concentration=10, discount=0, doc_topic_prior=1),
        lambda: stm(doc_topic_prior=[1, 2], dirichlet_prior=[1, 1], init=np.ones((2, 4)).tolist()),
        lambda: given(pd.DataFrame(TOPICS)),
        lambda: stm().summary(pd.Series(list("abcd")), np.int64(2), relevance=np.float32(0.5)),
        lambda: pd.DataFrame(stm().summary()),
    ],
)
def test_habits_that_are_fine(call):
    call()
