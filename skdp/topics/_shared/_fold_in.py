"""Fold-in of new documents under given topics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus

_CHUNK_TOKENS = 20_000

_SLICE_SECONDS = 0.1
_FIRST_SLICE = 20_000

Shares = tuple[NDArray[Any], ...]
"""Topic shares of documents (D, ...) and of segments (J, K), and what else a model returns."""


class FoldIn(NamedTuple):
    """Settings of a fold-in.

    Attributes
    ----------
    n_sweeps, burn_in : int
    key : (4,) uint64 array
        Key that determines a document's random stream together with the document's content.
    n_jobs : int or None
    options : dict
        Additional settings of a family of models.
    """

    n_sweeps: int
    burn_in: int
    key: NDArray[np.uint64]
    n_jobs: int | None
    options: dict[str, Any]


class Halt:
    """Flag that stops workers in other threads whose results are no longer needed.

    A worker in another process has a copy, which is never set: joblib ends such workers.
    """

    def __init__(self) -> None:
        self.called = False


def slices(halt: Halt) -> Iterator[int]:
    """Yield the amount of work of the next kernel call, until the loop ends or is halted.

    Python cannot raise a KeyboardInterrupt before a kernel returns. So a long task is split into
    calls of about a tenth of a second each. The splits do not affect the result, so they may
    depend on the clock: the time per word differs a thousandfold between models.
    """
    work = float(_FIRST_SLICE)
    while not halt.called:
        start = time.perf_counter()
        yield int(work)
        work *= min(max(_SLICE_SECONDS / max(time.perf_counter() - start, 1e-9), 0.25), 2.0)
        work = max(work, 1.0)


def run_in_threads(
    function: Callable[..., Any], parts: list[tuple[Any, ...]], n_jobs: int | None
) -> list[Any]:
    """Return ``function(*part, halt)`` for every part.

    If an exception is raised here, such as a KeyboardInterrupt, the workers are halted.
    """
    halt = Halt()
    try:
        results = Parallel(n_jobs=n_jobs, prefer="threads", max_nbytes=None)(
            delayed(function)(*part, halt) for part in parts
        )
    except BaseException:
        halt.called = True
        raise
    return list(results)


class Folding(Protocol):
    """A function that folds documents in; it is a class, so that it can be pickled.

    Its instances are equal only to themselves (``eq=False``): joblib hashes the objects that it
    sends to dask.
    """

    def __call__(self, corpus: SegmentedCorpus, key: NDArray[np.uint64], halt: Halt) -> Shares:
        """Return the shares of the documents and of their segments, or anything if halted."""


class Model(Protocol):
    """A stored sample of a topic model."""

    @property
    def components(self) -> NDArray[np.float32]:
        """Word probabilities of the topics, (K, W)."""

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> Folding:
        """Return the fold-in of documents of the corpus, with its tables precomputed."""


def fold_in_documents(
    corpus: SegmentedCorpus, models: list[Any], settings: FoldIn
) -> Iterator[Shares]:
    """Yield topic shares of documents and of segments for each model, with its topics fixed.

    Documents are independent given the topics, and each has its own random stream, so the chunks
    do not affect the result. Each model adds its index to the key of the streams, so that the
    errors of the fold-ins are independent.
    """
    n_chunks = max(1, min(len(corpus), len(corpus.tokens) // _CHUNK_TOKENS))
    bounds = np.linspace(0, len(corpus), n_chunks + 1).astype(int)
    for m, model in enumerate(models):
        fold_in = model.prepare(corpus, settings)
        key = settings.key + np.uint64(m)
        chunks = [(corpus[begin:end], key) for begin, end in pairwise(bounds)]
        parts = run_in_threads(fold_in, chunks, settings.n_jobs)
        yield tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
