"""Generalized Stirling numbers of millions of customers at few tables, in decimal arithmetic.

Sums over all customers are those of Euler and Maclaurin: the first terms one by one, an integral,
and derivatives at the ends. What cancels, some two digits a table, is made up for by more digits.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb, factorial

FIRST = 200  # terms that are added one by one
ORDERS = 40  # derivatives: the first one left out is below (80 / (2 pi 200))^80, or 1e-95


def bernoulli_numbers(n: int) -> list[Fraction]:
    """Return B_0, ..., B_n."""
    numbers: list[Fraction] = []
    for m in range(n + 1):
        total = sum((comb(m + 1, i) * b for i, b in enumerate(numbers)), Fraction(0))
        numbers.append(((m == 0) - total) / (m + 1))
    return numbers


CORRECTIONS = [
    b / factorial(2 * r) for r, b in enumerate(bernoulli_numbers(2 * ORDERS)[::2]) if r > 0
]


def to_decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def power_sum(n: int, k: int) -> Decimal:
    """Return the sum of i^-k over i = 1, ..., n - 1."""
    low, high = Decimal(min(FIRST, n)), Decimal(n)
    total = sum((Decimal(i) ** -k for i in range(1, int(low))), Decimal(0))
    if k == 1:
        total += (high / low).ln()
    else:
        total += (low ** (1 - k) - high ** (1 - k)) / (k - 1)
    total += (low**-k - high**-k) / 2
    for r, correction in enumerate(CORRECTIONS, start=1):
        rising = Decimal(factorial(k + 2 * r - 2) // factorial(k - 1))
        power = 1 - k - 2 * r
        total += to_decimal(correction) * rising * (low**power - high**power)
    return total


def log_rising_factorial(x: Decimal, n: int) -> Decimal:
    """Return log of \\|x (x + 1) ... (x + n - 1)\\|, n > 200."""
    product = Decimal(1)
    for i in range(FIRST):
        product *= x + i
    low, high = x + FIRST, x + n
    total = abs(product).ln() + high * high.ln() - high - low * low.ln() + low
    total += (low.ln() - high.ln()) / 2
    for r, correction in enumerate(CORRECTIONS, start=1):
        power = 1 - 2 * r
        total += to_decimal(correction) * factorial(2 * r - 2) * (high**power - low**power)
    return total


def stirling_ratios_far(n: int, t_max: int, a: Decimal) -> list[Decimal]:
    """Return S^n_t / S^n_{t-1} for t = 2, ..., t_max, to 25 digits for t_max <= 40. Powers of a
    cancel, too: a is 0, or .05 and more. For a = 0, S^n_t / (n - 1)! is the elementary symmetric
    polynomial of degree t - 1 of 1, 1/2, ..., 1/(n-1), by Newton's identities. Otherwise a^t t!
    S^n_t is the sum over j <= t of (-1)^j C(t, j) (-j a) (1 - j a) ... (n - 1 - j a)."""
    with localcontext() as context:
        context.prec = 140
        if a == 0:
            sums = [power_sum(n, k) for k in range(1, t_max)]
            numbers = [Decimal(1)]
            for m in range(1, t_max):
                terms = [(-1) ** k * numbers[m - 1 - k] * sums[k] for k in range(m)]
                numbers.append(sum(terms, Decimal(0)) / m)
        else:
            scale = log_rising_factorial(-a, n)
            rising = [Decimal(0)]
            for j in range(1, t_max + 1):
                factors_below_zero = -int((-j * a).to_integral_value(rounding="ROUND_FLOOR"))
                size = (log_rising_factorial(-j * a, n) - scale).exp()
                rising.append(-size if factors_below_zero % 2 else size)
            numbers = []
            for t in range(1, t_max + 1):
                terms = [(-1) ** j * comb(t, j) * rising[j] for j in range(t + 1)]
                numbers.append(sum(terms, Decimal(0)) / (a**t * factorial(t)))
        return [+(numbers[i] / numbers[i - 1]) for i in range(1, t_max)]
