r"""Poisson regressions around the modes of their coefficients.

In state j, y_td is Poisson with the log rate psi_td = o_td + p_t^T b_jd; see `_kernels/_logistic`
for p, o and b ~ N(0, I). Given the states, b_jd has a mode m, where -log p(y, b) has the curvature
P = L L^T = I + sum exp(psi) p p^T. Sums are over the observed steps of the state. Coefficients have
normal coordinates u, b = m + L^-T u, with the density

    p(y, b) |L|^-1 = N(u; 0, I) w(u),    w(u) = p(y, b) / N(b; m, P^-1).

w does not vary if the posterior is Gaussian, and its mean over N(0, I) is the evidence.

| name | symbol | shape | meaning |
|---|---|---|---|
| rows | p_t | (N, K) | regressors |
| offsets | o_td | (N, D) | |
| counts | y_td | (N, D) | -1: missing |
| log_counts | log y_td | (N, D) | 0 for a count of 0 |
| constants | log p(y given the rate y) | (N, D) | |
| states | z_t | (N,) integers | -1: no state |
| modes, coefs | m, b | (J, D, K) | |
| normals | u | (J, D, K) | |
| factors | L | (J, D, K, K) | |
| logs | log p(y, b) | (J, D) | without the factor (2 pi)^(-K / 2) of the prior |
| log_obs | | (N, J) | log probabilities of the targets of a step, output |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_normal, next_double, next_open_double, stream_of_number
from skdp.emissions._kernels import _logistic as shared
from skdp.emissions._kernels._gaussian import log_normal_cdf

LARGEST_LOG_RATE = 40.0
"""Log rates above it count as equal to it. The largest count, 2^53, has a logarithm of 36.7."""

MOST_STEPS, LEAST_SQUARE, TOLERANCE = 100, 1e-12, 1e-9
"""Steps to a mode: their largest number, square of the last one in units of the posterior, and
relative size of falls of log p that are due to rounding."""

RIDGE = 1e-12
"""Relative increase of the diagonal of P, so that huge counts leave it definite to rounding."""

MOST_CUTS = 200
"""Cuts of the bracket of angles after which it contains only the previous coefficients."""

WIDE, LARGEST_DEVIATION, LARGEST_MEAN = 6.0, 1e6, 1e12
"""Deviation of log rates from which the probability of 0 is an integral over its threshold, and
bounds of deviations and means."""

LEAST_TERM, MOST_TERMS = -40.0, 400
"""Logarithm of the last term of a sum relative to the largest, and bound of their number."""


@njit_inlined
def find_log_rate(row, offset, coefs):
    """Return the log rate, o + p^T b, up to its largest value."""
    return min(shared.find_predictor(row, offset, coefs), LARGEST_LOG_RATE)


@njit_inlined
def log_poisson(count, log_count, constant, psi):
    """Return log p(y), which keeps its digits for huge counts near their rates."""
    if count == 0.0:
        return -math.exp(psi)
    away = psi - log_count
    return count * (away - math.expm1(away)) + constant


# Modes


@njit_loop
def find_modes(
    rows, offsets, counts, log_counts, constants, states, modes, factors, logs,
    precisions, linears, steps, trials, trial_logs, are_done,
):  # fmt: skip
    """Write modes, factors of the curvatures there, and log p; return whether all are definite."""
    # Newton steps, halved where log p falls, from the regression of log(y + 1/2) with the weights
    # y + 1/2. Arrays after `logs` are scratch.
    n_states, n_targets, width = modes.shape
    are_done[:] = False
    trials[:] = 0.0
    begin(trials, are_done, precisions, linears, trial_logs)
    for t in range(rows.shape[0]):
        j = states[t]
        if j < 0:
            continue
        for d in range(n_targets):
            if counts[t, d] >= 0.0:
                weight = counts[t, d] + 0.5
                left = weight * (math.log(weight) - offsets[t, d])
                shared.add_regressors(rows[t], weight, left, precisions[j, d], linears[j, d])
    for j in range(n_states):
        for d in range(n_targets):
            logs[j, d] = -math.inf
            stretch(precisions[j, d])
            if not shared.solve_mean(precisions[j, d], linears[j, d], factors[j, d], trials[j, d]):
                return False
    for _ in range(MOST_STEPS):
        begin(trials, are_done, precisions, linears, trial_logs)
        for t in range(rows.shape[0]):
            j = states[t]
            if j < 0:
                continue
            for d in range(n_targets):
                count = counts[t, d]
                if count < 0.0 or are_done[j, d]:
                    continue
                psi = find_log_rate(rows[t], offsets[t, d], trials[j, d])
                trial_logs[j, d] += log_poisson(count, log_counts[t, d], constants[t, d], psi)
                rate = math.exp(psi)
                shared.add_regressors(rows[t], rate, count - rate, precisions[j, d], linears[j, d])
        n_left = 0
        for j in range(n_states):
            for d in range(n_targets):
                if are_done[j, d]:
                    continue
                step, log = steps[j, d], trial_logs[j, d]
                if log < logs[j, d] - TOLERANCE * (1.0 + abs(logs[j, d])):
                    for k in range(width):
                        step[k] *= 0.5
                else:
                    logs[j, d] = log
                    copy_to(modes[j, d], trials[j, d])
                    stretch(precisions[j, d])
                    if not shared.solve_mean(precisions[j, d], linears[j, d], factors[j, d], step):
                        return False
                    square = 0.0
                    for k in range(width):
                        square += step[k] * linears[j, d, k]
                    if square < LEAST_SQUARE:
                        are_done[j, d] = True
                        continue
                n_left += 1
                for k in range(width):
                    trials[j, d, k] = modes[j, d, k] + step[k]
        if n_left == 0:
            break
    return True


@njit_internal_nogc
def begin(coefs, are_done, precisions, linears, logs):
    """Write the terms of the prior: the curvature, the gradient and log p at some coefficients."""
    n_states, n_targets, width = coefs.shape
    for j in range(n_states):
        for d in range(n_targets):
            if are_done[j, d]:
                continue
            logs[j, d] = 0.0
            for k in range(width):
                logs[j, d] -= 0.5 * coefs[j, d, k] * coefs[j, d, k]
                linears[j, d, k] = -coefs[j, d, k]
                for e in range(width):
                    precisions[j, d, k, e] = 1.0 if k == e else 0.0


@njit_inlined
def copy_to(target, source):
    """Copy a vector."""
    for k in range(source.shape[0]):
        target[k] = source[k]


@njit_inlined
def stretch(precision):
    """Increase the diagonal slightly: see `RIDGE`."""
    for k in range(precision.shape[0]):
        precision[k, k] *= 1.0 + RIDGE


@njit_loop
def find_means(
    rows, offsets, counts, log_counts, constants, states, modes, factors, linears, means
):
    """Write means of coefficients to second order, m - P^-1 sum exp(psi) |L^-1 p|^2 p / 2."""
    n_states, n_targets, width = modes.shape
    linears[:] = 0.0
    for t in range(rows.shape[0]):
        j = states[t]
        if j < 0:
            continue
        for d in range(n_targets):
            if counts[t, d] < 0.0:
                continue
            psi = find_log_rate(rows[t], offsets[t, d], modes[j, d])
            rate = math.exp(psi)
            pull = 0.5 * rate * shared.find_square(rows[t], factors[j, d], means[j, d])
            for k in range(width):
                linears[j, d, k] -= pull * rows[t, k]
    for j in range(n_states):
        for d in range(n_targets):
            mean, factor = means[j, d], factors[j, d]
            for k in range(width):
                x = linears[j, d, k]
                for e in range(k):
                    x -= factor[k, e] * mean[e]
                mean[k] = x / factor[k, k]
            shared.solve_back(factor, mean)
            for k in range(width):
                mean[k] += modes[j, d, k]


# Draws of coefficients


@njit_loop
def find_first_steps(states, first_steps):
    """Write the first step of each state; entries of states without steps stay."""
    for t in range(states.shape[0] - 1, -1, -1):
        if states[t] >= 0:
            first_steps[states[t]] = t


@njit_loop
def draw_normals(key, steps, states, first_steps, first_normals, normals, stream):
    """Write the normal coordinates of all states, which are those of their first steps."""
    # `key` determines those of each step, except of `first_steps` (-1: none): `first_normals`.
    n_states, n_targets, width = normals.shape
    for j in range(n_states):
        first = -1 - j  # a state without steps has others
        for t in range(states.shape[0]):
            if states[t] == j:
                first = steps[t]
                break
        known = -1
        for i in range(first_steps.shape[0]):
            if first >= 0 and first_steps[i] == first:
                known = i
        if known >= 0:
            for d in range(n_targets):
                copy_to(normals[j, d], first_normals[known, d])
            continue
        stream_of_number(key, first, stream)
        for d in range(n_targets):
            for k in range(width):
                normals[j, d, k] = draw_normal(stream)


@njit_loop
def find_coefs(modes, factors, normals, coefs):
    """Write m + L^-T u."""
    n_states, n_targets, _ = modes.shape
    for j in range(n_states):
        for d in range(n_targets):
            find_coefs_of_one(modes[j, d], factors[j, d], normals[j, d], coefs[j, d])


@njit_internal_nogc
def find_coefs_of_one(mode, factor, normals, coefs):
    """Write m + L^-T u of one regression."""
    copy_to(coefs, normals)
    shared.solve_back(factor, coefs)
    for k in range(mode.shape[0]):
        coefs[k] += mode[k]


@njit_loop
def weigh_coefs(rows, offsets, counts, log_counts, constants, states, coefs, are_done, logs):
    """Write log p(y, b) of the regressions that are not done."""
    n_states, n_targets, width = coefs.shape
    for j in range(n_states):
        for d in range(n_targets):
            if not are_done[j, d]:
                logs[j, d] = 0.0
                for k in range(width):
                    logs[j, d] -= 0.5 * coefs[j, d, k] * coefs[j, d, k]
    for t in range(rows.shape[0]):
        j = states[t]
        if j < 0:
            continue
        for d in range(n_targets):
            if counts[t, d] >= 0.0 and not are_done[j, d]:
                psi = find_log_rate(rows[t], offsets[t, d], coefs[j, d])
                logs[j, d] += log_poisson(counts[t, d], log_counts[t, d], constants[t, d], psi)


@njit_loop
def draw_coefs(
    rows, offsets, counts, log_counts, constants, states, modes, factors, normals, coefs,
    others, trials, angles, bounds, logs, are_done, rng,
):  # fmt: skip
    """Replace u by an elliptical slice step (Murray et al., 2010) for N(u; 0, I) w(u)."""
    # `normals`, u, are changed in place, and `coefs` written; the arrays after them are scratch.
    n_states, n_targets, width = modes.shape
    are_done[:] = False
    find_coefs(modes, factors, normals, coefs)
    weigh_coefs(rows, offsets, counts, log_counts, constants, states, coefs, are_done, bounds)
    for j in range(n_states):
        for d in range(n_targets):
            for k in range(width):
                others[j, d, k] = draw_normal(rng)
                bounds[j, d] += 0.5 * normals[j, d, k] * normals[j, d, k]
            bounds[j, d] += math.log(next_open_double(rng))
            angles[j, d, 0] = angles[j, d, 2] = 2.0 * math.pi * next_double(rng)
            angles[j, d, 1] = angles[j, d, 0] - 2.0 * math.pi
    for i in range(MOST_CUTS):
        for j in range(n_states):
            for d in range(n_targets):
                if are_done[j, d]:
                    continue
                cosine, sine = math.cos(angles[j, d, 0]), math.sin(angles[j, d, 0])
                for k in range(width):
                    trials[j, d, k] = cosine * normals[j, d, k] + sine * others[j, d, k]
                    if i == MOST_CUTS - 1:
                        trials[j, d, k] = normals[j, d, k]
                find_coefs_of_one(modes[j, d], factors[j, d], trials[j, d], coefs[j, d])
        weigh_coefs(rows, offsets, counts, log_counts, constants, states, coefs, are_done, logs)
        n_left = 0
        for j in range(n_states):
            for d in range(n_targets):
                if are_done[j, d]:
                    continue
                log = logs[j, d]
                for k in range(width):
                    log += 0.5 * trials[j, d, k] * trials[j, d, k]
                if log >= bounds[j, d]:
                    are_done[j, d] = True
                    copy_to(normals[j, d], trials[j, d])
                    continue
                n_left += 1
                if angles[j, d, 0] < 0.0:
                    angles[j, d, 1] = angles[j, d, 0]
                else:
                    angles[j, d, 2] = angles[j, d, 0]
                span = angles[j, d, 2] - angles[j, d, 1]
                angles[j, d, 0] = angles[j, d, 1] + span * next_double(rng)
        if n_left == 0:
            break


# Probabilities of targets


@njit_loop
def weigh(rows, offsets, counts, log_counts, constants, coefs, log_obs):
    """Write the log probabilities of the observed targets of all steps in all states."""
    log_obs[:] = 0.0
    for t in range(rows.shape[0]):
        for d in range(counts.shape[1]):
            if counts[t, d] >= 0.0:
                for j in range(log_obs.shape[1]):
                    psi = find_log_rate(rows[t], offsets[t, d], coefs[j, d])
                    log_obs[t, j] += log_poisson(
                        counts[t, d], log_counts[t, d], constants[t, d], psi
                    )


@njit_internal_nogc
def find_peak(count, log_count, mean, variance):
    """Return the maximum of y psi - exp(psi) - (psi - mean)^2 / (2 variance)."""
    # Newton steps descend to it from a bound above it, because the derivative is concave.
    bound = max(mean, log_count) if count > 0.0 else mean
    bound = min(bound, mean + variance * count)
    pulled = count + max(mean, 0.0) / variance
    if pulled > 0.0:
        bound = min(bound, max(0.0, math.log(pulled)))
    psi = bound
    for _ in range(100):
        rate = math.exp(psi)
        curvature = rate + 1.0 / variance
        step = (count - rate - (psi - mean) / variance) / curvature
        psi += step
        if step * step * curvature < 1e-12:
            break
    return psi


@njit_internal_nogc
def log_term(count, log_count, psi, mean, deviation):
    """Return log p(y given psi) without its constant, plus log N(psi; mean, deviation^2)."""
    u = (psi - mean) / deviation
    return log_poisson(count, log_count, 0.0, psi) - 0.5 * u * u


@njit_loop
def weigh_by_laplace(
    rows, offsets, counts, log_counts, constants, modes, factors, scratch, log_obs
):
    """Write Laplace's approximation of log p(y_t given the observations of state j)."""
    for t in range(rows.shape[0]):
        for j in range(log_obs.shape[1]):
            log_obs[t, j] = 0.0
            for d in range(counts.shape[1]):
                count, log_count = counts[t, d], log_counts[t, d]
                if count < 0.0:
                    continue
                mean = shared.find_predictor(rows[t], offsets[t, d], modes[j, d])
                variance = max(shared.find_square(rows[t], factors[j, d], scratch), 1e-16)
                psi = find_peak(count, log_count, mean, variance)
                log_obs[t, j] += constants[t, d]
                log_obs[t, j] += log_term(count, log_count, psi, mean, math.sqrt(variance))
                log_obs[t, j] -= 0.5 * math.log1p(variance * math.exp(psi))


@njit_internal_nogc
def log_mean_poisson(count, log_count, constant, mean, deviation):
    """Return log E[p(y given psi)] for psi ~ N(mean, deviation^2), by the trapezoidal rule."""
    if deviation > LARGEST_DEVIATION:
        mean *= LARGEST_DEVIATION / deviation
        deviation = LARGEST_DEVIATION
    mean = min(max(mean, -LARGEST_MEAN), LARGEST_MEAN)
    if deviation < 1e-8:
        return log_poisson(count, log_count, constant, min(mean, LARGEST_LOG_RATE))
    if count == 0.0 and deviation > WIDE:
        return log_mean_of_zero(mean, deviation)
    # The integrand is log-concave: from its peak outward, the sum ends where terms vanish. Its
    # Fourier transform falls so fast that the relative error for this step is below 1e-10.
    peak = find_peak(count, log_count, mean, deviation * deviation)
    step = min(0.3, 0.6 / math.sqrt(math.exp(peak) + 1.0 / (deviation * deviation)))
    highest = log_term(count, log_count, peak, mean, deviation)
    total = 1.0
    for sign in (-1.0, 1.0):
        for i in range(1, MOST_TERMS):
            term = log_term(count, log_count, peak + sign * i * step, mean, deviation) - highest
            total += math.exp(min(term, 0.0))  # above 0 by rounding only
            if term < LEAST_TERM:
                break
    return constant + highest + math.log(total * step / (deviation * math.sqrt(2.0 * math.pi)))


@njit_internal_nogc
def log_mean_of_zero(mean, deviation):
    """Return log E[exp(-exp(psi))] for a large deviation."""
    # The integral of exp(v - exp(v)) P(psi < v) over v, whose terms vanish on both sides of a peak
    # that a contraction finds.
    peak = 0.0
    for _ in range(20):
        u = (peak - mean) / deviation
        if u > -30.0:
            ratio = math.exp(-0.5 * u * u - log_normal_cdf(u)) / math.sqrt(2.0 * math.pi)
        else:
            ratio = -u
        peak = math.log1p(ratio / deviation)
    step = min(0.3, 0.6 * math.exp(-0.5 * peak))
    largest, total = -math.inf, 0.0
    for sign in (-1.0, 1.0):
        for i in range(MOST_TERMS):
            if sign > 0.0 and i == 0:
                continue
            at = peak + sign * i * step
            term = at - math.exp(at) + log_normal_cdf((at - mean) / deviation)
            largest, total = shared.add_term(term, largest, total)
            if term < largest + LEAST_TERM:
                break
    return largest + math.log(total * step)


@njit_loop
def weigh_means(rows, counts, log_counts, constants, coefs, factors, log_obs):
    """Write the log predictive probabilities of the targets of all steps."""
    # `rows` are 1 and the inputs, `coefs` expected, `factors` F: log rates have the variance |F
    # p|^2.
    for t in range(rows.shape[0]):
        for j in range(log_obs.shape[1]):
            log_obs[t, j] = 0.0
            for d in range(counts.shape[1]):
                if counts[t, d] < 0.0:
                    continue
                deviation = math.sqrt(shared.find_new_square(rows[t], factors[j, d]))
                mean = shared.find_predictor(rows[t], 0.0, coefs[j, d])
                log_obs[t, j] += log_mean_poisson(
                    counts[t, d], log_counts[t, d], constants[t, d], mean, deviation
                )
