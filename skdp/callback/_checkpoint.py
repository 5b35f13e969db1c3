"""Checkpoints: files from which an interrupted fit can continue in another process."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import shutil
import time
from collections.abc import Iterator
from numbers import Integral, Real
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, TypeVar
from uuid import uuid4

import sklearn

import skdp
from skdp._sklearn_compat import has_callbacks
from skdp.data._ragged import check_path, replace_file
from skdp.inference._convergence import warn_user

# Files for the parts of a fit that partitions hold, next to the checkpoint that names them.


_GENERATION = re.compile(r"step-\d{8,}-[0-9a-f]{8}")


def part_header(path: Path) -> bytes:
    """Return the header of a partition's file, which identifies the step that it belongs to."""
    return f"skdp partition {path.parent.name}/{path.name}\n".encode()


class PartFiles:
    """The folders of a checkpoint, each with the files of all partitions at a step.
    The checkpoint names a folder that is complete; others are removed only after it is written.
    """

    def __init__(self, path: Path):
        self._folder = path.absolute().with_name(f"{path.name}.parts")

    def make(self, n_steps: int) -> Path:
        """Return a new folder for the parts that partitions hold after `n_steps` steps."""
        folder = self._folder / f"step-{n_steps:08d}-{uuid4().hex[:8]}"
        folder.mkdir(parents=True)
        return folder

    def find(self, name: str) -> Path:
        """Return the path of the folder with a name."""
        return self._folder / name

    def keep(self, name: str | None) -> None:
        """Remove all folders except `name`."""
        if not self._folder.is_dir():
            return
        for folder in self._folder.iterdir():
            if folder.name != name and _GENERATION.fullmatch(folder.name):
                shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # it is not empty
            self._folder.rmdir()


# Pickles with a hash of their content, by which changes of a file are detected.


_CHUNK = 2**20

Content = TypeVar("Content")


class _HashingWriter:
    """A file for writing, with the hash of all bytes written."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self.hash = hashlib.sha256()

    def write(self, data: Any) -> int:
        """Write bytes and add them to the hash."""
        self.hash.update(data)
        return self._file.write(data)


def write_checked(path: Path, content: Any, header: bytes) -> int:
    """Write a header, the pickle of `content` and a hash of both; return the size of the file."""
    with replace_file(path, is_durable=True) as file:
        writer = _HashingWriter(file)
        writer.write(header)
        pickle.dump(content, writer, protocol=5)
        file.write(writer.hash.digest())
        return file.tell()


def read_checked(path: Path, header: bytes) -> list[Any]:
    """Return the list written with this header, or raise ValueError if the file has changed."""
    with open(path, "rb") as file:
        check_unchanged(file, path)
        if file.read(len(header)) != header:
            raise ValueError(_damaged(path))
        return unpickle(file, path, list)


def check_unchanged(file: BinaryIO, path: Path) -> None:
    """Raise ValueError unless a file ends with the hash of all bytes before; rewind the file.
    Call this before `unpickle`, because a changed pickle can crash the process.
    """
    found = hashlib.sha256()
    n_left = file.seek(0, os.SEEK_END) - found.digest_size
    file.seek(0)
    while n_left > 0:
        chunk = file.read(min(n_left, _CHUNK))
        found.update(chunk)
        n_left -= len(chunk)
    if n_left < 0 or file.read() != found.digest():
        raise ValueError(_damaged(path))
    file.seek(0)


def unpickle(file: BinaryIO, path: Path, kind: type[Content]) -> Content:
    """Return the object of class `kind` that is pickled at the current position of a file."""
    try:
        content = pickle.load(file)
    except Exception as error:
        raise ValueError(_damaged(path)) from error
    if not isinstance(content, kind):
        raise ValueError(_damaged(path))
    return content


def _damaged(path: Path) -> str:
    return (
        f"The file {path} of a checkpoint is damaged: it differs from what was written. Delete the "
        "checkpoint to start over, or give another path."
    )


# The callback, and the content of its files.

_MAGIC = "skdp checkpoint "
_FORMAT = f"{_MAGIC}2 "
"""The beginning of files. The first format had no hash of the content."""
_LONGEST_HEADER = 1000


class CheckpointContent(NamedTuple):
    """The content of a checkpoint file, besides its header."""

    settings: dict[str, Any]  # parameters of the estimator
    state: Any  # `FitState`: the runs without their data
    parts: str | None = None  # folder of the parts that partitions hold, in a fit to partitions


class Checkpoint:
    """Callback that writes a fit to a file at intervals, from which another fit can continue.

    If `path` holds a checkpoint, ``model.set_callbacks(Checkpoint(path)).fit(X)`` continues from
    it, in another process or after a crash, and returns bit for bit the result of a fit that was
    never stopped. So you can rerun the same script without changes.

    Parameters
    ----------
    path : str or path-like
        File to write to and to continue from. Its folder must exist.
    every_sweeps : int or None, default=None
        Number of sweeps (or iterations of grammars) between checkpoints, >= 1. None: no limit.
    every_seconds : float or None, default=600.0
        Number of seconds between checkpoints, > 0; a checkpoint is written at the end of the
        current sweep. None: no limit.

    Raises
    ------
    RuntimeError
        With scikit-learn before 1.9, which does not call callbacks.
    ValueError
        If both `every_sweeps` and `every_seconds` are None, or one is out of range.

    Notes
    -----
    A checkpoint is also written at the end of a fit, and when the fit is interrupted between two
    sweeps. `fit` raises ValueError if `path` holds anything but a checkpoint of the same estimator,
    parameters, data and version of skdp, if one byte of it has changed, or if another running fit
    uses it. Only `max_iter`, `n_jobs`, `verbose`, `warm_start` and parameters that matter only
    after the fit may differ: with a larger `max_iter` the fit continues. A `random_state` that is a
    generator is assumed to be the same.

    There is a locked file ``<path>.skdp-lock`` while a fit runs. The lock ends with the process,
    and the next fit removes the leftover files of a fit that was killed. Some network drives have
    no such locks: there only fits of the same process are detected.

    Files are written next to `path`, flushed to disk and renamed, so there is always a complete
    file. They are pickles: continue only from files that you trust. They hold the state of chains,
    such as the topic of every word, but not the data.

    In a fit to partitions, such as a `PartitionedCorpus`, every partition writes its part of the
    chains to a file in the folder ``<path>.parts``. This folder belongs to the checkpoint, and the
    client and all workers of a cluster must have access to it. The first checkpoint of such a fit
    is written before the first sweep, and OSError is raised if that fails. When a worker is lost,
    the fit automatically returns to the last checkpoint, with a warning; the third loss in a row is
    an error.

    Several chains run some sweeps at a time, at most a fiftieth of `max_iter`, before a checkpoint
    can be written. In a grid search all fits would write to the same file, so all but one raise an
    error.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skdp.callback import Checkpoint
    >>> from skdp.topics import GibbsLDA
    >>> documents = [[[0, 1, 0]], [[2, 3, 2]]]
    >>> path = Path(tempfile.mkdtemp(), "lda.checkpoint")
    >>> model = GibbsLDA(2, max_iter=30, random_state=0).set_callbacks(Checkpoint(path))
    >>> model.fit(documents).n_iter_  # after a kill, the same line would continue
    30
    >>> model.set_params(max_iter=40).fit(documents).n_iter_
    40
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        every_sweeps: int | None = None,
        every_seconds: float | None = 600.0,
    ):
        if not has_callbacks():
            raise RuntimeError(
                "Checkpoint needs the callbacks of scikit-learn 1.9 or later; this is scikit-learn "
                f"{sklearn.__version__}."
            )
        if every_sweeps is None and every_seconds is None:
            raise ValueError("Give every_sweeps or every_seconds; both are None.")
        if every_sweeps is not None and not (
            isinstance(every_sweeps, Integral)
            and not isinstance(every_sweeps, bool)
            and every_sweeps >= 1
        ):
            raise ValueError(f"every_sweeps must be an int >= 1 or None, got {every_sweeps!r}.")
        if every_seconds is not None and not (
            isinstance(every_seconds, Real)
            and not isinstance(every_seconds, bool)
            and every_seconds > 0
        ):
            raise ValueError(f"every_seconds must be a number > 0 or None, got {every_seconds!r}.")
        self.path = check_path(path, "path")
        self.every_sweeps = None if every_sweeps is None else int(every_sweeps)
        self.every_seconds = every_seconds
        self._n_written = 0
        self._parts: str | None = None
        """Name of the folder of partition files that belongs to the checkpoint file."""

    def __repr__(self) -> str:
        return (
            f"Checkpoint({str(self.path)!r}, every_sweeps={self.every_sweeps}, "
            f"every_seconds={self.every_seconds})"
        )

    # The protocol

    def setup(self, estimator: Any, context: Any) -> None:
        """Start counting sweeps and seconds.

        Parameters
        ----------
        estimator : estimator that is fitted
        context : sklearn.callback.CallbackContext
        """
        if not hasattr(estimator, "_loop"):
            raise TypeError(
                f"Checkpoint is for estimators of skdp that fit step by step, not for "
                f"{type(estimator).__name__}."
            )
        self._n_sweeps = estimator._loop.n_steps
        self._time = time.monotonic()

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing: the last checkpoint is written before the end of the fit.

        Parameters
        ----------
        estimator : estimator that is fitted
        context : sklearn.callback.CallbackContext
        """

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing.

        Parameters
        ----------
        estimator : estimator that is fitted
        context : sklearn.callback.CallbackContext
        """

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Write a checkpoint if one is due.

        Parameters
        ----------
        estimator : estimator that is fitted
        context : sklearn.callback.CallbackContext
        """
        n_new = estimator._loop.n_steps - self._n_sweeps
        if (
            (self.every_sweeps is not None and n_new >= self.every_sweeps)
            or (
                self.every_seconds is not None
                and time.monotonic() - self._time >= self.every_seconds
            )
            or (context.task_name == "fit" and n_new > 0)
        ):
            self._save(estimator)

    # The file

    def _save(self, estimator: Any) -> None:
        """Write a checkpoint of an estimator's running fit; if that fails, warn and go on."""
        try:
            self._write(estimator)
        except OSError as error:
            warn_user(
                f"The checkpoint {self.path} could not be written: {error}. The fit continues.",
                RuntimeWarning,
            )
        self._n_sweeps = estimator._loop.n_steps
        self._time = time.monotonic()

    def _write(self, estimator: Any) -> None:
        """Write a checkpoint of the running fit; if that fails, the previous one remains."""
        header = f"{_FORMAT}{skdp.__version__} {type(estimator).__name__}\n"
        files = PartFiles(self.path)
        try:
            content = estimator._loop.checkpoint(files)
            write_checked(self.path, content, header.encode())
            self._parts = content.parts
            self._n_written += 1
        finally:
            files.keep(self._parts)

    def _load(self, estimator: Any) -> CheckpointContent | None:
        """Return the content of the file, from a fit of the same class, or None without a file."""
        if not self.path.absolute().parent.is_dir():  # before work that no checkpoint would save
            raise FileNotFoundError(f"The folder of the checkpoint {self.path} does not exist.")
        self._parts = None
        if not self.path.exists():
            return None
        if self.path.is_dir():
            raise ValueError(f"{self.path} is a folder, not a checkpoint of skdp.")
        with open(self.path, "rb") as file:
            self._check_format(file.readline(_LONGEST_HEADER))
            check_unchanged(file, self.path)
            self._check_header(file.readline(_LONGEST_HEADER), estimator)
            content = unpickle(file, self.path, CheckpointContent)
        self._parts = content.parts
        return content

    def _check_format(self, header: bytes) -> None:
        """Raise ValueError unless the first line is that of a file with a hash at its end."""
        if not header.startswith(_MAGIC.encode()):
            raise ValueError(f"{self.path} is not a checkpoint of skdp.")
        if not header.startswith(_FORMAT.encode()):
            raise ValueError(
                f"The checkpoint {self.path} is damaged, or an earlier version of skdp wrote it, "
                "without a hash of its content. Delete it to start over, or give another path."
            )

    def _check_header(self, header: bytes, estimator: Any) -> None:
        """Raise ValueError unless this version wrote the file in a fit of the same estimator."""
        version, _, name = header.decode().removeprefix(_FORMAT).rstrip("\n").partition(" ")
        if version != skdp.__version__:
            raise ValueError(
                f"The checkpoint {self.path} was written by skdp {version}; this is skdp "
                f"{skdp.__version__}."
            )
        if name != type(estimator).__name__:
            raise ValueError(
                f"The checkpoint {self.path} is of a fit of {name}, not of "
                f"{type(estimator).__name__}."
            )


# Locks of the operating system, which give the path of a checkpoint to one fit at a time.


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment,unused-ignore]  # a module on other systems
    import msvcrt

_held: dict[str, object] = {}
"""The real paths that fits of this process hold. System locks belong to a process, so they do not
distinguish its threads."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_held.clear)


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Return a context in which no other fit writes checkpoints to `path`, or raise ValueError."""
    key, mine, pid = os.path.normcase(os.path.realpath(path)), object(), os.getpid()
    if _held.setdefault(key, mine) is not mine:
        raise ValueError(_in_use(path, "of this process"))
    # The system's lock ends with the process, however that ends.
    lock_file = path.with_name(f"{path.name}.skdp-lock")
    try:
        descriptor = _open_locked(path, lock_file)
        try:
            yield
        finally:
            if descriptor is not None and os.getpid() == pid:  # not in a process forked meanwhile
                _release(descriptor, lock_file)
    finally:
        _held.pop(key, None)


def _open_locked(path: Path, lock_file: Path) -> int | None:
    """Return the descriptor of a locked file, None if files cannot be locked."""
    while True:
        try:
            descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:  # the folder is not writable, which the first checkpoint will report
            return None
        try:
            _lock(descriptor)
        except (BlockingIOError, PermissionError):
            os.close(descriptor)
            raise ValueError(_in_use(path, "of another process")) from None
        except OSError:
            _release(descriptor, lock_file)
            return None
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), os.stat(lock_file)):
                return descriptor
        os.close(descriptor)  # its owner has removed the file meanwhile


def _lock(descriptor: int) -> None:
    """Lock a file, or raise OSError at once."""
    if fcntl is not None:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        lock = msvcrt.LK_NBLCK  # type: ignore[attr-defined,unused-ignore]  # Windows only
        msvcrt.locking(descriptor, lock, 1)  # type: ignore[attr-defined,unused-ignore]  # the same


def _release(descriptor: int, lock_file: Path) -> None:
    """Remove the file of a lock and close it."""
    if fcntl is not None:  # remove it while locked: another fit may lock its own right after
        with contextlib.suppress(OSError):
            lock_file.unlink()
        os.close(descriptor)
    else:  # open files cannot be removed
        os.close(descriptor)
        with contextlib.suppress(OSError):
            lock_file.unlink()


def _in_use(path: Path, whose: str) -> str:
    return (
        f"The checkpoint {path} is in use by another fit {whose}. Give each fit a path of its own, "
        "or wait until that fit ends."
    )
