"""A fault of the user is named: the parameter, the class or the place, and what to do about it.

Each row is what somebody did, the call, the type of the error and a pattern of its message. Beside
them stand habits that look alike and are fine.
"""

import datetime
import importlib
import inspect
import io
import pickle
import re
import types

import matplotlib.pyplot as plt
import nltk
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skdp._memory import check_memory, physical_memory
from skdp._public import public
from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences
from skdp.datasets import (
    make_cocktail_party,
    make_pcfg_corpus,
    make_segmented_corpus,
    make_sticky_panel,
)
from skdp.feature_extraction import SegmentVectorizer, TokenVectorizer
from skdp.grammar import (
    HDPPCFG,
    HDPPCFGRefiner,
    ParseTree,
    binarize,
    debinarize,
    inside_outside,
    read_trees,
)
from skdp.inspection import (
    FactorDisplay,
    GrammarDisplay,
    HellingerDisplay,
    LowerBoundDisplay,
    ParseTreeDisplay,
    SegmentMixingDisplay,
    StateSequenceDisplay,
    TopicAlignmentDisplay,
    TopicEvolutionDisplay,
    TraceDisplay,
    TransitionDisplay,
)
from skdp.metrics import hellinger_distance, pk, segment_entropy, topic_coherence
from skdp.processes import (
    StirlingRatios,
    expected_table_count,
    sample_concentration,
    sample_crp,
    sample_gem,
    sample_table_counts,
)
from skdp.sequence import (
    HDPHMMLT,
    BinaryFactorEmission,
    CategoricalEmission,
    FactorialHMM,
    FixedSimilarity,
    GaussianEmission,
    GaussianSimilarity,
    LaplacianSimilarity,
    NegativeBinomialDuration,
    PoissonDuration,
    PoissonEmission,
    hmm_log_likelihood,
    hmm_posterior,
    hmm_sample_states,
)
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)

DOCUMENTS = [[[0, 1, 0], [2, 3]], [[3, 2], [1]]]
SERIES = np.array([[0.0, 1.0], [1.0, 0.5], [0.2, 0.1], [3.0, 2.0], [2.5, 2.5]])
SENTENCES = [[0, 1, 2], [0, 2]]
TREES = [ParseTree.from_brackets("(S (A a) (B b))"), ParseTree.from_brackets("(S (A c) (B d))")]
WORDS = [list(tree.leaves) for tree in TREES]
TOPICS = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
HALF = np.full((2, 2), 0.5)
HIDDEN = np.ma.masked_array([[1, 2], [3, 4]], [[True, False], [False, False]])
DAYS = np.array([["2020-01-01"], ["2020-01-02"]], dtype="M8[D]")
STRAY = 2**31 - 2
TEXTS = ["the cat sat", "the dog"]
TINY = (1e-20, 1e-20)


def stm(**params):
    return SegmentedTopicModel(**{"n_components": 2, "max_iter": 2, **params}).fit(DOCUMENTS)


def hmm(X=SERIES, **params):
    return HDPHMMLT(**{"n_components": 2, "max_iter": 2, **params}).fit(X)


def pcfg(**params):
    return HDPPCFG(**{"n_components": 2, "max_iter": 2, **params}).fit(SENTENCES)


def refine(X, y):
    return HDPPCFGRefiner(2, max_iter=1).fit(X, y)


def factorial(**params):
    return FactorialHMM(**{"n_factors": 2, "max_iter": 2, **params}).fit(SERIES)


def ldcc(**params):
    return LatentDirichletCoClustering(2, 2, max_iter=2, **params).fit(DOCUMENTS)


def counts(**params):
    return hmm(np.array([[0], [2], [1]]), emission=CategoricalEmission(**params))


def given(components, **params):
    return SegmentedTopicModel.from_topics(components, doc_topic_prior=0.1, **params)


def fitted(vectorizer):
    vectorizer.fit(TEXTS)
    return vectorizer


def inverse_segments(ids):
    return fitted(SegmentVectorizer()).inverse_transform(ids)


def inverse_tokens(ids):
    return fitted(TokenVectorizer()).inverse_transform(ids)


def tokens(**params):
    return TokenVectorizer(**params).fit(TEXTS)


def segments(**params):
    return SegmentVectorizer(**params).fit(TEXTS)


def small_factors():
    return BinaryFactorEmission(2, weights_scale=1e-9, noise_prior=(1.0, 1e-18))


def log_obs(value):
    return hmm_log_likelihood([0.5, 0.5], HALF, value)


ROWS = [
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
        "a prior of nothing",
        lambda: hmm(emission=BinaryFactorEmission(2, activity_prior=TINY)),
        ValueError,
        "activity_prior must be two positive numbers.*from 1e-08 to 1e.08",
    ),
    ("complex", lambda: log_obs(np.zeros((3, 2), complex)), ValueError, "log_obs must hold real"),
    (
        "complex",
        lambda: hmm_posterior([0.5, 0.5j], HALF, np.zeros((3, 2))),
        ValueError,
        "startprob must hold real",
    ),
    (
        "complex",
        lambda: hmm_sample_states([0.5, 0.5], HALF * 1j, np.zeros((3, 2))),
        ValueError,
        "transmat must hold real",
    ),
    # Masked arrays
    ("masked", lambda: log_obs(HIDDEN), ValueError, "log_obs must not be a masked array"),
    ("masked", lambda: GibbsLDA(2).fit(HIDDEN), ValueError, "X must not be a masked array"),
    ("masked", lambda: hmm(HIDDEN), ValueError, "X must not be a masked array.*NaN"),
    ("masked", lambda: hmm([HIDDEN]), ValueError, "masked array"),
    ("masked", lambda: HDPPCFG(2).fit(HIDDEN), ValueError, "X must not be a masked array"),
    ("masked", lambda: stm(init=HIDDEN), ValueError, "'init'.*SegmentedTopicModel.*masked array"),
    ("masked", lambda: given(HIDDEN), ValueError, "components must not be a masked array"),
    ("masked", lambda: stm().transform(HIDDEN), ValueError, "X must not be a masked array"),
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
        lambda: inside_outside([[0]], [1.0], [[0.5, 0.5]], HIDDEN[:1, :1], [[[1.0]]]),
        ValueError,
        "emission must not be a masked",
    ),
    (
        "masked",
        lambda: expected_table_count(HIDDEN, 0.5, 1.0),
        ValueError,
        "n must not be a masked array",
    ),
    ("masked", lambda: FactorDisplay(HIDDEN / 9), ValueError, "factors must not be a masked array"),
    (
        "masked",
        lambda: hmm(similarity=FixedSimilarity(HIDDEN / 9)),
        ValueError,
        "'matrix' parameter of FixedSimilarity must not be a masked array",
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
    # Data
    (
        "huge numbers",
        lambda: hmm(SERIES * 1e160),
        ValueError,
        r"e\+160 in column 1: scale the columns of X",
    ),
    (
        "huge numbers",
        lambda: hmm(SERIES * 1e160, emission=GaussianEmission("diag")),
        ValueError,
        "scale the columns of X",
    ),
    (
        "huge numbers",
        lambda: hmm(SERIES * 1e160, emission=BinaryFactorEmission(2)),
        ValueError,
        "scale the columns of X",
    ),
    (
        "huge numbers for a fitted model",
        lambda: hmm().score(SERIES * 1e160),
        ValueError,
        "scale the columns of X",
    ),
    (
        "huge counts",
        lambda: hmm(np.array([[1e300], [1.0]]), emission="poisson"),
        ValueError,
        "X must hold counts up to",
    ),
    ("dates", lambda: hmm(DAYS), ValueError, "X must hold numbers, got dates"),
    ("dates", lambda: GibbsLDA(2).fit(DAYS), ValueError, "X must hold numbers, got dates"),
    ("dates", lambda: HDPPCFG(2).fit(DAYS), ValueError, "X must hold numbers, got dates"),
    (
        "dates in a frame",
        lambda: hmm(pd.DataFrame({"a": pd.to_datetime(["2020-01-01"]), "b": [1.0]})),
        ValueError,
        "X must hold numbers, got dates",
    ),
    (
        "dates as objects",
        lambda: SequencePanel.from_sequences([[datetime.date(2020, 1, 1)]]),
        ValueError,
        "sequence 0: must be",
    ),
    (
        "a stray id",
        lambda: SegmentedTopicModel(20).fit([[[0, 1], [STRAY]], [[2]]]),
        ValueError,
        f"{STRAY}, document 0, segment 1.*GiB, more than this machine's memory",
    ),
    (
        "a stray id",
        lambda: LatentDirichletCoClustering(20).fit([[[0, 1]], [[2], [STRAY]]]),
        ValueError,
        f"{STRAY}, document 1, segment 1.*GiB",
    ),
    ("a stray id", lambda: HDPPCFG(20).fit([[0, STRAY]]), ValueError, f"{STRAY + 1} words.*GiB"),
    (
        "a stray symbol",
        lambda: hmm(np.array([[0.0], [2.0**31 - 2]]), n_components=20, emission="categorical"),
        ValueError,
        "CategoricalEmission of 2147483647 symbols.*GiB",
    ),
    (
        "too many counts",
        lambda: SegmentedCorpus.from_counts([np.full((1, 2), 2**30 - 1)]),
        ValueError,
        "tokens",
    ),
    (
        "a generator",
        lambda: GibbsLDA(2).fit(d for d in DOCUMENTS),
        TypeError,
        r"generator.*pass list\(X\)",
    ),
    ("a generator", lambda: hmm(x for x in [SERIES]), TypeError, r"generator.*pass list\(X\)"),
    ("a generator", lambda: HDPPCFG(2).fit(s for s in SENTENCES), TypeError, r"pass list\(X\)"),
    ("sentences read once", lambda: refine(iter(WORDS), TREES), TypeError, "X must be a sequence"),
    ("trees read once", lambda: refine(WORDS, iter(TREES)), TypeError, "y must be a sequence"),
    # Parameters: truth values, huge numbers
    ("a truth value", lambda: stm(n_components=True), ValueError, "n_components.*int.*True"),
    ("a truth value", lambda: stm(topic_word_prior=True), ValueError, "topic_word_prior.*True"),
    ("a truth value", lambda: stm(dirichlet_prior=(True, 1.0)), ValueError, "dirichlet_prior"),
    ("a truth value", lambda: hmm(stickiness=True), ValueError, "stickiness.*True"),
    ("a truth value", lambda: pcfg(max_iter=True), ValueError, "max_iter.*True"),
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
    ("a float", lambda: stm(n_components=1e10), ValueError, "n_components.*int.*10000000000.0"),
    ("a huge number", lambda: stm(n_components=10**10), ValueError, "n_components.*10000000000"),
    ("a huge number", lambda: stm(n_components=2**31 - 1), ValueError, "n_components=.*GiB"),
    ("a huge number", lambda: stm(n_chains=2**31 - 1), ValueError, "n_chains=2147483647.*GiB"),
    ("a huge number", lambda: stm(n_shards=2**31 - 1), ValueError, "n_shards=2147483647.*GiB"),
    ("a huge number", lambda: stm(max_iter=10**20), ValueError, "max_iter.*10{20}"),
    ("a huge number", lambda: hmm(n_components=10**9), ValueError, "n_components=10{9} .*GiB"),
    ("a huge number", lambda: pcfg(n_components=10**6), ValueError, "n_components=10{6}.*GiB"),
    ("a huge number", lambda: pcfg(n_init=2**31 - 1), ValueError, "n_init=2147483647.*GiB"),
    ("a huge number", lambda: factorial(n_factors=2**31 - 1), ValueError, "n_factors=21.*GiB"),
    (
        "a huge number",
        lambda: HDPPCFGRefiner(10**6).fit(WORDS, TREES),
        ValueError,
        "n_components=10{6} subsymbols.*GiB",
    ),
    (
        "a huge number",
        lambda: LatentDirichletCoClustering(2, 2**31 - 1).fit(DOCUMENTS),
        ValueError,
        "n_document_topics=2147483647.*GiB",
    ),
    (
        "a long duration",
        lambda: hmm(duration=PoissonDuration(max_duration=10**9)),
        ValueError,
        "max_duration=10{9} with 2 states.*GiB",
    ),
    (
        "a long duration",
        lambda: hmm(duration=NegativeBinomialDuration(max_duration=10**9)),
        ValueError,
        "max_duration=10{9} with 2 states.*GiB",
    ),
    (
        "many dimensions",
        lambda: hmm(similarity=GaussianSimilarity(2**31 - 1)),
        ValueError,
        "n_dims=2147483647.*GiB",
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
        "a long sequence",
        lambda: hmm().sample(2**31 - 1, 5),
        ValueError,
        "n_sequences=5 of n_steps=2147483647.*GiB",
    ),
    (
        "many sequences",
        lambda: factorial().sample(5, 2**31 - 1),
        ValueError,
        "n_sequences=2147483647 of n_steps=5.*GiB",
    ),
    (
        "many particles",
        lambda: given(TOPICS).log_likelihood([[[0, 1, 2] * 9]], n_particles=2**31 - 1),
        ValueError,
        "n_particles=2147483647 of a document of 27 words.*GiB",
    ),
    # Parameters: extreme priors
    ("a tiny prior", lambda: stm(dirichlet_prior=TINY), ValueError, "dirichlet_prior.*1e-08 to"),
    ("a tiny prior", lambda: stm(concentration_prior=TINY), ValueError, "concentration_prior"),
    ("a tiny prior", lambda: stm(discount_prior=TINY), ValueError, "discount_prior.*1e-08 to"),
    (
        "an extreme prior",
        lambda: hmm(top_concentration_prior=(1e-300, 1.0)),
        ValueError,
        "top_concentration_prior must be two positive numbers.*1e-08 to 1e.08",
    ),
    (
        "an extreme prior",
        lambda: hmm(transition_concentration_prior=(1e-300, 1e300)),
        ValueError,
        "transition_concentration_prior must be two",
    ),
    (
        "an extreme prior",
        lambda: hmm(stickiness="auto", stickiness_prior=(1e-300, 1e-300)),
        ValueError,
        "stickiness_prior must be two",
    ),
    ("an extreme prior", lambda: factorial(start_prior=TINY), ValueError, "start_prior must be"),
    ("an extreme prior", lambda: counts(prior=1e-300), ValueError, "prior.*CategoricalEmission"),
    ("an extreme prior", lambda: counts(prior=[1, 1e300, 1]), ValueError, "Categ.*prior must be"),
    (
        "an extreme prior",
        lambda: hmm(emission=PoissonEmission(1e-300, 1e300)),
        ValueError,
        "PoissonEmission.*1e-08",
    ),
    (
        "an extreme prior",
        lambda: hmm(duration=PoissonDuration(rate=1e-300)),
        ValueError,
        "rate.*PoissonDuration",
    ),
    (
        "an extreme prior",
        lambda: hmm(duration=NegativeBinomialDuration(prior=TINY)),
        ValueError,
        "prior must be two positive numbers",
    ),
    (
        "an extreme prior",
        lambda: hmm(emission=GaussianEmission(mean_precision_prior=1e-300)),
        ValueError,
        "mean_precision_prior",
    ),
    (
        "an infinite prior",
        lambda: hmm(emission=GaussianEmission(degrees_of_freedom_prior=np.inf)),
        ValueError,
        "degrees_of_freedom_prior",
    ),
    (
        "a huge covariance",
        lambda: hmm(emission=GaussianEmission(covariance_prior=np.eye(2) * 1e160)),
        ValueError,
        "covariance_prior must hold numbers up to",
    ),
    (
        "an extreme decay",
        lambda: hmm(similarity=GaussianSimilarity(decay=1e300)),
        ValueError,
        "decay.*GaussianSimilarity",
    ),
    (
        "an extreme decay",
        lambda: hmm(emission=BinaryFactorEmission(2), similarity=LaplacianSimilarity(decay=np.inf)),
        ValueError,
        "decay.*LaplacianSimilarity",
    ),
    (
        "an extreme prior",
        lambda: sample_concentration([3], [2], discount=0.5, prior=(1e-300, 1.0)),
        ValueError,
        "prior must be two positive",
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
    # Trees
    ("a text as a tree", lambda: binarize("(S a)"), TypeError, "ParseTree.*from_brackets"),
    ("a text as a tree", lambda: debinarize("(S a)"), TypeError, "ParseTree.*from_brackets"),
    ("no tree", lambda: binarize(None), TypeError, "tree must be a ParseTree, got NoneType"),
    (
        "a tree of nltk",
        lambda: binarize(nltk.Tree("S", ["a"])),
        TypeError,
        "must be a ParseTree.*ParseTree.from_nltk",
    ),
    (
        "trees of nltk",
        lambda: refine(WORDS, [tree.to_nltk() for tree in TREES]),
        TypeError,
        "tree 0: must be a ParseTree.*ParseTree.from_nltk",
    ),
    (
        "a child of nltk",
        lambda: ParseTree("S", [nltk.Tree("A", ["a"])]),
        TypeError,
        "A child must be.*ParseTree.from_nltk",
    ),
    ("texts as trees", lambda: refine(WORDS, ["(S a)", "(S b)"]), TypeError, "from_brackets"),
    (
        "trees in another order",
        lambda: refine(WORDS, TREES[::-1]),
        ValueError,
        "tree 0 and sentence 0 differ in their words.*word 0 is 'c' in the tree and 'a' in the "
        "sentence",
    ),
    (
        "a word too few",
        lambda: refine([["a", "b"], ["c"]], TREES),
        ValueError,
        "tree 1 and sentence 1 differ in their words.*has 2 words and the sentence 1",
    ),
    ("no text", lambda: ParseTree.from_brackets(None), TypeError, "text must be a str"),
    ("bytes", lambda: ParseTree.from_brackets(b"(S a)"), TypeError, "text must be a str"),
    ("no children", lambda: ParseTree("S", None), TypeError, "children must be a sequence"),
    ("no words", lambda: TREES[0].with_leaves(None), TypeError, "words must be a list"),
    ("a text as words", lambda: TREES[0].with_leaves("ab"), TypeError, "words must be a list"),
    ("no function", lambda: TREES[0].map_labels(None), TypeError, "function must be callable"),
    ("a number as a file", lambda: read_trees(10**9), TypeError, "file must be a path"),
    ("a threshold of 0", lambda: refine(WORDS, TREES).count_active_rules(0), ValueError, "thresh"),
    ("words as weights", lambda: inside_outside([[0]], "x", 0, 0, 0), ValueError, "root must hold"),
    (
        "no sentences",
        lambda: inside_outside([], [1.0], [[0.5, 0.5]], [[1.0]], [[[1.0]]]),
        ValueError,
        "required by inside_outside",
    ),
    # Displays
    ("no axes", lambda: FactorDisplay(HALF).plot("here"), TypeError, "ax must be a matplotlib"),
    (
        "no axes",
        lambda: GrammarDisplay([1.0], [[1.0, 0.0]], [[1.0]], [[[1.0]]]).plot(7),
        TypeError,
        "ax must be a matplotlib",
    ),
    ("no colours", lambda: FactorDisplay(HALF).plot(cmap=[]), ValueError, "cmap must be"),
    ("no colours", lambda: StateSequenceDisplay([0, 1]).plot(cmap="x"), ValueError, "cmap must be"),
    (
        "no colours",
        lambda: TopicEvolutionDisplay(HALF).plot(colors=["?", "?"]),
        ValueError,
        "colors must hold matplotlib colors",
    ),
    (
        "a number",
        lambda: TopicEvolutionDisplay(HALF).plot(colors=1.5),
        ValueError,
        "colors must be",
    ),
    ("an array", lambda: TopicAlignmentDisplay(HALF).plot(kind=HALF), ValueError, "kind must be"),
    (
        "an array",
        lambda: TopicAlignmentDisplay(HALF).plot(include_values=HALF),
        ValueError,
        "include_values must be",
    ),
    (
        "no number",
        lambda: TransitionDisplay(HALF).plot(min_probability=None),
        ValueError,
        "min_probability must be",
    ),
    ("no number", lambda: SegmentMixingDisplay([0.5], prior_mean="x"), ValueError, "prior_mean"),
    ("dates", lambda: SegmentMixingDisplay([0.5, 1], boundaries=DAYS[0]), ValueError, "boundaries"),
    ("no bounds", lambda: LowerBoundDisplay(None), ValueError, "lower_bounds must be a list"),
    ("no trace", lambda: TraceDisplay({}), TypeError, "trace must be a Trace, got dict"),
    ("no names", lambda: TraceDisplay(hmm().trace_).plot(names=1.5), ValueError, "names must be"),
    (
        "no topics",
        lambda: TopicAlignmentDisplay.from_components(TOPICS, None),
        ValueError,
        "other must be a 2-D array",
    ),
    (
        "a word as words",
        lambda: ParseTreeDisplay.from_estimator(pcfg(), SENTENCES, feature_names="x"),
        ValueError,
        "feature_names must hold 3 names",
    ),
    ("no trees", lambda: ParseTreeDisplay(None), ValueError, "trees must be a ParseTree"),
    ("a word", lambda: HellingerDisplay([0.1]).plot(line_kw="red"), TypeError, "line_kw must be"),
    ("no topics", lambda: TopicEvolutionDisplay("x"), ValueError, "segment_topic must hold real"),
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
]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [row[1:] for row in ROWS],
    ids=[f"{i}-{row[0]}" for i, row in enumerate(ROWS)],
)
def test_a_fault_is_named(call, error, message):
    with pytest.raises(error) as raised:
        call()
    plt.close("all")
    assert type(raised.value).__module__ != "numpy"  # errors of numpy name nothing
    assert re.search(message, str(raised.value), re.DOTALL), str(raised.value)


# What public classes are called in errors

PUBLIC_MODULES = (
    *("data", "datasets", "feature_extraction", "grammar", "inspection", "metrics", "processes"),
    *("sequence", "topics"),
)
CLASSES = [
    value
    for module in PUBLIC_MODULES
    for value in vars(importlib.import_module(f"skdp.{module}")).values()
    if inspect.isclass(value) and value.__module__.startswith("skdp.")
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_methods_bear_the_name_of_their_public_class(cls):
    for name in dir(cls):
        if name.startswith("_") and name != "__init__":
            continue
        function = inspect.unwrap(getattr(cls, name)) if callable(getattr(cls, name)) else None
        function = getattr(function, "__func__", function)
        if not isinstance(function, types.FunctionType):
            continue
        if not function.__code__.co_filename.startswith(
            str(importlib.import_module("skdp").__path__[0])
        ):
            continue  # of another package
        assert function.__qualname__ == f"{cls.__name__}.{name}", function.__qualname__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SegmentedTopicModel(foo=1), r"SegmentedTopicModel.__init__\(\).*'foo'"),
        (lambda: SequentialLDA(foo=1), r"SequentialLDA.__init__\(\).*'foo'"),
        (lambda: AdaptiveTopicModel(foo=1), r"AdaptiveTopicModel.__init__\(\).*'foo'"),
        (lambda: HDPHMMLT().fit(), r"HDPHMMLT.fit\(\) missing.*'X'"),
        (lambda: FactorialHMM().fit(), r"FactorialHMM.fit\(\) missing.*'X'"),
        (lambda: GibbsLDA().transform(), r"GibbsLDA.transform\(\) missing.*'X'"),
        (lambda: HDPPCFG().fit(SENTENCES, None, 3), r"HDPPCFG.fit\(\) takes"),
        (lambda: GibbsLDA.from_topics(), r"GibbsLDA.from_topics\(\) missing.*'components'"),
        (lambda: GibbsLDA().iter_sweeps(), r"GibbsLDA.iter_sweeps\(\) missing.*'X'"),
        (lambda: TokenVectorizer().fit(), r"TokenVectorizer.fit\(\) missing.*'X'"),
        (lambda: SegmentedCorpus.from_documents([[[0]]]).to_bow(1), r"SegmentedCorpus.to_bow\(\)"),
    ],
)
def test_wrong_arguments_name_the_public_class(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_copies_of_methods_are_whole():
    # Signatures, docstrings, pickles and `super()` are those of methods that are inherited.
    base = SegmentedTopicModel.__mro__[1]
    for name in ("__init__", "fit", "transform", "score"):
        mine, theirs = getattr(SegmentedTopicModel, name), getattr(base, name)
        assert inspect.signature(mine) == inspect.signature(theirs)
        assert mine.__doc__ == theirs.__doc__
        assert mine is not theirs
    assert "n_components" in SegmentedTopicModel(3).get_params()
    assert clone(SegmentedTopicModel(3)).n_components == 3
    assert pickle.loads(pickle.dumps(SegmentedTopicModel.fit)) is SegmentedTopicModel.fit
    assert pickle.loads(pickle.dumps(GibbsLDA(7).fit)).__self__.n_components == 7

    class Base:
        def __init__(self, a):
            self.a = a

        @classmethod
        def make(cls, a):
            return cls(a)

        def twice(self):
            return 2 * self.a

    class Middle(Base):
        def twice(self):
            return 1 + super().twice()

    Base.__module__ = Middle.__module__ = "skdp.some.module"

    @public
    class Own(Middle):
        pass

    class Users(Own):
        def twice(self):
            return 10 * super().twice()

    assert Own.make(3).twice() == 7
    assert Users.make(3).twice() == 70
    assert isinstance(Users.make(3), Users)
    assert Own.twice.__qualname__ == f"{Own.__qualname__}.twice"
    assert Middle.twice.__qualname__ == f"{Middle.__qualname__}.twice"


# Habits that are fine


@pytest.mark.parametrize(
    "call",
    [
        lambda: stm(n_components=np.int64(2), topic_word_prior=np.float32(0.5)),
        lambda: stm(topic_word_prior=1, concentration=10, discount=0, doc_topic_prior=1),
        lambda: stm(doc_topic_prior=[1, 2], dirichlet_prior=[1, 1], init=np.ones((2, 4)).tolist()),
        lambda: hmm(pd.DataFrame(SERIES, columns=["a", "b"])),
        lambda: hmm(SERIES.astype(np.float32), n_components=np.int32(2), stickiness=1),
        lambda: hmm(np.where(SERIES > 2, np.nan, SERIES) * 1e6),
        lambda: hmm(
            SERIES * 1e-9,
            emission=small_factors(),
        ),
        lambda: hmm(
            emission=GaussianEmission(mean_prior=[0, 1], covariance_prior=[[1, 0], [0, 1]])
        ),
        lambda: pcfg(rule_type_prior=[1, 2], binary_concentration=np.float64(1)),
        lambda: segments(stop_words=["the"], ngram_range=(1, 2), vocabulary={"cat": 1, "dog": 0}),
        lambda: SegmentVectorizer().fit(text for text in TEXTS),
        lambda: SegmentVectorizer().fit(pd.Series(TEXTS)),
        lambda: TokenVectorizer().fit(np.array(TEXTS, dtype=object)),
        lambda: TokenSequences.from_sequences(np.array(ids) for ids in SENTENCES),
        lambda: SegmentedCorpus.from_documents(document for document in DOCUMENTS),
        lambda: SequencePanel.from_sequences(x for x in [SERIES]),
        lambda: given(pd.DataFrame(TOPICS)),
        lambda: expected_table_count([1.0, 2.0], 0.5, 1),
        lambda: hmm_log_likelihood([0.5, 0.5], HALF.tolist(), [[0, 0], [-np.inf, 0]]),
        lambda: ParseTreeDisplay(tree for tree in TREES),
        lambda: ParseTree("S", (word for word in ["a", "b"])),
        lambda: read_trees(io.BytesIO(b"(S a)")),
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


def test_memory_is_that_of_the_machine(monkeypatch):
    memory = physical_memory()
    assert memory is None or 2**28 < memory < 2**50
    monkeypatch.setattr("skdp._memory.physical_memory", lambda: 2**30)
    check_memory(2.0**30, "A table")
    with pytest.raises(ValueError, match=r"A table would take 1.5 GiB.*memory of 1 GiB. Less!"):
        check_memory(1.5 * 2**30, "A table", "Less!")
    monkeypatch.setattr("skdp._memory.physical_memory", lambda: None)  # nobody knows
    check_memory(1e300, "A table")


def test_memory_of_windows(monkeypatch):
    # There is no sysconf; the API is called with a structure of its length.
    class Kernel:
        @staticmethod
        def GlobalMemoryStatusEx(reference):
            status = reference._obj
            assert status.length == 64
            status.total = 16 * 2**30
            return 1

    monkeypatch.delattr("os.sysconf", raising=False)
    monkeypatch.setattr("ctypes.windll", types.SimpleNamespace(kernel32=Kernel), raising=False)
    assert physical_memory() == 16 * 2**30
    monkeypatch.delattr("ctypes.windll")
    assert physical_memory() is None
