"""Checkpoints: files from which an interrupted fit can continue in another process."""

from __future__ import annotations

import os
import time
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import sklearn

import skdp
from skdp._sklearn_compat import has_callbacks
from skdp.callback._part_files import PartFiles
from skdp.callback._pickles import check_unchanged, unpickle, write_checked
from skdp.inference._convergence import warn_user

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
        self.path = Path(path)
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
