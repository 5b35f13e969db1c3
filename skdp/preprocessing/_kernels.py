r"""Shares of windows in which a random convolution of a series exceeds a threshold.

| name | symbol | shape | meaning |
|---|---|---|---|
| values | x | (N,) | one column of the steps of all sequences |
| ptr | | (n + 1,) | sequence s is steps ptr[s] to ptr[s + 1] - 1 |
| weights | w | (9,) | filter |
| dilation | d | | distance between the taps of the filter |
| signal | | (N,) | x convolved with w |
| observed | | (N,) | whether x was observed, not filled in |
| usable | | (N,) | whether enough values of the filter at a step were observed |
| least | | | share of the steps of a window that must be usable |
| n_above, n_usable | | (N + 1,) | scratch: cumulative counts |
| shares | | (W,) | output, NaN if fewer steps than `least` are usable, or none |
| starts, ends | | (W,) | window i is steps starts[i] to ends[i] - 1 |
"""

# mypy: ignore-errors

import math

from skdp._numeric._numba import njit_loop


@njit_loop
def convolve(values, ptr, weights, dilation, signal):
    """Write the dilated convolution to `signal`; the end values of a sequence go on beyond it."""
    half = weights.shape[0] // 2
    reach = half * dilation
    for s in range(ptr.shape[0] - 1):
        first, last = ptr[s], ptr[s + 1] - 1
        for t in range(first, last + 1):
            total = 0.0
            if first <= t - reach and t + reach <= last:
                for i in range(weights.shape[0]):
                    total += weights[i] * values[t + (i - half) * dilation]
            else:
                for i in range(weights.shape[0]):
                    place = t + (i - half) * dilation
                    total += weights[i] * values[min(max(place, first), last)]
            signal[t] = total


@njit_loop
def mark_usable(observed, ptr, n_taps, dilation, n_least, usable):
    """Mark in `usable` the steps at which at least `n_least` values of a filter were observed."""
    half = n_taps // 2
    for s in range(ptr.shape[0] - 1):
        first, last = ptr[s], ptr[s + 1] - 1
        for t in range(first, last + 1):
            n = 0
            for i in range(n_taps):
                n += observed[min(max(t + (i - half) * dilation, first), last)]
            usable[t] = n >= n_least


@njit_loop
def measure_shares(signal, usable, threshold, least, starts, ends, n_above, n_usable, shares):
    """Write the share of the usable steps of each window at which a signal exceeds a threshold."""
    n_above[0] = n_usable[0] = 0
    for t in range(signal.shape[0]):
        n_usable[t + 1] = n_usable[t] + usable[t]
        n_above[t + 1] = n_above[t] + (usable[t] and signal[t] > threshold)
    for i in range(starts.shape[0]):
        n = n_usable[ends[i]] - n_usable[starts[i]]
        if n > 0 and n >= least * (ends[i] - starts[i]):
            shares[i] = (n_above[ends[i]] - n_above[starts[i]]) / n
        else:
            shares[i] = math.nan
