"""Layout of the symbols and rules of a grammar, with or without separate preterminals."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array, check_memory, shorten

SHARED, PRETERMINALS, CONSTITUENTS = 0, 0, 1
"""Indices of inventories of symbols: a shared one, or emitting and branching symbols."""


class RuleBlock(NamedTuple):
    """Binary rules of one type, by the inventories of their children."""

    rule_type: int
    left: int
    right: int


class GrammarLayout(NamedTuple):
    """Numbers of words and symbols of a grammar, and the places of each kind of symbol."""

    n_words: int  # V
    n_components: int  # K: constituents, or all symbols without separate preterminals
    n_preterminals: int | None  # they come first; None: every symbol both emits and branches

    @property
    def is_partitioned(self) -> bool:
        """Whether preterminals are separate symbols."""
        return self.n_preterminals is not None

    @property
    def n_emitting(self) -> int:
        """Number of symbols that emit words, P or K."""
        return self.n_components if self.n_preterminals is None else self.n_preterminals

    @property
    def n_symbols(self) -> int:
        """Number of all symbols, P + C or K."""
        return self.n_components + (self.n_preterminals or 0)

    @property
    def inventories(self) -> tuple[slice, ...]:
        """Places of the symbols of each inventory."""
        if self.n_preterminals is None:
            return (slice(0, self.n_components),)
        return slice(0, self.n_preterminals), slice(self.n_preterminals, self.n_symbols)

    @property
    def branching(self) -> slice:
        """Places of the symbols that branch."""
        return self.inventories[-1]

    @property
    def blocks(self) -> tuple[RuleBlock, ...]:
        """Binary rules: all of type 1 (0 are emissions), or of the types PP, PC, CP, CC."""
        if self.n_preterminals is None:
            return (RuleBlock(1, SHARED, SHARED),)
        pairs = product((PRETERMINALS, CONSTITUENTS), repeat=2)
        return tuple(RuleBlock(t, left, right) for t, (left, right) in enumerate(pairs))

    @property
    def n_rule_types(self) -> int:
        """Number of rule types: 2 (emission, binary) or 4 (PP, PC, CP, CC)."""
        return 4 if self.is_partitioned else 2

    @property
    def names(self) -> list[str]:
        """Labels of the symbols: S0, S1, ..., or P0, ..., C0, ..."""
        if self.n_preterminals is None:
            return [f"S{k}" for k in range(self.n_components)]
        return [
            *(f"P{k}" for k in range(self.n_preterminals)),
            *(f"C{k}" for k in range(self.n_components)),
        ]


def read_row(estimator: Any, name: str, n: int, what: str) -> NDArray[np.float64]:
    """Return a parameter as `n` positive numbers; a number stands for all of them."""
    value = getattr(estimator, name)
    row = as_array(value, name)
    if row.shape not in ((), (n,)) or row.dtype.kind not in "iuf":
        raise ValueError(
            f"{name} must be a number or {n}, one for each {what}; got {shorten(value)}."
        )
    if not np.all((row >= 1e-8) & (row <= 1e8)):
        raise ValueError(f"{name} must be positive, from 1e-8 to 1e8; got {shorten(value)}.")
    return np.full(n, row, dtype=np.float64)


def check_size(
    n_words: int, n_components: int, n_preterminals: int | None, n_grammars: int, what: str
) -> None:
    """Raise if the weights of `n_grammars` grammars would not fit into memory because of `what`."""
    n_first = n_preterminals or 0
    n_symbols = float(n_components) + n_first
    n_weights = n_components * n_symbols**2 + float(n_first or n_components) * n_words
    check_memory(
        24.0 * n_grammars * n_weights,
        f"n_components={n_components}, n_preterminals={n_preterminals}, {n_words} words (one more "
        f"than the largest id) and {what}: weights of rules",
    )
