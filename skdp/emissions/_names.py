"""Emissions by name."""

from __future__ import annotations

from typing import Any

from skdp.emissions._autoregressive._emission import AutoregressiveEmission
from skdp.emissions._discrete._bernoulli import BernoulliEmission
from skdp.emissions._discrete._categorical import CategoricalEmission
from skdp.emissions._discrete._multinomial import MultinomialEmission
from skdp.emissions._discrete._poisson import PoissonEmission
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.emissions._student_t._emission import StudentTEmission

EMISSIONS: dict[str, Any] = {
    "gaussian": GaussianEmission,
    "categorical": CategoricalEmission,
    "poisson": PoissonEmission,
    "autoregressive": AutoregressiveEmission,
    "bernoulli": BernoulliEmission,
    "multinomial": MultinomialEmission,
    "student_t": StudentTEmission,
}
"""Emission classes by name; a name stands for an emission with default parameters."""
