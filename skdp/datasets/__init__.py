"""Data to try the models on."""

from skdp.datasets._python_reference import load_python_reference

__all__ = ["load_python_reference"]
