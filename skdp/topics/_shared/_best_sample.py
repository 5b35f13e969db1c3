"""The representative sample of a chain whose number of topics varies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


class BestSample:
    """The kept sample with the highest log joint; topics are sorted by their number of words.

    Topics with seed words or given words come first, in order. Means over samples would mix topics:
    those of samples with different numbers of topics do not correspond.
    """

    def __init__(self) -> None:
        self.log_joint = -math.inf
        self.shown: dict[str, Any] = {}

    def add(self, sampler: Any) -> None:
        """Store the current state if its log joint is the highest so far."""
        log_joint = sampler.log_joint()
        if log_joint <= self.log_joint:
            return
        self.log_joint = log_joint
        sizes = sampler.word_counts.sum(axis=1, dtype=np.float64)
        sizes[: sampler.n_seeded] = np.inf
        order = np.argsort(-sizes, kind="stable")
        doc_topic, segment_topic = sampler.shares()
        self.shown = {
            "components": sampler.components()[order],
            "doc_topic": doc_topic[:, order],
            "segment_topic": segment_topic[:, order],
            "weights": sampler.weights[order],
            "doc_topic_prior": sampler.doc_topic_prior[order],
            **sampler.shown(),
        }

    def means(self, *, in_place: bool) -> dict[str, Any]:
        """Return the stored attributes; `in_place` avoids copies."""
        return {
            f"{name}_": value if in_place or isinstance(value, float) else value.copy()
            for name, value in self.shown.items()
        }
