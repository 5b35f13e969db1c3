"""Transformations of observations for models of sequences."""

from skdp.preprocessing._panel_transformer import PanelTransformer
from skdp.preprocessing._window_features import WindowFeatures

__all__ = ["PanelTransformer", "WindowFeatures"]
