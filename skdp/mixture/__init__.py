"""Mixtures and latent feature models whose complexity is inferred from the data."""

from skdp.mixture._dp_mixture import DPMixture
from skdp.mixture._hdp_mixture import HDPMixture
from skdp.mixture._ibp_latent_features import IBPLatentFeatures
from skdp.mixture._pitman_yor_mixture import PitmanYorMixture

__all__ = ["DPMixture", "HDPMixture", "IBPLatentFeatures", "PitmanYorMixture"]
