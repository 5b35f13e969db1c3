"""Conversion of tables of objects to numbers, with errors for other and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import assert_all_finite

from skdp.data._columns import columns_of, complex_error, is_frame, names_of, to_numbers
from skdp.data._sequence_panel import SequencePanel

FILL_IN = (
    "takes no missing values: leave out the rows or columns that have them, or fill them in first, "
    "for instance by sklearn.impute.SimpleImputer. Missing values are for "
    "skdp.mixture.IBPLatentFeatures, skdp.sequence.FactorialHMM, and skdp.sequence.HDPHMMLT with "
    "any of its emissions (of RegressionEmission, only the targets)."
)
LEAVE_OUT = "takes no missing values: a word that was not observed is left out."
"""Advice on NaN in tables of values, and in counts or word ids."""


def with_numbers(X: Any, name: str = "X") -> Any:
    """Return X, or a part of it, with objects converted to numbers, and missing values to NaN."""
    if is_frame(X):
        return _with_number_columns(X, name)
    if isinstance(X, list | tuple | int):  # a large int becomes an array of objects
        try:
            X = np.asarray(X)
        except ValueError:
            kinds = ", ".join(dict.fromkeys(type(part).__name__ for part in X))
            raise ValueError(
                f"{name} must be an array, or a list of rows of equal length: a list of {kinds} is "
                "neither."
            ) from None
    if isinstance(X, np.ndarray):
        _check_no_dates(X.dtype, name)
        if X.dtype.kind == "c":  # scikit-learn's message shows the whole array
            raise complex_error(name, X.dtype)
    return to_numbers(X, name) if isinstance(X, np.ndarray) and X.dtype == object else X


def _with_number_columns(frame: Any, name: str) -> Any:
    """Return a data frame whose columns hold numbers, or raise an error that names a column."""
    is_pandas = hasattr(frame, "iloc")
    changed = {}
    for d, (label, values) in enumerate(zip(names_of(frame), columns_of(frame), strict=True)):
        _check_no_dates(
            values.dtype, f"{name}, column {label!r},", ", make them the index, or leave them out"
        )
        if values.dtype.kind == "c":
            raise complex_error(f"{name}, column {label!r},", values.dtype)
        if values.dtype.kind in "biuf":
            continue
        try:
            changed[d] = to_numbers(values, f"{name}, column {label!r},")
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{error} Leave it out, make it the index (dates), or encode it first. Mixtures "
                "and HDPHMMLT read it as categories with a CategoricalEmission."
            ) from None
    if not changed or not is_pandas:  # scikit-learn converts other data frames
        return frame
    frame = frame.copy()
    for d, values in changed.items():
        frame.isetitem(d, values)
    return frame


def _check_no_dates(dtype: Any, where: str, cure: str = "") -> None:
    if getattr(dtype, "kind", "") in ("M", "m"):
        raise ValueError(
            f"{where} must hold numbers, got dates or times ({dtype}): turn them into numbers "
            f"first{cure}."
        )


def check_finite_array(estimator: Any, values: Any, cure: str) -> None:
    """Raise ValueError for NaN, with the advice `cure`, and for infinity, as scikit-learn does."""
    flat = values.data if issparse(values) else values
    if flat.dtype.kind == "f" and np.isnan(flat).any():
        raise ValueError(f"Input X contains NaN. {type(estimator).__name__} {cure}")
    assert_all_finite(flat, estimator_name=type(estimator).__name__, input_name="X")


def check_finite(panel: SequencePanel, *, allow_nan: bool, cure: str = "") -> None:
    wrong = np.isinf(panel.values) if allow_nan else ~np.isfinite(panel.values)
    rows = wrong.any(axis=1)
    if rows.any():
        first = int(np.argmax(rows))
        kind = "infinity" if np.isinf(panel.values[first]).any() else "NaN"
        place = panel._locate((panel.ptr,), first)
        raise ValueError(f"Input X contains {kind}: {place}.{cure if kind == 'NaN' else ''}")
