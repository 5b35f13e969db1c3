"""The sampler of the HDP-HMM against enumeration of states with transitions integrated out."""

import numpy as np
import pytest
from exact.oracles.hdp_hmm import Problem, expect

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.emissions._discrete._categorical import CategoricalSampler
from skdp.sequence import FixedSimilarity
from skdp.sequence._hmm._hints import KnownStates, LabeledPanel
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions

ONE = ((0, 0, 1, 1, 0, 1, 1),)
TWO = ((0, 0, 1), (1, 1, 0, 0))
THREE = ((0, 0, 2), (2, 2, 1, 0))
PHI = ((1.0, 0.2), (0.05, 0.6))
PHI3 = ((1.0, 0.3, 0.05), (0.5, 0.8, 0.2), (0.01, 0.6, 1.0))
ZEROS = ((1.0, 0.3, 0.0), (0.0, 0.8, 0.2), (0.4, 0.0, 1.0))
LEFT_RIGHT = ((1, 1, 1), (0, 1, 1), (0, 0, 1), (1, 1, 1))
FROM_FIRST = (*LEFT_RIGHT[:3], (1, 0, 0))
KNOWN = ((0, -1, -1), (-1, 1, -1, -1))

CASES = {
    "plain": Problem(ONE),
    "plain, two sequences": Problem(TWO, alpha=0.7, gamma=1.0),
    "plain, three states": Problem(TWO, n_states=3),
    "sticky": Problem(ONE, kappa=2.0),
    "sticky, three states": Problem(TWO, n_states=3, kappa=1.0),
    "similar": Problem(ONE, phi=PHI),
    "similar, three states": Problem(TWO, n_states=3, phi=PHI3),
    "similar, sticky": Problem(TWO, phi=PHI, kappa=1.5),
    "concentrations": Problem(TWO, alpha=None, gamma=None),
    "concentrations, similar, three states": Problem(
        TWO, n_states=3, alpha=None, gamma=None, phi=PHI3
    ),
    "concentrations, sticky": Problem(TWO, alpha=None, gamma=None, kappa=1.0),
    "concentrations, similar, sticky": Problem(ONE, alpha=None, gamma=None, kappa=1.0, phi=PHI),
    "stickiness": Problem(TWO, alpha=2.0, gamma=None, kappa=None),
    "all, three states": Problem(
        TWO, n_states=3, alpha=None, gamma=None, kappa=None, phi=PHI3, share_prior=(2.0, 1.0)
    ),
    "symbols": Problem(TWO, concentration_prior=(1.5, 0.5)),
    "symbols, three states": Problem(
        THREE, n_states=3, n_symbols=4, concentration_prior=(2.0, 1.0), base=(0.1, 0.5, 0.1, 0.3)
    ),
    "symbols, similar, sticky": Problem(
        THREE, n_symbols=4, concentration_prior=(1.0, 0.3), phi=PHI, kappa=1.0
    ),
    "known": Problem(TWO, n_states=3, known=KNOWN, alpha=None, gamma=None),
    "known, similar, sticky": Problem(TWO, n_states=3, known=KNOWN, phi=PHI3, kappa=1.0),
    "left-right": Problem(TWO, n_states=3, allowed=LEFT_RIGHT, alpha=None, gamma=None),
    "left-right from the first": Problem(TWO, n_states=3, allowed=FROM_FIRST, kappa=None),
    "left-right, known": Problem(TWO, n_states=3, allowed=LEFT_RIGHT, known=KNOWN, kappa=1.0),
    "zeros, concentrations": Problem(TWO, n_states=3, phi=ZEROS, alpha=None, gamma=None),
}
N_SWEEPS, N_BATCHES = 60_000, 40


def run(problem, n_sweeps, seed=0, state_sampler="ffbs"):
    panel = SequencePanel.from_sequences([np.array(s, float) for s in problem.sequences])
    if problem.known is not None:
        panel = LabeledPanel(panel, KnownStates(np.concatenate(problem.known), problem.n_states))
    allowed = None if problem.allowed is None else np.array(problem.allowed, dtype=bool)
    streams = [make_stream(make_seed_sequence(seed + i)) for i in range(3)]
    priors = TransitionPriors(
        problem.gamma, problem.gamma_prior, problem.alpha, problem.alpha_prior,
        problem.kappa, problem.share_prior,
    )  # fmt: skip
    similarity = None
    if problem.phi is not None:
        similarity = FixedSimilarity(problem.phi).make_sampler(problem.n_states)
    prior = np.full(problem.n_symbols, problem.prior)
    if problem.base is not None:
        prior *= problem.n_symbols * np.array(problem.base)
    sampler = HMMSampler(
        panel,
        Transitions(problem.n_states, priors, streams[0], allowed=allowed),
        CategoricalSampler(problem.n_states, prior, problem.concentration_prior),
        streams[1],
        streams[2],
        similarity=similarity,
        state_sampler=state_sampler,
    )
    draws = {"used": [], "together": [], "alpha": [], "kappa": [], "gamma": []}
    if problem.concentration_prior is not None:
        draws["log_concentration"] = []
    for _ in range(n_sweeps):
        sampler.sweep()
        z = sampler.states
        draws["used"].append(len(set(z.tolist())))
        draws["together"].append(z[:, None] == z)
        for name in ("alpha", "kappa", "gamma"):
            draws[name].append(getattr(sampler.transitions, name))
        if problem.concentration_prior is not None:
            draws["log_concentration"].append(np.log(sampler.emission.concentration))
    return {name: np.array(values, dtype=float) for name, values in draws.items()}


RUNS = [(case, "ffbs") for case in CASES]
RUNS += [(case, "beam") for case in ("plain, three states", "similar, sticky", "left-right, known")]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "state_sampler"), RUNS)
def test_posterior(case, state_sampler):
    """|z| < 5 for up to 25 figures a case: a false alarm in 1e-5 cases."""
    problem = CASES[case]
    expected = expect(problem, n_draws=300_000)
    found = run(problem, N_SWEEPS, state_sampler=state_sampler)
    for name, values in found.items():
        batches = values.reshape(N_BATCHES, -1, *values.shape[1:]).mean(axis=1)
        error = np.hypot(batches.std(axis=0) / np.sqrt(N_BATCHES - 1), expected.error[name])
        difference = np.abs(batches.mean(axis=0) - expected.mean[name])
        assert np.all(difference < 5.0 * error + 1e-9), (name, difference / (error + 1e-12))
