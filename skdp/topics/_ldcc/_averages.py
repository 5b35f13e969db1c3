"""Means over the kept sweeps of a chain with labels of two kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.inference._alignment import align_labels
from skdp.topics._shared._averages import TopicAverages


class CoClusterAverages(TopicAverages):
    """Means over the kept sweeps, aligned by word-topics, then document-topics by alpha_y / A_y."""

    def _align(self, sampler: Any, components: NDArray[np.float64]) -> None:
        super()._align(sampler, components)
        if sampler.clusters_trade_places:
            shares = (
                _shares(self.sums["segment_topic_prior"]),
                _shares(sampler.segment_topic_prior),
            )
            self._reorder(align_labels(*shares), sampler.cluster_axes)


def _shares(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows / rows.sum(axis=1, keepdims=True)
