"""The HDP-HMM against enumeration of states: sweeps, left-out sequences, the log joint."""

from dataclasses import replace

import numpy as np
import pytest
from exact.oracles.hdp_hmm import Problem, expect
from exact.sequence.chains import (
    KNOWN,
    LEFT_RIGHT,
    LINE,
    NAN,
    ONE,
    PHI,
    PHI3,
    PLANE,
    SLOPES,
    THREE,
    TWO,
    as_rows,
    changes,
    check,
    make_chain_sampler,
    make_panel,
    numbers,
    other,
    symbols,
    symbols_of_drawn_concentration,
)
from scipy import stats

from skdp.emissions import CategoricalEmission
from skdp.sequence import HDPHMMLT, EmissionSimilarity, GaussianSimilarity, PoissonDuration

ZEROS = ((1.0, 0.3, 0.0), (0.0, 0.8, 0.2), (0.4, 0.0, 1.0))
FROM_FIRST = (*LEFT_RIGHT[:3], (1, 0, 0))
DRAWN = {"alpha": None, "gamma": None}
BASE = (0.1, 0.5, 0.1, 0.3)
MISSING = (((NAN,), (0.1,), (1.1,)), ((1.0,), (NAN,), (-1.6,)))
LONG = (((-0.9,), (-0.5,), (1.1,), (NAN,), (1.2,), (-0.8,), (0.2,)),)
POINTS = (((-1.0, -0.2), (-0.7, -0.9), (0.9, 0.8)), ((1.2, 0.4), (-0.8, -0.6), (0.8, 1.3)))
IN_PART = (((-1.0, NAN), (NAN, 1.0), (1.2, 1.1)), ((-0.8, -1.0), (NAN, NAN)))
CHANGES = (-1.0, 0.9, -1.1, -1.0), (1.0, 0.9, -0.8)

CASES = {
    "plain": symbols(ONE),
    "plain, three states": symbols(TWO, "beam", n_states=3, alpha=0.7, gamma=1.0),
    "sticky, three states": symbols(TWO, n_states=3, kappa=1.0),
    "similar": symbols(ONE, phi=PHI),
    "similar, sticky": symbols(TWO, "beam", phi=PHI, kappa=1.5),
    "concentrations, similar, three states": symbols(TWO, n_states=3, phi=PHI3, **DRAWN),
    "concentrations, similar, sticky": symbols(ONE, kappa=1.0, phi=PHI, **DRAWN),
    "stickiness": symbols(TWO, alpha=2.0, gamma=None, kappa=None),
    "all, three states": symbols(
        TWO, n_states=3, kappa=None, phi=PHI3, share_prior=(2.0, 1.0), **DRAWN
    ),
    "symbols, three states": symbols_of_drawn_concentration(THREE, BASE, (2.0, 1.0), n_states=3),
    "symbols, similar, sticky": symbols_of_drawn_concentration(
        THREE, (0.25,) * 4, (1.0, 0.3), phi=PHI, kappa=1.0
    ),
    "known": symbols(TWO, n_states=3, known=KNOWN, **DRAWN),
    "known, similar, sticky": symbols(TWO, n_states=3, known=KNOWN, phi=PHI3, kappa=1.0),
    "left-right": symbols(TWO, n_states=3, allowed=LEFT_RIGHT, **DRAWN),
    "left-right from the first": symbols(TWO, n_states=3, allowed=FROM_FIRST, kappa=None),
    "left-right, known": symbols(
        TWO, "beam", n_states=3, allowed=LEFT_RIGHT, known=KNOWN, kappa=1.0
    ),
    "zeros, concentrations": symbols(TWO, n_states=3, phi=ZEROS, **DRAWN),
    "numbers, diagonal": numbers(LONG, LINE, "diag"),
    "numbers, sticky, three states": numbers(MISSING, n_states=3, kappa=1.0),
    "points, similar, sticky": numbers(POINTS, PLANE, kappa=1.5, phi=PHI),
    "points, in part missing": numbers(IN_PART, PLANE),
    "changes, sticky, three states": changes(CHANGES, n_states=3, kappa=1.0),
    "changes, two lags, similar": changes(CHANGES, SLOPES, phi=PHI),
    "changes, a first value missing": changes([(NAN, 0.9, NAN, -1.0, 0.8)]),
    "changes, two lags, values missing": changes([(-1.0, NAN, -1.1, NAN, 0.3, 0.5)], SLOPES),
    "changes, two lags, the last value missing": changes([(NAN, 0.4, -1.1, 0.8, 0.3, NAN)], SLOPES),
    "choices": other("choices"),
    "spikes, similar, sticky": other("spikes", 2, phi=PHI, kappa=1.0),
    "responses": other("responses"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_posterior(case):
    check(CASES[case], 60_000)


SHORT = ("01", "10", "011")
MORE = (((-0.9,), (NAN,)), ((1.1,), (1.2,)), ((-0.8,), (0.2,), (NAN,)))
STREAMS = {
    "plain": symbols(SHORT),
    "plain, concentrations, three states": symbols(SHORT, n_states=3, **DRAWN),
    "similar, sticky": symbols(SHORT, "beam", phi=PHI, kappa=None),
    "left-right": symbols(SHORT, n_states=3, allowed=LEFT_RIGHT),
    "numbers": numbers(MORE, kappa=1.0),
    "changes": changes(((-1.0, 0.9, NAN), (1.0, 0.9), (0.9, -0.8)), kappa=1.0),
}


@pytest.mark.parametrize(
    "case",
    ["plain", *(pytest.param(case, marks=pytest.mark.slow) for case in STREAMS if case != "plain")],
)
def test_posterior_of_a_stream(case):
    """The last sequence comes later; a sweep draws it, and one of the others at random."""
    check(STREAMS[case], 40_000, n_settled=2)


SEQUENCES = "011", "10", "00", "111"


def evidence_of(sequences):
    return expect(symbols(sequences).problem, log2_points=14).log_evidence


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # arviz's own
def test_arviz_agrees_with_enumeration():
    """PSIS-LOO from 4,000 stored samples, to .12 nats, five standard deviations over seeds."""
    arviz = pytest.importorskip("arviz")
    X = [np.array([*sequence], dtype=float) for sequence in SEQUENCES]
    model = HDPHMMLT(
        2, emission=CategoricalEmission(2, prior=0.5), top_concentration=2.0,
        transition_concentration=1.5, max_iter=4100, burn_in=100, thin=2, n_samples=2000,
        n_chains=2, judge=False, random_state=0,
    )  # fmt: skip
    data = model.fit(X).to_arviz(X)
    whole = evidence_of(SEQUENCES)
    rests = [SEQUENCES[:i] + SEQUENCES[i + 1 :] for i in range(4)]
    expected = [whole - evidence_of(rest) for rest in rests]
    np.testing.assert_allclose(arviz.loo(data, pointwise=True).loo_i, expected, atol=0.12)
    # Predictive distributions of the next observation are given the sequence itself: too high.
    model._models = [replace(sample, drawn=sample.emission) for sample in model._models]
    wrong = arviz.loo(model.to_arviz(X), pointwise=True).loo_i.values
    assert (wrong > np.array(expected) + 0.12).all()


def log_density_of_log_gamma(x, shape, rate):
    """Return the log density of log x, x ~ Gamma(shape, rate)."""
    return stats.gamma(shape, scale=1.0 / rate).logpdf(x) + np.log(x)


def test_log_joint_with_similarities_and_durations():
    problem, longest = Problem(as_rows(("0011102", "220")), n_states=3), 4
    panel = make_panel(problem.sequences)
    sampler = make_chain_sampler(
        problem, CategoricalEmission(3, 0.5),
        similarity=GaussianSimilarity(2, decay_prior=(2.0, 3.0)),
        duration=PoissonDuration(2.0, 0.5, longest),
    )  # fmt: skip
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
                censored = last == end - begin or length == longest
                law = stats.poisson(mean, loc=1)
                expected += law.logsf(length - 1) if censored else law.logpmf(length)
        np.testing.assert_allclose(sampler.log_joint(), expected, rtol=1e-9)


def test_log_joint_with_similarities_of_observations():
    """log p(x, theta given z) is the likelihood times the prior of log odds of theta."""
    x = [0, 0, 1, 1, 1, 0, 2, 2]
    sampler = make_chain_sampler(
        Problem(as_rows([x]), n_states=3, kappa=1.0), CategoricalEmission(3, 0.5),
        similarity=EmissionSimilarity(decay_prior=(2.0, 3.0)),
    )  # fmt: skip
    for _ in range(20):
        sampler.sweep()
        log_theta = sampler.emission.log_probs.T
        theta = np.exp(log_theta) / np.exp(log_theta).sum(axis=1, keepdims=True)
        expected = sampler.transitions.log_probability()
        expected += log_theta[sampler.states, x].sum() + log_theta.sum()
        expected += sum(stats.dirichlet(np.full(3, 0.5)).logpdf(row) for row in theta)
        expected += log_density_of_log_gamma(sampler.similarity.decay, 2.0, 3.0)
        np.testing.assert_allclose(sampler.log_joint(), expected, rtol=1e-9)
        np.testing.assert_allclose(sampler.scalars()["log_joint"], expected, rtol=1e-9)
