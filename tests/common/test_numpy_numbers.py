"""Parameters may be numpy's integers, booleans and floating-point numbers."""

import importlib
import inspect
import pkgutil
from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.base import clone

import skdp
from skdp._sklearn_compat import Interval
from skdp.mixture import PitmanYorMixture

INTEGERS = (np.int64, np.int32, np.uint8)
PLACEHOLDER = object()

MODULES = [each.name for each in pkgutil.iter_modules(skdp.__path__) if each.name[0] != "_"]
CLASSES = {
    name: getattr(module, name)
    for module in (importlib.import_module(f"skdp.{name}") for name in MODULES)
    for name in getattr(module, "__all__", ())
    if hasattr(getattr(module, name), "get_params") and getattr(module, name).__name__ == name
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
