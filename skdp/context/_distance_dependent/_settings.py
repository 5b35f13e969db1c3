"""Checks of user input, and choices that depend on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_floats, is_number, shorten
from skdp._numeric._typing import Floats, Places
from skdp.context._distance_dependent._model import Smoother, SubsetSmoother, TableSmoother
from skdp.context._distance_dependent._observations import ContextObservations
from skdp.context._distance_dependent._similarities import (
    GivenTable,
    Similarity,
    SubsetOverlap,
    SubsetProduct,
)
from skdp.context._labels import check_classes, check_labels

_LARGEST = 1e120
"""Largest similarity, since sums have to stay finite."""

_FEW_COLUMNS = 6
"""Number of columns up to which sets of columns are used even if there are fewer contexts."""


def has_few_subsets(n_columns: int, n_contexts: int) -> bool:
    """Return whether there are few columns, or at most as many sets of them as contexts."""
    return n_columns <= _FEW_COLUMNS or n_columns <= int(np.log2(n_contexts))


def check_decay(decay: Any, n_columns: int) -> Floats | None:
    """Return the decays, or None if they are drawn."""
    if isinstance(decay, str):
        return None
    rates = as_floats(decay, "decay")
    if is_number(decay):
        rates = np.full(n_columns, rates)
    if rates.shape != (n_columns,) or not np.all((rates >= 0.0) & (rates < np.inf)):
        raise ValueError(
            f"decay must be 'auto', a finite number >= 0 or {n_columns} of them, one for each "
            f"column of X; got {shorten(decay)}."
        )
    return rates


def check_weights(weights: Any, n_columns: int) -> Floats | None:
    """Return the weights, or None if they are drawn."""
    if weights is None:
        return np.full(n_columns, 1.0 / n_columns)
    if isinstance(weights, str):
        return None
    shares = as_floats(weights, "weights", 1)
    if (
        shares.shape != (n_columns,)
        or not np.all(shares >= 0.0)
        or not abs(shares.sum() - 1.0) < 1e-6
    ):
        raise ValueError(
            f"weights must be None, 'auto' or {n_columns} numbers >= 0 with sum 1, one for "
            f"each column of X; got {shorten(weights)}."
        )
    return shares / shares.sum()


def check_outcomes(name: str, y: Any, classes: Any) -> tuple[NDArray[Any], Places]:
    """Return the classes and the class index of each outcome."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    labels = check_labels(y)
    found = check_classes(labels, classes)
    return found, find_classes(found, labels, "y", "classes")


def find_classes(classes: NDArray[Any], labels: NDArray[Any], name: str, where: str) -> Places:
    """Return the class indices of labels."""
    numbers = {value: k for k, value in enumerate(classes.tolist())}
    codes = np.array([numbers.get(value, -1) for value in labels.tolist()], dtype=np.int64)
    if np.any(codes < 0):
        missing = labels.tolist()[int(np.argmin(codes))]
        raise ValueError(f"{name} has the outcome {missing!r}, which is not in {where}.")
    return codes


def check_kernel_values(values: Any, shape: tuple[int, ...], what: str) -> Floats:
    """Return similarities after checking them."""
    similarities = as_floats(values, what)
    if similarities.shape != shape:
        raise ValueError(
            f"{what} must have shape {shape}, a row for each context in A and a column for each in "
            f"B; got {similarities.shape}."
        )
    wrong = ~((similarities >= 0.0) & (similarities <= _LARGEST))  # NaN is neither
    if wrong.any():
        i, j = (int(index[0]) for index in np.nonzero(wrong))
        raise ValueError(
            f"{what} must hold finite numbers >= 0, up to {_LARGEST:g}; got "
            f"{similarities[i, j]} in row {i}, column {j}."
        )
    return similarities


def make_smoother(similarity: Similarity, observations: ContextObservations) -> Smoother:
    """Return the smoother over the training contexts for a similarity."""
    if isinstance(similarity, SubsetProduct | SubsetOverlap):
        return SubsetSmoother(similarity.index, is_product=isinstance(similarity, SubsetProduct))
    return TableSmoother(None if isinstance(similarity, GivenTable) else observations.codes)
