r"""Collapsed Gibbs sweeps over rows in groups, by direct assignment: inlined sections of kernels.

Symbols as in ``mixture/_kernels_sections.py``, and those of the top level. Clusters are components.

| name | symbol | shape | meaning |
|---|---|---|---|
| groups | j | (N,) int64 | group of a row |
| counts | n_jk | (J, C) | rows of each group in each component; 0 beyond the first K |
| top | beta_k | (C,) | weights of components; 0 beyond the first K |
| rest | beta_u | (1,) | weight of all other components |
| alpha, gamma | | scalars | concentrations of groups and of the top level |

A row of group j joins component k with weight (n_jk + alpha beta_k) f_k(x), and opens a new one with
weight alpha beta_u f_0(x), which then has a Beta(1, gamma) share of beta_u. A component that loses its
last row gives its weight back to beta_u before anything else is drawn.

A sweep stops at the end of `order`, without room for a new component, or, with -1, if a covariance
is not positive definite to rounding.
"""  # noqa: E501

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._elementary import fast_exp
from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc
from skdp.emissions._kernels_clusters import SIZE
from skdp.mixture._kernels_sections import pick, renew_row, reseat_row, weigh_seated_row
from skdp.processes._kernels_top_level import break_weight


class RowGroups(NamedTuple):
    """Counts of rows by group and component, and the weights of the components."""

    groups: np.ndarray
    counts: np.ndarray
    top: np.ndarray
    rest: np.ndarray


@njit_internal_nogc
def choose_component(n, left, counts, top, rest, log_alone, alpha, weights, rng):
    """Return a draw from the components, or n for a new one; overwrite log densities `weights`."""
    if left >= 0:  # the component is empty without the row
        weights[left] = -math.inf
    largest = log_alone
    for k in range(n):
        largest = max(largest, weights[k])
    for k in range(n):
        weights[k] = (counts[k] + alpha * top[k]) * fast_exp(weights[k] - largest)
    return pick(n, weights, alpha * rest * fast_exp(log_alone - largest), rng)


@njit_internal_nogc
def move_component(source, target, groups):
    """Move the last component, `source`, to the place `target` of an empty one."""
    groups.top[target] = groups.top[source]
    groups.top[source] = 0.0
    for j in range(groups.counts.shape[0]):
        groups.counts[j, target] = groups.counts[j, source]
        groups.counts[j, source] = 0.0


@njit_inlined_source
def sweep_grouped_rows(
    kind, begin, order, rows, prior, clusters, n_clusters, labels, log_alone, groups, alpha, gamma,
    weights, members, scratch, rng,
):  # fmt: skip
    """Draw the components of rows from order[begin] on; return the place reached, n_clusters."""
    sizes, counts, top, rest = clusters.vectors[SIZE], groups.counts, groups.top, groups.rest
    place, end = begin, order.shape[0]
    while 0 <= place < end and n_clusters < sizes.shape[0]:
        i = order[place]
        j, old, left = groups.groups[i], labels[i], np.int64(-1)

        # Remove.
        if old >= 0:
            counts[j, old] -= 1.0
            if sizes[old] < 1.5:
                left = old
                rest[0] += top[left]
                top[left] = 0.0

        # Weigh and draw.
        possible, own = weigh_seated_row(
            kind, i, rows, prior, clusters, n_clusters, labels, log_alone, weights, members, scratch
        )
        chosen = choose_component(
            n_clusters, left, counts[j], top, rest[0], log_alone[i], alpha, weights, rng
        )

        # Add.
        is_new = chosen == n_clusters
        if is_new and left >= 0:
            chosen = left  # reuse the place of the emptied component
        if is_new:
            top[chosen], rest[0] = break_weight(rest[0], gamma, rng)
        counts[j, chosen] += 1.0
        if chosen != own:
            fits, n_clusters = reseat_row(
                kind, i, own, chosen, rows, prior, clusters, n_clusters, labels, members, scratch,
                rng,
            )  # fmt: skip
            possible &= fits
            if left >= 0 and left != n_clusters:
                move_component(n_clusters, left, groups)
        else:
            possible &= renew_row(kind, i, own, rows, prior, clusters, members, scratch, rng)
        place = place + 1 if possible else -1
    return place, n_clusters
