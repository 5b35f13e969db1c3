"""Probabilities of states given the past: estimators; messages are in tests/exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from unit.sequence.hmm_models import every_model, fitted

from skdp.data import SequencePanel


@every_model
def test_it_is_the_posterior_of_what_was_seen(name):
    """Each step's probabilities are those of the last step of the sequence cut off there."""
    estimator, X = fitted(name)
    x = np.reshape(X[0], (len(X[0]), -1))
    found = estimator.filter_proba(x)
    assert found.shape == (len(x), estimator.n_components)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    for t in (1 + estimator._n_given(), 4, len(x)):
        assert_allclose(found[t - 1], estimator.predict_proba(x[:t])[-1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["gaussian", "durations"])
def test_a_panel_and_a_list(name):
    estimator, X = fitted(name)
    found = estimator.filter_proba(X)
    assert [rows.shape for rows in found] == [(len(x), estimator.n_components) for x in X]
    for rows, again, x in zip(
        found, estimator.filter_proba(SequencePanel.from_sequences(X)), X, strict=True
    ):
        assert_array_equal(rows, again)
        assert_allclose(rows, estimator.filter_proba(x), rtol=1e-12)
