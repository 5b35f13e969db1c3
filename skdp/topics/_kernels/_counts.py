"""Kernels that all topic models share: counts of words, changes, merges, and particles.

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

from skdp._numeric._numba import njit, njit_forceinline, njit_inlined, njit_internal, njit_loop
from skdp._numeric._random import next_double

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
