"""Vector instructions that LLVM does not find on its own.

A categorical draw over n weights needs their running sum, and a running sum is a chain of
dependent additions that no compiler may reorder without fast-math. But a draw may visit the
categories in any order, so let the sum run in `LANES` independent lanes, category i continuing
the sum of category i - LANES, and visit the categories lane by lane. Written as LLVM vectors this
is one multiplication and two additions a block of LANES categories, and no branch that depends on
the draw, on any machine: LLVM splits the vectors into whatever registers the processor has.
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from skdp._numba import njit_step
from skdp._random import next_double

LANES = 16
"""Lanes of the running sum: weights are padded with zeros to a multiple of it."""

_float = ir.FloatType()
_int16, _int32, _int64 = (ir.IntType(bits) for bits in (16, 32, 64))
_vector = ir.VectorType(_float, LANES)
_zero = ir.Constant(_vector, [0.0] * LANES)


def padded(n: int) -> int:
    """Return `n` rounded up to a whole number of blocks of `LANES`."""
    return -(-n // LANES) * LANES


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


@intrinsic
def _draw_product(typing_context, matrix, row, offset, factor, sums, uniform):
    """Return the category where the running sum of the weights passes uniform x total."""
    signature = types.int64(matrix, row, offset, factor, sums, uniform)

    def codegen(context, builder, signature, arguments):
        factor_array = _array(context, builder, signature, arguments, 3)
        factor_data = factor_array.data
        (n,) = cgutils.unpack_tuple(builder, factor_array.shape, 1)
        sums_data = _array(context, builder, signature, arguments, 4).data
        row = context.cast(builder, arguments[1], signature.args[1], types.int64)
        row_data = _array(context, builder, signature, arguments, 0).data
        row_data = builder.gep(row_data, [builder.mul(row, n)])
        shift = _broadcast(builder, arguments[2])
        start, step = ir.Constant(_int64, 0), ir.Constant(_int64, LANES)

        running = cgutils.alloca_once(builder, _vector)
        builder.store(_zero, running)
        with cgutils.for_range_slice(builder, start, n, step, _int64) as (i, _):
            weight = builder.fadd(builder.load(_block(builder, row_data, i), align=4), shift)
            weight = builder.fmul(weight, builder.load(_block(builder, factor_data, i), align=4))
            weight = builder.fadd(builder.load(running), weight)
            builder.store(weight, running)
            builder.store(weight, _block(builder, sums_data, i), align=4)

        # Prefix sum over the lanes, by doubling.
        prefix = builder.load(running)
        for distance in (1, 2, 4, 8):
            moved = [LANES] * distance + list(range(LANES - distance))
            prefix = builder.fadd(prefix, _shuffle(builder, prefix, _zero, moved))
        before = _shuffle(builder, prefix, _zero, [LANES, *range(LANES - 1)])
        total = builder.extract_element(prefix, ir.Constant(_int32, LANES - 1))
        target = _broadcast(builder, builder.fmul(arguments[5], total))

        # Categories whose end, lane by lane, is not beyond the target: they come before the drawn.
        n_before = cgutils.alloca_once(builder, _int64)
        n_lanes = cgutils.alloca_once(builder, _int64)
        builder.store(ir.Constant(_int64, 0), n_before)
        builder.store(ir.Constant(_int64, 0), n_lanes)
        population = builder.module.declare_intrinsic("llvm.ctpop", [_int16])
        with cgutils.for_range_slice(builder, start, n, step, _int64) as (i, _):
            ends = builder.fadd(before, builder.load(_block(builder, sums_data, i), align=4))
            mask = builder.bitcast(builder.fcmp_ordered("<=", ends, target), _int16)
            count = builder.zext(builder.call(population, [mask]), _int64)
            builder.store(builder.add(builder.load(n_before), count), n_before)
            builder.store(count, n_lanes)  # of the last block: lanes left behind as a whole

        def at_most(value, bound):
            return builder.select(builder.icmp_signed("<", value, bound), value, bound)

        lane = at_most(builder.load(n_lanes), ir.Constant(_int64, LANES - 1))
        n_blocks = builder.udiv(n, step)
        block = builder.sub(builder.load(n_before), builder.mul(lane, n_blocks))
        block = at_most(block, builder.sub(n_blocks, ir.Constant(_int64, 1)))
        return builder.add(builder.mul(block, step), lane)

    return signature, codegen


@njit_step
def draw_product(matrix, row, offset, factor, sums, rng):
    """Draw i with probability proportional to ``(matrix[row, i] + offset) * factor[i]``.

    Exact to single precision: every probability is right to about 1e-7 of the total.

    Parameters
    ----------
    matrix : (m, n) float32, contiguous, n a multiple of LANES
    row : int
    offset : float32
    factor : (n,) float32, contiguous, zero in the padding; some weight must be positive
    sums : (n,) float32, scratch
    rng : (4,) uint64

    Returns
    -------
    i : int
    """
    i = _draw_product(matrix, row, offset, factor, sums, np.float32(next_double(rng)))
    # Rounding may lead to a category of weight zero next to the drawn one: step back.
    for _ in range(factor.shape[0]):
        if (matrix[row, i] + offset) * factor[i] > 0.0:
            break
        i = i - 1 if i > 0 else factor.shape[0] - 1
    return i


@intrinsic
def prefetch(typing_context, matrix, row):
    """Ask for the cache lines of ``matrix[row]`` (2-D, contiguous) before they are needed."""
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
