"""Latent Dirichlet allocation, the baseline and the start of the other models."""
