"""A corpus in partitions that an executor has distributed, as the data of a fit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4
from weakref import finalize, ref

import numpy as np

from skdp._executors import Distributed, Executor
from skdp.data import PartitionedCorpus
from skdp.topics._shared._allowed import AllowedTopics
from skdp.topics._shared._partition import CorpusPartition, Size


def _drop(executor: Executor) -> None:
    """Drop unneeded partitions; a loop of Dask cannot wait for itself, so it uses a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        executor.drop()
    else:
        Thread(target=executor.drop, daemon=True).start()


class DistributedCorpus(Distributed):
    """Partitions of documents that an executor has distributed, as the data of a fit."""

    def __init__(self, X: PartitionedCorpus, executor: Executor):
        super().__init__(X, executor, CorpusPartition)
        self._source = ref(X)
        self._fit = uuid4().hex
        self._digests: list[str] | None = None
        finalize(self, _drop, executor).atexit = False  # at exit the processes end in any case
        self.sizes: list[Size]
        (self.sizes,) = self.sum("measure")

    @property
    def n_units(self) -> int:
        """Number of words, the unit in which sweeps are measured."""
        return self.n_tokens

    @property
    def n_tokens(self) -> int:
        """Number of words of the corpus."""
        return sum(size.n_tokens for size in self.sizes)

    def label(self, y: Sequence[Any] | None, check: Callable[..., AllowedTopics | None]) -> None:
        """Send the labels of documents, if any, to their partitions, and `check` both there."""
        ends = np.cumsum([0, *(size.n_documents for size in self.sizes)]).tolist()
        if y is not None and len(y) != ends[-1]:
            raise ValueError(
                f"y must have a set of topics, or None, for each of the {ends[-1]} documents, got "
                f"{len(y)}."
            )
        self.is_labeled = y is not None
        y = None if y is None else list(y)
        parts = [(y and y[begin:end], begin) for begin, end in pairwise(ends)]
        self.run("set_labels", self.share(check), each=parts)

    is_labeled = False
    """Whether documents have labels."""

    def begin(self, c: int, make: Callable[..., Any], *streams: list[Any]) -> Any:
        """Create the first state of chain `c`; return a handle of the counts of all words."""
        shared = self._executor.share(make)
        calls = [
            self._executor.call(s, "begin", self._fit, c, shared, s == 0, *own)
            for s, own in enumerate(zip(*streams, strict=True))
        ]
        return self._executor.total(calls)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a small replacement of the data for hashing."""
        if self._digests is None:
            (self._digests,) = self.sum("digest")
        return str, (repr((self.n_features, self._digests)),)

    def is_with(self, executor: Executor) -> bool:
        """Return whether this executor has the partitions."""
        return self._executor is executor

    def is_of(self, X: PartitionedCorpus) -> bool:
        """Return whether this was made from X itself."""
        return self._source() is X

    def go_on(self, n_jobs: int | None) -> None:
        """Prepare for another fit; raise a LostWorkerError if partitions are lost."""
        self._executor.go_on(n_jobs)

    def read(self, folder: Path) -> None:
        """Make all partitions restore their files; `restored` returns the counts of chains."""
        self._restored = self.sum("read", self._fit, each=self._paths(folder))

    def restored(self, c: int) -> Any:
        """Return a handle of the counts of all words of the restored chain `c`."""
        return self.share((self._restored[c],))

    def keep(self, method: str, *args: Any, shapes: list[tuple[int, ...]]) -> Any:
        """Return the arrays of all partitions as one array, which stays in place."""
        return self._executor.keep(method, *args, shapes=shapes)
