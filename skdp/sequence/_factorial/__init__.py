"""The parts of a factorial hidden Markov model: sampler, models, and joint states."""
