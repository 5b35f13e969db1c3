"""SIMD code for products of vectors with a matrix whose columns are side by side."""

# mypy: ignore-errors

from __future__ import annotations

from llvmlite import ir
from numba.extending import intrinsic

from skdp._numeric._simd_lanes import (
    ROW_VECTORS,
    ROWS_VECTORS,
    VECTOR_BYTES,
    int64,
    make_intrinsic,
    make_size,
)

TOGETHER = 4
"""Number of rows that `row_block` multiplies at a time, if more than one."""

VECTOR_DOUBLES = VECTOR_BYTES // 8
"""Number of float64 entries in a vector."""

row_size, rows_size = make_size(ROW_VECTORS), make_size(ROWS_VECTORS)


def _write_row(code):
    """Write the code of `row_block`."""
    builder = code.builder
    left, right, result = code.data(0), code.data(3), code.data(6)
    row, n_c, column, width = (code.integer(i) for i in (1, 2, 4, 5))
    out, n_rows, n_vectors = (code.integer(i) for i in (7, 8, 9))
    sizes = {16 + v: (1, v) for v in ROW_VECTORS}
    sizes.update({16 * TOGETHER + v: (TOGETHER, v) for v in ROWS_VECTORS})
    choice = code.add(code.times(n_rows, 16), n_vectors)

    def vectors(data, begin, v):
        entries = (code.add(begin, ir.Constant(int64, i * code.lanes)) for i in range(v))
        return [code.vector_at(data, entry) for entry in entries]

    for number in code.cases(choice, sizes):
        m, v = sizes[number]
        sums = code.accumulators(m * v)
        for total in sums:
            builder.store(code.zero, total)
        begins = [code.times(code.add(row, ir.Constant(int64, t)), n_c) for t in range(m)]
        with code.loop(n_c) as loop:
            begin = code.add(code.times(loop.index, width), column)
            values = [code.load(place) for place in vectors(right, begin, v)]
            for t in range(m):
                weight = builder.load(builder.gep(left, [code.add(begins[t], loop.index)]))
                weight = code.broadcast(weight)
                for i in range(v):
                    total = sums[t * v + i]
                    value = code.multiply_add(weight, values[i], builder.load(total))
                    builder.store(value, total)
        for t in range(m):
            begin = code.times(code.add(out, ir.Constant(int64, t)), width)
            for i, place in enumerate(vectors(result, code.add(begin, column), v)):
                code.store(builder.load(sums[t * v + i]), place)


@intrinsic
def row_block(
    typing_context, left, row, n_c, right, column, width, result, out, n_rows, n_vectors
):  # fmt: skip
    """Multiply rows with a matrix: result[out + t, i] = sum_c left[row + t, c] right[c, i].
    n_rows is 1 or `TOGETHER`, `n_vectors` (of i from `column`) in ROW_VECTORS or ROWS_VECTORS.
    """
    # `width` is a multiple of the vector length. The order of summation never depends on n_rows.
    arguments = left, row, n_c, right, column, width, result, out, n_rows, n_vectors
    return make_intrinsic("row_block", _write_row, arguments, "miimiimiii")
