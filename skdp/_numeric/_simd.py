"""SIMD code that LLVM does not generate on its own: categorical draws and products of matrices.

A categorical draw over n weights needs their running sum, and a running sum is a chain of
dependent additions that no compiler may reorder without fast-math. But a draw may visit the
categories in any order, so the sum runs in `LANES` independent lanes, in which category i continues
the sum of category i - LANES, and the draw visits the categories lane by lane. Written as LLVM
vectors this takes one multiplication and two additions per block of LANES categories, and no branch
that depends on the draw, on any machine: LLVM splits the vectors into the processor's registers.
"""

# mypy: ignore-errors

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from skdp._numeric._numba import check_arguments, njit_forceinline
from skdp._numeric._random import next_double
from skdp._numeric._simd_lanes import (
    ROW_VECTORS,
    ROWS_VECTORS,
    VECTOR_BYTES,
    int64,
    make_intrinsic,
    make_size,
)

LANES = 16
"""Number of lanes of the running sum: weights are padded with zeros to a multiple of it."""

_LINE = 64  # bytes of a cache line

_float = ir.FloatType()
_int16, _int32, _int64 = (ir.IntType(bits) for bits in (16, 32, 64))
_vector = ir.VectorType(_float, LANES)
_zero = ir.Constant(_vector, [0.0] * LANES)

# The required types of the arguments of intrinsics, which read memory as laid out by these types.
_rows, _floats, _ids = (
    types.Array(dtype, n_dims, "C")
    for dtype, n_dims in ((types.float32, 2), (types.float32, 1), (types.int32, 1))
)
_index = types.Integer


def padded(n: int) -> int:
    """Return `n` rounded up to a multiple of `LANES`."""
    return -(-n // LANES) * LANES


def aligned_zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """Return an array of zeros that begins at a cache line, so that no block lies across two."""
    sizes = shape if isinstance(shape, tuple) else (shape,)
    n_bytes = int(math.prod(sizes)) * np.dtype(dtype).itemsize
    room = np.zeros(n_bytes + _LINE, dtype=np.uint8)
    begin = -room.__array_interface__["data"][0] % _LINE  # faster than `ctypes`
    return room[begin : begin + n_bytes].view(dtype).reshape(shape)


def _of_any(array, n_dims):
    """Return the type of contiguous arrays with `n_dims` dimensions and an array's dtype."""
    return types.Array(getattr(array, "dtype", types.float64), n_dims, "C")


def _array(context, builder, signature, arguments, position):
    return context.make_array(signature.args[position])(context, builder, arguments[position])


def _shuffle(builder, first, second, lanes):
    picks = ir.Constant(ir.VectorType(_int32, len(lanes)), list(lanes))
    return builder.shuffle_vector(first, second, picks)


def _broadcast(builder, scalar):
    undefined = ir.Constant(_vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(_int32, 0))
    return _shuffle(builder, first, undefined, [0] * LANES)


def _block(builder, data, i):
    """Return the pointer to the block of LANES floats that starts at entry i."""
    return builder.bitcast(builder.gep(data, [i]), _vector.as_pointer())


def _row_pointer(context, builder, signature, arguments, position):
    """Return the pointer to the first entry of a row of the array before argument `position`."""
    array = _array(context, builder, signature, arguments, position - 1)
    (_, width) = cgutils.unpack_tuple(builder, array.shape, 2)
    row = context.cast(builder, arguments[position], signature.args[position], types.int64)
    return builder.gep(array.data, [builder.mul(row, width)])


def _integer(context, builder, signature, arguments, position):
    return context.cast(builder, arguments[position], signature.args[position], types.int64)


def _total(builder, vector):
    """Return the sum of the lanes, by adding halves until one lane is left."""
    n_lanes = LANES
    while n_lanes > 1:
        n_lanes //= 2
        low = _shuffle(builder, vector, vector, range(n_lanes))
        high = _shuffle(builder, vector, vector, range(n_lanes, 2 * n_lanes))
        vector = builder.fadd(low, high)
    return builder.extract_element(vector, ir.Constant(_int32, 0))


def _sum_blocks(builder, n, weigh, out):
    """Store the running sums of blocks ``weigh(i)`` after the lanes' starts; return the total."""
    start, step = ir.Constant(_int64, 0), ir.Constant(_int64, LANES)
    ends = builder.gep(out, [step])
    running = cgutils.alloca_once(builder, _vector)
    builder.store(_zero, running)
    with cgutils.for_range_slice(builder, start, n, step, _int64) as (i, _):
        sums = builder.fadd(builder.load(running), weigh(i))
        builder.store(sums, running)
        builder.store(sums, _block(builder, ends, i), align=4)
    prefix = builder.load(running)
    for distance in (1, 2, 4, 8):
        moved = [LANES] * distance + list(range(LANES - distance))
        prefix = builder.fadd(prefix, _shuffle(builder, prefix, _zero, moved))
    before = _shuffle(builder, prefix, _zero, [LANES, *range(LANES - 1)])
    builder.store(before, _block(builder, out, start), align=4)
    return builder.extract_element(prefix, ir.Constant(_int32, LANES - 1))


def _products(context, builder, signature, arguments):
    """Return n and a function ``weigh(i)`` for the weights ``(matrix[row] + offset) * factor``.
    The first arguments of the intrinsic are ``matrix, row, offset, factor``.
    """
    factor = _array(context, builder, signature, arguments, 3)
    (n,) = cgutils.unpack_tuple(builder, factor.shape, 1)
    row_data = _row_pointer(context, builder, signature, arguments, 1)
    shift = _broadcast(builder, arguments[2])

    def weigh(i):
        weight = builder.fadd(builder.load(_block(builder, row_data, i), align=4), shift)
        return builder.fmul(weight, builder.load(_block(builder, factor.data, i), align=4))

    return n, weigh


@intrinsic
def sum_product(typing_context, matrix, row, offset, factor, sums, sums_row):
    """Sum ``(matrix[row, i] + offset) * factor[i]`` into ``sums[sums_row]``; return the total.
    ``sums[sums_row, :LANES]`` are the sums before each lane, followed by the sums within lanes.
    """
    check_arguments(
        "sum_product",
        (matrix, row, offset, factor, sums, sums_row),
        (_rows, _index, types.float32, _floats, _rows, _index),
    )
    signature = types.float32(matrix, row, offset, factor, sums, sums_row)

    def codegen(context, builder, signature, arguments):
        n, weigh = _products(context, builder, signature, arguments)
        out = _row_pointer(context, builder, signature, arguments, 5)
        return _sum_blocks(builder, n, weigh, out)

    return signature, codegen


@intrinsic
def total_product(typing_context, matrix, row, offset, factor):
    """Return only the total of `sum_product`."""
    check_arguments(
        "total_product", (matrix, row, offset, factor), (_rows, _index, types.float32, _floats)
    )
    signature = types.float32(matrix, row, offset, factor)

    def codegen(context, builder, signature, arguments):
        n, weigh = _products(context, builder, signature, arguments)
        start, step = ir.Constant(_int64, 0), ir.Constant(_int64, LANES)
        running = cgutils.alloca_once(builder, _vector)
        builder.store(_zero, running)
        with cgutils.for_range_slice(builder, start, n, step, _int64) as (i, _):
            builder.store(builder.fadd(builder.load(running), weigh(i)), running)
        return _total(builder, builder.load(running))

    return signature, codegen


@intrinsic
def sum_listed(typing_context, ids, values, begin, n, factor, sums, sums_row):
    """Sum ``values[i] * factor[ids[i]]`` as `sum_product` does, for n (padded) i from `begin`."""
    check_arguments(
        "sum_listed",
        (ids, values, begin, n, factor, sums, sums_row),
        (_ids, _floats, _index, _index, _floats, _rows, _index),
    )
    signature = types.float32(ids, values, begin, n, factor, sums, sums_row)

    def codegen(context, builder, signature, arguments):
        begin = _integer(context, builder, signature, arguments, 2)
        ids, values = (
            builder.gep(_array(context, builder, signature, arguments, position).data, [begin])
            for position in (0, 1)
        )
        factor = _array(context, builder, signature, arguments, 4).data
        out = _row_pointer(context, builder, signature, arguments, 6)

        def weigh(i):
            # Load entries one by one, because the gather instruction is slower.
            picked = ir.Constant(_vector, ir.Undefined)
            for lane in range(LANES):
                entry = builder.gep(ids, [builder.add(i, ir.Constant(_int64, lane))])
                k = builder.sext(builder.load(entry), _int64)
                entry = builder.load(builder.gep(factor, [k]))
                picked = builder.insert_element(picked, entry, ir.Constant(_int32, lane))
            return builder.fmul(picked, builder.load(_block(builder, values, i), align=4))

        n = _integer(context, builder, signature, arguments, 3)
        return _sum_blocks(builder, n, weigh, out)

    return signature, codegen


@intrinsic
def find_sum(typing_context, sums, sums_row, n, target):
    """Return the entry at which the `n` running sums of ``sums[sums_row]`` pass `target`.
    For a target below 0 it is the first entry, beyond the total the last. LANES divides `n`.
    """
    check_arguments("find_sum", (sums, sums_row, n, target), (_rows, _index, _index, types.float32))
    signature = types.int64(sums, sums_row, n, target)

    def codegen(context, builder, signature, arguments):
        start, step = ir.Constant(_int64, 0), ir.Constant(_int64, LANES)
        n = _integer(context, builder, signature, arguments, 2)
        starts = _row_pointer(context, builder, signature, arguments, 1)
        ends = builder.gep(starts, [step])
        rest = _broadcast(builder, arguments[3])
        rest = builder.fsub(rest, builder.load(_block(builder, starts, start), align=4))

        # Count the entries before the wanted one: those whose sums do not exceed the target.
        n_before = cgutils.alloca_once(builder, _int64)
        n_lanes = cgutils.alloca_once(builder, _int64)
        builder.store(start, n_before)
        builder.store(start, n_lanes)
        population = builder.module.declare_intrinsic("llvm.ctpop", [_int16])
        with cgutils.for_range_slice(builder, start, n, step, _int64) as (i, _):
            end = builder.load(_block(builder, ends, i), align=4)
            mask = builder.bitcast(builder.fcmp_ordered("<=", end, rest), _int16)
            count = builder.zext(builder.call(population, [mask]), _int64)
            builder.store(builder.add(builder.load(n_before), count), n_before)
            builder.store(count, n_lanes)  # in the last block: the number of lanes passed entirely

        def at_most(value, bound):
            return builder.select(builder.icmp_signed("<", value, bound), value, bound)

        lane = at_most(builder.load(n_lanes), ir.Constant(_int64, LANES - 1))
        n_blocks = builder.udiv(n, step)
        block = builder.sub(builder.load(n_before), builder.mul(lane, n_blocks))
        block = at_most(block, builder.sub(n_blocks, ir.Constant(_int64, 1)))
        return builder.add(builder.mul(block, step), lane)

    return signature, codegen


@intrinsic
def locate(typing_context, ids, begin, n, k):
    """Return i with ``ids[i] == k`` and begin <= i < begin + n, or -1; n is a multiple of LANES."""
    check_arguments("locate", (ids, begin, n, k), (_ids, _index, _index, _index))
    signature = types.int64(ids, begin, n, k)

    def codegen(context, builder, signature, arguments):
        data = _array(context, builder, signature, arguments, 0).data
        begin, n, k = (_integer(context, builder, signature, arguments, i) for i in (1, 2, 3))
        integers = ir.VectorType(_int32, LANES)
        undefined = ir.Constant(integers, ir.Undefined)
        wanted = builder.insert_element(undefined, builder.trunc(k, _int32), ir.Constant(_int32, 0))
        wanted = _shuffle(builder, wanted, undefined, [0] * LANES)
        found = cgutils.alloca_once(builder, _int64)
        builder.store(ir.Constant(_int64, -1), found)
        bit = ir.IntType(1)
        trailing_zeros = builder.module.declare_intrinsic(
            "llvm.cttz", [_int16], ir.FunctionType(_int16, [_int16, bit])
        )
        end, step = builder.add(begin, n), ir.Constant(_int64, LANES)
        with cgutils.for_range_slice(builder, begin, end, step, _int64) as (i, _):
            block = builder.bitcast(builder.gep(data, [i]), integers.as_pointer())
            same = builder.icmp_signed("==", builder.load(block, align=4), wanted)
            mask = builder.bitcast(same, _int16)
            lane = builder.call(trailing_zeros, [mask, ir.Constant(bit, 0)])
            hit = builder.icmp_unsigned("!=", mask, ir.Constant(_int16, 0))
            at = builder.add(i, builder.zext(lane, _int64))
            builder.store(builder.select(hit, at, builder.load(found)), found)
        return builder.load(found)

    return signature, codegen


@intrinsic
def evaluate_polynomial(typing_context, values, row, x, y):
    """Return the sum of c_ij x^i y^j, i <= 8, j <= 7; c_00, c_01, ... start at ``values[row]``.
    `values` is a contiguous matrix of doubles. A coefficient that is NaN makes the sum NaN.
    """
    check_arguments(
        "evaluate_polynomial",
        (values, row, x, y),
        (types.Array(types.float64, 2, "C"), _index, types.Number, types.Number),
    )
    signature = types.float64(values, row, types.float64, types.float64)

    def codegen(context, builder, signature, arguments):
        data = _row_pointer(context, builder, signature, arguments, 1)
        x, y = arguments[2:]
        double = ir.DoubleType()
        lanes = ir.VectorType(double, 8)
        undefined = ir.Constant(lanes, ir.Undefined)

        def everywhere(scalar, n):
            first = builder.insert_element(undefined, scalar, ir.Constant(_int32, 0))
            return _shuffle(builder, first, undefined, [0] * n)

        def row_of(i):
            pointer = builder.gep(data, [ir.Constant(_int64, 8 * i)])
            return builder.load(builder.bitcast(pointer, lanes.as_pointer()), align=8)

        powers = [x]  # 1, 2, 4, 8
        for _ in range(3):
            powers.append(builder.fmul(powers[-1], powers[-1]))
        sums = [row_of(i) for i in range(8)]
        for power in powers[:3]:  # Estrin's scheme: short chains of operations
            power = everywhere(power, 8)
            sums = [
                builder.fadd(low, builder.fmul(high, power))
                for low, high in zip(sums[::2], sums[1::2], strict=True)
            ]
        vector = builder.fadd(sums[0], builder.fmul(row_of(8), everywhere(powers[3], 8)))
        n_lanes, power = 8, y
        while n_lanes > 1:
            n_lanes //= 2
            low = _shuffle(builder, vector, vector, range(0, 2 * n_lanes, 2))
            high = _shuffle(builder, vector, vector, range(1, 2 * n_lanes, 2))
            vector = builder.fadd(low, builder.fmul(high, everywhere(power, n_lanes)))
            power = builder.fmul(power, power)
        return builder.extract_element(vector, ir.Constant(_int32, 0))

    return signature, codegen


@intrinsic
def assume_nonnegative(typing_context, i):
    """Return the integer `i` >= 0 as an index, without the test for indices from the end."""
    check_arguments("assume_nonnegative", (i,), (_index,))
    signature = types.int64(i)

    def codegen(context, builder, signature, arguments):
        i = _integer(context, builder, signature, arguments, 0)
        builder.assume(builder.icmp_signed(">=", i, ir.Constant(_int64, 0)))
        return i

    return signature, codegen


@njit_forceinline
def draw_product(matrix, row, offset, factor, sums, rng):
    """Draw i with probability proportional to ``(matrix[row, i] + offset) * factor[i]``.
    Exact to float32. LANES divides n, with zeros in `factor`; `sums`, (1, LANES + n), is scratch.
    """
    total = sum_product(matrix, row, offset, factor, sums, 0)
    target = np.float32(next_double(rng)) * total
    i = find_sum(sums, 0, factor.shape[0], target)
    # Rounding may lead to a category of weight zero next to the right one, so step back.
    for _ in range(factor.shape[0]):
        if (matrix[row, i] + offset) * factor[i] > 0.0:
            break
        i = i - 1 if i > 0 else factor.shape[0] - 1
    return assume_nonnegative(i)


@intrinsic
def prefetch(typing_context, matrix, row):
    """Prefetch the cache lines of ``matrix[row]`` (2-D, contiguous)."""
    check_arguments("prefetch", (matrix, row), (_of_any(matrix, 2), _index))
    signature = types.void(matrix, row)

    def codegen(context, builder, signature, arguments):
        array = _array(context, builder, signature, arguments, 0)
        (_, n_columns) = cgutils.unpack_tuple(builder, array.shape, 2)
        n_bytes = builder.mul(n_columns, array.itemsize)
        byte = ir.IntType(8).as_pointer()
        position = context.cast(builder, arguments[1], signature.args[1], types.int64)
        start = builder.gep(builder.bitcast(array.data, byte), [builder.mul(position, n_bytes)])
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte] + [_int32] * 3)
        )
        hints = [ir.Constant(_int32, hint) for hint in (0, 3, 1)]  # to read, keep, data
        line = ir.Constant(_int64, 64)
        with cgutils.for_range_slice(builder, ir.Constant(_int64, 0), n_bytes, line, _int64) as (
            i,
            _,
        ):
            builder.call(function, [builder.gep(start, [i]), *hints])
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def prefetch_entry(typing_context, vector, i):
    """Prefetch the cache line of ``vector[i]``."""
    check_arguments("prefetch_entry", (vector, i), (_of_any(vector, 1), _index))
    signature = types.void(vector, i)

    def codegen(context, builder, signature, arguments):
        data = _array(context, builder, signature, arguments, 0).data
        entry = builder.gep(data, [_integer(context, builder, signature, arguments, 1)])
        byte = ir.IntType(8).as_pointer()
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte] + [_int32] * 3)
        )
        hints = [ir.Constant(_int32, hint) for hint in (0, 3, 1)]  # to read, keep, data
        builder.call(function, [builder.bitcast(entry, byte), *hints])
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def double_of_bits(typing_context, bits):
    """Return the float with the same bits as a 64-bit integer."""
    check_arguments("double_of_bits", (bits,), (_index,))

    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), codegen


@intrinsic
def bits_of_double(typing_context, x):
    """Return the 64-bit integer with the same bits as a float."""
    check_arguments("bits_of_double", (x,), (types.Float,))

    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), codegen


# Products of vectors with a matrix whose columns are side by side.


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
