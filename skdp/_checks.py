"""Checks of arguments, of partly known values, and of memory."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SMALLEST, LARGEST = 1e-8, 1e8
"""Range of the parameters of priors: at its ends a prior is as good as 0 or infinity, and beyond
them densities and their draws leave the range of numbers."""


LARGEST_SQUARED = 1e120
"""Largest observation: sums of squares of such numbers are finite."""

_LARGEST_REAL = int(sys.float_info.max)


def is_number(value: Any) -> bool:
    """Tell whether a value is one real number in double precision; a boolean is none."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    return not isinstance(value, int) or abs(value) <= _LARGEST_REAL


def check_choice(value: Any, name: str, *choices: str) -> None:
    """Raise a ValueError unless an argument, which may be an array, is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        *others, last = map(repr, choices)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}, got {shorten(value)}.")


_LONGEST = 200


def shorten(value: Any) -> str:
    """Return a value as messages show it: not all of a long one, of some no more than a type."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more than 4300 digits
        return f"an object of type {type(value).__name__} that is too long to write"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def write_number(value: float) -> str:
    """Return a number as messages show it: up to 1e17, integers have all their digits."""
    is_whole = abs(value) < 1e17 and value == np.floor(value)
    return f"{value:.0f}" if is_whole else f"{value:g}"


@contextmanager
def naming(parameter: str) -> Iterator[None]:
    """Return a context whose errors begin with the name of a parameter that is read like X."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"{parameter}: {error}") from None


def is_list_like(value: Any) -> bool:
    """Tell whether a value has parts in an order; text, mappings and sparse matrices have none."""
    if isinstance(value, str | bytes | Mapping | Set) or getattr(value, "ndim", 1) == 0:
        return False
    return hasattr(value, "__len__") and not hasattr(value, "tocsr")


def unpack(values: Any) -> Any:
    """Return a value, an Arrow column as a list: its entries are no Python values."""
    is_column = hasattr(values, "to_pylist") and not hasattr(values, "column_names")
    return values.to_pylist() if is_column else values


def is_masked(value: Any) -> bool:
    """Tell whether a value, or a part of a list, is a masked array."""
    parts = value if isinstance(value, list | tuple) else (value,)
    for part in parts:  # noqa: SIM110  # a generator takes longer for the pairs that priors are
        if isinstance(part, np.ma.MaskedArray):
            return True
    return False


def check_unmasked(value: Any, name: str) -> Any:
    """Return a value, or raise if it is masked: arrays of it would hold the masked values."""
    if is_masked(value):
        raise ValueError(
            f"{name} must not be a masked array: fill it first, with NaN where missing values are "
            "allowed."
        )
    return value


def check_scale(values: NDArray[np.float64]) -> None:
    """Raise a ValueError if squares of observations would overflow."""
    large = np.abs(values) > LARGEST_SQUARED
    if large.any():
        t, d = np.argwhere(large)[0]
        raise ValueError(
            f"X must hold numbers up to {LARGEST_SQUARED:g}, because squares of larger ones "
            f"overflow; got {values[t, d]:g} in column {d}: scale the columns of X."
        )


def as_array(values: Any, name: str, dtype: Any = None) -> NDArray[Any]:
    """Return `values` as an array of any type, of objects if their rows differ in length."""
    check_unmasked(values, name)
    try:
        return np.asarray(values, dtype=dtype)
    except ValueError:
        return np.empty((), dtype=object)


def check_word_names(feature_names: Any, n_words: int) -> NDArray[Any]:
    """Return the names of all words of a vocabulary, (n_words,)."""
    names = as_array(feature_names, "feature_names")
    if names.shape != (n_words,):
        raise ValueError(
            f"feature_names must hold n_features={n_words} names, as the vectorizer's "
            f"get_feature_names_out() does, got shape {names.shape}."
        )
    return names


def check_how_many(n: Any, name: str, default: int, largest: int, what: str) -> int:
    """Return the requested number, at most the available one; None: `default`, or all."""
    if n is None:
        return min(default, largest)
    n = check_count(n, name, at_least=1)
    if n > largest:
        raise ValueError(f"{name} must be at most {what}, got {n}.")
    return n


def as_floats(values: Any, name: str, n_dimensions: int | None = None) -> NDArray[np.float64]:
    """Return an array of real numbers in double precision, or raise an error that names it."""
    array = as_array(values, name)
    if array.dtype == object and all(map(is_number, array.flat)):
        array = array.astype(np.float64)
    if array.dtype.kind not in "biuf":
        rows = ", in rows of equal length" if array.ndim == 0 and is_list_like(values) else ""
        raise ValueError(f"{name} must hold real numbers{rows}, got {shorten(values)}.")
    if n_dimensions is not None and array.ndim != n_dimensions:
        raise ValueError(f"{name} must have {n_dimensions} dimension(s), got {array.ndim}.")
    return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)


def check_discount(discount: float) -> float:
    """Return the discount a as a float in [0, 1)."""
    if not is_number(discount) or not 0.0 <= discount < 1.0:
        raise ValueError(f"discount must be a number in [0, 1), got {shorten(discount)}.")
    return float(discount)


def check_concentration(concentration: float, above: float = 0.0) -> float:
    """Return the concentration b as a finite float larger than `above`."""
    if not is_number(concentration) or not above < concentration < np.inf:
        raise ValueError(
            f"concentration must be a finite number > {above + 0.0:g}, got "  # no -0
            f"{shorten(concentration)}."
        )
    return float(concentration)


def check_concentrations(concentrations: float | ArrayLike, size: int) -> NDArray[np.float64]:
    """Return `size` concentrations b, finite and > 0; a number stands for all of them."""
    array = as_array(concentrations, "concentration")
    if (
        array.dtype.kind not in "iuf"
        or array.shape not in ((), (size,))
        or not np.all((array > 0.0) & (array < np.inf))
    ):
        raise ValueError(
            f"concentration must be a finite number > 0, or {size} of them, got "
            f"{shorten(concentrations)}."
        )
    return np.full(size, array, dtype=np.float64)


def check_gamma_prior(
    prior: tuple[float, float], name: str, largest: float = LARGEST
) -> tuple[float, float]:
    """Return shape and rate of a Gamma prior, in range."""
    # The rate may be from 1 / `largest` to `largest`, because it has the inverse unit of the draw.
    shape, rate = _check_positive_pair(prior, name, "(shape, rate)", largest)
    if not SMALLEST <= shape <= LARGEST:
        raise ValueError(
            f"{name} must have a shape from {SMALLEST:g} to {LARGEST:g}, got {shorten(prior)}."
        )
    return shape, rate


def check_beta_prior(prior: tuple[float, float], name: str) -> tuple[float, float]:
    """Return p and q of a Beta(p, q) prior, both in range."""
    return _check_positive_pair(prior, name, "(p, q)", LARGEST)


def _check_positive_pair(
    pair: tuple[float, float], name: str, meaning: str, largest: float
) -> tuple[float, float]:
    """Return two numbers from 1 / `largest` to `largest`."""
    if isinstance(pair, Sequence) and len(pair) == 2:
        first, second = pair
        if (
            is_number(first)
            and is_number(second)
            and 1.0 / largest <= first <= largest
            and 1.0 / largest <= second <= largest
        ):
            return float(first), float(second)
    raise ValueError(
        f"{name} must be two positive numbers {meaning}, from {1.0 / largest:g} to "
        f"{largest:g}, got {shorten(pair)}."
    )


def check_integers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return `values` as int64, all >= 0."""
    array = as_array(values, name)
    if array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must hold integers, got {shorten(values)}.")
    if np.any(array < 0) or np.any(array != np.floor(array)):
        raise ValueError(f"{name} must hold integers >= 0, got {shorten(values)}.")
    if np.any(array >= 2.0**62):
        raise ValueError(f"{name} must hold integers below 2**62, got {shorten(values)}.")
    return array.astype(np.int64)


MAX_JOBS = 4096
"""joblib starts all threads at once, whether there is work for them or not."""


def check_jobs(n_jobs: Any) -> int | None:
    """Return a number of jobs as joblib counts them: it may have been set after the fit."""
    if n_jobs is None:
        return None
    is_integer = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not is_integer or n_jobs == 0 or n_jobs > MAX_JOBS:
        raise ValueError(
            f"n_jobs must be None, an integer from 1 to {MAX_JOBS}, or a negative one, got "
            f"{shorten(n_jobs)}."
        )
    return int(n_jobs)


MAX_INTEGER = 2**31 - 1
"""The largest number of anything that one may ask for: kernels count in 32 bits."""


def check_count(value: int, name: str, at_least: int = 0) -> int:
    """Return one integer >= `at_least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise ValueError(f"{name} must be an integer >= {at_least}, got {shorten(value)}.")
    if value > MAX_INTEGER:
        raise ValueError(f"{name} must be at most {MAX_INTEGER}, got {shorten(value)}.")
    return int(value)


# Partly known values: labels of rows, states of steps.


_CURE = "If y is for a later step or a metric, set use_y=False."


def is_unknown(value: Any) -> bool:
    """Return whether a value marks an unknown value: None, NaN, pandas.NA, or -1."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA is not comparable
        return True
    return isinstance(value, Real) and (value == -1 or value != value)


def check_entries(y: Any, name: str = "y") -> None:
    """Raise unless a value is None or has entries in an order, as lists, arrays and columns do."""
    is_array = hasattr(y, "__array__") and getattr(y, "ndim", 1) > 0
    if y is None or is_array or is_list_like(y) or hasattr(y, "tocsr"):
        return
    kind = type(y).__name__
    if getattr(y, "ndim", 1) == 0:
        kind = f"{kind} without dimensions"
    raise TypeError(
        f"{name} must be a list, an array or a column, with an entry for each sample or step of X; "
        f"got {kind}."
    )


def check_known(
    y: Any, n: int, name: str, *, what: str, place: str, largest: int
) -> NDArray[np.int64]:
    """Return known integers from 0 to `largest`, or -1 if unknown, (n,); raise if y has others.
    `what` and `place` name a number and its owner, such as "label" and "row of X".
    """
    y = unpack(y)
    array = as_array(y.to_numpy() if hasattr(y, "to_numpy") else y, name)
    if array.shape == (n, 1):
        array = array[:, 0]
    if array.shape != (n,):
        raise ValueError(
            f"{name} must have shape ({n},), a {what} per {place}, -1 if it is unknown; got shape "
            f"{array.shape}. {_CURE}"
        )
    if array.dtype.kind == "O":
        array = np.array([_as_number(x, f"{name}[{i}]", what) for i, x in enumerate(array)])
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{name} must hold integers, -1 if a {what} is unknown; got values of type "
            f"{array.dtype}. Encode other {what}s with a LabelEncoder. {_CURE}"
        )
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1.0, array)
    wrong = np.flatnonzero((array < -1) | (array != np.floor(array)) | (array > largest))
    if len(wrong):
        i = int(wrong[0])
        raise ValueError(
            f"{name} must hold integers from 0 to {largest}, or -1 if a {what} is unknown; got "
            f"{name}[{i}]={shorten(array[i].item())}. {_CURE}"
        )
    return np.asarray(array.astype(np.int64))


def _as_number(value: Any, name: str, what: str) -> float:
    """Return a number as a float, NaN if it is unknown."""
    if is_unknown(value):
        return np.nan
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral | Real):
        raise TypeError(
            f"y must hold integers, -1 or None if a {what} is unknown; got "
            f"{name}={shorten(value)}. Encode other {what}s with a LabelEncoder. {_CURE}"
        )
    return float(value)


# Checks of memory: an input that needs too much is named before anything is allocated.


_GIB = 2.0**30
_SMALL = 2**24
"""Bytes that are never refused: limits are files to read."""


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("total", "free", "page_total", "page_free")),
        *((name, ctypes.c_uint64) for name in ("virtual_total", "virtual_free", "extended")),
    )


def physical_memory() -> int | None:
    """Return the bytes of this machine's memory, None if the system does not report them."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        pass
    try:
        kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]  # Windows only
    except AttributeError:
        return None
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    return int(status.total) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _limits() -> Iterator[int]:
    """Yield the bytes that this machine, its control group and the process may use."""
    memory = physical_memory()
    if memory is not None:
        yield memory
    try:
        import resource
    except ImportError:  # Windows
        pass
    else:
        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            soft, _ = resource.getrlimit(kind)
            if soft != resource.RLIM_INFINITY:
                yield soft
    for path in _control_group_files():
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        if text.isdecimal():  # or "max"
            yield int(text)


def _control_group_files(
    groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")
) -> Iterator[Path]:
    """Yield the files that may hold a limit of the memory: those of the group and all above it."""
    try:
        lines = groups.read_text().splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        base, file = (root / "memory", "memory.limit_in_bytes") if controllers else (
            root, "memory.max"
        )  # fmt: skip
        place = base / name.lstrip("/")
        while True:
            yield place / file
            if place == base:
                break
            place = place.parent


def available_memory() -> int | None:
    """Return the smallest limit of this process's bytes, None if the system reports no limit."""
    return min(_limits(), default=None)


def check_memory(n_bytes: float, what: str, cure: str = "") -> None:
    """Raise ValueError if arrays would be larger than the memory that this process may use.
    The message begins with `what` and ends with `cure`.
    """
    if n_bytes < _SMALL:
        return
    memory = available_memory()
    if memory is not None and n_bytes > memory:
        raise ValueError(
            f"{what} would take {n_bytes / _GIB:.4g} GiB, more than the memory of "
            f"{memory / _GIB:.4g} GiB that this process may use. {cure}".rstrip()
        )
