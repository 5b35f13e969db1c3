"""Markov chain of the hierarchical Pitman-Yor language model."""

from __future__ import annotations

from skdp.language._ngram._state import NgramState
from skdp.processes._franchise_sampler import FranchiseSampler


class NgramSampler(FranchiseSampler):
    """Markov chain of the hierarchical Pitman-Yor language model over an `NgramTrie`."""

    def state(self) -> NgramState:
        """Return a read-only view of the state."""
        return NgramState(self)
