"""Arguments of the functions on hidden Markov models; their results are in tests/exact."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skdp.sequence import (
    hmm_log_likelihood,
    hmm_posterior,
    hmm_sample_states,
    hmm_viterbi,
)

every_function = pytest.mark.parametrize(
    "function", [hmm_log_likelihood, hmm_posterior, hmm_sample_states, hmm_viterbi]
)


def arguments(**changed):
    model = {
        "startprob": [0.5, 0.5],
        "transmat": [[0.9, 0.1], [0.2, 0.8]],
        "log_obs": np.zeros((3, 2)),
        "ptr": [0, 1, 3],
    }
    return {**model, **changed}


@every_function
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"startprob": [1.0]}, r"startprob must be of shape \(2,\)"),
        ({"startprob": [[0.5, 0.5]]}, "startprob must have 1 dimension\\(s\\), got 2"),
        ({"startprob": [0.5, 0.4]}, "startprob must hold probabilities that sum to 1"),
        ({"startprob": [1.5, -0.5]}, "startprob must hold probabilities"),
        ({"startprob": [np.nan, 1.0]}, "startprob must hold probabilities"),
        ({"transmat": np.eye(3)}, r"transmat must be of shape \(2, 2\)"),
        ({"transmat": np.zeros((2, 2))}, "transmat must hold probabilities"),
        ({"log_obs": np.zeros(3)}, "log_obs must have 2 dimension\\(s\\), got 1"),
        ({"log_obs": np.zeros((3, 0))}, "a column for each state"),
        ({"log_obs": [[0.0, np.nan]] * 3}, "log_obs must hold log probabilities, got NaN"),
        ({"log_obs": [[0.0, np.inf]] * 3}, "log_obs must hold log probabilities"),
        ({"ptr": [0, 2]}, "ptr must rise from 0 to the 3 rows of log_obs"),
        ({"ptr": [1, 3]}, "ptr must rise from 0"),
        ({"ptr": [0, 2, 1, 3]}, "ptr must rise from 0"),
        ({"ptr": [0.0, 3.0]}, "ptr must rise from 0"),
        ({"ptr": []}, "ptr must rise from 0"),
    ],
)
def test_bad_arguments(function, changed, message):
    with pytest.raises(ValueError, match=message):
        function(**arguments(**changed))


@every_function
def test_arguments_of_other_types_and_read_only(function):
    model = arguments()
    options = {"random_state": 0} if function is hmm_sample_states else {}
    expected = function(**model, **options)
    arrays = {
        "startprob": np.asarray(model["startprob"], dtype=np.float32),
        "transmat": np.asfortranarray(model["transmat"]),
        "log_obs": np.zeros((3, 2), dtype=int),
        "ptr": np.array(model["ptr"], dtype=np.uint32),
    }
    for array in arrays.values():
        array.flags.writeable = False
    found = function(**arrays, **options)
    if function is hmm_viterbi:
        assert_array_equal(found[1], expected[1])
        found, expected = found[0], expected[0]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_no_observations():
    model = arguments(log_obs=np.empty((0, 2)), ptr=[0, 0])
    assert_array_equal(hmm_log_likelihood(**model), [0.0])
    assert hmm_posterior(**model).shape == (0, 2)
    assert hmm_sample_states(**model).shape == (0,)
    assert [part.shape for part in hmm_viterbi(**model)] == [(1,), (0,)]
    assert hmm_log_likelihood(**arguments(log_obs=np.empty((0, 2)), ptr=[0])).shape == (0,)


def test_seeds():
    model = arguments(log_obs=np.zeros((200, 2)), ptr=None)
    first, again, other = (hmm_sample_states(**model, random_state=s) for s in (1, 1, 2))
    assert_array_equal(first, again)
    assert np.any(first != other)
    generator = np.random.default_rng(0)
    draws = [hmm_sample_states(**model, random_state=generator) for _ in range(2)]
    assert np.any(draws[0] != draws[1])
