"""The joint of a chain without similarities, against its Dirichlet-multinomials."""

import numpy as np
from scipy.special import gammaln

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions


def test_probability_of_transitions():
    priors = TransitionPriors(1.3, (1.0, 1.0), 2.0, (1.0, 1.0), 0.7, (1.0, 1.0))
    rng = make_stream(make_seed_sequence(1))
    transitions = Transitions(3, priors, rng)
    states = np.array([0, 0, 1, 2, 2, 1, 1, 0])
    ptr = np.array([0, 5, 8])
    transitions.draw(ptr, states, rng)
    beta = transitions.weights
    expected = gammaln(1.3) - 3.0 * gammaln(1.3 / 3.0) + 1.3 / 3.0 * np.log(beta).sum()
    counts = np.zeros((4, 3))
    for s, e in ((0, 5), (5, 8)):
        for before, after in zip([3, *states[s : e - 1]], states[s:e], strict=True):
            counts[before, after] += 1.0
    for j in range(4):
        shapes = 2.0 * beta + 0.7 * (np.arange(3) == j)
        expected += (gammaln(shapes + counts[j]) - gammaln(shapes)).sum()
        expected += gammaln(shapes.sum()) - gammaln(shapes.sum() + counts[j].sum())
    np.testing.assert_allclose(transitions.log_probability(), expected)
