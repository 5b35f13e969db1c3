"""Gaussian emissions: sampler, model, sums over rows, the drawn scale of the prior, and kernels."""
