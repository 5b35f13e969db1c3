"""Kernels of the language models."""
