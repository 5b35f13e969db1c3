"""Tools for the checks of all kinds of estimators."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skdp.inference._trace import Trace

Check = Callable[[Any], None]


def of_short_fits(check: Check) -> Check:
    """Return a check without warnings of convergence, because its fits are short."""

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
    """Assert that two values of any kind are equal, bit for bit."""
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
    _fail(estimator, "is_done", n_steps, KeyboardInterrupt, *data)


def tear(estimator: Any, n_steps: int, *data: Any) -> None:
    """Fit to the data, and run out of memory in the middle of a later step than `n_steps`."""
    _fail(estimator, "advance", n_steps, MemoryError, *data)


@contextmanager
def acting_after(estimator: Any, method: str, act: Callable[[int], None]) -> Iterator[None]:
    """Return a context in which fits call ``act(n_steps)`` after a method of their procedure.
    Errors of `act` come in the middle of a step with "advance", between steps with "is_done".
    """
    make = estimator._make_procedure

    def make_acting(data: Any) -> Any:
        procedure = make(data)
        whole = getattr(procedure, method)

        def then_act(run: Any, *args: Any) -> Any:
            result = whole(run, *args)
            act(procedure.n_steps(result if method == "advance" else run))
            return result

        setattr(procedure, method, then_act)
        return procedure

    estimator._make_procedure = make_acting
    try:
        yield
    finally:
        del estimator._make_procedure


def _fail(
    estimator: Any, method: str, n_steps: int, error: type[BaseException], *data: Any
) -> None:
    """Fit to the data, with an error at the end of a method once `n_steps` steps are done."""

    def fail(n_done: int) -> None:
        if n_done >= n_steps:
            raise error

    with acting_after(estimator, method, fail):
        try:
            estimator.fit(*data)
        except error:
            return
    raise AssertionError(f"The fit did not end with {error.__name__}.")
