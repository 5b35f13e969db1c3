"""Regressions of some columns on others: emission, samplers and models."""
