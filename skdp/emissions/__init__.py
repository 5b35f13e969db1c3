"""Distributions of observations given a state, for sequences and mixtures."""

from skdp._numeric._random import make_generator
from skdp.emissions._autoregressive._emission import AutoregressiveEmission
from skdp.emissions._binary_factors._emission import BinaryFactorEmission
from skdp.emissions._discrete._bernoulli import BernoulliEmission
from skdp.emissions._discrete._categorical import CategoricalEmission
from skdp.emissions._discrete._multinomial import MultinomialEmission
from skdp.emissions._discrete._poisson import PoissonEmission
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.emissions._independent import IndependentEmissions
from skdp.emissions._protocol import (
    CollapsedEmission,
    ComparableEmission,
    EmissionModel,
    EmissionSampler,
)
from skdp.emissions._regression._emission import RegressionEmission
from skdp.emissions._student_t._emission import StudentTEmission

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
    "RegressionEmission",
    "StudentTEmission",
    "make_generator",
]
