"""Where the work is done has no effect: joblib's backends give the same bits for all estimators.

Fits ask for threads; a user's `parallel_config` overrules that, and then what is done is pickled.
"""

import pickle

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal

from skdp.context import DistanceDependentCRPClassifier, HDPBackoffClassifier
from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree
from skdp.grammar._chart._engine import sample_trees
from skdp.grammar._chart._weights import RuleWeights
from skdp.language import CollocationPitmanYorLM, HierarchicalPitmanYorLM, NestedPitmanYorLM
from skdp.mixture import HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.sequence import (
    HDPHMMLT,
    BinaryFactorEmission,
    FactorialHMM,
    GaussianSimilarity,
    LaplacianSimilarity,
    PoissonDuration,
)
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SectionedTopicModel,
    SegmentedTopicModel,
    SequentialLDA,
    TopicSegmenter,
)
from skdp.utils._checking import same_fit, seeded

FEW = {"max_iter": 3}

ESTIMATORS = [
    SegmentedTopicModel(2, **FEW),
    SegmentedTopicModel(2, n_chains=2, concentration_scope="segment", **FEW),
    SegmentedTopicModel("auto", n_chains=2, n_shards=2, **FEW),
    SequentialLDA(2, n_shards=2, discount="auto", **FEW),
    AdaptiveTopicModel(2, n_shards=2, sampler="ssa", **FEW),
    GibbsLDA(2, n_shards=2, level="segment", **FEW),
    LatentDirichletCoClustering(2, 2, n_shards=2, **FEW),
    LatentDirichletCoClustering(2, 2, n_chains=2, **FEW),
    HDPHMMLT(2, n_chains=2, **FEW),
    HDPHMMLT(2, similarity=GaussianSimilarity(2), duration=PoissonDuration(max_duration=9), **FEW),
    HDPHMMLT(2, emission=BinaryFactorEmission(2), similarity=LaplacianSimilarity(), **FEW),
    HDPHMMLT(2, similarity="emission", n_chains=2, **FEW),
    FactorialHMM(2, n_chains=2, **FEW),
    HDPPCFG(2, **FEW),
    HDPPCFG(2, n_init=2, n_preterminals=2, dtype="float32", **FEW),
    HDPPCFG(2, inference="viterbi-em", predict_method="mean", **FEW),
    HDPPCFGRefiner(2, min_word_count=1, **FEW),
    HierarchicalPitmanYorLM(2, n_chains=2, **FEW),
    NestedPitmanYorLM(n_chains=2, anneal=None, **FEW),
    CollocationPitmanYorLM(n_chains=2, anneal=None, **FEW),
    PitmanYorMixture(n_chains=2, **FEW),
    HDPMixture(n_chains=2, **FEW),
    HDPTopicModel(n_chains=2, **FEW),
    TopicSegmenter(2, n_chains=2, **FEW),
    SectionedTopicModel(2, n_chains=2, discount="auto", **FEW),
    IBPLatentFeatures(n_chains=2, **FEW),
    HDPBackoffClassifier(n_chains=2, **FEW),
    DistanceDependentCRPClassifier(n_chains=2, **FEW),
    PitmanYorMixture(sampler="blocked", **FEW),
]

METHODS = (
    "transform", "transform_segments", "transform_sections", "predict", "predict_proba",
    "score_samples",
)  # fmt: skip


def make_data(estimator):
    """Return small data, but enough sentences for several parts."""
    rng = np.random.default_rng(0)
    kind = getattr(estimator, "_sample_kind", None)
    if kind == "sentence":
        lengths = np.r_[rng.integers(1, 6, 1000), 40]
        return (TokenSequences.from_sequences([rng.integers(0, 4, n) for n in lengths], 4),)
    if kind == "text":
        sentences = TokenSequences.from_sequences([rng.integers(0, 4, n) for n in (5, 1, 9, 4)], 4)
        return (sentences,)
    if kind == "tree":
        texts = ("(S (A a) (B b))", "(S (A a) (S (A a) (B c)))", "(S (B b))")
        trees = [ParseTree.from_brackets(text) for text in texts]
        return [tree.leaves for tree in trees], trees
    if isinstance(estimator, HDPBackoffClassifier | DistanceDependentCRPClassifier):
        X = rng.integers(0, 4, (60, 3))
        return X, X[:, 0] % 3
    if isinstance(estimator, PitmanYorMixture | IBPLatentFeatures):
        return (rng.normal(size=(9, 2)),)
    if hasattr(estimator, "predict_proba") and not isinstance(estimator, TopicSegmenter):
        return (SequencePanel.from_sequences([rng.normal(size=n) for n in (7, 1, 5)]),)
    documents = [[rng.integers(0, 9, 5), rng.integers(0, 9, 3)] for _ in range(6)]
    return (SegmentedCorpus.from_documents(documents, 9),)


def results(fitted, data):
    """Return what every method makes of the data."""
    return {name: getattr(fitted, name)(data[0]) for name in METHODS if hasattr(fitted, name)} | (
        {"log_likelihood": fitted.log_likelihood(data[0], n_particles=2)}
        if hasattr(fitted, "log_likelihood")
        else {}
    )


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert_same_value(found[name], value, name)


def assert_same_value(found, value, name):
    """Compare arrays and containers of arrays."""
    if isinstance(value, list | TokenSequences):
        assert len(found) == len(value)
        for one, two in zip(found, value, strict=True):
            assert_same_value(one, two, name)
    else:
        assert_array_equal(found, value, err_msg=name)


def check_backend(estimator, backend, **params):
    data = make_data(estimator)
    expected = seeded(estimator).fit(*data)
    made = results(expected, data)
    with parallel_config(backend, **params):
        fitted = seeded(estimator).fit(*data)
        found = results(fitted, data)
    same_fit(expected, fitted)
    assert_same(found, made)


@pytest.mark.parametrize(
    "estimator",
    [
        HierarchicalPitmanYorLM(2, n_chains=2, **FEW),
        NestedPitmanYorLM(n_chains=2, anneal=None, **FEW),
        CollocationPitmanYorLM(n_chains=2, anneal=None, **FEW),
        PitmanYorMixture(n_chains=2, **FEW),
        IBPLatentFeatures(n_chains=2, **FEW),
        HDPBackoffClassifier(n_chains=2, **FEW),
        DistanceDependentCRPClassifier(n_chains=2, **FEW),
        HDPHMMLT(2, n_chains=2, **FEW),
        GibbsLDA(2, n_shards=2, level="segment", **FEW),
    ],
    ids=str,
)
def test_large_arrays(estimator):
    """joblib maps large arrays to memory, read-only: chains work in place and want their own."""
    data = make_data(estimator)
    expected = seeded(estimator).fit(*data)
    made = results(expected, data)
    with parallel_config("loky", n_jobs=2, max_nbytes=100):
        found = seeded(estimator).fit(*data)
        assert_same(results(found, data), made)
    same_fit(expected, found)


EXHAUSTIVE = [pytest.mark.slow, pytest.mark.exhaustive]
SLOWNESS = {11: [], **{i: [pytest.mark.slow] for i in (3, 5, 8, 14)}}
"""Estimators that start processes for every step: one is fast, one of each family is slow."""


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_backends(estimator, backend):
    check_backend(estimator, backend, n_jobs=2)


@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(estimator, id=str(estimator), marks=SLOWNESS.get(i, EXHAUSTIVE))
        for i, estimator in enumerate(ESTIMATORS)
    ],
)
def test_multiprocessing(estimator):
    """It pickles as pickle does, not as cloudpickle. It starts processes for every step: slow."""
    check_backend(estimator, "multiprocessing", n_jobs=2)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_no_kernel_is_sent(estimator):
    """Other processes get no objects of numba, which each would recompile for minutes."""
    estimator = seeded(estimator)
    data = estimator._check_input(*make_data(estimator))
    runs = estimator._make_procedure(data).start().runs
    assert b"numba" not in pickle.dumps(runs)


def test_drawn_trees():
    """Streams are advanced in place, although other processes do the work."""
    (sentences,) = make_data(HDPPCFG())
    rng = np.random.default_rng(0)
    weights = RuleWeights(
        *(np.log(rng.random(shape)) for shape in ((2,), (2, 4), (2, 2, 2))), n_preterminals=None
    )
    streams = rng.integers(2**63, size=(len(sentences), 4)).astype(np.uint64)
    moved = streams.copy()
    expected = sample_trees(sentences, weights, moved)
    with parallel_config("loky", n_jobs=2):
        found = sample_trees(sentences, weights, streams)
    assert_array_equal(streams, moved)
    for one, two in zip(found, expected, strict=True):
        assert_array_equal(one, two)


@pytest.mark.slow  # starts a cluster
@pytest.mark.filterwarnings("ignore")  # dask's own
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_dask(every):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        for estimator in ESTIMATORS[::every]:
            check_backend(estimator, "dask")
