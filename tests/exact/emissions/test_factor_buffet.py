"""Binary vectors with an inferred number of factors against enumeration, weights integrated out.

Runs of a chain in 40 batches; |z| < 5 fails a right sampler once in 80,000 comparisons (see
`exact.oracles.batch_means`). There are about 1,000 here: a false alarm for one choice of the seeds
in 80.
"""

import numpy as np
import pytest
from exact.emissions.factor_problems import THREE_STATES, TWO_STATES, stream
from exact.oracles.batch_means import assert_means
from exact.oracles.state_buffets import BuffetProblem, describe, expect

from skdp.emissions._binary_factors._emission import BinaryFactorEmission
from skdp.emissions._protocol import Coupling

NAN = np.nan
N_DRAWS = 20_000

NORMAL = {
    "values": ((0.4, 2.1), (0.7, 1.2), (2.3, -1.3), (0.1, 1.9)),
    "states": (0, 0, 1, 0),
    "scale": 1.1,
    "noise": (0.5, 0.8),
    "probit": (False, False),
}
PROBIT = {
    "values": ((1.0,), (0.0,), (0.0,), (1.0,), (1.0,), (0.0,)),
    "states": (0, 1, 1, 0, 0, 1),
    "scale": 1.0,
    "noise": (1.0,),
    "probit": (True,),
}
BOTH = {
    **NORMAL,
    "values": ((0.4, 1.0), (0.7, 1.0), (2.3, 0.0), (0.1, 1.0)),
    "noise": (0.5, 1.0),
    "probit": (False, True),
    "scale": 1.0,
}
MISSING = {**NORMAL, "values": ((0.4, NAN), (NAN, 0.2), (NAN, -1.3), (0.1, 0.9))}
THREE = {**NORMAL, "states": (0, 2, 1, 0), "n_states": 3, "mass_prior": (3.0, 6.0)}
CASES = {
    "normal": (BuffetProblem(**NORMAL), 14),
    "normal, concentration": (BuffetProblem(**NORMAL, concentration=2.5), 14),
    "normal, bound": (BuffetProblem(**NORMAL, most=2, mass_prior=(3.0, 1.0)), 14),
    "normal, missing": (BuffetProblem(**MISSING), 14),
    "probit": (BuffetProblem(**PROBIT), 12),
    "both": (BuffetProblem(**BOTH), 12),
    "three states": (BuffetProblem(**THREE), 7),
    "idle state": (BuffetProblem(**{**THREE, "states": (0, 0, 1, 0)}), 7),
    "idle state, bound": (BuffetProblem(**{**THREE, "states": (0, 0, 1, 0)}, most=2), 7),
    "two idle states": (
        BuffetProblem(**{**THREE, "states": (1, 1, 1, 1), "concentration": 0.6}), 7,
    ),
    "coupled": (BuffetProblem(**NORMAL, **TWO_STATES), 14),
    "coupled, probit": (BuffetProblem(**PROBIT, **TWO_STATES), 12),
    "coupled, bound": (BuffetProblem(**NORMAL, **TWO_STATES, most=2), 14),
    "coupled, idle state": (
        BuffetProblem(**{**THREE, **THREE_STATES, "states": (0, 0, 1, 0)}), 7,
    ),
}  # fmt: skip


def make_sampler(problem):
    values = np.array(problem.values)
    all_probit = all(problem.probit)
    sampler = BinaryFactorEmission(
        "auto",
        output=["probit" if p else "normal" for p in problem.probit],
        activity_prior=(1.0, problem.concentration),
        mass_prior=problem.mass_prior,
        weights_scale=problem.scale,
        noise_variance="auto" if all_probit else np.array(problem.noise),
    ).make_sampler(values, problem.n_states)
    sampler.most_factors = min(sampler.most_factors, problem.most)
    sampler.attach(values)
    return sampler


@pytest.mark.parametrize("case", CASES)
def test_factors(case):
    problem, most = CASES[case]
    expected = expect(problem, most)
    sampler, rng = make_sampler(problem), stream()
    states, coupling = np.array(problem.states), None
    if problem.decay is not None:
        coupling = Coupling(problem.decay, np.array(problem.counts), np.array(problem.log_rates))
    draws = np.empty((N_DRAWS, len(expected)))
    for i in range(N_DRAWS):
        sampler.draw(states, rng, coupling)
        draws[i] = describe(sampler.factors)
    assert_means(draws, expected)


def test_limit_of_a_large_given_number():
    """F factors with Beta(mass q / F, q) have nearly the posterior of the buffet, for large F.

    The given number differs from its limit by a term of the order mass / F, here 1 / 100.
    """
    problem, most = BuffetProblem(**NORMAL, concentration=1.5, mass_prior=(1e6, 1e6)), 12
    n_factors, values = 100, np.array(NORMAL["values"])
    sampler = BinaryFactorEmission(
        n_factors,
        activity_prior=(1.5 / n_factors, 1.5),
        weights_scale=problem.scale,
        noise_variance=np.array(problem.noise),
    ).make_sampler(values, problem.n_states)
    sampler.attach(values)
    rng, states, draws = stream(), np.array(problem.states), []
    for _ in range(3_000):
        sampler.draw(states, rng)
        draws.append(describe(sampler.factors[:, sampler.factors.any(axis=0)]))
    expected = expect(problem, most)
    chain = make_sampler(problem)
    buffet = []
    for _ in range(3_000):
        chain.draw(states, rng)
        buffet.append(describe(chain.factors))
    for found in (draws, buffet):
        cells = np.array(found).mean(axis=0)
        assert np.abs(cells - expected)[: 27 + 3].max() < 0.08
