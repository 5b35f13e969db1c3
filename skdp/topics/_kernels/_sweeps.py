"""Sweeps over a corpus and over new documents, for every model and sampler.

Symbols as in `_kernels/_tables`. A kernel with a branch per sampler would compile all of them, and
a first fit would take twice as long. So `sweeps_of` selects in Python among kernels in which the
sampler is a constant, and code that they do not call is not compiled.

The kernels return 0, or the number of free seats that they need to continue from `place`: after a
number of segments from the last (`seat_randomly`), at a document and segment (`sweep_corpus`), or
at a document, a number of its sweeps, and a segment (`fold_in`).
"""

# mypy: ignore-errors

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import (
    njit,
    njit_inlined_source,
    njit_internal,
    njit_internal_nogc,
)
from skdp._numeric._random import next_double, stream_of_content
from skdp._numeric._simd import total_product
from skdp.processes._concentration import (
    draw_concentration,
    draw_seating_evidence,
    draw_table_evidence,
)
from skdp.topics._kernels._btigs import SWEEPS_OF_DOCUMENTS
from skdp.topics._kernels._chain import enter_group, make_sweep_of_chain, weigh_word
from skdp.topics._kernels._counts import weigh_seats
from skdp.topics._kernels._ssa import DOCUMENT, PREVIOUS, open_seat, seats_for
from skdp.topics._kernels._tables import (
    BTIGS,
    CMGS,
    SSA,
    add_estimates,
    count_customers,
    parents_of,
    tables_below,
)

SMALLEST_CONCENTRATION, LARGEST_CONCENTRATION = 1e-8, 1e12
"""Bounds at which b is practically 0 or infinite; beyond, weights of topics overflow or vanish."""


class ConcentrationGroups(NamedTuple):
    """Groups of segments that share a concentration, and its Gamma prior (shape, rate)."""

    group_ptr: np.ndarray
    prior: np.ndarray
    customers: np.ndarray
    tables: np.ndarray


class ScoredWords(NamedTuple):
    """Further words, sorted by segment, and the sums of their probabilities with bursts."""

    ptr: np.ndarray  # (J + 1,)
    words: np.ndarray
    places: np.ndarray  # first place of each in its group (see `TablePlaces`); -1 for new words
    out: np.ndarray
    nu: np.ndarray  # (J, K), scratch, zero


class Sweeps(NamedTuple):
    """The kernels of one sampler."""

    seat_randomly: Callable
    sweep_corpus: Callable
    fold_in: Callable


def _make_sweep_document(sampler, chained):
    """Return the sweep of a document, from a segment on, which returns where it lacks seats."""
    if chained:
        return make_sweep_of_chain(sampler)
    sweep_whole = SWEEPS_OF_DOCUMENTS[sampler]

    @njit_internal_nogc
    def sweep_document(
        d, begin, corpus, assignments, words, prior, ratios, scratch, levels, bursts, rng
    ):
        """Sweep document `d`; return its end, or `begin` if it lacks seats."""
        if sampler == SSA and assignments.seat_free[1] < seats_for(d, begin, corpus, prior):
            return begin
        sweep_whole(d, corpus, assignments, words, prior, ratios, scratch, rng)
        return corpus.doc_ptr[d + 1]

    return sweep_document


@njit_inlined_source
def _seat_segment(has_seats, d, j, corpus, assignments, prior, customers):
    """Give each topic of segment `j` one table; later segments already have theirs."""
    to_previous = prior.to_document == 0.0 and j > corpus.part_begin[j]
    has_next = prior.to_previous > 0.0 and j + 1 < corpus.doc_ptr[d + 1]
    for k in range(customers.shape[0]):
        customers[k] = assignments.to_previous[j + 1, k] if has_next else 0
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
        if has_seats:
            open_seat(
                j, k, PREVIOUS if to_previous else DOCUMENT, assignments.seat_heads,
                assignments.seat_links, assignments.seat_sizes, assignments.seat_kinds,
                assignments.seat_free,
            )  # fmt: skip
            assignments.seat_sizes[assignments.seat_heads[j, k]] = customers[k]


@njit
def draw_concentrations(group_ptr, customers, tables, discount, concentration, shape, rate, rng):
    """Draw the concentration of each group of segments, group_ptr[g]:group_ptr[g + 1], in place."""
    for g in range(group_ptr.shape[0] - 1):
        begin, end = group_ptr[g], group_ptr[g + 1]
        drawn = draw_concentration(
            customers[begin:end], tables[begin:end], discount, concentration[g], shape, rate, rng
        )
        concentration[g] = min(max(drawn, SMALLEST_CONCENTRATION), LARGEST_CONCENTRATION)


@njit_internal
def redraw_concentrations(d, first, last, corpus, assignments, prior, groups, drawn, rng):
    """Draw the concentrations of groups `first` to `last` - 1, which belong to document `d`."""
    count_customers(d, d + 1, corpus, assignments, prior, groups.customers, groups.tables)
    group_ptr = groups.group_ptr[first : last + 1]
    draw_concentrations(
        group_ptr, groups.customers, groups.tables, prior.discount, drawn[first:last],
        groups.prior[0], groups.prior[1], rng,
    )  # fmt: skip
    for g in range(first, last):
        for j in range(groups.group_ptr[g], groups.group_ptr[g + 1]):
            prior.concentration[j] = drawn[g]


@njit
def gather_discount_evidence(corpus, assignments, prior, stirling, n_k, rng):
    """Draw the powers of a and of 1 - a of all tables and seatings; `n_k` stays zero."""
    a = prior.discount
    of_tables, of_seatings = 0, 0
    for d in range(corpus.doc_ptr.shape[0] - 1):
        for j in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
            n_tables = parents_of(j, corpus, assignments, prior)[2]
            of_tables += draw_table_evidence(n_tables, prior.concentration[j], a, rng)
            for i in range(corpus.segment_ptr[j], corpus.segment_ptr[j + 1]):
                n_k[assignments.topics[i]] += 1
            for k in range(prior.alpha.shape[0]):
                n = n_k[k] + tables_below(j, k, d, corpus, assignments, prior)
                n_k[k] = 0
                t = np.int64(assignments.tables[j, k])
                if prior.to_previous > 0.0:
                    t += assignments.to_previous[j, k]
                of_seatings += draw_seating_evidence(
                    n, t, a, stirling.values, stirling.row_ptr, rng
                )
    return of_tables, of_seatings


@njit_internal
def add_probabilities(d, begin, end, topics, words, factor, bursts, scored, nu):
    """Add `scored.nu` to `nu`, and probabilities of scored words of document `d`; `words` is phi.

    Its segments are `begin` to `end` - 1.
    """
    seats = bursts.seats
    if not bursts.each_segment:
        enter_group(d, topics, bursts, bursts.ones)
    for j in range(begin, end):
        if bursts.each_segment:
            enter_group(j, topics, bursts, bursts.ones)
        start = bursts.group_ptr[j if bursts.each_segment else d]
        for k in range(nu.shape[1]):
            nu[j, k] += scored.nu[j, k]
            weigh_word(k, scored.nu[j, k], bursts, bursts.ones, factor)
            scored.nu[j, k] = 0.0
        for x in range(scored.ptr[j], scored.ptr[j + 1]):
            p = np.float64(total_product(words.counts, scored.words[x], np.float32(0.0), factor))
            if scored.places[x] >= 0:
                p += weigh_seats(scored.places[x] - start, seats)
            scored.out[x] += p


@njit_internal
def add_estimates_with_bursts(
    d, corpus, assignments, words, prior, scratch, bursts, scored, mu, nu
):
    """Add E[mu] and E[nu] as `add_estimates`, and probabilities of scored words."""
    add_estimates(d, corpus, assignments, prior, scratch, mu, scored.nu)
    add_probabilities(
        d, corpus.doc_ptr[d], corpus.doc_ptr[d + 1], assignments.topics, words, scratch.factor,
        bursts, scored, nu,
    )  # fmt: skip


@njit
def score_with_bursts(corpus, assignments, words, prior, scratch, bursts, scored, mu, nu):
    """Add probabilities of scored words given the state; `mu` (D, K) and `nu` are scratch."""
    for d in range(corpus.doc_ptr.shape[0] - 1):
        add_estimates_with_bursts(
            d, corpus, assignments, words, prior, scratch, bursts, scored, mu[d], nu
        )


def _make_seating(has_seats):
    """Return `seat_randomly` with or without individual tables."""

    @njit
    def seat_randomly(corpus, assignments, prior, customers, place, rng):
        """Give words without a topic random ones, and seat all words at single tables."""
        n_topics = prior.alpha.shape[0]
        for i in range(assignments.topics.shape[0]):
            if assignments.topics[i] < 0:
                assignments.topics[i] = int(next_double(rng) * n_topics)
        n_segments = corpus.segment_ptr.shape[0] - 1
        d = corpus.doc_ptr.shape[0] - 2
        for j in range(n_segments - 1 - place[0], -1, -1):
            if has_seats and assignments.seat_free[1] < n_topics:
                place[0] = n_segments - 1 - j
                return n_topics
            while j < corpus.doc_ptr[d]:
                d -= 1
            _seat_segment(has_seats, d, j, corpus, assignments, prior, customers)
        for k in range(n_topics):
            customers[k] = 0
        return 0

    return seat_randomly


def _make_sweep(sweep_document):
    """Return `sweep_corpus` of one sampler."""

    @njit
    def sweep_corpus(
        corpus, assignments, words, prior, ratios, scratch, levels, bursts, place, rng
    ):
        """Sweep every document once."""
        j = place[1]
        for d in range(place[0], corpus.doc_ptr.shape[0] - 1):
            j = sweep_document(
                d, j, corpus, assignments, words, prior, ratios, scratch, levels, bursts, rng
            )
            if j < corpus.doc_ptr[d + 1]:
                place[0], place[1] = d, j
                return seats_for(d, j, corpus, prior)
        return 0

    return sweep_corpus


def _make_fold_in(sweep_document):
    """Return `fold_in` of one sampler."""

    @njit
    def fold_in(
        corpus, lengths, assignments, words, prior, groups, each_segment, drawn, ratios, scratch,
        levels, bursts, scored, n_sweeps, burn_in, work, place, key, doc_topic, segment_topic, rng,
    ):  # fmt: skip
        """Add E[mu] and E[nu] of documents, with topics fixed, to sums; see `_shared/_fold_in`.

        If the shape of their prior is not 0, concentrations are drawn, by document or by segment
        (`each_segment`): `drawn` (G,) and the concentrations of `prior` are changed. With bursts,
        probabilities of `scored` words are added, too.
        """
        while place[0] < corpus.doc_ptr.shape[0] - 1 and work > 0:
            d = place[0]
            begin, end = corpus.doc_ptr[d], corpus.doc_ptr[d + 1]
            content = corpus.tokens[corpus.segment_ptr[begin] : corpus.segment_ptr[end]]
            size = content.shape[0] + (end - begin) + 1
            if place[1] == 0 and place[2] == begin:
                stream_of_content(key, content, lengths[begin:end], rng)
            while place[1] < n_sweeps and work > 0:
                place[2] = sweep_document(
                    d, place[2], corpus, assignments, words, prior, ratios, scratch, levels,
                    bursts, rng,
                )  # fmt: skip
                if place[2] < end:
                    return seats_for(d, place[2], corpus, prior)
                if place[1] >= burn_in:
                    if bursts is None:
                        add_estimates(
                            d, corpus, assignments, prior, scratch, doc_topic[d], segment_topic
                        )
                    else:
                        add_estimates_with_bursts(
                            d, corpus, assignments, words, prior, scratch, bursts, scored,
                            doc_topic[d], segment_topic,
                        )  # fmt: skip
                if groups.prior[0] > 0.0 and end > begin:
                    first, last = (begin, end) if each_segment else (d, d + 1)
                    redraw_concentrations(
                        d, first, last, corpus, assignments, prior, groups, drawn, rng
                    )
                place[1] += 1
                place[2] = begin
                work -= size
            if place[1] == n_sweeps:
                place[0], place[1], place[2] = d + 1, 0, end
        return 0

    return fold_in


SAMPLERS = {"btigs": BTIGS, "cmgs": CMGS, "ssa": SSA}

_SEATINGS = {has_seats: _make_seating(has_seats) for has_seats in (False, True)}
_SWEEPS = {
    (sampler, chained): Sweeps(_SEATINGS[code == SSA], _make_sweep(sweep), _make_fold_in(sweep))
    for sampler, code in SAMPLERS.items()
    for chained in (False, True)
    for sweep in [_make_sweep_document(code, chained)]
}


def sweeps_of(sampler: str, *, chained: bool) -> Sweeps:
    """Return the kernels of a sampler; `chained`: tables may order from the previous segment."""
    return _SWEEPS[sampler, chained]
