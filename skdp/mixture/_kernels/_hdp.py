r"""Kernels of mixtures whose groups share components: sweeps, moves, shares of new groups.

Sweeps and moves are compiled for each kind of rows, as in `_kernels/_rows`; their symbols are those
of `_kernels/_hdp_sections`. A result of -1 components means that a covariance is not positive
definite to rounding.
"""

# mypy: ignore-errors

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double, stream_of_content
from skdp.mixture._kernels import _hdp_sections as sections
from skdp.mixture._kernels._hdp_sections import move_components as _move_components
from skdp.mixture._kernels._sections import build_clusters as _build_clusters

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


# Shares of new groups under given components.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | ptr | | (J + 1,) int64 | offsets of the groups |
# | contents | | (N D,) uint64 | bits of the rows, on which the streams of groups depend |
# | chances | f_k(x) | (N, C) | likelihoods of the rows, up to a factor of the row |
# | prior, first_prior | alpha beta | (C,) | Dirichlet prior, and that of the first sweep |
# | first_sweep, last_sweep | | scalars | the sweeps to do, from `first_sweep` on |
# | burn_in | | scalar | the first sweep that is kept |
# | labels | z | (N,) int64 | component of a row, -1 before the first sweep; scratch |
# | counts | n_k | (C,) | rows of a group in the components; scratch |
# | weights | | (C,) | scratch |
# | lengths | | (2,) int64 | scratch, and D |
# | key, rng | | (4,) uint64 | key of the streams of groups; stream of the group |
# | out | | (N, C) | probabilities of components, summed over the kept sweeps; 0 before |
#
# Given the likelihoods, the rows of a group are drawn in turn, each from component k with weight
# (n_k + alpha beta_k) f_k(x); `out` sums the probabilities of the draws, not the draws.


@njit_internal_nogc
def sweep_group(begin, end, chances, prior, is_kept, labels, counts, weights, out, rng):
    """Draw the components of the rows of a group."""
    n = prior.shape[0]
    for i in range(begin, end):
        if labels[i] >= 0:
            counts[labels[i]] -= 1.0
        total = 0.0
        for k in range(n):
            weights[k] = (counts[k] + prior[k]) * chances[i, k]
            total += weights[k]
        rest, chosen = next_double(rng) * total, n - 1
        for k in range(n):
            rest -= weights[k]
            if rest < 0.0:
                chosen = k
                break
        if is_kept:
            for k in range(n):
                out[i, k] += weights[k] / total
        labels[i] = chosen
        counts[chosen] += 1.0


@njit_loop
def fold_in_groups(
    first, last, first_sweep, last_sweep, burn_in, ptr, contents, chances, first_prior, prior,
    labels, counts, weights, key, lengths, out, rng,
):  # fmt: skip
    """Do some sweeps over groups `first` to `last` - 1; a call that resumes has a single group."""
    for j in range(first, last):
        begin, end = ptr[j], ptr[j + 1]
        if first_sweep == 0:
            for k in range(counts.shape[0]):
                counts[k] = 0.0
            lengths[0] = end - begin
            width = lengths[1]
            stream_of_content(key, contents[begin * width : end * width], lengths, rng)
        for sweep in range(first_sweep, last_sweep):
            sweep_group(
                begin, end, chances, first_prior if sweep == 0 else prior, sweep >= burn_in,
                labels, counts, weights, out, rng,
            )  # fmt: skip
