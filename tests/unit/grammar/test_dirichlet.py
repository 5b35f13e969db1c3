"""Rows of Dirichlet distributions that share a prior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln, psi
from scipy.stats import dirichlet

from skdp.grammar._dirichlet import (
    expected_log,
    log_evidence,
    log_predictive,
    mean,
    negative_divergence,
)

RNG = np.random.default_rng(0)
PRIOR = RNG.gamma(2.0, 1.0, (2, 3))
COUNTS = RNG.gamma(0.5, 4.0, (4, 2, 3))
COUNTS[1] = 0.0


def test_shapes_and_values():
    for k, row in enumerate(COUNTS):
        posterior = (PRIOR + row).ravel()
        expected = psi(posterior) - psi(posterior.sum())
        assert_allclose(expected_log(PRIOR, COUNTS)[k].ravel(), expected, rtol=1e-12)
        assert_allclose(mean(PRIOR, COUNTS)[k].ravel(), dirichlet.mean(posterior), rtol=1e-12)
    assert expected_log(PRIOR, COUNTS).shape == mean(PRIOR, COUNTS).shape == COUNTS.shape


def test_expected_log_by_simulation():
    """Within five standard errors: 1e-5 false alarms for each of five cells."""
    prior, counts = np.array([0.5, 1.0, 2.0, 0.3, 4.0]), np.array([[1.0, 0.0, 2.5, 0.5, 0.0]])
    draws = np.log(RNG.dirichlet(prior + counts[0], 20_000))
    errors = draws.std(axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - expected_log(prior, counts)[0]) < 5.0 * errors)


def test_log_evidence_of_whole_counts():
    """The probability of a sequence of choices, one by one."""
    prior, choices = np.array([0.5, 1.5, 0.2]), [0, 2, 2, 1, 0, 2]
    counts, log_prob = np.zeros(3), 0.0
    for choice in choices:
        log_prob += np.log((prior + counts)[choice] / (prior + counts).sum())
        counts[choice] += 1.0
    assert_allclose(log_evidence(prior, counts[np.newaxis]), log_prob, rtol=1e-12)


def test_divergence():
    """The evidence of each row follows its definition; rows without counts add nothing."""

    def log_norm(a):
        return gammaln(a).sum() - gammaln(a.sum())

    expected = 0.0
    for row in COUNTS:
        a, b = (PRIOR + row).ravel(), PRIOR.ravel()
        expected -= (a - b) @ (psi(a) - psi(a.sum())) - log_norm(a) + log_norm(b)
    assert_allclose(negative_divergence(PRIOR, COUNTS), expected, rtol=1e-10)
    assert negative_divergence(PRIOR, COUNTS[1:2]) == pytest.approx(0.0, abs=1e-12)
    assert negative_divergence(PRIOR, COUNTS[:1]) < 0.0


def test_tiny_priors():
    """Weights at the floor, squared: finite, and of no effect where nothing is counted."""
    prior = np.array([1e-24, 1.0])
    counts = np.array([[0.0, 3.0]])
    assert expected_log(prior, counts)[0, 0] == pytest.approx(-1e24)
    assert np.isfinite(negative_divergence(prior, counts))
    assert_allclose(mean(prior, counts), [[2.5e-25, 1.0]])


def test_log_predictive_is_a_ratio_of_evidences():
    new = RNG.integers(0, 3, COUNTS.shape) * np.array([1.0, 1.0, 0.0, 1.0])[:, None, None]
    expected = log_evidence(PRIOR, COUNTS + new) - log_evidence(PRIOR, COUNTS)
    assert_allclose(log_predictive(PRIOR, COUNTS, new), expected, rtol=1e-10)
    assert log_predictive(PRIOR, COUNTS, np.zeros_like(COUNTS)) == 0.0
