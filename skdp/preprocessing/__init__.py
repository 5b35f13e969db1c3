"""What is done to observations before a model of sequences sees them."""

from skdp.preprocessing._panel_transformer import PanelTransformer

__all__ = ["PanelTransformer"]
