"""Chinese restaurants by enumeration, in plain Python and in exact or 50-digit arithmetic."""

from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp, log, prod

import numpy as np
from exact.oracles.quadrature import beta_quadrature
from exact.oracles.segmented import rising, stirling


def stirling_columns(n: int, n_columns: int, a: Fraction) -> list[Fraction]:
    """Return S^n_0, ..., S^n_{n_columns - 1}, by the recursion in integers."""
    p, q = a.numerator, a.denominator
    row = [1] + [0] * (n_columns - 1)  # entry t is q^(i - t) S^i_t
    for i in range(n):
        shifted = [0, *row[:-1]]
        row = [before + (q * i - p * t) * here for t, (before, here) in enumerate(
            zip(shifted, row, strict=True)
        )]  # fmt: skip
    return [Fraction(value * q**t, q**n) for t, value in enumerate(row)]


def stirling_diagonals(n: int, n_diagonals: int, a: Fraction) -> list[Fraction]:
    """Return S^n_n, S^n_{n-1}, ..., S^n_{n - n_diagonals + 1}, by the recursion in integers."""
    p, q = a.numerator, a.denominator
    diagonals = [1] + [0] * (n_diagonals - 1)  # entry d is q^d S^i_{i-d}
    for i in range(n):
        updated = diagonals[:]
        for d in range(1, n_diagonals):
            t = i + 1 - d
            updated[d] += (q * i - p * t) * diagonals[d - 1] if t > 0 else 0
        diagonals = updated
    return [Fraction(value, q**d) for d, value in enumerate(diagonals)]


def stirling_row(n: int, a: Decimal, digits: int = 50) -> np.ndarray:
    """Return S^n_0, ..., S^n_n as decimal numbers: sums and products of positive ones."""
    with localcontext(prec=digits, Emax=10**9, Emin=-(10**9)):
        row = np.array([Decimal(1)])
        for i in range(n):
            weight = np.array([i - a * t for t in range(i + 1)])
            row = np.append(weight * row, Decimal(0)) + np.insert(row, 0, Decimal(0))
    return row


def half_stirling_ratio(n: int, t: int) -> Fraction:
    """Return S^n_t / S^n_{t-1} for a = 1/2, whose S^n_t has a closed form. S^n_t = (2n - t - 1)! /
    ((t - 1)! (n - t)! 4^(n - t))."""
    return Fraction(4 * (n - t + 1), (t - 1) * (2 * n - t))


def set_partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Yield every seating of n customers, tables numbered in the order of their opening."""
    if n == 0:
        yield ()
        return
    for seats in set_partitions(n - 1):
        for seat in range(max(seats, default=-1) + 2):
            yield (*seats, seat)


def seating_probability(seats: Sequence[int], a: float, b: float) -> float:
    """Return the product of the conditional probabilities of equation (2.9)."""
    probability = 1.0
    for i, seat in enumerate(seats):
        if i == 0:
            continue
        earlier = seats[:i]
        n_tables, size = len(set(earlier)), earlier.count(seat)
        weight = size - a if size else b + a * n_tables
        probability *= weight / (b + i)
    return probability


def table_count_posterior(
    counts: Sequence[int], base: Sequence[float], a: float, b: float
) -> dict[tuple[int, ...], float]:
    """Return p(t | n) of every vector of table counts, equation (3.3)."""
    ranges = [range(1, n + 1) if n else range(1) for n in counts]
    weights = {}
    for t in product(*ranges):
        # (b | a)_T without its first factor b, common to all, so that b may be 0 or negative.
        weights[t] = rising(b + a, sum(t) - 1, a) * prod(
            stirling(n, m, a) * h**m for n, m, h in zip(counts, t, base, strict=True)
        )
    total = sum(weights.values())
    return {t: weight / total for t, weight in weights.items()}


def log_concentration_posterior(
    b: float, customers: Sequence[int], tables: Sequence[int], a: float, prior: tuple[float, float]
) -> float:
    """Return log p(b | N, T) up to a constant."""
    shape, rate = prior
    value = (shape - 1.0) * log(b) - rate * b
    for n, t in zip(customers, tables, strict=True):
        value += sum(log(b + a * m) for m in range(t))
        value -= sum(log(b + i) for i in range(n))
    return value


def concentration_moment(function, *posterior_arguments) -> float:
    """Return E[function(b)] by quadrature over log b."""
    grid = np.linspace(log(1e-12), log(1e5), 40_001)
    logs = [log_concentration_posterior(exp(x), *posterior_arguments) + x for x in grid]
    weights = np.exp(np.array(logs) - max(logs))
    values = np.array([function(exp(x)) for x in grid])
    return float((weights * values).sum() / weights.sum())


def discount_moment(
    power: int,
    customers: Sequence[Sequence[int]],
    tables: Sequence[Sequence[int]],
    concentrations: Sequence[float],
    prior: tuple[float, float],
) -> float:
    """Return E[a^power] given customers and tables (n_restaurants, n_dishes). The likelihood is a
    polynomial in a, so Gauss's rule is exact: up to degree 127."""
    nodes, weights = beta_quadrature(*prior, n_nodes=64)
    for N, T, b in zip(customers, tables, concentrations, strict=True):
        weights = weights * rising(b, sum(T), nodes) / rising(b, sum(T))
        for n, t in zip(N, T, strict=True):
            weights = weights * [stirling(n, t, a) / stirling(n, t, 0.0) for a in nodes.tolist()]
    return float((weights * nodes**power).sum() / weights.sum())


def seating_evidence(n: int, t: int, a: float) -> np.ndarray:
    """Return the law of sum (1 - z) of n customers at t tables, by all seatings. A table of m
    customers has z_r ~ Bernoulli((r - 1) / (r - a)), r = 1, ..., m - 1."""
    law = np.zeros(n + 1)
    for seats in set_partitions(n):
        sizes = np.bincount(seats).tolist()
        if len(sizes) == t:
            of_seating = np.array([prod(rising(1.0 - a, m - 1) for m in sizes)])
            for r in (r for m in sizes for r in range(1, m)):
                of_seating = np.convolve(of_seating, [(r - 1) / (r - a), (1 - a) / (r - a)])
            law[: len(of_seating)] += of_seating
    return law / law.sum()


def mean_seating_evidence(n: int, t: int, a: float) -> float:
    """Return E[sum (1 - z)] = -(1 - a) d log S^n_t / da, whatever the scheme; 50 digits."""
    step, center = Decimal("1e-15"), Decimal(a)
    below, above = (stirling_row(n, center + sign * step)[t] for sign in (-1, 1))
    slope = (above - below) / (above + below) / step
    return float(-(1 - center) * slope)
