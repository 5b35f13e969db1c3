"""The parts of a factorial hidden Markov model: sampler, kernels, models."""
