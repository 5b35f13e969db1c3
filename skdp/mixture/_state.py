"""Read-only view of a mixture sampler's state after a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class MixtureState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def labels(self) -> NDArray[np.int64]:
        """Cluster of every row, (N,), from 0 to the number of clusters minus 1."""
        view: NDArray[np.int64] = self._sampler.components.view()
        view.flags.writeable = False
        return view

    @property
    def discount(self) -> float:
        """Discount a."""
        return float(self._sampler.discount)

    @property
    def concentration(self) -> float:
        """Concentration b."""
        return float(self._sampler.concentration)

    def log_joint(self) -> float:
        """Return log p(X, labels) given discount and concentration (parameters integrated out)."""
        return float(self._sampler.log_joint())

    def copy(self) -> MixtureState:
        """Return a state that later sweeps do not change."""
        return MixtureState(self._sampler.copy())
