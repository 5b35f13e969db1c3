"""Blocked sampler for large mixtures: all rows are drawn at once given the parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from skdp._executors import call_all
from skdp._numeric._random import draw_key
from skdp._numeric._typing import Floats, Places
from skdp.mixture import _kernels_blocked as kernels
from skdp.mixture import _kernels_large_moves as large_moves
from skdp.mixture._cluster_sampler import IMPOSSIBLE
from skdp.mixture._sampler import MixtureSampler

_FIVE = 5

_N_TRIES = 20
"""Moves of large clusters in a sweep, and as many of small ones."""

_FEW_ROWS = 20_000
"""Largest number of rows in a move that draws rows one by one, each given the others."""


def count_stirs(n_rows: int) -> int:
    """Return the number of proposals per sweep that open or remove a singleton cluster."""
    return 20 + int(n_rows**0.5)


class BlockedSampler(MixtureSampler):
    """Markov chain over the states of `MixtureSampler` with steps that draw all rows at once."""

    def __init__(self, *args: Any, n_jobs: int | None = None, **params: Any):
        self.n_jobs = n_jobs
        super().__init__(*args, **params)

    @property
    def _blocked(self) -> kernels.BlockedKernels:
        return kernels.blocked_kernels_of(self._terms.kind)

    def _weigh_alone(self) -> Floats:
        """Return the log densities of rows that are alone, at their drawn values and weights."""
        if not self._is_augmented:
            return self._log_alone
        _, rows, prior = self._terms
        out, room = np.empty(len(self.labels)), self._terms.make_clusters(1)
        kernels.weigh_completed_alone(
            rows, prior, room, self._order, self._terms.make_scratch(1), out
        )
        return out

    def _seat_others(self, order: Places, rng: NDArray[np.uint64]) -> None:
        """Draw the clusters of all unassigned rows at once."""
        drawn = self._draw_parameters(self._move(0, 0, rng), rng)
        self._draw_rows(drawn, rng, others=True)

    def sweep(self) -> None:
        """Move clusters, draw parameters and the clusters of rows, then the hyperparameters."""
        n_rows = len(self.labels)
        n_tries = _N_TRIES if self.split_merge and n_rows > 1 else 0
        n_large = n_tries if n_rows > _FEW_ROWS else 0
        clusters = self._move(n_tries, _FEW_ROWS, self.stream, n_spare=n_large)
        self._move_large(clusters, n_large, self.stream)
        clusters = self._stir(clusters, count_stirs(n_rows), self.stream)
        self._draw_rows(self._draw_parameters(clusters, self.stream), self.stream)
        self._draw_above()

    def _move_large(self, clusters: Any, n_tries: int, rng: NDArray[np.uint64]) -> None:
        """Try `n_tries` moves of large clusters; `clusters` must have room for the new ones."""
        _, rows, prior = self._terms
        n_rows, n_sample = len(self.labels), large_moves.SAMPLE + 2
        n_clusters = self._blocked.move_large(
            n_tries, rows, prior, clusters, self._terms.make_clusters(_FIVE), self.n_clusters,
            self.labels, self._pinned, np.empty(n_rows, dtype=np.int64),
            np.empty(self._capacity + 1, dtype=np.int64), self.discount, self.concentration,
            self._one_group(), np.empty((2, self._capacity + 1)), np.empty(_FIVE),
            np.empty((2, n_sample), dtype=np.int64), np.empty((3, n_sample), dtype=np.int8),
            np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int8),
            self._terms.make_scratch(self._capacity), rng,
        )  # fmt: skip
        if n_clusters < 0:
            raise ValueError(IMPOSSIBLE)
        self.n_clusters = n_clusters

    def _stir(self, clusters: Any, n_tries: int, rng: NDArray[np.uint64]) -> Any:
        """Open and remove singleton clusters; return the statistics of all clusters."""
        _, rows, prior = self._terms
        row_sums = np.zeros(self._capacity, dtype=np.int64)
        kernels.sum_rows(self.labels, row_sums)
        members = np.empty(len(self.labels), dtype=np.int64)
        log_alone = self._weigh_alone()
        while n_tries > 0:
            if self.n_clusters == self._capacity:
                self._capacity *= 2
                clusters = _widen_all(clusters)
                row_sums = _widen(row_sums)
            n_tries, self.n_clusters = self._blocked.stir(
                n_tries, rows, prior, clusters, self.n_clusters, self.labels, self._pinned,
                log_alone, self.discount, self.concentration, np.empty(self._capacity + 1),
                members, row_sums, self._terms.make_scratch(self._capacity), rng,
            )  # fmt: skip
            if self.n_clusters < 0:
                raise ValueError(IMPOSSIBLE)
        return clusters

    def _draw_parameters(self, clusters: Any, rng: NDArray[np.uint64]) -> Any:
        """Return draws of the parameters and weights of all clusters."""
        drawn = self._terms.make_parameters(self.n_clusters)
        scratch = self._terms.make_scratch(1)
        self._blocked.draw_all_parameters(
            self._terms.prior, clusters, self.discount, drawn, scratch, rng
        )
        return drawn

    def _draw_rows(self, drawn: Any, rng: NDArray[np.uint64], *, others: bool = False) -> None:
        """Draw the clusters of all rows but the first ones, or of all unassigned rows."""
        key = np.empty_like(rng)
        draw_key(rng, key)
        n = self.n_clusters

        def find(begin: int, n_blocks: int) -> Floats:
            firsts = np.empty(n)
            kernels.find_firsts(
                begin, n_blocks, self.labels, self._pinned, key, firsts, np.empty_like(key)
            )
            return firsts

        def draw(begin: int, n_blocks: int) -> None:
            self._blocked.draw_rows(
                begin, n_blocks, self._terms.rows, drawn, self.labels, self._pinned, firsts, key,
                self._terms.make_lines(n), np.empty_like(key), np.empty_like(key),
            )  # fmt: skip

        firsts = np.full(n, -1.0) if others else np.min(self._for_blocks(find), axis=0)
        self._for_blocks(draw)

    def _for_blocks(self, function: Callable[[int, int], Any]) -> list[Any]:
        """Call a function for all blocks of rows and split the blocks among threads."""
        n_blocks = -(-len(self.labels) // kernels.BLOCK)
        n_threads = min(effective_n_jobs(self.n_jobs), n_blocks)
        ends = np.linspace(0, n_blocks, n_threads + 1).astype(int)
        parts = [(int(a), int(b - a)) for a, b in pairwise(ends)]
        # Tasks write to the sampler's arrays, so they must be threads and not processes.
        tasks = [partial(function, *part) for part in parts]
        return call_all(tasks, n_threads, require="sharedmem")


def _widen(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array whose last axis is doubled in length with zeros."""
    return np.concatenate([array, np.zeros_like(array)], axis=-1)


def _widen_all(clusters: Any) -> Any:
    """Return the arrays of a (nested) tuple with their last axes doubled in length."""
    if isinstance(clusters, np.ndarray):
        return _widen(clusters)
    arrays = map(_widen_all, clusters)
    return clusters._make(arrays) if hasattr(clusters, "_make") else tuple(arrays)
