"""Parts of a model that users pass: their names, and checks of their interface."""

from __future__ import annotations

from typing import Any

from skdp.emissions._parts import check_part, make_part_for, resolve_part
from skdp.emissions._protocol import EmissionSampler
from skdp.sequence._durations._negative_binomial import NegativeBinomialDuration
from skdp.sequence._durations._poisson import PoissonDuration
from skdp.sequence._durations._protocol import DurationSampler
from skdp.sequence._similarities._emission import EmissionSimilarity
from skdp.sequence._similarities._gaussian import GaussianSimilarity
from skdp.sequence._similarities._protocol import SimilaritySampler

__all__ = ["DURATIONS", "SIMILARITIES", "check_part", "make_part", "resolve_part"]

SIMILARITIES = {"gaussian": GaussianSimilarity, "emission": EmissionSimilarity}
DURATIONS = {"poisson": PoissonDuration, "negative_binomial": NegativeBinomialDuration}
"""Classes by the names of similarities and durations, which stand for default settings."""

_PROTOCOLS: dict[str, type] = {
    "emission": EmissionSampler,
    "similarity": SimilaritySampler,
    "duration": DurationSampler,
}
"""Protocol of the sampler of a part, by parameter."""


def make_part(part: Any, name: str, *args: Any) -> Any:
    """Return ``part.make_sampler(*args)``; raise TypeError if it lacks the protocol of `name`."""
    return make_part_for(_PROTOCOLS[name], part, name, *args)
