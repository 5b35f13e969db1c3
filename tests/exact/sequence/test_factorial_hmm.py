"""Activities of factorial hidden Markov models against enumeration of all paths.

Runs of a chain in 40 batches; |z| < 5 fails a right sampler once in 80,000 comparisons (see
`exact.oracles.batch_means`). There are 644: a false alarm for one choice of the seeds in 120.
"""

from dataclasses import replace

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means
from exact.oracles.factorial_hmm import (
    Problem,
    expect,
    log_joint,
    log_likelihood_and_activities,
)
from scipy import stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.sequence import BinaryFactorEmission, hmm_posterior
from skdp.sequence._factorial import _joint as joint
from skdp.sequence._factorial._model import FactorialModel
from skdp.sequence._factorial._sampler import FactorialSampler
from skdp.sequence._factorial._step_factors import StepFactors
from skdp.sequence._factorial_hmm import FactorialHMM
from skdp.sequence._hmm._hints import LabeledPanel

NAN = np.nan
N_DRAWS = 20_000

BASE = Problem(
    sequences=(((0.4, 1.1), (0.7, 0.2), (1.3, -0.3), (0.1, 0.9)),),
    weights=((0.1, -0.2), (0.8, 0.5), (-0.4, 0.7)),
    precisions=(1.5, 0.7),
    probit=(False, False),
)
PRIORS = {
    "start_prior": (0.7, 1.6),
    "switch_on_prior": (0.5, 2.0),
    "switch_off_prior": (0.4, 1.1),
}
CASES = {
    "one sequence": BASE,
    "priors": replace(BASE, **PRIORS),
    "two sequences": replace(BASE, sequences=(BASE.sequences[0][:3], BASE.sequences[0][2:]),
                             **PRIORS),
    "missing": replace(BASE, sequences=(((0.4, NAN), (NAN, NAN), (NAN, -0.3)), ((0.1, 0.9),))),
    "probit": replace(BASE, sequences=(((0.4, 1.0), (NAN, 0.0), (1.3, 1.0)), ((0.1, NAN),)),
                      probit=(False, True), precisions=(1.5, 1.0), **PRIORS),
    "three factors": replace(BASE, sequences=(((0.4, 1.1), (1.7, 0.2)), ((1.3, -0.3),)),
                             weights=(*BASE.weights, (0.9, -0.6)), **PRIORS),
    "known": replace(BASE, known=((-1, 0), (-1, -1), (1, -1), (-1, -1)), **PRIORS),
    "known in two": replace(BASE, sequences=(BASE.sequences[0][:2], BASE.sequences[0][2:]),
                            known=((-1, -1), (0, 1), (1, -1), (-1, 0)), **PRIORS),
}  # fmt: skip


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def make_emission(problem):
    return BinaryFactorEmission(
        problem.n_factors,
        output=["probit" if p else "normal" for p in problem.probit],
        weights=problem.weights,
        noise_variance=1.0 / np.array(problem.precisions),
    )


def make_panel(problem):
    return SequencePanel.from_sequences([np.array(s) for s in problem.sequences])


def make_known(problem):
    return np.array(problem.known, dtype=np.int8) if problem.known else None


def make_sampler(problem, block_size):
    panel = make_panel(problem)
    known = make_known(problem)
    parts = make_emission(problem).check_parts(panel.values, len(panel.values))
    estimator = FactorialHMM(
        problem.n_factors,
        start_prior=problem.start_prior,
        switch_on_prior=problem.switch_on_prior,
        switch_off_prior=problem.switch_off_prior,
    )
    return FactorialSampler(
        panel if known is None else LabeledPanel(panel, known),
        StepFactors(*parts),
        estimator._priors(len(panel.values)),
        stream(1),
        stream(2),
        block_size=block_size,
    )


@pytest.mark.parametrize("block_size", [1, 2])
@pytest.mark.parametrize("case", CASES)
def test_activities_and_transitions(case, block_size):
    problem = CASES[case]
    expected = expect(problem)
    sampler = make_sampler(problem, block_size)
    n_bits = sampler.emission.factors.size
    bits = np.empty((N_DRAWS, n_bits))
    on_probs = np.empty((N_DRAWS, problem.n_factors, 3))
    for i in range(N_DRAWS):
        sampler.sweep()
        bits[i] = sampler.emission.factors.reshape(-1)
        on_probs[i] = sampler.on_probs
        if i % 1000 == 0:
            found = sampler.log_joint()
            assert found == pytest.approx(log_joint(problem, sampler.emission.factors), abs=1e-10)
    upper = np.triu_indices(n_bits)
    assert_means(bits[:, upper[0]] * bits[:, upper[1]], expected.pairs[upper], "bits")
    assert_means(on_probs, expected.on_probs, "probabilities")
    assert_means(on_probs**2, expected.squares, "their squares")


def make_model(problem, seed=0):
    rng = np.random.default_rng(seed)
    shape = (problem.n_factors, 2)
    return FactorialModel(
        startprob=rng.dirichlet([1.0, 1.0], size=shape[:1]),
        transmat=rng.dirichlet([1.0, 1.0], size=shape),
        weights=np.array(problem.weights),
        noise_variance=1.0 / np.array(problem.precisions),
        output=tuple("probit" if p else "normal" for p in problem.probit),
        shares=np.full(problem.n_factors, 0.5),
    )


@pytest.mark.parametrize("case", CASES)
def test_likelihood_and_smoothing(case):
    problem = replace(CASES[case], known=())
    model, panel = make_model(problem), make_panel(problem)
    expected, activities = log_likelihood_and_activities(problem, model.startprob, model.transmat)
    found = model.log_likelihoods(panel.ptr, panel.values)
    np.testing.assert_allclose(found.sum(), expected, rtol=0, atol=1e-10)
    for s, x in enumerate(panel):
        steps = model.log_predictives(x)
        np.testing.assert_allclose(steps.sum(), found[s], rtol=0, atol=1e-10)
        before = model.log_predictives(x[:1])
        np.testing.assert_allclose(before, steps[:1], rtol=0, atol=1e-10)
    found = model.posteriors(panel.ptr, panel.values)
    np.testing.assert_allclose(found, activities, rtol=0, atol=1e-10)
    for most_kept in (1, 2 * 2**problem.n_factors):
        found = np.full(activities.shape, NAN)
        assert joint.activities(panel.ptr, *model._joint(panel.values), most_kept, found) == -1
        np.testing.assert_allclose(found, activities, rtol=0, atol=1e-10)


@pytest.mark.parametrize("case", ["known", "known in two"])
def test_smoothing_given_known_bits(case):
    problem = CASES[case]
    model, panel = make_model(problem), make_panel(problem)
    _, expected = log_likelihood_and_activities(problem, model.startprob, model.transmat)
    found = model.posteriors(panel.ptr, panel.values, make_known(problem))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def make_joint_transitions(model):
    """Return the model as one of joint states, factor f in bit f: a Kronecker product."""
    startprob, transmat = np.ones(1), np.ones((1, 1))
    for first, matrix in zip(model.startprob, model.transmat, strict=True):
        startprob, transmat = np.kron(first, startprob), np.kron(matrix, transmat)
    return startprob, transmat


def test_long_sequences_as_a_plain_model():
    """Observations far from all means, probabilities near 0, and blocks: 400 steps, 5 factors."""
    rng = np.random.default_rng(3)
    values = 30.0 * rng.normal(size=(400, 3))
    values[rng.random(values.shape) < 0.2] = NAN
    values[100:110] = NAN
    on = np.concatenate([rng.beta(0.1, 0.1, size=(4, 3)).clip(1e-9, 1 - 1e-9), [[0.5] * 3]])
    model = FactorialModel(
        startprob=np.column_stack([1.0 - on[:, 0], on[:, 0]]),
        transmat=np.stack([1.0 - on[:, 1:], on[:, 1:]], axis=-1),
        weights=20.0 * rng.normal(size=(6, 3)),
        noise_variance=np.array([0.1, 1.0, 30.0]),
        output=("normal",) * 3,
        shares=np.full(5, 0.5),
    )
    ptr = np.array([0, 250, 251, 400])
    vectors = np.arange(32)[:, np.newaxis] >> np.arange(5) & 1
    means = model.weights[0] + vectors @ model.weights[1:]
    logs = stats.norm.logpdf(values[:, np.newaxis], means, np.sqrt(model.noise_variance))
    expected = hmm_posterior(
        *make_joint_transitions(model), np.nan_to_num(logs, nan=0.0).sum(axis=2), ptr
    )
    found = np.empty((400, 5))
    for most_kept in (1, 1 << 22):
        assert joint.activities(ptr, *model._joint(values), most_kept, found) == -1
        np.testing.assert_allclose(found, expected @ vectors, rtol=0, atol=1e-10)
