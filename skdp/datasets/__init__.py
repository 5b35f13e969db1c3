"""Data to try the models on."""

from skdp.datasets._python_reference import load_python_reference
from skdp.datasets._segmented_corpus import make_segmented_corpus

__all__ = ["load_python_reference", "make_segmented_corpus"]
