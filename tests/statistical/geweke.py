"""Geweke's joint distribution test (2004).

If a chain leaves the posterior invariant, then alternating one sweep with a draw of the
observations given the rest leaves the joint distribution of everything invariant, so its means are
those of plain draws from the prior. Chains are cut into 40 batches; |z| < 5 with 39 degrees of
freedom is a false alarm once in 80,000 comparisons."""

import numpy as np
from exact.oracles.batch_means import N_BATCHES


def check_joint(plain, chain, names=None):
    """Compare means of figures, a row for each draw, of plain draws and of a chain."""
    plain, chain = np.array(plain, dtype=float), np.array(chain, dtype=float)
    assert np.isfinite(plain).all()
    batches = chain.reshape(N_BATCHES, -1, chain.shape[1]).mean(axis=1)
    error = np.hypot(
        batches.std(axis=0, ddof=1) / N_BATCHES**0.5, plain.std(axis=0) / len(plain) ** 0.5
    )
    z = (batches.mean(axis=0) - plain.mean(axis=0)) / np.maximum(error, 1e-12)
    names = range(len(z)) if names is None else names
    assert np.all(np.abs(z) < 5.0), dict(zip(names, z.round(1), strict=True))
