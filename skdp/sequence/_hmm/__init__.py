"""The parts of an infinite hidden Markov model: sampler, transitions, messages, models."""
