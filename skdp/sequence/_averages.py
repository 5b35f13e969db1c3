"""Means over the kept sweeps of a chain of a hidden Markov model: there are none."""

from __future__ import annotations

from typing import Any


class NoAverages:
    """Hidden Markov models are kept as samples: means of them are no hidden Markov models."""

    def add(self, sampler: Any) -> None:
        """Take nothing."""
