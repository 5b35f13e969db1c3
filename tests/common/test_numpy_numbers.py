"""Parameters may be numpy's integers, booleans and floating-point numbers."""

import importlib
import inspect
import pkgutil
from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.base import clone

import skdp
from skdp._sklearn_compat import Interval, validate_parameters
from skdp.context import DistanceDependentCRPClassifier, HDPBackoffClassifier
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    KneserNeyLM,
    LanguageModelClassifier,
    NestedPitmanYorLM,
)
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.sequence import HDPHMMLT, AutoregressiveEmission, FactorialHMM, PoissonDuration
from skdp.topics import AdaptiveTopicModel, GibbsLDA, HDPTopicModel, LatentDirichletCoClustering
from skdp.utils._checking import same_fit

INTEGERS = (np.int64, np.int32, np.uint8)
PLACEHOLDER = object()

MODULES = [each.name for each in pkgutil.iter_modules(skdp.__path__) if each.name[0] != "_"]
CLASSES = {
    name: getattr(module, name)
    for module in (importlib.import_module(f"skdp.{name}") for name in MODULES)
    for name in getattr(module, "__all__", ())
    if hasattr(getattr(module, name), "get_params")
}


def defaults(cls):
    """Return the parameters of a class by name, with a placeholder where one has no default."""
    parameters = inspect.signature(cls).parameters.values()
    return {
        each.name: PLACEHOLDER if each.default is each.empty else each.default
        for each in parameters
    }


def numbers(cls, kind):
    """Return the parameters that may be integers, or real numbers, each with a number it takes."""
    found = {}
    constraints = getattr(cls, "_parameter_constraints", {})
    for name in defaults(cls):
        for each in constraints.get(name, ()):
            if isinstance(each, Interval) and each.type is kind:
                found[name] = next(n for n in (1, 2, 3, -1, 0, 0.5) if n in each)
    for name, value in defaults(cls).items():
        if isinstance(value, kind) and not isinstance(value, bool):
            found.setdefault(name, value)
    return found


def test_classes():
    assert {"GibbsLDA", "PitmanYorMixture", "GaussianEmission", "TokenVectorizer"} <= set(CLASSES)
    assert {"max_iter", "burn_in", "n_chains"} <= set(numbers(PitmanYorMixture, Integral))


@pytest.mark.parametrize("cls", CLASSES.values(), ids=CLASSES)
def test_parameters_are_plain_numbers(cls):
    estimator = cls(**defaults(cls))
    for name, value in numbers(cls, Integral).items():
        for dtype in INTEGERS:
            if value < 0 and dtype is np.uint8:
                continue
            estimator.set_params(**{name: dtype(value)})
            assert type(getattr(estimator, name)) is int
            assert getattr(estimator, name) == value
            assert type(getattr(clone(estimator), name)) is int
    for name, value in numbers(cls, Real).items():
        for dtype in (np.float64, np.float32, np.float16):
            estimator.set_params(**{name: dtype(value)})
            assert type(getattr(estimator, name)) is float
            assert getattr(estimator, name) == dtype(value)
    for name, value in defaults(cls).items():
        if isinstance(value, bool):
            estimator.set_params(**{name: np.bool_(value)})
            assert getattr(estimator, name) is value
    plain = cls(**{**defaults(cls), **{n: np.int64(v) for n, v in numbers(cls, Integral).items()}})
    assert all(type(getattr(plain, name)) is int for name in numbers(cls, Integral))


PARTS = {LanguageModelClassifier: {"estimator": KneserNeyLM()}}
WITH_CONSTRAINTS = {
    name: cls for name, cls in CLASSES.items() if hasattr(cls, "_parameter_constraints")
}


@pytest.mark.parametrize("cls", WITH_CONSTRAINTS.values(), ids=WITH_CONSTRAINTS)
def test_arrays_are_no_numbers(cls):
    # As in scikit-learn, also those without a dimension.
    for name in numbers(cls, Integral):
        if name in cls._parameter_constraints:
            estimator = cls(**{**defaults(cls), **PARTS.get(cls, {}), name: np.array(1)})
            with pytest.raises(ValueError, match=f"The '{name}' parameter of {cls.__name__}"):
                validate_parameters(estimator)


ROWS = np.random.default_rng(0).normal(size=(12, 2))
COUNTS = np.random.default_rng(1).integers(0, 3, size=(8, 5))
SENTENCES = [[0, 1, 2], [0, 2], [2, 1, 0], [1]]
STRINGS = ["ab ab", "b ab", "ba b"]
EVENTS = [["a", 1], ["b", 1], ["a", 2], ["b", 2]]
TREES = [ParseTree.from_brackets("(S (A a) (B b))"), ParseTree.from_brackets("(S (A c) (B d))")]
WORDS = [list(tree.leaves) for tree in TREES]
CHAIN = {"max_iter": 5, "burn_in": 1, "thin": 2, "n_samples": 2, "n_chains": 2, "n_jobs": 1}
TOPICS = {**CHAIN, "n_shards": 2, "transform_max_iter": 4, "transform_burn_in": 1}

FITS = {
    "DPMixture": (DPMixture(), CHAIN, (ROWS,)),
    "PitmanYorMixture": (PitmanYorMixture("poisson"), CHAIN, (COUNTS,)),
    "HDPMixture": (HDPMixture(), CHAIN, ([ROWS[:5], ROWS[5:]],)),
    "IBPLatentFeatures": (IBPLatentFeatures(), {**CHAIN, "transform_max_iter": 3}, (ROWS,)),
    "HDPHMMLT": (HDPHMMLT(), {**CHAIN, "n_components": 3}, (ROWS,)),
    "AutoregressiveEmission": (
        HDPHMMLT(emission=AutoregressiveEmission()),
        {"max_iter": 3, "n_components": 2, "emission__n_lags": 2},
        (ROWS,),
    ),
    "PoissonDuration": (
        HDPHMMLT(duration=PoissonDuration()),
        {"max_iter": 3, "n_components": 2, "duration__max_duration": 9},
        (ROWS,),
    ),
    "FactorialHMM": (FactorialHMM(), {**CHAIN, "n_factors": 3, "block_size": 2}, (ROWS,)),
    "GibbsLDA": (GibbsLDA(), {**TOPICS, "n_components": 3}, (COUNTS,)),
    "AdaptiveTopicModel": (AdaptiveTopicModel(), {**TOPICS, "n_components": 3}, (COUNTS,)),
    "LatentDirichletCoClustering": (
        LatentDirichletCoClustering(),
        {**TOPICS, "n_components": 3, "n_document_topics": 2},
        (COUNTS,),
    ),
    "HDPTopicModel": (HDPTopicModel(), {**CHAIN, "initial_components": 3}, (COUNTS,)),
    "HDPPCFG": (
        HDPPCFG(),
        {"n_components": 2, "n_preterminals": 2, "max_iter": 3, "max_length": 3, "n_init": 2},
        (SENTENCES,),
    ),
    "HDPPCFG, Gibbs": (HDPPCFG(inference="gibbs"), {**CHAIN, "n_components": 2}, (SENTENCES,)),
    "HDPPCFGRefiner": (
        HDPPCFGRefiner(),
        {"n_components": 2, "max_iter": 2, "min_word_count": 1, "n_products": 2},
        (WORDS, TREES),
    ),
    "HierarchicalPitmanYorLM": (HierarchicalPitmanYorLM(), {**CHAIN, "order": 2}, (SENTENCES,)),
    "KneserNeyLM": (KneserNeyLM(discount=0.5), {"order": 2}, (SENTENCES,)),
    "LanguageModelClassifier": (
        LanguageModelClassifier(KneserNeyLM(discount=0.5)),
        {"estimator__order": 2, "n_jobs": 1},
        (SENTENCES, [0, 1, 0, 1]),
    ),
    "NestedPitmanYorLM": (
        NestedPitmanYorLM(anneal=None),
        {**CHAIN, "word_order": 2, "max_word_length": 3},
        (STRINGS,),
    ),
    "CollocationPitmanYorLM": (
        CollocationPitmanYorLM(anneal=None),
        {**CHAIN, "character_order": 2, "max_word_length": 3, "max_collocation_length": 4},
        (STRINGS,),
    ),
    "HDPBackoffClassifier": (HDPBackoffClassifier(), CHAIN, (EVENTS, list("xyxy"))),
    "DistanceDependentCRPClassifier": (
        DistanceDependentCRPClassifier(),
        CHAIN,
        (EVENTS, list("xyxy")),
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "parameters", "data"), FITS.values(), ids=FITS)
def test_fits_are_the_same(estimator, parameters, data):
    estimator = clone(estimator)
    if "random_state" in estimator.get_params():
        parameters = {**parameters, "random_state": 7}
    plain = clone(estimator).set_params(**parameters).fit(*data)
    for dtype in INTEGERS:
        values = {name: dtype(value) for name, value in parameters.items()}
        same_fit(plain, clone(estimator).set_params(**values).fit(*data))
