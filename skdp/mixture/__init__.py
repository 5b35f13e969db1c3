"""Mixtures with as many components as the data ask for."""

from skdp.mixture._dp_mixture import DPMixture
from skdp.mixture._pitman_yor_mixture import PitmanYorMixture

__all__ = ["DPMixture", "PitmanYorMixture"]
