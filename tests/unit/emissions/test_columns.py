"""Columns as users name them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from skdp.emissions._columns import check_shared_out, find_columns

NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (2, [2]),
        (np.int64(1), [1]),
        (-1, [3]),
        ("b", [1]),
        (slice(1, 3), [1, 2]),
        (slice(None), [0, 1, 2, 3]),
        (slice(None, None, 2), [0, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (slice("b", "d"), [1, 2, 3]),
        (slice("b", None), [1, 2, 3]),
        ([3, 0], [3, 0]),
        ((0, -1), [0, 3]),
        (np.array([1, 2]), [1, 2]),
        (range(2), [0, 1]),
        ([True, False, False, True], [0, 3]),
        (["d", "a"], [3, 0]),
        (pd.Index(["c"]), [2]),
        (np.array(["c", "a"]), [2, 0]),
    ],
)
def test_kinds(columns, expected):
    found = find_columns(columns, 4, NAMES, "here")
    assert found.dtype == np.int64
    assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        (4, NAMES, "here: there is no column 4, X has 4 columns"),
        ([0, -5], NAMES, "there is no column -5"),
        ("e", NAMES, "there is no column 'e', X has a, b, c, d"),
        (["a", "e"], NAMES, "there is no column 'e'"),
        (slice("a", "e"), NAMES, "there is no column 'e'"),
        ("a", None, "column 'a' is given by its name, but X has none: fit to data frames"),
        ([], NAMES, "here has no columns"),
        (slice(3, 1), NAMES, "here has no columns"),
        ([False] * 4, NAMES, "here has no columns"),
        ([True, False], NAMES, "a mask must have an entry for each of the 4 columns of X, got 2"),
        ([1, 1], NAMES, "names a column twice"),
        ([1, -3], NAMES, "names a column twice"),
    ],
)
def test_columns_that_are_not_there(columns, names, message):
    with pytest.raises(ValueError, match=message):
        find_columns(columns, 4, names, "here")


@pytest.mark.parametrize("columns", [1.5, True, None, [0.5, 1.0], [[0, 1]], [0, None], len])
def test_what_is_no_column(columns):
    with pytest.raises(TypeError, match="here: columns must be"):
        find_columns(columns, 4, NAMES, "here")


@pytest.mark.parametrize(
    ("parts", "names", "message"),
    [
        ({"x": [0, 1], "y": [2, 1, 3]}, None, "column 1 is given to both 'x' and 'y'"),
        ({"x": [0, 1], "y": [2, 1, 3]}, NAMES, r"column 1 \('b'\) is given to both"),
        ({"x": [0, 1], "y": [2]}, None, "column 3 of X belongs to no emission: add one"),
        ({"y": [2]}, NAMES, r"columns 0 \('a'\), 1 \('b'\), 3 \('d'\) of X belong to no emis"),
    ],
)
def test_columns_shared_out(parts, names, message):
    parts = {name: np.array(columns) for name, columns in parts.items()}
    with pytest.raises(ValueError, match=f"here: {message}"):
        check_shared_out(parts, 4, names, "here")
