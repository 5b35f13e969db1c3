"""The state of a fit: its runs, and the conditions for another fit to continue them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class FitState:
    """The runs of a fit, which another fit can continue."""

    runs: list[Any]  # Markov chains, or ascents from different starts
    root: np.random.SeedSequence  # source of all random streams of the fit
    parameters: dict[str, Any] = field(default_factory=dict)  # those that the runs depend on
    digest: str = ""  # hash of the data
    is_torn: bool = False  # a step was interrupted, so that no fit can continue from there
