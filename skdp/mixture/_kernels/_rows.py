"""Kernels of mixtures, compiled for each kind of rows. Symbols as in `_kernels/_sections`
and `_kernels/_moves`.

A kernel with a branch per kind would compile all of them, so `kernels_of` selects in Python.
Kernels enclose nothing but the kind: numba could not cache other closures. A result of False or -1
means that a covariance is not positive definite to rounding.
"""

# mypy: ignore-errors

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from skdp._numeric._numba import njit_loop
from skdp.emissions._kernels._augmented import (
    is_latent,
    mark_weights,
    weigh_alone_augmented,
    weigh_block,
)
from skdp.emissions._kernels._clusters import (
    AUGMENTED,
    SIZE,
    build_cluster,
    needs_rebuild,
    weigh_row,
)
from skdp.mixture._kernels import _sections as sections
from skdp.mixture._kernels._moves import move_clusters as _move_clusters

_build_clusters, _sweep_rows = sections.build_clusters, sections.sweep_rows


class MixtureKernels(NamedTuple):
    """Kernels for rows of one kind."""

    weigh_alone: Callable
    weigh_left_out: Callable
    sweep: Callable
    split_and_merge: Callable


@njit_loop
def shuffle(numbers, rng):
    """Shuffle numbers in place."""
    sections.bring_in_random_order(numbers, rng)


@njit_loop
def draw_latent_values(
    order, rows, prior, clusters, n_clusters, labels, members, ends, scratch, rng
):
    """Draw what else is drawn of AUGMENTED rows in order, given their clusters, which stay."""
    kind = AUGMENTED
    possible = _build_clusters(
        kind, rows, prior, clusters, n_clusters, labels, members, ends, scratch
    )
    for i in order:
        own = labels[i]
        if possible and is_latent(i, rows):
            is_alone = clusters.vectors[SIZE, own] < 1.5
            if is_alone:
                possible &= build_cluster(kind, own, members[:0], rows, prior, clusters, scratch)
            else:
                possible &= sections.remove_row(
                    kind, i, own, rows, prior, clusters, labels, members, scratch
                )
                labels[i] = own
            for b in range(rows.weights.shape[1]):
                weigh_block(i, b, rows, prior, clusters, own, own + 1, scratch)
            mark_weights(i, own, is_alone, rows, prior, clusters, scratch)
            sections.join_cluster(kind, i, own, rows, prior, clusters, scratch, rng)
            if needs_rebuild(kind, own, clusters):
                n = sections.list_members(labels, own, members)
                possible &= build_cluster(kind, own, members[:n], rows, prior, clusters, scratch)
    return possible


@cache
def kernels_of(kind: int) -> MixtureKernels:
    """Return the kernels for a kind of rows."""

    @njit_loop
    def weigh_alone(rows, prior, clusters, members, scratch, out):
        """Write log p(x_i) of every row in its own cluster to `out`, (N,)."""
        possible = build_cluster(kind, 0, members[:0], rows, prior, clusters, scratch)
        for i in range(out.shape[0]):
            if kind == AUGMENTED:
                out[i] = weigh_alone_augmented(i, rows, prior, clusters, scratch)
            else:
                weigh_row(kind, i, rows, prior, clusters, 1, -1, scratch, out[i : i + 1])
        return possible

    @njit_loop
    def weigh_left_out(
        rows, prior, clusters, n_clusters, labels, log_alone, discount, concentration, weights,
        members, ends, scratch, out,
    ):  # fmt: skip
        """Write log p(x_i given the other rows and their clusters) of every row to `out`, (N,)."""
        possible = _build_clusters(
            kind, rows, prior, clusters, n_clusters, labels, members, ends, scratch
        )
        sizes, n_others = clusters.vectors[SIZE], labels.shape[0] - 1
        for i in range(labels.shape[0]):
            home = labels[i]
            fits, own = sections.weigh_seated_row(
                kind, i, rows, prior, clusters, n_clusters, labels, log_alone, weights, members,
                scratch,
            )  # fmt: skip
            possible &= fits
            out[i] = sections.log_average(
                n_clusters, own, sizes, log_alone[i], discount, concentration, n_others, weights
            )
            if own < 0:
                labels[i] = home
                n = sections.list_members(labels, home, members)
                possible &= build_cluster(kind, home, members[:n], rows, prior, clusters, scratch)
        return possible

    @njit_loop
    def sweep(
        begin, order, rows, prior, clusters, n_clusters, labels, log_alone, discount,
        concentration, weights, members, ends, scratch, rng,
    ):  # fmt: skip
        """Build the clusters, then draw the clusters of rows in order: see `sweep_rows`."""
        place = -1
        if _build_clusters(kind, rows, prior, clusters, n_clusters, labels, members, ends, scratch):
            place, n_clusters = _sweep_rows(
                kind, begin, order, rows, prior, clusters, n_clusters, labels, log_alone,
                discount, concentration, weights, members, scratch, rng,
            )  # fmt: skip
        return place, n_clusters

    @njit_loop
    def split_and_merge(
        n_tries, rows, prior, clusters, three, n_clusters, labels, pinned, most_rows, discount,
        concentration, group_counts, weights, pair, members, ends, sides, scratch, rng,
    ):  # fmt: skip
        """Build clusters and propose `n_tries` moves, with room for them; return n_clusters."""
        if not _build_clusters(
            kind, rows, prior, clusters, n_clusters, labels, members[0], ends, scratch
        ):
            n_clusters = -1
        for _ in range(n_tries):
            if n_clusters >= 0:
                n_clusters = _move_clusters(
                    kind, rows, prior, clusters, three, n_clusters, labels, pinned, most_rows,
                    discount, concentration, group_counts, weights, pair, members, sides, scratch,
                    rng,
                )  # fmt: skip
        return n_clusters

    return MixtureKernels(weigh_alone, weigh_left_out, sweep, split_and_merge)
