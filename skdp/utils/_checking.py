"""Tools for the checks of all kinds of estimators."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skdp.inference import Trace

Check = Callable[[Any], None]


def of_short_fits(check: Check) -> Check:
    """Return a check whose fits may end before they are done: those of checks are short."""

    @wraps(check)
    def quiet(estimator: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            check(estimator)

    return quiet


def seeded(estimator: Any, **params: Any) -> Any:
    """Return an unfitted copy with a fixed seed and other parameters."""
    return clone(estimator).set_params(random_state=0, **params)


def _same(value: Any, other: Any, name: str) -> None:
    """Assert that two values are equal, bit for bit, whatever they hold."""
    if isinstance(value, dict):
        assert value.keys() == other.keys(), name
        for key in value:
            _same(value[key], other[key], f"{name}[{key!r}]")
    elif isinstance(value, list | tuple):
        assert len(value) == len(other), name
        for i, (one, two) in enumerate(zip(value, other, strict=True)):
            _same(one, two, f"{name}[{i}]")
    elif isinstance(value, Trace):
        assert_array_equal(value.sweeps, other.sweeps)
        for scalar in value:
            assert_array_equal(value[scalar], other[scalar], err_msg=f"{name}[{scalar!r}]")
    elif hasattr(value, "__dict__"):
        for part in vars(value):
            _same(vars(value)[part], vars(other)[part], f"{name}.{part}")
    else:
        assert_array_equal(value, other, err_msg=name)


def list_fitted(estimator: Any) -> set[str]:
    """Return the names of the fitted attributes."""
    return {name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")}


def same_fit(first: Any, second: Any) -> None:
    """Assert that two estimators learned the same, bit for bit."""
    for name in list_fitted(first):
        _same(getattr(first, name), getattr(second, name), name)


def clone_fitted(estimator: Any) -> Any:
    """Return a copy of a fitted estimator, by pickle."""
    return pickle.loads(pickle.dumps(estimator))


def interrupt(estimator: Any, n_steps: int, *data: Any) -> None:
    """Fit to the data, and press Ctrl-C after `n_steps` steps."""
    _fail(estimator, "_report", n_steps, KeyboardInterrupt, *data)


def tear(estimator: Any, n_steps: int, *data: Any) -> None:
    """Fit to the data, and run out of memory in the middle of a later step than `n_steps`."""
    _fail(estimator, "_advance", n_steps, MemoryError, *data)


def _fail(
    estimator: Any, method: str, n_steps: int, error: type[BaseException], *data: Any
) -> None:
    """Fit to the data, with an error at the end of a method once `n_steps` steps are done."""
    whole = getattr(estimator, method)

    def then_fail(first: Any, *args: Any) -> Any:
        result = whole(first, *args)
        run = result if method == "_advance" else first[0]
        if estimator._n_steps(run) >= n_steps:
            raise error
        return result

    setattr(estimator, method, then_fail)
    try:
        estimator.fit(*data)
    except error:
        pass
    else:
        raise AssertionError(f"The fit did not end with {error.__name__}.")
    finally:
        delattr(estimator, method)
