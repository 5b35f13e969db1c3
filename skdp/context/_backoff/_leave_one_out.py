"""Predictive distributions of left-out events, from samples that are given all events."""

from __future__ import annotations

import numpy as np

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Ints
from skdp.processes._context_index import ContextIndex
from skdp.processes._franchise_sampler import TableSample
from skdp.processes._kernels_leave_one_out import OutcomeCells, add_left_out


def leave_one_out(
    index: ContextIndex, samples: list[TableSample], cells: Ints, base: Floats
) -> Floats:
    """Return p(. | context of the event, all other events), (n_events, n_outcomes)."""
    inverse, total = leave_one_out_terms(index, samples, cells, base)
    total /= inverse[:, None]
    return total


def leave_one_out_terms(
    index: ContextIndex, samples: list[TableSample], cells: Ints, base: Floats
) -> tuple[Floats, Floats]:
    """Return the sums over samples of 1 / p(x) and of p(w) / p(x), without the event x."""
    n_depths = index.layout.n_depths
    inverse, total = np.zeros(len(cells)), np.zeros((len(cells), index.n_outcomes))
    reach, row = np.empty(n_depths + 1), np.empty(index.n_outcomes)
    rows = np.empty((n_depths + 1, index.n_outcomes))
    for sample in samples:
        franchise = sample.franchise(index, base)
        nodes, laws = franchise.nodes_and_laws()
        counts = OutcomeCells(
            franchise.customers, franchise.tables, index.layout.node, index.outcome
        )
        add_left_out(
            as_readonly(cells), index.cell_ptr, counts, nodes, laws, base, reach, rows, row,
            inverse, total,
        )  # fmt: skip
    return inverse, total
