"""Random rows from the predictive density of stored samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from skdp._checks import check_count
from skdp._numeric._random import make_seed_sequence
from skdp._numeric._typing import Floats


class DrawsRows(Protocol):
    """Protocol of a stored sample that can generate rows."""

    def sample(self, n_rows: int, rng: np.random.Generator) -> Floats:
        """Return independent rows."""


def draw_rows(
    models: Sequence[DrawsRows], n_samples: Any, n_columns: int, random_state: Any
) -> Floats:
    """Return independent rows, each given one of the models at random."""
    n_samples = check_count(n_samples, "n_samples", at_least=1)
    rng = np.random.default_rng(make_seed_sequence(random_state))
    which = rng.integers(len(models), size=n_samples)
    out = np.empty((n_samples, n_columns))
    for s in np.unique(which):
        rows = np.flatnonzero(which == s)
        out[rows] = models[s].sample(len(rows), rng)
    return out
