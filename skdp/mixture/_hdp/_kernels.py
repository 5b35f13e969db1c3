"""Kernels of mixtures whose groups share components, compiled for each kind of rows.

Symbols as in `_kernels_sections` and `_kernels_moves`; see ``mixture/_kernels.py``.
-1 components: a covariance is not positive definite to rounding.
"""

# mypy: ignore-errors

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from skdp._numeric._numba import njit_loop
from skdp.mixture._hdp import _kernels_sections as sections
from skdp.mixture._hdp._kernels_moves import move_components as _move_components
from skdp.mixture._kernels_sections import build_clusters as _build_clusters

_sweep_rows = sections.sweep_grouped_rows


class HDPMixtureKernels(NamedTuple):
    """Kernels for rows of one kind."""

    sweep: Callable
    split_and_merge: Callable


@cache
def kernels_of_groups(kind: int) -> HDPMixtureKernels:
    """Return the kernels for a kind of rows."""

    @njit_loop
    def sweep_groups(
        begin, order, rows, prior, clusters, n_clusters, labels, log_alone, groups, alpha, gamma,
        weights, members, ends, scratch, rng,
    ):  # fmt: skip
        """Build clusters, then draw the clusters of rows in order: see `sweep_grouped_rows`."""
        place = -1
        if _build_clusters(kind, rows, prior, clusters, n_clusters, labels, members, ends, scratch):
            place, n_clusters = _sweep_rows(
                kind, begin, order, rows, prior, clusters, n_clusters, labels, log_alone, groups,
                alpha, gamma, weights, members, scratch, rng,
            )  # fmt: skip
        return place, n_clusters

    @njit_loop
    def split_and_merge_groups(
        n_tries, rows, prior, clusters, three, n_clusters, labels, pinned, top, alpha, gamma,
        group_counts, shares, weights, pair, members, ends, sides, scratch, rng,
    ):  # fmt: skip
        """Build components and propose `n_tries` moves, with room for them; return n_clusters."""
        if not _build_clusters(
            kind, rows, prior, clusters, n_clusters, labels, members[0], ends, scratch
        ):
            n_clusters = -1
        for _ in range(n_tries):
            if n_clusters >= 0:
                n_clusters = _move_components(
                    kind, rows, prior, clusters, three, n_clusters, labels, pinned, top, alpha,
                    gamma, group_counts, shares, weights, pair, members, sides, scratch, rng,
                )  # fmt: skip
        return n_clusters

    return HDPMixtureKernels(sweep_groups, split_and_merge_groups)
