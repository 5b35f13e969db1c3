"""Kernels of the topic models."""
