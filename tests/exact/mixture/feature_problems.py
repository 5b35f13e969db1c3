"""A few rows with latent features, and samplers over them."""

import numpy as np

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.mixture._latent_features._hyper import FeaturePrior
from skdp.mixture._latent_features._sampler import LatentFeatureSampler

ROWS = np.array([[1.2, -0.3], [1.0, 0.9], [-0.4, 1.1]])
GAPS = np.array([[1.2, np.nan], [1.0, 0.9], [np.nan, 1.1]])
ALPHA, NOISE, WEIGHTS = 0.5, 0.3, 0.9


def make_chain_sampler(
    rows, alpha=ALPHA, noise=NOISE, weights=WEIGHTS, *, scales=None, prior=None, seed=0, **options
):
    """Return a sampler over rows that are not centered; what is drawn has a `prior`."""
    rows = np.array(rows, dtype=float)
    return LatentFeatureSampler(
        rows,
        np.zeros(rows.shape[1]),
        FeaturePrior(None, None, None) if prior is None else prior,
        alpha,
        noise,
        weights,
        np.ones(rows.shape[1]) if scales is None else np.array(scales),
        derive_stream(make_seed_sequence(seed), Role.SWEEP, 0),
        **options,
    )
