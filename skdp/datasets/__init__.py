"""Data to try the models on."""

from skdp.datasets._binary_features import make_cocktail_party, make_feature_images
from skdp.datasets._panels import make_lt_panel, make_sticky_panel
from skdp.datasets._pcfg_corpus import make_pcfg_corpus
from skdp.datasets._segmented_corpus import load_python_reference, make_segmented_corpus

__all__ = [
    "load_python_reference",
    "make_cocktail_party",
    "make_feature_images",
    "make_lt_panel",
    "make_pcfg_corpus",
    "make_segmented_corpus",
    "make_sticky_panel",
]
