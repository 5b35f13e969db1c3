"""SIMD code for many problems of the same shape that are solved side by side.

Entry w of every row of an array belongs to problem w, and a row has ``ROW_BYTES`` bytes, which
determines the number of simultaneous problems. Multiplying the matrices of all problems then needs
neither padding nor sums across the entries of a vector, however small the matrices, and a matrix
that all problems share is read entry by entry. Arrays are two-dimensional, (rows, problems),
contiguous, of float64 or float32; positions and strides count rows. Blocks of the result stay in
registers, where LLVM would not keep them on its own.

A single problem, if its matrices are large enough, has its columns side by side instead:
`flat_block` and `dot_block`, in flat arrays, and `row_block` of `_simd`.
"""

# mypy: ignore-errors

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from skdp._numeric._numba import check_arguments, count_register_bits, njit_forceinline

ROW_BYTES = 128
"""Bytes of a row: 16 problems of float64, 32 of float32."""

VECTOR_BYTES = 64


class BlockSizes(NamedTuple):
    """Sizes of the results that blocks keep in registers, descending, each with code of its own.
    Results do not depend on them, because every entry is the same sum in the same order.
    """

    mix_rows: tuple[int, ...]  # rows of a result of `mix_block`
    product_rows: tuple[int, ...]  # rows, and columns, of a result of `product_block`
    count_rows: tuple[int, ...]  # rows of a result of `count_block` and `flat_block`
    count_vectors: int  # largest number of vectors of such a row
    dot_rows: tuple[int, ...]  # rows of a matrix that `dot_block` multiplies at a time
    row_vectors: tuple[int, ...]  # vectors in a row of a result of `row_block` with one row
    rows_vectors: tuple[int, ...]  # the same with `_simd.TOGETHER` rows

    @classmethod
    def of(cls, n_vectors: int) -> BlockSizes:
        """Return sizes for registers that hold `n_vectors` vectors of `VECTOR_BYTES` bytes."""
        if n_vectors >= 32:  # AVX-512
            return cls(
                (12, 10, 8, 4, 2, 1), (4, 2, 1), (8, 4, 2, 1), 3, (8, 4, 2, 1), (8, 4, 2, 1),
                (4, 2, 1),
            )  # fmt: skip
        if n_vectors >= 8:  # AVX, NEON
            return cls((3, 2, 1), (2, 1), (2, 1), 2, (4, 2, 1), (4, 2, 1), (1,))
        return cls((1,), (1,), (1,), 2, (2, 1), (2, 1), (1,))  # SSE


(
    MIX_ROWS, PRODUCT_ROWS, COUNT_ROWS, COUNT_VECTORS, DOT_ROWS, ROW_VECTORS, ROWS_VECTORS,
) = BlockSizes.of(count_register_bits() // (8 * VECTOR_BYTES))  # fmt: skip

int32, int64 = ir.IntType(32), ir.IntType(64)


class Code:
    """Building blocks for the code of all intrinsics that `make_intrinsic` makes."""

    def __init__(self, context, builder, signature, arguments, dtype):
        self.context, self.builder = context, builder
        self.signature, self.arguments = signature, arguments
        self.item = context.get_value_type(dtype)
        self.item_bytes = dtype.bitwidth // 8
        self.lanes = VECTOR_BYTES // self.item_bytes
        self.vector = ir.VectorType(self.item, self.lanes)
        self.row_lanes = ROW_BYTES // self.item_bytes
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)
        kind = "f64" if self.item_bytes == 8 else "f32"
        self.fma = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(self.vector, [self.vector] * 3),
            f"llvm.fmuladd.v{self.lanes}{kind}",
        )

    def data(self, position):
        """Return the pointer to the entries of an array among the arguments."""
        array = self.context.make_array(self.signature.args[position])
        return array(self.context, self.builder, self.arguments[position]).data

    def integer(self, position):
        return self.context.cast(
            self.builder, self.arguments[position], self.signature.args[position], types.int64
        )

    def scalar(self, position):
        """Return a vector whose entries all equal a number among the arguments."""
        wanted = types.float64 if self.item_bytes == 8 else types.float32
        value = self.context.cast(
            self.builder, self.arguments[position], self.signature.args[position], wanted
        )
        return self.broadcast(value)

    def add(self, a, b):
        return self.builder.add(a, b, flags=["nsw"])

    def times(self, a, b):
        b = ir.Constant(int64, b) if isinstance(b, int) else b
        return self.builder.mul(a, b, flags=["nsw"])

    def place(self, data, row, half=0):
        """Return the pointer to a vector of a row: its first or second half."""
        half = ir.Constant(int64, half) if isinstance(half, int) else half
        begin = self.times(row, self.row_lanes)
        return self.vector_at(data, self.add(begin, self.times(half, self.lanes)))

    def vector_at(self, data, entry):
        return self.builder.bitcast(self.builder.gep(data, [entry]), self.vector.as_pointer())

    def load(self, pointer):
        return self.builder.load(pointer, align=self.item_bytes)

    def store(self, value, pointer):
        self.builder.store(value, pointer, align=self.item_bytes)

    def broadcast(self, scalar):
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, ir.Constant(int32, 0))
        lanes = ir.Constant(ir.VectorType(int32, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, undefined, lanes)

    def multiply_add(self, a, b, c):
        return self.builder.call(self.fma, [a, b, c])

    def loop(self, n):
        """Return a context of a loop over 0, ..., n - 1 that provides the index."""
        return cgutils.for_range(self.builder, n, intp=int64)

    def accumulators(self, n):
        return [cgutils.alloca_once(self.builder, self.vector) for _ in range(n)]

    def cases(self, value, numbers):
        """Yield each of some numbers to write its code; only the code for `value` runs."""
        function = self.builder.function
        end = function.append_basic_block("end")
        switch = self.builder.switch(value, end)
        for number in numbers:
            block = function.append_basic_block(f"case{number}")
            switch.add_case(ir.Constant(int64, number), block)
            self.builder.position_at_end(block)
            yield number
            self.builder.branch(end)
        self.builder.position_at_end(end)


def _write_mix(code):
    """Write the code of `mix_block`."""
    builder = code.builder
    matrix, rows, result = code.data(0), code.data(2), code.data(5)
    entry, first, n_terms = code.integer(1), code.integer(3), code.integer(4)
    out, n_rows, is_added = code.integer(6), code.integer(7), code.integer(8)
    added = builder.icmp_signed("!=", is_added, ir.Constant(int64, 0))
    for m in code.cases(n_rows, MIX_ROWS):
        sums = code.accumulators(2 * m)
        places = [
            code.place(result, code.add(out, ir.Constant(int64, t)), half)
            for t in range(m)
            for half in (0, 1)
        ]
        with builder.if_else(added) as (then, otherwise):
            with then:
                for total, place in zip(sums, places, strict=True):
                    builder.store(code.load(place), total)
            with otherwise:
                for total in sums:
                    builder.store(code.zero, total)
        begin = builder.gep(matrix, [entry])
        with code.loop(n_terms) as loop:
            row = code.add(first, loop.index)
            terms = [code.load(code.place(rows, row, half)) for half in (0, 1)]
            step = code.times(loop.index, m)
            for t in range(m):
                weight = builder.gep(begin, [code.add(step, ir.Constant(int64, t))])
                weight = code.broadcast(builder.load(weight))
                for half in (0, 1):
                    total = sums[2 * t + half]
                    value = code.multiply_add(weight, terms[half], builder.load(total))
                    builder.store(value, total)
        for total, place in zip(sums, places, strict=True):
            code.store(builder.load(total), place)


def _write_product(code):
    """Write the code of `product_block`."""
    builder = code.builder
    left, right, result = code.data(0), code.data(4), code.data(8)
    left0, left_a, left_c = (code.integer(i) for i in (1, 2, 3))
    right0, right_b, right_c = (code.integer(i) for i in (5, 6, 7))
    out0, out_a, out_b = (code.integer(i) for i in (9, 10, 11))
    n_a, n_b, n_c = (code.integer(i) for i in (12, 13, 14))
    scale, scale0, is_added = code.data(15), code.integer(16), code.integer(17)
    added = builder.icmp_signed("!=", is_added, ir.Constant(int64, 0))
    choice = code.add(code.times(n_a, 8), n_b)
    by_choice = {8 * a + b: (a, b) for a in PRODUCT_ROWS for b in PRODUCT_ROWS}

    def row(begin, stride, number):
        return code.add(begin, code.times(stride, number))

    for number in code.cases(choice, by_choice):
        a_size, b_size = by_choice[number]
        with code.loop(ir.Constant(int64, 2)) as halves:
            half = halves.index
            sums = code.accumulators(a_size * b_size)
            for total in sums:
                builder.store(code.zero, total)
            lefts = [code.place(left, row(left0, left_a, a), half) for a in range(a_size)]
            rights = [code.place(right, row(right0, right_b, b), half) for b in range(b_size)]
            left_step, right_step = code.times(left_c, 2), code.times(right_c, 2)
            with code.loop(n_c) as loop:
                at = code.times(left_step, loop.index)
                xs = [code.load(builder.gep(place, [at])) for place in lefts]
                at = code.times(right_step, loop.index)
                ys = [code.load(builder.gep(place, [at])) for place in rights]
                for a in range(a_size):
                    for b in range(b_size):
                        total = sums[a * b_size + b]
                        value = code.multiply_add(xs[a], ys[b], builder.load(total))
                        builder.store(value, total)
            with builder.if_else(added) as (then, otherwise):
                with then:
                    for a in range(a_size):
                        at = code.add(scale0, ir.Constant(int64, a))
                        factor = code.load(code.place(scale, at, half))
                        for b in range(b_size):
                            place = code.place(result, row(row(out0, out_a, a), out_b, b), half)
                            value = builder.load(sums[a * b_size + b])
                            value = code.multiply_add(value, factor, code.load(place))
                            code.store(value, place)
                with otherwise:
                    for a in range(a_size):
                        for b in range(b_size):
                            place = code.place(result, row(row(out0, out_a, a), out_b, b), half)
                            code.store(builder.load(sums[a * b_size + b]), place)


def _write_count(code):
    """Write the code of `count_block`."""
    builder = code.builder
    rows, terms, result = code.data(0), code.data(3), code.data(6)
    first, n_rows = code.integer(1), code.integer(2)
    column, width = code.integer(4), code.integer(5)
    out, n_vectors = code.integer(7), code.integer(8)
    sizes = {
        m * (COUNT_VECTORS + 1) + v: (m, v) for m in COUNT_ROWS for v in range(1, COUNT_VECTORS + 1)
    }
    choice = code.add(code.times(n_rows, COUNT_VECTORS + 1), n_vectors)
    for number in code.cases(choice, sizes):
        m, v = sizes[number]
        sums = code.accumulators(m * v)
        places = []
        for t in range(m):
            begin = code.times(code.add(out, ir.Constant(int64, t)), width)
            begin = code.add(begin, column)
            for i in range(v):
                at = code.add(begin, ir.Constant(int64, i * code.lanes))
                places.append(code.vector_at(result, at))
        for total, place in zip(sums, places, strict=True):
            builder.store(code.load(place), total)
        with code.loop(ir.Constant(int64, code.row_lanes)) as loop:
            begin = code.add(code.times(loop.index, width), column)
            values = [
                code.load(
                    code.vector_at(terms, code.add(begin, ir.Constant(int64, i * code.lanes)))
                )
                for i in range(v)
            ]
            for t in range(m):
                at = code.times(code.add(first, ir.Constant(int64, t)), code.row_lanes)
                weight = builder.load(builder.gep(rows, [code.add(at, loop.index)]))
                weight = code.broadcast(weight)
                for i in range(v):
                    total = sums[t * v + i]
                    value = code.multiply_add(weight, values[i], builder.load(total))
                    builder.store(value, total)
        for total, place in zip(sums, places, strict=True):
            code.store(builder.load(total), place)


def _write_flat(code):
    """Write the code of `flat_block`."""
    builder = code.builder
    left, right, result = code.data(0), code.data(4), code.data(7)
    left0, left_a, left_c = (code.integer(i) for i in (1, 2, 3))
    right0, right_c, out0, out_a = (code.integer(i) for i in (5, 6, 8, 9))
    n_a, n_vectors, n_c, is_added = (code.integer(i) for i in (10, 11, 12, 13))
    added = builder.icmp_signed("!=", is_added, ir.Constant(int64, 0))
    sizes = {
        m * (COUNT_VECTORS + 1) + v: (m, v) for m in COUNT_ROWS for v in range(1, COUNT_VECTORS + 1)
    }
    choice = code.add(code.times(n_a, COUNT_VECTORS + 1), n_vectors)

    def vectors(data, begin, v):
        entries = (code.add(begin, ir.Constant(int64, i * code.lanes)) for i in range(v))
        return [code.vector_at(data, entry) for entry in entries]

    for number in code.cases(choice, sizes):
        m, v = sizes[number]
        sums = code.accumulators(m * v)
        rows = [code.add(out0, code.times(out_a, t)) for t in range(m)]
        places = [place for row in rows for place in vectors(result, row, v)]
        with builder.if_else(added) as (then, otherwise):
            with then:
                for total, place in zip(sums, places, strict=True):
                    builder.store(code.load(place), total)
            with otherwise:
                for total in sums:
                    builder.store(code.zero, total)
        begins = [code.add(left0, code.times(left_a, t)) for t in range(m)]
        with code.loop(n_c) as loop:
            at = code.times(left_c, loop.index)
            values = vectors(right, code.add(right0, code.times(right_c, loop.index)), v)
            values = [code.load(place) for place in values]
            for t in range(m):
                weight = builder.load(builder.gep(left, [code.add(begins[t], at)]))
                weight = code.broadcast(weight)
                for i in range(v):
                    total = sums[t * v + i]
                    value = code.multiply_add(weight, values[i], builder.load(total))
                    builder.store(value, total)
        for total, place in zip(sums, places, strict=True):
            code.store(builder.load(total), place)


def _write_dot(code):
    """Write the code of `dot_block`."""
    builder = code.builder
    left, right, result = code.data(0), code.data(2), code.data(6)
    left0, right0, right_a, n_vectors = (code.integer(i) for i in (1, 3, 4, 5))
    out, n_a = code.integer(7), code.integer(8)
    for m in code.cases(n_a, DOT_ROWS):
        sums = code.accumulators(m)
        for total in sums:
            builder.store(code.zero, total)
        begins = [code.add(right0, code.times(right_a, t)) for t in range(m)]
        with code.loop(n_vectors) as loop:
            at = code.times(loop.index, code.lanes)
            x = code.load(code.vector_at(left, code.add(left0, at)))
            for total, begin in zip(sums, begins, strict=True):
                y = code.load(code.vector_at(right, code.add(begin, at)))
                builder.store(code.multiply_add(x, y, builder.load(total)), total)
        for t, total in enumerate(sums):
            value, n = builder.load(total), code.lanes
            while n > 1:  # add halves until one entry is left
                n //= 2
                picks = ir.VectorType(int32, n)
                low = builder.shuffle_vector(value, value, ir.Constant(picks, list(range(n))))
                high = ir.Constant(picks, list(range(n, 2 * n)))
                value = builder.fadd(low, builder.shuffle_vector(value, value, high))
            entry = code.add(out, ir.Constant(int64, t))
            value = builder.extract_element(value, ir.Constant(int32, 0))
            builder.store(value, builder.gep(result, [entry]))


def _write_transpose(code):
    """Write the code of `transpose_block`, which exchanges halves, then quarters, and so on."""
    builder, n = code.builder, code.lanes
    rows, result = code.data(0), code.data(2)
    first, column, width = code.integer(1), code.integer(3), code.integer(4)
    for half in (0, 1):
        values = [
            code.load(code.place(rows, code.add(first, ir.Constant(int64, i)), half))
            for i in range(n)
        ]
        step = n // 2
        while step:
            low = [i if i & step == 0 else i - step + n for i in range(n)]
            high = [i + step if i & step == 0 else i + n for i in range(n)]
            low, high = (ir.Constant(ir.VectorType(int32, n), lanes) for lanes in (low, high))
            for i in range(n):
                if i & step == 0:
                    first_row, second_row = values[i], values[i + step]
                    values[i] = builder.shuffle_vector(first_row, second_row, low)
                    values[i + step] = builder.shuffle_vector(first_row, second_row, high)
            step //= 2
        for i, value in enumerate(values):
            begin = code.times(ir.Constant(int64, half * n + i), width)
            code.store(value, code.vector_at(result, code.add(begin, column)))


def _write_scale(code):
    """Write the code of `scale_rows`."""
    builder = code.builder
    source, factors, result = code.data(0), code.data(3), code.data(5)
    first, n_rows, factor, out = (code.integer(i) for i in (1, 2, 4, 6))
    by = [code.load(code.place(factors, factor, half)) for half in (0, 1)]
    with code.loop(n_rows) as loop:
        for half in (0, 1):
            value = code.load(code.place(source, code.add(first, loop.index), half))
            place = code.place(result, code.add(out, loop.index), half)
            code.store(builder.fmul(value, by[half]), place)


def _write_add_products(code):
    """Write the code of `add_products`."""
    left, right, result = code.data(0), code.data(2), code.data(5)
    left0, right0, n_rows, out = (code.integer(i) for i in (1, 3, 4, 6))
    with code.loop(n_rows) as loop:
        for half in (0, 1):
            x = code.load(code.place(left, code.add(left0, loop.index), half))
            y = code.load(code.place(right, code.add(right0, loop.index), half))
            place = code.place(result, code.add(out, loop.index), half)
            code.store(code.multiply_add(x, y, code.load(place)), place)


def _write_largest(code):
    """Write the code of `raise_rows`."""
    builder = code.builder
    rows, result = code.data(0), code.data(4)
    first, n_rows, out = (code.integer(i) for i in (1, 2, 5))
    floor = code.scalar(3)
    sums = code.accumulators(2)
    for total in sums:
        builder.store(floor, total)

    def larger(a, b):  # b if a is NaN
        return builder.select(builder.fcmp_ordered(">", a, b), a, b)

    with code.loop(n_rows) as loop:
        for half in (0, 1):
            place = code.place(rows, code.add(first, loop.index), half)
            value = larger(code.load(place), floor)
            code.store(value, place)
            builder.store(larger(value, builder.load(sums[half])), sums[half])
    for half in (0, 1):
        code.store(builder.load(sums[half]), code.place(result, out, half))


def make_intrinsic(name, write, arguments, kinds):
    """Return the signature and the code of an intrinsic; `kinds` are keys of `by_letter`."""
    dtype = getattr(arguments[0], "dtype", None)
    if dtype not in (types.float64, types.float32):
        dtype = types.float64  # the check below refuses any other type
    by_letter = {
        "m": types.Array(dtype, 2, "C"),
        "v": types.Array(dtype, 1, "C"),
        "x": types.Float,
        "i": types.Integer,
    }
    check_arguments(name, arguments, [by_letter[letter] for letter in kinds])

    def codegen(context, builder, signature, values):
        write(Code(context, builder, signature, values, dtype))
        return context.get_dummy_value()

    return types.void(*arguments), codegen


def make_size(rows):
    """Return a function for the size of the next block, given the number of rows left."""

    @njit_forceinline
    def size(n_left):
        found = 1
        for possible in rows:
            if found == 1 and possible <= n_left:
                found = possible
        return found

    return size


mix_size, product_size = make_size(MIX_ROWS), make_size(PRODUCT_ROWS)
count_size, dot_size = make_size(COUNT_ROWS), make_size(DOT_ROWS)


@intrinsic
def mix_block(typing_context, matrix, entry, rows, first, n_terms, result, out, n_rows, is_added):
    """Mix rows: result[out + t] = sum_b matrix[entry + b n_rows + t] rows[first + b].
    `matrix` is flat; n_rows is in MIX_ROWS. With `is_added` the sum is added to `result`.
    """
    arguments = matrix, entry, rows, first, n_terms, result, out, n_rows, is_added
    return make_intrinsic("mix_block", _write_mix, arguments, "vimiimiii")


@intrinsic
def product_block(
    typing_context, left, left0, left_a, left_c, right, right0, right_b, right_c,
    result, out0, out_a, out_b, n_a, n_b, n_c, scale, scale0, is_added,
):  # fmt: skip
    """Multiply: result[out0 + a out_a + b out_b] = sum_c left[...] right[...], problem by problem.
    Rows are left0 + a left_a + c left_c and right0 + b right_b + c right_c; n_a and n_b are in
    PRODUCT_ROWS. `is_added`: to `result`, with row a multiplied by ``scale[scale0 + a]``.
    """
    arguments = (
        left, left0, left_a, left_c, right, right0, right_b, right_c,
        result, out0, out_a, out_b, n_a, n_b, n_c, scale, scale0, is_added,
    )  # fmt: skip
    return make_intrinsic("product_block", _write_product, arguments, "miiimiiimiiiiiimii")


@intrinsic
def count_block(typing_context, rows, first, n_rows, terms, column, width, result, out, n_vectors):
    """Sum over problems: result[out + t, i] += sum_w rows[first + t, w] terms[w, i].
    n_rows is in COUNT_ROWS; i is in at most COUNT_VECTORS vectors from `column` of `width` columns.
    """
    arguments = rows, first, n_rows, terms, column, width, result, out, n_vectors
    return make_intrinsic("count_block", _write_count, arguments, "miimiimii")


@intrinsic
def flat_block(
    typing_context, left, left0, left_a, left_c, right, right0, right_c,
    result, out0, out_a, n_a, n_vectors, n_c, is_added,
):  # fmt: skip
    """Multiply two matrices of one problem in flat arrays, whose positions count entries.
    result[out0 + a out_a + i] = sum_c left[left0 + a left_a + c left_c] right[right0 + c right_c +
    i]; n_a is in COUNT_ROWS, and i in at most COUNT_VECTORS vectors.
    """
    arguments = (
        left, left0, left_a, left_c, right, right0, right_c,
        result, out0, out_a, n_a, n_vectors, n_c, is_added,
    )  # fmt: skip
    return make_intrinsic("flat_block", _write_flat, arguments, "viiiviiviiiiii")


@intrinsic
def dot_block(typing_context, left, left0, right, right0, right_a, n_vectors, result, out, n_a):
    """Write result[out + a] = sum_i left[left0 + i] right[right0 + a right_a + i] in flat arrays.
    n_a is in DOT_ROWS; i is in `n_vectors` vectors.
    """
    arguments = left, left0, right, right0, right_a, n_vectors, result, out, n_a
    return make_intrinsic("dot_block", _write_dot, arguments, "viviiivii")


@intrinsic
def transpose_block(typing_context, rows, first, result, column, width):
    """Write result[w, column + i] = rows[first + i, w] for a vector of i."""
    arguments = rows, first, result, column, width
    return make_intrinsic("transpose_block", _write_transpose, arguments, "mimii")


@intrinsic
def scale_rows(typing_context, source, first, n_rows, factors, factor, result, out):
    """Write result[out + i] = source[first + i] factors[factor] for n_rows values of i."""
    arguments = source, first, n_rows, factors, factor, result, out
    return make_intrinsic("scale_rows", _write_scale, arguments, "miimimi")


@intrinsic
def add_products(typing_context, left, left0, right, right0, n_rows, result, out):
    """Add left[left0 + i] right[right0 + i] to result[out + i] for n_rows values of i."""
    arguments = left, left0, right, right0, n_rows, result, out
    return make_intrinsic("add_products", _write_add_products, arguments, "mimiimi")


@intrinsic
def raise_rows(typing_context, rows, first, n_rows, floor, result, out):
    """Raise entries below `floor` to it; write the maximum over n_rows rows to result[out]."""
    arguments = rows, first, n_rows, floor, result, out
    return make_intrinsic("raise_rows", _write_largest, arguments, "miixmi")
