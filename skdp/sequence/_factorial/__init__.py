"""The parts of a factorial hidden Markov model: walker, kernels, models."""
