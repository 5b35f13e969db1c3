"""The weights of the rules of a grammar."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RuleWeights(NamedTuple):
    """Natural logs of the weights of whole rules, including the choice of their type.

    Weights need not sum to 1, and differ by factors as large as e^10000 in variational inference.
    """

    log_root: NDArray[np.float64]  # (S,), preterminals come first, S = P + C
    log_emission: NDArray[np.float64]  # (P, V)
    log_binary: NDArray[np.float64]  # (C, S, S), parent, left child, right child
    n_preterminals: int | None  # P: the first P symbols emit, others branch; None: all do both

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
