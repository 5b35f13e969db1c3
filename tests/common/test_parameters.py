"""Wrong values of every parameter of every estimator, generated from what its class declares."""

import re
from numbers import Integral

import numpy as np
import pytest
from registry import CASES
from sklearn.base import clone
from sklearn.utils._param_validation import make_constraint

from skdp._sklearn_compat import Interval, StrOptions

PAIRS = [
    *((1.0,), (1.0, 0.0), (-1.0, 1.0), (np.nan, 1.0), (1.0, "2"), (1.0, np.inf), "ab", 1.0),
    *((), (True, 1.0), (1e-20, 1e-20), (1e-300, 1e300)),
]
"""No parameters of a prior."""


def wrong_values(name, constraints):
    """Return values of each wrong kind: other types, beyond an end, other names, no prior."""
    values = [object(), np.ma.masked_array([1.0, 2.0], [False, True])]
    if constraints == "no_validation":
        return values
    for each in constraints:
        if isinstance(each, Interval):
            values += [np.nan, True, "1", None]
            values += [1.5, 1e10, 10**20] if each.type is Integral else [np.inf, 1e-300, 1e300]
            values.append(np.array(1))  # as in scikit-learn, no number
            for end, closed, step in ((each.left, "left", -1), (each.right, "right", 1)):
                if end is not None:
                    is_in = each.closed in (closed, "both")
                    values.append(end + step if is_in or each.type is Integral else end)
        elif isinstance(each, StrOptions):
            values += ["nonsense", b"auto", 7.5]
        elif each == "boolean":
            values += ["yes", 2, None]
        elif each == "random_state":
            values += ["seed", -1, 0.5]
    allowed = [make_constraint(each) for each in constraints]
    values = [x for x in values if not any(each.is_satisfied_by(x) for each in allowed)]
    return values + (PAIRS if name.endswith("prior") and tuple in constraints else [])


def parameters_of(estimator):
    """Yield the parameters of an estimator and of its parts, the wrong values of each, and what a
    message of scikit-learn says of it."""
    every = estimator.get_params()
    for key in every:
        owner, _, name = key.rpartition("__")
        owner = every[owner] if owner else estimator
        constraints = getattr(owner, "_parameter_constraints", {}).get(name)
        if constraints is not None:
            kinds = [] if constraints == "no_validation" else constraints
            kinds = [str(each) for each in kinds if isinstance(each, Interval | StrOptions)]
            yield key, wrong_values(name, constraints), [type(owner).__name__, *kinds]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_wrong_values(case):
    """The message has the name, the value and the bounds; it comes before any work and leaves all
    as it was."""
    for key, values, bounds in parameters_of(case.estimator):
        for value in values:
            model = clone(case.estimator).set_params(**{key: value})
            before = dict(vars(model))
            with pytest.raises((ValueError, TypeError)) as raised:
                model.fit(*case.data)
            message = str(raised.value)
            assert key.rpartition("__")[2] in message, (key, value)
            if isinstance(value, bool | int | float | str | bytes | tuple | None):
                assert str(value) in message, (key, value, message)
            if message.startswith("The '") and "masked" not in message:
                assert all(each in message for each in bounds), (key, message)
            if isinstance(value, tuple):
                assert re.search(r" from 1e-\d+ to 1e\+\d+, got", message), message
            assert raised.type.__module__ != "numpy"
            assert vars(model) == before, (key, value)
