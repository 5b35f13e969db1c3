"""Pitman-Yor language models, and words in text without spaces."""

from skdp.language._nested._input import strip_spaces
from skdp.language._nested_pitman_yor_lm import NestedPitmanYorLM

__all__ = ["NestedPitmanYorLM", "strip_spaces"]
