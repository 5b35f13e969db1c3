"""The weights of the rules of a grammar."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RuleWeights(NamedTuple):
    """Natural logs of the weights of whole rules, the choice of their type included.

    Any non-negative weights: they need not sum to 1, and may be as far apart as variational
    inference puts them (e^10000). A weight of zero is -inf.

    Attributes
    ----------
    log_root : (S,) float64
        Of each symbol at the root. Partitioned: preterminals come first, S = P + C.
    log_emission : (P, V) float64
        Of each word under each symbol that emits.
    log_binary : (C, S, S) float64
        Of left and right child under each symbol that branches: parent, left, right.
    n_preterminals : int or None
        P: the first P symbols emit, and have spans of length 1, the other C branch, and have longer
        ones. None: every symbol emits or branches, P = C = S.
    """

    log_root: NDArray[np.float64]
    log_emission: NDArray[np.float64]
    log_binary: NDArray[np.float64]
    n_preterminals: int | None

    @property
    def n_symbols(self) -> int:
        """S."""
        return len(self.log_root)

    @property
    def n_emitting(self) -> int:
        """P, the symbols that emit: the first ones."""
        return len(self.log_emission)

    @property
    def first_branching(self) -> int:
        """The first of the C symbols that branch: they are the last ones."""
        return len(self.log_root) - len(self.log_binary)
