"""Predictions with a part of the evidence, against smoothing with scaled log densities."""

import numpy as np
import pytest

from skdp.sequence import HDPHMMLT, hmm_posterior
from skdp.sequence._detector._coarse import coarsen


@pytest.mark.parametrize("power", [1.0, 0.25])
def test_probabilities(power):
    x = np.repeat([0.0, 1.5, 0.0], 15)[:, np.newaxis] + np.random.default_rng(0).normal(
        size=(45, 1)
    )
    model = HDPHMMLT(3, stickiness=10.0, max_iter=40, random_state=0).fit(x)
    expected = np.mean(
        [
            hmm_posterior(own.startprob, own.transmat, power * own.emission.log_obs(x))
            for own in model.samples_
        ],
        axis=0,
    )
    np.testing.assert_allclose(coarsen(model, power).predict_proba(x), expected, atol=1e-10)
    if power == 1.0:
        np.testing.assert_allclose(model.predict_proba(x), expected, atol=1e-10)
