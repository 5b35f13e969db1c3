"""Language models: the next word given those before it."""

from skdp.language._hierarchical_pitman_yor_lm import HierarchicalPitmanYorLM
from skdp.language._kneser_ney_lm import KneserNeyLM
from skdp.language._language_model_classifier import LanguageModelClassifier

__all__ = ["HierarchicalPitmanYorLM", "KneserNeyLM", "LanguageModelClassifier"]
