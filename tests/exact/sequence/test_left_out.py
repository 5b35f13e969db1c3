"""Log likelihoods given drawn parameters: leave-one-sequence-out against enumeration."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from exact.oracles.hdp_hmm import Problem, count, draw_prior, log_evidence

from skdp.emissions import CategoricalEmission
from skdp.sequence import HDPHMMLT

SEQUENCES = (0, 1, 1), (1, 0), (0, 0), (1, 1, 1)


def evidence_of(sequences, n_draws=200_000):
    """Return p(x): a sum over states of p(x given z), times p(z) averaged over prior draws."""
    problem = Problem(sequences)
    every = list(product(range(2), repeat=sum(map(len, sequences))))
    counts = np.array([count(problem, states).ravel() for states in every])
    kinds, kind = np.unique(counts, axis=0, return_inverse=True)
    weights = np.bincount(kind.ravel(), np.exp([log_evidence(problem, z) for z in every]))
    total, rng = 0.0, np.random.default_rng(0)
    for _ in range(n_draws // 10_000):
        log_p = np.maximum(draw_prior(problem, 10_000, rng)[3].reshape(10_000, -1), -700.0)
        total += (np.exp(log_p @ kinds.T) @ weights).mean()
    return total / (n_draws // 10_000)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # arviz's own
def test_arviz_agrees_with_enumeration():
    """PSIS-LOO from 4,000 stored samples, to .12 nats, five standard deviations over seeds."""
    arviz = pytest.importorskip("arviz")
    X = [np.array(sequence, dtype=float) for sequence in SEQUENCES]
    model = HDPHMMLT(
        2, emission=CategoricalEmission(2, prior=0.5), top_concentration=2.0,
        transition_concentration=1.5, max_iter=4100, burn_in=100, thin=2, n_samples=2000,
        n_chains=2, random_state=0,
    )  # fmt: skip
    data = model.fit(X).to_arviz(X)
    whole = evidence_of(SEQUENCES)
    rests = [SEQUENCES[:i] + SEQUENCES[i + 1 :] for i in range(4)]
    expected = [np.log(whole / evidence_of(rest)) for rest in rests]
    np.testing.assert_allclose(arviz.loo(data, pointwise=True).loo_i, expected, atol=0.12)
    # Predictive distributions of the next observation are given the sequence itself: too high.
    model._models = [replace(sample, drawn=sample.emission) for sample in model._models]
    wrong = arviz.loo(model.to_arviz(X), pointwise=True).loo_i.values
    assert (wrong > np.array(expected) + 0.12).all()
