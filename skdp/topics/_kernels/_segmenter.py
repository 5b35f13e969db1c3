"""Topics and cuts of documents: sweeps, exact draws of cuts, and the most probable division.

Symbols as in `_kernels/_tables`; mu_d are the shares of a document. Between sweeps the state of a
document is (topics, starts, mu). A sweep

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

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import (
    njit_forceinline,
    njit_inlined_source,
    njit_internal_nogc,
    njit_loop,
)
from skdp._numeric._random import draw_gamma, next_double, stream_of_content
from skdp.processes._kernels_table_counts import draw_table_count
from skdp.topics._kernels._btigs import sweep_document
from skdp.topics._kernels._counts import Corpus
from skdp.topics._kernels._tables import Assignments

# Exact draws of all cuts of a document at once, given the topics of its words.
#
# A document is a row of units, which are never cut. A part is a run of units, and its words are the
# customers of a Chinese restaurant with concentration b and base mu. So the evidence of a part is
#
#     prod over its words of (b mu_k + n_k) / (b + n),
#
# in any order, with n_k words of topic k and n words in all before. A gap between two units is a
# cut with probability rho. A semi-Markov filter adds up the evidence of all divisions; a draw goes
# back from the end, and a second filter gives the probability of a cut in every gap.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | unit_ptr | | (J + 1,) int64 | words of each unit |
# | first, last | | | units of the document |
# | known | y | (J,) int8 | whether a part begins at a unit: 1 yes, 0 no, -1 unknown |
# | starts | | (J,) int8 | whether a part begins at a unit; 1 at the first of a document |
# | most | | | largest number of units of a part |
# | log_cut, log_join | log rho, log(1 - rho) | scalars | |
# | topics | z | (n,) int32 | |
# | base | b mu_k | (K,) float64 | |
# | n_k | n_k | (K,) int64 | scratch, zero between documents |
# | inverse | 1 / (b + n) | (longest document + 1,) float64 | |
# | forward | | (U + 1,) float64 | log evidence of the units before, with a part that ends there |
# | backward | | (U + 1,) float64 | log evidence of the units from there on |
# | logs | | (U + 1,) float64 | scratch |


_SMALL = 1e-200

_NEGLIGIBLE = 1e-12
"""Smaller probabilities of a part with words of its own are dropped."""

_LOG_NEGLIGIBLE = math.log(_NEGLIGIBLE)


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
    reach: np.ndarray  # the first unit at which a part that ends at each place may begin
    drops: bool  # whether improbable beginnings are dropped


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
def walk_back(e, first, unit_ptr, topics, prior, work, out):
    """Write the log evidence of each part that ends at `e`, with its gaps, to `out`; by its begin.

    Return the first unit at which such a part may begin.
    """
    log, n, s = 0.0, 0, e
    lowest = max(work.reach[e], e - prior.most)
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
def filter_in_reach(first, last, unit_ptr, topics, prior, work):
    """Do as `filter_forward`, but drop a beginning of parts where it has become improbable."""
    forward, low = work.forward, 0
    forward[0] = 0.0
    for e in range(1, last - first + 1):
        work.reach[e] = low
        forward[e] = -math.inf
        if e < last - first and prior.known[first + e] == 0:
            continue
        low = walk_back(e, first, unit_ptr, topics, prior, work, work.logs)
        for s in range(low, e):
            work.logs[s] += forward[s]
            if work.logs[s] > -math.inf:
                forward[e] = add_logs(forward[e], work.logs[s])
        while low < e and work.logs[low] < forward[e] + _LOG_NEGLIGIBLE:
            low += 1
    return forward[last - first]


@njit_internal_nogc
def filter_forward(first, last, unit_ptr, topics, prior, work):
    """Write the log evidence of the units before each place at which a part may end."""
    if work.drops:
        return filter_in_reach(first, last, unit_ptr, topics, prior, work)
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


# The most probable division of a document into parts, given the expected topics of its words.
#
# The log probability of a division is the sum over its parts of the log evidence of their topics,
# averaged over M samples, and of the log prior of its cuts. The evidence of a part of the units
# from s to e - 1 is that of a Dirichlet-multinomial distribution with expected counts n_k, which
# are fractions:
#
#     log E(s, e) = sum_k log Gamma(b mu_k + n_k) / Gamma(b mu_k) - log Gamma(b + n) / Gamma(b).
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | counts | | (M, U, K) float64 | expected number of words of each topic in each unit |
# | bases | b mu_k | (M, K) float64 | |
# | tokens, unit_ptr, sums | b | (n,), (U + 1,), (M,) | without counts: words in place of topics |
# | sizes | | (U,) int64 | words of each unit |
# | log_cut, log_rest | log rho, log (1 - rho) | scalars | |
# | most_units, most_words | | scalars | largest sizes of a part; words: if it has several units |
# | evidence | log E(s, e) | (U + 1,) float64 | of parts that begin at unit s |
# | best | | (P + 1, U + 1) float64 | largest log probability of p parts that end before a unit |
# | before | | (P + 1, U + 1) int64 | where the last of them begins |


@njit_internal_nogc
def weigh_parts(s, end, counts, bases, n_k, evidence):
    """Write the log evidence of the parts that begin at `s` and end at `end` or before."""
    n_samples, n_topics = bases.shape
    for e in range(s + 1, end + 1):
        evidence[e] = 0.0
    for m in range(n_samples):
        b, n, log_evidence = 0.0, 0.0, 0.0
        for k in range(n_topics):
            n_k[k] = 0.0
            b += bases[m, k]
        for u in range(s, end):
            n_words = 0.0
            for k in range(n_topics):
                c = counts[m, u, k]
                if c > 0.0:
                    at = bases[m, k] + n_k[k]
                    log_evidence += math.lgamma(at + c) - math.lgamma(at)
                    n_k[k] += c
                    n_words += c
            log_evidence -= math.lgamma(b + n + n_words) - math.lgamma(b + n)
            n += n_words
            evidence[u + 1] += log_evidence / n_samples


@njit_internal_nogc
def weigh_parts_of_words(s, end, tokens, unit_ptr, bases, sums, n_k, evidence):
    """Write the log evidence of the words of the parts that begin at `s`; `sums` (M,) are b."""
    for e in range(s + 1, end + 1):
        evidence[e] = 0.0
    for m in range(bases.shape[0]):
        log = 0.0
        for e in range(s, end):
            for i in range(unit_ptr[e], unit_ptr[e + 1]):
                w = tokens[i]
                log += math.log((bases[m, w] + n_k[w]) / (sums[m] + (i - unit_ptr[s])))
                n_k[w] += 1.0
            evidence[e + 1] += log / bases.shape[0]
        for i in range(unit_ptr[s], unit_ptr[end]):
            n_k[tokens[i]] = 0.0


@njit_loop
def find_division(
    n_parts, counts, bases, sizes, log_cut, log_rest, most_units, most_words, n_k, evidence, best,
    before, starts, tokens, unit_ptr, sums,
):  # fmt: skip
    """Write the most probable division into `n_parts` parts (0: any number) to `starts` (U,)."""
    n_units, n_rows = sizes.shape[0], best.shape[0]
    for p in range(n_rows):
        for e in range(n_units + 1):
            best[p, e] = -math.inf
    best[0, 0] = 0.0
    for s in range(n_units):
        end, n_words = s + 1, sizes[s]
        while end < n_units and end - s < most_units and n_words + sizes[end] <= most_words:
            n_words += sizes[end]
            end += 1
        if counts.shape[0] > 0:
            weigh_parts(s, end, counts, bases, n_k, evidence)
        else:
            weigh_parts_of_words(s, end, tokens, unit_ptr, bases, sums, n_k, evidence)
        for e in range(s + 1, end + 1):
            log = evidence[e] + (e - s - 1) * log_rest
            if s > 0:
                log += log_cut
            for p in range(n_rows):
                q = min(p + 1, n_rows - 1)
                if (q > p or n_parts == 0) and best[p, s] + log > best[q, e]:
                    best[q, e] = best[p, s] + log
                    before[q, e] = s
    for u in range(n_units):
        starts[u] = 0
    p, e = n_rows - 1, n_units
    while e > 0:
        e = before[p, e]
        starts[e] = 1
        p = max(p - 1, 0)


# Sweeps of topics and cuts, over a corpus and over new documents.


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
    """Set b mu of a document; a single row of shares is that of all documents."""
    row = min(d, shares.shape[0] - 1)
    for k in range(shares.shape[1]):
        work.base[k] = concentration * shares[row, k]


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
        parts.none, parts.no_seats, parts.no_seats, parts.no_kinds, parts.no_totals, parts.no_seats,
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
    """Sweep every document once: see the module docstring."""
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
    """Write E[mu], E[nu] and probabilities of cuts of documents; see `_shared/_fold_in`.

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


# Parts with words of their own: one topic, of which each part has its own version. Its words take
# the place of topics, and mu, the words of the topic, is one row for all documents.


@njit_loop
def sweep_own_words(alpha, units, state, concentration, cut_prior, work, rng):
    """Draw the cuts of every document, the tables of the words of its parts, and mu given these."""
    served = state.served[0]
    for w in range(served.shape[0]):
        served[w] = 0
    for d in range(units.doc_ptr.shape[0] - 1):
        first, last = units.doc_ptr[d], units.doc_ptr[d + 1]
        if last == first:
            continue
        set_base(d, concentration, state.shares, work)
        filter_forward(first, last, units.unit_ptr, state.topics, cut_prior, work)
        draw_starts(first, last, units.unit_ptr, state.topics, cut_prior, work, state.starts, rng)
        begin = units.unit_ptr[first]
        for u in range(first + 1, last + 1):
            if u < last and state.starts[u] == 0:
                continue
            end = units.unit_ptr[u]
            for i in range(begin, end):
                work.n_k[state.topics[i]] += 1
            for i in range(begin, end):
                w = state.topics[i]
                served[w] += draw_table_count(work.n_k[w], work.base[w], rng)
                work.n_k[w] = 0
            begin = end
    draw_shares(0, alpha, served, state.shares, rng)


@njit_loop
def add_own_cuts(d, units, topics, shares, concentration, cut_prior, work, probabilities):
    """Add the probabilities of the cuts of document `d` given mu."""
    first, last = units.doc_ptr[d], units.doc_ptr[d + 1]
    if last > first:
        set_base(d, concentration, shares, work)
        add_cut_probabilities(first, last, units.unit_ptr, topics, cut_prior, work, probabilities)


@njit_loop
def score_own_words(d, units, cut_prior, work, further, further_ptr, scores):
    """Add the probabilities of further words of units of document `d`, after `add_own_cuts`."""
    first, last = units.doc_ptr[d], units.doc_ptr[d + 1]
    n_units = last - first
    for s in range(n_units):
        log = work.forward[s] - work.forward[n_units] + (cut_prior.log_cut if s > 0 else 0.0)
        begin = units.unit_ptr[first + s]
        end = begin
        for e in range(s + 1, min(n_units, s + cut_prior.most) + 1):
            if work.reach[e] > s:
                break
            if e > s + 1:
                log += cut_prior.log_join
            start, end = units.unit_ptr[first + e - 1], units.unit_ptr[first + e]
            log += weigh_unit(start, end, start - begin, units.tokens, work)
            weight = math.exp(min(log + work.backward[e], 0.0))
            if weight > _NEGLIGIBLE:
                for j in range(further_ptr[first + s], further_ptr[first + e]):
                    w = further[j]
                    p = (work.base[w] + work.n_k[w]) * work.inverse[end - begin]
                    scores[j] += weight * p
        clear_words(begin, end, units.tokens, work)
