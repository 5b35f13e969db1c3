"""Draws of the top level of a hierarchical Dirichlet process, given the customers' dishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_gamma_prior, is_number, shorten
from skdp._numeric._random import draw_log_beta
from skdp._numeric._typing import Floats, Places
from skdp.processes._concentration import draw_concentration, draw_given_evidence
from skdp.processes._kernels_top_level import draw_tables, draw_top_weights

_SMALLEST, _LARGEST = 1e-8, 1e8
"""Bounds of concentrations."""

_FIRST = 1.0
"""Initial value of concentrations that are drawn."""


def check_concentration_or_prior(
    value: Any, prior: Any, name: str, largest: float = _LARGEST
) -> tuple[float, tuple[float, float] | None]:
    """Return a concentration and None, or its initial value and its prior if it is drawn."""
    prior = check_gamma_prior(prior, f"{name}_prior")
    if isinstance(value, str) and value == "auto":
        return _FIRST, prior
    if not is_number(value) or not _SMALLEST <= value <= largest:
        raise ValueError(
            f"{name} must be 'auto' or a number from {_SMALLEST:g} to {largest:g}, got "
            f"{shorten(value)}."
        )
    return float(value), None


def in_range(concentration: float) -> float:
    """Return the nearest concentration under which single-precision weights do not vanish."""
    return min(max(concentration, _SMALLEST), _LARGEST)


def draw_top_concentration(
    tables: Places, n_given: int, gamma: float, prior: tuple[float, float], rng: NDArray[np.uint64]
) -> float:
    """Return the next gamma of a chain that leaves its posterior given the tables invariant.

    With G given dishes the likelihood is gamma^(K - G) / (gamma + G)_m for m tables, an integral
    over x ~ Beta(gamma + G, m). Given x, gamma is Gamma(shape + K - G, rate - log x).
    """
    shape, rate = prior
    if n_given == 0:
        n_tables, n_dishes = np.array([tables.sum()]), np.array([len(tables)])
        return float(draw_concentration(n_tables, n_dishes, 0.0, gamma, shape, rate, rng))
    rate -= draw_log_beta(gamma + n_given, float(tables.sum()), rng)[0]
    return float(draw_given_evidence(shape + len(tables) - n_given, rate, rng))


@dataclass(frozen=True)
class TopPriors:
    """Gamma priors (shape, rate) of both concentrations, or None if a concentration is fixed."""

    concentration: tuple[float, float] | None
    top_concentration: tuple[float, float] | None


@dataclass(frozen=True)
class TopLevel:
    """Weights of dishes, and both concentrations."""

    weights: Floats  # (K,), beta_k, of the dishes that have customers
    rest: float  # beta_u, of all other dishes
    concentration: float  # alpha
    top_concentration: float  # gamma

    def _draw_tables(
        self, ptr: Places, dishes: NDArray[Any], rng: NDArray[np.uint64]
    ) -> tuple[Places, Places]:
        """Draw the tables; return their numbers by dish and by restaurant."""
        n_dishes = len(self.weights)
        tables, own_tables = np.zeros(n_dishes, dtype=np.int64), np.zeros(len(ptr) - 1, np.int64)
        draw_tables(
            ptr, dishes, self.concentration * self.weights, np.zeros(n_dishes, dtype=np.int64),
            tables, own_tables, rng,
        )  # fmt: skip
        return tables, own_tables

    def drawn(
        self,
        ptr: Places,
        dishes: NDArray[Any],
        priors: TopPriors,
        rng: NDArray[np.uint64],
        n_given: int = 0,
    ) -> TopLevel:
        """Return the next top level, by drawing tables, then concentrations, then weights."""
        n_dishes = len(self.weights)
        alpha, gamma = self.concentration, self.top_concentration
        tables, own_tables = self._draw_tables(ptr, dishes, rng)
        if priors.concentration is not None:
            alpha = in_range(
                draw_concentration(np.diff(ptr), own_tables, 0.0, alpha, *priors.concentration, rng)
            )
        if priors.top_concentration is not None:
            gamma = in_range(
                draw_top_concentration(tables, n_given, gamma, priors.top_concentration, rng)
            )
        tables[:n_given] += 1
        weights = np.empty(n_dishes)
        rest = draw_top_weights(tables, gamma, weights, rng)
        return TopLevel(weights, rest, alpha, gamma)

    def expected(
        self, ptr: Places, dishes: NDArray[Any], n_draws: int, rng: NDArray[np.uint64]
    ) -> TopLevel:
        """Return a top level with the weights' posterior means given dishes and concentrations."""
        top, gamma = self, self.top_concentration
        means, rest = np.zeros(len(self.weights)), 0.0
        n_first = n_draws // 5  # draws that are left out of the means
        for number in range(n_draws):
            tables, _ = top._draw_tables(ptr, dishes, rng)
            if number >= n_first:
                means += tables / (tables.sum() + gamma)
                rest += gamma / (tables.sum() + gamma)
            weights = np.empty(len(tables))
            left = draw_top_weights(tables, gamma, weights, rng)
            top = TopLevel(weights, left, self.concentration, gamma)
        n = n_draws - n_first
        return TopLevel(means / n, rest / n, self.concentration, gamma)
