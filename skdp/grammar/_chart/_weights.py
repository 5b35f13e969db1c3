"""The weights of the rules of a grammar."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RuleWeights(NamedTuple):
    """Natural logs of the weights of whole rules, including the choice of their type.

    Weights are non-negative: they need not sum to 1, and may differ by factors as large as in
    variational inference (e^10000). The log of a weight of zero is -inf.

    Attributes
    ----------
    log_root : (S,) float64
        Log weight of each symbol at the root. Partitioned: preterminals come first, S = P + C.
    log_emission : (P, V) float64
        Log weight of each word under each emitting symbol.
    log_binary : (C, S, S) float64
        Log weight of left and right child under each branching symbol: parent, left, right.
    n_preterminals : int or None
        P: the first P symbols emit and have spans of length 1; the other C branch and have longer
        spans. None: every symbol emits or branches, P = C = S.
    """

    log_root: NDArray[np.float64]
    log_emission: NDArray[np.float64]
    log_binary: NDArray[np.float64]
    n_preterminals: int | None

    @property
    def n_symbols(self) -> int:
        """Number S of symbols."""
        return len(self.log_root)

    @property
    def n_emitting(self) -> int:
        """Number P of emitting symbols, which come first."""
        return len(self.log_emission)

    @property
    def first_branching(self) -> int:
        """The first of the C branching symbols, which come last."""
        return len(self.log_root) - len(self.log_binary)
