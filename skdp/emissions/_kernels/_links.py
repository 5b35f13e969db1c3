r"""Similarities of states: by the distances of binary vectors, and by the overlaps of densities.

phi_jj' = exp(-lambda D_jj'), where D is the Hamming distance of the binary vectors of states.

Given rates pi and transitions n, with times and failed transitions integrated out, the vectors have
the likelihood prod_jj' phi_jj'^n_jj' / prod_j T_j^n_j., with T_j = sum_j' pi_jj' phi_jj'.

| name | symbol | shape | meaning |
|---|---|---|---|
| factors | theta_jf | (J, F) int8 | binary vectors |
| spins | 2 theta_jf - 1 | (F, J) float64 | by factor: loops over states are vector instructions |
| decay | lambda | | |
| distances | D_jj' | (J, J) float64 | |
| counts | n_jj' | (J + 1, J) int64 | transitions; the last row, of first states, has phi = 1 |
| log_rates | log pi_jj' | (J + 1, J) | they may be as low as -1e300 |
| left | n_j. | (J,) float64 | transitions out of a state |
| log_totals | log T_j | (J,) | maintained for busy states, which have n_j. > 0 |

A change of the vector of state j affects row j and column j of phi. T_j is recomputed, and any
other T_i changes by one term. The terms of row and column j, relative to T, are stored while the
bits of j are drawn, so that a proposal needs no exponentials. If a change costs a row's sum too
many digits, the sum is recomputed.
"""

# mypy: ignore-errors

import math
from typing import NamedTuple

from skdp._numeric import Floats, Places
from skdp._numeric._numba import njit_inlined, njit_internal_nogc, njit_loop
from skdp.emissions._kernels._gaussian import factorize

NEGLIGIBLE = -42.0
"""Terms below exp(-42) = 6e-19 times a sum do not change it in double precision."""

LOST_IN_PROPOSAL = -0.999
LOST_IN_STATE = -0.5
"""Relative changes of T_i below which it is recomputed, in a proposal and on acceptance."""

LARGEST_FAST_DECAY = 100.0
"""Decay above which terms are handled as logs: an underflowed one might grow by exp(2 lambda)."""

SMALLEST_TOTAL = 1e-200
"""A smaller sum of terms is recomputed, because some of them may have underflowed."""

SMALL_GAIN = 1e-4
"""Largest |x| for which four terms of the series of log(1 + x) are exact."""


class Links(NamedTuple):
    """Transition statistics, and quantities that follow from the current binary vectors."""

    log_rates: Floats  # (J + 1, J)
    log_rates_into: Floats  # (J, J), log pi, by destination
    n_transitions: Floats  # (J, J), n_jj' + n_j'j
    left: Floats  # (J,)
    busy: Places  # (B,), the states j with n_j. > 0
    log_totals: Floats  # (J,)
    distances: Floats  # (J,), of one state j
    terms: Floats  # (J,), pi_jk phi_jk / T_j of transitions from j; 0 if j is not busy
    terms_into: Floats  # (J,), pi_ij phi_ij / T_i of those into j; 0 if i is not busy
    change: Floats  # (J,), proposed increments of the distances of j
    growth: Floats  # (J,), factors by which the proposal multiplies similarities to j
    steps: Floats  # (J,), proposed increments of log T; 0 for states not busy
    row: Floats  # (J,), scratch: distances of another state
    all_distances: Floats  # (J, J)


@njit_loop
def write_distances(factors, distances):
    """Write the Hamming distances of all pairs of states."""
    n_states, n_factors = factors.shape
    for j in range(n_states):
        for k in range(j + 1):
            distance = 0
            for f in range(n_factors):
                distance += factors[j, f] ^ factors[k, f]
            distances[j, k] = distances[k, j] = distance


@njit_inlined
def log_total(log_rates, distances, decay):
    """Return log T of one row."""
    largest = -math.inf
    for k in range(log_rates.shape[0]):
        largest = max(largest, log_rates[k] - decay * distances[k])
    total = 0.0
    for k in range(log_rates.shape[0]):
        term = log_rates[k] - decay * distances[k] - largest
        if term > NEGLIGIBLE:
            total += math.exp(term)
    return largest + math.log(total)


# The vectors


@njit_inlined
def write_distances_of(j, spins, out):
    """Write the distances of one state."""
    n_factors, n_states = spins.shape
    for k in range(n_states):
        out[k] = 0.5 * n_factors
    for f in range(n_factors):
        half = 0.5 * spins[f, j]
        for k in range(n_states):
            out[k] -= half * spins[f, k]


@njit_loop
def start_links(links, factors, counts, decay):
    """Initialize `links` from transitions and vectors."""
    n_states = factors.shape[0]
    write_distances(factors, links.all_distances)
    for j in range(n_states):
        links.steps[j] = 0.0
        links.terms_into[j] = 0.0
        for k in range(n_states):
            links.log_rates_into[k, j] = links.log_rates[j, k]
            links.n_transitions[j, k] = counts[j, k] + counts[k, j]
    for b in range(links.busy.shape[0]):
        i = links.busy[b]
        links.log_totals[i] = log_total(links.log_rates[i], links.all_distances[i], decay)


@njit_inlined
def exp_or_0(x):
    """Return exp(x), or 0 instead of subnormal numbers."""
    return math.exp(x) if x > -700.0 else 0.0


@njit_inlined
def write_terms(links, j, decay):
    """Write the terms of row and column j."""
    log_rates, distances, log_totals = links.log_rates[j], links.distances, links.log_totals
    log_rates_into = links.log_rates_into[j]
    for b in range(links.busy.shape[0]):
        i = links.busy[b]
        links.terms_into[i] = exp_or_0(log_rates_into[i] - decay * distances[i] - log_totals[i])
    links.terms_into[j] = 0.0  # the distance to itself never changes
    for k in range(distances.shape[0]):
        links.terms[k] = 0.0
        if links.left[j] > 0.0:
            links.terms[k] = exp_or_0(log_rates[k] - decay * distances[k] - log_totals[j])


@njit_internal_nogc
def turn_to(links, spins, j, decay):
    """Prepare `links` for changes of the vector of state j."""
    write_distances_of(j, spins, links.distances)
    write_terms(links, j, decay)


@njit_inlined
def small_log_1p(x):
    """Return log(1 + x), for |x| up to 1e-4."""
    return x * (1.0 - x * (0.5 - x * (1.0 / 3.0 - 0.25 * x)))


@njit_inlined
def dot(x, y):
    """Return a dot product, computed as four independent sums."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    n = x.shape[0] // 4 * 4
    for k in range(0, n, 4):
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        d += x[k + 3] * y[k + 3]
    for k in range(n, x.shape[0]):
        a += x[k] * y[k]
    return (a + b) + (c + d)


@njit_internal_nogc
def log_total_after(links, spins, i, j, decay):
    """Return log T_i after the change of state j, summing all terms."""
    write_distances_of(i, spins, links.row)
    links.row[j] += links.change[i]
    return log_total(links.log_rates[i], links.row, decay)


@njit_internal_nogc
def log_own_total_after(links, j, decay):
    """Return log T_j after its change."""
    if decay <= LARGEST_FAST_DECAY:
        total = dot(links.terms, links.growth)
        if total > SMALLEST_TOTAL:
            return links.log_totals[j] + math.log(total)
    for k in range(links.change.shape[0]):
        links.row[k] = links.distances[k] + links.change[k]
    return log_total(links.log_rates[j], links.row, decay)


@njit_internal_nogc
def weigh_in_logs(links, spins, i, j, decay):
    """Return the increment of log T_i due to the change of state j."""
    log_term = links.log_rates_into[j, i] - decay * links.distances[i]
    old = log_term - links.log_totals[i]
    new = old - decay * links.change[i]
    if max(old, new) < NEGLIGIBLE:
        return 0.0
    if new > 500.0:  # exp(new) may overflow, and nothing else counts
        return new
    gain = math.exp(new) - math.exp(old)
    if gain > LOST_IN_PROPOSAL:
        return math.log1p(gain)
    return log_total_after(links, spins, i, j, decay) - links.log_totals[i]


@njit_internal_nogc
def weigh_change(links, spins, j, size, decay):
    """Return the log likelihood ratio of adding `links.change` to the distances of state j."""
    # After `turn_to` for j. Increments of log T go to `links.steps`; `change` is -size, 0 or size.
    change, growth, steps = links.change, links.growth, links.steps
    terms, log_totals = links.terms_into, links.log_totals
    if decay <= LARGEST_FAST_DECAY:
        farther, nearer = math.exp(-decay * size), math.exp(decay * size)
        for i in range(change.shape[0]):
            growth[i] = farther if change[i] > 0.0 else (nearer if change[i] < 0.0 else 1.0)
        # The first loop assumes that all gains are small, so that it can be vectorized.
        for i in range(change.shape[0]):
            steps[i] = small_log_1p(terms[i] * (growth[i] - 1.0))
        for b in range(links.busy.shape[0]):
            i = links.busy[b]
            gain = terms[i] * (growth[i] - 1.0)
            if gain < LOST_IN_PROPOSAL:
                steps[i] = log_total_after(links, spins, i, j, decay) - log_totals[i]
            elif abs(gain) > SMALL_GAIN:
                steps[i] = math.log1p(gain)
    else:
        for b in range(links.busy.shape[0]):
            i = links.busy[b]
            steps[i] = weigh_in_logs(links, spins, i, j, decay) if change[i] != 0.0 else 0.0
    if links.left[j] > 0.0:
        steps[j] = log_own_total_after(links, j, decay) - log_totals[j]
    return -decay * dot(links.n_transitions[j], change) - dot(links.left, steps)


@njit_internal_nogc
def make_change(links, spins, j, decay):
    """Add `links.change` to the distances of j, after `weigh_change` and before `spins` change."""
    log_lost = math.log1p(LOST_IN_STATE)
    for b in range(links.busy.shape[0]):
        i = links.busy[b]
        if i != j and links.steps[i] < log_lost:
            links.log_totals[i] = log_total_after(links, spins, i, j, decay)
        elif i != j:
            links.log_totals[i] += links.steps[i]
    for k in range(links.change.shape[0]):
        links.distances[k] += links.change[k]
    if links.left[j] > 0.0:
        links.log_totals[j] = log_total(links.log_rates[j], links.distances, decay)
    write_terms(links, j, decay)


@njit_internal_nogc
def flip_spin(links, spins, j):
    """Flip one bit of state j (`spins` of a factor) and update the distances, but not totals."""
    for k in range(spins.shape[0]):
        if k != j:
            links.all_distances[j, k] += spins[j] * spins[k]
            links.all_distances[k, j] = links.all_distances[j, k]
    spins[j] = -spins[j]


@njit_internal_nogc
def weigh_totals(links, decay):
    """Return the log ratio of prod T^-n after distances changed; write increments of log T."""
    result = 0.0
    for b in range(links.busy.shape[0]):
        i = links.busy[b]
        total = log_total(links.log_rates[i], links.all_distances[i], decay)
        links.steps[i] = total - links.log_totals[i]
        result -= links.left[i] * links.steps[i]
    return result


# Overlaps: log Bhattacharyya coefficients of states, log int sqrt(p_j(x) p_k(x)) dx <= 0.
#
# All tables are symmetric, with zeros on the diagonal.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | means | mu_jb | (K, B, W) float64 | B independent blocks of W columns |
# | covariances | Sigma_jb | (K, B, W, W) float64 | |
# | half_log_dets | log det(Sigma_jb) / 2 | (K, B) float64 | |
# | log_intensities | log lambda_jd | (K, D) float64 | |
# | log_probs | log theta_jv | (K, V) float64 | finite, but perhaps as low as -1e9 |
# | roots | sqrt(theta_jv) | (V, K) float64 | by symbol; 0 if it underflows |
# | bits | log(1 - theta_jd), log theta_jd | (K, 2 D) float64 | two entries per column |
# | out | log BC_jk | (K, K) float64 | <= 0 |


SMALLEST_SUM = 1e-280
"""Sum below which underflowed terms may matter."""


@njit_loop
def compare_gaussians(means, covariances, half_log_dets, matrix, vector, out):
    """Write log BC of Gaussian states; return whether all covariances are positive definite."""
    # log BC = (log det Sigma_1 + log det Sigma_2) / 4 - log det M / 2 - Delta^T M^-1 Delta / 8,
    # where M is the mean of the covariances and Delta the difference of the means.
    n_states, n_blocks, width = means.shape
    for j in range(n_states):
        out[j, j] = 0.0
        for k in range(j):
            total = 0.0
            for b in range(n_blocks):
                for e in range(width):
                    vector[e] = means[j, b, e] - means[k, b, e]
                    for f in range(e + 1):
                        matrix[e, f] = 0.5 * (covariances[j, b, e, f] + covariances[k, b, e, f])
                if not factorize(matrix):
                    return False
                total += 0.5 * (half_log_dets[j, b] + half_log_dets[k, b])
                square = 0.0
                for e in range(width):
                    for f in range(e):
                        vector[e] -= matrix[e, f] * vector[f]
                    vector[e] /= matrix[e, e]
                    square += vector[e] * vector[e]
                    total -= math.log(matrix[e, e])
                total -= 0.125 * square
            out[j, k] = out[k, j] = min(total, 0.0)
    return True


@njit_loop
def compare_intensities(log_intensities, out):
    """Write log BC of independent Poisson columns, -sum_d (sqrt lambda_j - sqrt lambda_k)^2 / 2."""
    for j in range(out.shape[0]):
        out[j, j] = 0.0
        for k in range(j):
            total = 0.0
            for d in range(log_intensities.shape[1]):
                high = max(log_intensities[j, d], log_intensities[k, d])
                low = min(log_intensities[j, d], log_intensities[k, d])
                # From the difference of the logs, so that close intensities lose no digits.
                away = math.exp(0.5 * high) * math.expm1(0.5 * (low - high))
                total -= 0.5 * away * away
            out[j, k] = out[k, j] = total


@njit_internal_nogc
def log_product_of_roots(first, second):
    """Return log sum_v sqrt(theta_v theta'_v) of two rows of logs, without underflow."""
    largest = -math.inf
    for v in range(first.shape[0]):
        largest = max(largest, 0.5 * (first[v] + second[v]))
    total = 0.0
    for v in range(first.shape[0]):
        total += math.exp(0.5 * (first[v] + second[v]) - largest)
    return largest + math.log(total)


@njit_loop
def add_products(roots, out):
    """Add sum_v sqrt(theta_jv theta_kv) to the lower triangle of `out`, four symbols at a time."""
    n_symbols, n_states = roots.shape
    rest = n_symbols - n_symbols % 4
    for v in range(0, rest, 4):
        a, b, c, d = roots[v], roots[v + 1], roots[v + 2], roots[v + 3]
        for j in range(n_states):
            row = out[j]
            for k in range(j):
                row[k] += (a[j] * a[k] + b[j] * b[k]) + (c[j] * c[k] + d[j] * d[k])
    for v in range(rest, n_symbols):
        for j in range(n_states):
            for k in range(j):
                out[j, k] += roots[v, j] * roots[v, k]


@njit_loop
def compare_probabilities(log_probs, roots, out):
    """Write log BC of categorical states: log sum_v sqrt(theta_jv theta_kv)."""
    for j in range(out.shape[0]):
        for k in range(out.shape[0]):
            out[j, k] = 0.0
    add_products(roots, out)
    for j in range(out.shape[0]):
        for k in range(j):
            if out[j, k] > SMALLEST_SUM:
                result = math.log(out[j, k])
            else:
                result = log_product_of_roots(log_probs[j], log_probs[k])
            out[j, k] = out[k, j] = min(result, 0.0)


@njit_loop
def compare_bits(bits, out):
    """Write log BC of independent columns of 0 and 1."""
    for j in range(out.shape[0]):
        out[j, j] = 0.0
        for k in range(j):
            total = 0.0
            for d in range(0, bits.shape[1], 2):
                zero, one = 0.5 * (bits[j, d] + bits[k, d]), 0.5 * (bits[j, d + 1] + bits[k, d + 1])
                total += max(zero, one) + math.log1p(math.exp(-abs(zero - one)))
            out[j, k] = out[k, j] = min(total, 0.0)
