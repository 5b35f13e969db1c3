"""Emissions of categories, counts and bits: samplers, marginal likelihoods and kernels."""
