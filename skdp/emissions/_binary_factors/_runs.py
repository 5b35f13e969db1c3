"""First binary vectors from differences between runs of similar observations."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._spreads import Spreads, find_spreads, standardize
from skdp._numeric._typing import Floats, Places
from skdp.emissions._binary_factors import _kernels_codes as code_kernels
from skdp.emissions._binary_factors import _kernels_runs as kernels

LONGEST_RUN = 2000
"""Largest number of steps of a run. Longer runs are cut: the jump is then noise alone."""
MOST_JUMPS = 1000
"""Largest number of jumps to group, because the time grows with the square of their number."""
N_ROUNDS_OF_CODES = 6
BEAM, MOST_CODES = 100, 60
COST_OF_SWITCH, COST_OF_CLASH = 8.0, 15.0
"""Costs, in nats, of one more factor in a jump, and of switching a factor to its current value."""
_NORMAL_QUARTILE = 0.6744897501960817


class Runs(NamedTuple):
    """Runs of similar observations, cut out of sequences."""

    begins: Places  # (n + 1,), first steps; then the number of steps
    means: Floats  # (n, D), of their values, scaled by the noise; 0 if all are missing
    counts: Floats  # (n, D), numbers of values that are not missing
    follows: NDArray[np.bool_]  # (n,), whether a run follows another one in its sequence
    scales: Floats  # (D,), noise of the columns, a standard deviation


def find_runs(values: Floats, ptr: Places) -> Runs:
    """Cut sequences into runs of similar observations."""
    spreads = find_spreads(values)
    scales = np.maximum(_noise_of_steps(values, ptr, spreads), spreads.resolutions)
    seen = ~np.isnan(values)
    scaled = np.where(seen, standardize(values, spreads.middles, scales), 0.0)
    begins, follows = [], []
    for begin, end in pairwise(ptr.tolist()):
        cuts = _cut(scaled[begin:end], seen[begin:end].astype(np.float64))
        begins += [begin + cut for cut in cuts]
        follows += [cut > 0 for cut in cuts]
    starts = np.array(begins)
    counts = np.add.reduceat(seen.astype(np.float64), starts)
    means = np.add.reduceat(scaled, starts) / np.maximum(counts, 1.0)
    return Runs(np.array([*begins, len(values)]), means, counts, np.array(follows), scales)


def _noise_of_steps(values: Floats, ptr: Places, spreads: Spreads) -> Floats:
    """Return robust standard deviations of the noise, or of the column if they are 0."""
    inner = np.ones(len(values) - 1, dtype=np.bool_)
    inner[ptr[1:-1] - 1] = False
    scales = np.sqrt(spreads.variances)
    for d, column in enumerate(values.T):
        steps = np.abs(np.diff(column)[inner])
        steps = steps[~np.isnan(steps)]
        scale = np.median(steps) / (_NORMAL_QUARTILE * np.sqrt(2.0)) if len(steps) else 0.0
        if scale > 0.0:
            scales[d] = scale
    return scales


def _cut(scaled: Floats, seen: Floats) -> list[int]:
    """Return the first steps of the runs of a sequence."""
    n_steps, n_dims = scaled.shape
    sums, counts = np.zeros((2, n_steps + 1, n_dims))
    np.cumsum(scaled, axis=0, out=sums[1:])
    np.cumsum(seen, axis=0, out=counts[1:])
    before = np.zeros(n_steps + 1, dtype=np.int64)
    # A run has D + 1 parameters: its mean and its first step.
    penalty = (n_dims + 2.0) * np.log(max(n_steps, 2))
    kernels.cut_runs(
        sums, counts, penalty, LONGEST_RUN, np.empty(n_steps + 1), before,
        np.empty(n_steps + 1, dtype=np.int64),
    )  # fmt: skip
    cuts = [int(before[n_steps])]
    while cuts[-1] > 0:
        cuts.append(int(before[cuts[-1]]))
    return cuts[::-1]


def find_factors(runs: Runs, weights_scales: Floats, n_factors: int | None) -> NDArray[np.int8]:
    """Return binary vectors of all steps, (N, F), estimated from jumps between runs.
    Jumps that are similar up to sign are a factor; n_factors None: all groups of two or more.
    """
    places = np.flatnonzero(runs.follows)
    before, after = runs.counts[places - 1], runs.counts[places]
    precisions = before * after / np.maximum(before + after, 1.0)
    jumps = runs.means[places] - runs.means[places - 1]
    if len(places) > MOST_JUMPS:
        sizes = (precisions * jumps**2).sum(axis=1)
        kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_JUMPS])
        places, jumps, precisions = places[kept], jumps[kept], precisions[kept]
    inverse = (runs.scales / weights_scales) ** 2
    atoms = _group(jumps, precisions, inverse, n_factors)
    n_atoms = len(atoms)
    vectors = np.zeros(
        (int(runs.begins[-1]), n_atoms if n_factors is None else n_factors), dtype=np.int8
    )
    if n_atoms == 0:
        return vectors
    codes = _list_codes(n_atoms)
    sequences = np.cumsum(~runs.follows)[places]
    resets = np.append(True, sequences[1:] != sequences[:-1])
    # By turns, jumps become sums of at most two factors, each of which is switched on and off
    # alternately, and the factors are fitted to these sums by least squares.
    for i in range(N_ROUNDS_OF_CODES):
        width = BEAM if i >= N_ROUNDS_OF_CODES // 2 else 0
        signs = _decode(jumps, precisions, atoms, codes, resets, width)
        for d, diagonal in enumerate(inverse):
            weighed = signs * precisions[:, d, np.newaxis]
            square = weighed.T @ signs
            square.flat[:: n_atoms + 1] += diagonal
            atoms[:, d] = np.linalg.solve(square, weighed.T @ jumps[:, d])
    for f in range(n_atoms):
        own = signs[:, f] != 0.0
        _write_path(runs, places[own], signs[own, f], vectors[:, f])
    return vectors


def _group(jumps: Floats, precisions: Floats, inverse: Floats, n_factors: int | None) -> Floats:
    """Return the means of groups of similar jumps, (F, D)."""
    n = len(jumps)
    groups, signs = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int8)
    totals, sums, own = precisions * jumps, precisions.copy(), np.empty(n)
    kernels.group_jumps(totals, sums, inverse, own, np.empty((n, n)), groups, signs)
    numbers, sizes = np.unique(groups, return_counts=True)
    order = np.lexsort((-own[numbers], -np.minimum(sizes, 2)))
    if n_factors is None:
        n_factors = int(np.count_nonzero(sizes >= 2))
    chosen = numbers[order][:n_factors]
    return np.asarray(totals[chosen] / (sums[chosen] + inverse))


def _list_codes(n_atoms: int) -> Places:
    """Return all sums of at most two signed atoms, numbered from 1, (C, 2)."""
    signed = [s * (f + 1) for f in range(n_atoms) for s in (1, -1)]
    pairs = [(a, b) for a in signed for b in signed if abs(a) < abs(b)]
    return np.array([(0, 0), *((a, 0) for a in signed), *pairs], dtype=np.int64)


def _decode(
    jumps: Floats,
    precisions: Floats,
    atoms: Floats,
    codes: Places,
    resets: NDArray[np.bool_],
    width: int,
) -> Floats:
    """Return the coefficients of the atoms in each jump, -1, 0 or 1, (n, F); width 0: no beam."""
    n, n_atoms = len(jumps), len(atoms)
    n_kept = min(MOST_CODES, len(codes))
    kept, costs = np.empty((n, n_kept), dtype=np.int64), np.empty((n, n_kept))
    code_kernels.weigh_codes(
        as_readonly(jumps), precisions, atoms, codes, COST_OF_SWITCH, kept, costs
    )
    found = kept[:, 0].copy()
    if width > 0:
        code_kernels.search_codes(
            kept, costs, codes, resets, COST_OF_CLASH,
            np.empty((2, width, n_atoms), dtype=np.int8), np.empty((2, width)),
            np.empty((n, width), dtype=np.int64), np.empty((n, width), dtype=np.int64),
            np.empty((width, n_kept), dtype=np.bool_), np.empty(n, dtype=np.int64), found,
        )  # fmt: skip
    signs = np.zeros((n, n_atoms))
    for k in range(2):
        some = np.flatnonzero(codes[found, k])
        chosen = codes[found[some], k]
        signs[some, np.abs(chosen) - 1] = np.sign(chosen)
    return signs


def _write_path(runs: Runs, places: Places, signs: Floats, out: NDArray[np.int8]) -> None:
    """Write a path that is on after jumps with one sign, and off after jumps with the other.
    It switches at the first jump of a sequence, too. The sign that makes it rarer is on.
    """
    path = np.zeros(len(out), dtype=np.int8)
    firsts = np.flatnonzero(~runs.follows)
    sequences = np.searchsorted(firsts, places, side="right") - 1
    ends = runs.begins[np.append(firsts[1:], len(runs.follows))]
    told = np.zeros(len(out), dtype=np.bool_)
    for i, (place, sign) in enumerate(zip(places, signs, strict=True)):
        sequence = sequences[i]
        is_first = i == 0 or sequences[i - 1] != sequence
        begin, end = runs.begins[place], ends[sequence]
        if is_first:
            start = runs.begins[firsts[sequence]]
            path[start:begin] = sign < 0
            told[start:end] = True
        path[begin:end] = sign > 0
    if 2 * np.count_nonzero(path[told]) > np.count_nonzero(told):
        path[told] = 1 - path[told]
    out[:] = path
