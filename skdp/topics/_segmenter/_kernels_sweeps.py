"""Sweeps of topics and cuts, over a corpus and over new documents.

Symbols as in ``_kernels_cuts.py`` and ``_tables/_kernels.py``; mu_d are the shares of a document.
Between sweeps the state of a document is (topics, starts, mu). A sweep

1. draws the tables of every part given topics and mu: the tables that n_pk customers of a Chinese
   restaurant with concentration b mu_k open;
2. draws topics and tables of all words with mu integrated out, by the blocked table-indicator
   sampler of the segmented topic model, whose segments are the parts;
3. draws mu given the tables, Dirichlet(alpha + c), where c_k are the tables of topic k;
4. draws all cuts given topics and mu, with the tables integrated out.

Steps 1 and 4 together draw cuts and tables from their joint distribution given topics and mu.
Topics without words in the document share the rest of mu in proportion to alpha, its mean.
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import njit_inlined_source, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_gamma, stream_of_content
from skdp.processes._kernels_top_level import draw_table_count
from skdp.topics._segmenter._kernels_cuts import (
    add_cut_probabilities,
    draw_starts,
    filter_forward,
)
from skdp.topics._shared._kernels import Corpus
from skdp.topics._tables._kernels import Assignments
from skdp.topics._tables._kernels_btigs import sweep_document


class Units(NamedTuple):
    """Documents of units: the flat corpus whose segments are the units."""

    tokens: np.ndarray
    unit_ptr: np.ndarray
    doc_ptr: np.ndarray


class Divided(NamedTuple):
    """State of a chain."""

    topics: np.ndarray
    starts: np.ndarray  # (J,) int8, whether a part begins at a unit
    shares: np.ndarray  # (D, K), mu
    served: np.ndarray  # (D, K) int32, c: the tables from which mu was last drawn


class PartBuffers(NamedTuple):
    """The parts of one document, as a corpus of one document, and their tables: scratch."""

    part_ptr: np.ndarray
    doc_ptr: np.ndarray
    tables: np.ndarray
    part_tables: np.ndarray
    served: np.ndarray
    none: np.ndarray
    no_totals: np.ndarray
    no_seats: np.ndarray
    no_kinds: np.ndarray


@njit_internal_nogc
def enter_parts(d, units, starts, parts):
    """Write the parts of a document."""
    first, last = units.doc_ptr[d], units.doc_ptr[d + 1]
    n_parts = 0
    for u in range(first, last):
        if u == first or starts[u] == 1:
            parts.part_ptr[n_parts] = units.unit_ptr[u]
            n_parts += 1
    parts.part_ptr[n_parts] = units.unit_ptr[last]
    parts.doc_ptr[1] = n_parts


@njit_internal_nogc
def set_base(d, concentration, shares, work):
    """Set b mu of a document."""
    for k in range(shares.shape[1]):
        work.base[k] = concentration * shares[d, k]


@njit_internal_nogc
def draw_tables(topics, parts, work, rng):
    """Draw the tables of every part given the topics of its words; unseated words have none."""
    for k in range(parts.served.shape[1]):
        parts.served[0, k] = 0
    for p in range(parts.doc_ptr[1]):
        parts.part_tables[p] = 0
        for k in range(parts.tables.shape[1]):
            parts.tables[p, k] = 0
        begin, end = parts.part_ptr[p], parts.part_ptr[p + 1]
        for i in range(begin, end):
            if topics[i] >= 0:
                work.n_k[topics[i]] += 1
        for i in range(begin, end):
            k = np.int64(topics[i])
            if k >= 0 and work.n_k[k] > 0:
                n_tables = draw_table_count(work.n_k[k], work.base[k], rng)
                work.n_k[k] = 0
                parts.tables[p, k] = n_tables
                parts.part_tables[p] += n_tables
                parts.served[0, k] += n_tables


@njit_internal_nogc
def draw_shares(d, alpha, served, shares, rng):
    """Draw mu of a document given its tables."""
    total, rest, free = 0.0, 0.0, 0.0
    for k in range(alpha.shape[0]):
        if served[k] > 0:
            shares[d, k] = draw_gamma(alpha[k] + served[k], rng)
            total += shares[d, k]
        else:
            free += alpha[k]
    if free > 0.0:
        rest = draw_gamma(free, rng)
        if total == 0.0:
            rest = 1.0
    scale = 1.0 / (total + rest)
    for k in range(alpha.shape[0]):
        if served[k] > 0:
            shares[d, k] *= scale
        else:
            shares[d, k] = rest * scale * alpha[k] / free


@njit_inlined_source
def sweep_units(
    d, moves_cuts, units, state, words, prior, cut_prior, ratios, scratch, parts, work, rng
):  # fmt: skip
    """Draw topics, tables, mu and, if `moves_cuts`, the cuts of document `d` once."""
    first, last = units.doc_ptr[d], units.doc_ptr[d + 1]
    b = prior.concentration[0]
    enter_parts(d, units, state.starts, parts)
    set_base(d, b, state.shares, work)
    draw_tables(state.topics, parts, work, rng)
    corpus = Corpus(units.tokens, parts.part_ptr, parts.doc_ptr, parts.no_totals)
    assignments = Assignments(
        state.topics, parts.tables, parts.part_tables, parts.none, parts.no_totals, parts.served,
        parts.none, parts.no_seats, parts.no_seats, parts.no_kinds, parts.no_totals,
    )  # fmt: skip
    sweep_document(np.int64(0), corpus, assignments, words, prior, ratios, scratch, rng)
    for k in range(parts.served.shape[1]):
        state.served[d, k] = parts.served[0, k]
    draw_shares(d, prior.alpha, parts.served[0], state.shares, rng)
    if moves_cuts and last > first:
        set_base(d, b, state.shares, work)
        filter_forward(first, last, units.unit_ptr, state.topics, cut_prior, work)
        draw_starts(first, last, units.unit_ptr, state.topics, cut_prior, work, state.starts, rng)


@njit_inlined_source
def add_estimates(
    d, units, state, prior, cut_prior, parts, work, doc_topic, unit_topic, probabilities
):  # fmt: skip
    """Add E[mu] given tables, E[nu] of units given mu, and probabilities of cuts to sums."""
    first, last = units.doc_ptr[d], units.doc_ptr[d + 1]
    b, n_topics = prior.concentration[0], prior.alpha.shape[0]
    total = 0.0
    for k in range(n_topics):
        total += prior.alpha[k] + state.served[d, k]
    for k in range(n_topics):
        doc_topic[d, k] += (prior.alpha[k] + state.served[d, k]) / total
    set_base(d, b, state.shares, work)
    enter_parts(d, units, state.starts, parts)
    p, u = -1, first
    while u < last:
        p += 1
        begin, end = parts.part_ptr[p], parts.part_ptr[p + 1]
        for i in range(begin, end):
            work.n_k[state.topics[i]] += 1
        scale = 1.0 / (b + (end - begin))
        start = u
        while u < last and (u == start or state.starts[u] == 0):
            for k in range(n_topics):
                unit_topic[u, k] += (work.base[k] + work.n_k[k]) * scale
            u += 1
        for i in range(begin, end):
            work.n_k[state.topics[i]] = 0
    if last > first:
        add_cut_probabilities(
            first, last, units.unit_ptr, state.topics, cut_prior, work, probabilities
        )


@njit_loop
def sweep_all_units(
    moves_cuts, units, state, words, prior, cut_prior, ratios, scratch, parts, work, rng
):  # fmt: skip
    """Sweep every document once: see the module."""
    for d in range(units.doc_ptr.shape[0] - 1):
        sweep_units(
            d, moves_cuts, units, state, words, prior, cut_prior, ratios, scratch, parts, work, rng
        )


@njit_loop
def add_all_estimates(
    units, state, prior, cut_prior, parts, work, doc_topic, unit_topic, probabilities
):  # fmt: skip
    """Add the estimates of every document: see `add_estimates`."""
    for d in range(units.doc_ptr.shape[0] - 1):
        add_estimates(
            d, units, state, prior, cut_prior, parts, work, doc_topic, unit_topic, probabilities
        )


@njit_loop
def log_prior_of_parts(units, state, concentration, work):
    """Return the log evidence of the topics of all parts given mu."""
    result = 0.0
    for d in range(units.doc_ptr.shape[0] - 1):
        set_base(d, concentration, state.shares, work)
        first, last = units.doc_ptr[d], units.doc_ptr[d + 1]
        u = first
        while u < last:
            begin, n = units.unit_ptr[u], 0
            start = u
            while u < last and (u == start or state.starts[u] == 0):
                for i in range(units.unit_ptr[u], units.unit_ptr[u + 1]):
                    k = state.topics[i]
                    result += np.log((work.base[k] + work.n_k[k]) / (concentration + n))
                    work.n_k[k] += 1
                    n += 1
                u += 1
            for i in range(begin, units.unit_ptr[u]):
                work.n_k[state.topics[i]] = 0
    return result


@njit_loop
def fold_in_units(
    units, lengths, state, words, prior, cut_prior, ratios, scratch, parts, work, n_whole, n_sweeps,
    burn_in, amount, place, key, doc_topic, unit_topic, probabilities, rng,
):  # fmt: skip
    """Write E[mu], E[nu] and probabilities of cuts of documents; arguments as in ``_fold_in.py``.

    A chain begins with one part for `n_whole` sweeps.
    """
    scale = 1.0 / (n_sweeps - burn_in)
    while place[0] < units.doc_ptr.shape[0] - 1 and amount > 0:
        d = place[0]
        first, last = units.doc_ptr[d], units.doc_ptr[d + 1]
        content = units.tokens[units.unit_ptr[first] : units.unit_ptr[last]]
        if place[1] == 0:
            stream_of_content(key, content, lengths[first:last], rng)
        while place[1] < n_sweeps and amount > 0:
            sweep_units(
                d, place[1] >= n_whole, units, state, words, prior, cut_prior, ratios, scratch,
                parts, work, rng,
            )  # fmt: skip
            if place[1] >= burn_in:
                add_estimates(
                    d, units, state, prior, cut_prior, parts, work, doc_topic, unit_topic,
                    probabilities,
                )  # fmt: skip
            place[1] += 1
            amount -= content.shape[0] + (last - first) + 1
        if place[1] == n_sweeps:
            for k in range(prior.alpha.shape[0]):
                doc_topic[d, k] *= scale
                for u in range(first, last):
                    unit_topic[u, k] *= scale
            for u in range(first, last):
                probabilities[u] *= scale
            place[0], place[1] = d + 1, 0
