"""The most probable paths of fitted models; those of given ones are in tests/exact."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from unit.sequence.hmm_models import GAUSSIAN, SYMBOLS, every_model, fitted, quick

from skdp.data import SequencePanel
from skdp.sequence import CategoricalEmission, hmm_viterbi


@every_model
def test_paths_are_those_of_the_attributes(name):
    estimator, X = fitted(name)
    log_probabilities, paths = estimator.decode(X)
    assert [path.shape for path in paths] == [(len(x),) for x in X]
    assert log_probabilities.shape == (len(X),)
    with np.errstate(divide="ignore"):
        log_start, log_transmat = np.log(estimator.startprob_), np.log(estimator.transmat_)
    for found, path, x in zip(log_probabilities, paths, X, strict=True):
        log_obs = estimator.emission_.log_obs(np.reshape(x, (len(x), -1)))
        expected = log_start[path[0]] + log_obs[np.arange(len(x)), path].sum()
        jumps = np.arange(1, len(x))
        if hasattr(estimator, "duration_"):
            jumps = np.flatnonzero(np.diff(path)) + 1
            log_pmf, log_survival = estimator.duration_.tables()
            lengths, own = np.diff([0, *jumps, len(x)]), path[[0, *jumps]]
            expected += log_pmf[own[:-1], lengths[:-1] - 1].sum()
            expected += log_survival[own[-1], lengths[-1] - 1]
        expected += log_transmat[path[jumps - 1], path[jumps]].sum()
        assert found == pytest.approx(expected, rel=1e-12)


def test_a_panel_a_list_and_a_single_array():
    estimator, X = fitted("gaussian")
    log_probabilities, paths = estimator.decode(X)
    as_panel = estimator.decode(SequencePanel.from_sequences(X))
    assert_array_equal(as_panel[0], log_probabilities)
    for i, x in enumerate(X):
        assert_array_equal(as_panel[1][i], paths[i])
        log_probability, path = estimator.decode(x)
        assert isinstance(log_probability, float)
        assert log_probability == log_probabilities[i]
        assert_array_equal(path, paths[i])


def test_the_function_agrees():
    estimator, X = fitted("gaussian")
    log_probabilities, paths = estimator.decode(X)
    known = estimator.startprob_, estimator.transmat_
    for i, x in enumerate(X):
        (found,), path = hmm_viterbi(*known, estimator.emission_.log_obs(x))
        assert found == log_probabilities[i]
        assert_array_equal(path, paths[i])


def test_well_separated_states():
    """With clear data, paths equal the result of `predict`."""
    estimator = quick(max_iter=60).fit(GAUSSIAN)
    for path, states in zip(
        estimator.decode(GAUSSIAN)[1], estimator.predict(GAUSSIAN), strict=True
    ):
        assert_array_equal(path, states)


def test_an_impossible_sequence_disturbs_no_other():
    tiny = np.array([1.0, 1.0, 1.0, 1.0, 1e-8])
    estimator = quick(emission=CategoricalEmission(5, prior=tiny)).fit(SYMBOLS)
    probs = np.array(estimator.emission_.probs)
    probs[:, 4] = 0.0
    object.__setattr__(estimator.emission_, "probs", probs)
    X = [SYMBOLS[0], np.array([0.0, 4.0, 1.0]), SYMBOLS[1]]
    with pytest.warns(UserWarning, match="Sequence 1 has probability 0 under the model"):
        log_probabilities, paths = estimator.decode(X)
    assert_array_equal(log_probabilities == -np.inf, [False, True, False])
    assert_array_equal(paths[1], [-1, -1, -1])
    for i in (0, 2):
        log_probability, path = estimator.decode(np.reshape(X[i], (-1, 1)))
        assert log_probability == log_probabilities[i]
        assert_array_equal(path, paths[i])
