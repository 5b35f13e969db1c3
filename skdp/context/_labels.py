"""Checks of outcome labels: y and the possible classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from skdp._checks import as_array, check_unmasked, is_list_like, shorten
from skdp.data._columns import is_missing


def check_labels(y: Any) -> NDArray[Any]:
    """Return labels as an array, (n_samples,)."""
    check_unmasked(y, "y")
    _check_values(y)
    labels = check_array(y, ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y")
    labels = column_or_1d(labels, warn=True)
    if len({isinstance(label, str) for label in labels} if labels.dtype == object else ()) > 1:
        raise ValueError("y must hold strings or numbers, got both.")
    check_classification_targets(labels)
    return labels


def check_classes(labels: NDArray[Any], classes: Any) -> NDArray[Any]:
    """Return the sorted classes, either the distinct labels or the given classes."""
    seen = _unique(labels, "y")
    if classes is None:
        return seen
    given = as_array(classes, "classes")
    if not is_list_like(classes) or given.ndim != 1:
        raise ValueError(f"classes must be a list of labels, got {shorten(classes)}.")
    if any(map(is_missing, classes)):
        raise ValueError(
            "classes must hold labels that can be sorted, strings or numbers; it contains NaN, "
            f"None or another missing value: {shorten(classes)}."
        )
    if len(given) and (given.dtype.kind in "biuf") != (seen.dtype.kind in "biuf"):
        raise ValueError(
            f"classes must hold labels of the kind of y's, {shorten(seen[:3].tolist())}, got "
            f"{shorten(given[:3].tolist())}."
        )
    found = _unique(given, "classes")
    if len(found) < len(given):
        raise ValueError(f"classes must hold each label once, got {shorten(classes)}.")
    return found


def _check_values(y: Any) -> None:
    """Raise for errors that scikit-learn misses or reports without details."""
    values = as_array(y, "y")
    if values.ndim == 0 and not issparse(y):  # check_array reports sparse input
        raise ValueError(f"y must be a list or an array of labels, got {type(y).__name__}.")
    if values.dtype.kind not in "OMm":
        return
    for value in values.flat:
        if is_missing(value):
            raise ValueError("Input y contains NaN, None or another missing value.")
        if hasattr(value, "shape") and not isinstance(value, np.generic):
            raise ValueError(f"y must hold strings or numbers, got {type(value).__name__}.")


def _unique(labels: NDArray[Any], name: str) -> NDArray[Any]:
    try:
        return np.unique(labels)
    except TypeError:
        types = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"{name} must hold labels that can be sorted, strings or numbers, got "
            f"{' and '.join(types)}."
        ) from None
