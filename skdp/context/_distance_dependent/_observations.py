"""Training observations: the distinct contexts and the outcomes observed in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints, Places
from skdp.data._categories import Column


@dataclass(frozen=True, eq=False)
class ContextObservations:
    """Distinct contexts, and the context and outcome of each observation."""

    codes: Ints  # (U, D), of categories; no columns if similarities are given
    similarities: Floats | None  # (U, U), unless they follow from the codes
    context_of: Places  # (n,)
    outcomes: Places  # (n,)
    classes: NDArray[Any]  # (X,), possible outcomes
    columns: list[Column] | None = None  # the categories of the codes
    contexts: NDArray[Any] | None = None  # (U, n_features), if needed later
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_made": {}}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a result that depends on the observations only, computed once for all chains."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    @property
    def n_outcomes(self) -> int:
        """Number of possible outcomes X."""
        return len(self.classes)

    @property
    def n_contexts(self) -> int:
        """Number of distinct contexts U."""
        return len(self.codes)

    @property
    def repeats(self) -> Places:
        """Number of observations of each context, (U,)."""
        return np.bincount(self.context_of, minlength=self.n_contexts)

    def groups(self, *, by_outcome: bool) -> Places:
        """Return the group of each observation; only members of a group may link to each other."""
        return self.outcomes if by_outcome else np.zeros_like(self.outcomes)


def count_pairs(
    firsts: NDArray[np.integer], seconds: NDArray[np.integer], n_firsts: int, n_seconds: int
) -> Floats:
    """Return how often pairs of numbers occur together, (n_firsts, n_seconds)."""
    flat = firsts.astype(np.int64) * n_seconds + seconds
    counts = np.bincount(flat, minlength=n_firsts * n_seconds)
    return counts.reshape(n_firsts, n_seconds).astype(np.float64)
