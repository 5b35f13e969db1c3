"""Checks of the estimators that displays are given."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


def check_model(estimator: Any, what: str, *required: str, name: str = "estimator") -> None:
    """Raise NotFittedError, or TypeError if a fitted estimator is not of the kind that is drawn."""
    check_is_fitted(estimator)
    for attribute in required:
        if not hasattr(estimator, attribute):
            raise TypeError(
                f"{name} must be {what}, got a fitted {type(estimator).__name__}, which has no "
                f"{attribute}."
            )
