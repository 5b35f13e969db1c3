"""Products of many small matrices side by side, and of some vectors, against numpy."""

import numpy as np
import pytest
from numba.core.errors import TypingError

from skdp._numeric import _simd_lanes as lanes
from skdp._numeric._numba import njit_loop
from skdp._numeric._simd import TOGETHER, VECTOR_DOUBLES, row_block

RNG = np.random.default_rng(0)
LANES = 16


@njit_loop
def mix_rows(matrix, rows, n_terms, result, n_rows, is_added):
    lanes.mix_block(matrix, 3, rows, 2, n_terms, result, 1, n_rows, is_added)


@njit_loop
def multiply(left, right, result, n_a, n_b, n_c):
    """Left (c, a), right (b, c), result (a, b)."""
    lanes.product_block(
        left, 0, 1, n_a, right, 0, n_c, 1, result, 0, n_b, 1, n_a, n_b, n_c, left, 0, 0
    )


@njit_loop
def add_multiple(left, right, result, n_a, n_b, n_c, scale):
    lanes.product_block(
        left, 0, 1, n_a, right, 0, n_c, 1, result, 0, n_b, 1, n_a, n_b, n_c, scale, 1, 1
    )


@njit_loop
def count(rows, n_rows, terms, column, result, n_vectors):
    lanes.count_block(rows, 2, n_rows, terms, column, terms.shape[1], result, 1, n_vectors)


@njit_loop
def multiply_flat(left, right, result, n_a, n_vectors, n_c, is_added):
    """Left (c, a), right (c, i), result (a, i), with strange places."""
    lanes.flat_block(
        left, 3, 1, n_a, right, 5, right.shape[0] // (n_c + 1), result, 2,
        (result.shape[0] - 2) // n_a, n_a, n_vectors, n_c, is_added,
    )  # fmt: skip


@njit_loop
def dot_flat(left, right, result, n_a, n_vectors):
    lanes.dot_block(left, 1, right, 2, (right.shape[0] - 2) // n_a, n_vectors, result, 3, n_a)


@njit_loop
def transpose(rows, result):
    lanes.transpose_block(rows, 1, result, 8, result.shape[1])


@njit_loop
def scale_and_raise(rows, factors, result, tops):
    lanes.scale_rows(rows, 1, 3, factors, 1, result, 2)
    lanes.add_products(rows, 0, rows, 1, 2, result, 0)
    lanes.raise_rows(result, 2, 3, 0.5, tops, 1)


def random(*shape):
    return RNG.random(shape)


def normal(*shape):
    return RNG.normal(size=shape)


@pytest.mark.parametrize("n_rows", lanes.MIX_ROWS)
def test_mix_block(n_rows):
    matrix, rows, result = random(3 + 20 * n_rows), random(30, LANES), random(20, LANES)
    before = result.copy()
    expected = matrix[3:].reshape(20, n_rows).T @ rows[2:22]
    mix_rows(matrix, rows, 20, result, n_rows, 0)
    np.testing.assert_allclose(result[1 : 1 + n_rows], expected, rtol=1e-13)
    mix_rows(matrix, rows, 20, result, n_rows, 1)
    np.testing.assert_allclose(result[1 : 1 + n_rows], 2.0 * expected, rtol=1e-13)
    np.testing.assert_array_equal(result[1 + n_rows :], before[1 + n_rows :])


@pytest.mark.parametrize("n_a", lanes.PRODUCT_ROWS)
@pytest.mark.parametrize("n_b", lanes.PRODUCT_ROWS)
@pytest.mark.parametrize("n_c", [0, 1, 7])
def test_product_block(n_a, n_b, n_c):
    left, right, scale = random(n_c, n_a, LANES), random(n_b, n_c, LANES), random(5, LANES)
    expected = np.einsum("caw,bcw->abw", left, right)
    result = random(n_a, n_b, LANES)
    flat = left.reshape(-1, LANES), right.reshape(-1, LANES), result.reshape(-1, LANES)
    multiply(*flat, n_a, n_b, n_c)
    np.testing.assert_allclose(result, expected, rtol=1e-13)
    add_multiple(*flat, n_a, n_b, n_c, scale)
    expected = expected * (1.0 + scale[1 : 1 + n_a, np.newaxis])
    np.testing.assert_allclose(result, expected, rtol=1e-13)


@pytest.mark.parametrize("n_rows", lanes.COUNT_ROWS)
@pytest.mark.parametrize("n_vectors", range(1, lanes.COUNT_VECTORS + 1))
def test_count_block(n_rows, n_vectors):
    rows, terms, result = random(12, LANES), random(LANES, 40), random(10, 40)
    expected = result.copy()
    columns = slice(8, 8 + 8 * n_vectors)
    expected[1 : 1 + n_rows, columns] += rows[2 : 2 + n_rows] @ terms[:, columns]
    count(rows, n_rows, terms, 8, result, n_vectors)
    np.testing.assert_allclose(result, expected, rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_transpose_block(dtype):
    n_lanes = lanes.ROW_BYTES // np.dtype(dtype).itemsize
    rows = random(20, n_lanes).astype(dtype)
    result = np.zeros((n_lanes, 32), dtype=dtype)
    transpose(rows, result)
    n = n_lanes // 2  # of a vector
    np.testing.assert_array_equal(result[:, 8 : 8 + n], rows[1 : 1 + n].T)
    assert not result[:, 8 + n :].any()


def test_rows():
    """Scale, add products, and raise what is too small; what is no number counts as too small."""
    rows, factors = random(5, LANES), random(2, LANES)
    result, tops = np.zeros((6, LANES)), np.zeros((2, LANES))
    rows[2, 3] = np.nan
    scale_and_raise(rows, factors, result, tops)
    np.testing.assert_allclose(result[:2], rows[:2] * rows[1:3], rtol=1e-13)
    expected = np.fmax(rows[1:4] * factors[1], 0.5)
    np.testing.assert_allclose(result[2:5], expected, rtol=1e-13)
    np.testing.assert_allclose(tops[1], expected.max(axis=0), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_a", lanes.COUNT_ROWS)
@pytest.mark.parametrize("n_vectors", range(1, lanes.COUNT_VECTORS + 1))
@pytest.mark.parametrize("n_c", [0, 1, 7])
def test_flat_block(dtype, n_a, n_vectors, n_c):
    width = n_vectors * (64 // np.dtype(dtype).itemsize)
    stride = width + 6
    left = random(3 + n_a * n_c).astype(dtype)
    right = random((n_c + 1) * stride).astype(dtype)
    result = random(2 + n_a * (width + 3)).astype(dtype)
    before = result.copy()
    product = left[3:].reshape(n_c, n_a).T @ right[5 : 5 + n_c * stride].reshape(n_c, stride)
    product = product[:, :width]
    multiply_flat(left, right, result, n_a, n_vectors, n_c, 0)
    rows = result[2:].reshape(n_a, -1)
    np.testing.assert_allclose(rows[:, :width], product, rtol=1e-5)
    multiply_flat(left, right, result, n_a, n_vectors, n_c, 1)
    np.testing.assert_allclose(rows[:, :width], 2.0 * product, rtol=1e-5)
    np.testing.assert_array_equal(rows[:, width:], before[2:].reshape(n_a, -1)[:, width:])
    np.testing.assert_array_equal(result[:2], before[:2])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_a", lanes.DOT_ROWS)
@pytest.mark.parametrize("n_vectors", [0, 1, 5])
def test_dot_block(dtype, n_a, n_vectors):
    width = n_vectors * (64 // np.dtype(dtype).itemsize)
    left, right = random(1 + width).astype(dtype), random(2 + n_a * (width + 1)).astype(dtype)
    result = random(3 + n_a + 2).astype(dtype)
    before = result.copy()
    dot_flat(left, right, result, n_a, n_vectors)
    expected = right[2:].reshape(n_a, -1)[:, :width] @ left[1:]
    np.testing.assert_allclose(result[3 : 3 + n_a], expected, rtol=1e-5, atol=1e-30)
    np.testing.assert_array_equal(result[:3], before[:3])
    np.testing.assert_array_equal(result[3 + n_a :], before[3 + n_a :])


@njit_loop
def multiply_rows(left, row, right, result, out, n_rows, n_vectors):
    """The last vectors of the columns."""
    width = right.shape[1]
    row_block(
        left, row, right.shape[0], right, width - n_vectors * VECTOR_DOUBLES, width,
        result, out, n_rows, n_vectors,
    )  # fmt: skip


ROW_CASES = [(1, v) for v in lanes.ROW_VECTORS] + [(TOGETHER, v) for v in lanes.ROWS_VECTORS]


@pytest.mark.parametrize("n_c", [1, 13])
@pytest.mark.parametrize(("n_rows", "n_vectors"), ROW_CASES)
def test_row_block(n_rows, n_vectors, n_c):
    n_own = n_vectors * VECTOR_DOUBLES
    left, right = normal(9, n_c), normal(n_c, n_own + 8)
    result = normal(8, n_own + 8)
    expected = result.copy()
    expected[1 : 1 + n_rows, 8:] = left[3 : 3 + n_rows] @ right[:, 8:]
    multiply_rows(left, 3, right, result, 1, n_rows, n_vectors)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)


def test_rows_do_not_depend_on_each_other():
    left, right = normal(TOGETHER, 13), normal(13, 8)
    together, alone = np.empty((2, TOGETHER, 8))
    multiply_rows(left, 0, right, together, 0, TOGETHER, 1)
    for row in range(TOGETHER):
        multiply_rows(left, row, right, alone, row, 1, 1)
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("n_vectors", [4, 8, 16, 32, 64])
def test_block_sizes_fit_the_registers(n_vectors):
    sizes = lanes.BlockSizes.of(n_vectors)
    for rows in (
        sizes.mix_rows, sizes.product_rows, sizes.count_rows, sizes.dot_rows, sizes.row_vectors,
        sizes.rows_vectors,
    ):  # fmt: skip
        assert rows == tuple(sorted(rows, reverse=True))
        assert rows[-1] == 1  # whatever is left can be done
    assert 2 * sizes.mix_rows[0] + 1 < n_vectors  # two vectors a row, and what is multiplied
    assert sizes.product_rows[0] ** 2 + 2 <= n_vectors
    assert sizes.count_rows[0] * sizes.count_vectors + 1 < n_vectors
    assert sizes.dot_rows[0] + 1 < n_vectors
    assert sizes.row_vectors[0] + 1 < n_vectors
    assert TOGETHER * sizes.rows_vectors[0] <= n_vectors


def test_a_kernel_with_other_arguments_is_not_compiled():
    vector = np.ones(400)
    with pytest.raises(TypingError, match=r"dot_block: argument 3 must be array\(float64"):
        dot_flat(vector, vector.astype(np.float32), vector, 1, 1)
