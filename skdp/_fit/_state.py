"""The state of a fit: its runs, and the conditions for another fit to continue them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class FitState:
    """The runs of a fit, which another fit can continue.

    Attributes
    ----------
    runs : list
        Markov chains, or ascents from different starts.
    root : SeedSequence
        The source of all random streams of the fit.
    parameters : dict
        Parameters that the runs depend on.
    digest : str
        Hash of the data.
    is_torn : bool
        Whether a step of a run was interrupted, so that no fit can continue from there.
    """

    runs: list[Any]
    root: np.random.SeedSequence
    parameters: dict[str, Any] = field(default_factory=dict)
    digest: str = ""
    is_torn: bool = False
