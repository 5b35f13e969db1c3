"""Sweeps of topics and tables of documents of sections of paragraphs.

Symbols as in `_kernels/_tables`. The segments of the corpus are paragraphs. A table of a paragraph
orders its dish from its section, where it is a customer, and a table of a section orders from the
document. S sections.

| name | symbol | shape | meaning |
|---|---|---|---|
| tokens, paragraph_ptr | w | (n,), (J + 1,) | words of paragraphs |
| section_ptr, doc_ptr | | (S + 1,), (D + 1,) | paragraphs of sections, sections of documents |
| topics | z | (n,) int32 | topic of each word, -1 before it is seated |
| paragraph_tables | t_jk | (J, K) int32 | tables of a paragraph |
| paragraph_totals | t_j. | (J,) int64 | |
| section_tables | s_rk | (S, K) int32 | tables of a section |
| section_totals | s_r. | (S,) int64 | |
| document_tables | c_dk | (D, K) int32 | sum of s_rk over the sections of a document |
| n_k | n_jk | (K,) int64 | words of the current paragraph |
| customers | N_rk | (K,) int64 | customers of the current section: sum of t_jk |
| alpha | alpha | (K,) | Dirichlet prior of the shares of documents |
| a, b | a_1, b_1; a_2, b_2 | scalars | discount and concentration of sections; of paragraphs |
| of_section | E[nu_r] | (K,) float64 | expected shares of a section given the state |
| share_above, open_above | | (K') float32 | weights of sharing and opening, in the section |
| share, opening | | (K') float32 | in the paragraph |
| up | | (K') float32 | weight of a topic for a customer of the section |
| base | alpha_k + c_k | (K') float32 | |
| factor | | (K') float32 | weight of a topic for a word without (M_kw + gamma) |

With the joint in multiplicity form,

    Beta_K(alpha + c) / Beta_K(alpha) prod_r (b_1|a_1)_{s_r.} / (b_1)_{N_r.} prod_k S^{N_rk}_{s_rk}
        prod_j (b_2|a_2)_{t_j.} / (b_2)_{n_j.} prod_k S^{n_jk}_{t_jk},

a word leaves and enters as in `_kernels/_btigs`: up the tree, as long as tables leave with it, and
with the weights

    up_k = {share_above_k + open_above_k (b_1 + a_1 s_r.) mu_k} / (b_1 + N_r.)
    factor_k = reciprocal_k {share_k + opening_k (b_2 + a_2 t_j.) up_k},

mu_k = (alpha_k + c_k) / (A + c.). A move of a word without its table changes `factor` at one topic;
all topics are reweighed after a table was opened or closed. Bursts are as in `_kernels/_chain`.
"""

# mypy: ignore-errors

from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import (
    njit,
    njit_forceinline,
    njit_internal,
    njit_internal_nogc,
    njit_loop,
)
from skdp._numeric._random import next_double, stream_of_content
from skdp._numeric._simd import assume_nonnegative, draw_product, prefetch
from skdp.processes._concentration import draw_seating_evidence, draw_table_evidence
from skdp.processes._kernels_stirling import log_stirling
from skdp.topics._kernels._btigs import look_up_weights
from skdp.topics._kernels._chain import (
    draw_word,
    enter_bursts,
    enter_group,
    remove_word,
    weigh_word,
)
from skdp.topics._kernels._counts import AHEAD, MORE, log_rising, log_seats
from skdp.topics._kernels._sweeps import add_probabilities
from skdp.topics._kernels._tables import count_word


class Paragraphs(NamedTuple):
    """Documents of sections of paragraphs of words."""

    tokens: np.ndarray
    paragraph_ptr: np.ndarray
    section_ptr: np.ndarray
    doc_ptr: np.ndarray


class SectionSeating(NamedTuple):
    """State of a chain: topics and tables."""

    topics: np.ndarray
    paragraph_tables: np.ndarray
    paragraph_totals: np.ndarray
    section_tables: np.ndarray
    section_totals: np.ndarray
    document_tables: np.ndarray
    seats: np.ndarray  # (n,), with bursts


class SectionLevel(NamedTuple):
    """The parameters of the sections or of the paragraphs, and a table of weights by (n, t)."""

    discount: float
    concentration: float
    values: np.ndarray
    row_ptr: np.ndarray


class Scratch(NamedTuple):
    """Scratch vectors; between two documents `n_k` is zero."""

    n_k: np.ndarray
    customers: np.ndarray
    of_section: np.ndarray
    base: np.ndarray
    reciprocal: np.ndarray
    share_above: np.ndarray
    open_above: np.ndarray
    up: np.ndarray
    share: np.ndarray
    opening: np.ndarray
    factor: np.ndarray
    sums: np.ndarray
    may_open: np.ndarray


@njit_forceinline
def loses_table(n, t, rng):
    """Draw whether a table leaves with one of `n` customers at `t` tables."""
    return t == n or (t > 1 and next_double(rng) * n < t)


@njit_forceinline
def reweigh(k, n, t, level, share, opening):
    """Set the weights of sharing and opening of topic `k`, `n` customers at `t` tables."""
    share[k], opening[k] = look_up_weights(n, t, level.values, level.row_ptr, level.discount)


@njit_forceinline
def rebuild(from_document, inverse, from_section, reciprocal, factor, scratch):
    """Reweigh all topics given (b_1 + a_1 s_r.) / (A + c.), 1 / (b_1 + N_r.) and b_2 + a_2 t_j."""
    base, up = scratch.base, scratch.up
    share_above, open_above = scratch.share_above, scratch.open_above
    share, opening = scratch.share, scratch.opening
    through, scale = np.float32(from_document), np.float32(inverse)
    via = np.float32(from_section)
    for k in range(up.shape[0]):
        up[k] = scale * (share_above[k] + open_above[k] * (through * base[k]))
        factor[k] = reciprocal[k] * (share[k] + opening[k] * (via * up[k]))


@njit_internal_nogc
def sweep_section(d, r, total, corpus, state, words, gamma, sections, paragraphs, alpha, scratch,
                  bursts, rng):  # fmt: skip
    """Draw topic and tables of every word of section `r`, of unseated words too; return A + c."""
    shift = gamma * words.counts.shape[0]
    offset = np.float32(gamma)
    tokens, topics = corpus.tokens, state.topics
    counts, totals, fixed = words.counts, words.totals, words.fixed
    n_k, customers, base = scratch.n_k, scratch.customers, scratch.base
    reciprocal, factor, up = scratch.reciprocal, scratch.factor, scratch.up
    share, opening = scratch.share, scratch.opening
    share_above, open_above = scratch.share_above, scratch.open_above
    sums, may_open = scratch.sums, scratch.may_open
    d, r = assume_nonnegative(d), assume_nonnegative(r)
    served, above = state.document_tables[d], state.section_tables[r]
    n_above = state.section_totals[r]
    n_topics = alpha.shape[0]

    # Enter the section: its customers are the tables of its paragraphs.
    n_customers = np.int64(0)
    first, last = assume_nonnegative(corpus.section_ptr[r]), corpus.section_ptr[r + 1]
    for k in range(n_topics):
        customers[k] = 0
    for j in range(first, last):
        n_customers += state.paragraph_totals[j]
        for k in range(n_topics):
            customers[k] += state.paragraph_tables[j, k]
    for k in range(n_topics):
        reweigh(k, customers[k], np.int64(above[k]), sections, share_above, open_above)

    for j in range(first, last):
        begin, end = assume_nonnegative(corpus.paragraph_ptr[j]), corpus.paragraph_ptr[j + 1]
        if begin == end:
            continue
        tables, n_tables = state.paragraph_tables[j], state.paragraph_totals[j]
        start = enter_bursts(d, j, begin, topics, bursts, reciprocal)
        for k in range(n_topics):
            n_k[k] = 0
            share[k], opening[k] = 0.0, 1.0
        for x in range(begin, end):
            if topics[x] >= 0:
                n_k[topics[x]] += 1
        for k in range(n_topics):
            if n_k[k] > 0:
                reweigh(k, n_k[k], np.int64(tables[k]), paragraphs, share, opening)
        tables_changed = True
        via_section, via_document = 0.0, 0.0
        for x in range(begin, end):
            if x + AHEAD < tokens.shape[0]:
                prefetch(counts, tokens[x + AHEAD])
            w = assume_nonnegative(tokens[x])

            # Remove the word, and up the tree each table that leaves with it.
            k = np.int64(topics[x])
            if k >= 0:
                n, t = n_k[k], np.int64(tables[k])
                if loses_table(n, t, rng):
                    t -= 1
                    tables[k] = t
                    n_tables -= 1
                    n_of_section, s = customers[k], np.int64(above[k])
                    if loses_table(n_of_section, s, rng):
                        s -= 1
                        above[k] = s
                        n_above -= 1
                        served[k] -= 1
                        base[k] = alpha[k] + served[k]
                        total -= 1.0
                    customers[k] = n_of_section - 1
                    n_customers -= 1
                    reweigh(k, n_of_section - 1, s, sections, share_above, open_above)
                    tables_changed = True
                n_k[k] = n - 1
                reweigh(k, n - 1, t, paragraphs, share, opening)
                remove_word(x, w, k, start, words, shift, bursts, reciprocal, may_open)

            # If tables have changed, reweigh all topics, otherwise only the topic of the word.
            if tables_changed:
                via_section = paragraphs.concentration + paragraphs.discount * n_tables
                via_document = sections.concentration + sections.discount * n_above
                via_document /= total
                inverse = 1.0 / (sections.concentration + n_customers)
                if bursts is None:
                    rebuild(via_document, inverse, via_section, reciprocal, factor, scratch)
                else:
                    rebuild(
                        via_document, inverse, via_section, bursts.ones, bursts.customer, scratch
                    )
                    for i in range(n_topics):
                        weigh_word(i, bursts.customer[i], bursts, reciprocal, factor)
                tables_changed = False
            elif k >= 0:
                customer = share[k] + opening[k] * (via_section * up[k])
                weigh_word(k, customer, bursts, reciprocal, factor)

            # Draw the topic, and up the tree whether the word and its table open tables.
            if bursts is None:  # without a bound on the number of topics
                k = draw_product(counts, w, offset, factor, sums, rng)
                count_word(w, k, MORE, fixed, counts, totals, shift, reciprocal, may_open)
            else:
                k = draw_word(
                    x, w, start, offset, words, shift, factor, sums, bursts, reciprocal, may_open,
                    rng,
                )  # fmt: skip
            topics[x] = k
            n, t = n_k[k], np.int64(tables[k])
            via = opening[k] * via_section * up[k]
            if n == 0 or next_double(rng) * (share[k] + via) >= share[k]:
                t += 1
                tables[k] = t
                n_tables += 1
                n_of_section, s = customers[k], np.int64(above[k])
                via = open_above[k] * via_document * base[k]
                if n_of_section == 0 or (
                    next_double(rng) * (share_above[k] + via) >= share_above[k]
                ):
                    s += 1
                    above[k] = s
                    n_above += 1
                    served[k] += 1
                    base[k] = alpha[k] + served[k]
                    total += 1.0
                customers[k] = n_of_section + 1
                n_customers += 1
                reweigh(k, n_of_section + 1, s, sections, share_above, open_above)
                tables_changed = True
            n_k[k] = n + 1
            reweigh(k, n + 1, t, paragraphs, share, opening)
            if not tables_changed:
                customer = share[k] + opening[k] * (via_section * up[k])
                weigh_word(k, customer, bursts, reciprocal, factor)
        state.paragraph_totals[j] = n_tables
        for k in range(n_topics):
            n_k[k] = 0
    state.section_totals[r] = n_above
    return total


@njit_internal_nogc
def sweep_document(
    d, corpus, state, words, gamma, sections, paragraphs, alpha, scratch, bursts, rng
):
    """Sweep the sections of document `d` once; unseated words are seated."""
    if bursts is not None and not bursts.each_segment:
        enter_group(d, state.topics, bursts, scratch.reciprocal)
    total = 0.0
    for k in range(alpha.shape[0]):
        at_node = alpha[k] + state.document_tables[d, k]
        scratch.base[k] = at_node
        total += at_node
    for r in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
        total = sweep_section(
            d, r, total, corpus, state, words, gamma, sections, paragraphs, alpha, scratch, bursts,
            rng,
        )  # fmt: skip


@njit_loop
def sweep_all(corpus, state, words, gamma, sections, paragraphs, alpha, scratch, bursts, rng):
    """Sweep every document once."""
    for d in range(corpus.doc_ptr.shape[0] - 1):
        sweep_document(
            d, corpus, state, words, gamma, sections, paragraphs, alpha, scratch, bursts, rng
        )  # fmt: skip


@njit_loop
def seat_all(corpus, state, rng):
    """Give words without a topic random ones, and topics single tables; there are none on entry."""
    n_topics = state.document_tables.shape[1]
    for i in range(state.topics.shape[0]):
        if state.topics[i] < 0:
            state.topics[i] = int(next_double(rng) * n_topics)
    for d in range(corpus.doc_ptr.shape[0] - 1):
        for r in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
            for j in range(corpus.section_ptr[r], corpus.section_ptr[r + 1]):
                for i in range(corpus.paragraph_ptr[j], corpus.paragraph_ptr[j + 1]):
                    k = state.topics[i]
                    if state.paragraph_tables[j, k] == 0:
                        state.paragraph_tables[j, k] = 1
                        state.paragraph_totals[j] += 1
                        if state.section_tables[r, k] == 0:
                            state.section_tables[r, k] = 1
                            state.section_totals[r] += 1
                            state.document_tables[d, k] += 1


@njit_internal
def add_estimates(
    d, corpus, state, sections, paragraphs, alpha, scratch, doc_topic, section_topic,
    paragraph_topic,
):  # fmt: skip
    """Add E[mu] and E[nu] of the sections and paragraphs of document `d` to running sums."""
    n_k, above = scratch.n_k, scratch.of_section
    n_topics, total = alpha.shape[0], 0.0
    for k in range(n_topics):
        total += alpha[k] + state.document_tables[d, k]
    for k in range(n_topics):
        doc_topic[d, k] += (alpha[k] + state.document_tables[d, k]) / total
    for r in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
        first, last = corpus.section_ptr[r], corpus.section_ptr[r + 1]
        n_customers = 0
        for j in range(first, last):
            n_customers += state.paragraph_totals[j]
        scale = 1.0 / (sections.concentration + n_customers)
        rest = (sections.concentration + sections.discount * state.section_totals[r]) * scale
        for k in range(n_topics):
            n = 0
            for j in range(first, last):
                n += state.paragraph_tables[j, k]
            mu = (alpha[k] + state.document_tables[d, k]) / total
            above[k] = (n - sections.discount * state.section_tables[r, k]) * scale + rest * mu
            section_topic[r, k] += above[k]
        for j in range(first, last):
            begin, end = corpus.paragraph_ptr[j], corpus.paragraph_ptr[j + 1]
            for i in range(begin, end):
                n_k[state.topics[i]] += 1
            scale_here = 1.0 / (paragraphs.concentration + (end - begin))
            rest_here = paragraphs.concentration
            rest_here += paragraphs.discount * state.paragraph_totals[j]
            rest_here *= scale_here
            for k in range(n_topics):
                own = (n_k[k] - paragraphs.discount * state.paragraph_tables[j, k]) * scale_here
                paragraph_topic[j, k] += own + rest_here * above[k]
                n_k[k] = 0


@njit
def add_all_estimates(
    corpus, state, sections, paragraphs, alpha, scratch, doc_topic, section_topic, paragraph_topic
):  # fmt: skip
    """Add the estimates of every document: see `add_estimates`."""
    for d in range(corpus.doc_ptr.shape[0] - 1):
        add_estimates(
            d, corpus, state, sections, paragraphs, alpha, scratch, doc_topic, section_topic,
            paragraph_topic,
        )  # fmt: skip


@njit
def log_prior_of_all(corpus, state, sections, paragraphs, alpha, n_k):
    """Return log p(z, t, s), all but the word factor, in multiplicity form.

    Levels hold Stirling ratios, and `n_k` is zero on entry and exit.
    """
    n_topics, result, of_alpha = alpha.shape[0], 0.0, 0.0
    for k in range(n_topics):
        of_alpha += alpha[k]
    for d in range(corpus.doc_ptr.shape[0] - 1):
        in_document = 0
        for k in range(n_topics):
            c = np.int64(state.document_tables[d, k])
            if c > 0:
                result += log_rising(alpha[k], c)
                in_document += c
        result -= log_rising(of_alpha, in_document)
        for r in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
            in_section = 0
            for k in range(n_topics):
                n = np.int64(0)
                for j in range(corpus.section_ptr[r], corpus.section_ptr[r + 1]):
                    n += state.paragraph_tables[j, k]
                in_section += n
                if n > 0:
                    s = np.int64(state.section_tables[r, k])
                    result += log_stirling(
                        sections.values, sections.row_ptr, n, s, sections.discount
                    )
            result += log_seats(in_section, state.section_totals[r], sections)
            for j in range(corpus.section_ptr[r], corpus.section_ptr[r + 1]):
                begin, end = corpus.paragraph_ptr[j], corpus.paragraph_ptr[j + 1]
                result += log_seats(end - begin, state.paragraph_totals[j], paragraphs)
                for i in range(begin, end):
                    n_k[state.topics[i]] += 1
                for k in range(n_topics):
                    if n_k[k] > 0:
                        t = np.int64(state.paragraph_tables[j, k])
                        result += log_stirling(
                            paragraphs.values, paragraphs.row_ptr, n_k[k], t, paragraphs.discount
                        )
                        n_k[k] = 0
    return result


@njit_internal
def add_evidence(n_tables, customers, tables, level, evidence, rng):
    """Add the drawn powers of a and 1 - a of a node to `evidence` (2,); clear `customers` (K,)."""
    a = level.discount
    evidence[0] += draw_table_evidence(n_tables, level.concentration, a, rng)
    for k in range(tables.shape[0]):
        n, t = customers[k], np.int64(tables[k])
        evidence[1] += draw_seating_evidence(n, t, a, level.values, level.row_ptr, rng)
        customers[k] = 0


@njit
def gather_discount_evidence(corpus, state, sections, paragraphs, n_k, evidence, rng):
    """Write the drawn powers of a and 1 - a of sections and of paragraphs to `evidence` (2, 2).

    Levels hold Stirling ratios, and `n_k` is zero on entry and exit.
    """
    evidence[:] = 0.0
    for r in range(corpus.section_ptr.shape[0] - 1):
        for k in range(n_k.shape[0]):
            for j in range(corpus.section_ptr[r], corpus.section_ptr[r + 1]):
                n_k[k] += state.paragraph_tables[j, k]
        tables = state.section_tables[r]
        add_evidence(state.section_totals[r], n_k, tables, sections, evidence[0], rng)
    for j in range(corpus.paragraph_ptr.shape[0] - 1):
        for i in range(corpus.paragraph_ptr[j], corpus.paragraph_ptr[j + 1]):
            n_k[state.topics[i]] += 1
        tables = state.paragraph_tables[j]
        add_evidence(state.paragraph_totals[j], n_k, tables, paragraphs, evidence[1], rng)


@njit
def fold_in(
    corpus, lengths, state, words, sections, paragraphs, alpha, scratch, bursts, scored, n_sweeps,
    burn_in, amount, place, key, doc_topic, section_topic, paragraph_topic, rng,
):  # fmt: skip
    """Add E[mu], E[nu] of every document, with topics fixed, to sums; see `_shared/_fold_in`.

    With bursts, add the probabilities of `scored` words, too.
    """
    while place[0] < corpus.doc_ptr.shape[0] - 1 and amount > 0:
        d = place[0]
        first, last = corpus.doc_ptr[d], corpus.doc_ptr[d + 1]
        begin, end = corpus.section_ptr[first], corpus.section_ptr[last]
        content = corpus.tokens[corpus.paragraph_ptr[begin] : corpus.paragraph_ptr[end]]
        if place[1] == 0:
            stream_of_content(key, content, lengths[begin:end], rng)
        while place[1] < n_sweeps and amount > 0:
            sweep_document(
                d, corpus, state, words, 0.0, sections, paragraphs, alpha, scratch, bursts, rng
            )
            if place[1] >= burn_in and bursts is None:
                add_estimates(
                    d, corpus, state, sections, paragraphs, alpha, scratch, doc_topic,
                    section_topic, paragraph_topic,
                )  # fmt: skip
            if place[1] >= burn_in and bursts is not None:
                add_estimates(
                    d, corpus, state, sections, paragraphs, alpha, scratch, doc_topic,
                    section_topic, scored.nu,
                )  # fmt: skip
                add_probabilities(
                    d, begin, end, state.topics, words, scratch.factor, bursts, scored,
                    paragraph_topic,
                )  # fmt: skip
            place[1] += 1
            amount -= content.shape[0] + (end - begin) + 1
        if place[1] == n_sweeps:
            place[0], place[1] = d + 1, 0
