"""A small instance of every public estimator, with small data."""

from functools import cache
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from skdp.context import (
    CollinsBackoffClassifier,
    DistanceDependentCRPClassifier,
    HDPBackoffClassifier,
    HDPBackoffFeatures,
    LexicalizedEventModel,
)
from skdp.emissions import (
    AutoregressiveEmission,
    BernoulliEmission,
    BinaryFactorEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
    MultinomialEmission,
    PoissonEmission,
    RegressionEmission,
    StudentTEmission,
)
from skdp.feature_extraction import SegmentVectorizer, TokenVectorizer
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    KneserNeyLM,
    LanguageModelClassifier,
    NestedPitmanYorLM,
)
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.preprocessing import WindowFeatures
from skdp.sequence import (
    HDPHMMLT,
    ChangePointDetector,
    EmissionSimilarity,
    FactorialHMM,
    FixedSimilarity,
    GaussianSimilarity,
    LaplacianSimilarity,
    NegativeBinomialDuration,
    PoissonDuration,
    StateDetector,
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

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(12, 2))
COUNTS = RNG.integers(0, 3, size=(8, 5))
SYMBOLS = RNG.integers(0, 3, size=(12, 1))
CHOICES = np.column_stack([ROWS[:, 0] > 0.0, ROWS])
SERIES = np.repeat([0.0, 5.0, 0.0, 5.0], 60)[:, None] + RNG.normal(size=(240, 1))
DOCUMENTS = [[RNG.integers(0, 9, 5).tolist(), RNG.integers(0, 9, 3).tolist()] for _ in range(6)]
SENTENCES = [[0, 1, 2], [0, 2], [2, 1, 0], [1]]
TEXTS = ["the cat sat", "the dog", "a dog sat"]
STRINGS = ["ab ab", "b ab", "ba b"]
EVENTS = [["a", 1], ["b", 1], ["a", 2], ["b", 2]] * 3
OUTCOMES = list("xyxyxxyyxyxx")
TREES = [ParseTree.from_brackets(text) for text in ("(S (A a) (B b))", "(S (A c) (B d))")]
WORDS = [list(tree.leaves) for tree in TREES]
HEADED = ["(S (NP (NN a)) (VP (VB b)))", "(S (NP (NN b)) (VP (VB a)))"]


class Case(NamedTuple):
    """An estimator, the kind of its data, data, and its parameters that are integers."""

    estimator: Any
    kind: str
    data: tuple
    integers: dict


CHAIN = {"max_iter": 6, "burn_in": 2, "thin": 2, "n_samples": 2, "n_chains": 2, "n_jobs": 1}
FOLD_IN = {"transform_max_iter": 4, "transform_burn_in": 1}
TOPICS = {**CHAIN, **FOLD_IN, "n_shards": 2}
SHORT = {"max_iter": 4, "burn_in": 2}


def _cases():
    """Yield the name, estimator, integers, kind and data of each case."""
    for model in (SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel, GibbsLDA):
        yield model.__name__, model(), {**TOPICS, "n_components": 3}, "documents", (DOCUMENTS,)
    inferred = SegmentedTopicModel("auto", discount="auto", concentration_scope="segment")
    yield "SegmentedTopicModel, inferred", inferred, TOPICS, "documents", (DOCUMENTS,)
    sizes = {"n_components": 3, "n_document_topics": 2}
    yield "LDCC", LatentDirichletCoClustering(), {**TOPICS, **sizes}, "documents", (DOCUMENTS,)
    few = {**CHAIN, **FOLD_IN, "n_components": 3}
    for model in (TopicSegmenter, SectionedTopicModel):
        yield model.__name__, model(), few, "documents", (DOCUMENTS,)
    alone = TopicSegmenter(cut_probability="auto")
    yield "TopicSegmenter, one topic", alone, {**CHAIN, **FOLD_IN}, "documents", (DOCUMENTS,)
    start = {**CHAIN, **FOLD_IN, "initial_components": 3}
    yield "HDPTopicModel", HDPTopicModel(), start, "counts", (COUNTS,)
    seeds = {"seed_words": {"first": [0], 1: [2]}}
    yield "HDPTopicModel, seeds", HDPTopicModel(**seeds), start, "counts", (COUNTS,)
    seeded = AdaptiveTopicModel("auto", **seeds)
    yield "AdaptiveTopicModel, seeds", seeded, start, "documents", (DOCUMENTS,)
    yield "HDPHMMLT", HDPHMMLT(), {**CHAIN, "n_components": 3}, "rows", (ROWS,)
    emissions = {
        "diag": (GaussianEmission("diag"), {}, ROWS),
        "StudentTEmission": (StudentTEmission(), {}, ROWS),
        "AutoregressiveEmission": (AutoregressiveEmission(), {"lags": 2}, ROWS),
        "RegressionEmission": (RegressionEmission(targets=[0]), {}, ROWS),
        "logistic": (RegressionEmission(targets=[0], output="bernoulli"), {}, CHOICES),
        "BinaryFactorEmission": (BinaryFactorEmission(2), {"n_factors": 2}, ROWS),
        "PoissonEmission": (PoissonEmission(), {}, COUNTS),
        "CategoricalEmission": (CategoricalEmission(), {"n_symbols": 3}, SYMBOLS),
        "BernoulliEmission": (BernoulliEmission(), {}, COUNTS > 1),
        "MultinomialEmission": (MultinomialEmission(), {}, COUNTS),
        "IndependentEmissions": (
            IndependentEmissions([("a", "gaussian", [0]), ("b", "poisson", [1])]),
            {},
            np.column_stack([ROWS[:8, 0], COUNTS[:, 0]]),
        ),
    }
    for name, (emission, integers, X) in emissions.items():
        integers = {f"emission__{key}": value for key, value in integers.items()}
        model = HDPHMMLT(3, emission=emission)
        yield name, model, {**SHORT, **integers}, "rows", (np.asarray(X, dtype=float),)
    similarities = {
        "GaussianSimilarity": (GaussianSimilarity(), {"n_dims": 2}),
        "LaplacianSimilarity": (LaplacianSimilarity(), {}),
        "EmissionSimilarity": (EmissionSimilarity(), {}),
        "FixedSimilarity": (FixedSimilarity(np.full((3, 3), 0.5)), {}),
    }
    for name, (similarity, integers) in similarities.items():
        emission = BinaryFactorEmission(2) if name == "LaplacianSimilarity" else "gaussian"
        integers = {f"similarity__{key}": value for key, value in integers.items()}
        model = HDPHMMLT(3, emission=emission, similarity=similarity)
        yield name, model, {**SHORT, **integers}, "rows", (ROWS,)
    for duration in (PoissonDuration(), NegativeBinomialDuration()):
        model, bound = HDPHMMLT(3, duration=duration), {"duration__max_duration": 9}
        yield type(duration).__name__, model, {**SHORT, **bound}, "rows", (ROWS,)
    few = {**CHAIN, "n_factors": 3, "block_size": 2}
    yield "FactorialHMM", FactorialHMM(), few, "rows", (ROWS,)
    few = {"min_length": 2, "max_length": 90}
    yield "ChangePointDetector", ChangePointDetector(), few, "rows", (SERIES,)
    counted = ChangePointDetector("poisson")
    yield "ChangePointDetector, counts", counted, {"min_length": 2}, "rows", (COUNTS * 1.0,)
    yield "StateDetector", StateDetector(features="values"), {"max_iter": 4}, "rows", (SERIES,)
    few = {"n_components": 2, "n_preterminals": 2, "max_iter": 3, "max_length": 3, "n_init": 2}
    yield "HDPPCFG", HDPPCFG(), few, "sentences", (SENTENCES,)
    gibbs = {**CHAIN, "n_components": 2}
    yield "HDPPCFG, Gibbs", HDPPCFG(inference="gibbs"), gibbs, "sentences", (SENTENCES,)
    few = {"n_components": 2, "max_iter": 2, "min_word_count": 1, "n_products": 2}
    yield "HDPPCFGRefiner", HDPPCFGRefiner(), few, "trees", (WORDS, TREES)
    order = {"order": 2}
    model = HierarchicalPitmanYorLM()
    yield "HierarchicalPitmanYorLM", model, {**CHAIN, **order}, "sentences", (SENTENCES,)
    yield "KneserNeyLM", KneserNeyLM(discount=0.5), order, "sentences", (SENTENCES,)
    model = LanguageModelClassifier(KneserNeyLM(discount=0.5))
    few = {"estimator__order": 2, "n_jobs": 1}
    yield "LanguageModelClassifier", model, few, "sentences", (SENTENCES, [0, 1, 0, 1])
    few = {**CHAIN, "word_order": 2, "max_word_length": 3}
    yield "NestedPitmanYorLM", NestedPitmanYorLM(anneal=None), few, "strings", (STRINGS,)
    few = {**CHAIN, "character_order": 2, "max_word_length": 3, "max_collocation_length": 4}
    yield "CollocationPitmanYorLM", CollocationPitmanYorLM(anneal=None), few, "strings", (STRINGS,)
    yield "DPMixture", DPMixture(), CHAIN, "table", (ROWS,)
    blocked = PitmanYorMixture("poisson", sampler="blocked")
    yield "PitmanYorMixture", blocked, CHAIN, "counts", (COUNTS,)
    yield "HDPMixture", HDPMixture(), CHAIN, "groups", ([ROWS[:5], ROWS[5:]],)
    few = {**CHAIN, "transform_max_iter": 3}
    yield "IBPLatentFeatures", IBPLatentFeatures(), few, "table", (ROWS,)
    for model in (HDPBackoffClassifier, DistanceDependentCRPClassifier):
        yield model.__name__, model(), CHAIN, "events", (EVENTS, OUTCOMES)
    yield "CollinsBackoffClassifier", CollinsBackoffClassifier(), {}, "events", (EVENTS, OUTCOMES)
    few = {"max_iter": 4, "cv": 2}
    yield "HDPBackoffFeatures", HDPBackoffFeatures(), few, "events", (EVENTS, OUTCOMES)
    model = LexicalizedEventModel(CollinsBackoffClassifier())
    yield "LexicalizedEventModel", model, {}, "brackets", (HEADED,)
    yield "SegmentVectorizer", SegmentVectorizer(), {}, "texts", (TEXTS,)
    yield "TokenVectorizer", TokenVectorizer(), {}, "texts", (TEXTS,)
    yield "WindowFeatures", WindowFeatures(), {"window": 8}, "rows", (SERIES,)


def _make(estimator, integers, kind, data):
    seed = {"random_state": 7} if "random_state" in estimator.get_params() else {}
    return Case(estimator.set_params(**integers, **seed), kind, data, integers)


CASES = {name: _make(*rest) for name, *rest in _cases()}
"""By the name of the class or of its part."""


@cache
def fitted(name):
    """Return a fit that tests share and do not change."""
    case = CASES[name]
    return clone(case.estimator).fit(*case.data)


METHODS = (
    "transform", "transform_segments", "transform_sections", "predict", "predict_proba",
    "predict_change_proba", "score_samples", "decode", "impute", "novelty", "filter_proba",
)  # fmt: skip


def arguments(model, method, data):
    """Return what a method takes of the data of a fit: X, and y if it compares with y."""
    y = signature(getattr(model, method)).parameters.get("y")
    return data[:1] if y is None or y.default is not y.empty else data


def results(model, data):
    """Return what the methods of a model make of data, by their names."""
    names = [name for name in METHODS if hasattr(model, name)]
    return {name: getattr(model, name)(*arguments(model, name, data)) for name in names}
