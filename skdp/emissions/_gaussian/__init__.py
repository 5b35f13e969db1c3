"""Gaussian, Student t and autoregressive emissions: samplers and models."""
