"""Activities of factorial hidden Markov models against enumeration of all paths."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from exact.oracles.batch_means import check_chain
from exact.oracles.factorial_hmm import Problem, expect, log_joint, log_likelihood_and_activities
from scipy import stats

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.sequence import BinaryFactorEmission, hmm_posterior
from skdp.sequence._factorial._model import FactorialModel
from skdp.sequence._factorial._sampler import FactorialSampler, StepFactors
from skdp.sequence._factorial_hmm import FactorialHMM
from skdp.sequence._hmm._messages import LabeledPanel
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._similarities._protocol import FixedSimilarity

NAN = np.nan
N_DRAWS = 20_000

BASE = Problem(
    sequences=(((0.4, 1.1), (0.7, 0.2), (1.3, -0.3), (0.1, 0.9)),),
    weights=((0.1, -0.2), (0.8, 0.5), (-0.4, 0.7)),
    precisions=(1.5, 0.7),
    probit=(False, False),
)
PRIORS = {"start_prior": (0.7, 1.6), "switch_on_prior": (0.5, 2.0), "switch_off_prior": (0.4, 1.1)}
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
        panel if known is None else LabeledPanel(panel, known), StepFactors(*parts),
        estimator._priors(len(panel.values)), stream(1), stream(2), block_size=block_size,
    )  # fmt: skip


@pytest.mark.parametrize("block_size", [1, 2])
@pytest.mark.parametrize("case", CASES)
def test_activities_and_transitions(case, block_size):
    problem = CASES[case]
    expected = expect(problem)
    sampler = make_sampler(problem, block_size)
    upper = np.triu_indices(sampler.emission.factors.size)
    for _ in range(20):
        sampler.sweep()
        found = sampler.log_joint()
        assert found == pytest.approx(log_joint(problem, sampler.emission.factors), abs=1e-10)

    def step():
        sampler.sweep()
        bits = sampler.emission.factors.ravel()
        return bits[upper[0]] * bits[upper[1]], sampler.on_probs.copy()

    def compare(pairs, on_probs):
        yield pairs, expected.pairs[upper], "bits"
        yield on_probs, expected.on_probs, "probabilities"
        yield on_probs**2, expected.squares, "their squares"

    check_chain(step, compare, N_DRAWS)


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
        assert model._joint(panel.values).activities(panel.ptr, most_kept, found) == -1
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
        assert model._joint(values).activities(ptr, most_kept, found) == -1
        np.testing.assert_allclose(found, expected @ vectors, rtol=0, atol=1e-10)


# --- large concentrations and similarities that are products over factors -------------------

CHAINS = [
    np.array([[0.9, 0.1], [0.4, 0.6]]),
    np.array([[0.7, 0.3], [0.2, 0.8]]),
    np.array([[0.95, 0.05], [0.5, 0.5]]),
]


def factorial_chain():
    """Return P(b' | b) = prod_d A^d(b_d, b'_d), states in the order of binary numbers."""
    states = list(product(range(2), repeat=len(CHAINS)))
    return np.array(
        [
            [np.prod([A[i, j] for A, i, j in zip(CHAINS, b, c, strict=True)]) for c in states]
            for b in states
        ]
    )


@pytest.mark.parametrize("concentration", [1e4, 1e6, 1e8])
def test_matrix(concentration):
    """Rates have standard deviations of J^(1/2) / alpha^(1/2) of their mean, weights less."""
    expected = factorial_chain()
    assert not np.allclose(expected, expected.T)
    n_states = len(expected)
    similarity = FixedSimilarity(expected / expected.max()).make_sampler(n_states)
    log_similarity = np.empty((n_states, n_states))
    similarity.write(log_similarity, None)
    assert np.count_nonzero(np.diag(log_similarity) < 0.0) == n_states - 1
    priors = TransitionPriors(concentration, (1.0, 0.1), concentration, (1.0, 0.1), 0.0, (1.0, 1.0))
    rng = stream()
    transitions = Transitions(n_states, priors, rng)
    transitions.take_similarity(similarity, None)
    # No transition but that to the first state of one sequence, of length 1.
    transitions.draw(np.array([0, 1]), np.array([0]), rng)
    startprob, transmat = transitions.matrix()
    rtol = 6.0 * np.sqrt(2.0 * n_states / concentration)
    np.testing.assert_allclose(transmat, expected, rtol=rtol)
    np.testing.assert_allclose(startprob, 1.0 / n_states, rtol=rtol)
