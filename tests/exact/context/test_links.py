"""Links are drawn from their posterior: enumeration of all link vectors of 4 observations.

By batch means (see `batch_means`): |z| < 5 for 16 links and 15 partitions of each case, a false
alarm for one in 100 choices of the seeds; these are fixed.
"""

import numpy as np
import pytest
from exact.context.link_problems import (
    ALPHA,
    CONTEXTS,
    GAMMA,
    N_OUTCOMES,
    OUTCOMES,
    PROBLEMS,
    WIDE,
    Problem,
    make_chain_sampler,
    make_estimator,
)
from exact.oracles import links as oracle
from exact.oracles.batch_means import assert_means
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature

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
ONE_SLOW = ("shared", pytest.param("dirichlet", marks=pytest.mark.slow))


def posterior(problem, model, outcomes=OUTCOMES):
    joint = oracle.joint(problem.similarities, ALPHA, outcomes, N_OUTCOMES, GAMMA, model)
    return joint / joint.sum(), joint


def run(sampler, n_sweeps=N_SWEEPS, more=lambda sampler: ()):
    """Return the number of the link vector after each sweep, and more."""
    found = np.empty(n_sweeps, dtype=int)
    others = []
    for s in range(n_sweeps):
        sampler.sweep()
        found[s] = INDEX[tuple(sampler.links.tolist())]
        others.append(more(sampler))
    return found, np.array(others)


def check_links(found, expected):
    assert_means(ALONG[found], np.tensordot(expected, ALONG, 1), "links")
    assert_means(TOGETHER[found], expected @ TOGETHER, "pairs in one component")
    assert_means(NUMBERS[found][:, None], np.array([expected @ NUMBERS]), "number of components")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_links(name, model):
    problem = PROBLEMS[name]
    found, _ = run(make_chain_sampler(problem, model))
    check_links(found, posterior(problem, model)[0])


@pytest.mark.parametrize("model", MODELS)
def test_links_of_many_of_one_outcome(model):
    """All of one outcome: any link is possible, and components are large and have cycles."""
    problem = PROBLEMS["product"]
    found, _ = run(make_chain_sampler(problem, model, outcomes=(1, 1, 1, 1)))
    check_links(found, posterior(problem, model, (1, 1, 1, 1))[0])


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["product", "precomputed"])
def test_links_of_five(name, model):
    """Five observations: cycles of three, and components that are cut beside others."""
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
    found = []
    for _ in range(2 * N_SWEEPS):
        sampler.sweep()
        found.append(np.eye(5)[sampler.links])
    expected = sum(p * np.eye(5)[list(links)] for p, links in zip(joint, every, strict=True))
    assert_means(np.array(found), expected / joint.sum(), "links")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_log_joint(name, model):
    problem = PROBLEMS[name]
    _, joint = posterior(problem, model)
    sampler = make_chain_sampler(problem, model)
    for _ in range(30):
        sampler.sweep()
        expected = np.log(joint[INDEX[tuple(sampler.links.tolist())]])
        np.testing.assert_allclose(sampler.log_joint(), expected, rtol=1e-12)
        assert tuple(sampler.labels.tolist()) == oracle.components(sampler.links.tolist())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_predictive_given_links(name, model):
    """What a stored sample says of new observations, one more link at a time."""
    problem = PROBLEMS[name]
    estimator = make_estimator(problem, model, max_iter=9, burn_in=0, thin=1, n_samples=9)
    states = [tuple(state.links.tolist()) for state in estimator.iter_sweeps(problem.X, OUTCOMES)]
    found = estimator.fit(problem.X, OUTCOMES).predict_proba(problem.new)
    expected = np.mean([
        [oracle.predictive(links, row, ALPHA, OUTCOMES, N_OUTCOMES, GAMMA, model)
         for row in problem.to_new.tolist()]
        for links in states
    ], axis=0)  # fmt: skip
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["product", "overlap"])
def test_predictive(name, model):
    """Averaged over samples it is the posterior predictive distribution."""
    problem = PROBLEMS[name]
    estimator = make_estimator(problem, model, max_iter=2).fit(problem.X, OUTCOMES)
    sampler = make_chain_sampler(problem, model)
    found = []
    for _ in range(FEW_SWEEPS):
        sampler.sweep()
        estimator._models = [sampler.model()]
        found.append(estimator.predict_proba(problem.new))
    weights, _ = posterior(problem, model)
    expected = sum(
        p * np.array([
            oracle.predictive(links, row, ALPHA, OUTCOMES, N_OUTCOMES, GAMMA, model)
            for row in problem.to_new.tolist()
        ])
        for p, links in zip(weights, EVERY, strict=True) if p > 0.0
    )  # fmt: skip
    assert_means(np.array(found), expected, "predictive distribution")


CONCENTRATION_PRIOR = (1.5, 2.0)


@pytest.mark.parametrize("model", ONE_SLOW)
@pytest.mark.parametrize("name", ["product", "precomputed"])
def test_drawn_concentration(name, model):
    problem = PROBLEMS[name]
    sampler = make_chain_sampler(
        problem, model, concentration="auto", concentration_prior=CONCENTRATION_PRIOR
    )
    found, logs = run(sampler, FEW_SWEEPS, more=lambda w: (np.log(w.concentration),))
    alphas, weights = gamma_quadrature(*CONCENTRATION_PRIOR, step=0.1)
    joint = oracle.by_parameter(
        [problem.similarities], alphas, OUTCOMES, N_OUTCOMES, GAMMA, model
    )[0] * weights[:, None]  # fmt: skip
    joint /= joint.sum()
    check_links(found, joint.sum(axis=0))
    assert_means(logs, np.array([joint.sum(axis=1) @ np.log(alphas)]), "log concentration")


DIRICHLET_PRIOR = (1.5, 1.0)


@pytest.mark.parametrize("model", MODELS)
def test_drawn_outcome_prior(model):
    problem = PROBLEMS["product"]
    sampler = make_chain_sampler(
        problem, model, outcome_prior="auto", dirichlet_prior=DIRICHLET_PRIOR
    )
    found, logs = run(sampler, FEW_SWEEPS, more=lambda w: (np.log(w.outcome_prior),))
    gammas, weights = gamma_quadrature(*DIRICHLET_PRIOR, step=0.1)
    given = [
        oracle.joint(problem.similarities, ALPHA, OUTCOMES, N_OUTCOMES, gamma, model)
        for gamma in gammas
    ]
    joint = np.array(given) * weights[:, None]
    joint /= joint.sum()
    check_links(found, joint.sum(axis=0))
    assert_means(logs, np.array([joint.sum(axis=1) @ np.log(gammas)]), "log outcome prior")


@pytest.mark.parametrize("model", MODELS)
def test_predictive_with_drawn_outcome_priors(model):
    """Each stored sample predicts with the outcome prior of its own."""
    problem = PROBLEMS["product"]
    params = {"max_iter": 9, "burn_in": 0, "thin": 1, "n_samples": 9, "outcome_prior": "auto"}
    estimator = make_estimator(problem, model, **params)
    states = [
        (tuple(state.links.tolist()), state.outcome_prior)
        for state in estimator.iter_sweeps(problem.X, OUTCOMES)
    ]
    estimator.fit(problem.X, OUTCOMES)
    expected = np.mean([
        [oracle.predictive(links, row, ALPHA, OUTCOMES, N_OUTCOMES, gamma, model)
         for row in problem.to_new.tolist()]
        for links, gamma in states
    ], axis=0)  # fmt: skip
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


@pytest.mark.parametrize("model", ONE_SLOW)
def test_drawn_decays(model):
    prior = (2.0, 1.5)
    decays, joint = decay_posterior(CONTEXTS, prior, model)
    sampler = make_chain_sampler(PROBLEMS["product"], model, decay="auto", decay_prior=prior)
    found, logs = run(sampler, FEW_SWEEPS, more=lambda w: np.log(w.similarity.parameter))
    check_links(found, joint.sum(axis=(0, 1)))
    expected = [joint.sum(axis=(1, 2)) @ np.log(decays), joint.sum(axis=(0, 2)) @ np.log(decays)]
    assert_means(logs, np.array(expected), "log decays")


@pytest.mark.parametrize("model", ONE_SLOW)
def test_drawn_decays_in_a_table(model):
    """More columns than their sets can be counted for; the last five never differ."""
    prior = (2.0, 1.5)
    decays, joint = decay_posterior(CONTEXTS, prior, model)
    sampler = make_chain_sampler(PROBLEMS["wide"], model, decay="auto", decay_prior=prior)
    found, logs = run(sampler, FEW_SWEEPS, more=lambda w: np.log(w.similarity.parameter))
    check_links(found, joint.sum(axis=(0, 1)))
    expected = [joint.sum(axis=(1, 2)) @ np.log(decays), joint.sum(axis=(0, 2)) @ np.log(decays)]
    nodes, weights = gamma_quadrature(*prior)
    expected += [weights @ np.log(nodes)] * (len(WIDE[0]) - 2)
    assert_means(logs, np.array(expected), "log decays")


@pytest.mark.parametrize("model", ONE_SLOW)
def test_drawn_weights(model):
    sampler = make_chain_sampler(PROBLEMS["overlap"], model, weights="auto")
    found, shares = run(sampler, FEW_SWEEPS, more=lambda w: (w.similarity.parameter[0],))
    nodes, weights = beta_quadrature(1.0, 1.0, 60)
    joint = oracle.by_parameter(
        [oracle.overlap_similarities(CONTEXTS, CONTEXTS, (w, 1.0 - w)) for w in nodes],
        [ALPHA], OUTCOMES, N_OUTCOMES, GAMMA, model,
    )[:, 0] * weights[:, None]  # fmt: skip
    joint /= joint.sum()
    check_links(found, joint.sum(axis=0))
    assert_means(shares, np.array([joint.sum(axis=1) @ nodes]), "weight of the first column")
