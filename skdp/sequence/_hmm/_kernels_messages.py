r"""Messages of hidden Markov models: filtering, smoothing, and draws of the states.

| name | symbol | shape | meaning |
|---|---|---|---|
| ptr | | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| startprob | pi_0 | (J,) | probabilities of the first state |
| transmat | P | (J, J) | row: from, column: to |
| reverse | P^T | (J, J) | transmat transposed, contiguous |
| log_obs | log L_tj | (N, J) | log p(x_t given state j), -inf if impossible |
| predicted | p_tj | (T, J) or (J,) | p(z_t = j given x_<t) of a sequence |
| filtered | f_tj | (T, J) | p(z_t = j given x_<=t) of a sequence |
| rng | | (4,) uint64 | stream, advanced in place |

Everything is on a linear scale: a step is a product of a vector and a matrix. What a number of 64
bits cannot hold is dealt with as follows. A filtered probability that is positive but below `FLOOR`
is set to it: a soft zero. A predicted probability of `SAFE` or more is the sum of such errors and
of terms that are right, hence right itself to J FLOOR / SAFE; 0 is exact, too. Anything in between
may come from soft zeros alone. Then, and then only, the sequence is done again in logarithms, which
is far slower. It takes zeros, or entries below `SAFE`, in the transition matrix.
"""

# mypy: ignore-errors

import math

import numpy as np

from skdp._elementary import fast_exp
from skdp._numba import njit, njit_loop, njit_part, njit_step
from skdp._random import draw_categorical

FLOOR = 1e-200
SAFE = 1e-180
SMALLEST_TOTAL = 1e-100


@njit_step
def multiply(vector, matrix, out):
    """Write ``vector @ matrix`` to `out`, eight rows of the matrix at a time.

    Sums run along `out`, so that every loop becomes vector instructions without reordering a sum.
    """
    n = vector.shape[0]
    n_columns = out.shape[0]
    for j in range(n_columns):
        out[j] = 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        a, b, c, d = vector[i], vector[i + 1], vector[i + 2], vector[i + 3]
        e, f, g, h = vector[i + 4], vector[i + 5], vector[i + 6], vector[i + 7]
        for j in range(n_columns):
            out[j] += (
                (a * matrix[i, j] + b * matrix[i + 1, j])
                + (c * matrix[i + 2, j] + d * matrix[i + 3, j])
            ) + (
                (e * matrix[i + 4, j] + f * matrix[i + 5, j])
                + (g * matrix[i + 6, j] + h * matrix[i + 7, j])
            )
    for i in range(whole, n):
        a = vector[i]
        for j in range(n_columns):
            out[j] += a * matrix[i, j]


@njit_step
def add_up(x):
    """Return the sum of a vector, in four sums that do not wait for each other."""
    n = x.shape[0]
    whole = n - n % 4
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for i in range(0, whole, 4):
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
    for i in range(whole, n):
        a += x[i]
    return (a + b) + (c + d)


@njit_step
def find_largest(x):
    """Return the largest entry of a vector, by four that do not wait for each other."""
    n = x.shape[0]
    whole = n - n % 4
    a = b = c = d = -math.inf
    for i in range(0, whole, 4):
        a = max(a, x[i])
        b = max(b, x[i + 1])
        c = max(c, x[i + 2])
        d = max(d, x[i + 3])
    for i in range(whole, n):
        a = max(a, x[i])
    return max(max(a, b), max(c, d))


# Filtering


@njit_step
def is_safe(predicted):
    """Tell whether no predicted probability may come from soft zeros alone."""
    unsafe = False
    for j in range(predicted.shape[0]):
        unsafe |= (predicted[j] > 0.0) & (predicted[j] < SAFE)
    return not unsafe


@njit_loop
def weigh_in_logs(predicted, log_obs, filtered):
    """Write predicted x exp(log_obs - shift) to `filtered`; return the shift, the best possible.

    Returns -inf if no state is possible.
    """
    shift = -math.inf
    for j in range(predicted.shape[0]):
        filtered[j] = math.log(predicted[j]) + log_obs[j]  # the logarithm of 0 is -inf
        shift = max(shift, filtered[j])
    if shift > -math.inf:
        for j in range(predicted.shape[0]):
            filtered[j] = math.exp(filtered[j] - shift)
    return shift


@njit_step
def update(predicted, log_obs, filtered):
    """Turn p(z_t given x_<t) into p(z_t given x_<=t); return log p(x_t given x_<t).

    Parameters
    ----------
    predicted, log_obs : (J,) float64
    filtered : (J,) float64, output
    """
    n = predicted.shape[0]
    shift = find_largest(log_obs)
    if shift == -math.inf:
        return shift
    for j in range(n):
        filtered[j] = predicted[j] * fast_exp(log_obs[j] - shift)
    for j in range(n):
        filtered[j] = filtered[j] if log_obs[j] > -math.inf else 0.0
    total = add_up(filtered)
    if total < SMALLEST_TOTAL:  # the likeliest observations come from states all but impossible
        shift = weigh_in_logs(predicted, log_obs, filtered)
        if shift == -math.inf:
            return shift
        total = add_up(filtered)
    scale = 1.0 / total
    for j in range(n):
        soft = FLOOR if (predicted[j] > 0.0) & (log_obs[j] > -math.inf) else 0.0
        filtered[j] = max(filtered[j] * scale, soft)
    return shift + math.log(total)


@njit_loop
def filter_sequence(startprob, transmat, log_obs, predicted, filtered):
    """Filter one sequence.

    Parameters
    ----------
    startprob, transmat : (J,), (J, J) float64
    log_obs : (T, J) float64
    predicted, filtered : (T, J) float64, output
        Or fewer rows, at least one and two: they are used in turns.

    Returns
    -------
    log_likelihood : float
        log p(x); -inf if the sequence is impossible; NaN if it takes logarithms.
    """
    result = 0.0
    for t in range(log_obs.shape[0]):
        row = predicted[t % predicted.shape[0]]
        if t == 0:
            for j in range(row.shape[0]):
                row[j] = startprob[j]
        else:
            multiply(filtered[(t - 1) % filtered.shape[0]], transmat, row)
        if not is_safe(row):
            return math.nan
        result += update(row, log_obs[t], filtered[t % filtered.shape[0]])
        if result == -math.inf:
            return result
    return result


@njit_loop
def smooth_sequence(reverse, predicted, filtered, message):
    """Turn p(z_t given x_<=t) into p(z_t given x), in place.

    p(z_t = i given x) = f_ti sum_j P_ij p(z_t+1 = j given x) / p_t+1,j.

    Parameters
    ----------
    reverse : (J, J) float64
    predicted : (T, J) float64
        Overwritten.
    filtered : (T, J) float64, changed
    message : (J,) float64, scratch
    """
    n = message.shape[0]
    for t in range(filtered.shape[0] - 2, -1, -1):
        for j in range(n):
            p = predicted[t + 1, j]
            predicted[t + 1, j] = filtered[t + 1, j] / p if p > 0.0 else 0.0
        multiply(predicted[t + 1], reverse, message)
        for i in range(n):
            filtered[t, i] *= message[i]
        scale = 1.0 / add_up(filtered[t])  # 1 but for rounding
        for i in range(n):
            filtered[t, i] *= scale


@njit_loop
def sample_sequence(reverse, filtered, states, weights, rng):
    """Draw the states of a sequence given its observations, from the last to the first.

    Parameters
    ----------
    reverse : (J, J) float64
    filtered : (T, J) float64
    states : (T,) integers, output
    weights : (J,) float64, scratch
    rng : (4,) uint64
    """
    n_steps = filtered.shape[0]
    for t in range(n_steps - 1, -1, -1):
        row = filtered[t]
        if t == n_steps - 1:
            states[t] = draw_categorical(row, add_up(row), rng)
            continue
        column = reverse[states[t + 1]]
        for i in range(weights.shape[0]):
            weights[i] = row[i] * column[i]
        states[t] = draw_categorical(weights, add_up(weights), rng)


# The same in logarithms


@njit_loop
def log_sum_exp(x):
    """Return log sum exp(x); -inf if all are."""
    largest = find_largest(x)
    if largest == -math.inf:
        return largest
    total = 0.0
    for i in range(x.shape[0]):
        total += math.exp(x[i] - largest)
    return largest + math.log(total)


@njit_loop
def filter_sequence_in_logs(startprob, reverse, log_obs, predicted, filtered, terms):
    """Filter one sequence; `predicted` and `filtered`, (T, J), are logarithms.

    `terms` is scratch, (J,). Returns log p(x).
    """
    n = startprob.shape[0]
    result = 0.0
    for t in range(log_obs.shape[0]):
        for j in range(n):
            if t == 0:
                predicted[t, j] = math.log(startprob[j])
                continue
            for i in range(n):
                terms[i] = filtered[t - 1, i] + math.log(reverse[j, i])
            predicted[t, j] = log_sum_exp(terms)
        for j in range(n):
            filtered[t, j] = predicted[t, j] + log_obs[t, j]
        total = log_sum_exp(filtered[t])
        result += total
        if total == -math.inf:
            return total
        for j in range(n):
            filtered[t, j] -= total
    return result


@njit_loop
def smooth_sequence_in_logs(transmat, predicted, filtered, terms):
    """Turn log p(z_t given x_<=t), `filtered`, into p(z_t given x), in place."""
    n_steps, n = filtered.shape
    for t in range(n_steps - 2, -1, -1):
        for i in range(n):
            for j in range(n):
                terms[j] = filtered[t + 1, j]
                if terms[j] > -math.inf:
                    terms[j] += math.log(transmat[i, j]) - predicted[t + 1, j]
            filtered[t, i] += log_sum_exp(terms)
    for t in range(n_steps):
        exponentiate(filtered[t], filtered[t])


@njit_loop
def exponentiate(logs, out):
    """Write exp(logs), scaled to a sum of 1, to `out`, which may be `logs`."""
    total = log_sum_exp(logs)
    for i in range(logs.shape[0]):
        out[i] = math.exp(logs[i] - total)


@njit_loop
def sample_sequence_in_logs(reverse, filtered, states, weights, rng):
    """Draw the states of a sequence; `filtered` holds log p(z_t given x_<=t)."""
    n_steps = filtered.shape[0]
    for t in range(n_steps - 1, -1, -1):
        for i in range(weights.shape[0]):
            weights[i] = filtered[t, i]
            if t < n_steps - 1:
                weights[i] += math.log(reverse[states[t + 1], i])
        exponentiate(weights, weights)
        states[t] = draw_categorical(weights, 1.0, rng)


# Panels


@njit
def log_likelihoods(ptr, startprob, transmat, log_obs, out):
    """Write log p(x) of every sequence to `out`, (n,)."""
    n_states = startprob.shape[0]
    predicted, filtered = np.empty((1, n_states)), np.empty((2, n_states))
    for s in range(ptr.shape[0] - 1):
        part = log_obs[ptr[s] : ptr[s + 1]]
        out[s] = filter_sequence(startprob, transmat, part, predicted, filtered)
        if math.isnan(out[s]):
            rows = np.empty((2, part.shape[0], n_states))
            out[s] = filter_sequence_in_logs(
                startprob, transpose(transmat), part, rows[0], rows[1], np.empty(n_states)
            )


@njit
def log_predictives(startprob, transmat, log_obs, out):
    """Write log p(x_t given x_<t) of every step of one sequence to `out`, (T,).

    After a step that is impossible all are -inf.
    """
    n_states = startprob.shape[0]
    predicted, scratch = np.empty(log_obs.shape), np.empty(n_states)
    likelihood = filter_sequence(startprob, transmat, log_obs, predicted, np.empty((2, n_states)))
    in_logs = math.isnan(likelihood)
    if in_logs:
        likelihood = filter_sequence_in_logs(
            startprob, transpose(transmat), log_obs, predicted, np.empty(log_obs.shape), scratch
        )
    possible = True
    for t in range(out.shape[0]):
        if not possible:
            out[t] = -math.inf
        elif in_logs:
            for j in range(n_states):
                scratch[j] = predicted[t, j] + log_obs[t, j]
            out[t] = log_sum_exp(scratch)
        else:
            out[t] = update(predicted[t], log_obs[t], scratch)
        possible = out[t] > -math.inf


@njit_part
def transpose(matrix):
    """Return the transposed matrix in an array of its own."""
    return np.ascontiguousarray(matrix.T)


@njit
def posteriors(ptr, startprob, transmat, log_obs, out):
    """Write p(z_t given x) to `out`, (N, J); return the first impossible sequence, or -1."""
    n_states = startprob.shape[0]
    reverse = transpose(transmat)
    scratch = np.empty(n_states)
    predicted = np.empty((longest(ptr), n_states))
    for s in range(ptr.shape[0] - 1):
        begin, end = ptr[s], ptr[s + 1]
        rows, part = predicted[: end - begin], log_obs[begin:end]
        likelihood = filter_sequence(startprob, transmat, part, rows, out[begin:end])
        in_logs = math.isnan(likelihood)
        if in_logs:
            likelihood = filter_sequence_in_logs(
                startprob, reverse, part, rows, out[begin:end], scratch
            )
        if likelihood == -math.inf:
            return s
        if in_logs:
            smooth_sequence_in_logs(transmat, rows, out[begin:end], scratch)
        else:
            smooth_sequence(reverse, rows, out[begin:end], scratch)
    return -1


@njit
def longest(ptr):
    """Return the length of the longest sequence, at least 1."""
    n_steps = 1
    for s in range(ptr.shape[0] - 1):
        n_steps = max(n_steps, ptr[s + 1] - ptr[s])
    return n_steps


@njit
def sample_states(ptr, startprob, transmat, log_obs, states, rng):
    """Draw the states of all sequences; return the first impossible one, or -1.

    Parameters
    ----------
    ptr : (n + 1,) int64
    startprob, transmat : (J,), (J, J) float64
    log_obs : (N, J) float64
    states : (N,) integers, output
    rng : (4,) uint64
    """
    n_states = startprob.shape[0]
    reverse = transpose(transmat)
    weights = np.empty(n_states)
    predicted = np.empty((1, n_states))
    filtered = np.empty((longest(ptr), n_states))
    for s in range(ptr.shape[0] - 1):
        begin, end = ptr[s], ptr[s + 1]
        rows, part = filtered[: end - begin], log_obs[begin:end]
        likelihood = filter_sequence(startprob, transmat, part, predicted, rows)
        in_logs = math.isnan(likelihood)
        if in_logs:
            logs = np.empty_like(rows)
            likelihood = filter_sequence_in_logs(startprob, reverse, part, logs, rows, weights)
        if likelihood == -math.inf:
            return s
        if in_logs:
            sample_sequence_in_logs(reverse, rows, states[begin:end], weights, rng)
        else:
            sample_sequence(reverse, rows, states[begin:end], weights, rng)
    return -1
