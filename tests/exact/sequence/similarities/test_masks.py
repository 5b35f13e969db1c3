"""Impossible transitions and known states together with latent similarities."""

import numpy as np
import pytest
from exact.oracles import latent
from exact.oracles.hdp_hmm import Problem
from exact.sequence.chains import Case, as_rows, check, symbols

from skdp.sequence import BinaryFactorEmission, GaussianSimilarity, LaplacianSimilarity

SYMBOLS = ("001", "1100")
NUMBERS = as_rows([(0.1, 1.4, 1.3), (0.2, -0.8, 0.9)])
MASKS = {
    "no return": {
        "allowed": ((1, 1, 1), (0, 1, 1), (0, 0, 1), (1, 1, 1)), "alpha": 4.0,
        "known": ((0, -1, -1), (-1, 1, -1, -1)),
    },
    "few": {
        "allowed": ((1, 1, 0), (0, 1, 1), (1, 0, 0), (1, 1, 0)), "kappa": 1.0,
        "known": ((-1, 1, -1), (0, -1, -1, -1)),
    },
}  # fmt: skip
WEIGHTS, PRECISION, ACTIVITY_PRIOR = (0.1, 1.3, -0.9), 2.0, (1.3, 0.8)
UPPER = np.triu_indices(3, 1)


def locations(decay, mask):
    """Return symbols whose states have locations on a line."""

    def figures(sampler):
        (x,) = sampler.similarity.locations
        return np.exp(-0.5 * decay * (x[:, np.newaxis] - x) ** 2)[UPPER]

    own = symbols(SYMBOLS, n_states=3, latent=latent.locations(3, decay), **mask)
    return own._replace(figures=figures), GaussianSimilarity(1, decay)


def vectors(decay, mask):
    """Return numbers whose states have binary vectors."""

    def figures(sampler):
        bits = sampler.emission.factors.astype(float)
        away = np.abs(bits[:, np.newaxis] - bits).sum(axis=2)
        return np.concatenate([bits.ravel(), np.exp(-decay * away)[UPPER]])

    unknown = latent.vectors(NUMBERS, 3, decay, WEIGHTS, PRECISION, ACTIVITY_PRIOR)
    emission = BinaryFactorEmission(
        2, weights=[[w] for w in WEIGHTS], noise_variance=1.0 / PRECISION,
        activity_prior=ACTIVITY_PRIOR,
    )  # fmt: skip
    known = tuple(own[:3] for own in mask["known"])
    problem = Problem(NUMBERS, n_states=3, latent=unknown, **{**mask, "known": known})
    return Case(problem, emission, figures=figures), LaplacianSimilarity(decay)


@pytest.mark.slow
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("make", "decay"), [(locations, 3.0), (vectors, 1.2)])
def test_posterior(make, decay, mask):
    case, similarity = make(decay, MASKS[mask])
    check(case, 30_000, similarity=similarity, n_first=2_000, log2_points=13)
