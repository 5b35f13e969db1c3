"""Checks, predictions and matching of the paths of states in displays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from skdp._checks import as_array, check_count, shorten
from skdp.data import check_panel
from skdp.emissions._discrete._category_columns import code_categories
from skdp.inspection._axes import as_names
from skdp.inspection._states import check_matrix


def check_predicted(predicted: Any, factors: Any) -> NDArray[Any]:
    """Return the predictions: states (n_steps,), or factors (n_steps, n_factors)."""
    array = as_array(predicted, "predicted")
    if array.ndim == 2:
        if factors is not None:
            raise ValueError("factors are the factors of states: predicted must be 1-D, got 2-D.")
        return check_matrix(array, "predicted")
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iu" or np.any(array < 0):
        raise ValueError(
            f"predicted must hold states, integers >= 0 (1-D), or factors (2-D), got shape "
            f"{array.shape} and type {array.dtype}."
        )
    if factors is None:
        return array
    matrix = check_matrix(factors, "factors")
    if array.max() >= len(matrix):
        raise ValueError(
            f"predicted must hold states below {len(matrix)}, the rows of factors, got "
            f"{array.max()}."
        )
    return matrix[array]


def check_true(true: Any, predicted: NDArray[Any]) -> NDArray[Any]:
    """Return the truth, in the shape of the predictions."""
    array = check_matrix(true, "true") if predicted.ndim == 2 else as_array(true, "true")
    if array.shape != predicted.shape:
        raise ValueError(
            f"true must have shape {predicted.shape}, like predicted, got {array.shape}."
        )
    return array


def check_boundaries(boundaries: Any, n_steps: int) -> NDArray[np.int64]:
    """Return the first steps of all sequences except the first."""
    inner = as_array([] if boundaries is None else boundaries, "boundaries")
    if inner.size == 0:
        return np.empty(0, dtype=np.int64)
    ends = np.array([0, 0])  # invalid: not ascending
    if inner.ndim == 1 and inner.dtype.kind in "iu":
        ends = np.concatenate([[0], inner, [n_steps]])
    if np.any(ends[1:] <= ends[:-1]):
        raise ValueError(
            f"boundaries must hold increasing integers between 0 and {n_steps}, the number "
            f"of steps, both excluded; got {shorten(boundaries)}."
        )
    return inner.astype(np.int64)


def check_state_names(names: Any, predicted: NDArray[Any]) -> list[str]:
    """Return the names of states by number, at least one for each drawn state."""
    found = as_names(names, "state_names", len(names) if hasattr(names, "__len__") else 0)
    if len(found) <= predicted.max():
        raise ValueError(
            f"state_names must hold a name for every state up to {predicted.max()}: at least "
            f"{predicted.max() + 1} names, got {len(found)}."
        )
    return found


def predict_states(
    estimator: Any, X: Any, sequence: int | None
) -> tuple[NDArray[Any], NDArray[np.int64] | None, NDArray[np.float64]]:
    """Return the states of one or all sequences of X end to end, their boundaries, and X."""
    emission = getattr(estimator, "emission", None)
    values = code_categories(estimator, emission, X, reset=False, allow_missing=True)
    panel, is_single = check_panel(
        estimator, values, reset=False, ensure_all_finite="allow-nan", accept_tokens=True
    )
    if sequence is not None:
        sequence = check_count(sequence, "sequence")
        if sequence >= len(panel):
            raise ValueError(
                f"sequence must be below the number of sequences in X, {len(panel)}, got "
                f"{sequence}."
            )
    if is_single:
        return np.asarray(estimator.predict(X)), None, panel.values
    if sequence is None:
        return np.concatenate(estimator.predict(X)), panel.ptr[1:-1], panel.values
    # Predict from X itself: data frames have names of columns to check.
    states = np.asarray(estimator.predict(X[sequence : sequence + 1])[0])
    return states, None, panel[sequence]


def find_factors(estimator: Any, predicted: NDArray[Any]) -> NDArray[Any] | None:
    """Return the factors of the predicted states, or None if the predictions are factors."""
    if predicted.ndim == 2:
        return None
    factors = getattr(estimator, "factors_", None)
    if factors is None:
        raise ValueError(
            f"kind='factors' needs states that have factors: {type(estimator).__name__} has none "
            f"(no attribute factors_)."
        )
    return factors


def match_states(predicted: NDArray[Any], true: NDArray[Any]) -> dict[int, Any]:
    """Return the true labels of states, matched one to one, for pairs with a common step."""
    states, rows = np.unique(predicted, return_inverse=True)
    labels, columns = np.unique(true, return_inverse=True)
    overlap = np.zeros((len(states), len(labels)), dtype=np.int64)
    np.add.at(overlap, (rows, columns), 1)
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    known = labels.tolist()
    # In the order of the labels.
    pairs = sorted(zip(columns.tolist(), rows.tolist(), strict=True))
    return {int(states[i]): known[k] for k, i in pairs if overlap[i, k]}


def f1_score(predicted: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    """Return the F1 score of factors, which count as on with probability 1/2 or more."""
    on, should = predicted >= 0.5, true >= 0.5
    total = int(on.sum() + should.sum())
    return 2.0 * float(np.sum(on & should)) / total if total else float("nan")
