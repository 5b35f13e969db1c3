"""The chain of an infinite hidden Markov model: transitions, states, samples."""
