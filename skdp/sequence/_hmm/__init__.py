"""The parts of an infinite hidden Markov model: walker, transitions, messages, models."""
