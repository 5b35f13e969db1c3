"""What checks of all kinds of estimators need."""

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
    if isinstance(value, list):
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


def same_fit(first: Any, second: Any) -> None:
    """Assert that two estimators learnt the same, bit for bit."""
    for name, value in vars(first).items():
        if name.endswith("_") and not name.startswith("_"):
            _same(value, getattr(second, name), name)


def clone_fitted(estimator: Any) -> Any:
    """Return a copy of a fitted estimator, by pickle."""
    return pickle.loads(pickle.dumps(estimator))


def interrupt(estimator: Any, n_steps: int, *data: Any) -> None:
    """Fit to the data, and press Ctrl-C after `n_steps` steps."""
    advance = estimator._advance

    def advance_then_interrupt(chain: Any, *args: Any) -> Any:
        advance(chain, *args)
        if estimator._n_steps(chain) >= n_steps:
            raise KeyboardInterrupt
        return chain

    estimator._advance = advance_then_interrupt
    try:
        estimator.fit(*data)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("The fit was not interrupted.")
    finally:
        del estimator._advance
