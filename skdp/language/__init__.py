"""Language models of the next word given the preceding words, and word segmentation."""

from skdp.language._collocation_pitman_yor_lm import CollocationPitmanYorLM
from skdp.language._hierarchical_pitman_yor_lm import HierarchicalPitmanYorLM
from skdp.language._kneser_ney_lm import KneserNeyLM
from skdp.language._language_model_classifier import LanguageModelClassifier
from skdp.language._nested._layout import strip_spaces
from skdp.language._nested_pitman_yor_lm import NestedPitmanYorLM

__all__ = [
    "CollocationPitmanYorLM",
    "HierarchicalPitmanYorLM",
    "KneserNeyLM",
    "LanguageModelClassifier",
    "NestedPitmanYorLM",
    "strip_spaces",
]
