"""Parts of a model as users give them: each in its place, and able to do what a sampler asks."""

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
"""What the names of similarities and durations stand for, with defaults."""

_PROTOCOLS: dict[str, type] = {
    "emission": EmissionSampler,
    "similarity": SimilaritySampler,
    "duration": DurationSampler,
}
"""By parameter, what the sampler of a part must be able to do."""


def make_part(part: Any, name: str, *args: Any) -> Any:
    """Return ``part.make_sampler(*args)`` if that is what a sampler needs under this name.

    Parameters
    ----------
    part : object with `make_sampler`
    name : {"emission", "similarity", "duration"}
    *args
        What `make_sampler` gets: values and the number of states of an emission (and the offsets of
        sequences, if it looks back), otherwise the number of states.

    Returns
    -------
    EmissionSampler, SimilaritySampler or DurationSampler

    Raises
    ------
    TypeError
        If the part is one of another kind.
    """
    return make_part_for(_PROTOCOLS[name], part, name, *args)
