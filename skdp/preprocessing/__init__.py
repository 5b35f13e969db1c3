"""What is done to observations before a model of sequences sees them."""

from skdp.preprocessing._panel_transformer import PanelTransformer
from skdp.preprocessing._window_features import WindowFeatures

__all__ = ["PanelTransformer", "WindowFeatures"]
