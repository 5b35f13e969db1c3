"""Latent Dirichlet allocation, also of any number of topics, and co-clustering."""
