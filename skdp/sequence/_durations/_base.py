"""Counts of segments by state and length, the statistics of the samplers of durations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_memory
from skdp._part import Part
from skdp.sequence._durations import _kernels as kernels


def check_tables(n_states: int, max_duration: int) -> None:
    """Raise if tables of durations would not fit into memory."""
    check_memory(
        64.0 * n_states * max_duration,
        f"max_duration={max_duration} with {n_states} states",
        "Time is linear in max_duration, too: set it only a little above the durations you expect.",
    )


class SegmentCounts(Part):
    """Counts of segments by state and length, the base class of both samplers."""

    def __init__(self, n_states: int, max_duration: int):
        self.max_duration = max_duration
        # Segments that lasted d = 1, ... steps, and censored ones, which lasted at least d steps.
        self.exact = np.zeros((n_states, max_duration), dtype=np.int64)
        self.at_least = np.zeros((n_states, max_duration), dtype=np.int64)
        self.counts = np.zeros(n_states)  # segments
        self.totals = np.zeros(n_states)  # their durations less 1, with censored ones drawn

    def draw(self, ptr: NDArray[Any], states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Draw the censored durations of segments, then the parameters given all durations."""
        self.take(self.add_up(ptr, states))
        self.draw_parameters(rng)

    def add_up(
        self, ptr: NDArray[Any], states: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of complete and censored segments by state and length."""
        exact, at_least = np.empty_like(self.exact), np.empty_like(self.at_least)
        kernels.count_segments(ptr, states, exact, at_least)
        return exact, at_least

    def take(self, sums: tuple[NDArray[np.int64], ...]) -> None:
        """Store the numbers of all segments."""
        self.exact, self.at_least = sums

    def draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        """Draw the censored durations of segments, then the parameters given all durations."""
        raise NotImplementedError

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the tables of the current parameters."""
        raise NotImplementedError

    def _log_density_of_lengths(self) -> float:
        log_pmf, log_survival = self.tables()
        seen, cut = self.exact > 0, self.at_least > 0
        return float(
            (self.exact[seen] * log_pmf[seen]).sum()
            + (self.at_least[cut] * log_survival[cut]).sum()
        )

    def scalars(self) -> dict[str, float]:
        """Return the mean length of segments and the share of steps in those of `max_duration`."""
        # Censored segments have their observed lengths.
        counts = self.exact.sum(axis=0) + self.at_least.sum(axis=0)
        lengths = np.arange(1, self.max_duration + 1)
        n_steps = counts @ lengths
        return {
            "mean_duration": float(n_steps / max(counts.sum(), 1)),
            "longest_share": float(counts[-1] * self.max_duration / max(n_steps, 1)),
        }
