"""Means over the kept sweeps of a chain over partitions."""

from __future__ import annotations

from typing import Any, Self
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from skdp.topics._shared._averages import TopicAverages


class DistributedAverages(TopicAverages):
    """Means over the kept sweeps of a chain over partitions; means of documents stay there."""

    def __init__(self, *, is_lasting: bool = False) -> None:
        super().__init__()
        self.is_lasting = is_lasting  # otherwise for the current state only, until `drop`
        self._key = uuid4().hex

    def add(self, sampler: Any) -> None:
        """Add the current state to the means."""
        self._sampler = sampler
        super().add(sampler)
        sampler.add_to_parts(self._key)

    def _reorder(self, order: NDArray[np.intp], axes: dict[str, int]) -> bool:
        has_moved = super()._reorder(order, axes)
        if has_moved:
            self._sampler.reorder(self._key, axes, order)
        return has_moved

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_sampler"}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self)()
        other.n, other.components = self.n, self.components.copy()
        other.sums = {name: values.copy() for name, values in self.sums.items()}
        other.attach(self._sampler)
        self._sampler.fork_sums(self._key, other._key)
        return other

    def attach(self, sampler: Any) -> None:
        """Continue with a restored chain."""
        self._sampler = sampler

    def means(self, *, in_place: bool) -> dict[str, Any]:
        """Return the means, including those of documents and segments, which stay in place."""
        others = self._sampler.means_of_parts(self._key, self.n, in_place=in_place)
        return {**super().means(in_place=in_place), **others}

    def drop(self) -> None:
        """Drop the sums of documents, unless they are lasting."""
        if not self.is_lasting:
            self._sampler.forget_sums(self._key)
