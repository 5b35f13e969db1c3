"""Kernels that all topic models share: counts of words, changes, merges, particles, bursts.

K topics, W words in the vocabulary, n tokens, J segments, D documents; K' is K padded to whole
vectors.

| name | symbol | shape | meaning |
|---|---|---|---|
| tokens, segment_ptr, doc_ptr | w | (n,), (J + 1,), (D + 1,) | the flat corpus |
| part_begin | | (J,) int64 | first segment of the part of the document to which j belongs |
| counts, totals | M_kw, M_k | (W, K') float32, (K',) | words by topic; fixed topics: phi and 0 |
| gamma | | scalar | Dirichlet prior of the topics |
| segment_topic | nu_jk | (J, K) | shares of topics |
| components | phi_kw | (K, W) float32 | word probabilities |
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

import numpy as np

from skdp._numeric._numba import (
    njit,
    njit_forceinline,
    njit_inlined,
    njit_internal,
    njit_internal_nogc,
    njit_loop,
)
from skdp._numeric._random import draw_gamma, next_double
from skdp._numeric._simd import find_sum, prefetch, sum_product
from skdp.processes._concentration import draw_table_evidence

AHEAD = 3
"""Distance in words from the current word to the word whose counts are prefetched."""

MORE, LESS = np.int64(1), np.int64(-1)
"""Change of a count. They are int64, because numba compiles a separate version for Python ints."""


class Corpus(NamedTuple):
    """A flat corpus of words."""

    tokens: np.ndarray
    segment_ptr: np.ndarray
    doc_ptr: np.ndarray
    part_begin: np.ndarray


class WordCounts(NamedTuple):
    """Words by topic; if topics are `fixed`, their word probabilities, which never change."""

    counts: np.ndarray
    totals: np.ndarray
    fixed: bool


@njit
def log_rising(x, n):
    """Return log of x (x + 1) ... (x + n - 1), accurate even if lgamma would cancel."""
    if n > 64 and x < 1e4:
        return math.lgamma(x + n) - math.lgamma(x)
    result = 0.0
    for i in range(n):
        result += math.log(x + i)
    return result


@njit
def log_likelihood_of_words(counts, totals, n_topics, gamma):
    """Return log p(w | z): the word factor of (5.2)."""
    n_words = counts.shape[0]
    at_zero = math.lgamma(gamma)
    result = n_topics * math.lgamma(n_words * gamma)
    for k in range(n_topics):
        result -= math.lgamma(n_words * gamma + totals[k])
    for w in range(n_words):
        for k in range(n_topics):
            if counts[w, k] > 0:
                result += math.lgamma(gamma + counts[w, k]) - at_zero
    return result


@njit
def score_tokens(scored, segment_of, segment_topic, components, out):
    """Add p(w) = sum_k nu_jk phi_kw of every scored token to `out` (n,)."""
    for i in range(scored.shape[0]):
        p = 0.0
        for k in range(segment_topic.shape[1]):
            p += segment_topic[segment_of[i], k] * components[k, scored[i]]
        out[i] += p


@njit_loop
def rename_topics(topics, names):
    """Relabel the topic of every word."""
    for i in range(topics.shape[0]):
        topics[i] = names[topics[i]]


# Changes of counts: moved words, sums of changes, and their encoding as bytes.
#
# Counts are integers in any dtype, so every order of a sum gives the same bits.
#
# A change is encoded, for each changed cell, as the gap (cells since the previous one, from -1) and
# the difference, both as integers of variable length: seven bits per byte, the lowest first, with
# the highest bit set except in the last byte. Differences are zigzag-encoded first: 0, -1, 1, -2
# are 0, 1, 2, 3.


LONGEST = 20
"""Largest number of bytes of a cell: two 64-bit numbers."""

_BLOCK = 4096
"""Number of cells in a block of a sum."""

_END = 2**62
"""Index beyond all cells."""


@njit_loop
def move_words(tokens, before, after, counts, totals):
    """Move the count of every word from its topic in `before` to that in `after`; -1 is none."""
    for i in range(tokens.shape[0]):
        k, m = before[i], after[i]
        if k != m and k >= 0:
            counts[tokens[i], k] -= np.float32(1.0)
            totals[k] -= 1.0
        if k != m and m >= 0:
            counts[tokens[i], m] += np.float32(1.0)
            totals[m] += 1.0


@njit_loop
def add_change(total, new, old):
    """Add `new` - `old` to `total`, all flat arrays of equal length."""
    for i in range(total.shape[0]):
        total[i] += new[i] - old[i]


@njit
def count_changes(old, new):
    """Return the number of cells that differ in two flat arrays."""
    n = 0
    for i in range(old.shape[0]):
        n += old[i] != new[i]
    return n


@njit_inlined
def _put(number, out, n):
    """Write a non-negative number from byte `n` on; return the byte after it."""
    while number >= 128:
        out[n] = (number & 127) | 128
        number >>= 7
        n += 1
    out[n] = number
    return n + 1


@njit
def encode_change(old, new, out):
    """Write `new` - `old`, flat arrays, to `out` (uint8); return the number of bytes."""
    n, last = 0, -1
    for i in range(old.shape[0]):
        if old[i] != new[i]:
            difference = np.int64(new[i]) - np.int64(old[i])
            n = _put(np.int64(i - last), out, n)
            n = _put((difference << 1) ^ (difference >> 63), out, n)
            last = i
    return n


@njit_inlined
def _get(code, n):
    """Return the number that starts at byte `n`, and the byte after it."""
    number, shift = np.int64(0), np.int64(0)
    while code[n] >= 128:
        number |= np.int64(code[n] & 127) << shift
        shift += 7
        n += 1
    return number | np.int64(code[n]) << shift, n + 1


@njit_inlined
def _next_cell(code, n, cell):
    """Return the next cell (at the end: beyond all others), its difference and the next byte."""
    if n == code.shape[0]:
        return np.int64(_END), np.int64(0), n
    gap, n = _get(code, n)
    number, n = _get(code, n)
    return cell + gap, (number >> 1) ^ -(number & 1), n


@njit
def decode_change(code, counts):
    """Add a change, encoded in `code`, to a flat array."""
    cell, difference, n = _next_cell(code, 0, np.int64(-1))
    while cell < _END:
        counts[cell] += difference
        cell, difference, n = _next_cell(code, n, cell)


@njit
def sum_codes(code, ptr, out):
    """Write the encoded sum of encoded changes to `out` (uint8); return the number of bytes.

    Change i is code[ptr[i]:ptr[i + 1]]. Changes are added to a block of cells that stays in the
    cache. Cells in which changes cancel are omitted, so the next gap is a sum of gaps; no number
    takes more bytes than its parts together.
    """
    n_changes = ptr.shape[0] - 1
    cells, differences = np.empty(n_changes, np.int64), np.empty(n_changes, np.int64)
    nexts, block = np.empty(n_changes, np.int64), np.zeros(_BLOCK, np.int64)
    begin = np.int64(_END)
    for i in range(n_changes):
        own = code[: ptr[i + 1]]
        cells[i], differences[i], nexts[i] = _next_cell(own, ptr[i], np.int64(-1))
        begin = min(begin, cells[i])
    n, last = 0, np.int64(-1)
    while begin < _END:
        end, coming = begin + _BLOCK, np.int64(_END)
        for i in range(n_changes):
            own = code[: ptr[i + 1]]
            cell, difference, at = cells[i], differences[i], nexts[i]
            while cell < end:
                block[cell - begin] += difference
                cell, difference, at = _next_cell(own, at, cell)
            cells[i], differences[i], nexts[i] = cell, difference, at
            coming = min(coming, cell)
        for j in range(_BLOCK):
            difference = block[j]
            if difference != 0:
                n = _put(begin + j - last, out, n)
                n = _put((difference << 1) ^ (difference >> 63), out, n)
                last = begin + j
                block[j] = 0
        begin = coming
    return n


# Greedy merges of topics.
#
# | array | symbol | shape | meaning |
# |---|---|---|---|
# | counts | c_kw | (K, W) float64 | words by topic; merged topics are added up in place |
# | totals | c_k | (K,) float64 | sums of the rows |
# | merges | | (K - 1, 2) int64 | merged clusters: 0 to K - 1 are topics, merge i makes K + i |
# | losses | | (K, K) float64 | loss of log likelihood if two topics are merged |
# | cluster_of_row | | (K,) int64 | number of the cluster in a row of `counts`, or -1 |


@njit_internal
def _x_log_x(x):
    return x * np.log(x) if x > 0.0 else 0.0


@njit_internal
def _write_losses(a, counts, totals, cluster_of_row, words, losses):
    """Write the losses of merging row `a` with every other row; `words` (W,) is scratch."""
    n_words = 0
    for w in range(counts.shape[1]):
        if counts[a, w] > 0.0:
            words[n_words] = w
            n_words += 1
    for b in range(counts.shape[0]):
        if b == a or cluster_of_row[b] < 0:
            continue
        loss = _x_log_x(totals[a] + totals[b]) - _x_log_x(totals[a]) - _x_log_x(totals[b])
        for i in range(n_words):
            x, y = counts[a, words[i]], counts[b, words[i]]
            if y > 0.0:
                loss += _x_log_x(x) + _x_log_x(y) - _x_log_x(x + y)
        losses[a, b] = losses[b, a] = max(loss, 0.0)


@njit
def merge_topics(counts, totals, merges, losses_of_merges):
    """Merge the two topics whose merge loses least, until one topic is left.

    The loss of log likelihood, sum_kw c_kw log(c_kw / c_k), is the Jensen-Shannon divergence of
    the two topics, weighted by their numbers of words.
    """
    n_topics = counts.shape[0]
    cluster_of_row = np.arange(n_topics)
    words = np.empty(counts.shape[1], dtype=np.int64)
    losses = np.empty((n_topics, n_topics))
    for a in range(n_topics):
        _write_losses(a, counts, totals, cluster_of_row, words, losses)
    for i in range(n_topics - 1):
        first, second = -1, -1
        for a in range(n_topics):
            if cluster_of_row[a] < 0:
                continue
            for b in range(a):
                if cluster_of_row[b] < 0:
                    continue
                if first < 0 or losses[a, b] < losses[first, second]:
                    first, second = a, b
        merges[i, 0] = min(cluster_of_row[first], cluster_of_row[second])
        merges[i, 1] = max(cluster_of_row[first], cluster_of_row[second])
        losses_of_merges[i] = losses[first, second]
        for w in range(counts.shape[1]):
            counts[first, w] += counts[second, w]
        totals[first] += totals[second]
        cluster_of_row[first], cluster_of_row[second] = n_topics + i, -1
        _write_losses(first, counts, totals, cluster_of_row, words, losses)


# Probability of words under fixed topics, from left to right, by particles.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | log_weights | log v_r | (R,) | product of p(w_n given x_r) since particles were last resampled |
# | ancestors | | (R,) int64 | the particle that each is a copy of after resampling |
# | sums | | (K,) | running sums over k of p(k given x) phi_kw, up to a common factor |
#
# A particle x_r is a state of the words so far: their topics and tables, and the concentrations
# that are drawn. The joint distribution of words and state is that of customers who arrive one by
# one, summed over the tables that they may have chosen; the next customer depends only on counts of
# customers and tables. So a draw x from p(x | w_1..n-1), with topic and seat of word n chosen by
# the restaurants' own weights times phi_kw, is a draw from p(x | w_1..n) up to the weight
#
#     p(w_n | x) = sum_k p(k | x) phi_kw,
#
# which does not depend on that choice. Between two words any kernel that leaves p(x | w_1..n)
# invariant may move x, here a sweep over the words so far. Particles are resampled in proportion to
# v_r, which are then set to 1. The product of the means of v_r at all resamplings and the end is an
# unbiased estimate of p(w): by induction over words, the product so far times mean_r v_r h(x_r) has
# the expectation p(w_1..n) E[h(x) | w_1..n] for every function h, for any rule of when to resample
# that depends only on the past (Del Moral, Doucet and Jasra, 2006). If particles were never
# resampled, the mean of their products would be unbiased, and not a product of means.


MOVES = 30
"""Particles are moved after every word up to this one, then once in n / MOVES words."""


@njit_forceinline
def next_stop(n, n_tokens):
    """Return the number of words at the next move; all moves cost about as much as MOVES sweeps."""
    return min(n + max(1, n // MOVES), n_tokens)


@njit
def log_mean_exp(log_weights):
    """Return the log of the mean of exp(log_weights)."""
    largest = log_weights[0]
    for r in range(1, log_weights.shape[0]):
        largest = max(largest, log_weights[r])
    total = 0.0
    for r in range(log_weights.shape[0]):
        total += math.exp(log_weights[r] - largest)
    return largest + math.log(total / log_weights.shape[0])


@njit
def resample(log_weights, ancestors, rng):
    """Draw ancestors by weight if the effective number is below R / 2; return the log mean weight.

    Systematic resampling: R v_r / sum v copies of particle r, rounded up or down at random.
    Survivors keep their places, so that copies can be made in turn; weights become 1.
    """
    n = log_weights.shape[0]
    log_mean = log_mean_exp(log_weights)
    squares = 0.0
    for r in range(n):
        ancestors[r] = r
        squares += math.exp(2.0 * (log_weights[r] - log_mean))
    if 2.0 * n >= squares:  # effective number: (sum v)^2 / sum v^2, here n^2 / squares
        return 0.0  # not resampled
    copies = ancestors.copy()  # np.zeros would make numba compile its error messages
    for r in range(n):
        copies[r] = 0
    start = next_double(rng)
    r, passed = 0, math.exp(log_weights[0] - log_mean)
    for i in range(n):
        while passed <= start + i and r < n - 1:
            r += 1
            passed += math.exp(log_weights[r] - log_mean)
        copies[r] += 1
    source = 0
    for r in range(n):
        log_weights[r] = 0.0
        if copies[r] == 0:
            while copies[source] < 2:
                source += 1
            copies[source] -= 1
            ancestors[r] = source
    return log_mean


@njit_forceinline
def draw_sum(sums, rng):
    """Draw the first k whose running sum exceeds a uniform draw below the last running sum."""
    last = sums.shape[0] - 1
    target = next_double(rng) * sums[last]
    k = 0
    while sums[k] <= target and k < last:
        k += 1
    return k


# Bursts: in every node each topic has its own version of its words, drawn around the topic.
#
# The words of a node d with topic k are drawn from psi_dk ~ PYP(a, b, phi_k), which is integrated
# out: they are the customers of a Chinese restaurant. A table serves one word, drawn from phi_k,
# and its customers are occurrences of that word. So topics count tables, and all words but the
# first one at each table repeat a word of their node:
#
#     p(w, seats | z, phi) = prod_dk (b|a)_{T_dk} / (b)_{n_dk} prod_tables (1 - a)_{m - 1} phi_kw
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | seats | | (n,) int32 | table of each word: one of the places of its word in its node |
# | firsts | | (n,) int32 | first place of each word: the places of a node are sorted by word |
# | sizes, served | m, k | (longest node,) int32 | words and topic of the node's tables |
# | in_use | | (longest node,) int32 | at the first place of a word: places that have had a table |
# | inverse | 1 / (b + n) | (longest node + 1,) | for numbers of customers |
# | customers | n_dk | (K,) int64 | words of each topic in the current node |
# | opened | T_dk | (K,) | tables of each topic in the current node |
# | share | (alpha_k + n_dk) / (b + n_dk) | (K,) | weight of a customer in a topic |
# | counts, totals | M_kw, M_k | | tables by topic; fixed: phi and 0 |
#
# A word joins a table of its word with the weight ``(m - a) share[k]``, and opens one in topic k
# with ``(b + a T_dk) share[k] (M_kw + gamma) / (M_k + W gamma)``. Symbols as in `_kernels/_lda`.


P_MOVE = 0.25
"""Probability that a sweep moves the tables of a node, too."""


class BurstSeats(NamedTuple):
    """The tables of the words of some nodes, and the parameters of bursts."""

    concentration: float
    discount: float
    firsts: np.ndarray
    seats: np.ndarray
    sizes: np.ndarray
    served: np.ndarray
    in_use: np.ndarray
    inverse: np.ndarray
    customers: np.ndarray
    opened: np.ndarray
    share: np.ndarray
    weights: np.ndarray


@njit_forceinline
def enter_tables(begin, end, last, topics, bursts, base):
    """List the tables of a node's words `begin` to `end` - 1; the node ends before `last`."""
    for x in range(last - begin):
        bursts.sizes[x] = 0
        bursts.in_use[x] = 0
    for k in range(base.shape[0]):
        bursts.opened[k] = 0.0
        bursts.customers[k] = 0
    for i in range(begin, end):
        k = topics[i]
        if k >= 0:
            seat, first = bursts.seats[i] - begin, bursts.firsts[i] - begin
            if bursts.sizes[seat] == 0:
                bursts.opened[k] += 1.0
            bursts.sizes[seat] += 1
            bursts.served[seat] = k
            bursts.in_use[first] = max(bursts.in_use[first], seat - first + 1)
            bursts.customers[k] += 1
            base[k] += 1.0


@njit_internal
def with_seats(bursts, firsts, seats):
    """Return the tables with the seats, and the first places, of other words."""
    return BurstSeats(
        bursts.concentration, bursts.discount, firsts, seats, bursts.sizes, bursts.served,
        bursts.in_use, bursts.inverse, bursts.customers, bursts.opened, bursts.share,
        bursts.weights,
    )  # fmt: skip


@njit_forceinline
def weigh(k, alpha, bursts, base, reciprocal, factor):
    """Update the weights of topic `k`: of a customer, and of a new table without its word."""
    a, b = bursts.discount, bursts.concentration
    n = bursts.customers[k]
    bursts.share[k] = (alpha[k] + n) * bursts.inverse[n]
    factor[k] = bursts.share[k] * (b + a * bursts.opened[k]) * reciprocal[k]


@njit_forceinline
def count_table(w, k, change, words, shift, bursts, reciprocal):
    """Add `change` to the tables of topic `k` in the node, and to those that serve word `w`."""
    bursts.opened[k] += change
    if not words.fixed:
        words.counts[w, k] += np.float32(change)
        words.totals[k] += change
        reciprocal[k] = 1.0 / (shift + words.totals[k])


@njit_forceinline
def vacate_seat(seat, bursts):
    """Remove a word from its table; return whether the table is empty."""
    bursts.sizes[seat] -= 1
    return bursts.sizes[seat] == 0


@njit_forceinline
def weigh_seats(place, bursts):
    """Return the sum of the weights of the tables from `place` on, which serve one word."""
    own = 0.0
    for x in range(place, place + bursts.in_use[place]):
        if bursts.sizes[x] > 0:
            own += (bursts.sizes[x] - bursts.discount) * bursts.share[bursts.served[x]]
    return own


@njit_forceinline
def find_seat(target, place, bursts):
    """Return the first table from `place` on at which the sum of the weights exceeds `target`."""
    seat, sizes = place, bursts.sizes
    for x in range(place, place + bursts.in_use[place]):
        if sizes[x] > 0:
            seat = x
            target -= (sizes[x] - bursts.discount) * bursts.share[bursts.served[x]]
            if target < 0.0:
                break
    return seat


@njit_forceinline
def take_place(k, place, bursts):
    """Return the first free place of a word, now that of a table of topic `k`, still empty."""
    seat = place
    while bursts.sizes[seat] > 0:
        seat += 1
    bursts.served[seat] = k
    bursts.in_use[place] = max(bursts.in_use[place], seat - place + 1)
    return seat


@njit_forceinline
def leave_seat(i, begin, tokens, topics, words, alpha, shift, scratch, bursts):
    """Remove word `i` of the node that starts at `begin` from its table and topic."""
    k = np.int64(topics[i])
    scratch.base[k] -= 1.0
    bursts.customers[k] -= 1
    if vacate_seat(bursts.seats[i] - begin, bursts):
        count_table(tokens[i], k, -1.0, words, shift, bursts, scratch.reciprocal)
    weigh(k, alpha, bursts, scratch.base, scratch.reciprocal, scratch.factor)


@njit_forceinline
def open_table(w, place, row, target, gainer, words, n_topics, offset, scratch, bursts):
    """Return a free place and its new topic: the one at which `row` exceeds `target`."""
    factor = scratch.factor
    found = min(find_sum(scratch.sums, row, factor.shape[0], target), n_topics - 1)
    k = gainer if target < 0.0 else found
    while k > 0 and (words.counts[w, k] + offset) * factor[k] == 0.0:
        k -= 1  # rounding has led beyond the last topic of a positive weight
    return take_place(k, place, bursts), k


@njit_forceinline
def take_seat(i, seat, k, begin, w, topics, words, alpha, shift, scratch, bursts):
    """Seat word `i`, a `w`, at a table of topic `k`, which opens if it is empty."""
    if bursts.sizes[seat] == 0:
        count_table(w, k, 1.0, words, shift, bursts, scratch.reciprocal)
    topics[i] = k
    bursts.seats[i] = begin + seat
    bursts.sizes[seat] += 1
    bursts.customers[k] += 1
    scratch.base[k] += 1.0
    weigh(k, alpha, bursts, scratch.base, scratch.reciprocal, scratch.factor)


@njit_forceinline
def draw_seat(i, begin, tokens, topics, words, alpha, offset, shift, scratch, bursts, rng):
    """Draw the topic and the table of word `i`, which has none; return the sum of the weights."""
    w, place = tokens[i], bursts.firsts[i] - begin
    new = np.float64(sum_product(words.counts, w, offset, scratch.factor, scratch.sums, 0))
    own = weigh_seats(place, bursts)
    target = next_double(rng) * (own + new)
    if target < own:
        seat = find_seat(target, place, bursts)
        k = np.int64(bursts.served[seat])
    else:
        seat, k = open_table(
            w, place, 0, np.float32(target - own), np.int64(0), words, alpha.shape[0], offset,
            scratch, bursts,
        )  # fmt: skip
    take_seat(i, seat, k, begin, w, topics, words, alpha, shift, scratch, bursts)
    return own + new


@njit_internal_nogc
def draw_seats(
    begin, first, end, tokens, topics, words, alpha, offset, shift, scratch, bursts, weighs, rng
):
    """Draw topics and tables of a node's words `first` to `end` - 1; return their log weight.

    The weight of a word is its probability given the seated words, times A + their number; it is 1
    without `weighs`.
    """
    log_weight = 0.0
    for i in range(first, end):
        if i + AHEAD < tokens.shape[0]:
            prefetch(words.counts, tokens[i + AHEAD])
        if topics[i] >= 0:
            leave_seat(i, begin, tokens, topics, words, alpha, shift, scratch, bursts)
        weight = draw_seat(
            i, begin, tokens, topics, words, alpha, offset, shift, scratch, bursts, rng
        )
        if weighs:
            log_weight += math.log(weight)
    return log_weight


@njit_internal_nogc
def weigh_table(m, w, alpha, gamma, words, scratch, bursts):
    """Write the weights of the topics for a table of `m` words that has none; return their sum."""
    base, weights, n_topics = scratch.base, bursts.weights, alpha.shape[0]
    for k in range(n_topics):
        weights[k] = scratch.factor[k] * (np.float64(words.counts[w, k]) + gamma)
    for j in range(1, m):
        for k in range(n_topics):
            weights[k] *= (base[k] + j) / (bursts.concentration + (base[k] - alpha[k]) + j)
        if j % 16 == 0:  # before a product of many small numbers vanishes
            largest = 0.0
            for k in range(n_topics):
                largest = max(largest, weights[k])
            for k in range(n_topics):
                weights[k] /= largest
    total = 0.0
    for k in range(n_topics):
        total += weights[k]
    return total


@njit_internal_nogc
def lift_table(seat, w, words, alpha, shift, scratch, bursts):
    """Take a table of word `w` from its topic, and mark it; return the topic."""
    k, m = np.int64(bursts.served[seat]), bursts.sizes[seat]
    scratch.base[k] -= m
    bursts.customers[k] -= m
    bursts.sizes[seat] = -m
    count_table(w, k, -1.0, words, shift, bursts, scratch.reciprocal)
    weigh(k, alpha, bursts, scratch.base, scratch.reciprocal, scratch.factor)
    return k


@njit_internal_nogc
def put_table(seat, w, words, alpha, gamma, shift, scratch, bursts, rng):
    """Draw the topic of a table that has none; return it."""
    weights, m = bursts.weights, -bursts.sizes[seat]
    target = next_double(rng) * weigh_table(m, w, alpha, gamma, words, scratch, bursts)
    k = np.int64(0)
    while k < alpha.shape[0] - 1 and target >= weights[k]:
        target -= weights[k]
        k += 1
    while k > 0 and weights[k] == 0.0:  # rounding has led too far
        k -= 1
    bursts.served[seat] = k
    scratch.base[k] += m
    bursts.customers[k] += m
    count_table(w, k, 1.0, words, shift, bursts, scratch.reciprocal)
    weigh(k, alpha, bursts, scratch.base, scratch.reciprocal, scratch.factor)
    return k


@njit_internal_nogc
def move_tables(begin, end, tokens, topics, words, alpha, gamma, shift, scratch, bursts, rng):
    """Draw the topics of the tables of several words, which the tables keep.

    Words that repeat each other hardly ever change their topic one by one.
    """
    for i in range(begin, end):
        seat, w = bursts.seats[i] - begin, tokens[i]
        if bursts.sizes[seat] > 1:
            lift_table(seat, w, words, alpha, shift, scratch, bursts)
            put_table(seat, w, words, alpha, gamma, shift, scratch, bursts, rng)
        topics[i] = bursts.served[seat]


@njit_internal_nogc
def enter_node_with_bursts(begin, end, last, topics, alpha, scratch, bursts):
    """Set the arrays of a node whose words `begin` to `end` - 1 are seated."""
    for k in range(alpha.shape[0]):
        scratch.base[k] = alpha[k]
    enter_tables(begin, end, last, topics, bursts, scratch.base)
    for k in range(alpha.shape[0]):
        weigh(k, alpha, bursts, scratch.base, scratch.reciprocal, scratch.factor)


@njit
def gather_burst_evidence(node_ptr, topics, bursts, base, learns_discount, rng):
    """Return the sums that update the concentration, or the powers of a and of 1 - a.

    (1 - a)_{m - 1} is a product of j - a = (j - 1) + (1 - a), each a sum over a coin that shows
    1 - a; see `draw_table_evidence` for tables. 1 / (b + j), in B restaurants that have more than j
    customers, is an integral: its powers lead to B exponential variables with the rate b + j.
    """
    a, b, n_topics = bursts.discount, bursts.concentration, base.shape[0]
    first, second = 0.0, 0.0
    restaurants = np.empty(bursts.inverse.shape[0], np.int64)  # by their customers
    for n in range(restaurants.shape[0]):
        restaurants[n] = 0
    for d in range(node_ptr.shape[0] - 1):
        begin, end = node_ptr[d], node_ptr[d + 1]
        enter_tables(begin, end, end, topics, bursts, base)
        for k in range(n_topics):
            n_tables = np.int64(bursts.opened[k])
            restaurants[bursts.customers[k]] += 1
            if learns_discount:
                first += draw_table_evidence(n_tables, b, a, rng)
            elif n_tables > 1:
                first += n_tables - 1
                if a > 0.0:
                    first -= draw_table_evidence(n_tables, b, a, rng)
        for x in range(end - begin if learns_discount else 0):
            for j in range(1, bursts.sizes[x]):
                second += next_double(rng) * (j - a) < 1.0 - a
    n_larger = np.int64(0)
    for j in range(restaurants.shape[0] - 2 if not learns_discount else 0, 0, -1):
        n_larger += restaurants[j + 1]
        if n_larger > 0:
            second += draw_gamma(np.float64(n_larger), rng) / (b + j)
    return first, second


@njit_internal_nogc
def log_seats(n, t, tables):
    """Return log (b|a)_t / (b)_n, with the concentration and the discount of `tables`."""
    result = -log_rising(tables.concentration, n)
    for m in range(t):
        result += math.log(tables.concentration + tables.discount * m)
    return result


@njit
def log_probability_of_seats(node_ptr, topics, bursts, base):
    """Return log p(seats | z), without the words of the tables."""
    a, b = bursts.discount, bursts.concentration
    result = 0.0
    for d in range(node_ptr.shape[0] - 1):
        begin, end = node_ptr[d], node_ptr[d + 1]
        for k in range(base.shape[0]):
            base[k] = 0.0
        enter_tables(begin, end, end, topics, bursts, base)
        for k in range(base.shape[0]):
            result -= log_rising(b, np.int64(base[k]))
            for m in range(int(bursts.opened[k])):
                result += math.log(b + a * m)
        for x in range(end - begin):
            if bursts.sizes[x] > 1:
                result += log_rising(1.0 - a, bursts.sizes[x] - 1)
    return result


@njit_internal_nogc
def add_burst_estimates(first, last, node_ptr, topics, alpha, scratch, bursts, opening, own):
    """Add what predicts another word of each node to `opening` (nodes, K) and `own` (n,).

    It has the probability sum_k opening_k phi_kw, plus `own` at its first place if it is there.
    """
    total = alpha.sum()
    for d in range(first, last):
        begin, end = node_ptr[d], node_ptr[d + 1]
        enter_node_with_bursts(begin, end, end, topics, alpha, scratch, bursts)
        scale = 1.0 / (total + (end - begin))
        for k in range(alpha.shape[0]):
            tables = bursts.concentration + bursts.discount * bursts.opened[k]
            opening[d, k] += scale * bursts.share[k] * tables
        for i in range(begin, end):
            kept = 1.0 - bursts.discount / bursts.sizes[bursts.seats[i] - begin]
            own[bursts.firsts[i]] += scale * kept * bursts.share[topics[i]]


@njit
def estimate_bursts(node_ptr, topics, alpha, scratch, bursts, opening, own):
    """Add the estimates of all nodes; see `add_burst_estimates`."""
    for k in range(alpha.shape[0]):
        scratch.reciprocal[k] = 1.0
    add_burst_estimates(
        0, node_ptr.shape[0] - 1, node_ptr, topics, alpha, scratch, bursts, opening, own
    )
