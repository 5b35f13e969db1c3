"""The chain of a factorial hidden Markov model, one binary chain per factor."""
