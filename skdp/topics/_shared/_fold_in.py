"""Fold-in of new documents under given topics.

Kernels of fold-ins have arguments in common. Every document has its own chain of `n_sweeps`, the
first `burn_in` of which are discarded, and its own stream `rng`, which its content and `key`
determine. A call ends after the sweep that completes `work`, or `amount`: words, segments and
documents, counted once per sweep. The next call continues from `place`: the document, and the
number of its finished sweeps. Outputs are zero on first entry.
"""

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
    """Settings of a fold-in."""

    n_sweeps: int
    burn_in: int
    key: NDArray[np.uint64]
    n_jobs: int | None
    options: dict[str, Any]  # of a family of models


class Halt:
    """Flag that stops workers in other threads whose results are no longer needed."""

    def __init__(self) -> None:
        self.called = False  # always in copies in other processes: joblib ends such workers


def slices(halt: Halt) -> Iterator[int]:
    """Yield the amount of work of the next kernel call, until the loop ends or is halted.

    Python cannot raise a KeyboardInterrupt before a kernel returns, so a call takes about a tenth
    of a second; the time per word differs a thousandfold. Splits do not affect the result.
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
    """Return ``function(*part, halt)`` for every part; an exception here halts the workers."""
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

    Instances are equal only to themselves (``eq=False``): joblib hashes what it sends to dask.
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
    """Yield topic shares of documents and of segments for each model, with its topics fixed."""
    # Chunks do not affect the result, because each document has its own random stream.
    n_chunks = max(1, min(len(corpus), len(corpus.tokens) // _CHUNK_TOKENS))
    bounds = np.linspace(0, len(corpus), n_chunks + 1).astype(int)
    for m, model in enumerate(models):
        fold_in = model.prepare(corpus, settings)
        key = settings.key + np.uint64(m)  # so that errors are independent
        chunks = [(corpus[begin:end], key) for begin, end in pairwise(bounds)]
        parts = run_in_threads(fold_in, chunks, settings.n_jobs)
        yield tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
