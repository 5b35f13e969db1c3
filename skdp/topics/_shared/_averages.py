"""Means over the kept sweeps of a chain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.inference._alignment import align_labels


class TopicAverages:
    """Means over the kept sweeps of one chain, with labels that follow the chain.

    Before a sample is added, the means are reordered to match it, except for topics that seed
    words, given words or a prior distinguish. The sampler defines `empty_sums`, `topic_axes` (the
    axes along which sums list topics) and `add_to`.
    """

    def __init__(self) -> None:
        self.n = 0
        self.components = np.empty((0, 0))
        self.sums: dict[str, NDArray[np.float64]] = {}

    def add(self, sampler: Any) -> None:
        """Add the current state to the means."""
        components = sampler.components()
        if self.n == 0:
            self.components = np.zeros_like(components)
            self.sums = sampler.empty_sums()
        else:
            self._align(sampler, components)
        self.components += components
        sampler.add_to(self.sums)
        self.n += 1

    def means(self, *, in_place: bool) -> dict[str, Any]:
        """Return the means; `in_place` ends the averaging and avoids copies."""

        def mean(total: NDArray[np.float64]) -> Any:
            if total.ndim == 0:
                return float(total / self.n)
            if in_place:
                total /= self.n
                return total
            return total / self.n

        named = {"components": self.components, **self.sums}
        return {f"{name}_": mean(total) for name, total in named.items()}

    def _align(self, sampler: Any, components: NDArray[np.float64]) -> None:
        """Reorder the means so far to match the sampler's labels."""
        if sampler.topics_trade_places:
            order = _align_unseeded(self.components, components, sampler.seeded)
            if self._reorder(order, sampler.topic_axes):
                self.components = self.components[order]

    def _reorder(self, order: NDArray[np.intp], axes: dict[str, int]) -> bool:
        """Make label ``order[k]`` of the sums label k; return whether any label changed."""
        if np.array_equal(order, np.arange(len(order))):
            return False
        for name, axis in axes.items():
            self.sums[name] = np.take(self.sums[name], order, axis=axis)
        return True


def _align_unseeded(
    old: NDArray[np.float64], new: NDArray[np.float64], seeded: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Return the order of the old topics that matches the new ones."""
    if not len(seeded):
        return align_labels(old, new)
    order = np.arange(len(new))
    others = np.setdiff1d(order, seeded)
    if len(others):
        order[others] = others[align_labels(old[others], new[others])]
    return order
