"""Kernels of the mixtures and of latent features."""
