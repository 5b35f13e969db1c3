"""Distributions of observations given a state: shared by sequences and mixtures."""

from skdp._random import make_generator
from skdp.emissions._autoregressive import AutoregressiveEmission
from skdp.emissions._bernoulli import BernoulliEmission
from skdp.emissions._binary_factors import BinaryFactorEmission
from skdp.emissions._categorical import CategoricalEmission
from skdp.emissions._gaussian import GaussianEmission
from skdp.emissions._independent import IndependentEmissions
from skdp.emissions._multinomial import MultinomialEmission
from skdp.emissions._poisson import PoissonEmission
from skdp.emissions._protocol import (
    CollapsedEmission,
    ComparableEmission,
    EmissionModel,
    EmissionSampler,
)
from skdp.emissions._student_t import StudentTEmission

__all__ = [
    "AutoregressiveEmission",
    "BernoulliEmission",
    "BinaryFactorEmission",
    "CategoricalEmission",
    "CollapsedEmission",
    "ComparableEmission",
    "EmissionModel",
    "EmissionSampler",
    "GaussianEmission",
    "IndependentEmissions",
    "MultinomialEmission",
    "PoissonEmission",
    "StudentTEmission",
    "make_generator",
]
