r"""Logistic regressions with Polya-Gamma variables, and kernels that Poisson regressions share.

In state j, y_td is 1 with the log odds psi_td = o_td + p_t^T b_jd. p are K regressors, the first of
which is a constant, in units of the prior, b_jd ~ N(0, I), and o is the log odds under the prior
mean. With kappa = y - 1/2 and omega_td ~ PG(1, psi_td) (Polson, Scott and Windle 2013),

    p(y, omega | psi) = exp(kappa psi - omega psi^2 / 2) PG(omega; 1, 0) / 2,

so that given omega the coefficients are Gaussian, with the precision P = I + sum omega p p^T and
the mean P^-1 h, h = sum (kappa - omega o) p. Sums are over the observed steps of the state.

| name | symbol | shape | meaning |
|---|---|---|---|
| rows | p_t | (N, K) | regressors |
| offsets | o_td | (N, D) | |
| halves | kappa_td | (N, D) | 1/2 or -1/2; 0: missing |
| states | z_t | (N,) integers | -1: no state |
| omegas | omega_td | (N, D) | |
| coefs, means | b_jd | (J, D, K) | drawn or expected coefficients |
| precisions | P | (J, D, K, K) | lower triangle |
| factors | L | (J, D, K, K) | P = L L^T |
| linears | h | (J, D, K) | |
| scratch | | (K,) | |
| log_obs | | (N, J) | log probabilities of the targets of a step, output |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp._numeric._random import draw_normal, draw_polya_gamma
from skdp.emissions._kernels._gaussian import factorize, log_normal_cdf

# Kernels that all regressions with Gaussian coefficients share.
#
# The predictor of a target is o + p^T b: p are K regressors, the first of which is a constant, in
# units of the prior, b ~ N(0, I), and o is the predictor under the prior mean. Given the rest, b is
# Gaussian, or nearly so, with a precision P = L L^T and a mean P^-1 h.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | row | p | (K,) | regressors |
# | precisions | P | (J, D, K, K) | lower triangle |
# | factors | L | (J, D, K, K) | |
# | linears | h | (J, D, K) | |
# | means | P^-1 h | (J, D, K) | |


@njit_inlined
def find_predictor(row, offset, coefs):
    """Return o + p^T b."""
    result = offset
    for k in range(row.shape[0]):
        result += row[k] * coefs[k]
    return result


@njit_internal_nogc
def clear(precisions, linears):
    """Write P and h of the prior."""
    n_states, n_targets, width = linears.shape
    linears[:] = 0.0
    precisions[:] = 0.0
    for j in range(n_states):
        for d in range(n_targets):
            for k in range(width):
                precisions[j, d, k, k] = 1.0


@njit_inlined
def add_regressors(row, weight, left, precision, linear):
    """Add weight p p^T to P and left p to h."""
    for k in range(row.shape[0]):
        linear[k] += left * row[k]
        weighted = weight * row[k]
        for e in range(k + 1):
            precision[k, e] += weighted * row[e]


@njit_loop
def solve_means(precisions, linears, factors, means):
    """Write L and P^-1 h of all states; return False if a precision is not positive definite."""
    n_states, n_targets, _ = linears.shape
    for j in range(n_states):
        for d in range(n_targets):
            if not solve_mean(precisions[j, d], linears[j, d], factors[j, d], means[j, d]):
                return False
    return True


@njit_internal_nogc
def solve_mean(precision, linear, factor, mean):
    """Write L and P^-1 h of one regression; return False if P is not positive definite."""
    width = linear.shape[0]
    for k in range(width):
        for e in range(k + 1):
            factor[k, e] = precision[k, e]
    if not factorize(factor):
        return False
    for k in range(width):
        x = linear[k]
        for e in range(k):
            x -= factor[k, e] * mean[e]
        mean[k] = x / factor[k, k]
    solve_back(factor, mean)
    return True


@njit_internal_nogc
def solve_back(factor, x):
    """Replace x by the solution of L^T y = x."""
    for k in range(x.shape[0] - 1, -1, -1):
        y = x[k]
        for e in range(k + 1, x.shape[0]):
            y -= factor[e, k] * x[e]
        x[k] = y / factor[k, k]


@njit_internal_nogc
def find_square(row, factor, scratch):
    """Return |L^-1 p|^2, the variance of the predictor."""
    result = 0.0
    for k in range(row.shape[0]):
        x = row[k]
        for e in range(k):
            x -= factor[k, e] * scratch[e]
        scratch[k] = x / factor[k, k]
        result += scratch[k] * scratch[k]
    return result


@njit_internal_nogc
def find_new_square(row, factor):
    """Return |F a|^2, the variance of the predictor for a row of 1 and inputs."""
    result = 0.0
    for k in range(row.shape[0]):
        x = 0.0
        for e in range(k + 1):
            x += factor[k, e] * row[e]
        result += x * x
    return result


@njit_inlined
def add_term(term, largest, total):
    """Return the largest logarithm and the sum in its units, with one more term."""
    if term > largest:
        return term, total * math.exp(largest - term) + 1.0
    return largest, total + math.exp(term - largest)


LOG_HALF = -math.log(2.0)

WIDE = 6.0
"""Deviation of log odds from which probabilities of targets are integrals over their threshold."""


@njit_internal_nogc
def log_sigmoid(x):
    """Return log(1 / (1 + exp(-x)))."""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


# Given omega


@njit_loop
def draw_omegas(rows, offsets, halves, coefs, states, omegas, rng):
    """Draw the Polya-Gamma variables of all observed targets, given the coefficients."""
    omegas[:] = 0.0
    for t in range(rows.shape[0]):
        for d in range(halves.shape[1]):
            if halves[t, d] != 0.0:
                psi = find_predictor(rows[t], offsets[t, d], coefs[states[t], d])
                omegas[t, d] = draw_polya_gamma(psi, rng)


@njit_loop
def add_up(rows, offsets, halves, omegas, states, precisions, linears):
    """Write P and h of all states; return the sum of log(1/2) + kappa o - omega o^2 / 2."""
    clear(precisions, linears)
    constant = 0.0
    for t in range(rows.shape[0]):
        j = states[t]
        if j < 0:
            continue
        for d in range(halves.shape[1]):
            if halves[t, d] == 0.0:
                continue
            omega, offset = omegas[t, d], offsets[t, d]
            left = halves[t, d] - omega * offset
            constant += LOG_HALF + halves[t, d] * offset - 0.5 * omega * offset * offset
            add_regressors(rows[t], omega, left, precisions[j, d], linears[j, d])
    return constant


@njit_loop
def draw_coefs(factors, means, coefs, rng):
    """Draw b ~ N(P^-1 h, P^-1) of all states and targets."""
    n_states, n_targets, width = means.shape
    for j in range(n_states):
        for d in range(n_targets):
            for k in range(width):
                coefs[j, d, k] = draw_normal(rng)
            solve_back(factors[j, d], coefs[j, d])
            for k in range(width):
                coefs[j, d, k] += means[j, d, k]


@njit_loop
def log_evidence_given_omegas(factors, linears, means):
    """Return log p(y given omega, z) without the result of `add_up`, with b integrated out."""
    result = 0.0
    n_states, n_targets, width = means.shape
    for j in range(n_states):
        for d in range(n_targets):
            for k in range(width):
                result += 0.5 * linears[j, d, k] * means[j, d, k]
                result -= math.log(factors[j, d, k, k])
    return result


@njit_loop
def weigh_given_omegas(rows, offsets, halves, omegas, factors, means, scratch, log_obs):
    """Write log p(y_t given omega_t and the observations of state j), without PG(omega; 1, 0)."""
    # The integral of exp(kappa psi - omega psi^2 / 2) / 2 over psi ~ N(m, s^2) is
    # (1 + omega s^2)^(-1/2) exp((kappa m + kappa^2 s^2 / 2 - omega m^2 / 2) / (1 + omega s^2)) / 2.
    for t in range(rows.shape[0]):
        for j in range(log_obs.shape[1]):
            log_obs[t, j] = 0.0
            for d in range(halves.shape[1]):
                kappa, omega = halves[t, d], omegas[t, d]
                if kappa == 0.0:
                    continue
                mean = find_predictor(rows[t], offsets[t, d], means[j, d])
                variance = find_square(rows[t], factors[j, d], scratch)
                more = 1.0 + omega * variance
                inner = kappa * mean + 0.5 * kappa * kappa * variance - 0.5 * omega * mean * mean
                log_obs[t, j] += LOG_HALF - 0.5 * math.log(more) + inner / more


# Given coefficients


@njit_loop
def weigh(rows, offsets, halves, coefs, log_obs):
    """Write the log probabilities of the observed targets of all steps in all states."""
    log_obs[:] = 0.0
    for t in range(rows.shape[0]):
        for d in range(halves.shape[1]):
            if halves[t, d] != 0.0:
                for j in range(log_obs.shape[1]):
                    psi = find_predictor(rows[t], offsets[t, d], coefs[j, d])
                    log_obs[t, j] += log_sigmoid(2.0 * halves[t, d] * psi)


@njit_loop
def add_up_curvatures(rows, offsets, halves, coefs, states, are_newton, precisions, linears, logs):
    """Write P and h of a step to the mode from `coefs`, and log p(y, b) up to a constant."""
    n_states, n_targets, width = linears.shape
    for j in range(n_states):
        for d in range(n_targets):
            logs[j, d] = 0.0
            for k in range(width):
                logs[j, d] -= 0.5 * coefs[j, d, k] * coefs[j, d, k]
    clear(precisions, linears)
    for t in range(rows.shape[0]):
        j = states[t]
        if j < 0:
            continue
        for d in range(n_targets):
            if halves[t, d] == 0.0:
                continue
            psi = find_predictor(rows[t], offsets[t, d], coefs[j, d])
            logs[j, d] += log_sigmoid(2.0 * halves[t, d] * psi)
            half = 0.5 * math.tanh(0.5 * psi)  # probability of 1, minus 1/2
            # The curvature is that of log p, a Newton step, or a bound from which the step can only
            # climb, that of omega = E[PG(1, psi)].
            if are_newton[j, d]:
                weight = 0.25 - half * half
            else:
                weight = 0.25 if abs(psi) < 1e-4 else half / psi
            left = halves[t, d] - half + weight * (psi - offsets[t, d])
            add_regressors(rows[t], weight, left, precisions[j, d], linears[j, d])


# Posterior predictive


@njit_internal_nogc
def log_mean_sigmoid(mean, deviation):
    """Return log E[1 / (1 + exp(-psi))] for psi ~ N(mean, deviation^2), by the trapezoidal rule."""
    # The poles of the integrand are at distances of pi / deviation from the real axis, so that the
    # relative error is about exp(-2 pi^2 / (deviation step)), here below 1e-11. Large deviations
    # would need too many terms.
    if deviation < 1e-8:
        return log_sigmoid(mean)
    if deviation > WIDE:
        # If the mean is far below 0, the factor exp(psi) of exp(psi) / (1 + exp(psi)) moves it.
        square = deviation * deviation
        if mean < -0.5 * square:
            return mean + 0.5 * square + log_mean_of_steps(-mean - square, deviation)
        return log_mean_of_steps(mean, deviation)
    step = min(0.6, 0.7 / deviation)
    # The integrand peaks between 0 and the deviation, its peak if psi is far below 0.
    first, last = -8.5, 8.5 + min(deviation, max(-mean / deviation, 0.0))
    n = int((last - first) / step) + 1
    largest, total = -math.inf, 0.0
    for i in range(n + 1):
        u = first + i * step
        term = log_sigmoid(mean + deviation * u) - 0.5 * u * u
        largest, total = add_term(term, largest, total)
    return largest + math.log(total * step / math.sqrt(2.0 * math.pi))


@njit_internal_nogc
def log_mean_of_steps(mean, deviation):
    """Return the same for a large deviation, as the integral of f(v) P(psi > v) over v."""
    # f is the density of the logistic distribution, whose poles are at distances of pi from the
    # real axis. Below 0, the integrand grows at least as exp(v / 2) if mean >= -deviation^2 / 2.
    step, largest, total = 0.7, -math.inf, 0.0
    for i in range(-120, 61):
        v = i * step
        term = log_sigmoid(v) + log_sigmoid(-v) + log_normal_cdf((mean - v) / deviation)
        largest, total = add_term(term, largest, total)
    return largest + math.log(total * step)


@njit_loop
def weigh_means(rows, halves, coefs, factors, log_obs):
    """Write the log predictive probabilities of the targets of all steps."""
    # `rows` are 1 and the inputs, `coefs` expected, `factors` F: log odds have the variance |F
    # p|^2.
    for t in range(rows.shape[0]):
        for j in range(log_obs.shape[1]):
            log_obs[t, j] = 0.0
            for d in range(halves.shape[1]):
                if halves[t, d] == 0.0:
                    continue
                variance = find_new_square(rows[t], factors[j, d])
                mean = 2.0 * halves[t, d] * find_predictor(rows[t], 0.0, coefs[j, d])
                log_obs[t, j] += log_mean_sigmoid(mean, math.sqrt(variance))
