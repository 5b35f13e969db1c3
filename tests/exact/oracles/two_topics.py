"""The probability of documents of hundreds of words under two given topics, in closed form.

With two topics the words of a segment matter through the sum over all z with m words of topic 0,

    e_m = [x^m] prod_i (phi_0w x + phi_1w),

so that sums over states are sums over pairs of counts (of topic 0, of topic 1): of words, of
customers N, of tables T. Symbols as in ``segmented.py``. Numbers are scaled to stay in the range of
a double: instead of S^N_T its multiple s(N, T) = S^N_T T! / N!, and binomials for the rest."""

from collections.abc import Sequence
from functools import reduce

import numpy as np
from scipy.signal import convolve2d
from scipy.special import binom


def evidence(
    segments: Sequence[Sequence[int]],
    phi: np.ndarray,
    alpha: Sequence[float],
    discount: float | None = None,
    concentration: float | None = None,
    model: str = "segmented",
) -> float:
    """p(w) of a document; model "lda": its words as a bag, without discount and concentration."""
    if model == "lda":
        words = sums_over_topics([w for segment in segments for w in segment], phi)
        return at_document(words, alpha)
    if model == "sequential":
        tables = np.ones((1, 1))  # of the segment below, which are customers here
        for segment in reversed(segments):
            customers = convolve2d(sums_over_topics(segment, phi), tables)
            tables = sums_over_seatings(customers, discount, concentration)
        return at_document(tables, alpha)
    parts = [
        sums_over_seatings(sums_over_topics(segment, phi), discount, concentration)
        for segment in segments
    ]
    return at_document(reduce(convolve2d, parts, np.ones((1, 1))), alpha)


def sums_over_topics(words: Sequence[int], phi: np.ndarray) -> np.ndarray:
    """Return sums of p(w | z) over all z with given numbers of words of each topic."""
    sums = np.ones(1)
    for w in words:
        sums = np.convolve(sums, [phi[1, w], phi[0, w]])
    out = np.zeros((len(sums), len(sums)))
    m = np.arange(len(sums))
    out[m, len(words) - m] = sums
    return out


def sums_over_seatings(customers: np.ndarray, a: float, b: float) -> np.ndarray:
    """Return sums over customers of their weight times p(their tables), by numbers of tables. The
    latter is (b|a)_T / (b)_N prod_k S^{N_k}_{T_k}, with T = T_0 + T_1 and N = N_0 + N_1."""
    n = np.arange(len(customers))
    total = n[:, None] + n
    s = scaled_stirling(len(customers) - 1, a)
    rising = over_factorial(b, 1.0, total.max())[total]
    tables = s.T @ (customers / binom(total, n[:, None]) / rising) @ s
    return tables * binom(total, n[:, None]) * over_factorial(b, a, total.max())[total]


def at_document(tables: np.ndarray, alpha: Sequence[float]) -> float:
    """Sum tables, each weighed by Beta(alpha + T) / Beta(alpha)."""
    n = np.arange(len(tables))
    total = n[:, None] + n
    first, second = (over_factorial(x, 1.0, len(n) - 1) for x in alpha)
    weight = np.outer(first, second) / over_factorial(sum(alpha), 1.0, total.max())[total]
    return float(np.sum(tables * weight / binom(total, n[:, None])))


def over_factorial(x: float, step: float, largest: int) -> np.ndarray:
    """Return (x|step)_n / n! for n = 0, ..., largest."""
    i = np.arange(largest)
    return np.concatenate([[1.0], np.cumprod((x + step * i) / (i + 1.0))])


def scaled_stirling(largest: int, a: float) -> np.ndarray:
    """Return s(n, t) = S^n_{t, a} t! / n! for all n and t up to `largest`."""
    s = np.zeros((largest + 1, largest + 1))
    s[0, 0] = 1.0
    t = np.arange(1, largest + 1)
    for n in range(largest):
        s[n + 1, 1:] = (t * s[n, :-1] + (n - a * t) * s[n, 1:]) / (n + 1.0)
    return np.tril(s)
