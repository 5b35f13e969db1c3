r"""Evidence of binary paths with the weights integrated out, updated as bits change.

With x_t = (1, b_t) column d is normal given the bits: log p(y_.d) = -log|A| / 2 - R log(scale_d) +
b^T A^-1 b / 2 + a term that no bit changes, with A = tau_d G_d + I / scale_d^2 and b = tau_d r_d.
G_d = sum_t x_t x_t^T, r_d = sum_t y_td x_t, over the steps t at which y_td is not missing. Factors
that are never on do not change it. For a probit column, y_td is its latent normal.

A run is a maximal range of steps of one sequence at which a factor is on.

| name | symbol | shape | meaning |
|---|---|---|---|
| board | | | `Board` |
| f | | int | a factor |
| begin, end | | int | steps begin to end - 1, of one sequence |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._typing import Floats, Places
from skdp.processes._indian_buffet import log_weight_of_feature
from skdp.sequence._factorial._kernels_joint import AFTER_OFF, AFTER_ON, FIRST


class Board(NamedTuple):
    """Binary paths, and statistics that follow from them."""

    bits: NDArray[np.int8]  # (N, C), with C the capacity for factors
    known: NDArray[np.int8]  # (N, C), -1: unknown; without rows if none is known
    is_first: NDArray[np.bool_]  # (N + 1,), whether a step begins a sequence; True at the end
    counts: Places  # (C, 3, 2), steps off and on: at first, after off, after on
    n_on: Places  # (C,), steps at which factors are on
    seen: Floats  # (N, D), 1 if a value is observed, else 0
    totals: Floats  # (N, D), values, or latent normals; 0 if missing
    grams: Floats  # (G, C + 1, C + 1), G_d; one for all columns if no value is missing
    projections: Floats  # (D, C + 1), r_d
    precisions: Floats  # (D,), tau_d
    inverse_variances: Floats  # (D,), 1 / scale_d^2
    priors: Floats  # (3, 2), pseudo-counts of Beta priors, in the order of `counts`
    is_infinite: bool  # whether an Indian buffet replaces the first two rows of `priors`
    log_mass: float  # of the buffet
    active: Places  # (C + 1,), scratch: rows of G_d in use
    factor: Floats  # (C + 1, C + 1), scratch
    column: Floats  # (C + 1,), scratch


@njit_loop
def fill_board(board):
    """Write all statistics of the bits."""
    board.grams[:] = 0.0
    board.projections[:] = 0.0
    board.counts[:] = 0
    board.n_on[:] = 0
    bits, active = board.bits, board.active
    n_grams = board.grams.shape[0]
    for t in range(bits.shape[0]):
        n = 0
        for f in range(bits.shape[1]):
            row = FIRST
            if not board.is_first[t]:
                row = AFTER_ON if bits[t - 1, f] == 1 else AFTER_OFF
            board.counts[f, row, bits[t, f]] += 1
            if bits[t, f] == 1:
                active[n] = f + 1
                n += 1
                board.n_on[f] += 1
        for d in range(board.seen.shape[1]):
            total = board.totals[t, d]
            board.projections[d, 0] += total
            for i in range(n):
                board.projections[d, active[i]] += total
            if d >= n_grams or board.seen[t, d] == 0.0:
                continue
            gram = board.grams[d]
            gram[0, 0] += 1.0
            for i in range(n):
                gram[active[i], 0] += 1.0
                gram[0, active[i]] += 1.0
                for j in range(n):
                    gram[active[i], active[j]] += 1.0


@njit_internal_nogc
def count_steps(board, f, begin, last, change):
    """Add the steps begin to last - 1 to the counts of a factor, `change` times."""
    counts = board.counts[f]
    for t in range(begin, last):
        row = FIRST
        if not board.is_first[t]:
            row = AFTER_ON if board.bits[t - 1, f] == 1 else AFTER_OFF
        counts[row, board.bits[t, f]] += change


@njit_internal_nogc
def flip_steps(board, f, begin, end):
    """Flip the bits of a factor, and update all statistics that depend on them."""
    bits, n_grams = board.bits, board.grams.shape[0]
    last = end if board.is_first[end] else end + 1
    count_steps(board, f, begin, last, -1)
    for t in range(begin, end):
        is_on = bits[t, f] == 1
        sign = -1.0 if is_on else 1.0
        bits[t, f] = 0  # exclude the factor itself below
        for d in range(board.seen.shape[1]):
            board.projections[d, f + 1] += sign * board.totals[t, d]
        for d in range(n_grams):
            if board.seen[t, d] == 0.0:
                continue
            gram = board.grams[d]
            gram[0, f + 1] += sign
            gram[f + 1, 0] += sign
            gram[f + 1, f + 1] += sign
            for g in range(bits.shape[1]):
                if bits[t, g] == 1:
                    gram[f + 1, g + 1] += sign
                    gram[g + 1, f + 1] += sign
        if is_on:
            board.n_on[f] -= 1
        else:
            bits[t, f] = 1
            board.n_on[f] += 1
    count_steps(board, f, begin, last, 1)


@njit_internal_nogc
def log_evidence(board):
    """Return log p(y given bits), with the weights integrated out, up to a constant."""
    active, factor, column = board.active, board.factor, board.column
    n_rows = 1
    active[0] = 0
    for f in range(board.n_on.shape[0]):
        if board.n_on[f] > 0:
            active[n_rows] = f + 1
            n_rows += 1
    result = 0.0
    for d in range(board.precisions.shape[0]):
        precision, inverse_variance = board.precisions[d], board.inverse_variances[d]
        log_ratio = math.log(inverse_variance)
        gram = board.grams[d if d < board.grams.shape[0] else 0]
        for i in range(n_rows):
            row = gram[active[i]]
            column[i] = precision * board.projections[d, active[i]]
            for j in range(i + 1):
                factor[i, j] = precision * row[active[j]]
            factor[i, i] += inverse_variance
        # Cholesky factor and forward substitution in one pass.
        for i in range(n_rows):
            rest = column[i]
            for j in range(i):
                entry = factor[i, j]
                for k in range(j):
                    entry -= factor[i, k] * factor[j, k]
                entry /= factor[j, j]
                factor[i, j] = entry
                factor[i, i] -= entry * entry
                rest -= entry * column[j]
            factor[i, i] = math.sqrt(factor[i, i])
            rest /= factor[i, i]
            column[i] = rest
            result += 0.5 * rest * rest - math.log(factor[i, i]) + 0.5 * log_ratio
    return result


@njit_internal_nogc
def log_beta_ratio(off, on, n_off, n_on):
    """Return log B(off + n_off, on + n_on) - log B(off, on)."""
    result = math.lgamma(off + n_off) + math.lgamma(on + n_on)
    result -= math.lgamma(off + on + n_off + n_on) + math.lgamma(off) + math.lgamma(on)
    return result + math.lgamma(off + on)


@njit_internal_nogc
def log_weight_of_path(counts, priors, is_infinite):
    """Return the log weight of a path that is ever on, relative to one that never is. For a buffet,
    it lacks the mass, and the trials are the steps at which the factor may be switched on.
    """
    n_off = counts[FIRST, 0] + counts[AFTER_OFF, 0]
    n_on = counts[FIRST, 1] + counts[AFTER_OFF, 1]
    result = log_beta_ratio(
        priors[AFTER_ON, 0], priors[AFTER_ON, 1], counts[AFTER_ON, 0], counts[AFTER_ON, 1]
    )
    if is_infinite:
        return result + log_weight_of_feature(n_on, n_off, priors[AFTER_OFF, 0])
    n_firsts = counts[FIRST, 0] + counts[FIRST, 1]
    n_steps = n_off + n_on + counts[AFTER_ON, 0] + counts[AFTER_ON, 1]
    for row in (FIRST, AFTER_OFF):
        off, on = priors[row, 0], priors[row, 1]
        result += log_beta_ratio(off, on, counts[row, 0], counts[row, 1])
        n_never = n_firsts if row == FIRST else n_steps - n_firsts
        result -= log_beta_ratio(off, on, n_never, 0)
    return result


@njit_internal_nogc
def log_weight(board, f):
    """Return the log weight of a factor, 0 if it is never on."""
    if board.n_on[f] == 0:
        return 0.0
    return log_weight_of_path(board.counts[f], board.priors, board.is_infinite)


@njit_internal_nogc
def count_active(board):
    """Return the number of factors that are ever on."""
    result = 0
    for f in range(board.n_on.shape[0]):
        result += board.n_on[f] > 0
    return result


@njit_internal_nogc
def log_rate_of_new(board, n_free):
    """Return the log of the number of ways to add a factor: the mass, or the free factors."""
    if board.is_infinite:
        return board.log_mass
    return math.log(n_free) if n_free > 0 else -math.inf


@njit_internal_nogc
def count_runs(board, f):
    """Return the number of runs of a factor."""
    return board.counts[f, FIRST, 1] + board.counts[f, AFTER_OFF, 1]


@njit_internal_nogc
def find_run_end(board, f, begin):
    """Return the end of the run that begins at a step."""
    end = begin + 1
    while not board.is_first[end] and board.bits[end, f] == 1:
        end += 1
    return end


@njit_internal_nogc
def is_free(board, f, begin, end):
    """Return whether a factor is off from the step before `begin` to step `end`."""
    first = begin if board.is_first[begin] else begin - 1
    last = end if board.is_first[end] else end + 1
    n_on = 0
    for t in range(first, last):
        n_on += board.bits[t, f]
    return n_on == 0


@njit_internal_nogc
def is_open(board, f, begin, end):
    """Return whether no bit of a factor is known from step `begin` to step `end` - 1."""
    if board.known.shape[0] > 0:
        for t in range(begin, end):
            if board.known[t, f] >= 0:
                return False
    return True
