"""Columns of observations, possibly in parts: selection, sums, outliers, constants, moments."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from sklearn.base import BaseEstimator

from skdp._checks import LARGEST_SQUARED, check_scale, shorten
from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp._sklearn_compat import EstimatorMixin, Interval, StrOptions, validate_parameters
from skdp.data._validation import SparseRows
from skdp.emissions._common import Stream
from skdp.emissions._common._marginals import StudentMarginals
from skdp.emissions._common._protocol import read_array
from skdp.emissions._kernels import _gaussian as kernels

# Selections of columns, and checks that each column of X belongs to one part.


def find_columns(columns: Any, n_columns: int, names: list[str] | None, where: str) -> Places:
    """Return the indices of selected columns, or raise an error that begins with `where`."""
    # Selections are those of scikit-learn's ColumnTransformer: a slice of names includes its end.
    if isinstance(columns, slice):
        ends: list[Any] = [columns.start, columns.stop]
        ends = [None if end is None else _place(end, names, where) for end in ends]
        if isinstance(columns.stop, str):
            ends[1] += 1
        found = np.arange(n_columns)[ends[0] : ends[1] : columns.step]
    elif isinstance(columns, str | Integral) and not isinstance(columns, bool):
        found = np.array([_place(columns, names, where)], dtype=object)  # of any length
    else:
        found = _find_listed(columns, n_columns, names, where)
    if len(found) == 0:
        raise ValueError(f"{where} has no columns.")
    if found.min() < -n_columns or found.max() >= n_columns:
        wrong = found.max() if found.max() >= n_columns else found.min()
        raise ValueError(
            f"{where}: there is no column {shorten(wrong)}, X has {n_columns} columns."
        )
    found = (found % n_columns).astype(np.int64)
    if len(np.unique(found)) < len(found):
        raise ValueError(f"{where} names a column twice: {shorten(columns)}.")
    return found


def _find_listed(columns: Any, n_columns: int, names: list[str] | None, where: str) -> Any:
    array = np.asarray(None if callable(columns) else columns)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "biuUOT"):
        raise TypeError(
            f"{where}: columns must be an int, a name, a slice, or a list of ints, names or bools; "
            f"got {shorten(columns)}."
        )
    if array.dtype.kind == "b":
        if len(array) != n_columns:
            raise ValueError(
                f"{where}: a mask must have an entry for each of the {n_columns} columns of X, got "
                f"{len(array)}."
            )
        return np.flatnonzero(array)
    return np.array([_place(column, names, where) for column in array.tolist()], dtype=object)


def _place(column: Any, names: list[str] | None, where: str) -> int:
    """Return the index of a column."""
    if not isinstance(column, str):
        if isinstance(column, Integral) and not isinstance(column, bool):
            return int(column)
        raise TypeError(f"{where}: columns must be ints, names or bools, got {shorten(column)}.")
    if names is None:
        raise ValueError(
            f"{where}: column {shorten(column)} is given by its name, but X has none: fit to data "
            "frames, or give the numbers of columns."
        )
    if column not in names:
        raise ValueError(
            f"{where}: there is no column {shorten(column)}, X has {', '.join(names)}."
        )
    return names.index(column)


def check_shared_out(
    parts: dict[str, Places], n_columns: int, names: list[str] | None, where: str
) -> None:
    """Raise a ValueError unless each column belongs to one of the parts."""

    def call(column: int) -> str:
        return f"{column}" if names is None else f"{column} ({names[column]!r})"

    owners: dict[int, str] = {}
    for name, columns in parts.items():
        for column in columns.tolist():
            if column in owners:
                raise ValueError(
                    f"{where}: column {call(column)} is given to both {owners[column]!r} and "
                    f"{name!r}."
                )
            owners[column] = name
    rest = [call(column) for column in range(n_columns) if column not in owners]
    if rest:
        raise ValueError(
            f"{where}: {'columns' if len(rest) > 1 else 'column'} {', '.join(rest)} of X belong"
            f"{'' if len(rest) > 1 else 's'} to no emission: add one, or leave them out of X."
        )


# Observations in one or several parts, and emissions that accept both.


class Observations(Protocol):
    """Observations in one or several parts."""

    @property
    def n_features(self) -> int:
        """Number D of columns."""

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the elementwise sum over parts of tuples ``f(values, *args)``."""


class ObservedSequences(Observations, Protocol):
    """Observations with the offsets of sequences."""

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        """Return the elementwise sum over parts of tuples ``f(values, ptr, *args)``."""


class InMemoryRows:
    """Observations in one part, perhaps with the offsets of sequences."""

    def __init__(self, values: Floats, ptr: Any = None):
        self.values, self.ptr = values, ptr

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        return f(self.values, *args)

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        return self.sum(f, self.ptr, *args)


class DerivedRows:
    """Rows that ``make(values, ptr, *args)`` derives from observations, part by part."""

    def __init__(
        self, data: ObservedSequences, n_features: int, make: Callable[..., Floats], *args: Any
    ):
        self.n_features = n_features
        self._data, self._make = data, (make, args)

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        return self._data.sum_sequences(_apply_to_derived, *self._make, f, args)

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        return self._data.sum_sequences(_apply_to_derived, *self._make, f, args, True)


def _apply_to_derived(
    values: Floats, ptr: Places, make: Any, of: Any, f: Any, args: Any, has_ptr: bool = False
) -> Any:
    rows = make(values, ptr, *of)
    return f(rows, ptr, *args) if has_ptr else f(rows, *args)


class MappedRows:
    """Observations, possibly in parts, of which ``change`` makes rows, each from its own."""

    def __init__(self, data: Any, n_features: int, change: Callable[[Floats], Floats]):
        self.n_features = n_features
        self._data, self._change = data, change

    def sum(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        return self._data.sum(_apply_to_changed, self._change, f, args)

    def sum_sequences(self, f: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
        return self._data.sum_sequences(_apply_to_changed, self._change, f, args)


def _apply_to_changed(values: Floats, *rest: Any) -> Any:
    *ptr, change, f, args = rest
    return f(change(values), *ptr, *args)


class SampledEmission(EstimatorMixin, BaseEstimator):
    """Base class of emissions that do not depend on sequences."""

    def make_sampler(self, values: Floats, n_states: int) -> Any:
        """Return the sampler of this emission's parameters for these observations.

        Parameters
        ----------
        values : (N, D) array
            The observations, from which some priors are computed.
        n_states : int
            J.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not match the observations.
        """
        validate_parameters(self)
        self._check_values(values)
        return self._make_sampler_of(InMemoryRows(values), n_states)

    def _check_values(self, values: Floats) -> None:
        """Raise a ValueError for impossible observations."""

    def _make_sampler_of(self, data: Any, n_states: int) -> Any:
        """Return the sampler; parameters are valid."""
        raise NotImplementedError


class PartedEmission(SampledEmission):
    """Base class of emissions that also accept observations in parts."""

    def make_sampler_of(self, data: Observations, n_states: int) -> Any:
        """Return the same sampler as `make_sampler`, for observations that may be in parts.

        Parameters
        ----------
        data : object
            Object with ``n_features`` and ``sum(f, *args)``, which returns the sum over parts of
            tuples ``f(values, *args)``.
        n_states : int
            J.

        Returns
        -------
        EmissionSampler

        Raises
        ------
        ValueError
            If a parameter is invalid or does not match the observations.
        """
        validate_parameters(self)
        return self._make_sampler_of(data, n_states)


class NamedColumns:
    """Mixin of emissions whose parameters select columns, perhaps by their names."""

    _names: list[str] | None = None

    def with_feature_names(self, names: Any) -> Self:
        """Return a copy of the emission that uses the names of columns.

        Parameters
        ----------
        names : (n_features,) array of str

        Returns
        -------
        emission
        """
        other = copy.copy(self)
        other._names = [str(name) for name in names]
        return other


def refuse_cells(wrong: Any, values: Floats, message: str, names: Any = None) -> None:
    """Raise a ValueError if a cell is wrong: a message with its {value} and {place}."""
    if wrong.any():
        t, d = np.argwhere(wrong)[0]
        name = d if names is None else names[d]
        place = name if isinstance(name, str) else f"column {name}"
        place = f"{place}, row {t}, counted through all samples"
        raise ValueError(message.format(value=f"{values[t, d]:g}", place=place))


def refuse_stored(wrong: NDArray[np.bool_], rows: SparseRows, rule: str) -> None:
    """Raise a ValueError that begins with a rule if a stored cell of a sparse table is wrong."""
    if wrong.any():
        (ptr, columns, cells), place = rows.arrays, int(np.argmax(wrong))
        row = int(np.searchsorted(ptr, place, side="right")) - 1
        raise ValueError(f"{rule}; got {cells[place]:g} in column {columns[place]} of row {row}.")


def check_numbers(values: Floats) -> None:
    """Raise a ValueError if an observation is infinite."""
    rule = "X must hold finite numbers, or NaN for missing values; got {value}."
    refuse_cells(np.isinf(values), values, rule)
    check_scale(values)


# Statistics of observations as exact sums over the parts of a panel: see `_kernels/_gaussian`.


Sums = tuple[Places, Places]
"""Sums of deviations from the midpoints of ranges, and sums of their products."""


@dataclass(frozen=True, eq=False)
class Ranges:
    """Numbers and ranges of the observations of each component; the ranges of parts add up."""

    numbers: Places  # (K,)
    lows: Floats  # (K, W)
    highs: Floats  # (K, W)

    @classmethod
    def of(cls, values: Floats, states: Places, n_components: int, width: int) -> Ranges:
        """Return the ranges of observations; those with state -1 do not count."""
        numbers = np.empty(n_components, dtype=np.int64)
        lows, highs = np.empty((2, n_components, width))
        kernels.find_ranges(values, states, numbers, lows, highs)
        return cls(numbers, lows, highs)

    def __add__(self, other: Ranges) -> Ranges:
        return Ranges(
            self.numbers + other.numbers,
            np.minimum(self.lows, other.lows),
            np.maximum(self.highs, other.highs),
        )

    @property
    def ends(self) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """Which columns have values, and the least and the largest one, 0 without any."""
        seen = self.numbers > 0
        lows, highs = (np.where(seen, x[:, 0], 0.0) for x in (self.lows, self.highs))
        return seen, lows, highs

    @cached_property
    def _units(self) -> tuple[Floats, Floats, Floats]:
        """Midpoints and scales of the components' ranges, and the units of their sums."""
        middles, scales = np.empty((2, *self.lows.shape))
        units = np.empty(len(self.numbers))
        kernels.choose_units(self.numbers, self.lows, self.highs, middles, scales, units)
        return middles, scales, units

    def add_up(self, values: Floats, states: Places) -> Sums:
        """Return the sums over observations, which may be a part of those with these ranges."""
        n_components, width = self.lows.shape
        firsts = np.empty((n_components, width), dtype=np.int64)
        seconds = np.empty((n_components, width, width), dtype=np.int64)
        kernels.add_up(values, states, *self._units, firsts, seconds, np.empty(width))
        return firsts, seconds

    def settle(self, sums: Sums, counts: Floats, centers: Floats, scatter: Floats) -> None:
        """Write counts, centers and scatter given the sums over all observations."""
        kernels.settle(self.numbers, *self._units, *sums, counts, centers, scatter)


def find_moments(data: Observations) -> tuple[Ranges, Floats, Floats]:
    """Return ranges and means of columns, and sums of products of deviations, 0 where missing."""
    (ranges,) = data.sum(find_column_ranges)
    sums = data.sum(add_up_columns, ranges)
    n_dims = data.n_features
    centers = np.empty((n_dims, 1))
    ranges.settle(sums, np.empty(n_dims), centers, np.empty((n_dims, 1, 1)))
    mean = np.where(ranges.numbers > 0, centers[:, 0], 0.0)
    scales = np.empty(n_dims)
    unit = kernels.choose_units_about(mean, ranges.numbers, ranges.lows, ranges.highs, scales)
    (products,) = data.sum(multiply_columns, mean, scales, float(unit))
    lower = np.tril(products) / unit / np.multiply.outer(scales, scales)
    return ranges, mean, lower + np.tril(lower, -1).T


def as_rows(values: Floats) -> Floats:
    """Return values of one type, for which kernels are compiled once."""
    return as_readonly(np.ascontiguousarray(values))


def find_column_ranges(values: Floats) -> tuple[Ranges]:
    """Return the range of each column."""
    check_numbers(values)
    nothing = np.zeros(len(values), dtype=np.int64)
    return (Ranges.of(as_rows(values), nothing, values.shape[1], 1),)


def add_up_columns(values: Floats, ranges: Ranges) -> Sums:
    """Return the sums of each column."""
    return ranges.add_up(as_rows(values), np.zeros(len(values), dtype=np.int64))


def multiply_columns(values: Floats, mean: Floats, scales: Floats, unit: float) -> tuple[Places]:
    """Return sums of products of deviations from a mean, as integer multiples of the unit."""
    out = np.empty((len(mean), len(mean)), dtype=np.int64)
    kernels.multiply(as_rows(values), mean, scales, unit, out, np.empty(len(mean)))
    return (out,)


def sum_powered(
    values: Floats, states: Places, powers: Floats, n_states: int
) -> tuple[Floats, Floats, Floats]:
    """Return numbers, means and scatters of observed values weighted by powers, (J, D) each."""
    shape = n_states, values.shape[1]
    counts, centers, scatter = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for d, column in enumerate(values.T):
        seen = ~np.isnan(column) & (states >= 0)
        x, z, w = column[seen], states[seen], powers[seen]
        counts[:, d] = np.bincount(z, w, n_states)
        sums = np.bincount(z, w * x, n_states)
        centers[:, d] = sums / np.where(counts[:, d] > 0.0, counts[:, d], 1.0)
        scatter[:, d] = np.bincount(z, w * (x - centers[z, d]) ** 2, n_states)
    return counts, centers, scatter


# Observations with outliers shrunk toward the median, so that default priors do not follow them.
#
# In each column, m is the median and R the interdecile range of the values that differ from it:
# repeated medians, such as the zeros of a column that is mostly zero, do not vary. A value x at a
# distance of more than c = 10 R counts as m + c^2 / (x - m), so that its weight falls with its
# distance. A single value, or a few percent of the values, then cannot stretch a variance or move a
# mean, however large they are, whereas values up to the distance c are unchanged: small clusters
# may be far away. R and m are equivariant to shifts and scalings of a column, and they are order
# statistics, which do not depend on how the observations are divided into parts.


ROUNDING = 1e-12
"""Relative variation below which a column counts as constant."""

SMALLEST = 1e-150
"""Smallest range of a column: squares of smaller ranges lose digits or underflow to 0."""

_TAIL, _REACH = 0.1, 10.0

_SIGN = np.uint64(1 << 63)
_DIGIT_BITS = 8


class ClippedRows(MappedRows):
    """Observations, possibly in parts, with outliers shrunk toward the median."""

    def __init__(self, data: Observations):
        (ranges,) = data.sum(find_column_ranges)
        _check_ranges(ranges)
        medians, cuts = self.bounds = _find_bounds(data, ranges.numbers)  # m and c, (D,) each
        super().__init__(data, data.n_features, partial(pull_in, medians=medians, cuts=cuts))


def pull_in(values: Floats, medians: Floats, cuts: Floats) -> Floats:
    """Return values, with x at more than a distance c from the median m as m + c^2 / (x - m)."""
    away = values - medians
    far = np.abs(away) > cuts
    if not far.any():
        return values
    columns = np.nonzero(far)[1]
    pulled = values.copy()
    pulled[far] = medians[columns] + cuts[columns] * (cuts[columns] / away[far])
    return pulled


def _check_ranges(ranges: Ranges) -> None:
    """Raise a ValueError if squares of a column's variation would underflow."""
    _, lows, highs = ranges.ends
    widths = highs - lows
    sizes = np.maximum(np.abs(lows), np.abs(highs))
    small = (widths < SMALLEST) & (widths > ROUNDING * sizes)
    if small.any():
        d = int(np.argmax(small))
        raise ValueError(
            f"X must hold columns that are constant or range over {SMALLEST:g} or more, because "
            f"squares of smaller numbers underflow; column {d} goes from {lows[d]:g} to "
            f"{highs[d]:g}: scale the columns of X."
        )


def _find_bounds(data: Observations, numbers: Places) -> tuple[Floats, Floats]:
    """Return the medians of all columns, and the distances beyond which values are shrunk."""
    (medians,) = find_order_statistics(data, ((numbers - 1) // 2)[np.newaxis])
    below, equal = data.sum(_count_about, medians)
    n_others = numbers - equal
    first = np.floor(_TAIL * n_others + 0.5).astype(np.int64)
    ranks = np.array([first, n_others - 1 - first])
    ranks = np.where(ranks < below, ranks, ranks + equal)
    lows, highs = find_order_statistics(data, np.clip(ranks, 0, np.maximum(numbers - 1, 0)))
    widths = np.maximum(highs, medians) - np.minimum(lows, medians)
    known = (n_others > 0) & (widths >= SMALLEST)
    return medians, np.where(known, _REACH * widths, np.inf)


def _count_about(values: Floats, medians: Floats) -> tuple[Places, Places]:
    """Return the number of values below the median and equal to it, for each column."""
    return (values < medians).sum(axis=0), (values == medians).sum(axis=0)


def find_order_statistics(data: Observations, ranks: Places) -> Floats:
    """Return the values of given ranks (from 0) in each column, (R, D), ignoring NaN."""
    # The bits of a float define a 64-bit integer with the same order. Its digits are found one by
    # one, from the number of values with each digit.
    heads = np.zeros(ranks.shape, dtype=np.uint64)
    for shift in range(64 - _DIGIT_BITS, -1, -_DIGIT_BITS):
        (counts,) = data.sum(_count_digits, heads, shift)
        running = counts.cumsum(axis=2)
        digits = (running[:, :, :-1] <= ranks[:, :, np.newaxis]).sum(axis=2)[:, :, np.newaxis]
        ranks = ranks - np.take_along_axis(running - counts, digits, axis=2)[:, :, 0]
        heads = (heads << np.uint64(_DIGIT_BITS)) | digits[:, :, 0].astype(np.uint64)
    bits = np.where(heads & _SIGN, heads ^ _SIGN, ~heads)
    return bits.view(np.float64)


def _count_digits(values: Floats, heads: Stream, shift: int) -> tuple[Places]:
    """Return the counts of the next digit, (R, D, 256), among values with given leading digits."""
    counts = np.empty((*heads.shape, 1 << _DIGIT_BITS), dtype=np.int64)
    for d, column in enumerate(values.T):
        bits = (column[~np.isnan(column)] + 0.0).view(np.uint64)  # 0.0 and -0.0 are the same
        keys = np.where(bits & _SIGN, ~bits, bits | _SIGN) >> np.uint64(shift)
        for r, head in enumerate(heads[:, d]):
            own = keys[keys >> np.uint64(_DIGIT_BITS) == head].astype(np.int64)
            counts[r, d] = np.bincount(own & 255, minlength=256)
    return (counts,)


# Columns that are constant in the data of a fit, from which no state is inferred.
#
# With scatter 0 but a prior scale, the evidence of a constant column would favor few states: it
# contains log Gamma((nu + n_j) / 2) of each state j, which is superadditive. So samplers do not see
# these columns. In a model, they have the same distribution in all states: see `ConstantColumns`.


FREEDOM = 3.0
"""Degrees of freedom of the distribution of a constant column.

Far values in new data then have log densities of a moderate size. Densities of a Gaussian
distribution would be so small that in the sum over columns the digits by which states differ would
be lost.
"""

SCALE_RATIO = (FREEDOM - 2.0) / FREEDOM
"""Squared scale of this distribution, whose variance is 1."""


@dataclass(frozen=True, eq=False)
class ConstantColumns:
    """Columns that are constant in the data of a fit, and the others."""

    # New values are Student t about the constant (see `FREEDOM`), Gaussian if parameters are known.

    varying: Places  # (V,), their indices
    constant: Places  # (C,)
    values: Floats  # (C,)

    @classmethod
    def of(cls, data: Observations) -> Self | None:
        """Return the constant columns with values, or None if there are none, or no others."""
        (ranges,) = data.sum(find_column_ranges)
        seen, lows, highs = ranges.ends
        sizes = np.maximum(np.abs(lows), np.abs(highs))
        is_constant = seen & (highs - lows <= ROUNDING * sizes)
        if not is_constant.any() or not (seen & ~is_constant).any():
            return None
        constant = np.flatnonzero(is_constant)
        return cls(np.flatnonzero(~is_constant), constant, lows[constant])

    @property
    def n_features(self) -> int:
        """Number D of all columns."""
        return len(self.varying) + len(self.constant)

    def _find_noise(self) -> Floats:
        """Return the deviations of new values, (C,)."""
        return np.ones(len(self.constant))

    def leave_out(self, values: Floats) -> Floats:
        """Return the columns that vary, (N, V)."""
        return as_rows(values[:, self.varying])

    def insert(self, array: Floats, fill: Any) -> Floats:
        """Return an array (..., V) with `fill` in the constant columns, (..., D)."""
        out = np.empty((*array.shape[:-1], self.n_features))
        out[..., self.varying], out[..., self.constant] = array, fill
        return out

    def insert_square(self, matrices: Floats, diagonal: float) -> Floats:
        """Return matrices (..., V, V) with uncorrelated constant columns, (..., D, D)."""
        out = np.zeros((*matrices.shape[:-2], self.n_features, self.n_features))
        out[..., self.varying[:, np.newaxis], self.varying] = matrices
        out[..., self.constant, self.constant] = diagonal
        return out

    def distribution(self, *, known: bool = False) -> StudentMarginals:
        """Return the distribution of the constant columns, for one state, (1, C)."""
        locations, scales = self.values[np.newaxis], self._find_noise()[np.newaxis]
        if known:
            return StudentMarginals(locations, scales)
        scales = np.sqrt(SCALE_RATIO) * scales
        return StudentMarginals(locations, scales, np.full(scales.shape, FREEDOM))

    def _find_rest(self, values: Floats) -> Floats:
        """Return the values to which the distribution applies, (N, C)."""
        return values[:, self.constant]

    def log_density(self, values: Floats, *, known: bool = False) -> Floats:
        """Return the log density of the constant columns given the others, 0 where missing."""
        distribution, out = self.distribution(known=known), np.zeros((len(values), 1))
        for i, rest in enumerate(self._find_rest(values).T):
            logs = distribution.log_density(rest, i)
            out += np.where(np.isnan(logs), 0.0, logs)
        return out

    def quantiles(self, levels: Floats) -> Floats:
        """Return the quantiles of the next values, (Q, C)."""
        quantiles = np.sqrt(SCALE_RATIO) * stdtrit(FREEDOM, levels)
        return self.values + np.multiply.outer(quantiles, self._find_noise())

    def sample(self, n: int, rng: np.random.Generator, *, known: bool = False) -> Floats:
        """Return draws, without linear functions of the columns that vary, (n, C)."""
        shape = n, len(self.constant)
        noise = rng.standard_normal(shape) if known else rng.standard_t(FREEDOM, shape)
        return self.values + self.distribution(known=known).scales * noise


class VaryingColumns(MappedRows):
    """Observations, possibly in parts, without their constant columns."""

    def __init__(self, data: Observations, constants: ConstantColumns):
        super().__init__(data, len(constants.varying), constants.leave_out)


# Columns that are linear functions of others in the data, such as a temperature in another unit.
#
# Noise has scatter 0 in their direction, so the evidence would favor few states, as that of a
# constant column would. They are left out as constant columns are, which are the case of slopes 0.


PER_COEFFICIENT = 5
"""Least number of observations for each coefficient of a linear function that is not by chance."""

_CLOSE = 1e-8
"""Share of the variance of a column that those before it leave unexplained if it may depend."""


@dataclass(frozen=True, eq=False)
class DependentColumns(ConstantColumns):
    """Columns that are linear functions of those before them in the data of a fit, or constant."""

    # They are ``values + slopes @ own`` and noise.

    slopes: Floats  # (C, V)
    noise: Floats  # (C,), deviations
    deviations: Floats  # (V,), of the others

    @classmethod
    def of(  # type: ignore[override]
        cls, data: Observations, constants: ConstantColumns | None
    ) -> Self | None:
        """Return the dependent and constant columns, or None if no column is dependent."""
        kept = data if constants is None else VaryingColumns(data, constants)
        rows = MappedRows(kept, kept.n_features, _without_gaps)
        with np.errstate(over="ignore", invalid="ignore"):  # of values that are refused later
            ranges, means, products = find_moments(rows)
        n = len(means)
        if n < 2 or not ranges.numbers.any() or not np.isfinite(products).all():
            return None
        if not find_varying(ranges, products).all():
            return None
        lengths = np.sqrt(np.diag(products))
        correlations = products / np.multiply.outer(lengths, lengths)
        if np.linalg.eigvalsh(correlations)[0] > _CLOSE:
            return None
        own, slopes = [0], np.zeros((n, n))
        for d in range(1, n):
            line = np.linalg.solve(correlations[np.ix_(own, own)], correlations[own, d])
            if 1.0 - line @ correlations[own, d] > _CLOSE:
                own.append(d)
            else:
                slopes[d, own] = line
        # A few observations are linear functions of each other by chance.
        if ranges.numbers[0] < PER_COEFFICIENT * (len(own) + 1):
            return None
        deviations = lengths / np.sqrt(ranges.numbers)
        slopes *= np.divide.outer(deviations, deviations)
        (ranges,) = rows.sum(_find_ranges_of_rest, means, slopes)
        sizes = np.maximum(-ranges.lows, ranges.highs)[:, 0]
        is_exact = slopes.any(axis=1) & (sizes <= LEAST * deviations)
        if not is_exact.any():
            return None
        places, others = np.flatnonzero(~is_exact), np.flatnonzero(is_exact)
        slopes = slopes[np.ix_(others, places)]
        values, noise = means[others] - slopes @ means[places], LEAST * deviations[others]
        if constants is None:
            return cls(places, others, values, slopes, noise, deviations[places])
        left_out = np.append(constants.constant, constants.varying[others])
        slopes = np.vstack([np.zeros((len(constants.constant), len(places))), slopes])
        noise = np.append(constants._find_noise(), noise)
        values = np.append(constants.values, values)
        varying = constants.varying[places]
        return cls(varying, left_out, values, slopes, noise, deviations[places])

    def leave_out(self, values: Floats) -> Floats:
        """Return the other columns, (N, V); values missing there are told by those left out."""
        own, rest = values[:, self.varying], (values[:, self.constant] - self.values) / self.noise
        slopes = self.slopes / self.noise[:, np.newaxis] * self.deviations
        gaps = np.hstack([np.isnan(own), np.isnan(rest)])
        rows = np.flatnonzero(gaps[:, : own.shape[1]].any(axis=1))
        patterns, numbers = np.unique(gaps[rows], axis=0, return_inverse=True)
        for i, missing in enumerate(patterns):
            some = rows[numbers.ravel() == i]
            hidden, seen = missing[: own.shape[1]], ~missing[own.shape[1] :]
            inverse = np.linalg.pinv(slopes[seen][:, hidden])
            is_told = np.diag(inverse @ slopes[seen][:, hidden]) > 1.0 - _CLOSE
            known = np.where(hidden, 0.0, own[some] / self.deviations)
            found = (rest[some] - known @ slopes.T)[:, seen] @ inverse.T
            found = np.where(is_told, found * self.deviations[hidden], np.nan)
            own[np.ix_(some, hidden)] = found
        return as_rows(own)

    def insert(self, array: Floats, fill: Any) -> Floats:
        """Return an array (..., V) with linear functions of its entries plus `fill`, (..., D)."""
        out = np.empty((*array.shape[:-1], self.n_features))
        out[..., self.varying], out[..., self.constant] = array, fill + array @ self.slopes.T
        return out

    def insert_square(self, matrices: Floats, diagonal: float) -> Floats:
        """Return the covariances of all columns, (..., D, D)."""
        maps = self.insert(np.eye(len(self.varying)), 0.0).T
        noise = np.zeros(self.n_features)
        noise[self.constant] = diagonal * self.noise**2
        return np.asarray(maps @ matrices @ maps.T + np.diag(noise))

    def _find_noise(self) -> Floats:
        return self.noise

    def _find_rest(self, values: Floats) -> Floats:
        return values[:, self.constant] - values[:, self.varying] @ self.slopes.T


def _without_gaps(values: Floats) -> Floats:
    """Return the rows, with NaN in every column of incomplete ones."""
    incomplete = np.isnan(values).any(axis=1, keepdims=True)
    return np.where(incomplete, np.nan, values)


def _find_ranges_of_rest(values: Floats, means: Floats, slopes: Floats) -> tuple[Ranges]:
    """Return the ranges of columns without linear functions of each other."""
    away = values - means
    return find_column_ranges(away - away @ slopes.T)


# Means and covariances of observations, from which default priors are computed.


LEAST = 1e-6
"""Smallest deviation of the noise of a column relative to that of the column.

The noise of a column that does not vary has the deviation 1.
"""

SHRINKAGE = 1e-4
"""Shrinkage of the data's correlations, so that collinear columns have a definite matrix."""


def moments_of(data: Observations) -> tuple[Floats, Floats]:
    """Return the mean and a positive definite covariance of observed values, outliers shrunk."""
    # Missing values count as means, so that the correlation matrix stays positive definite.
    ranges, mean, squares = find_moments(ClippedRows(data))
    return mean, find_covariance(ranges, squares)


def find_covariance(ranges: Ranges, squares: Floats, shrinkage: float = SHRINKAGE) -> Floats:
    """Return a positive definite covariance, given sums of products of deviations from means."""
    sums, varies = np.diag(squares), find_varying(ranges, squares)
    variances = sums / np.maximum(ranges.numbers, 1)
    lengths = np.sqrt(np.where(varies, sums, 1.0))
    both = np.multiply.outer(varies, varies)
    correlations = (1.0 - shrinkage) * np.where(both, squares, 0.0)
    correlations /= np.multiply.outer(lengths, lengths)
    np.fill_diagonal(correlations, 1.0)
    deviations = np.sqrt(np.where(varies, variances, 1.0))
    return correlations * np.multiply.outer(deviations, deviations)


def find_deviations(data: Observations) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the standard deviation of each column, 1 if it does not vary, and whether it does."""
    ranges, _, squares = find_moments(data)
    deviations = np.sqrt(np.diag(find_covariance(ranges, squares)))
    return deviations, find_varying(ranges, squares)


def widen(covariance: Floats, least: Floats, varies: Any = True) -> Floats:
    """Return a covariance with the same correlations and at least the given deviations."""
    deviations = np.sqrt(np.diag(covariance))
    # Columns that do not vary get these deviations.
    ratios = np.maximum(np.where(varies, deviations, 0.0), least) / deviations
    return np.asarray(covariance * np.multiply.outer(ratios, ratios))


def find_varying(ranges: Ranges, squares: Floats) -> NDArray[np.bool_]:
    """Return whether each column varies, (D,), given sums of products of deviations from means."""
    variances = np.diag(squares) / np.maximum(ranges.numbers, 1)
    _, lows, highs = ranges.ends
    roundings = (ROUNDING * np.maximum(np.abs(lows), np.abs(highs))) ** 2
    return np.asarray(variances > roundings)


# Values on a grid, such as whole degrees.
#
# A value x on a grid of step h stands for any value of its cell. Its density in a state has no
# bound: states of single cells, of variance 0, would explain rounded noise best. So x counts as
# values spread about it with the variance r h^2 each column: the mean of log N(y; mu, Sigma) over
# these y is log N(x; mu, Sigma) - tr(Sigma^-1 R) / 2 with R = diag(r h^2). This likelihood is
# conjugate: scatter matrices grow by R for each row. As Sigma is estimated as the covariance of the
# x plus R, states of single cells would explain a rounded normal distribution better than one
# state unless (log of the variance plus r, minus log r) / 2 is at most the entropy of the cells.
# That holds for all of them from r = .098 on; the variance of a uniform distribution, 1 / 12, is
# not enough.


SPREAD = 0.1
"""Variance about a value on a grid, in units of the squared step."""

_MOST_VALUES, _SHARE_ON_GRID = 2**14, 0.9
"""Largest number of distinct values on a grid, and least share of the observations on it, and of
those whose value occurs again: without repetitions the step does not matter."""

_FREQUENT, _CLOSE_TO_GRID = 0.01, 0.02
"""Share of the observations from which a value is frequent, and largest distance from the grid."""

_DIGITS = (float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps))
"""Relative roundings of numbers."""


class DistinctValues(NamedTuple):
    """Distinct values of a column and how often each occurs; none if there are too many."""

    values: Floats
    counts: Places
    n_rows: int

    @classmethod
    def of(cls, column: Floats) -> DistinctValues:
        """Return those of a column without NaN."""
        values, counts = np.unique(column, return_counts=True)
        return cls._few(values, counts, len(column))

    @classmethod
    def _few(cls, values: Floats, counts: Places, n_rows: int) -> DistinctValues:
        n = len(values) if len(values) <= _MOST_VALUES else 0
        return cls(values[:n], counts[:n], n_rows)

    def __add__(self, other: Any) -> DistinctValues:
        n_rows = self.n_rows + other.n_rows
        if any(len(part.values) < (part.n_rows > 0) for part in (self, other)):
            return self._few(self.values[:0], self.counts[:0], n_rows)
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([self.counts, other.counts]))
        return self._few(values, counts.astype(np.int64), n_rows)

    def find_step(self) -> float:
        """Return the largest step of a grid on which nearly all of the values lie, or 0."""
        is_repeated = self.counts > 1  # others may be off the grid
        if self.counts[is_repeated].sum() < _SHARE_ON_GRID * self.n_rows:
            return 0.0
        frequent = self.values[self.counts > max(1.0, _FREQUENT * self.n_rows)]
        steps = [self._check_step(frequent)] if len(frequent) > 2 else []
        return max(self._check_step(self.values[is_repeated]), *steps, 0.0)

    def _check_step(self, some: Floats) -> float:
        """Return the step of the grid of some values, or 0 if too few of all values lie on it."""
        double, single = _DIGITS
        step = _find_step(some, double)
        if step == 0.0 and np.array_equal(some, some.astype(np.float32)):
            step = _find_step(some, single)
        if step == 0.0:
            return 0.0
        away = (self.values - some[0]) / step
        on_grid = np.abs(away - np.round(away)) < _CLOSE_TO_GRID
        return step if self.counts[on_grid].sum() >= _SHARE_ON_GRID * self.n_rows else 0.0


def _find_step(values: Floats, digits: float) -> float:
    """Return the step of a grid on which values lie up to rounding, or 0 (Euclid's algorithm)."""
    if len(values) < 2:
        return 0.0
    error = 2.0 * digits * float(np.abs(values).max())
    gaps = values[1:] - values[0]
    least = np.diff(values)
    least = least[least > 2.0 * error]
    step = float(least.min(initial=np.inf))
    # Errors of the step grow with its multiples.
    while step**2 > 100.0 * error * gaps[-1] and np.isfinite(step):
        rest = np.abs(gaps - step * np.round(gaps / step))
        off = rest > error * (2.0 + 2.0 * gaps / step)
        if not off.any():
            return float(gaps[-1] / np.round(gaps[-1] / step))
        step = float(rest[off].min())
    return 0.0


def _find_distinct(values: Floats) -> tuple[Any, ...]:
    """Return the distinct values of each column."""
    return tuple(DistinctValues.of(column[~np.isnan(column)]) for column in values.T)


def find_steps(data: Observations) -> Floats:
    """Return the step of the grid on which each column lies, (D,), or 0."""
    return np.array([column.find_step() for column in data.sum(_find_distinct)])


class GridColumns:
    """Mixin of emissions of columns that may lie on grids.

    Parameters
    ----------
    resolution : "auto", float, (D,) array or None, default="auto"
        Steps of the grids on which columns lie, such as 1 for whole degrees; 0: no grid. Each state
        or cluster then has at least about a tenth of the squared step as its variance, in columns
        that are modeled: see the notes of `GaussianEmission`. "auto": found. None: all values are
        exact.
    """

    resolution: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "resolution": [
            StrOptions({"auto"}), Interval(Real, 0, None, closed="left"), "array-like", None,
        ],
    }  # fmt: skip

    def _read_resolution(self, data: Observations, columns: Any = None) -> Floats | None:
        """Return R, (D,), of the chosen columns of observations; None if it is 0."""
        resolution, n_columns = self.resolution, data.n_features
        if resolution is None:
            return None
        if isinstance(resolution, str):
            steps = find_steps(data)
        elif np.ndim(resolution) == 0:
            steps = np.full(n_columns, resolution)
        else:
            steps = read_array(self, "resolution", resolution, (n_columns,), n_columns)
        if (steps < 0.0).any() or (steps > LARGEST_SQUARED).any():
            limits = f"from 0 to {LARGEST_SQUARED:g}"
            raise ValueError(f"{type(self).__name__}: resolution must be {limits}.")
        if columns is not None:
            steps = steps[columns]
        return SPREAD * steps**2 if steps.any() else None
