"""Warnings about sentences that a grammar cannot parse."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

_N_NAMED = 10
"""Largest number of sentences that a warning names."""


def warn_of_unparsed(unparsed: NDArray[np.bool_], consequence: str, stacklevel: int) -> None:
    """Warn if there are sentences without a parse, and name the first of them.

    Parameters
    ----------
    unparsed : (n_sentences,) array of bool
        Mask over all sentences of X.
    consequence : str
        Consequence for these sentences.
    stacklevel : int
        1 is the caller of this function.
    """
    numbers = np.flatnonzero(unparsed).tolist()
    if not numbers:
        return
    named = ", ".join(map(str, numbers[:_N_NAMED])) + (", ..." if len(numbers) > _N_NAMED else "")
    warnings.warn(
        f"{len(numbers)} of {len(unparsed)} sentences have no parse under the grammar and "
        f"{consequence}: {'sentence' if len(numbers) == 1 else 'sentences'} {named}.",
        stacklevel=stacklevel + 1,
    )
