"""The log joint of a chain has the densities of what similarities and durations draw."""

import numpy as np
from scipy import stats

from skdp.data import SequencePanel
from skdp.sequence import (
    CategoricalEmission,
    EmissionSimilarity,
    GaussianSimilarity,
    PoissonDuration,
)
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions

N_STATES, LONGEST = 3, 4


def log_density_of_log_gamma(x, shape, rate):
    """Return the log density of log x, x ~ Gamma(shape, rate)."""
    return stats.gamma(shape, scale=1.0 / rate).logpdf(x) + np.log(x)


def test_log_joint_with_similarities_and_durations():
    panel = SequencePanel.from_sequences([np.array([0, 0, 1, 1, 1, 0, 2.0]), np.array([2, 2, 0.0])])
    streams = np.random.SeedSequence(3).generate_state(12, np.uint64).reshape(3, 4)
    priors = TransitionPriors(2.0, (1.0, 1.0), 1.5, (1.0, 1.0), 0.0, (1.0, 1.0))
    sampler = HMMSampler(
        panel,
        Transitions(N_STATES, priors, streams[0], self_transitions=False),
        CategoricalEmission(3, 0.5).make_sampler(panel.values, N_STATES),
        streams[1],
        streams[2],
        similarity=GaussianSimilarity(2, decay_prior=(2.0, 3.0)).make_sampler(N_STATES),
        duration=PoissonDuration(2.0, 0.5, LONGEST).make_sampler(N_STATES),
    )
    for _ in range(20):
        sampler.sweep()
        expected = sampler.transitions.log_probability() + sampler.emission.log_evidence()
        expected += stats.norm.logpdf(sampler.similarity.locations).sum()
        expected += log_density_of_log_gamma(sampler.similarity.decay, 2.0, 3.0)
        means = np.exp(sampler.duration.log_means)
        expected += log_density_of_log_gamma(means, 2.0, 0.5).sum()
        for begin, end in zip(panel.ptr[:-1], panel.ptr[1:], strict=True):
            ends = [*np.flatnonzero(np.diff(sampler.states[begin:end])) + 1, end - begin]
            for first, last in zip([0, *ends[:-1]], ends, strict=True):
                length, mean = last - first, means[sampler.states[begin + first]]
                censored = last == end - begin or length == LONGEST
                law = stats.poisson(mean, loc=1)
                expected += law.logsf(length - 1) if censored else law.logpmf(length)
        np.testing.assert_allclose(sampler.log_joint(), expected, rtol=1e-9)


def test_log_joint_with_similarities_of_observations():
    """log p(x, theta given z) is the likelihood times the prior of log odds of theta."""
    x = np.array([0, 0, 1, 1, 1, 0, 2.0, 2.0])
    panel = SequencePanel.from_sequences([x])
    streams = np.random.SeedSequence(4).generate_state(12, np.uint64).reshape(3, 4)
    priors = TransitionPriors(2.0, (1.0, 1.0), 1.5, (1.0, 1.0), 1.0, (1.0, 1.0))
    sampler = HMMSampler(
        panel,
        Transitions(N_STATES, priors, streams[0]),
        CategoricalEmission(3, 0.5).make_sampler(panel.values, N_STATES),
        streams[1],
        streams[2],
        similarity=EmissionSimilarity(decay_prior=(2.0, 3.0)).make_sampler(N_STATES),
    )
    for _ in range(20):
        sampler.sweep()
        log_theta = sampler.emission.log_probs.T
        theta = np.exp(log_theta) / np.exp(log_theta).sum(axis=1, keepdims=True)
        expected = sampler.transitions.log_probability()
        expected += log_theta[sampler.states, x.astype(int)].sum() + log_theta.sum()
        expected += sum(stats.dirichlet(np.full(3, 0.5)).logpdf(row) for row in theta)
        expected += log_density_of_log_gamma(sampler.similarity.decay, 2.0, 3.0)
        np.testing.assert_allclose(sampler.log_joint(), expected, rtol=1e-9)
        np.testing.assert_allclose(sampler.scalars()["log_joint"], expected, rtol=1e-9)
