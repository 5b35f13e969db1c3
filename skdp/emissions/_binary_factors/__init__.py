"""Emissions of binary factors: sampler, model, moves and kernels."""
