"""Emissions of categories, counts and bits: samplers and models."""
