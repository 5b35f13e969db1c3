"""Autoregressive emissions: sampler, model, lags and kernels."""
