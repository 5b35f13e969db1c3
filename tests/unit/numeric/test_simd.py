"""The vector instructions against plain arithmetic."""

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from skdp._numeric import _simd, _simd_lanes
from skdp._numeric._random import next_double
from skdp._numeric._simd import (
    LANES,
    aligned_zeros,
    assume_nonnegative,
    draw_product,
    evaluate_polynomial,
    padded,
    prefetch,
    total_product,
)

N_TOPICS = [1, 3, 16, 17, 50, 500]
every_size = pytest.mark.parametrize("n_topics", N_TOPICS)


def stream_that_gives(u):
    """Return a stream whose next double is `u`, a multiple of 2**-53 in [0, 1)."""
    bits = int(u * 2**53) << 11
    turned_back = (bits >> 23) | (bits << 41) & (2**64 - 1)
    return np.array([0, 1, 1, turned_back], dtype=np.uint64)


def test_stream_that_gives():
    for u in (0.0, 2.0**-53, 0.25, 0.7, 1.0 - 2.0**-53):
        assert next_double(stream_that_gives(u)) == u


class Weights:
    """Weights ``(row + offset) * factor``, and draws from them."""

    def __init__(self, row, factor, offset=0.0):
        n = padded(len(factor))
        self.matrix = np.full((3, n), 7.0, dtype=np.float32)
        self.matrix[1] = 0.0
        self.matrix[1, : len(row)] = row
        self.factor = np.zeros(n, dtype=np.float32)
        self.factor[: len(factor)] = factor
        self.offset = np.float32(offset)
        self.sums = np.empty((1, LANES + n), dtype=np.float32)
        weights = (self.matrix[1].astype(float) + float(self.offset)) * self.factor
        self.probabilities = weights / weights.sum()

    def draw(self, rng):
        return draw_product(self.matrix, 1, self.offset, self.factor, self.sums, rng)

    def draw_at(self, uniforms):
        return np.array([self.draw(stream_that_gives(u)) for u in uniforms])


def random_weights(n_topics, seed=0, sparsity=0.0):
    rng = np.random.default_rng(seed)
    row = rng.integers(0, 50, n_topics) * (rng.random(n_topics) >= 0.5)
    factor = rng.gamma(0.5, size=n_topics) * (rng.random(n_topics) >= sparsity)
    factor[rng.integers(n_topics)] = 1.0
    return Weights(row, factor, offset=0.05)


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30], ids=str)
@every_size
def test_uniforms_are_cut_into_intervals_of_the_right_length(n_topics, scale):
    """Of equidistant uniforms, n p fall into an interval of length p, give or take one."""
    weights = random_weights(n_topics, seed=1)
    weights.factor *= np.float32(scale)
    n = 20_000
    drawn = weights.draw_at((np.arange(n) + 0.5) / n)
    counts = np.bincount(drawn, minlength=len(weights.probabilities))
    assert np.max(np.abs(counts - n * weights.probabilities)) <= 1.0 + n * 1e-6


@every_size
def test_zero_weights_are_never_drawn(n_topics):
    """Not at the ends of the unit interval either, where rounding leads beyond all weights."""
    ends = [0.0, 2.0**-53, 2.0**-30, 0.5, 1.0 - 2.0**-24, 1.0 - 2.0**-26, 1.0 - 2.0**-53]
    for k in {0, 1, n_topics // 2, n_topics - 2, n_topics - 1} & set(range(n_topics)):
        by_factor = np.zeros(n_topics)
        by_factor[k] = 0.3
        assert np.all(Weights(np.ones(n_topics), by_factor).draw_at(ends) == k)
        assert np.all(Weights(by_factor, np.ones(n_topics)).draw_at(ends) == k)
    for seed in range(20):
        weights = random_weights(n_topics, seed, sparsity=0.9)
        assert np.all(weights.probabilities[weights.draw_at(ends)] > 0.0)


@every_size
def test_tiny_weights_beside_a_large_one(n_topics):
    """A weight below single precision may be lost, but takes nothing from the others."""
    factor = np.full(n_topics, 1e-20)
    factor[n_topics // 2] = 1.0
    weights = Weights(np.ones(n_topics), factor)
    assert np.all(weights.draw_at((np.arange(1000) + 0.5) / 1000) == n_topics // 2)


def test_inputs_are_left_alone():
    weights = random_weights(50)
    matrix, factor = weights.matrix.copy(), weights.factor.copy()
    rng = np.array([1, 2, 3, 4], dtype=np.uint64)
    reference = rng.copy()
    weights.draw(rng)
    next_double(reference)
    np.testing.assert_array_equal(rng, reference)  # one draw, one double
    np.testing.assert_array_equal(weights.matrix, matrix)
    np.testing.assert_array_equal(weights.factor, factor)


@numba.njit
def total_of(matrix, row, offset, factor):
    return total_product(matrix, assume_nonnegative(row), offset, factor)


@every_size
def test_total(n_topics):
    weights = random_weights(n_topics)
    total = total_of(weights.matrix, 1, weights.offset, weights.factor)
    expected = np.sum((weights.matrix[1].astype(float) + weights.offset) * weights.factor)
    assert total == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("shape", [0, 5, (3, 7), (0, 16)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_aligned_zeros(shape, dtype):
    array = aligned_zeros(shape, dtype)
    assert array.ctypes.data % 64 == 0 or array.size == 0
    np.testing.assert_array_equal(array, np.zeros(shape, dtype), strict=True)
    assert array.flags.c_contiguous
    assert array.flags.writeable


@numba.njit
def prefetch_all(matrix):
    for row in range(matrix.shape[0]):
        prefetch(matrix, row)


@pytest.mark.parametrize("shape", [(1, 16), (3, 32), (1000, 512), (5, 1), (0, 16), (4, 0)])
def test_prefetch_has_no_effect(shape):
    matrix = np.random.default_rng(0).random(shape).astype(np.float32)
    before = matrix.copy()
    assert prefetch_all(matrix) is None
    np.testing.assert_array_equal(matrix, before)


def test_evaluate_polynomial():
    @numba.njit
    def evaluate(values, row, x, y):
        return evaluate_polynomial(values, row, x, y)

    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 2))
    for row in (0, 3, 14):
        coefficients = values[row : row + 36].reshape(9, 8)
        for x, y in rng.uniform(-1.0, 1.0, (5, 2)):
            expected = np.polynomial.polynomial.polyval2d(x, y, coefficients)
            assert evaluate(values, row, x, y) == pytest.approx(expected, rel=1e-13, abs=1e-13)
    for entry in range(72):
        unfilled = values.copy()
        unfilled.reshape(-1)[entry] = np.nan
        assert np.isnan(evaluate(unfilled, 0, 0.0, 0.0))


ROWS, FLOATS = np.ones((3, 64), dtype=np.float32), np.ones(64, dtype=np.float32)
IDS, ONE = np.zeros(64, dtype=np.int32), np.float32(1.0)
MATRIX, VECTOR = np.ones((40, 16)), np.ones(400)
CALLS = {
    "sum_product": (ROWS, 0, ONE, FLOATS, ROWS, 0),
    "total_product": (ROWS, 0, ONE, FLOATS),
    "sum_listed": (IDS, FLOATS, 0, 16, FLOATS, ROWS, 0),
    "find_sum": (ROWS, 0, 16, ONE),
    "locate": (IDS, 0, 16, 3),
    "evaluate_polynomial": (np.ones((3, 72)), 0, 0.5, 0.5),
    "assume_nonnegative": (3,),
    "prefetch": (ROWS, 0),
    "prefetch_entry": (FLOATS, 0),
    "double_of_bits": (3,),
    "bits_of_double": (0.5,),
    "mix_block": (VECTOR, 0, MATRIX, 0, 1, MATRIX, 0, 1, 0),
    "product_block": (MATRIX, 0, 1, 1, MATRIX, 0, 1, 1, MATRIX, 0, 1, 1, 1, 1, 1, MATRIX, 0, 0),
    "count_block": (MATRIX, 0, 1, MATRIX, 0, 8, MATRIX, 0, 1),
    "flat_block": (VECTOR, 0, 1, 1, VECTOR, 0, 1, VECTOR, 0, 1, 1, 1, 1, 0),
    "dot_block": (VECTOR, 0, VECTOR, 0, 1, 1, VECTOR, 0, 1),
    "transpose_block": (MATRIX, 0, MATRIX, 0, 8),
    "scale_rows": (MATRIX, 0, 1, MATRIX, 0, MATRIX, 0),
    "add_products": (MATRIX, 0, MATRIX, 0, 1, MATRIX, 0),
    "raise_rows": (MATRIX, 0, 1, 0.5, MATRIX, 0),
    "row_block": (MATRIX, 0, 8, MATRIX, 0, 8, MATRIX, 0, 1, 1),
}


def typed(name, arguments):
    """Let numba's typing look at a call."""
    kinds = [numba.typeof(argument) for argument in arguments]
    return {**vars(_simd_lanes), **vars(_simd)}[name]._defn(None, *kinds)


@pytest.mark.parametrize("name", CALLS)
def test_other_arguments_are_refused(name):
    """They would be misread: a float64 array as if it held twice as many float32."""
    arguments = CALLS[name]
    typed(name, arguments)
    for i, argument in enumerate(arguments):
        wrong = ["x", (1, 2)]
        if isinstance(argument, np.ndarray):
            wrong += [argument[::2], argument[np.newaxis], 1.0]
            if not name.startswith("prefetch"):
                wrong += [argument.astype(np.int16), argument.astype(np.complex64)]
            if argument is MATRIX or argument is VECTOR:
                wrong += [argument.astype(np.int64)]
                wrong += [argument.astype(np.float32)] if i else []
        else:
            wrong += [VECTOR, *([0.5] if isinstance(argument, int) else [])]
            wrong += [0.5, 1] if isinstance(argument, np.float32) else []
        for value in wrong:
            with pytest.raises(TypingError, match=rf"{name}: argument {i + 1} must be"):
                typed(name, (*arguments[:i], value, *arguments[i + 1 :]))
