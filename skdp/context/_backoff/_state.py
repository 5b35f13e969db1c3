"""Public state of a chain of a back-off classifier after a sweep."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from skdp._numeric._typing import Ints
from skdp.processes._franchise_sampler import FranchiseSampler
from skdp.processes._franchise_state import FranchiseState


class BackoffState(FranchiseState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it.

    Lists have an array for each level, the broadest first: the root, if there is one, then the
    levels in their order.
    """

    @property
    def outcomes(self) -> list[Ints]:
        """The outcome of each cell, as an index into the classes."""
        return self._by_depth(self._sampler.context_index.outcome)

    @property
    def contexts(self) -> list[NDArray[Any]]:
        """The context of each cell, (n_cells, columns so far)."""
        tree = self._sampler.context_index
        return [tree.contexts_at(m)[places] for m, places in enumerate(self._places())]


class BackoffSampler(FranchiseSampler):
    """Markov chain of the back-off classifier; its contexts are a `ContextTree`."""

    def state(self) -> BackoffState:
        """Return a read-only view of the state."""
        return BackoffState(self)
