"""What the chain asks of durations: how long states last in hidden semi-Markov models."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray


class DurationModel(Protocol):
    """Durations with known parameters, one distribution for each state."""

    max_duration: int

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log P(D = d) and log P(D >= d) for d = 1 to max_duration, (J, max_duration)."""

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a duration for each state, (n,)."""

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""


class DurationSampler(Protocol):
    """Parameters of the durations of all states, as a part of a chain."""

    max_duration: int

    def start(self, rng: NDArray[np.uint64]) -> None:
        """Draw first parameters from their prior."""

    def draw(self, ptr: NDArray[Any], states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Draw the parameters given the states, (N,), of the sequences that `ptr` cuts."""

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log P(D = d) and log P(D >= d) for d = 1 to max_duration, (J, max_duration)."""

    def log_density(self) -> float:
        """Return log p(lengths of the segments, parameters) of the states last given."""

    def scalars(self) -> dict[str, float]:
        """Return what the trace records."""

    def model(self) -> DurationModel:
        """Return the posterior mean of the parameters given the states last given."""

    def copy(self) -> Self:
        """Return the same parameters in arrays of their own."""
