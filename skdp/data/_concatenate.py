"""Concatenation of containers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from skdp._checks import shorten
from skdp.data._ragged import Ragged, read_parts

Container = TypeVar("Container", bound=Ragged)


def concatenate(containers: Iterable[Container]) -> Container:
    """Return the samples of several containers in one container.

    Parameters
    ----------
    containers : list of SegmentedCorpus, of SequencePanel or of TokenSequences
        Containers of one kind with the same number of features.

    Returns
    -------
    container of the same kind
        The samples of the first container, then of the second, and so on. If any corpus has parts,
        a document of a corpus without them is one part.

    Raises
    ------
    TypeError
        If `containers` is not a list of containers of one kind.
    ValueError
        If it is empty, or numbers of features differ: columns of observations, or words of the
        vocabulary. The same word must have the same id in all of them. Also if columns of panels
        differ in name or order.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.data import SequencePanel, concatenate
    >>> first = SequencePanel.from_sequences([np.zeros((3, 2)), np.ones((1, 2))])
    >>> second = SequencePanel.from_sequences([np.full((2, 2), 5.0)])
    >>> concatenate([first, second])
    <SequencePanel of 3 sequences, 6 observations, 2 features>
    """
    what = "containers of one kind, such as SequencePanel"
    if isinstance(containers, Ragged):
        raise TypeError(
            f"containers must be a list of {what}, got a single {type(containers).__name__}."
        )
    parts = read_parts(containers, "containers", what)
    if not parts:
        raise ValueError("containers must hold at least one container, got none.")
    first = parts[0]
    for i, part in enumerate(parts):
        if not isinstance(part, Ragged) or type(part) is not type(first):
            raise TypeError(
                f"containers must be a list of {what}: container {i} is of type "
                f"{type(part).__name__}, container 0 of type {type(first).__name__}."
            )
        if part.n_features != first.n_features:
            raise ValueError(
                f"containers must have the same number of features: container {i} has "
                f"{part.n_features}, but container 0 has {first.n_features}."
            )
        if _names(part) != _names(first):
            raise ValueError(
                f"containers must have the same names of columns in the same order: container {i} "
                f"has {shorten(_names(part))}, but container 0 has {shorten(_names(first))}."
            )
    return type(first)._join_all(parts)


def _names(container: Ragged) -> list[str] | None:
    """Return the names of the columns of a panel, None if it has none."""
    names = getattr(container, "feature_names", None)
    return None if names is None else names.tolist()
