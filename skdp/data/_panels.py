"""Helpers for estimators of panels: checks of y, and results split by sequence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.data._sequence_panel import SequencePanel


def check_no_lengths(
    y: Any, panel: SequencePanel, is_single: bool, sample: str = "sequence"
) -> None:
    """Raise ValueError if y holds not labels but lengths of sequences, as in other libraries."""
    n_samples = len(panel.values) if is_single else len(panel)
    try:
        lengths = np.asarray(y)
    except ValueError:  # ragged
        return
    if (
        lengths.ndim == 1
        and lengths.dtype.kind in "iu"
        and len(lengths) not in (n_samples, len(panel.values))
        and lengths.min(initial=0) >= 0
        and lengths.sum() == len(panel.values)
    ):
        raise ValueError(
            f"y holds what look like the lengths of {sample}s, and would be ignored: pass X as "
            f"SequencePanel(X, np.cumsum([0, *lengths])), or as a list of arrays, one per {sample}."
        )


def split(rows: NDArray[Any], ptr: NDArray[np.int64], is_single: bool) -> Any:
    """Return a list with the rows of each sequence, or all rows for a single array."""
    return rows if is_single else np.split(rows, ptr[1:-1])
