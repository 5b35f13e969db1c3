"""Hidden Markov models of sequences."""

from skdp.sequence._messages import hmm_log_likelihood, hmm_posterior, hmm_sample_states

__all__ = ["hmm_log_likelihood", "hmm_posterior", "hmm_sample_states"]
