"""Long sequences of hidden semi-Markov models: against larger hidden Markov models."""

import numpy as np
import pytest
from exact.sequence.hmm.segment_problems import (
    arguments,
    log_likelihoods,
    posteriors,
    random_model,
    sample,
)

from skdp.sequence import hmm_log_likelihood, hmm_posterior


def by_age(startprob, transmat, log_obs, pmf):
    """Return the hidden Markov model whose states are pairs of a state and its age."""
    n_states, longest = pmf.shape
    survival = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]
    n = n_states * longest
    start, matrix = np.zeros(n), np.zeros((n, n))
    start[::longest] = startprob
    for j in range(n_states):
        for age in range(longest):
            leave = pmf[j, age] / survival[j, age]
            matrix[j * longest + age, ::longest] = leave * transmat[j]
            if age + 1 < longest:
                matrix[j * longest + age, j * longest + age + 1] = 1.0 - leave
    return start, matrix, np.repeat(log_obs, longest, axis=1)


@pytest.mark.parametrize("spread", [1.0, 20.0, 300.0, 3000.0])
def test_long_sequences(spread):
    """Against the model whose states are pairs of state and age; the truth may last longer."""
    rng = np.random.default_rng(4)
    n_steps, n_states, longest = 3000, 4, 6
    startprob, transmat, _, pmf = random_model(rng, n_states, 1, longest)
    truth = np.repeat(rng.integers(n_states, size=n_steps), rng.integers(1, 12, n_steps))[:n_steps]
    log_obs = -spread * rng.random((n_steps, n_states))
    log_obs[np.arange(n_steps), truth] /= 50.0
    model = startprob, transmat, log_obs, pmf
    start, matrix, repeated = by_age(*model)
    _, (likelihood,) = log_likelihoods(*arguments(model))
    assert likelihood == pytest.approx(hmm_log_likelihood(start, matrix, repeated)[0], rel=1e-12)
    expected = (
        hmm_posterior(start, matrix, repeated).reshape(n_steps, n_states, longest).sum(axis=2)
    )
    np.testing.assert_allclose(posteriors(*arguments(model)), expected, rtol=0, atol=1e-9)
    states = sample(*arguments(model))
    assert expected[np.arange(n_steps), states].min() > 1e-9


def test_no_underflow():
    """100,000 steps, and states that are 700 nats apart at every step."""
    rng = np.random.default_rng(5)
    n_steps, n_states = 100_000, 3
    startprob, transmat, _, pmf = random_model(rng, n_states, 1, 4)
    log_obs = -700.0 * rng.random((n_steps, n_states))
    model = startprob, transmat, log_obs, pmf
    _, (likelihood,) = log_likelihoods(*arguments(model))
    assert likelihood == pytest.approx(hmm_log_likelihood(*by_age(*model))[0], rel=1e-12)
    assert np.abs(posteriors(*arguments(model)).sum(axis=1) - 1.0).max() < 1e-12
    states = sample(*arguments(model))
    lengths = np.diff(np.flatnonzero(np.r_[True, states[1:] != states[:-1], True]))
    assert lengths.max() <= 4
