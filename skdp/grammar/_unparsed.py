"""Warnings about sentences that a grammar cannot parse."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

_N_NAMED = 10
"""Largest number of sentences that a warning names."""


def warn_of_unparsed(unparsed: NDArray[np.bool_], consequence: str, stacklevel: int) -> None:
    """Warn of sentences without a parse, and name the first of them; `stacklevel` 1: the caller."""
    numbers = np.flatnonzero(unparsed).tolist()
    if not numbers:
        return
    named = ", ".join(map(str, numbers[:_N_NAMED])) + (", ..." if len(numbers) > _N_NAMED else "")
    warnings.warn(
        f"{len(numbers)} of {len(unparsed)} sentences have no parse under the grammar and "
        f"{consequence}: {'sentence' if len(numbers) == 1 else 'sentences'} {named}.",
        stacklevel=stacklevel + 1,
    )
