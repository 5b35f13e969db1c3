"""Data to try the models on."""

from skdp.datasets._cocktail_party import make_cocktail_party
from skdp.datasets._feature_images import make_feature_images
from skdp.datasets._lt_panel import make_lt_panel
from skdp.datasets._pcfg_corpus import make_pcfg_corpus
from skdp.datasets._python_reference import load_python_reference
from skdp.datasets._segmented_corpus import make_segmented_corpus
from skdp.datasets._sticky_panel import make_sticky_panel

__all__ = [
    "load_python_reference",
    "make_cocktail_party",
    "make_feature_images",
    "make_lt_panel",
    "make_pcfg_corpus",
    "make_segmented_corpus",
    "make_sticky_panel",
]
