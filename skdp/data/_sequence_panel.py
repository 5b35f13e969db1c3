"""Sequences of observations, helpers for their estimators, and conversion of tables to numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import assert_all_finite

from skdp._checks import as_array
from skdp.data._frames import (
    columns_of,
    common_names,
    complex_error,
    is_frame,
    names_of,
    read_frame,
    to_numbers,
)
from skdp.data._ragged import Folder, Ragged, as_saved, offsets, read_names, read_parts, read_shape


class SequencePanel(Ragged):
    """Sequences of observations over time, the X of hidden Markov models.

    A sample is a sequence. ``panel[i]`` is sequence i, a read-only (T_i, D) array;
    ``panel[key]`` for a slice, a list or array of ints or a boolean mask is the panel of these
    sequences. A panel is immutable.

    Parameters
    ----------
    values : (n_observations, D) or (n_observations,) array of numbers
        The concatenated observations of all sequences; 1-D means D = 1. NaN is allowed, because it
        marks a missing value in some models.
    ptr : (n_sequences + 1,) array of int
        Sequence i is ``values[ptr[i]:ptr[i + 1]]``.

    Attributes
    ----------
    values : (n_observations, D) array of float64
    ptr : (n_sequences + 1,) array of int64
    n_features : int
        Number D of columns of an observation.
    feature_names : (D,) array of str objects, or None
        Names of the columns, if the panel was made from data frames. Estimators check them like the
        names of a data frame. Comparisons of panels ignore them.
    shape : (int, int)
        Number of sequences, and D.

    Raises
    ------
    ValueError
        If `values` does not hold real numbers, or `ptr` does not rise from 0 to their length.

    See Also
    --------
    PartitionedPanel : A panel that is larger than memory.

    Notes
    -----
    Arrays of the right type (float64 values, int64 offsets), including memory maps, are used
    without a copy: do not change them.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.data import SequencePanel
    >>> panel = SequencePanel.from_sequences([np.zeros((3, 2)), np.ones((1, 2))])
    >>> panel
    <SequencePanel of 2 sequences, 4 observations, 2 features>
    >>> panel[1]
    array([[1., 1.]])
    """

    __slots__ = ()

    _level_names = ("sequence",)
    _ptr_names = ("ptr",)
    _item_name = "observation"
    _values_name = "values"
    _way_out = "Its observations, the sequences end to end, are X.values."

    def __init__(self, values: ArrayLike, ptr: ArrayLike):
        array = _as_observations(values, "values")
        ptrs = self._check_ptrs((ptr,), len(array))
        self._set(np.ascontiguousarray(array, dtype=np.float64), ptrs, array.shape[1])

    @classmethod
    def from_sequences(cls, sequences: Iterable[ArrayLike]) -> Self:
        """Return a panel made from arrays.

        Parameters
        ----------
        sequences : list of (T_i, D) or (T_i,) arrays, or of data frames
            1-D means D = 1.

        Returns
        -------
        SequencePanel

        Raises
        ------
        ValueError
            If a sequence does not hold real numbers or its width differs from the first (the
            message names it), if data frames do not all have the same columns in the same order, or
            if there is no sequence, so that the width is unknown.
        """
        parts = read_parts(sequences, "sequences", "arrays, one per sequence")
        names = common_names(parts)
        arrays = [
            _as_observations(sequence, cls._locate((), i)) for i, sequence in enumerate(parts)
        ]
        if not arrays:
            raise ValueError(
                "A panel cannot be made from no sequences: the size of an observation is unknown."
            )
        width = arrays[0].shape[1]
        for i, array in enumerate(arrays):
            if array.shape[1] != width:
                raise ValueError(
                    f"{cls._locate((), i)} has {array.shape[1]} features, but sequence 0 has "
                    f"{width}: all observations must have the same size."
                )
        # Data frames are stored by columns, so their concatenation is in Fortran order.
        values = np.ascontiguousarray(np.concatenate(arrays, dtype=np.float64))
        ptr = offsets([len(array) for array in arrays])
        return cls._make(values, (ptr,), width, names)

    @classmethod
    def _of_samples(cls, samples: list[Any], n_features: int) -> Self:
        return cls.from_sequences(samples)

    @classmethod
    def from_frame(
        cls, frame: Any, *, by: Any, time: Any = None, columns: Sequence[Any] | None = None
    ) -> Self:
        """Return a panel made from a long data frame, which has one row per step.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The last two need pandas, too.
        by : column name or list of column names
            Columns or levels of the index that identify a sequence, such as a subject, or a subject
            and a session. Rows of different sequences may be interleaved. Sequences are in the
            order of their first occurrence, as in ``frame.groupby(by, sort=False)``.
        time : column name or None, default=None
            Column or level of the index by which the rows of a sequence are sorted: numbers, dates
            or other values that have an order. None: rows are already in the right order. Gaps
            between times are not filled.
        columns : list of column names or None, default=None
            The columns of the observations, in this order. None: all columns except those of `by`
            and `time`.

        Returns
        -------
        SequencePanel
            A panel in which missing values are NaN. The names of columns are its `feature_names` if
            they are text.

        Raises
        ------
        TypeError
            If `frame` is not a data frame.
        ValueError
            If a column is missing, or has the same name as a requested level of the index, or if a
            column of observations does not hold numbers; if a value of `by` or `time` is missing,
            or a sequence has the same time twice.

        Examples
        --------
        >>> import pandas as pd
        >>> from skdp.data import SequencePanel
        >>> frame = pd.DataFrame(
        ...     {"dog": ["Rex", "Ada", "Rex"], "day": [2, 1, 1], "steps": [7.5, 3.0, 6.0]}
        ... )
        >>> panel = SequencePanel.from_frame(frame, by="dog", time="day")
        >>> panel[0]
        array([[6. ],
               [7.5]])
        """
        values, ptr, names = read_frame(frame, by, time, columns)
        return cls._make(values, (ptr,), values.shape[1], names)

    def _with_names(self, names: Sequence[Any] | NDArray[Any] | None) -> Self:
        """Name the columns of a new panel, and return it."""
        if names is not None and all(isinstance(name, str) for name in names):
            self._names = np.array(names, dtype=object)
            self._names.flags.writeable = False
        return self

    def _arrays(self) -> dict[str, NDArray[Any] | None]:
        return {**super()._arrays(), "feature_names": as_saved(self._names)}

    @classmethod
    def _read(cls, folder: Folder, n_features: int | None, mmap_mode: str | None) -> Self:
        values, ptr = cls._read_arrays(folder, mmap_mode)
        panel = cls(values, ptr)
        if n_features is not None and panel.n_features != n_features:
            raise ValueError(f"has {panel.n_features} features, expected {n_features}.")
        names = read_names(folder, panel.n_features, "the columns of values.npy")
        return panel._with_names(names)

    @classmethod
    def _read_n_features(cls, folder: Folder) -> int:
        """Return the width of the observations in a folder."""
        shape = read_shape(folder, cls._values_name)
        return shape[1] if len(shape) == 2 else 1

    @property
    def feature_names(self) -> NDArray[np.object_] | None:
        """(D,) read-only array of str objects, the names of the columns, or None."""
        return self._names

    @property
    def values(self) -> NDArray[np.float64]:
        """(n_observations, D) read-only array of the concatenated sequences."""
        return self._values

    @property
    def ptr(self) -> NDArray[np.int64]:
        """(n_sequences + 1,) read-only array of the offsets of sequences in `values`."""
        return self._ptrs[0]


def _as_observations(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return a 2-D array of real numbers, or raise a ValueError that names the array."""
    array = as_array(values, name)
    if array.dtype == object and array.ndim in (1, 2):
        with contextlib.suppress(TypeError, ValueError):  # the error below names the type
            array = to_numbers(array, name)
    if array.ndim not in (1, 2) or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name}: must be a (T, D) or (T,) array of real numbers, got {array.ndim} dimensions "
            f"and type {array.dtype}."
        )
    return array[:, np.newaxis] if array.ndim == 1 else array


# Helpers for estimators of panels: checks of y, and results split by sequence.


def check_no_lengths(
    y: Any, panel: SequencePanel, is_single: bool, sample: str = "sequence"
) -> None:
    """Raise ValueError if y holds not labels but lengths of sequences, as in other libraries."""
    n_samples = len(panel.values) if is_single else len(panel)
    try:
        lengths = np.asarray(y)
    except ValueError:  # ragged
        return
    if (
        lengths.ndim == 1
        and lengths.dtype.kind in "iu"
        and len(lengths) not in (n_samples, len(panel.values))
        and lengths.min(initial=0) >= 0
        and lengths.sum() == len(panel.values)
    ):
        raise ValueError(
            f"y holds what look like the lengths of {sample}s, and would be ignored: pass X as "
            f"SequencePanel(X, np.cumsum([0, *lengths])), or as a list of arrays, one per {sample}."
        )


def split(rows: NDArray[Any], ptr: NDArray[np.int64], is_single: bool) -> Any:
    """Return a list with the rows of each sequence, or all rows for a single array."""
    return rows if is_single else np.split(rows, ptr[1:-1])


# Conversion of tables of objects to numbers, with errors for other and missing values.


FILL_IN = (
    "takes no missing values: leave out the rows or columns that have them, or fill them in first, "
    "for instance by sklearn.impute.SimpleImputer. Missing values are for "
    "skdp.mixture.IBPLatentFeatures, skdp.sequence.FactorialHMM, and skdp.sequence.HDPHMMLT with "
    "any of its emissions (of RegressionEmission, only the targets)."
)
LEAVE_OUT = "takes no missing values: a word that was not observed is left out."
"""Advice on NaN in tables of values, and in counts or word ids."""


def with_numbers(X: Any, name: str = "X") -> Any:
    """Return X, or a part of it, with objects converted to numbers, and missing values to NaN."""
    if is_frame(X):
        return _with_number_columns(X, name)
    if isinstance(X, list | tuple | int):  # a large int becomes an array of objects
        try:
            X = np.asarray(X)
        except ValueError:
            kinds = ", ".join(dict.fromkeys(type(part).__name__ for part in X))
            raise ValueError(
                f"{name} must be an array, or a list of rows of equal length: a list of {kinds} is "
                "neither."
            ) from None
    if isinstance(X, np.ndarray):
        _check_no_dates(X.dtype, name)
        if X.dtype.kind == "c":  # scikit-learn's message shows the whole array
            raise complex_error(name, X.dtype)
    return to_numbers(X, name) if isinstance(X, np.ndarray) and X.dtype == object else X


def _with_number_columns(frame: Any, name: str) -> Any:
    """Return a data frame whose columns hold numbers, or raise an error that names a column."""
    is_pandas = hasattr(frame, "iloc")
    changed = {}
    for d, (label, values) in enumerate(zip(names_of(frame), columns_of(frame), strict=True)):
        _check_no_dates(
            values.dtype, f"{name}, column {label!r},", ", make them the index, or leave them out"
        )
        if values.dtype.kind == "c":
            raise complex_error(f"{name}, column {label!r},", values.dtype)
        if values.dtype.kind in "biuf":
            continue
        try:
            changed[d] = to_numbers(values, f"{name}, column {label!r},")
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{error} Leave it out, make it the index (dates), or encode it first. Mixtures "
                "and HDPHMMLT read it as categories with a CategoricalEmission; "
                "IndependentEmissions.from_frame(X) has an emission for each column."
            ) from None
    if not changed or not is_pandas:  # scikit-learn converts other data frames
        return frame
    frame = frame.copy()
    for d, values in changed.items():
        frame.isetitem(d, values)
    return frame


def _check_no_dates(dtype: Any, where: str, cure: str = "") -> None:
    if getattr(dtype, "kind", "") in ("M", "m"):
        raise ValueError(
            f"{where} must hold numbers, got dates or times ({dtype}): turn them into numbers "
            f"first{cure}."
        )


def check_finite_array(estimator: Any, values: Any, cure: str) -> None:
    """Raise ValueError for NaN, with the advice `cure`, and for infinity, as scikit-learn does."""
    flat = values.data if issparse(values) else values
    if flat.dtype.kind == "f" and np.isnan(flat).any():
        raise ValueError(f"Input X contains NaN. {type(estimator).__name__} {cure}")
    assert_all_finite(flat, estimator_name=type(estimator).__name__, input_name="X")


def check_finite(panel: SequencePanel, *, allow_nan: bool, cure: str = "") -> None:
    wrong = np.isinf(panel.values) if allow_nan else ~np.isfinite(panel.values)
    rows = wrong.any(axis=1)
    if rows.any():
        first = int(np.argmax(rows))
        kind = "infinity" if np.isinf(panel.values[first]).any() else "NaN"
        place = panel._locate((panel.ptr,), first)
        raise ValueError(f"Input X contains {kind}: {place}.{cure if kind == 'NaN' else ''}")
