r"""Binary paths of a Markov Indian buffet.

| name | shape | meaning |
|---|---|---|
| ptr | (n + 1,) int64 | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| priors | (3, 2) | switching on: q for off; staying on: Beta; first steps count as after off |
| mass | float | alpha |
| counts | (K, 3, 2) int64 | numbers of steps off and on: at first, after off, after on |
| rng | (4,) uint64 | stream, advanced in place |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_loop
from skdp._numeric._random import draw_beta, draw_normal, draw_poisson, next_double
from skdp.sequence._factorial._kernels_block import LARGEST, SMALLEST
from skdp.sequence._factorial._kernels_evidence import log_weight_of_path
from skdp.sequence._factorial._kernels_joint import AFTER_OFF, AFTER_ON, FIRST


@njit_loop
def log_weight_of_paths(counts, priors):
    """Return the total log weight of paths that are ever on, without their mass."""
    result = 0.0
    for f in range(counts.shape[0]):
        result += log_weight_of_path(counts[f], priors, True)
    return result


@njit_loop
def draw_buffet(ptr, priors, mass, counts, bits, rng):
    """Draw paths; return how many are ever on, or -1 without room. Outputs must be 0 on entry."""
    q = priors[AFTER_OFF, 0]
    n = 0
    for s in range(ptr.shape[0] - 1):
        for t in range(ptr[s], ptr[s + 1]):
            is_first = t == ptr[s]
            for f in range(n):
                row = FIRST if is_first else (AFTER_ON if bits[t - 1, f] == 1 else AFTER_OFF)
                if row == AFTER_ON:
                    off = priors[row, 0] + counts[f, row, 0]
                    on = priors[row, 1] + counts[f, row, 1]
                else:  # odds m to r + q
                    on = counts[f, FIRST, 1] + counts[f, AFTER_OFF, 1] + 0.0
                    off = q + counts[f, FIRST, 0] + counts[f, AFTER_OFF, 0]
                bit = 1 if next_double(rng) * (on + off) < on else 0
                bits[t, f] = bit
                counts[f, row, bit] += 1
            n_new = draw_poisson(mass * q / (q + t), rng)
            if n + n_new > bits.shape[1]:
                return -1
            for f in range(n, n + n_new):
                bits[t, f] = 1
                counts[f, FIRST, 0] += s
                counts[f, AFTER_OFF, 0] += t - s
                if is_first:
                    counts[f, FIRST, 1] += 1
                else:
                    counts[f, AFTER_OFF, 0] -= 1
                    counts[f, AFTER_OFF, 1] += 1
                    counts[f, FIRST, 0] += 1
            n += n_new
    return n


@njit_loop
def draw_idle(level, n_steps, priors, mass, scales, on_probs, weights, rng):
    """Draw factors that are never on and switch on with a > `level`; return their number, or -1 if
    too many. They are points of a Poisson process of density mass q a^-1 (1 - a)^(q - 1 + N).
    """
    q = priors[AFTER_OFF, 0]
    n = 0
    for _ in range(draw_poisson(-mass * q * math.log(level), rng)):
        a = level ** next_double(rng)
        # Thin the process of density mass q a^-1.
        if next_double(rng) >= math.exp((q - 1.0 + n_steps) * math.log1p(-a)):
            continue
        if n == on_probs.shape[0]:
            return -1
        on_probs[n, FIRST] = on_probs[n, AFTER_OFF] = max(a, SMALLEST)
        on_probs[n, AFTER_ON] = draw_beta(priors[AFTER_ON, 1], priors[AFTER_ON, 0], rng)
        on_probs[n, AFTER_ON] = min(max(on_probs[n, AFTER_ON], SMALLEST), LARGEST)
        for d in range(weights.shape[1]):
            weights[n, d] = scales[d] * draw_normal(rng)
        n += 1
    return n
