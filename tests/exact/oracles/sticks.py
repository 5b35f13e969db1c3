"""Draws of components from stick-breaking weights, by enumeration in exact arithmetic."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb, prod


def rising(x: Fraction, n: int) -> Fraction:
    """Return x (x + 1) ... (x + n - 1)."""
    return prod((x + i for i in range(n)), start=Fraction(1))


def label_probability(
    labels: Sequence[int], n_sticks: int, a: Fraction, b: Fraction, *, truncated: bool
) -> Fraction:
    """Return E[prod_i p_{z_i}], z_i < n_sticks; the last stick may take all that is left. Stick k =
    0, 1, ... takes the share V ~ Beta(1 - a, b + (k + 1) a) of what those before it left."""
    probability = Fraction(1)
    for k in range(n_sticks - truncated):
        here, later = labels.count(k), sum(label > k for label in labels)
        probability *= rising(1 - a, here) * rising(b + (k + 1) * a, later)
        probability /= rising(1 + b + k * a, here + later)
    return probability


def truncation_distance(n: int, n_sticks: int, a: Fraction, b: Fraction) -> Fraction:
    """Return the total variation between n labels of all weights and of truncated ones."""
    distance, within = Fraction(0), Fraction(0)
    for labels in product(range(n_sticks), repeat=n):
        of_all = label_probability(labels, n_sticks, a, b, truncated=False)
        distance += abs(of_all - label_probability(labels, n_sticks, a, b, truncated=True))
        within += of_all
    return (distance + 1 - within) / 2


def probability_of_later_labels(n: int, n_sticks: int, a: Fraction, b: Fraction) -> Fraction:
    """Return E[1 - (1 - R)^n], R the rest after the sticks, by the moments of its factors."""
    total = Fraction(0)
    for m in range(1, n + 1):
        moment = Fraction(1)
        for k in range(1, n_sticks + 1):
            moment *= rising(b + k * a, m) / rising(b + 1 + (k - 1) * a, m)
        total -= comb(n, m) * (-1) ** m * moment
    return total
