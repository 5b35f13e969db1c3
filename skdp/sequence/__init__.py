"""Hidden Markov models of sequences, with as many states as the data ask for."""

from skdp.sequence._binary_factors import BinaryFactorEmission
from skdp.sequence._categorical import CategoricalEmission
from skdp.sequence._duration import DurationModel, DurationSampler
from skdp.sequence._emission import EmissionModel, EmissionSampler
from skdp.sequence._factorial_hmm import FactorialHMM
from skdp.sequence._fixed import FixedSimilarity
from skdp.sequence._gaussian import GaussianEmission
from skdp.sequence._generator import make_generator
from skdp.sequence._hdp_hmm_lt import HDPHMMLT
from skdp.sequence._laplacian import LaplacianSimilarity
from skdp.sequence._latent_space import GaussianSimilarity
from skdp.sequence._messages import hmm_log_likelihood, hmm_posterior, hmm_sample_states
from skdp.sequence._negative_binomial_duration import NegativeBinomialDuration
from skdp.sequence._poisson import PoissonEmission
from skdp.sequence._poisson_duration import PoissonDuration
from skdp.sequence._similarity import SimilaritySampler

__all__ = [
    "HDPHMMLT",
    "BinaryFactorEmission",
    "CategoricalEmission",
    "DurationModel",
    "DurationSampler",
    "EmissionModel",
    "EmissionSampler",
    "FactorialHMM",
    "FixedSimilarity",
    "GaussianEmission",
    "GaussianSimilarity",
    "LaplacianSimilarity",
    "NegativeBinomialDuration",
    "PoissonDuration",
    "PoissonEmission",
    "SimilaritySampler",
    "hmm_log_likelihood",
    "hmm_posterior",
    "hmm_sample_states",
    "make_generator",
]
