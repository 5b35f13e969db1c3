"""Sweeps over a corpus and over new documents, for every model and sampler.

Symbols as in ``_kernels.py``.
"""

# mypy: ignore-errors

import numpy as np

from skdp._numba import njit, njit_part
from skdp._random import next_double, stream_of_content
from skdp.processes._concentration import draw_concentration
from skdp.processes._discount import draw_seating_evidence, draw_table_evidence
from skdp.topics._tables import _kernels_btigs, _kernels_chain, _kernels_cmgs, _kernels_ssa
from skdp.topics._tables._kernels import (
    add_estimates,
    count_customers,
    enter_corpus,
    parents_of,
    tables_below,
)
from skdp.topics._tables._kernels_chain import BTIGS, CMGS, SSA
from skdp.topics._tables._kernels_seats import DOCUMENT, PREVIOUS, open_seat, seats_for

SMALLEST_CONCENTRATION, LARGEST_CONCENTRATION = 1e-8, 1e12
"""Where b is as good as 0 and infinite: weights of topics would overflow or vanish beyond."""

_sweep_btigs = _kernels_btigs.sweep_document
_sweep_cmgs = _kernels_cmgs.sweep_document
_sweep_ssa = _kernels_ssa.sweep_document
_sweep_chain = _kernels_chain.sweep_document


@njit_part
def _sweep_document(
    sampler, d, begin, corpus, assignments, words, prior, ratios, scratch, levels, rng
):
    """Sweep document `d` from segment `begin` on; return the segment to go on from.

    It is the document's end unless seats are lacking: see `seats_for`.
    """
    if prior.to_previous > 0.0:
        return _sweep_chain(
            sampler, d, begin, corpus, assignments, words, prior, ratios, scratch, levels, rng
        )
    if sampler == BTIGS:
        _sweep_btigs(d, corpus, assignments, words, prior, ratios, scratch, rng)
    elif sampler == CMGS:
        _sweep_cmgs(d, corpus, assignments, words, prior, ratios, scratch, rng)
    elif assignments.seat_free[1] < seats_for(d, begin, corpus, prior):
        return begin
    else:
        _sweep_ssa(d, corpus, assignments, words, prior, scratch, rng)
    return corpus.doc_ptr[d + 1]


@njit
def seat_randomly(sampler, corpus, assignments, prior, place, rng):
    """Give every word a uniformly random topic, unless it has one; seat it at its only table.

    Parameters
    ----------
    place : (1,) int64, changed
        Segments that are done, counted from the last one.

    Returns
    -------
    n_seats : int
        Free seats that it takes to go on; 0 at the end.
    """
    n_topics = prior.alpha.shape[0]
    for i in range(assignments.topics.shape[0]):
        if assignments.topics[i] < 0:
            assignments.topics[i] = int(next_double(rng) * n_topics)
    customers = np.zeros(n_topics, np.int64)
    n_segments = corpus.segment_ptr.shape[0] - 1
    d = corpus.doc_ptr.shape[0] - 2
    for j in range(n_segments - 1 - place[0], -1, -1):
        if sampler == SSA and assignments.seat_free[1] < n_topics:
            place[0] = n_segments - 1 - j
            return n_topics
        while j < corpus.doc_ptr[d]:
            d -= 1
        _seat_segment(
            sampler, d, j, corpus.doc_ptr[d], corpus.doc_ptr[d + 1], corpus, assignments, prior,
            customers,
        )  # fmt: skip
    return 0


@njit_part
def _seat_segment(sampler, d, j, first, last, corpus, assignments, prior, customers):
    """Give each topic of segment `j` one table; the segments below have theirs."""
    to_previous = prior.to_document == 0.0 and j > first
    customers[:] = 0
    if prior.to_previous > 0.0 and j + 1 < last:
        customers[:] = assignments.to_previous[j + 1]
    for i in range(corpus.segment_ptr[j], corpus.segment_ptr[j + 1]):
        customers[assignments.topics[i]] += 1
    for k in range(customers.shape[0]):
        if customers[k] == 0:
            continue
        if to_previous:
            assignments.to_previous[j, k] = 1
            assignments.segment_to_previous[j] += 1
        else:
            assignments.tables[j, k] = 1
            assignments.segment_tables[j] += 1
            assignments.document_tables[d, k] += 1
        if sampler == SSA:
            open_seat(
                j,
                k,
                PREVIOUS if to_previous else DOCUMENT,
                assignments.seat_heads,
                assignments.seat_links,
                assignments.seat_sizes,
                assignments.seat_kinds,
                assignments.seat_free,
            )
            assignments.seat_sizes[assignments.seat_heads[j, k]] = customers[k]


@njit
def sweep_corpus(sampler, corpus, assignments, words, prior, ratios, scratch, levels, place, rng):
    """Sweep every document once.

    Parameters
    ----------
    place : (2,) int64, changed
        Document and segment to go on from.

    Returns
    -------
    n_seats : int
        Free seats that it takes to go on; 0 at the end.
    """
    enter_corpus(words, prior, scratch)
    j = place[1]
    for d in range(place[0], corpus.doc_ptr.shape[0] - 1):
        j = _sweep_document(
            sampler, d, j, corpus, assignments, words, prior, ratios, scratch, levels, rng
        )
        if j < corpus.doc_ptr[d + 1]:
            place[0], place[1] = d, j
            return seats_for(d, j, corpus, prior)
    return 0


@njit
def draw_concentrations(group_ptr, customers, tables, discount, concentration, shape, rate, rng):
    """Draw the concentration of each group of segments given their customers and tables.

    Parameters
    ----------
    group_ptr : (G + 1,) int64
        Group g, which shares one concentration, is segments group_ptr[g]:group_ptr[g + 1].
    customers, tables : (J,) int64
    concentration : (G,) float64, changed
    """
    for g in range(group_ptr.shape[0] - 1):
        begin, end = group_ptr[g], group_ptr[g + 1]
        drawn = draw_concentration(
            customers[begin:end], tables[begin:end], discount, concentration[g], shape, rate, rng
        )
        concentration[g] = min(max(drawn, SMALLEST_CONCENTRATION), LARGEST_CONCENTRATION)


@njit
def gather_discount_evidence(corpus, assignments, prior, stirling, n_k, rng):
    """Return the powers of a and of 1 - a that all tables and seatings contribute, drawn.

    `n_k` (K,) is zero on entry and exit.
    """
    a = prior.discount
    of_tables, of_seatings = 0, 0
    for d in range(corpus.doc_ptr.shape[0] - 1):
        first = corpus.doc_ptr[d]
        for j in range(first, corpus.doc_ptr[d + 1]):
            n_tables = parents_of(j, first, assignments, prior)[2]
            of_tables += draw_table_evidence(n_tables, prior.concentration[j], a, rng)
            for i in range(corpus.segment_ptr[j], corpus.segment_ptr[j + 1]):
                n_k[assignments.topics[i]] += 1
            for k in range(prior.alpha.shape[0]):
                n = n_k[k] + tables_below(j, k, d, corpus, assignments, prior)
                n_k[k] = 0
                t = assignments.tables[j, k]
                if prior.to_previous > 0.0:
                    t += assignments.to_previous[j, k]
                of_seatings += draw_seating_evidence(
                    n, t, a, stirling.values, stirling.row_ptr, rng
                )
    return of_tables, of_seatings


@njit
def fold_in(
    sampler,
    corpus,
    assignments,
    words,
    prior,
    concentration_prior,
    each_segment,
    ratios,
    scratch,
    levels,
    n_sweeps,
    burn_in,
    work,
    place,
    key,
    doc_topic,
    segment_topic,
    rng,
):
    """Write E[mu] and E[nu] of every document, with topics fixed, averaged over its own chain.

    It stops after the sweep with which `work` is done, and is called again until all are.

    Parameters
    ----------
    prior : Prior
        Its concentrations (J,) are where those that are drawn start; they are changed.
    concentration_prior : (2,) float64
        Gamma (shape, rate) under which every document draws its own concentration; a shape of 0
        keeps it fixed.
    each_segment : bool
        Whether every segment draws one of its own instead.
    n_sweeps, burn_in : int
        Sweeps of a chain, and how many of its first ones do not count.
    work : int
        Words, segments and documents to sweep, each as often as it is.
    place : (3,) int64, changed
        Document, the sweeps that it has had, and the segment to go on from.
    key : (4,) uint64
        Keys the stream of each document together with its content.
    doc_topic : (D, K) float64, output, zero on entry
    segment_topic : (J, K) float64, output, zero on entry
    rng : (4,) uint64
        Stream of the document.

    Returns
    -------
    n_seats : int
        Free seats that it takes to go on; 0 otherwise.
    """
    enter_corpus(words, prior, scratch)
    lengths = np.diff(corpus.segment_ptr)
    customers, tables = np.empty_like(lengths), np.empty_like(lengths)
    n_topics = prior.alpha.shape[0]
    scale = 1.0 / (n_sweeps - burn_in)
    while place[0] < corpus.doc_ptr.shape[0] - 1 and work > 0:
        d = place[0]
        begin, end = corpus.doc_ptr[d], corpus.doc_ptr[d + 1]
        content = corpus.tokens[corpus.segment_ptr[begin] : corpus.segment_ptr[end]]
        size = content.shape[0] + (end - begin) + 1
        if place[1] == 0 and place[2] == begin:
            stream_of_content(key, content, lengths[begin:end], rng)
        groups = np.array([begin, end])
        if each_segment:
            groups = np.arange(begin, end + 1)
        drawn = prior.concentration[begin : begin + groups.shape[0] - 1].copy()
        while place[1] < n_sweeps and work > 0:
            place[2] = _sweep_document(
                sampler, d, place[2], corpus, assignments, words, prior, ratios, scratch, levels,
                rng,
            )  # fmt: skip
            if place[2] < end:
                return seats_for(d, place[2], corpus, prior)
            if place[1] >= burn_in:
                add_estimates(
                    d,
                    corpus,
                    assignments,
                    prior,
                    scratch.n_k,
                    doc_topic[d],
                    segment_topic[begin:end],
                    begin,
                )
            if concentration_prior[0] > 0.0 and end > begin:
                count_customers(d, d + 1, corpus, assignments, prior, customers, tables)
                draw_concentrations(
                    groups,
                    customers,
                    tables,
                    prior.discount,
                    drawn,
                    concentration_prior[0],
                    concentration_prior[1],
                    rng,
                )
                for g in range(drawn.shape[0]):
                    prior.concentration[groups[g] : groups[g + 1]] = drawn[g]
            place[1] += 1
            place[2] = begin
            work -= size
        if place[1] == n_sweeps:
            for k in range(n_topics):
                doc_topic[d, k] *= scale
                for j in range(begin, end):
                    segment_topic[j, k] *= scale
            place[0], place[1], place[2] = d + 1, 0, end
    return 0
