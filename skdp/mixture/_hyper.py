"""Prior of partitions, and draws of its discount and concentration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric._random import draw_slice
from skdp._numeric._typing import Floats, Places

_FAR = 30.0
"""Bound on the logit of the discount: beyond it the discount is practically 0 or 1."""

_LOGS = math.log(1e-8), math.log(1e8)
"""Range of the logarithm of a drawn concentration."""


def log_partition(sizes: Places, discount: float, concentration: float) -> float:
    """Return the log probability of a partition with clusters of these sizes."""
    # (b + a) ... (b + (K - 1) a) / (b + 1)_{n - 1} prod_k (1 - a)_{n_k - 1}
    a, b, n = discount, concentration, int(sizes.sum())
    numbers, repeats = np.unique(sizes, return_counts=True)
    result = float(np.log(b + a * np.arange(1, len(sizes))).sum())
    result -= math.lgamma(b + n) - math.lgamma(b + 1.0)
    terms: Floats = repeats * (gammaln(numbers - a) - gammaln(1.0 - a))
    return result + float(terms.sum())


@dataclass(frozen=True)
class PartitionPrior:
    """Priors of discount and concentration; None: the value is fixed."""

    discount_prior: tuple[float, float] | None  # Beta(p, q)
    concentration_prior: tuple[float, float] | None  # Gamma(shape, rate)

    def draw(
        self, sizes: Places, discount: float, concentration: float, rng: NDArray[np.uint64]
    ) -> tuple[float, float]:
        """Draw the discount and concentration given the sizes of clusters."""
        if self.discount_prior is not None:
            p, q = self.discount_prior

            def log_density_of_logit(logit: float) -> float:
                if not -_FAR <= logit <= _FAR:
                    return -math.inf
                a = 1.0 / (1.0 + math.exp(-logit))
                both = p * math.log(a) - q * math.log1p(math.exp(logit))
                return log_partition(sizes, a, concentration) + both

            logit = draw_slice(
                log_density_of_logit, math.log(discount) - math.log1p(-discount), rng
            )
            discount = 1.0 / (1.0 + math.exp(-logit))
        if self.concentration_prior is not None:
            shape, rate = self.concentration_prior

            def log_density(log_b: float) -> float:
                if not _LOGS[0] <= log_b <= _LOGS[1]:
                    return -math.inf
                b = math.exp(log_b)
                return log_partition(sizes, discount, b) + shape * log_b - rate * b

            concentration = math.exp(draw_slice(log_density, math.log(concentration), rng))
        return discount, concentration
