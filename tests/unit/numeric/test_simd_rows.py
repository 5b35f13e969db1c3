"""Products of some vectors with one matrix, against numpy."""

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from skdp._numeric import _simd_rows as rows
from skdp._numeric._numba import njit_loop
from skdp._numeric._simd_lanes import ROW_VECTORS, ROWS_VECTORS

RNG = np.random.default_rng(0)


@njit_loop
def multiply_rows(left, row, right, result, out, n_rows, n_vectors):
    """The last vectors of the columns."""
    width = right.shape[1]
    rows.row_block(
        left, row, right.shape[0], right, width - n_vectors * rows.VECTOR_DOUBLES, width,
        result, out, n_rows, n_vectors,
    )  # fmt: skip


ROW_CASES = [(1, v) for v in ROW_VECTORS] + [(rows.TOGETHER, v) for v in ROWS_VECTORS]


@pytest.mark.parametrize("n_c", [1, 13])
@pytest.mark.parametrize(("n_rows", "n_vectors"), ROW_CASES)
def test_row_block(n_rows, n_vectors, n_c):
    n_own = n_vectors * rows.VECTOR_DOUBLES
    left, right = RNG.normal(size=(9, n_c)), RNG.normal(size=(n_c, n_own + 8))
    result = RNG.normal(size=(8, n_own + 8))
    expected = result.copy()
    expected[1 : 1 + n_rows, 8:] = left[3 : 3 + n_rows] @ right[:, 8:]
    multiply_rows(left, 3, right, result, 1, n_rows, n_vectors)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)


def test_rows_do_not_depend_on_each_other():
    left, right = RNG.normal(size=(rows.TOGETHER, 13)), RNG.normal(size=(13, 8))
    together, alone = np.empty((2, rows.TOGETHER, 8))
    multiply_rows(left, 0, right, together, 0, rows.TOGETHER, 1)
    for row in range(rows.TOGETHER):
        multiply_rows(left, row, right, alone, row, 1, 1)
    np.testing.assert_array_equal(together, alone)


MATRIX = np.ones((40, 16))


@pytest.mark.parametrize(
    "arguments",
    [
        (MATRIX.astype(np.int64), 0, 8, MATRIX, 0, 8, MATRIX, 0, 1, 1),
        (MATRIX, 0.5, 8, MATRIX, 0, 8, MATRIX, 0, 1, 1),
        (MATRIX, 0, 8, np.ones(8), 0, 8, MATRIX, 0, 1, 1),
        (MATRIX, 0, 8, MATRIX, 0, 8, MATRIX.T, 0, 1, 1),
    ],
)
def test_other_types_are_refused(arguments):
    with pytest.raises(TypingError, match="row_block: argument"):
        rows.row_block._defn(None, *map(numba.typeof, arguments))
