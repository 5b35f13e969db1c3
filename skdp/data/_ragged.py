"""The base class of containers: samples of unequal size, concatenated in flat arrays.

So a container pickles, hashes and maps to memory as its arrays do, and samples are selected without
a loop over their content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array
from skdp._numeric._numba import as_readonly
from skdp.data._files import Folder, read_array, write_arrays
from skdp.data._writing import check_path

Offsets = NDArray[np.int64]
Selection = slice | NDArray[np.int64]


def read_parts(parts: Any, name: str, what: str) -> list[Any]:
    """Return the items of an iterable, or raise a TypeError that names the expected type."""
    if isinstance(parts, str | bytes | dict) or not hasattr(parts, "__iter__"):
        raise TypeError(f"{name} must be a list of {what}, got {type(parts).__name__}.")
    if isinstance(parts, np.ndarray) and parts.ndim == 0:
        raise TypeError(f"{name} must be a list of {what}, got a single value.")
    return list(parts)


def offsets(lengths: ArrayLike) -> Offsets:
    """Return the offsets of parts of these lengths, which start at 0: one more than parts."""
    sizes = np.asarray(lengths, dtype=np.int64)
    ptr = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ptr[1:])
    return ptr


def join_offsets(ptrs: Sequence[Offsets]) -> Offsets:
    """Return the offsets of the parts of several containers, concatenated."""
    return offsets(np.concatenate([np.diff(ptr) for ptr in ptrs]))


def select(ptr: Offsets, parts: Selection) -> tuple[Offsets, Selection]:
    """Return the offsets of the selected parts, and the selection of items on the next level."""
    if isinstance(parts, slice):  # consecutive parts hold consecutive items, so views suffice
        ptr = ptr[parts.start : parts.stop + 1]
        return ptr - ptr[0], slice(int(ptr[0]), int(ptr[-1]))
    begins = ptr[parts]
    selected = offsets(ptr[parts + 1] - begins)
    items = np.arange(selected[-1]) + np.repeat(begins - selected[:-1], np.diff(selected))
    return selected, items


def check_offsets(ptr: ArrayLike, name: str, items: str, n_items: int) -> Offsets:
    array = as_array(ptr, name)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a 1-D array of integers, the first of them 0.")
    array = np.ascontiguousarray(array, dtype=np.int64)
    if array[0] != 0 or array[-1] != n_items or np.any(array[1:] < array[:-1]):
        raise ValueError(
            f"{name} must rise from 0 to {n_items}, the number of {items}, and never fall."
        )
    return array


class Ragged:
    """Base class of containers: an immutable sequence of samples of unequal size.

    All items are in one array, and each level of nesting has one of offsets, the outermost first:
    part p holds the parts ``ptr[p]:ptr[p + 1]`` of the next level, or items at the innermost.
    """

    __slots__ = ("_n_features", "_ptrs", "_values")

    _level_names: ClassVar[tuple[str, ...]]
    """Name of a part of each level, beginning with the sample."""
    _ptr_names: ClassVar[tuple[str, ...]]
    _item_name: ClassVar[str]
    _values_name: ClassVar[str]
    _way_out: ClassVar[str]
    """Advice for users who try to convert the container to an array."""

    _values: NDArray[Any]
    _ptrs: tuple[Offsets, ...]
    _n_features: int

    @classmethod
    def _make(cls, values: NDArray[Any], ptrs: tuple[Offsets, ...], n_features: int) -> Self:
        """Return a container of arrays without validation."""
        return cls.__new__(cls)._set(values, ptrs, n_features)

    def _set(self, values: NDArray[Any], ptrs: tuple[Offsets, ...], n_features: int) -> Self:
        self._values = as_readonly(values)
        self._ptrs = tuple(as_readonly(ptr) for ptr in ptrs)
        self._n_features = n_features
        return self

    @classmethod
    def _check_ptrs(cls, ptrs: tuple[ArrayLike, ...], n_items: int) -> tuple[Offsets, ...]:
        """Return the offsets (outermost first) as int64, or raise a ValueError."""
        checked: list[Offsets] = []
        item = cls._item_name
        for ptr, name, level in zip(
            ptrs[::-1], cls._ptr_names[::-1], cls._level_names[::-1], strict=True
        ):
            checked.append(check_offsets(ptr, name, f"{item}s", n_items))
            item, n_items = level, len(checked[-1]) - 1
        return tuple(checked[::-1])

    @classmethod
    def _locate(cls, ptrs: tuple[Offsets, ...], index: int) -> str:
        """Return the location of an item or part, such as "document 3, segment 1".

        `index` counts what the last of `ptrs` refer to: items, if these are the offsets of all
        levels, or innermost parts, if they are all but the last.
        """
        path = [index]
        for ptr in ptrs[::-1]:
            path.insert(0, int(np.searchsorted(ptr, path[0], side="right")) - 1)
        firsts = [0, *(int(ptr[part]) for ptr, part in zip(ptrs, path, strict=False))]
        return ", ".join(
            f"{name} {part - first}"
            for name, part, first in zip(cls._level_names, path, firsts, strict=False)
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and of features."""
        return len(self), self._n_features

    @property
    def ndim(self) -> int:
        """Always 2: to scikit-learn, a container is a table of samples and features."""
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the items."""
        return self._values.dtype

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._n_features

    def save(self, folder: Folder) -> None:
        """Write the arrays as .npy files, one for each attribute, into a folder.

        Parameters
        ----------
        folder : str or path-like
            A folder, which is created if it does not exist. Files in it with the names of the
            attributes are replaced once all have been written: if anything fails, they stay
            unchanged.

        Raises
        ------
        TypeError
            If `folder` is not a path.
        """
        write_arrays(folder, self._arrays())

    @classmethod
    def load(cls, folder: Folder, *, mmap_mode: str | None = "r") -> Self:
        """Return the container in a folder that was written by `save`, or has the same files.

        Parameters
        ----------
        folder : str or path-like
        mmap_mode : {"r", "c"} or None, default="r"
            "r" or "c": arrays stay in their files and are mapped to memory; None: they are read.

        Returns
        -------
        container of this class

        Raises
        ------
        FileNotFoundError
            If a file is missing.
        ValueError
            If a file is damaged, or arrays are inconsistent; the message names the file or the
            folder.
        TypeError
            If `folder` is not a path.
        """
        if mmap_mode not in ("r", "c", None):
            raise ValueError(f"mmap_mode must be 'r', 'c' or None, got {mmap_mode!r}.")
        place = check_path(folder, "folder")
        try:
            return cls._read(place, None, mmap_mode)
        except ValueError as error:
            if str(place) in str(error):
                raise
            raise ValueError(f"{place}: {error}") from None

    def _arrays(self) -> dict[str, NDArray[Any] | None]:
        """Return the arrays for `save` by name; None if this container has no such array."""
        ptrs = zip(self._ptr_names, self._ptrs, strict=True)
        return {self._values_name: self._values, **dict(ptrs)}

    @classmethod
    def _read(cls, folder: Folder, n_features: int | None, mmap_mode: str | None) -> Self:
        """Return the container in a folder, with `n_features` features if that is not None."""
        raise NotImplementedError

    @classmethod
    def _read_n_features(cls, folder: Folder) -> int:
        """Return the number of features of the container in a folder."""
        raise NotImplementedError

    @classmethod
    def _of_samples(cls, samples: list[Any], n_features: int) -> Self:
        """Return a container made from a list of samples."""
        raise NotImplementedError

    @classmethod
    def _read_arrays(cls, folder: Folder, mmap_mode: str | None) -> list[NDArray[Any]]:
        """Return the values, followed by the offsets from the innermost to the outermost."""
        return [
            read_array(folder, name, mmap_mode)
            for name in (cls._values_name, *cls._ptr_names[::-1])
        ]

    def __len__(self) -> int:
        return len(self._ptrs[0]) - 1

    def __iter__(self) -> Iterator[Any]:
        return (self._sample(i) for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """Return a sample (for an int), or a container of those in a slice, list, array or mask."""
        if isinstance(key, tuple):
            if len(key) != 1 and not (len(key) == 2 and key[1] is Ellipsis):
                raise IndexError(f"A {type(self).__name__} can be indexed only by samples.")
            key = key[0]
        if key is Ellipsis:
            return self
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._take(slice(start, max(start, stop)))
        chosen = np.arange(len(self))[key]
        if chosen.ndim == 0:
            return self._sample(int(chosen))
        if chosen.ndim != 1:
            raise IndexError(
                f"A {type(self).__name__} is indexed by an int, a slice, a mask or a 1-D array."
            )
        return self._take(chosen)

    def _take(self, samples: Selection) -> Self:
        ptrs = []
        chosen = samples
        for ptr in self._ptrs:
            ptr, chosen = select(ptr, chosen)
            ptrs.append(ptr)
        return self._like(self._values[chosen], tuple(ptrs))

    def _like(self, values: NDArray[Any], ptrs: tuple[Offsets, ...]) -> Self:
        """Return a container of other items with all else that this one has."""
        return self._make(values, ptrs, self._n_features)

    @classmethod
    def _join_all(cls, containers: Sequence[Self]) -> Self:
        """Return the samples of all containers, which have the same features."""
        ptrs = []
        for level in zip(*(each._ptrs for each in containers), strict=True):
            ptrs.append(join_offsets(level))
        values = np.concatenate([each._values for each in containers])
        return containers[0]._like(values, tuple(ptrs))

    def _sample(self, i: int) -> Any:
        """Return sample i, for 0 <= i < len(self)."""
        begin, end = self._ptrs[0][i : i + 2]
        return self._values[begin:end]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (
            self._n_features == other._n_features
            and all(map(np.array_equal, self._ptrs, other._ptrs))
            and np.array_equal(self._values, other._values, equal_nan=self.dtype.kind == "f")
        )

    __hash__ = None  # type: ignore[assignment]  # marks the class as unhashable

    def __reduce__(self) -> tuple[Any, ...]:
        return self._make, (self._values, self._ptrs, self._n_features)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(self._sizes())}>"

    def _sizes(self) -> list[str]:
        """Return the numbers of samples, of parts of each level, of items and of features."""
        counts = [
            f"{len(ptr) - 1} {name}s"
            for ptr, name in zip(self._ptrs, self._level_names, strict=True)
        ]
        return [*counts, f"{len(self._values)} {self._item_name}s", f"{self._n_features} features"]

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            f"A {type(self).__name__} cannot become an array: its samples differ in size. "
            f"{self._way_out}"
        )
