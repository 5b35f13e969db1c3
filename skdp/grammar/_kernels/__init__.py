"""Kernels of the grammars."""
