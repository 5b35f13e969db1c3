"""Columns of X that hold categories, and their conversion to codes."""

from __future__ import annotations

from functools import partial
from typing import Any

from skdp.data._coding import with_codes
from skdp.emissions._columns import find_columns
from skdp.emissions._discrete._categorical import CategoricalEmission
from skdp.emissions._independent import IndependentEmissions


def code_categories(
    estimator: Any,
    emission: Any,
    X: Any,
    *,
    reset: bool,
    allow_missing: bool = False,
    reads_types: bool = False,
) -> Any:
    """Return X with codes in the columns of text that an emission treats as categories.
    With `reset` (in ``fit``), set `categories_`; otherwise use its codes, and raise for others.
    """
    if emission == "categorical":
        emission = CategoricalEmission()
    if not isinstance(emission, CategoricalEmission | IndependentEmissions):
        if reset:
            vars(estimator).pop("categories_", None)
        return X
    known = None if reset else vars(estimator).get("categories_")
    of_fit = None if reset else vars(estimator).get("feature_names_in_")
    X, categories = with_codes(
        X,
        partial(_find_columns, emission, of_fit),
        known,
        reset=reset,
        allow_missing=allow_missing,
        reads_types=reads_types,
    )
    if reset:
        vars(estimator).pop("categories_", None)
        if categories is not None:
            estimator.categories_ = categories
    return X


def _find_columns(emission: Any, of_fit: Any, n_columns: int, names: list[str] | None) -> list[int]:
    """Return the columns that an emission treats as categories."""
    if of_fit is not None and names is None:  # columns have the names of the fit, by position
        if len(of_fit) != n_columns:
            raise ValueError(
                f"X has {n_columns} features, but the model is expecting {len(of_fit)} features as "
                "input."
            )
        names = [str(name) for name in of_fit]
    if isinstance(emission, CategoricalEmission):
        return list(range(n_columns))
    found: list[int] = []
    for name, part, columns in emission.emissions:
        if part == "categorical" or isinstance(part, CategoricalEmission):
            where = f"IndependentEmissions: emission {name!r}"
            found += find_columns(columns, n_columns, names, where).tolist()
    return found
