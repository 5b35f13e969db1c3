"""Regressors of autoregressive emissions: chosen lags and a trend, and checks of sequences.

Sequence s is steps ``ptr[s]`` to ``ptr[s + 1] - 1``.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import is_list_like, shorten
from skdp._numeric._typing import Floats, Places
from skdp._sklearn_compat import HasMethods
from skdp.emissions._gaussian._model import check_numbers

LAGS = "an integer >= 1 or a list of different integers >= 1"


class LagDesign(NamedTuple):
    """The regressors of a step besides the constant: chosen lags, then possibly a linear trend."""

    lags: tuple[int, ...]  # in increasing order
    has_trend: bool = False  # whether the step's number in its sequence, from 1, is a regressor

    @property
    def n_lags(self) -> int:
        """The largest lag L: the first L steps of a sequence count as given."""
        return self.lags[-1]

    def width(self, n_dims: int) -> int:
        """Return the number of regressors besides the constant."""
        return n_dims * len(self.lags) + self.has_trend

    def columns(self, n_dims: int) -> Places:
        """Return the indices of the chosen lags of all columns among all lags from 1 to L."""
        first = n_dims * (np.array(self.lags) - 1)
        return np.asarray((first[:, np.newaxis] + np.arange(n_dims)).ravel())

    def all_lags(self) -> LagDesign:
        """Return the design with all lags from 1 to L."""
        return self._replace(lags=tuple(range(1, self.n_lags + 1)))


_LONGEST = 10_000_000
"""Largest lag. A longer one is probably a mistake, and each lag takes memory."""


def _is_lag(lag: Any) -> bool:
    """Return whether an object is a valid lag."""
    is_integer = isinstance(lag, Integral) and not isinstance(lag, bool | np.bool_)
    return is_integer and 1 <= int(lag) <= _LONGEST


def read_lags(lags: Any) -> tuple[int, ...]:
    """Return lags in increasing order, given their number or a list, or raise a ValueError."""
    if _is_lag(lags):
        return tuple(range(1, int(lags) + 1))
    if is_list_like(lags) and getattr(lags, "ndim", 1) == 1:
        chosen = list(lags)
        if chosen and all(map(_is_lag, chosen)) and len(set(chosen)) == len(chosen):
            return tuple(sorted(int(lag) for lag in chosen))
    raise ValueError(f"lags must be {LAGS}, got {shorten(lags)}.")


class LagsConstraint(HasMethods):
    """Constraint of a parameter: a number of lags or a list of them."""

    def __init__(self) -> None:
        super().__init__("__class__")

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether `read_lags` accepts a value."""
        try:
            read_lags(val)
        except ValueError:
            return False
        return True

    def __str__(self) -> str:
        return LAGS


def find_largest_lag(lags: Any) -> int:
    """Return the largest lag; 1 if the lags are invalid, which `LagsConstraint` reports."""
    return read_lags(lags)[-1] if LagsConstraint().is_satisfied_by(lags) else 1


def check_lags(values: Floats, ptr: Places, n_lags: int) -> NDArray[np.intp]:
    """Check values, and return which sequences are not longer than `n_lags`; raise if all are."""
    lengths = np.diff(ptr)
    short = np.flatnonzero(lengths <= n_lags)
    if len(short) == len(lengths):
        raise ValueError(
            f"A sequence must have more than {shorten(n_lags)} step(s), the largest of its lags: "
            f"the first {shorten(n_lags)} count as given, and nothing would be left. The longest "
            f"sequence has {lengths.max(initial=0)} step(s)."
        )
    check_numbers(values)
    return short


def check_continued(values: Floats, ptr: Places, n_lags: int) -> None:
    """Raise a ValueError if a sequence is too short to be continued, or values are too large."""
    lengths = np.diff(ptr)
    short = np.flatnonzero(lengths < n_lags)
    if len(short):
        raise ValueError(
            f"A sequence can be continued only from at least {n_lags} step(s), the largest lag; "
            f"sequence {short[0]} has {lengths[short[0]]}."
        )
    check_numbers(values)


def check_complete_sequences(values: Floats, ptr: Places, n_lags: int) -> None:
    """Raise a ValueError if a value is missing, or a sequence is no longer than `n_lags`."""
    missing = np.isnan(values).any(axis=1)
    if missing.any():
        t = int(np.argmax(missing))
        s = int(np.searchsorted(ptr, t, side="right")) - 1
        raise ValueError(
            f"X contains NaN, at step {t - ptr[s]} of sequence {s}: with partitions, an "
            "autoregressive emission needs every value. Fit a SequencePanel, or impute missing "
            "values first."
        )
    lengths = np.diff(ptr)
    short = lengths <= n_lags
    if short.any():
        s = int(np.argmax(short))
        raise ValueError(
            f"Sequence {s} has {lengths[s]} step(s), which must be more than "
            f"{shorten(n_lags)}, the largest lag: the "
            "first steps count as given, and nothing would be left."
        )
    check_numbers(values)


def describe_short(short: NDArray[np.intp], n_lags: int) -> str:
    """Return the text of a warning that some sequences are not longer than the largest lag."""
    numbers = ", ".join(map(str, short[:5].tolist()))
    if len(short) > 5:
        numbers += f" and {len(short) - 5} more"
    one = len(short) == 1
    return (
        f"Sequence{'' if one else 's'} {numbers} of X "
        f"{'has' if one else 'have'} no more than {n_lags} step(s), the largest lag, and "
        f"{'is' if one else 'are'} skipped: the first {n_lags} step(s) of a sequence count as "
        "given, and nothing is left. Choose smaller lags, or leave short sequences out."
    )


def stack_regressors(values: Floats, ptr: Places, design: LagDesign) -> tuple[Floats, Any]:
    """Return the lags, then the trend, of each step, (N, K - 1), and whether it has all lags."""
    n_steps, n_dims = values.shape
    places = np.arange(n_steps) - np.repeat(ptr[:-1], np.diff(ptr))
    lags = np.zeros((n_steps, len(design.lags), n_dims))
    for i, lag in enumerate(design.lags):
        known = np.flatnonzero(places >= lag)
        lags[known, i] = values[known - lag]
    regressors = lags.reshape(n_steps, -1)
    if design.has_trend:
        regressors = np.hstack([regressors, places[:, np.newaxis] + 1.0])
    return regressors, places >= design.n_lags
