"""Methods that the samplers of all discrete emissions share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._part import Part
from skdp.emissions._first_states import start_in_runs
from skdp.emissions._protocol import Coupling


class DiscreteSampler(Part):
    """A sampler that leaves out missing values, and whose sums over observations are exact."""

    starts_with_one_state = True
    is_incomplete = False
    counts: NDArray[Any]  # (..., J)

    def complete(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Do nothing: missing values are left out, since they carry no information."""

    def complete_with(
        self, states: NDArray[np.int64], key: NDArray[np.uint64], first: int = 0
    ) -> None:
        """Do nothing: missing values are left out."""

    def condition(self, states: NDArray[np.int64]) -> None:
        """Set the states of the observations; -1 marks observations without a state."""
        self.take(0, self.add_up(states, 0))

    def measure(self, states: NDArray[np.int64]) -> int:
        """Return 0: the sums are exact without further information."""
        return 0

    def add_up(self, states: NDArray[np.int64], measured: int) -> tuple[NDArray[Any], ...]:
        """Return sums over the observations, which are exactly additive over parts of the data."""
        raise NotImplementedError

    def take(self, measured: int, sums: tuple[NDArray[Any], ...]) -> None:
        """Store the sums over all observations."""
        (self.counts,) = sums

    def start(self, states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Write random initial states in runs."""
        start_in_runs(states, self.counts.shape[1], rng)

    def draw(
        self,
        states: NDArray[np.int64],
        rng: NDArray[np.uint64],
        coupling: Coupling | None = None,
    ) -> None:
        """Draw the parameters given the states."""
        self.condition(states)
        self.draw_parameters(rng)

    def draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        """Draw the parameters given the stored statistics."""
        raise NotImplementedError
