"""Similarities that come from the observations of states, against enumeration of states."""

from functools import partial

import numpy as np
import pytest
from exact.oracles import latent
from exact.oracles.hdp_hmm import Problem
from exact.sequence.chains import Case, as_rows, check, make_chain_sampler, move

from skdp.emissions import BernoulliEmission, CategoricalEmission, PoissonEmission
from skdp.sequence import EmissionSimilarity

ONE, TWO, FEW = ("001101",), ("011", "100"), ("034", "501")
NO_RETURN, NO_STAY = ((1, 1), (0, 1), (1, 1)), ((1, 1), (1, 0), (1, 0))


def parameters_of(emission):
    """Return the probability of 1, or the mean, of either state."""
    if hasattr(emission, "log_intensities"):
        return np.exp(emission.log_intensities[:, 0])
    return np.exp(emission.log_probs[1])


def case(
    sequences, metric="hellinger", decay=None, decay_prior=(2.0, 1.0), prior=(0.8, 1.2),
    concentration_prior=None, is_count=False, **more,
):  # fmt: skip
    """Return a problem of bits or counts, and its similarity."""
    rows = as_rows(sequences)
    unknown = latent.observations(
        rows, metric, decay, decay_prior, prior, concentration_prior, is_count=is_count
    )
    emission = PoissonEmission(*prior) if is_count else BernoulliEmission(prior)
    if concentration_prior is not None:
        emission = CategoricalEmission(2, concentration_prior=concentration_prior)

    def figures(sampler):
        theta, log_phi = parameters_of(sampler.emission), sampler.transitions.log_similarity[0, 1]
        log_a = 0.0 if concentration_prior is None else np.log(sampler.emission.concentration)
        return latent.figures_of(theta, sampler.similarity.decay, log_phi, log_a)

    similarity = EmissionSimilarity(metric, "auto" if decay is None else decay, decay_prior)
    return Case(Problem(rows, latent=unknown, **more), emission, figures=figures), similarity


counts = partial(case, FEW, prior=(1.5, 0.7), is_count=True)
CASES = {
    "bits": case(ONE),
    "bits, bhattacharyya": case(TWO, "bhattacharyya"),
    "bits, far": case(TWO, decay=6.0, alpha=4.0),
    "bits, sticky": case(TWO, kappa=1.5, decay_prior=(3.0, 0.5)),
    "symbols": case(TWO, concentration_prior=(3.0, 1.0), decay_prior=(3.0, 0.5)),
    "symbols, far": case(ONE, "bhattacharyya", 5.0, concentration_prior=(2.0, 1.0)),
    "counts": counts(),
    "bits, no return": case(TWO, decay=3.0, alpha=4.0, allowed=NO_RETURN),
    "bits, no stay": case(TWO, kappa=1.0, allowed=NO_STAY),
    "counts, bhattacharyya": counts("bhattacharyya", 2.0),
}
APART = case(("010", "011"), decay=20.0, alpha=10.0, gamma=4.0, prior=(0.3, 0.3))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_posterior(name):
    own, similarity = CASES[name]
    check(own, 24_000, similarity=similarity, log2_points=14)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bits, far", "bits, no return", "symbols", "counts"])
def test_posterior_by_splits_and_merges(name):
    own, similarity = CASES[name]
    check(own, 24_000, move, similarity=similarity, log2_points=14)


@pytest.mark.slow
def test_posterior_by_many_splits_and_merges():
    """Parameters come from proposals of moves; similarities are informative about states."""
    own, similarity = APART
    check(own, 8_000, partial(move, n_moves=5), similarity=similarity, log2_points=14)


def test_split_states_have_parameters_of_their_own_steps():
    """The similarity of two states does not determine which parameters belong to which state."""
    x = [0, 1, 2, 1, 990, 1010, 1000, 1000] * 3
    (problem, emission, *_), similarity = case([x], prior=(1.5, 0.01), is_count=True)
    sampler = make_chain_sampler(problem, emission, similarity=similarity)
    n_splits = 0
    for _ in range(200):
        sampler.states[:] = 0
        if sampler._split_or_merge():
            n_splits += 1
            theta = parameters_of(sampler.emission)
            for j in (0, 1):
                own = np.mean(np.array(x)[sampler.states == j])
                assert abs(theta[j] - own) < 2.0 + 0.1 * own
    assert n_splits > 10
