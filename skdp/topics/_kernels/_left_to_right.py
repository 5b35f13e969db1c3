"""Kernels for the probability of documents under fixed topics, for table models.

The estimation by particles is described in `_kernels/_counts`. Symbols as there, in
`_kernels/_tables` and `_kernels/_chain`; one document at a time, whose segments are levels 0, 1,
..., and R particles:

| name | symbol | shape | meaning |
|---|---|---|---|
| topics, tables, ... | x_r | (R, ...) | state of each particle: see `Particles` |
| customers, level_customers | N_ik, Nd_i | (levels, K), (levels,) | of the current particle |
| share | N_jk - a T_jk | (K,) | weight of sharing a table of the current segment |
| fixed_part, mu_part | P_i, q_i | (levels, K), (levels,) | E[nu_i] = P_i + q_i E[mu] |
| base | alpha_k + c_k | (K,) | weight of a topic at the document's node |
| sums | | (K,) | running sums of p(k given x) phi_kw without 1 / (b + Nd_j) |

The next word of segment j has topic k with probability

    p(k | x) = {share_k + (b + a Td_j) (fS_j mu_k + fT_j E[nu_{j-1,k}])} / (b + Nd_j),

for the tables of a single seating, unlike the weights of a sweep, which sum over all orders in
which customers may have arrived.

Particles are moved by sweeps over all words so far, and, more often, over the words of the current
segment: its first words leave its topics uncertain, and a sweep over so few words is cheap.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import (
    njit,
    njit_forceinline,
    njit_inlined_source,
    njit_internal,
    njit_internal_nogc,
)
from skdp._numeric._random import next_double
from skdp.topics._kernels import _btigs as _kernels_btigs
from skdp.topics._kernels._chain import (
    SWEEPS_OF_SEGMENTS,
    GroupBursts,
    enter_group,
    enter_level,
    rate_word,
    rebuild_level,
    weigh_topics,
)
from skdp.topics._kernels._counts import (
    Corpus,
    draw_sum,
    find_seat,
    log_mean_exp,
    next_stop,
    resample,
    take_place,
    weigh_seats,
    with_seats,
)
from skdp.topics._kernels._ssa import DOCUMENT
from skdp.topics._kernels._sweeps import redraw_concentrations
from skdp.topics._kernels._tables import (
    BTIGS,
    Assignments,
    Prior,
    parents_of,
)

TINY = 1e-280
"""Added to P, which otherwise becomes subnormal along a chain, which is slow."""

ALONE = np.int64(0)
"""Index of a document in its corpus, and of its first segment.

A Python int would have another numba type.
"""

_sweep_btigs = _kernels_btigs.sweep_document
_sweep_segments = SWEEPS_OF_SEGMENTS[BTIGS]


class Particles(NamedTuple):
    """States of one document: the arrays of `Assignments` except seats, with a leading axis."""

    topics: np.ndarray
    tables: np.ndarray
    segment_tables: np.ndarray
    to_previous: np.ndarray
    segment_to_previous: np.ndarray
    document_tables: np.ndarray
    seats: np.ndarray  # (R, n), or (R, 0) without bursts
    drawn: np.ndarray  # (R, G): concentration of each group of segments, if it is drawn
    concentration: np.ndarray  # (R, J)
    log_weights: np.ndarray
    ancestors: np.ndarray


class Predictive(NamedTuple):
    """Arrays that predict the next word of a particle."""

    customers: np.ndarray
    level_customers: np.ndarray
    via_document: np.ndarray
    via_previous: np.ndarray
    fixed_part: np.ndarray
    mu_part: np.ndarray
    base: np.ndarray
    share: np.ndarray
    sums: np.ndarray


class PrefixCorpus(NamedTuple):
    """The words so far, which kernels change, as corpora for sweeps, which do not."""

    document: Corpus  # its arrays are read-only, as in a fit, so that sweeps are not recompiled
    segment: Corpus  # a document that is only the current segment
    segment_ptr: np.ndarray
    document_ptr: np.ndarray
    here_ptr: np.ndarray


# The predictive distribution


@njit_forceinline
def count_tables(i, k, assignments, prior):
    """Return T_ik."""
    t = assignments.tables[i, k]
    return t if prior.to_previous == 0.0 else t + assignments.to_previous[i, k]


@njit_forceinline
def weigh_parents_of(i, corpus, assignments, prior, ahead):
    """Set the weights of the parents of level `i`, which are common to all topics."""
    f_document, f_previous, n_tables = parents_of(i, corpus, assignments, prior)
    new = prior.concentration[i] + prior.discount * n_tables
    ahead.via_document[i] = new * f_document
    ahead.via_previous[i] = new * f_previous


@njit_forceinline
def predict_level(i, corpus, assignments, prior, ahead):
    """Set P and q of level `i` of a chain from its counts and the level above."""
    weigh_parents_of(i, corpus, assignments, prior, ahead)
    inverse = 1.0 / (prior.concentration[i] + ahead.level_customers[i])
    a, through = prior.discount, ahead.via_previous[i] * inverse
    has_above, above = i > corpus.part_begin[i], max(i - 1, 0)
    ahead.mu_part[i] = ahead.via_document[i] * inverse
    if has_above:
        ahead.mu_part[i] += through * ahead.mu_part[above]
    for k in range(prior.alpha.shape[0]):
        share = ahead.customers[i, k] - a * count_tables(i, k, assignments, prior)
        at_above = through * ahead.fixed_part[above, k] if has_above else 0.0
        ahead.fixed_part[i, k] = share * inverse + at_above + TINY


@njit_forceinline
def enter_segment(i, end, corpus, assignments, prior, ahead):
    """Prepare for word `end`, the next word of level `i`."""
    if prior.to_previous > 0.0:
        for level in range(corpus.part_begin[i], i):
            stop = corpus.segment_ptr[level + 1]
            enter_level(level, level, stop, True, corpus, assignments, ahead)
            predict_level(level, corpus, assignments, prior, ahead)
    enter_level(i, i, end, False, corpus, assignments, ahead)
    weigh_parents_of(i, corpus, assignments, prior, ahead)
    customers = ahead.customers
    for k in range(prior.alpha.shape[0]):
        ahead.share[k] = customers[i, k] - prior.discount * count_tables(i, k, assignments, prior)


@njit_forceinline
def seat_word(i, k, mu, corpus, assignments, prior, ahead, rng):
    """Seat a word of level `i` with topic `k` at a table or a new one, and so on up the chain.

    Return the level of the shared table and 0, or that of a table from the document and DOCUMENT.
    """
    level = i
    while True:
        t = count_tables(level, k, assignments, prior)
        sharing = ahead.customers[level, k] - prior.discount * t
        to_node = ahead.via_document[level] * mu
        to_above = 0.0
        if level > corpus.part_begin[level]:
            up = ahead.fixed_part[level - 1, k] + ahead.mu_part[level - 1] * mu
            to_above = ahead.via_previous[level] * up
        ahead.customers[level, k] += 1
        ahead.level_customers[level] += 1
        target = next_double(rng) * (sharing + to_node + to_above) - sharing
        if target < 0.0:
            return level, 0
        if target < to_node or to_above == 0.0:
            assignments.tables[level, k] += 1
            assignments.segment_tables[level] += 1
            assignments.document_tables[0, k] += 1
            return level, DOCUMENT
        assignments.to_previous[level, k] += 1
        assignments.segment_to_previous[level] += 1
        level -= 1


@njit_internal_nogc
def extend_segment(i, begin, end, corpus, assignments, prior, words, ahead, bursts, rng):
    """Seat words `begin` to `end` - 1 of a document, all of level `i`; return their log weight."""
    n_topics, counts = prior.alpha.shape[0], words.counts
    base, share, sums = ahead.base, ahead.share, ahead.sums
    fixed_part, mu_part = ahead.fixed_part, ahead.mu_part
    above = max(i - 1, 0)  # without weight if the part begins here
    total = 0.0
    for k in range(n_topics):
        base[k] = prior.alpha[k] + assignments.document_tables[0, k]
        total += base[k]
    enter_segment(i, begin, corpus, assignments, prior, ahead)
    if bursts is not None:
        group = i if bursts.each_segment else ALONE
        enter_group(group, assignments.topics, bursts, bursts.ones)
    log_weight = 0.0
    for x in range(begin, end):
        w = corpus.tokens[x]
        through = ahead.via_previous[i]
        from_mu = (ahead.via_document[i] + through * mu_part[above]) / total
        running = 0.0
        for k in range(n_topics):
            p = share[k] + through * fixed_part[above, k] + from_mu * base[k]
            if bursts is not None:
                own = bursts.seats
                own.share[k] = p * bursts.inverse[k]
                p *= bursts.rate[k]
            running += p * counts[w, k]
            sums[k] = running
        joined = 0.0
        if bursts is not None:
            place = np.int64(own.firsts[x] - bursts.group_ptr[group])
            joined = weigh_seats(place, own)
        log_weight += math.log(
            (running + joined) / (prior.concentration[i] + ahead.level_customers[i])
        )

        if bursts is None:
            k = draw_sum(sums, rng)
        else:
            target = next_double(rng) * (running + joined)
            if target < joined:
                seat = find_seat(target, place, own)
                k = np.int64(own.served[seat])
            else:
                k = draw_sum(sums, rng)
                seat = take_place(k, place, own)
                own.opened[k] += 1.0
            own.seats[x] = bursts.group_ptr[group] + seat
            own.sizes[seat] += 1
            bursts.words[k] += 1.0
            rate_word(k, bursts, bursts.ones)
        assignments.topics[x] = k
        level, kind = seat_word(i, k, base[k] / total, corpus, assignments, prior, ahead, rng)
        if kind == DOCUMENT:
            base[k] += 1.0
            total += 1.0
        if level < i or kind == DOCUMENT:
            for changed in range(level, i):
                predict_level(changed, corpus, assignments, prior, ahead)
            weigh_parents_of(i, corpus, assignments, prior, ahead)
        n_tables = count_tables(i, k, assignments, prior)
        share[k] = ahead.customers[i, k] - prior.discount * n_tables
    return log_weight


# Particles


@njit_internal
def state_of(r, particles, unseated):
    """Return the state of particle `r` for sweeps; missing arrays are those of `unseated`."""
    return Assignments(
        particles.topics[r],
        particles.tables[r],
        particles.segment_tables[r],
        particles.to_previous[r],
        particles.segment_to_previous[r],
        particles.document_tables[r],
        unseated.seat_heads,
        unseated.seat_links,
        unseated.seat_sizes,
        unseated.seat_kinds,
        unseated.seat_free,
        particles.seats[r],
    )


@njit_internal
def bursts_of(r, particles, bursts):
    """Return the bursts of particle `r`."""
    if bursts is None:
        return None
    own = with_seats(bursts.seats, bursts.seats.firsts, particles.seats[r])
    return GroupBursts(
        own, bursts.each_segment, bursts.group_ptr, bursts.words, bursts.ones, bursts.customer,
        bursts.inverse, bursts.rate,
    )  # fmt: skip


@njit_internal_nogc
def copy_particle(source, target, n_tokens, n_levels, particles):
    """Copy particle `source` to `target`, with `n_tokens` words in `n_levels`."""
    p = particles
    for x in range(n_tokens):
        p.topics[target, x] = p.topics[source, x]
    for x in range(min(n_tokens, p.seats.shape[1])):
        p.seats[target, x] = p.seats[source, x]
    for k in range(p.tables.shape[2]):
        p.document_tables[target, 0, k] = p.document_tables[source, 0, k]
        for i in range(n_levels):
            p.tables[target, i, k] = p.tables[source, i, k]
    for i in range(n_levels):
        p.segment_tables[target, i] = p.segment_tables[source, i]
    for i in range(min(n_levels, p.to_previous.shape[1])):
        p.segment_to_previous[target, i] = p.segment_to_previous[source, i]
        for k in range(p.tables.shape[2]):
            p.to_previous[target, i, k] = p.to_previous[source, i, k]
    for g in range(p.drawn.shape[1]):
        p.drawn[target, g] = p.drawn[source, g]
    for i in range(p.concentration.shape[1]):
        p.concentration[target, i] = p.concentration[source, i]


# Moves


@njit_internal_nogc
def enter_levels(j, corpus, assignments, prior, ratios, levels):
    """Set the levels of a chain above segment `j` to their state when BTIGS reaches it."""
    first = corpus.part_begin[j]
    for i in range(j - first):
        stop = corpus.segment_ptr[first + i + 1]
        enter_level(first + i, i, stop, True, corpus, assignments, levels)
        weigh_topics(BTIGS, i, first + i, assignments, ratios, prior.discount, levels)
        rebuild_level(i, first, assignments, prior, levels)


# numba inlines it into its callers, so code that is not called is not compiled.


@njit_inlined_source
def move_words(
    chained, begin, end, seen, assignments, words, prior, ratios, scratch, levels, bursts, rng
):
    """Sweep the words so far of levels `begin` to `end` - 1, the last level so far."""
    if chained:
        total = 0.0
        for k in range(prior.alpha.shape[0]):
            levels.base[k] = prior.alpha[k] + assignments.document_tables[0, k]
            total += prior.alpha[k] + assignments.document_tables[0, k]
        enter_levels(begin, seen.document, assignments, prior, ratios, levels)
        _sweep_segments(
            ALONE, begin, end, total, seen.document, assignments, words, prior, ratios,
            scratch, levels, bursts, rng,
        )  # fmt: skip
    else:
        seen.here_ptr[0], seen.here_ptr[1] = begin, end
        _sweep_btigs(ALONE, seen.segment, assignments, words, prior, ratios, scratch, rng)


# Documents


def _left_to_right(chained):
    """Return `estimate_document`; `chained`: tables may order from the previous segment."""

    @njit
    def estimate_document(
        corpus, seen, words, prior, groups, particles, unseated, ahead, ratios, scratch, levels,
        bursts, rng,
    ):  # fmt: skip
        """Return the log of an estimate of the probability of a document's words.

        `seen` is an empty prefix of `corpus`, the document; `particles` have no words, `unseated`
        no seats. Concentrations of all segments are drawn, in `groups`, or of none.
        """
        n_tokens, n_levels = corpus.tokens.shape[0], corpus.segment_ptr.shape[0] - 1
        n_particles, n_groups = particles.drawn.shape
        log_weights, ancestors = particles.log_weights, particles.ancestors
        result = 0.0
        due = 0  # number of words at the next move of all; at 0, concentrations are drawn
        for i in range(n_levels):
            first, last = corpus.segment_ptr[i], corpus.segment_ptr[i + 1]
            end = first
            while end < last:
                begin, end = end, first + next_stop(end - first, last - first)
                moves_all = begin >= due
                if begin > 0:
                    seen.document_ptr[1] = i + 1
                for r in range(n_particles):
                    assignments = state_of(r, particles, unseated)
                    of_particle = Prior(
                        prior.alpha, 0.0, prior.discount, particles.concentration[r],
                        prior.to_document, prior.to_previous,
                    )  # fmt: skip
                    drawn, own = particles.drawn[r], bursts_of(r, particles, bursts)
                    if moves_all and i > 0:
                        move_words(
                            chained, ALONE, i + 1, seen, assignments, words, of_particle, ratios,
                            scratch, levels, own, rng,
                        )  # fmt: skip
                    if begin > first:
                        move_words(
                            chained, i, i + 1, seen, assignments, words, of_particle, ratios,
                            scratch, levels, own, rng,
                        )  # fmt: skip
                    group, after = 0, n_groups
                    if not moves_all:  # only the concentration of the segment, if it has its own
                        group, after = i, i + (n_groups == n_levels and begin > first)
                    if group < after:
                        redraw_concentrations(
                            ALONE, group, after, seen.document, assignments, of_particle, groups,
                            drawn, rng,
                        )  # fmt: skip
                    log_weights[r] += extend_segment(
                        i, begin, end, corpus, assignments, of_particle, words, ahead, own, rng
                    )
                if moves_all:
                    due = next_stop(begin, n_tokens)
                for level in range(i + 1, n_levels + 1):
                    seen.segment_ptr[level] = end
                result += resample(log_weights, ancestors, rng)
                for r in range(n_particles):
                    if ancestors[r] != r:
                        copy_particle(ancestors[r], r, end, i + 1, particles)
        return result + log_mean_exp(log_weights)

    return estimate_document


ESTIMATES = {chained: _left_to_right(chained) for chained in (False, True)}
"""`estimate_document` by whether tables may order from previous segments."""
