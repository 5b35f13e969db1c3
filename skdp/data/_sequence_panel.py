"""Sequences of observations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array
from skdp.data._columns import to_numbers
from skdp.data._files import Folder, as_saved, read_names, read_shape
from skdp.data._frames import common_names, read_frame
from skdp.data._ragged import Offsets, Ragged, offsets, read_parts


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

    __slots__ = ("_feature_names",)

    _feature_names: NDArray[np.object_] | None

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
        return cls._make(values, (ptr,), width)._with_names(names)

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
        return cls._make(values, (ptr,), values.shape[1])._with_names(names)

    def _set(self, values: NDArray[Any], ptrs: tuple[Offsets, ...], n_features: int) -> Self:
        self._feature_names = None
        return super()._set(values, ptrs, n_features)

    def _with_names(self, names: Sequence[Any] | NDArray[Any] | None) -> Self:
        """Name the columns of a new panel, and return it."""
        if names is not None and all(isinstance(name, str) for name in names):
            self._feature_names = np.array(names, dtype=object)
            self._feature_names.flags.writeable = False
        return self

    def _arrays(self) -> dict[str, NDArray[Any] | None]:
        return {**super()._arrays(), "feature_names": as_saved(self._feature_names)}

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

    def _like(self, values: NDArray[Any], ptrs: tuple[Offsets, ...]) -> Self:
        return super()._like(values, ptrs)._with_names(self._feature_names)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (type(self), self._values, self._ptrs[0], self._feature_names)

    @property
    def feature_names(self) -> NDArray[np.object_] | None:
        """(D,) read-only array of str objects, the names of the columns, or None."""
        return self._feature_names

    @property
    def values(self) -> NDArray[np.float64]:
        """(n_observations, D) read-only array of the concatenated sequences."""
        return self._values

    @property
    def ptr(self) -> NDArray[np.int64]:
        """(n_sequences + 1,) read-only array of the offsets of sequences in `values`."""
        return self._ptrs[0]


def _remake(
    cls: type[SequencePanel],
    values: NDArray[np.float64],
    ptr: Offsets,
    names: NDArray[np.object_] | None,
) -> SequencePanel:
    """Return the panel of unpickled attributes."""
    return cls._make(values, (ptr,), values.shape[1])._with_names(names)


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
