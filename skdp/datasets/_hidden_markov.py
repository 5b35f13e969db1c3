"""States and emissions of hidden Markov models, for the generators."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_GROWTH = 1.02
"""Factor of the spread of places after a place that is too close to another."""


def draw_states(
    ptr: NDArray[np.int64],
    startprob: NDArray[np.float64],
    transmat: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draw the states (n_observations,) of all sequences."""
    first, later = np.cumsum(startprob), np.cumsum(transmat, axis=1)
    first[-1] = later[:, -1] = 1.0  # regardless of rounding
    uniforms = rng.random(ptr[-1])
    states = np.empty(ptr[-1], dtype=np.int64)
    begins = set(ptr[:-1].tolist())
    for t, u in enumerate(uniforms):
        cumulated = first if t in begins else later[states[t - 1]]
        states[t] = np.searchsorted(cumulated, u, side="right")
    return states


def draw_places(
    n_states: int, n_features: int, separation: float, emission: str, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw places (n_states, n_features) with distances of at least `separation`."""
    places = np.empty((n_states, n_features))
    spread = max(separation, 1.0)
    n_placed = 0
    while n_placed < n_states:
        place = spread * rng.standard_normal(n_features)
        if emission == "poisson":
            place = np.abs(place)  # of 2 sqrt(rates)
        elif emission == "categorical":
            place -= place.mean()  # of log-odds
        gaps = np.linalg.norm(places[:n_placed] - place, axis=1)
        if np.all(gaps >= separation):
            places[n_placed] = place
            n_placed += 1
        else:
            spread *= _GROWTH
    return places


def draw_values(
    states: NDArray[np.int64], places: NDArray[np.float64], emission: str, rng: np.random.Generator
) -> tuple[str, NDArray[np.float64], NDArray[np.float64]]:
    """Return the name of the parameters, the parameters, and observations (n_observations, .)."""
    if emission == "gaussian":
        noise = rng.standard_normal((len(states), places.shape[1]))
        return "means", places, places[states] + noise
    if emission == "poisson":
        rates = (places / 2.0) ** 2
        return "rates", rates, rng.poisson(rates[states]).astype(np.float64)
    weights = np.exp(places - places.max(axis=1, keepdims=True))
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    symbols = np.empty((len(states), 1))
    for j, shares in enumerate(probabilities):
        of_state = np.flatnonzero(states == j)
        symbols[of_state, 0] = rng.choice(len(shares), size=len(of_state), p=shares)
    return "probabilities", probabilities, symbols
