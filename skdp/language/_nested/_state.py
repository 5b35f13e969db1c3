"""Public state of a chain of the nested model after a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class NestedState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def cuts(self) -> NDArray[np.bool_]:
        """Whether a word ends after each character of all strings, (n_characters,)."""
        view = self._sampler.cuts.view()
        view.flags.writeable = False
        return view

    @property
    def word_tables(self) -> NDArray[np.int64]:
        """Tables of words after 0, 1, ... words, (word_order,)."""
        return self._sampler.tables_of_levels()[self._sampler.settings.character_order :]

    @property
    def character_tables(self) -> NDArray[np.int64]:
        """Tables of letters after 0, 1, ... symbols, (character_order,)."""
        return self._sampler.tables_of_levels()[: self._sampler.settings.character_order]

    def _prior(self, column: int, *, words: bool) -> NDArray[np.float64]:
        n = self._sampler.settings.character_order
        prior = self._sampler.prior[:, column]
        return (prior[n:] if words else prior[:n]).copy()

    @property
    def word_discounts(self) -> NDArray[np.float64]:
        """Discounts of words, (word_order,)."""
        return self._prior(0, words=True)

    @property
    def word_concentrations(self) -> NDArray[np.float64]:
        """Concentrations of words, (word_order,)."""
        return self._prior(1, words=True)

    @property
    def character_discounts(self) -> NDArray[np.float64]:
        """Discounts of letters, (character_order,)."""
        return self._prior(0, words=False)

    @property
    def character_concentrations(self) -> NDArray[np.float64]:
        """Concentrations of letters, (character_order,)."""
        return self._prior(1, words=False)

    @property
    def word_length(self) -> float:
        """Lambda of the lengths of new words; only used with length_correction="poisson"."""
        return float(self._sampler.word_length)

    @property
    def end_probability(self) -> float:
        """Share of the base that goes to the end of the sentence."""
        return float(self._sampler.base_shares[0])

    def log_joint(self) -> float:
        """Return log p(cuts, seats, learned discounts and concentrations).

        The factors of lengths are held fixed. The probability of seats is that of a sequence of
        customers; constants of the priors are left out.
        """
        return float(self._sampler.log_joint())

    def copy(self) -> NestedState:
        """Return a state that later sweeps do not change."""
        return type(self)(self._sampler.copy())
