"""Mixtures with as many components as the data ask for."""
