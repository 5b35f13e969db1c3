"""Emissions of binary factors: samplers and model."""
