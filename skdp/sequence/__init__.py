"""Hidden Markov models of sequences, with as many states as the data require."""

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
from skdp.sequence._change_point_detector import ChangePointDetector
from skdp.sequence._durations._families import (
    DurationModel,
    DurationSampler,
    NegativeBinomialDuration,
    PoissonDuration,
)
from skdp.sequence._factorial_hmm import FactorialHMM
from skdp.sequence._hdp_hmm_lt import HDPHMMLT
from skdp.sequence._hmm_functions import (
    hmm_log_likelihood,
    hmm_posterior,
    hmm_sample_states,
    hmm_viterbi,
)
from skdp.sequence._similarities._emission import EmissionSimilarity
from skdp.sequence._similarities._gaussian import GaussianSimilarity
from skdp.sequence._similarities._protocol import (
    FixedSimilarity,
    LaplacianSimilarity,
    SimilaritySampler,
)
from skdp.sequence._state_detector import StateDetector

InfiniteHMM = HDPHMMLT
"""Another name of `HDPHMMLT`."""

__all__ = [
    "HDPHMMLT",
    "AutoregressiveEmission",
    "BernoulliEmission",
    "BinaryFactorEmission",
    "CategoricalEmission",
    "ChangePointDetector",
    "CollapsedEmission",
    "ComparableEmission",
    "DurationModel",
    "DurationSampler",
    "EmissionModel",
    "EmissionSampler",
    "EmissionSimilarity",
    "FactorialHMM",
    "FixedSimilarity",
    "GaussianEmission",
    "GaussianSimilarity",
    "IndependentEmissions",
    "InfiniteHMM",
    "LaplacianSimilarity",
    "MultinomialEmission",
    "NegativeBinomialDuration",
    "PoissonDuration",
    "PoissonEmission",
    "RegressionEmission",
    "SimilaritySampler",
    "StateDetector",
    "StudentTEmission",
    "hmm_log_likelihood",
    "hmm_posterior",
    "hmm_sample_states",
    "hmm_viterbi",
    "make_generator",
]
