"""Bayes' rule for given log probabilities."""

import numpy as np
import pytest
from scipy.special import softmax

from skdp._numeric._bayes import log_posterior

LOGS = np.array([[-1e5, -1e5 - 1.0, -np.inf], [0.5, 1.0, 2.0]])


def test_possible_rows():
    np.testing.assert_allclose(np.exp(log_posterior(LOGS, np.zeros(3))), softmax(LOGS, axis=1))


@pytest.mark.parametrize("shift", [0.0, -5.0])
def test_impossible_rows_have_the_prior(shift):
    prior = np.array([0.2, 0.0, 0.8])
    logs = np.vstack([LOGS, np.full(3, -np.inf)])
    with np.errstate(divide="ignore"):
        found = log_posterior(logs, np.log(prior) + shift)
    np.testing.assert_allclose(np.exp(found[:2]), softmax(LOGS, axis=1))
    np.testing.assert_allclose(np.exp(found[2]), prior)
