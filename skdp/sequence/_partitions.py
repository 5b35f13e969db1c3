"""Decorator for methods that accept panels in partitions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skdp._executors import predict_parts
from skdp.data import PartitionedPanel
from skdp.data._validation import check_partitions

Method = Callable[[Any, Any], Any]


def takes_partitions(shape: Callable[[Any], tuple[int, ...]] | None) -> Callable[[Method], Method]:
    """Return a decorator by which a method also takes a PartitionedPanel, one partition at a time.
    `shape(estimator)` is the shape of its result for one sequence, floats; None: it is a list.
    """

    def decorate(method: Method) -> Method:
        @wraps(method)
        def joined(self: Any, X: Any) -> Any:
            if not isinstance(X, PartitionedPanel):
                return method(self, X)
            check_is_fitted(self)
            check_partitions(self, X, reset=False)
            return predict_parts(self, method.__name__, X, None if shape is None else shape(self))

        return joined

    return decorate


def of_number(estimator: Any) -> tuple[int, ...]:
    """Return the shape of a number."""
    return ()


def of_features(estimator: Any) -> tuple[int, ...]:
    """Return the shape of a row of `transform`."""
    return (estimator._n_features_out,)
