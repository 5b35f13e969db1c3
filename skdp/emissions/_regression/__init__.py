"""Regressions of some columns on others: emission, samplers, models and kernels."""
