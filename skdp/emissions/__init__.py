"""Distributions of observations given a state, for sequences and mixtures."""

from skdp._numeric._random import make_generator
from skdp.emissions._binary_factors._emission import BinaryFactorEmission
from skdp.emissions._common._protocol import (
    CollapsedEmission,
    ComparableEmission,
    EmissionModel,
    EmissionSampler,
)
from skdp.emissions._discrete._bernoulli import BernoulliEmission
from skdp.emissions._discrete._categorical import CategoricalEmission
from skdp.emissions._discrete._multinomial import MultinomialEmission
from skdp.emissions._discrete._poisson import PoissonEmission
from skdp.emissions._gaussian._autoregressive import AutoregressiveEmission
from skdp.emissions._gaussian._emission import GaussianEmission
from skdp.emissions._gaussian._student_t import StudentTEmission
from skdp.emissions._independent import IndependentEmissions
from skdp.emissions._regression._emission import RegressionEmission

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
