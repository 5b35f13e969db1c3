"""Kernels of the models of sequences."""
