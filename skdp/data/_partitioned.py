"""Partitioned data sets, whose partitions are containers that worker processes open."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import glob, has_magic
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from skdp._checks import check_count
from skdp.data._ragged import (
    MAX_TOKENS,
    Folder,
    Ragged,
    TokenSequences,
    check_path,
    concatenate,
    read_parts,
    read_shape,
)
from skdp.data._segmented_corpus import SegmentedCorpus
from skdp.data._sequence_panel import SequencePanel

# Partitions, and the base class of data sets.


@dataclass(frozen=True)
class Partition:
    """A description of a partition, by which any process can open it."""

    kind: type[Ragged]
    number: int
    n_features: int
    source: Any  # Path, container or Delayed; None: the caller of `accept` has the partition
    n_samples: int | None = None  # None: unknown before the partition is opened
    is_raw: bool = False  # Dask computes a list of samples, not a container

    @property
    def where(self) -> str:
        """Name of the partition in error messages, with its folder."""
        place = f" ({self.source.name})" if isinstance(self.source, Path) else ""
        return f"partition {self.number}{place}"

    @property
    def is_delayed(self) -> bool:
        """Whether Dask computes the partition."""
        return not isinstance(self.source, Path | Ragged)

    @property
    def is_in_memory(self) -> bool:
        """Whether the source is a container in the memory of this process."""
        return isinstance(self.source, Ragged)

    def without_source(self) -> Partition:
        """Return a copy without source, whose method `accept` takes the computed partition."""
        return replace(self, source=None)

    def open(self) -> Any:
        """Return the container, mapped to its files if it has any; errors name the partition."""
        found = self.source
        if isinstance(self.source, Path):
            with self.naming_errors():
                found = self.kind._read(self.source, self.n_features, "r")
        elif self.is_delayed:
            with self.naming_errors(Exception):
                found = self.source.compute()
        return self.accept(found)

    @contextmanager
    def naming_errors(self, kinds: Any = (FileNotFoundError, ValueError)) -> Iterator[None]:
        """Return a context in which errors of these kinds name the partition."""
        try:
            yield
        except kinds as error:
            self.raise_named(error)

    def raise_named(self, error: Exception) -> NoReturn:
        """Reraise an error with a message that names the partition."""
        # Built-in errors keep their type. Others, which may need more arguments than a message, get
        # a note.
        is_plain = type(error).__module__ == "builtins"
        if is_plain and not isinstance(error, UnicodeError | ExceptionGroup | StopIteration):
            raise type(error)(f"{self.where}: {error}") from error
        error.add_note(f"It was raised in {self.where}.")
        raise error

    def accept(self, found: Any) -> Any:
        """Check an opened or computed partition, and return it as a container; errors name it."""
        samples = f"{self.kind._level_names[0]}s"
        if self.is_raw:
            found = list(found)
        elif not isinstance(found, self.kind):
            raise TypeError(
                f"{self.where}: must be a {self.kind.__name__}, got {type(found).__name__}."
            )
        if len(found) == 0:
            raise ValueError(f"{self.where} has no {samples}: leave out partitions without any.")
        if self.is_raw:
            with self.naming_errors((ValueError, TypeError)):
                found = self.kind._of_samples(found, self.n_features)
        if found.n_features != self.n_features:
            raise ValueError(
                f"{self.where} has {found.n_features} features, but n_features is "
                f"{self.n_features}."
            )
        return found


class Partitions(Sequence[Any]):
    """The containers of a partitioned data set, which are opened at each access."""

    def __init__(self, parts: tuple[Partition, ...]):
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [part.open() for part in self._parts[i]]
        return self._parts[i].open()

    def __iter__(self) -> Iterator[Any]:
        # That of sequences would end at an IndexError from a partition, and lose the others.
        return (part.open() for part in self._parts)


def is_bag(X: Any) -> bool:
    """Return whether X is a `dask.bag.Bag`, without importing Dask."""
    return any(
        cls.__name__ == "Bag" and cls.__module__.startswith("dask.bag") for cls in type(X).__mro__
    )


class Partitioned:
    """Base class of partitioned data sets, whose containers need not be in memory together."""

    _kind: ClassVar[type[Ragged]]

    _parts: tuple[Partition, ...]
    _n_features: int

    def __init__(self) -> None:
        makers = ", ".join(name for name in dir(self) if name.startswith("from_"))
        raise TypeError(f"Make a {type(self).__name__} by one of {makers}.")

    @classmethod
    def _make(cls, parts: list[Partition]) -> Self:
        made = cls.__new__(cls)
        made._parts = tuple(parts)
        made._n_features = parts[0].n_features
        return made

    @classmethod
    def from_files(cls, folders: Folder | Iterable[Folder], n_features: int | None = None) -> Self:
        """Return the data set in folders of .npy files, each of which is a partition.

        The files have the names of the container's attributes, as written by its method `save`.
        Processes that use them map them to memory.

        Parameters
        ----------
        folders : str, path-like, or list of them
            Paths that may contain wildcards, such as ``"corpus/part-*"``. Matches of a wildcard are
            sorted by name.
        n_features : int or None, default=None
            Number of features. None: that of the first folder.

        Returns
        -------
        partitioned data set

        Raises
        ------
        FileNotFoundError
            If no folder matches, or a file is missing.
        ValueError
            If numbers of features differ or a file is damaged; the message names the partition.
        TypeError
            If `folders` is neither a path nor a list of paths.
        """
        kind = cls._kind
        if not isinstance(folders, str | os.PathLike):
            folders = read_parts(folders, "folders", "paths, or a single path")
        else:
            folders = [folders]
        paths = _expand(folders)
        if n_features is None:
            with Partition(kind, 0, 1, paths[0]).naming_errors():
                n_features = _read_own_n_features(kind, paths[0])
        if n_features is None:
            raise FileNotFoundError(
                f"there is no file {paths[0] / 'n_features.npy'}: give n_features."
            )
        n_features = cls._check_n_features(n_features)
        parts = []
        for i, path in enumerate(paths):
            part = Partition(kind, i, n_features, path)
            with part.naming_errors():
                shape = read_shape(path, kind._ptr_names[0])
                if len(shape) != 1:
                    raise ValueError(f"{kind._ptr_names[0]}.npy must be 1-D, got shape {shape}.")
                own = _read_own_n_features(kind, path)
                if own not in (n_features, None):
                    raise ValueError(f"has {own} features, but n_features is {n_features}.")
            parts.append(replace(part, n_samples=max(shape[0] - 1, 0)))
        return cls._make(parts)

    @classmethod
    def from_delayed(cls, delayed: Iterable[Any], n_features: int) -> Self:
        """Return the data set whose partitions Dask computes.

        Parameters
        ----------
        delayed : list of dask.delayed.Delayed
            Delayed containers with `n_features` features and at least one sample each.
        n_features : int

        Returns
        -------
        partitioned data set

        Raises
        ------
        TypeError
            If `delayed` is not a list of Dask objects.
        ValueError
            If it is empty.
        """
        return cls._of_delayed(
            read_parts(delayed, "delayed", "dask.delayed.Delayed"), n_features, is_raw=False
        )

    @classmethod
    def from_bag(cls, bag: Any, n_features: int) -> Self:
        """Return the data set of a bag of samples, with the partitions of the bag.

        Parameters
        ----------
        bag : dask.bag.Bag
            Samples as in the lists that the container is made from.
        n_features : int

        Returns
        -------
        partitioned data set

        Raises
        ------
        TypeError
            If `bag` is not a bag.
        """
        if not is_bag(bag):
            raise TypeError(f"bag must be a dask.bag.Bag, got {type(bag).__name__}.")
        return cls._of_delayed(bag.to_delayed(), n_features, is_raw=True)

    @classmethod
    def _of_delayed(cls, delayed: list[Any], n_features: int, *, is_raw: bool) -> Self:
        n_features = cls._check_n_features(n_features)
        if not delayed:
            raise ValueError(f"A {cls.__name__} must have at least one partition, got none.")
        for i, each in enumerate(delayed):
            if not hasattr(each, "__dask_graph__") or not hasattr(each, "compute"):
                raise TypeError(
                    f"partition {i}: must be a dask.delayed.Delayed, got {type(each).__name__}."
                )
        return cls._make(
            [
                Partition(cls._kind, i, n_features, each, is_raw=is_raw)
                for i, each in enumerate(delayed)
            ]
        )

    @classmethod
    def _split(cls, container: Any, n_partitions: int) -> Self:
        """Return a container split into runs of samples of about the same size."""
        if not isinstance(container, cls._kind):
            raise TypeError(
                f"Only a {cls._kind.__name__} can be split into a {cls.__name__}, got "
                f"{type(container).__name__}."
            )
        n_partitions = check_count(n_partitions, "n_partitions", at_least=1)
        if n_partitions > len(container):
            raise ValueError(
                f"n_partitions must be at most {len(container)}, the number of "
                f"{cls._kind._level_names[0]}s, got {n_partitions}."
            )
        ends = container._item_ptr[1:]
        # The same runs as the shards of a topic model, if none of these is empty.
        targets = np.arange(1, n_partitions) * (ends[-1] / n_partitions)
        cuts = np.searchsorted(ends, targets, side="left") + 1
        bounds = [0]
        for i, cut in enumerate(cuts, start=1):
            last = len(ends) - (n_partitions - i)  # leaves a sample for each of the remaining runs
            bounds.append(min(max(int(cut), bounds[-1] + 1), last))
        return cls._make(
            [
                Partition(cls._kind, i, container.n_features, container[begin:end], end - begin)
                for i, (begin, end) in enumerate(pairwise([*bounds, len(ends)]))
            ]
        )

    @staticmethod
    def _check_n_features(n_features: Any) -> int:
        n_features = check_count(n_features, "n_features", at_least=1)
        if n_features > MAX_TOKENS:
            raise ValueError(f"n_features must be at most {MAX_TOKENS}, got {n_features}.")
        return n_features

    @property
    def shape(self) -> tuple[float, int]:
        """Numbers of samples and of features; the first is nan if it is unknown."""
        sizes = [part.n_samples for part in self._parts]
        known = [size for size in sizes if size is not None]
        return (sum(known) if len(known) == len(sizes) else np.nan), self._n_features

    @property
    def ndim(self) -> int:
        """Always 2."""
        return 2

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._n_features

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(self._parts)

    @property
    def partitions(self) -> Sequence[Any]:
        """The containers, each of which is opened at access, as in ``X.partitions[i]``."""
        return Partitions(self._parts)

    def compute(self) -> Any:
        """Return all samples in one container, in the memory of this process.

        Returns
        -------
        container

        Raises
        ------
        FileNotFoundError, ValueError, TypeError
            If a partition is missing or invalid; the message names it.
        """
        return concatenate(self.partitions)

    def to_files(self, folder: Folder) -> Self:
        """Write the partitions to folders ``part-00000``, ``part-00001``, ... of .npy files.

        Partitions are opened and written one after another.

        Parameters
        ----------
        folder : str or path-like
            A folder that is empty, or is created if it does not exist.

        Returns
        -------
        partitioned data set
            The data set in these files.

        Raises
        ------
        FileExistsError
            If there is anything in `folder`.
        TypeError
            If `folder` is not a path.

        Notes
        -----
        If a partition cannot be opened or written, the folders of all partitions are removed.
        """
        place = check_path(folder, "folder")
        place.mkdir(parents=True, exist_ok=True)
        if any(place.iterdir()):
            raise FileExistsError(f"The folder {place} is not empty.")
        paths = [place / f"part-{i:05d}" for i in range(self.n_partitions)]
        try:
            for path, part in zip(paths, self._parts, strict=True):
                part.open().save(path)
        except BaseException:
            for path in paths:
                shutil.rmtree(path, ignore_errors=True)
            raise
        return self.from_files(paths, self._n_features)

    def __len__(self) -> int:
        n_samples = self.shape[0]
        if n_samples != n_samples:
            raise TypeError(
                f"The number of samples of this {type(self).__name__} is unknown: use "
                "len(X.compute()), which gathers them in memory."
            )
        return int(n_samples)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: Any) -> NoReturn:
        raise TypeError(
            f"A {type(self).__name__} cannot be indexed by samples: use X.partitions[i], or "
            "X.compute(), which gathers all samples in memory."
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"A {type(self).__name__} cannot be iterated over: use X.partitions, or X.compute(), "
            "which gathers all samples in memory."
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            f"A {type(self).__name__} cannot become an array. X.compute() gathers it in memory, as "
            f"a {self._kind.__name__}."
        )

    def __repr__(self) -> str:
        n_samples = self.shape[0]
        known = f"{n_samples}" if n_samples == n_samples else "unknown number of"
        return (
            f"<{type(self).__name__} of {self.n_partitions} partitions, {known} "
            f"{self._kind._level_names[0]}s, {self._n_features} features>"
        )


def _read_own_n_features(kind: type[Ragged], folder: Path) -> int | None:
    """Return the number of features of the container in a folder, None if no file has it."""
    is_known = (folder / "n_features.npy").exists() or not hasattr(kind, "tokens")
    return kind._read_n_features(folder) if is_known else None


def _expand(folders: list[Folder]) -> list[Path]:
    """Return the paths of folders, with patterns replaced by their matches."""
    paths = []
    for i, folder in enumerate(folders):
        name = str(check_path(folder, f"folders[{i}]"))
        if has_magic(name) and not os.path.exists(name):
            found = sorted(glob(name))
            if not found:
                raise FileNotFoundError(f"No folder matches {name}.")
            paths += [Path(each).absolute() for each in found]
        else:
            if not os.path.isdir(name):
                where = f"partition {len(paths)} ({Path(name).name})"
                raise FileNotFoundError(f"{where}: there is no folder {name}.")
            paths.append(Path(name).absolute())
    if not paths:
        raise ValueError("folders must hold at least one folder, got none.")
    return paths


class PartitionedCorpus(Partitioned):
    """A corpus in partitions, each a `SegmentedCorpus` that is opened by its user.

    Make one by `from_files`, `from_delayed`, `from_bag` or `from_corpus`. Nothing is read before it
    is needed, and no two partitions need to be in memory at the same time.

    Attributes
    ----------
    n_partitions : int
    partitions : sequence of SegmentedCorpus
        ``X.partitions[i]`` opens partition i.
    n_features : int
        Size of the vocabulary.
    shape : (int or nan, int)
        Numbers of documents (nan if unknown) and of words in the vocabulary.

    See Also
    --------
    SegmentedCorpus : A corpus in memory.

    Notes
    -----
    A partition without documents is an error when it is opened. Errors name the partition, its
    folder if there is one, and the document.

    Examples
    --------
    >>> from skdp.data import PartitionedCorpus, SegmentedCorpus
    >>> corpus = SegmentedCorpus.from_documents([[[0, 1, 0], [2]], [[3, 3]], [[1]]])
    >>> X = PartitionedCorpus.from_corpus(corpus, n_partitions=2)
    >>> X
    <PartitionedCorpus of 2 partitions, 3 documents, 4 features>
    >>> X.partitions[1]
    <SegmentedCorpus of 2 documents, 2 segments, 3 tokens, 4 features>
    """

    _kind = SegmentedCorpus

    def __init__(self) -> None:
        super().__init__()

    @classmethod
    def from_corpus(cls, corpus: SegmentedCorpus, n_partitions: int) -> Self:
        """Return a corpus split into runs of whole documents with about equal numbers of tokens.

        Parameters
        ----------
        corpus : SegmentedCorpus
        n_partitions : int
            At most the number of documents.

        Returns
        -------
        PartitionedCorpus
        """
        return cls._split(corpus, n_partitions)


class PartitionedPanel(Partitioned):
    """A panel in partitions, each a `SequencePanel` that is opened by its user.

    Make one by `from_files`, `from_delayed`, `from_bag` or `from_panel`. Nothing is read before it
    is needed. `HDPHMMLT` can be fitted to it, with bit for bit the result of a fit to the whole
    panel; fitted models of sequences, except `StateDetector`, can predict and score it.

    Attributes
    ----------
    n_partitions : int
    partitions : sequence of SequencePanel
        ``X.partitions[i]`` opens partition i.
    n_features : int
        Number of columns of an observation.
    shape : (int or nan, int)
        Numbers of sequences (nan if unknown) and of columns.

    See Also
    --------
    SequencePanel : A panel in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.data import PartitionedPanel, SequencePanel
    >>> panel = SequencePanel.from_sequences([np.zeros((3, 2)), np.ones((1, 2))])
    >>> PartitionedPanel.from_panel(panel, n_partitions=2)
    <PartitionedPanel of 2 partitions, 2 sequences, 2 features>
    """

    _kind = SequencePanel

    def __init__(self) -> None:
        super().__init__()

    @classmethod
    def from_panel(cls, panel: SequencePanel, n_partitions: int) -> Self:
        """Return a panel split into runs of whole sequences with about equal numbers of rows.

        Parameters
        ----------
        panel : SequencePanel
        n_partitions : int
            At most the number of sequences.

        Returns
        -------
        PartitionedPanel
        """
        return cls._split(panel, n_partitions)


class PartitionedSentences(Partitioned):
    """Sentences in partitions, each a `TokenSequences` that is opened by its user.

    Make one by `from_files`, `from_delayed`, `from_bag` or `from_sentences`. Nothing is read before
    it is needed.

    Attributes
    ----------
    n_partitions : int
    partitions : sequence of TokenSequences
        ``X.partitions[i]`` opens partition i.
    n_features : int
        Size of the vocabulary.
    shape : (int or nan, int)
        Numbers of sentences (nan if unknown) and of words in the vocabulary.

    See Also
    --------
    TokenSequences : Sentences in memory.

    Examples
    --------
    >>> from skdp.data import PartitionedSentences, TokenSequences
    >>> sentences = TokenSequences.from_sequences([[0, 1, 2], [3, 1], [2]])
    >>> PartitionedSentences.from_sentences(sentences, n_partitions=2)
    <PartitionedSentences of 2 partitions, 3 sentences, 4 features>
    """

    _kind = TokenSequences

    def __init__(self) -> None:
        super().__init__()

    @classmethod
    def from_sentences(cls, sentences: TokenSequences, n_partitions: int) -> Self:
        """Return sentences split into runs with about equal numbers of words.

        Parameters
        ----------
        sentences : TokenSequences
        n_partitions : int
            At most the number of sentences.

        Returns
        -------
        PartitionedSentences
        """
        return cls._split(sentences, n_partitions)
