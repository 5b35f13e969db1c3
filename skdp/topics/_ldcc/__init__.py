"""Latent Dirichlet co-clustering."""
