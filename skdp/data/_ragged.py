"""Base classes of containers, whose samples of unequal size are concatenated, and their files.

A container pickles, hashes and maps to memory as its arrays do, and samples are selected without a
loop over their content.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from numbers import Integral
from pathlib import Path
from typing import IO, Any, ClassVar, NoReturn, Self, TypeVar
from uuid import uuid4

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from skdp._checks import as_array, is_masked, shorten
from skdp._numeric._numba import as_readonly

# Atomic writing of files.


def check_path(path: Any, name: str) -> Path:
    """Return a path, or raise a TypeError that names the argument."""
    # An integer is not a path: Python's ``open`` would write to the file descriptor and close it.
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"{name} must be a str or a path-like object, got {type(path).__name__}.")
    return Path(path)


@contextlib.contextmanager
def replace_file(
    path: Path, mode: str = "wb", *, is_durable: bool = False, **options: Any
) -> Iterator[IO[Any]]:
    """Open a new file next to `path`, which replaces `path` once everything is written."""
    # After a failure `path` is unchanged. A link stays a link, to the new file; a pipe or a device
    # is written to directly. `is_durable`: wait until the file and its name are on disk.
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(path, mode, **options) as file:
            yield file
        return
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.{uuid4().hex[:12]}.part")
    try:
        with open(unfinished, mode, **options) as file:
            yield file
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        with contextlib.suppress(OSError):  # there was no file, or its permissions are unknown
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
    if is_durable:
        with contextlib.suppress(OSError):  # Windows cannot open folders
            descriptor = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def remove_stale_parts(path: Path) -> None:
    """Remove files that killed processes have left next to `path` in `replace_file`."""
    target = Path(os.path.realpath(path))
    name = re.compile(re.escape(target.name) + r"\.(\d+)\.[0-9a-f]{12}\.part")
    with contextlib.suppress(OSError):  # a folder that cannot be listed
        for unfinished in target.parent.iterdir():
            match = name.fullmatch(unfinished.name)
            if match and not _may_be_alive(int(match[1])):
                with contextlib.suppress(OSError):
                    unfinished.unlink()


def _may_be_alive(pid: int) -> bool:
    """Return whether a process with this number may exist and write to a file."""
    if sys.platform == "win32":  # where os.kill is no query, but open files cannot be removed
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # a process of another user
        pass
    return True


# Reading and writing of containers as folders of .npy files.


Folder = str | os.PathLike[str]


def write_arrays(folder: Folder, arrays: dict[str, NDArray[Any] | None]) -> None:
    """Write arrays into a folder, which is created if needed; None removes a file."""
    place = check_path(folder, "folder")
    place.mkdir(parents=True, exist_ok=True)
    # All arrays are written before the first one replaces an older file: a failure changes nothing.
    # Files are replaced, not overwritten, because arrays may be mapped to them.
    with ExitStack() as stack:
        for name, array in arrays.items():
            if array is not None:
                file = stack.enter_context(replace_file(place / f"{name}.npy"))
                np.save(file, array)
                file.flush()
    for name, array in arrays.items():
        if array is None:
            (place / f"{name}.npy").unlink(missing_ok=True)


def read_array(folder: Folder, name: str, mmap_mode: str | None = None) -> NDArray[Any]:
    """Return an array in a folder, mapped to its file if `mmap_mode` is not None."""
    path = _find(folder, name)
    if mmap_mode is not None and 0 in read_shape(folder, name):
        mmap_mode = None  # empty arrays cannot be mapped
    try:
        if mmap_mode is not None:
            return npy.open_memmap(path, mmap_mode)
        with open(path, "rb") as file:
            return np.asarray(npy.read_array(file, allow_pickle=False))
    except Exception as error:  # damaged headers raise errors of many types
        raise _damage(path, error) from None


def as_saved(names: Sequence[str] | NDArray[Any] | None) -> NDArray[np.str_] | None:
    """Return names of columns or words as an array for a file."""
    if names is None:
        return None
    written = np.array(names, dtype=np.str_)
    if written.tolist() != list(names):
        raise ValueError("feature_names: a name that ends with NUL cannot be saved.")
    return written


def read_names(folder: Folder, n_names: int, what: str) -> list[str] | None:
    """Return the names in a folder, None if it has none; `what` says what they name."""
    if not Path(folder, "feature_names.npy").exists():
        return None
    names = read_array(folder, "feature_names")
    if names.shape != (n_names,) or names.dtype.kind != "U":
        raise ValueError(
            f"feature_names.npy must hold {n_names} strings, the names of {what}, got "
            f"{names.dtype} of shape {names.shape}."
        )
    return list(map(str, names.tolist()))


def read_shape(folder: Folder, name: str) -> tuple[int, ...]:
    """Return the shape of an array in a folder, reading only the header of the file."""
    path = _find(folder, name)
    with open(path, "rb") as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            return tuple(read(file)[0])
        except Exception as error:
            raise _damage(path, error) from None


def _find(folder: Folder, name: str) -> Path:
    """Return the path of an array's file, or raise if there is none."""
    path = check_path(folder, "folder") / f"{name}.npy"
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    return path


def _damage(path: Path, error: Exception) -> Exception:
    """Return an error that names the file, which errors of the system already do."""
    if isinstance(error, OSError) and error.filename is not None:
        return error
    return ValueError(f"{path} is damaged or holds no numbers: {error}")


# Offsets of concatenated parts, and the base class of containers.

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
    """Base class of containers: an immutable sequence of samples of unequal size."""

    # All items are in one array, and each level of nesting has one of offsets, the outermost first:
    # part p holds the parts ``ptr[p]:ptr[p + 1]`` of the next level, or items at the innermost.

    __slots__ = ("_n_features", "_names", "_ptrs", "_values")

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
    _names: Any
    """Names of columns, or the words of the vocabulary; None if they are unknown."""

    @classmethod
    def _make(
        cls, values: NDArray[Any], ptrs: tuple[Offsets, ...], n_features: int, names: Any = None
    ) -> Self:
        """Return a container of arrays without validation."""
        return cls.__new__(cls)._set(values, ptrs, n_features)._with_names(names)

    def _set(self, values: NDArray[Any], ptrs: tuple[Offsets, ...], n_features: int) -> Self:
        self._values = as_readonly(values)
        self._ptrs = tuple(as_readonly(ptr) for ptr in ptrs)
        self._n_features = n_features
        self._names = None
        return self

    def _with_names(self, names: Any) -> Self:
        """Name the features of a new container, and return it."""
        self._names = names
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
        """Return the location of an item or part, such as "document 3, segment 1"."""
        # `index` counts what the last of `ptrs` refer to: items, if these are the offsets of all
        # levels, or innermost parts, if they are all but the last.
        path = [index]
        for ptr in ptrs[::-1]:
            path.insert(0, int(np.searchsorted(ptr, path[0], side="right")) - 1)
        firsts = [0, *(int(ptr[part]) for ptr, part in zip(ptrs, path, strict=False))]
        return ", ".join(
            f"{name} {part - first}"
            for name, part, first in zip(cls._level_names, path, firsts, strict=False)
        )

    @property
    def _item_ptr(self) -> Offsets:
        """Offsets of the samples in the items of all levels."""
        ptr = self._ptrs[0]
        for inner in self._ptrs[1:]:
            ptr = inner[ptr]
        return ptr

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
        names = (cls._values_name, *cls._ptr_names[::-1])
        return [read_array(folder, name, mmap_mode) for name in names]

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
        return self._make(values, ptrs, self._n_features, self._names)

    @classmethod
    def _join_all(cls, containers: Sequence[Self]) -> Self:
        """Return the samples of all containers, which have the same features."""
        levels = zip(*(each._ptrs for each in containers), strict=True)
        values = np.concatenate([each._values for each in containers])
        return containers[0]._like(values, tuple(map(join_offsets, levels)))

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
        return self._make, (self._values, self._ptrs, self._n_features, self._names)

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


# Containers of word ids.


MAX_TOKENS = int(np.iinfo(np.int32).max)
"""Largest number of tokens, and of words in the vocabulary: kernels count both in 32 bits."""


class RaggedTokens(Ragged):
    """Base class of containers of word ids."""

    __slots__ = ()

    _item_name = "token"
    _values_name = "tokens"
    _way_out = "Its word counts are X.to_bow(), a sparse matrix."

    @classmethod
    def _check(
        cls, tokens: ArrayLike, ptrs: tuple[ArrayLike, ...], n_features: int | None
    ) -> tuple[NDArray[np.int32], tuple[Offsets, ...], int]:
        """Return valid arrays for `_set`, without copying arrays of the right type."""
        ids = as_array(tokens, "tokens")
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise ValueError(
                f"tokens must be a 1-D array of integers, got {ids.ndim} dimensions and type "
                f"{ids.dtype}."
            )
        checked_ptrs = cls._check_ptrs(ptrs, len(ids))
        low, high = (int(ids.min()), int(ids.max())) if ids.size else (0, -1)
        if n_features is None:
            bound = min(high + 1, MAX_TOKENS)
        elif (
            isinstance(n_features, Integral)
            and not isinstance(n_features, bool)
            and 0 <= n_features <= MAX_TOKENS
        ):
            bound = int(n_features)
        else:
            raise ValueError(
                f"n_features must be an integer from 0 to {MAX_TOKENS}, got {n_features!r}."
            )
        if low < 0 or high >= bound:
            first = int(np.argmax((ids < 0) | (ids >= bound)))
            raise ValueError(
                f"{cls._locate(checked_ptrs, first)}: word id {ids[first]} is out of range "
                f"[0, {bound})."
            )
        return np.ascontiguousarray(ids, dtype=np.int32), checked_ptrs, bound

    @classmethod
    def _join(
        cls, texts: Sequence[Any], outer: tuple[Offsets, ...]
    ) -> tuple[NDArray[Any], Offsets]:
        """Return the concatenated word ids of the innermost parts `texts`, and their offsets."""
        arrays = []
        for s, text in enumerate(texts):
            if is_masked(text):
                raise ValueError(
                    f"{cls._locate(outer, s)}: must not be a masked array; remove the masked "
                    "entries."
                )
            try:
                ids = np.asarray(text)
            except ValueError:  # its parts differ in length
                ids = np.empty((0, 0))
            if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
                raise ValueError(
                    f"{cls._locate(outer, s)}: must be a sequence of word ids (integers), "
                    f"got {shorten(text)}."
                )
            if ids.dtype == np.uint64 and ids.size:  # joined with int64 they would become floats
                if ids.max() > MAX_TOKENS:
                    raise ValueError(
                        f"{cls._locate(outer, s)}: word id {ids.max()} is larger than {MAX_TOKENS}."
                    )
                ids = ids.astype(np.int64)
            arrays.append(ids)
        filled = [ids for ids in arrays if ids.size]
        tokens = np.concatenate(filled) if filled else np.empty(0, dtype=np.int32)
        return tokens, offsets([len(ids) for ids in arrays])

    @property
    def tokens(self) -> NDArray[np.int32]:
        """(n_tokens,) read-only array of word ids in reading order."""
        return self._values

    def _arrays(self) -> dict[str, NDArray[Any] | None]:
        return {**super()._arrays(), "n_features": np.array(self.n_features)}

    @classmethod
    def _read(cls, folder: Folder, n_features: int | None, mmap_mode: str | None) -> Self:
        if n_features is None:
            n_features = cls._read_n_features(folder)
        tokens, *ptrs = cls._read_arrays(folder, mmap_mode)
        return cls._make(*cls._check(tokens, tuple(ptrs[::-1]), n_features))

    @classmethod
    def _read_n_features(cls, folder: Folder) -> int:
        """Return the size of the vocabulary that is saved in a folder."""
        n_features = read_array(folder, "n_features")
        if n_features.ndim != 0 or n_features.dtype.kind not in "iu":
            raise ValueError(f"n_features.npy of {folder} must hold an integer.")
        return int(n_features)

    def to_bow(self) -> csr_matrix:
        """Return the number of occurrences of each word in each sample.

        Returns
        -------
        (n_samples, n_features) csr_matrix of int64
            Word counts, with sorted column indices.
        """
        ones = np.ones(len(self.tokens), dtype=np.int64)
        counts = csr_matrix((ones, self.tokens, self._item_ptr), shape=self.shape, copy=True)
        counts.sum_duplicates()
        return counts


class TokenSequences(RaggedTokens):
    """Sentences, each a sequence of word ids: the X of grammars and language models.

    A sample is a sentence. ``sentences[i]`` is sentence i, a read-only array of word ids;
    ``sentences[key]`` for a slice, a list or array of ints or a boolean mask is the container of
    these sentences. It is immutable.

    Parameters
    ----------
    tokens : (n_tokens,) array of int
        Word ids, at least 0 and below `n_features`, in reading order.
    ptr : (n_sentences + 1,) array of int
        Sentence i is ``tokens[ptr[i]:ptr[i + 1]]``.
    n_features : int
        Size of the vocabulary.

    Attributes
    ----------
    tokens : (n_tokens,) array of int32
    ptr : (n_sentences + 1,) array of int64
    n_features : int
    shape : (int, int)
        Numbers of sentences and of words in the vocabulary.

    Raises
    ------
    ValueError
        If `ptr` does not rise from 0 to the number of tokens, or if a word id is out of range.

    See Also
    --------
    PartitionedSentences : Sentences that are larger than memory.
    skdp.feature_extraction.TokenVectorizer : Makes sequences of word ids from texts.

    Notes
    -----
    Arrays of the right type (int32 tokens, int64 offsets), including memory maps, are used without
    a copy: do not change them.

    Examples
    --------
    >>> from skdp.data import TokenSequences
    >>> sentences = TokenSequences.from_sequences([[0, 1, 2], [3, 1]])
    >>> sentences
    <TokenSequences of 2 sentences, 5 tokens, 4 features>
    >>> sentences[-1]
    array([3, 1], dtype=int32)
    """

    __slots__ = ()

    _level_names = ("sentence",)
    _ptr_names = ("ptr",)

    def __init__(self, tokens: ArrayLike, ptr: ArrayLike, n_features: int):
        self._set(*self._check(tokens, (ptr,), n_features))

    @classmethod
    def from_sequences(
        cls, sequences: Iterable[Sequence[int] | NDArray[Any]], n_features: int | None = None
    ) -> Self:
        """Return a container made from lists.

        Parameters
        ----------
        sequences : list of sequences of int
        n_features : int or None, default=None
            Size of the vocabulary. None: the largest word id plus 1.

        Returns
        -------
        TokenSequences

        Raises
        ------
        ValueError
            If a sentence is not a sequence of integers, or a word id is out of range; the message
            names the sentence.
        """
        tokens, ptr = cls._join(
            read_parts(sequences, "sequences", "sentences, each a sequence of word ids"), ()
        )
        return cls._make(*cls._check(tokens, (ptr,), n_features))

    @classmethod
    def _of_samples(cls, samples: list[Any], n_features: int) -> Self:
        return cls.from_sequences(samples, n_features)

    @property
    def ptr(self) -> NDArray[np.int64]:
        """(n_sentences + 1,) read-only array of the offsets of sentences in `tokens`."""
        return self._ptrs[0]


# Concatenation of containers.


Container = TypeVar("Container", bound=Ragged)


def concatenate(containers: Iterable[Container]) -> Container:
    """Return the samples of several containers in one container.

    Parameters
    ----------
    containers : list of SegmentedCorpus, of SequencePanel or of TokenSequences
        Containers of one kind with the same number of features.

    Returns
    -------
    container of the same kind
        The samples of the first container, then of the second, and so on. If any corpus has parts,
        a document of a corpus without them is one part.

    Raises
    ------
    TypeError
        If `containers` is not a list of containers of one kind.
    ValueError
        If it is empty, or numbers of features differ: columns of observations, or words of the
        vocabulary. The same word must have the same id in all of them. Also if columns of panels
        differ in name or order.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.data import SequencePanel, concatenate
    >>> first = SequencePanel.from_sequences([np.zeros((3, 2)), np.ones((1, 2))])
    >>> second = SequencePanel.from_sequences([np.full((2, 2), 5.0)])
    >>> concatenate([first, second])
    <SequencePanel of 3 sequences, 6 observations, 2 features>
    """
    what = "containers of one kind, such as SequencePanel"
    if isinstance(containers, Ragged):
        raise TypeError(
            f"containers must be a list of {what}, got a single {type(containers).__name__}."
        )
    parts = read_parts(containers, "containers", what)
    if not parts:
        raise ValueError("containers must hold at least one container, got none.")
    first = parts[0]
    for i, part in enumerate(parts):
        if not isinstance(part, Ragged) or type(part) is not type(first):
            raise TypeError(
                f"containers must be a list of {what}: container {i} is of type "
                f"{type(part).__name__}, container 0 of type {type(first).__name__}."
            )
        if part.n_features != first.n_features:
            raise ValueError(
                f"containers must have the same number of features: container {i} has "
                f"{part.n_features}, but container 0 has {first.n_features}."
            )
        if _names(part) != _names(first):
            raise ValueError(
                f"containers must have the same names of columns in the same order: container {i} "
                f"has {shorten(_names(part))}, but container 0 has {shorten(_names(first))}."
            )
    return type(first)._join_all(parts)


def _names(container: Ragged) -> list[str] | None:
    """Return the names of the columns of a panel, None if it has none."""
    names = getattr(container, "feature_names", None)
    return None if names is None else names.tolist()
