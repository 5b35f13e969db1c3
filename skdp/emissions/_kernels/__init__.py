"""Kernels of the emissions."""
