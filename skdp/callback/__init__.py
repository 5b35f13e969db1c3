"""Callbacks for long fits, in scikit-learn's protocol (1.9 or later)."""

from skdp.callback._checkpoint import Checkpoint

__all__ = ["Checkpoint"]
