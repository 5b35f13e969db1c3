"""Public state of a chain of the model with collocations after a sweep."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp.language._nested._state import NestedState


class CollocationState(NestedState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def _prior(self, column: int, *, words: bool) -> NDArray[np.float64]:
        values = super()._prior(column, words=words)
        return values[:1] if words else values

    @property
    def ends(self) -> NDArray[np.bool_]:
        """Whether a collocation ends after each character, (n_characters,)."""
        view = self._sampler.ends.view()
        view.flags.writeable = False
        return view

    @property
    def word_tables(self) -> NDArray[np.int64]:
        """Tables of words, (1,)."""
        return super().word_tables[:1]

    @property
    def collocation_tables(self) -> int:
        """Tables of collocations, including those of the end of a sentence."""
        return int(self._sampler.tables_of_levels()[-1])

    @property
    def collocation_discount(self) -> float:
        """Discount of collocations."""
        return float(self._sampler.prior[-1, 0])

    @property
    def collocation_concentration(self) -> float:
        """Concentration of collocations."""
        return float(self._sampler.prior[-1, 1])

    @property
    def stop_probability(self) -> float:
        """Probability that a word is the last one of a new collocation."""
        return float(self._sampler.stop_shares[0])
