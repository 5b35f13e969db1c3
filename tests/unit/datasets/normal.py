"""Tests of what was drawn.

Each is seeded and asks for |z| < 5 of a mean; a correct generator fails one such comparison with
probability 6e-7, all of them in this folder with less than 1e-3."""

import numpy as np


def z_scores(draws, expected):
    errors = draws - expected
    return errors.mean(axis=0) / (errors.std(axis=0) / np.sqrt(len(errors)))


def assert_mean(draws, expected):
    assert np.abs(z_scores(np.asarray(draws), expected)).max() < 5


def assert_shares(counts, expected):
    """Assert that counts of cells are what multinomial draws of these probabilities give."""
    n = counts.sum()
    error = np.sqrt(n * expected * (1.0 - expected))
    assert np.all(np.abs(counts - n * expected) <= 5.0 * error)
