"""What a fit learns from: contexts, each once, and the outcomes seen in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints, Places
from skdp.data._categories import Column


@dataclass(frozen=True, eq=False)
class Observations:
    """Distinct contexts, and for each observation its context and outcome.

    Attributes
    ----------
    codes : (U, D) array of int32
        Categories of the contexts, by number; without columns if similarities are given.
    similarities : (U, U) array or None
        Of the contexts, where they do not follow from codes.
    context_of, outcomes : (n,) arrays
        Context and outcome of each observation.
    classes : (X,) array
        Possible outcomes.
    columns : list of Column or None
        The categories that codes stand for, where there are codes.
    contexts : (U, n_features) array or None
        The contexts themselves, where similarities to them will have to be computed.
    """

    codes: Ints
    similarities: Floats | None
    context_of: Places
    outcomes: Places
    classes: NDArray[Any]
    columns: list[Column] | None = None
    contexts: NDArray[Any] | None = None
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_made": {}}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what follows from the observations alone, made once for all chains."""
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
        """Return to which group of observations, that may link to each other, each belongs."""
        return self.outcomes if by_outcome else np.zeros_like(self.outcomes)


def count_pairs(
    firsts: NDArray[np.integer], seconds: NDArray[np.integer], n_firsts: int, n_seconds: int
) -> Floats:
    """Return how often numbers occur together, (n_firsts, n_seconds)."""
    flat = firsts.astype(np.int64) * n_seconds + seconds
    counts = np.bincount(flat, minlength=n_firsts * n_seconds)
    return counts.reshape(n_firsts, n_seconds).astype(np.float64)
