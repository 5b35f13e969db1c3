"""Links are drawn from their posterior: enumeration of all link vectors of 4 observations.

By batch means (see `batch_means`): |z| < 5 for 16 links and 15 partitions of each case, a false
alarm for one in 100 choices of the seeds; these are fixed."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from exact.oracles import links as oracle
from exact.oracles.batch_means import check_chain
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature

from skdp.context import DistanceDependentCRPClassifier

OUTCOMES = (0, 0, 1, 0)
N_OUTCOMES = 3
GAMMA = 0.7
ALPHA = 0.6


class Problem(NamedTuple):
    """Contexts, those of new observations, parameters, and all similarities by the oracle."""

    X: Any
    new: Any
    params: dict
    similarities: np.ndarray
    to_new: np.ndarray


CONTEXTS = [["a", "u"], ["a", "v"], ["b", "u"], ["a", "u"]]
NEW = [["a", "u"], ["b", "v"], ["c", "w"], ["c", "u"]]
DECAY = (0.8, 1.7)
WEIGHTS = (0.3, 0.7)
WIDE = [[*row, *("k" * 5)] for row in CONTEXTS]
WIDE_NEW = [[*row, *"kkkkm"] for row in NEW]
WIDE_DECAY = (*DECAY, 0.2, 0.3, 0.1, 0.4, 0.9)

TABLE = np.array([
    [1.0, 0.5, 0.2, 0.9],
    [0.1, 1.0, 0.6, 0.0],
    [0.7, 0.3, 1.0, 0.4],
    [0.0, 0.8, 0.5, 1.0],
])  # fmt: skip
"""Not symmetric, and with zeros."""

TABLE_NEW = np.array([[0.2, 0.5, 0.1, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.3, 2.0]])


def lengths(A, B):
    """Return a kernel on numbers whose diagonal is not 1, and that is not symmetric."""
    a, b = np.asarray(A, float)[:, :1], np.asarray(B, float)[:, :1].T
    return np.exp(-np.abs(a - b)) * (1.0 + 0.5 * (a > b)) * 1.3


NUMBERS, NEW_NUMBERS = [[1.0], [2.5], [1.7], [1.0]], [[0.5], [1.7], [9.0]]

PROBLEMS = {
    "product": Problem(
        CONTEXTS, NEW, {"decay": DECAY},
        oracle.product_similarities(CONTEXTS, CONTEXTS, DECAY),
        oracle.product_similarities(NEW, CONTEXTS, DECAY),
    ),
    "wide": Problem(
        WIDE, WIDE_NEW, {"decay": WIDE_DECAY},
        oracle.product_similarities(WIDE, WIDE, WIDE_DECAY),
        oracle.product_similarities(WIDE_NEW, WIDE, WIDE_DECAY),
    ),
    "overlap": Problem(
        CONTEXTS, NEW, {"kernel": "overlap", "weights": WEIGHTS},
        oracle.overlap_similarities(CONTEXTS, CONTEXTS, WEIGHTS),
        oracle.overlap_similarities(NEW, CONTEXTS, WEIGHTS),
    ),
    "callable": Problem(
        NUMBERS, NEW_NUMBERS, {"kernel": lengths},
        lengths(NUMBERS, NUMBERS), lengths(NEW_NUMBERS, NUMBERS),
    ),
    "precomputed": Problem(TABLE, TABLE_NEW, {"kernel": "precomputed"}, TABLE, TABLE_NEW),
}  # fmt: skip


def make_estimator(problem, model, **params):
    given = {
        "concentration": ALPHA, "outcome_prior": GAMMA, "outcome_model": model,
        "classes": range(N_OUTCOMES), "random_state": 0,
    }  # fmt: skip
    return DistanceDependentCRPClassifier(**{**given, **problem.params, **params})


def make_chain_sampler(problem, model, outcomes=OUTCOMES, **params):
    """Return the sampler of a chain that `fit` would run."""
    estimator = make_estimator(problem, model, **params)
    data = estimator._check_input(problem.X, outcomes)
    (chain,) = estimator._make_procedure(data).start_chains(1).runs
    return chain.sampler


N_SWEEPS = 6_000
FEW_SWEEPS = 2_000
"""Where parameters are drawn, too: links move with them."""
EVERY = oracle.all_links(4)
LABELS = [oracle.components(links) for links in EVERY]
INDEX = {links: k for k, links in enumerate(EVERY)}
TOGETHER = np.array([
    [labels[i] == labels[j] for i in range(4) for j in range(i)] for labels in LABELS
], dtype=float)  # fmt: skip
ALONG = np.array([np.eye(4)[list(links)] for links in EVERY])
NUMBERS = np.array([max(labels) + 1 for labels in LABELS])
MODELS = ("shared", "dirichlet")
every_model = pytest.mark.parametrize("model", MODELS)
every_problem = pytest.mark.parametrize("name", PROBLEMS)
one_slow = pytest.mark.parametrize(
    "model", ["shared", pytest.param("dirichlet", marks=pytest.mark.slow)]
)


def posterior(problem, model, outcomes=OUTCOMES):
    joint = oracle.joint(problem.similarities, ALPHA, outcomes, N_OUTCOMES, GAMMA, model)
    return joint / joint.sum(), joint


def check(sampler, expected, n_sweeps=FEW_SWEEPS, more=None, means=()):
    """Compare links with their posterior, and functions of other draws with their means."""

    def step():
        sampler.sweep()
        found = INDEX[tuple(sampler.links.tolist())]
        return found if more is None else (found, more(sampler))

    def compare(found, *others):
        yield ALONG[found], np.tensordot(expected, ALONG, 1), "links"
        yield TOGETHER[found], expected @ TOGETHER, "pairs in one component"
        yield NUMBERS[found], expected @ NUMBERS, "number of components"
        for each in others:
            yield each, means, "what else is drawn"

    check_chain(step, compare, n_sweeps)


@every_model
@every_problem
def test_links(name, model):
    problem = PROBLEMS[name]
    check(make_chain_sampler(problem, model), posterior(problem, model)[0], N_SWEEPS)


@every_model
def test_links_of_many_of_one_outcome(model):
    """All of one outcome: any link is possible, and components are large and have cycles."""
    problem = PROBLEMS["product"]
    sampler = make_chain_sampler(problem, model, outcomes=(1, 1, 1, 1))
    check(sampler, posterior(problem, model, (1, 1, 1, 1))[0], N_SWEEPS)


@pytest.mark.slow
@every_model
@pytest.mark.parametrize("name", ["product", "precomputed"])
def test_links_of_five(name, model):
    """Five observations: cycles of three, and components that are cut next to others."""
    base = PROBLEMS[name]
    X, similarities = [*CONTEXTS, ["b", "v"]], None
    if name == "product":
        similarities = oracle.product_similarities(X, X, base.params["decay"])
    else:
        similarities = X = np.random.default_rng(1).random((5, 5))
    outcomes, every = (0, 0, 1, 0, 1), oracle.all_links(5)
    joint = oracle.joint(similarities, ALPHA, outcomes, N_OUTCOMES, GAMMA, model)
    sampler = make_chain_sampler(
        Problem(X, X, base.params, similarities, similarities), model, outcomes
    )
    expected = sum(p * np.eye(5)[list(links)] for p, links in zip(joint, every, strict=True))

    def step():
        sampler.sweep()
        return np.eye(5)[sampler.links]

    check_chain(step, lambda links: [(links, expected / joint.sum(), "links")], 2 * N_SWEEPS)


@every_model
@every_problem
def test_log_joint(name, model):
    problem = PROBLEMS[name]
    _, joint = posterior(problem, model)
    sampler = make_chain_sampler(problem, model)
    for _ in range(30):
        sampler.sweep()
        expected = np.log(joint[INDEX[tuple(sampler.links.tolist())]])
        np.testing.assert_allclose(sampler.log_joint(), expected, rtol=1e-12)
        assert tuple(sampler.labels.tolist()) == oracle.components(sampler.links.tolist())


def predictive(problem, model, links, gamma=GAMMA):
    """Return the distribution of each new outcome given the links of the others."""
    return np.array([
        oracle.predictive(links, row, ALPHA, OUTCOMES, N_OUTCOMES, gamma, model)
        for row in problem.to_new.tolist()
    ])  # fmt: skip


SAMPLES = {"max_iter": 9, "burn_in": 0, "thin": 1, "n_samples": 9}


@every_model
@every_problem
def test_predictive_given_links(name, model):
    """What a stored sample says of new observations, one more link at a time."""
    problem = PROBLEMS[name]
    estimator = make_estimator(problem, model, **SAMPLES)
    states = [tuple(state.links.tolist()) for state in estimator.iter_sweeps(problem.X, OUTCOMES)]
    found = estimator.fit(problem.X, OUTCOMES).predict_proba(problem.new)
    expected = np.mean([predictive(problem, model, links) for links in states], axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


@every_model
@pytest.mark.parametrize("name", ["product", "overlap"])
def test_predictive(name, model):
    """Averaged over samples it is the posterior predictive distribution."""
    problem = PROBLEMS[name]
    estimator = make_estimator(problem, model, max_iter=2).fit(problem.X, OUTCOMES)
    sampler = make_chain_sampler(problem, model)
    weights, _ = posterior(problem, model)
    expected = sum(
        p * predictive(problem, model, links)
        for p, links in zip(weights, EVERY, strict=True)
        if p > 0.0
    )

    def step():
        sampler.sweep()
        estimator._models = [sampler.model()]
        return estimator.predict_proba(problem.new)

    check_chain(step, lambda found: [(found, expected, "predictive distribution")], FEW_SWEEPS)


def check_parameter(sampler, joint, values, draw):
    """Compare links and a drawn parameter with their joint probabilities, a row for each value."""
    joint = joint / joint.sum()
    check(sampler, joint.sum(axis=0), more=draw, means=joint.sum(axis=1) @ values)


CONCENTRATION_PRIOR = (1.5, 2.0)


@one_slow
@pytest.mark.parametrize("name", ["product", "precomputed"])
def test_drawn_concentration(name, model):
    problem = PROBLEMS[name]
    sampler = make_chain_sampler(
        problem, model, concentration="auto", concentration_prior=CONCENTRATION_PRIOR
    )
    alphas, weights = gamma_quadrature(*CONCENTRATION_PRIOR, step=0.1)
    joint = oracle.by_parameter(
        [problem.similarities], alphas, OUTCOMES, N_OUTCOMES, GAMMA, model
    )[0] * weights[:, None]  # fmt: skip
    check_parameter(sampler, joint, np.log(alphas), lambda s: np.log(s.concentration))


DIRICHLET_PRIOR = (1.5, 1.0)


@every_model
def test_drawn_outcome_prior(model):
    problem = PROBLEMS["product"]
    sampler = make_chain_sampler(
        problem, model, outcome_prior="auto", dirichlet_prior=DIRICHLET_PRIOR
    )
    gammas, weights = gamma_quadrature(*DIRICHLET_PRIOR, step=0.1)
    given = [
        oracle.joint(problem.similarities, ALPHA, OUTCOMES, N_OUTCOMES, gamma, model)
        for gamma in gammas
    ]
    joint = np.array(given) * weights[:, None]
    check_parameter(sampler, joint, np.log(gammas), lambda s: np.log(s.outcome_prior))


@every_model
def test_predictive_with_drawn_outcome_priors(model):
    """Each stored sample predicts with the outcome prior of its own."""
    problem = PROBLEMS["product"]
    estimator = make_estimator(problem, model, **SAMPLES, outcome_prior="auto")
    states = [
        (tuple(state.links.tolist()), state.outcome_prior)
        for state in estimator.iter_sweeps(problem.X, OUTCOMES)
    ]
    estimator.fit(problem.X, OUTCOMES)
    expected = np.mean([predictive(problem, model, *state) for state in states], axis=0)
    np.testing.assert_allclose(estimator.predict_proba(problem.new), expected, rtol=1e-10)
    assert estimator.outcome_prior_ == pytest.approx(np.mean([gamma for _, gamma in states]))
    assert len({gamma for _, gamma in states}) == len(states)


def decay_posterior(X, prior, model, others=()):
    """Return decays, and p(decay 0, decay 1, links | outcomes) on a grid."""
    decays, weights = gamma_quadrature(*prior, step=0.25)
    pairs = [(one, two) for one in decays for two in decays]
    joint = oracle.by_parameter(
        [oracle.product_similarities(X, X, (*pair, *others)) for pair in pairs],
        [ALPHA], OUTCOMES, N_OUTCOMES, GAMMA, model,
    ).reshape(len(decays), len(decays), -1)  # fmt: skip
    joint *= weights[:, None, None] * weights[None, :, None]
    return decays, joint / joint.sum()


DECAY_PRIOR = (2.0, 1.5)


def check_decays(name, model, n_others=0):
    """Compare drawn decays; those of the last columns, which never differ, with the prior."""
    decays, joint = decay_posterior(CONTEXTS, DECAY_PRIOR, model)
    sampler = make_chain_sampler(PROBLEMS[name], model, decay="auto", decay_prior=DECAY_PRIOR)
    means = [joint.sum(axis=(1, 2)) @ np.log(decays), joint.sum(axis=(0, 2)) @ np.log(decays)]
    nodes, weights = gamma_quadrature(*DECAY_PRIOR)
    means += [weights @ np.log(nodes)] * n_others
    expected = joint.sum(axis=(0, 1))
    check(sampler, expected, more=lambda s: np.log(s.similarity.parameter), means=means)


@one_slow
def test_drawn_decays(model):
    check_decays("product", model)


@one_slow
def test_drawn_decays_in_a_table(model):
    """More columns than their sets can be counted for; the last five never differ."""
    check_decays("wide", model, n_others=len(WIDE[0]) - 2)


@one_slow
def test_drawn_weights(model):
    sampler = make_chain_sampler(PROBLEMS["overlap"], model, weights="auto")
    nodes, weights = beta_quadrature(1.0, 1.0, 60)
    joint = oracle.by_parameter(
        [oracle.overlap_similarities(CONTEXTS, CONTEXTS, (w, 1.0 - w)) for w in nodes],
        [ALPHA], OUTCOMES, N_OUTCOMES, GAMMA, model,
    )[:, 0] * weights[:, None]  # fmt: skip
    check_parameter(sampler, joint, nodes, lambda s: s.similarity.parameter[0])
