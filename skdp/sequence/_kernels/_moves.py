r"""Moves of whole runs, and of factors, with weights and transitions integrated out.

Given the weights, one factor seldom turns into another, because both would have to change at once.
Here the weights are integrated out, so that a run can move from one factor to another, factors can
appear and disappear, and two factors can exchange their meanings. Each move leaves p(bits given y,
precisions) invariant. Weights and transitions must be drawn right after these moves.

A move of a run that contains a known bit is rejected, and so is the opposite move. Moves of whole
factors leave known bits as they are.

| name | symbol | shape | meaning |
|---|---|---|---|
| board | | | `FactorPaths` of `_kernels/_evidence` |
| marks | | (M + 1,) int64 | first steps of sequences and of proposed runs; then N |
| now | | float | log evidence of the current bits, which moves return |
| weights | | (max(C, 4),) | scratch |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_categorical, next_double
from skdp.processes._partitions import log_ratio_of_birth
from skdp.sequence._kernels._evidence import (
    count_active,
    count_runs,
    find_run_end,
    flip_steps,
    is_free,
    is_open,
    log_evidence,
    log_rate_of_new,
    log_weight,
)

N_NEXT_MARKS = 16
"""A proposed run ends at one of this many next marks, or anywhere."""


@njit_internal_nogc
def draw_index(n, rng):
    """Return a random integer from 0 to n - 1."""
    return min(int(next_double(rng) * n), n - 1)


@njit_internal_nogc
def draw_active(board, rng):
    """Return a random factor that is ever on."""
    left = draw_index(count_active(board), rng)
    for f in range(board.n_on.shape[0]):
        if board.n_on[f] > 0:
            if left == 0:
                return f
            left -= 1
    return -1


@njit_internal_nogc
def draw_free(board, begin, end, rng):
    """Return a random factor that is never on and open in a run, or -1, and their number."""
    n_free = 0
    for f in range(board.n_on.shape[0]):
        n_free += board.n_on[f] == 0 and is_open(board, f, begin, end)
    if n_free == 0:
        return -1, 0
    left = draw_index(n_free, rng)
    f = -1
    while left >= 0:
        f += 1
        left -= board.n_on[f] == 0 and is_open(board, f, begin, end)
    return f, n_free


# Proposals of runs


@njit_internal_nogc
def find_mark(marks, step):
    """Return the number of marks up to and including a step."""
    low, high = 0, marks.shape[0]
    while low < high:
        middle = (low + high) // 2
        if marks[middle] <= step:
            low = middle + 1
        else:
            high = middle
    return low


@njit_internal_nogc
def find_end(board, begin):
    """Return the end of the sequence that contains a step."""
    end = begin + 1
    while not board.is_first[end]:
        end += 1
    return end


@njit_internal_nogc
def count_next_marks(marks, first, end):
    """Return the number of next marks, from `first` on, at which a run may end."""
    n = 0
    while n < N_NEXT_MARKS and first + n < marks.shape[0] and marks[first + n] <= end:
        n += 1
    return n


@njit_internal_nogc
def propose_run(board, marks, rng):
    """Return a random run, from a mark or any step to one of the next marks or any step."""
    n_steps = board.bits.shape[0]
    if next_double(rng) < 0.5:
        begin = draw_index(n_steps, rng)
    else:
        begin = marks[draw_index(marks.shape[0] - 1, rng)]
    end = find_end(board, begin)
    if next_double(rng) < 0.5:
        return begin, begin + 1 + draw_index(end - begin, rng)
    first = find_mark(marks, begin)
    return begin, marks[first + draw_index(count_next_marks(marks, first, end), rng)]


@njit_internal_nogc
def log_probability_of_run(board, marks, begin, end):
    """Return the log of the probability that `propose_run` returns a run."""
    place = find_mark(marks, begin)
    from_begin = 0.5 / board.bits.shape[0]
    if place > 0 and marks[place - 1] == begin:
        from_begin += 0.5 / (marks.shape[0] - 1)
    last = find_end(board, begin)
    to_end = 0.5 / (last - begin)
    n_next = count_next_marks(marks, place, last)
    for i in range(n_next):
        if marks[place + i] == end:
            to_end += 0.5 / n_next
    return math.log(from_begin * to_end)


# Moves


@njit_internal_nogc
def move_run(board, now, weights, rng):
    """Redraw which factor has a random run: its own, another that is off there, or a new one."""
    n_factors = board.n_on.shape[0]
    n_runs = 0
    for f in range(n_factors):
        n_runs += count_runs(board, f)
    if n_runs == 0:
        return now
    # Find the run.
    left = draw_index(n_runs, rng)
    source = 0
    while left >= count_runs(board, source):
        left -= count_runs(board, source)
        source += 1
    begin = 0
    while True:
        if board.bits[begin, source] == 0:
            begin += 1
            continue
        end = find_run_end(board, source, begin)
        if left == 0:
            break
        left -= 1
        begin = end
    if not is_open(board, source, begin, end):
        return now
    # Remove it, and weigh the factors to which it may go.
    flip_steps(board, source, begin, end)
    fresh, n_free = draw_free(board, begin, end, rng)
    log_rate = log_rate_of_new(board, n_free)
    largest = -math.inf
    for f in range(n_factors):
        weights[f] = -math.inf
        is_new = board.n_on[f] == 0
        if is_new and f != fresh:
            continue
        if not is_new and not is_free(board, f, begin, end):
            continue
        if not is_open(board, f, begin, end):
            continue
        before = log_weight(board, f)
        flip_steps(board, f, begin, end)
        weights[f] = log_evidence(board) + log_weight(board, f) - before
        flip_steps(board, f, begin, end)
        if is_new:
            weights[f] += log_rate
        largest = max(largest, weights[f])
    total = 0.0
    for f in range(n_factors):
        weights[f] = math.exp(weights[f] - largest)
        total += weights[f]
    flip_steps(board, draw_categorical(weights, total, rng), begin, end)
    return log_evidence(board)


@njit_internal_nogc
def count_single_runs(board):
    """Return the number of factors that have a single run."""
    result = 0
    for f in range(board.n_on.shape[0]):
        result += board.n_on[f] > 0 and count_runs(board, f) == 1
    return result


@njit_internal_nogc
def add_factor(board, marks, now, rng):
    """Try to add a factor that is on in one run; return the log evidence."""
    f, n_free = draw_free(board, 0, 0, rng)
    if f < 0:
        return now
    begin, end = propose_run(board, marks, rng)
    if not is_open(board, f, begin, end):
        return now
    flip_steps(board, f, begin, end)
    after = log_evidence(board)
    log_ratio = log_ratio_of_birth(
        log_rate_of_new(board, n_free),
        after - now + log_weight(board, f),
        log_probability_of_run(board, marks, begin, end),
        count_single_runs(board),
    )
    if next_double(rng) < math.exp(min(log_ratio, 0.0)):
        return after
    flip_steps(board, f, begin, end)
    return now


@njit_internal_nogc
def drop_factor(board, marks, now, rng):
    """Try to drop a factor that is on in one run; return the log evidence."""
    n_removable = count_single_runs(board)
    if n_removable == 0:
        return now
    left = draw_index(n_removable, rng)
    f = -1
    while left >= 0:
        f += 1
        left -= board.n_on[f] > 0 and count_runs(board, f) == 1
    begin = 0
    while board.bits[begin, f] == 0:
        begin += 1
    end = find_run_end(board, f, begin)
    if not is_open(board, f, begin, end):
        return now
    weight = log_weight(board, f)
    flip_steps(board, f, begin, end)
    after = log_evidence(board)
    log_ratio = -log_ratio_of_birth(
        log_rate_of_new(board, board.n_on.shape[0] - count_active(board)),
        now - after + weight,
        log_probability_of_run(board, marks, begin, end),
        n_removable,
    )
    if next_double(rng) < math.exp(min(log_ratio, 0.0)):
        return after
    flip_steps(board, f, begin, end)
    return now


@njit_internal_nogc
def flip_where_on(board, f, g):
    """Flip the unknown bits of factor f wherever factor g is on, or everywhere if g == f."""
    begin, last, n_steps = 0, 0, board.bits.shape[0]
    while begin < n_steps:
        if (f != g and board.bits[begin, g] == 0) or not is_open(board, f, begin, begin + 1):
            begin += 1
            continue
        if begin >= last:  # searched once for all parts between known bits
            last = find_end(board, begin) if f == g else find_run_end(board, g, begin)
        end = begin + 1
        while end < last and is_open(board, f, end, end + 1):
            end += 1
        flip_steps(board, f, begin, end)
        begin = end


@njit_internal_nogc
def exchange_meaning(board, now, rng):
    """Try to flip a factor wherever another one is on, or everywhere; return the log evidence."""
    if count_active(board) == 0:
        return now
    # If a and b stand for "either of two" and "the second", a becomes "the first". A flip of all
    # steps exchanges the two values of a factor. Either move is its own inverse.
    f, g = draw_active(board, rng), draw_active(board, rng)
    before = log_weight(board, f)
    flip_where_on(board, f, g)
    if board.n_on[f] > 0:
        after = log_evidence(board)
        log_ratio = after - now + log_weight(board, f) - before
        if next_double(rng) < math.exp(min(log_ratio, 0.0)):
            return after
    flip_where_on(board, f, g)
    return now


@njit_internal_nogc
def can_exchange(board, f, g, t):
    """Return whether two factors differ at a step, and neither is known."""
    is_unknown = is_open(board, f, t, t + 1) and is_open(board, g, t, t + 1)
    return is_unknown and board.bits[t, f] != board.bits[t, g]


@njit_internal_nogc
def exchange_paths(board, f, g):
    """Exchange the bits of two factors wherever neither is known."""
    begin, n_steps = 0, board.bits.shape[0]
    while begin < n_steps:
        if not can_exchange(board, f, g, begin):
            begin += 1
            continue
        end = begin + 1
        while not board.is_first[end] and can_exchange(board, f, g, end):
            end += 1
        flip_steps(board, f, begin, end)
        flip_steps(board, g, begin, end)
        begin = end


@njit_internal_nogc
def exchange_names(board, now, rng):
    """Try to exchange two factors wherever neither is known; return the log evidence."""
    if count_active(board) == 0:
        return now
    f, g = draw_active(board, rng), draw_active(board, rng)
    if f == g:
        return now
    # A factor that is on for other reasons except at its known steps may be another's. The move is
    # its own inverse.
    before = log_weight(board, f) + log_weight(board, g)
    exchange_paths(board, f, g)
    if board.n_on[f] > 0 and board.n_on[g] > 0:
        after = log_evidence(board)
        log_ratio = after - now + log_weight(board, f) + log_weight(board, g) - before
        if next_double(rng) < math.exp(min(log_ratio, 0.0)):
            return after
    exchange_paths(board, f, g)
    return now


@njit_internal_nogc
def redraw_pair(board, marks, now, weights, rng):
    """Redraw whether two factors are flipped in a run of steps; return the log evidence."""
    if count_active(board) == 0:
        return now
    f, g = draw_active(board, rng), draw_active(board, rng)
    begin, end = propose_run(board, marks, rng)
    if not (is_open(board, f, begin, end) and is_open(board, g, begin, end)):
        return now
    n_results = 2 if f == g else 4
    largest = -math.inf
    # Results 0, 1, 3, 2: each step flips a single factor, and so does the return to result 0.
    for i in range(n_results):
        result = i ^ (i >> 1)
        weights[result] = -math.inf
        if board.n_on[f] > 0 and board.n_on[g] > 0:  # no factor may vanish
            weights[result] = log_evidence(board) + log_weight(board, f)
            if g != f:
                weights[result] += log_weight(board, g)
        largest = max(largest, weights[result])
        flip_steps(board, f if i % 2 == 0 else g, begin, end)
    total = 0.0
    for i in range(n_results):
        weights[i] = math.exp(weights[i] - largest)
        total += weights[i]
    result = draw_categorical(weights[:n_results], total, rng)
    if result == 0:
        return now
    if result & 1:
        flip_steps(board, f, begin, end)
    if result & 2:
        flip_steps(board, g, begin, end)
    return log_evidence(board)


@njit_loop
def make_moves(board, marks, n_rounds, weights, rng):
    """Make rounds of moves of every kind; a buffet needs room for two more factors per round."""
    now = log_evidence(board)
    for _ in range(n_rounds):
        now = move_run(board, now, weights[: board.n_on.shape[0]], rng)
        if next_double(rng) < 0.5:
            now = add_factor(board, marks, now, rng)
        else:
            now = drop_factor(board, marks, now, rng)
        now = redraw_pair(board, marks, now, weights, rng)
        now = exchange_meaning(board, now, rng)


@njit_loop
def make_exchanges(board, n_exchanges, rng):
    """Try to exchange random factors, of which some have known bits."""
    now = log_evidence(board)
    for _ in range(n_exchanges):
        now = exchange_names(board, now, rng)
