"""Exact draws of all cuts of a document at once, given the topics of its words.

A document is a row of units, which are never cut. A part is a run of units, and its words are the
customers of a Chinese restaurant with concentration b and base mu. So the evidence of a part is

    prod over its words of (b mu_k + n_k) / (b + n),

in any order, with n_k words of topic k and n words in all before. A gap between two units is a cut
with probability rho. A semi-Markov filter adds up the evidence of all divisions; a draw goes back
from the end, and a second filter gives the probability of a cut in every gap.

| name | symbol | shape | meaning |
|---|---|---|---|
| unit_ptr | | (J + 1,) int64 | words of each unit |
| first, last | | | units of the document |
| known | y | (J,) int8 | whether a part begins at a unit: 1 yes, 0 no, -1 unknown |
| starts | | (J,) int8 | whether a part begins at a unit; 1 at the first of a document |
| most | | | largest number of units of a part |
| log_cut, log_join | log rho, log(1 - rho) | scalars | |
| topics | z | (n,) int32 | |
| base | b mu_k | (K,) float64 | |
| n_k | n_k | (K,) int64 | scratch, zero between documents |
| inverse | 1 / (b + n) | (longest document + 1,) float64 | |
| forward | | (U + 1,) float64 | log evidence of the units before, with a part that ends there |
| backward | | (U + 1,) float64 | log evidence of the units from there on |
| logs | | (U + 1,) float64 | scratch |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_internal_nogc, njit_loop
from skdp._numeric._random import next_double

_SMALL = 1e-200


class CutPrior(NamedTuple):
    """Prior of cuts: the possible gaps and their probability."""

    known: np.ndarray
    most: int
    log_cut: float
    log_join: float


class CutScratch(NamedTuple):
    """Scratch vectors, for the longest document."""

    base: np.ndarray
    n_k: np.ndarray
    inverse: np.ndarray
    forward: np.ndarray
    backward: np.ndarray
    logs: np.ndarray


@njit_forceinline
def add_logs(x, y):
    """Return log(exp(x) + exp(y)) of numbers that are not both -inf."""
    high, low = max(x, y), min(x, y)
    return high + math.log1p(math.exp(low - high))


@njit_forceinline
def weigh_unit(begin, end, n, topics, work):
    """Add words to the current part, which has `n` words; return the log of their evidence."""
    result, product = 0.0, 1.0
    for i in range(begin, end):
        k = topics[i]
        product *= (work.base[k] + work.n_k[k]) * work.inverse[n]
        work.n_k[k] += 1
        n += 1
        if product < _SMALL:
            result += math.log(max(product, 1e-320))
            product = 1.0
    return result + math.log(product)


@njit_forceinline
def clear_words(begin, end, topics, work):
    """Remove words from the current part."""
    for i in range(begin, end):
        work.n_k[topics[i]] = 0


@njit_internal_nogc
def filter_forward(first, last, unit_ptr, topics, prior, work):
    """Write the log evidence of the units before each place at which a part may end."""
    n_units = last - first
    forward = work.forward
    forward[0] = 0.0
    for e in range(1, n_units + 1):
        forward[e] = -math.inf
    for s in range(n_units):
        if forward[s] == -math.inf:
            continue
        log = forward[s] + (prior.log_cut if s > 0 else 0.0)
        begin = unit_ptr[first + s]
        end = begin
        for e in range(s + 1, min(n_units, s + prior.most) + 1):
            if e > s + 1:
                if prior.known[first + e - 1] == 1:
                    break
                log += prior.log_join
            start, end = unit_ptr[first + e - 1], unit_ptr[first + e]
            log += weigh_unit(start, end, start - begin, topics, work)
            if e == n_units or prior.known[first + e] != 0:
                forward[e] = add_logs(forward[e], log)
        clear_words(begin, end, topics, work)
    return forward[n_units]


@njit_internal_nogc
def walk_back(e, first, unit_ptr, topics, prior, work, out):
    """Write the log evidence of each part that ends at `e`, with its gaps, to `out`; by its begin.

    Return the first unit at which such a part may begin.
    """
    log, n, s = 0.0, 0, e
    lowest = max(0, e - prior.most)
    while s > lowest:
        if s < e:
            if prior.known[first + s] == 1:
                lowest = s
                break
            log += prior.log_join
        s -= 1
        begin, end = unit_ptr[first + s], unit_ptr[first + s + 1]
        log += weigh_unit(begin, end, n, topics, work)
        n += end - begin
        out[s] = log
        if s > 0:
            out[s] = log + prior.log_cut if prior.known[first + s] != 0 else -math.inf
    clear_words(unit_ptr[first + s], unit_ptr[first + e], topics, work)
    return lowest


@njit_internal_nogc
def filter_backward(first, last, unit_ptr, topics, prior, work):
    """Write the log evidence of the units from each place on, the cut there included."""
    n_units = last - first
    backward = work.backward
    for s in range(n_units):
        backward[s] = -math.inf
    backward[n_units] = 0.0
    for e in range(n_units, 0, -1):
        if backward[e] == -math.inf:
            continue
        lowest = walk_back(e, first, unit_ptr, topics, prior, work, work.logs)
        for s in range(lowest, e):
            if work.logs[s] > -math.inf:
                backward[s] = add_logs(backward[s], backward[e] + work.logs[s])
    return backward[0]


@njit_internal_nogc
def draw_starts(first, last, unit_ptr, topics, prior, work, starts, rng):
    """Draw where parts begin, after `filter_forward`."""
    for u in range(first, last):
        starts[u] = 0
    e = last - first
    while e > 0:
        lowest = walk_back(e, first, unit_ptr, topics, prior, work, work.logs)
        highest = -math.inf
        for s in range(lowest, e):
            work.logs[s] += work.forward[s]
            highest = max(highest, work.logs[s])
        total = 0.0
        for s in range(lowest, e):
            total += math.exp(work.logs[s] - highest)
        target = next_double(rng) * total
        chosen = -1
        for s in range(lowest, e):
            weight = math.exp(work.logs[s] - highest)
            if weight > 0.0:
                chosen = s
                target -= weight
                if target < 0.0:
                    break
        starts[first + chosen] = 1
        e = chosen


@njit_internal_nogc
def add_cut_probabilities(first, last, unit_ptr, topics, prior, work, out):
    """Add the probability that a part begins at each unit but the first to `out` (J,)."""
    total = filter_forward(first, last, unit_ptr, topics, prior, work)
    filter_backward(first, last, unit_ptr, topics, prior, work)
    for u in range(1, last - first):
        log = work.forward[u] + work.backward[u] - total
        out[first + u] += 1.0 if prior.known[first + u] == 1 else math.exp(min(log, 0.0))


@njit_loop
def weigh_divisions(first, last, unit_ptr, topics, prior, work, probabilities):
    """Return the log evidence of a document, summed over all divisions; add probabilities of cuts.

    In `work`, `base` and `inverse` are those of the document.
    """
    add_cut_probabilities(first, last, unit_ptr, topics, prior, work, probabilities)
    return work.forward[last - first]
