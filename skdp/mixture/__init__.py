"""Mixtures and latent feature models whose complexity is inferred from the data."""

from skdp.mixture._hdp_mixture import HDPMixture
from skdp.mixture._ibp_latent_features import IBPLatentFeatures
from skdp.mixture._pitman_yor_mixture import DPMixture, PitmanYorMixture

__all__ = ["DPMixture", "HDPMixture", "IBPLatentFeatures", "PitmanYorMixture"]
