"""The oracles against each other, and the harness on a sampler that is right and on wrong ones."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from exact.oracles import factorial_hmm, hdp_pcfg, two_topics
from exact.oracles.batch_means import N_SWEEPS, assert_means, z_scores
from exact.oracles.lda import enumerate_lda
from exact.oracles.plain_gibbs import plain_gibbs
from exact.oracles.seatings import enumerate_seatings
from exact.oracles.segmented import (
    Problem,
    completion,
    enumerate_posterior,
    fold_in,
    log_joint,
    rising,
    stirling,
    tables_of_document,
    word_counts,
)
from scipy.integrate import quad
from scipy.stats import beta, gamma

MODELS = ["segmented", "sequential", "adaptive"]
SHAPES = {
    "one segment": [[[0, 0, 1, 0]]],
    "two segments": [[[0, 1], [1, 1]]],
    "empty first": [[[], [0, 1], [0]]],
    "empty middle": [[[0, 0], [], [0, 1]]],
    "two documents": [[[0], [1, 0]], [[1], [1]]],
}
CHAINS = {  # tables that order from the segment before, and it from the one before that
    "last of three": [[[], [], [0, 0, 1]]],
    "three segments": [[[0], [1], [0, 0]]],
    "two after an empty one": [[[1], [], [0, 1, 0]]],
    "many in the last": [[[], [0, 0, 0, 1]]],
}
PHI = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])


def problem_of(documents, **changes):
    base = Problem(
        documents, alpha=(0.4, 1.1), discount=0.4, concentration=1.3, gamma=0.5, n_features=2,
        mixing=(0.7, 1.8),
    )  # fmt: skip
    return replace(base, **changes)


def assert_same_posterior(one, other, segments=slice(None)):
    np.testing.assert_allclose(one.log_evidence, other.log_evidence, rtol=0, atol=1e-10)
    for name in ("coassignment", "topics"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-10)
    for name in ("tables_to_document", "tables_to_previous"):
        np.testing.assert_allclose(
            getattr(one, name)[segments], getattr(other, name), rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("discount", [0.0, 0.4])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("documents", SHAPES.values(), ids=SHAPES)
def test_table_counts_and_seatings_agree(documents, model, discount):
    problem = problem_of(documents, model=model, discount=discount)
    assert_same_posterior(enumerate_posterior(problem), enumerate_seatings(problem))


@pytest.mark.parametrize("discount", [0.0, 0.7])
@pytest.mark.parametrize("model", ["sequential", "adaptive"])
@pytest.mark.parametrize("documents", CHAINS.values(), ids=CHAINS)
def test_table_counts_and_seatings_agree_in_chains(documents, model, discount):
    problem = problem_of(documents, model=model, discount=discount, mixing=(0.5, 3.0))
    posterior = enumerate_posterior(problem)
    assert_same_posterior(posterior, enumerate_seatings(problem))
    if len(documents[0]) == 3:  # tables of the last segment have customers' customers
        assert np.all(posterior.tables_to_previous[1:].sum(axis=1) > 0.1)


@pytest.mark.parametrize("model", ["sequential", "adaptive"])
def test_table_counts_and_seatings_agree_with_breaks(model):
    documents = [[[0], [1], [0, 1], [0]], [[1, 0], [0]]]
    problem = problem_of(
        documents, model=model, discount=0.4, mixing=(0.5, 3.0), breaks=[(2,), (1,)]
    )
    broken = enumerate_posterior(problem)
    assert_same_posterior(broken, enumerate_seatings(problem))
    assert np.all((broken.tables_to_previous > 0.0).any(axis=1) == [0, 1, 0, 1, 0, 0])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("concentration", [1.3, None])
def test_evidence_sums_to_one_over_texts(model, concentration):
    problems = [
        problem_of([[[v, w], [x]]], model=model, concentration=concentration)
        for v, w, x in np.ndindex(2, 2, 2)
    ]
    total = sum(np.exp(enumerate_posterior(problem).log_evidence) for problem in problems)
    assert total == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("model", MODELS)
def test_log_joint_sums_to_the_evidence(model):
    problem = problem_of([[[0, 1], [1]]], model=model)
    values = [
        log_joint(problem, z, s, t)
        for z in np.ndindex(2, 2, 2)
        for s, t in tables_of_document(model, (0,), word_counts(problem, z))
    ]
    posterior = enumerate_posterior(problem)
    assert np.logaddexp.reduce(values) == pytest.approx(posterior.log_evidence, abs=1e-12)
    share = np.exp(np.array(values) - posterior.log_evidence)
    assert share @ values == pytest.approx(posterior.log_joint, abs=1e-12)


@pytest.mark.parametrize("a", [0.0, 0.3, 0.9])
def test_stirling_numbers_expand_the_rising_factorial(a):
    for n in range(1, 9):
        for b in (0.2, 3.0):
            expansion = sum(rising(b, m, a) * stirling(n, m, a) for m in range(n + 1))
            assert expansion == pytest.approx(rising(b, n), rel=1e-12)


@pytest.mark.parametrize("prior", [(1.0, 0.1), pytest.param((2.5, 0.7), marks=pytest.mark.slow)])
def test_quadrature_over_the_concentration(prior):
    """The rule over all nodes at once, against scipy's integrator on single evidences."""
    problem = problem_of([[[0, 0], [0]]], model="adaptive", discount=0.3)

    def integrand(log_b, power):
        b = np.exp(log_b)
        evidence = np.exp(enumerate_posterior(replace(problem, concentration=b)).log_evidence)
        return evidence * gamma.pdf(b, prior[0], scale=1 / prior[1]) * b ** (1 + power)

    total, mean = (
        quad(integrand, -30, 8, args=(power,), epsabs=0, epsrel=1e-9, limit=200)[0]
        for power in (0, 1)
    )
    posterior = enumerate_posterior(replace(problem, concentration=None, concentration_prior=prior))
    assert posterior.log_evidence == pytest.approx(np.log(total), abs=1e-8)
    assert posterior.concentration == pytest.approx(mean / total, rel=1e-8)


@pytest.mark.parametrize("prior", [(1.0, 1.0), (2.0, 3.0)])
@pytest.mark.parametrize("model", MODELS)
def test_quadrature_over_the_discount(model, prior):
    """Gauss's rule against scipy's integrator on single evidences."""
    problem = problem_of([[[0], [0, 1, 0]]], model=model)

    def integrand(a, power):
        evidence = np.exp(enumerate_posterior(replace(problem, discount=a)).log_evidence)
        return evidence * beta.pdf(a, *prior) * a**power

    total, mean = (
        quad(integrand, 0, 1, args=(power,), epsabs=0, epsrel=1e-7, limit=200)[0]
        for power in (0, 1)
    )
    posterior = enumerate_posterior(replace(problem, discount=None, discount_prior=prior))
    assert posterior.log_evidence == pytest.approx(np.log(total), abs=1e-6)
    assert posterior.discount == pytest.approx(mean / total, rel=1e-6)


SCOPES = ["corpus", "document", "segment"]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("model", MODELS)
def test_twice_the_nodes_change_nothing(model, scope):
    problem = problem_of(
        [[[0], [1, 1]], [[], [1]]], model=model, discount=None, discount_prior=(0.8, 0.6),
        concentration=None, concentration_prior=(1.5, 0.4), scope=scope,
    )  # fmt: skip
    posterior = enumerate_posterior(problem)
    finer = enumerate_posterior(replace(problem, n_nodes=48, step=0.1))
    for name, one in vars(posterior).items():
        # E[log joint] holds (1 - a) log(1 - a), which is not smooth at 1.
        np.testing.assert_allclose(one, getattr(finer, name), rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("model", MODELS)
def test_scope_of_the_concentration(model, scope):
    """Every state at every choice of nodes, one a corpus, document or segment: a sum of joints."""
    problem = problem_of(
        [[[], [0, 1]], [[1]]], model=model, concentration=None, concentration_prior=(2.0, 0.7),
        scope=scope, step=4.0,
    )  # fmt: skip
    owner = {"corpus": [0, 0, 0], "document": [0, 0, 1], "segment": [0, 1, 2]}[scope]
    nodes, weights = problem.concentration_rule
    evidence, means, tables = 0.0, np.zeros(max(owner) + 1), np.zeros((2, 3, 2))
    for z in np.ndindex(2, 2, 2):
        n = word_counts(problem, z)
        per_document = [tables_of_document(model, (0,), n[d:e]) for d, e in ((0, 2), (2, 3))]
        for states in product(*per_document):
            s, t = (np.concatenate(x) for x in zip(*states, strict=True))
            for choice in np.ndindex(*(len(nodes),) * len(means)):
                b = nodes[list(choice)]
                at_nodes = replace(problem, concentration=b[owner])
                weight = np.exp(log_joint(at_nodes, z, s, t)) * weights[list(choice)].prod()
                evidence += weight
                means += weight * b
                tables += weight * np.stack([s, t])
    posterior = enumerate_posterior(problem)
    assert posterior.log_evidence == pytest.approx(np.log(evidence), abs=1e-10)
    means = means[0] if scope == "corpus" else means
    np.testing.assert_allclose(posterior.concentration, means / evidence, rtol=1e-10)
    np.testing.assert_allclose(posterior.tables_to_document, tables[0] / evidence, rtol=1e-10)
    np.testing.assert_allclose(posterior.tables_to_previous, tables[1] / evidence, rtol=1e-10)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("model", MODELS)
def test_estimates_with_random_hyper_parameters_predict_the_next_token(model, scope):
    problem = problem_of(
        [[[0], [1]], [[0]]], model=model, phi=PHI, gamma=None, scope=scope, discount=None,
        discount_prior=(2.0, 1.5), concentration=None, concentration_prior=(2.0, 0.7),
    )  # fmt: skip
    posterior = enumerate_posterior(problem)
    for segment in range(2):
        longer = [[0], [1]]
        longer[segment].append(2)
        changed = replace(problem, documents=[longer, [[0]]])
        evidence = enumerate_posterior(changed).log_evidence
        predicted = posterior.nu[segment] @ PHI[:, 2]
        assert np.exp(evidence - posterior.log_evidence) == pytest.approx(predicted, abs=1e-12)


def test_weight_of_the_document():
    """In the first segment it is 1; later the prior mean or, with one table, that of two states."""
    mixing, b, a = (0.7, 1.8), 1.3, 0.4
    problem = problem_of([[[], [], []]], model="adaptive", mixing=mixing)
    weights = enumerate_posterior(problem).weight_of_document
    np.testing.assert_allclose(weights, [1.0, 0.28, 0.28], rtol=1e-12)

    # The topics are the words: segment 2's table opens one of another topic in segment 1, or not.
    words = replace(problem, documents=[[[0], [1]]], gamma=None, phi=np.eye(2) + 1e-15)
    s, t = mixing[0], mixing[1] * (b + a) / (b + 1)
    expected = (s * (mixing[0] + 1) + t * mixing[0]) / (s + t) / (sum(mixing) + 1)
    weights = enumerate_posterior(words).weight_of_document
    np.testing.assert_allclose(weights, [1.0, expected], rtol=1e-12)


@pytest.mark.parametrize("segment", [0, 1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_segment_estimates_predict_the_next_token(model, segment):
    """sum_k E[nu_jk] phi_kw is p(w next in segment j | w): ratios of evidences give it too."""
    problem = problem_of([[[0, 0], [1], [2]]], model=model, phi=PHI, gamma=None)
    posterior = enumerate_posterior(problem)
    for w in range(3):
        longer = [[0, 0], [1], [2]]
        longer[segment].append(w)
        evidence = enumerate_posterior(replace(problem, documents=[longer])).log_evidence
        predicted = posterior.nu[segment] @ PHI[:, w]
        assert np.exp(evidence - posterior.log_evidence) == pytest.approx(predicted, abs=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_document_estimate_predicts_a_new_table(model):
    """E[mu] is E[nu] of a first segment that has no words (segmented: of any)."""
    problem = problem_of([[[], [0, 0], [1]]], model="segmented", phi=PHI, gamma=None)
    posterior = enumerate_posterior(problem)
    np.testing.assert_allclose(posterior.mu[0], posterior.nu[0], rtol=0, atol=1e-12)
    same = enumerate_posterior(replace(problem, documents=[[[0, 0], [1]]]))
    np.testing.assert_allclose(posterior.mu, same.mu, rtol=0, atol=1e-12)
    prior = enumerate_posterior(replace(problem, model=model, documents=[[[], []]]))
    for row in (*prior.mu, *prior.nu):
        np.testing.assert_allclose(row, np.array(problem.alpha) / sum(problem.alpha), atol=1e-12)


def test_completion_with_one_scored_word():
    problem = problem_of([[[2, 0], [1]], [[1]], [[]]], phi=PHI, gamma=None)
    observed = [[[0], [1]], [[1]], [[]]]
    shares = [posterior.nu for posterior in fold_in(replace(problem, documents=observed))]
    found = completion(problem.documents, observed, shares, PHI)
    expected = [np.log(shares[0][0] @ PHI[:, 2]), 0.0, 0.0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


# --- facts about the models -----------------------------------------------------------------


def test_one_segment_makes_the_models_equal():
    problem = problem_of([[[0, 1, 1, 0]]])
    posteriors = [enumerate_posterior(replace(problem, model=model)) for model in MODELS]
    for other in posteriors[1:]:
        assert_same_posterior(posteriors[0], other)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_empty_segments(model, place):
    """Trailing ones change nothing; others change the models in which segments are chained."""
    problem = problem_of([[[0, 1], [0, 0]]], model=model)
    segments = [[0, 1], [0, 0]]
    segments.insert(place, [])
    plain = enumerate_posterior(problem)
    padded = enumerate_posterior(replace(problem, documents=[segments]))
    if place == 2 or model == "segmented":
        assert_same_posterior(padded, plain, [j for j in range(3) if j != place])
    else:
        assert abs(padded.log_evidence - plain.log_evidence) > 1e-4


@pytest.mark.parametrize("model", MODELS)
def test_order_of_segments(model):
    segments = [[0, 1], [0, 0], [1]]
    problem = problem_of([segments], model=model)
    forward = enumerate_posterior(problem)
    backward = enumerate_posterior(replace(problem, documents=[segments[::-1]]))
    equal = forward.log_evidence == pytest.approx(backward.log_evidence, abs=1e-12)
    assert equal == (model == "segmented")


@pytest.mark.parametrize("changes", [{"concentration": 1e10}, {"discount": 1 - 1e-11}], ids=str)
@pytest.mark.parametrize("model", MODELS)
def test_limits_give_lda(model, changes):
    problem = problem_of([[[0, 1], [0, 0]], [[1], [0]]], model=model, **changes)
    posterior = enumerate_posterior(problem)
    expected = enumerate_lda(problem, "document").coassignment
    np.testing.assert_allclose(posterior.coassignment, expected, atol=1e-8)


@pytest.mark.parametrize(
    ("mixing", "limit"), [((1e10, 1.0), "segmented"), ((1.0, 1e10), "sequential")]
)
def test_limits_of_the_mixing_prior(mixing, limit):
    problem = problem_of([[[0, 1], [0, 0], [1]]], model="adaptive", mixing=mixing)
    adaptive = enumerate_posterior(problem)
    expected = enumerate_posterior(replace(problem, model=limit))
    np.testing.assert_allclose(adaptive.coassignment, expected.coassignment, atol=1e-8)
    np.testing.assert_allclose(adaptive.tables_to_document, expected.tables_to_document, atol=1e-8)


# --- the harness ----------------------------------------------------------------------------

HARNESS = Problem(
    [[[0, 0, 1], [0, 1, 1]]], alpha=(0.5, 0.5), discount=0.5, concentration=1.0,
    gamma=0.3, n_features=2,
)  # fmt: skip


def test_harness_passes_a_right_sampler():
    topics, tables = plain_gibbs(HARNESS, N_SWEEPS, seed=0)
    expected = enumerate_posterior(HARNESS)
    assert_means(topics[:, :, None] == topics[:, None, :], expected.coassignment)
    assert_means(tables.sum(axis=2), expected.tables_to_document.sum(axis=1))


def test_harness_fails_a_wrong_sampler():
    _, tables = plain_gibbs(HARNESS, N_SWEEPS, seed=0, seat_at_table=lambda size, a: size)
    expected = enumerate_posterior(HARNESS)
    with pytest.raises(AssertionError, match="tables"):
        assert_means(tables.sum(axis=2), expected.tables_to_document.sum(axis=1), "tables")


def test_harness_wants_constants_to_be_equal():
    constant = np.ones((N_SWEEPS, 2))
    assert_means(constant, np.ones(2))
    with pytest.raises(AssertionError):
        assert_means(constant, np.array([1.0, 0.999]))
    with pytest.raises(AssertionError):
        assert_means(constant, np.ones(1))


def test_harness_calibration():
    """z-scores of independent draws have the standard deviation of Student's t, 1.03."""
    z = z_scores(np.random.default_rng(0).normal(size=(800, 2000)), np.zeros(2000))
    assert 0.98 < z.std() < 1.08


# --- two topics -----------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["segmented", "sequential"])
@pytest.mark.parametrize("a", [0.0, 0.4])
def test_two_topics_in_closed_form(model, a):
    document = [[0, 0, 2], [], [1, 0], [2]]
    problem = problem_of(
        [document], phi=PHI, gamma=None, n_features=None, model=model, discount=a,
    )  # fmt: skip
    expected = enumerate_posterior(problem).log_evidence
    found = two_topics.evidence(document, PHI, problem.alpha, a, problem.concentration, model)
    assert np.log(found) == pytest.approx(expected, abs=1e-10)


def test_two_topics_of_lda_in_closed_form():
    document = [[0, 0, 2], [], [1, 0, 2]]
    problem = problem_of([document], phi=PHI, gamma=None, n_features=None)
    expected = enumerate_lda(problem, "document").log_evidence
    found = two_topics.evidence(document, PHI, problem.alpha, model="lda")
    assert np.log(found) == pytest.approx(expected, abs=1e-10)


def test_two_topics_and_hundreds_of_words():
    """Topics that are equal do not show: every word has the probability that both give it."""
    phi = np.array([[0.5, 0.5], [0.5, 0.5]])
    for model in ("segmented", "sequential", "lda"):
        segments = [[0] * 130, [], [1] * 120]
        found = two_topics.evidence(segments, phi, (0.4, 1.1), 0.3, 2.0, model)
        assert np.log(found) == pytest.approx(250 * np.log(0.5), abs=1e-8)


def test_paths_of_factorial_models_have_probability_one():
    rows = ((0.0,), (1.0,))
    problem = factorial_hmm.Problem(
        (rows, rows[:1]), ((0.0,),) * 3, (1.0,), (False,), (0.7, 1.6), (0.5, 2.0), (0.4, 1.1)
    )
    rng = np.random.default_rng(0)
    startprob = rng.dirichlet([1.0, 1.0], size=2)
    transmat = rng.dirichlet([1.0, 1.0], size=(2, 2))
    total, total_given = 0.0, 0.0
    for bits in factorial_hmm.all_paths(problem):
        total += np.exp(factorial_hmm.log_bits(problem, bits))
        total_given += np.exp(factorial_hmm.log_bits_given(problem, bits, startprob, transmat))
    np.testing.assert_allclose([total, total_given], 1.0, rtol=1e-12)


GRAMMARS = {
    "plain": (hdp_pcfg.Model(2, (2,), type_prior=(2.0, 1.0)), [[0.3, 0.7]]),
    "partitioned": (
        hdp_pcfg.Model(2, (2, 1), type_prior=(2.0, 1.0, 1.0, 1.0), binary_concentration=(2.0,) * 4),
        [[0.3, 0.7], [1.0]],
    ),
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_evidence_of_a_grammar(name):
    """Rows drawn from the prior: within five standard errors, 6e-7 false alarms."""
    model, betas = GRAMMARS[name]
    corpus, rng = [[0, 1], [0]], np.random.default_rng(0)
    prior = model.rows([np.array(beta) for beta in betas])
    likelihoods = []
    for _ in range(1500):
        rules = {
            row: dict(zip(outcomes, rng.dirichlet([*outcomes.values()]), strict=True))
            for row, outcomes in prior.items()
        }
        likelihoods.append(np.exp(hdp_pcfg.log_likelihood(model, corpus, rules)))
    error = np.std(likelihoods) / np.sqrt(len(likelihoods))
    evidence = np.exp(hdp_pcfg.log_evidence(model, corpus, betas))
    assert abs(np.mean(likelihoods) - evidence) < 5.0 * error
    assert error < 0.05 * evidence


@pytest.mark.parametrize("name", GRAMMARS)
def test_number_of_trees(name):
    """Catalan numbers of bracketings, times the symbols of their nodes."""
    model, _ = GRAMMARS[name]
    for n, bracketings in enumerate([1, 1, 2, 5], start=1):
        preterminals, constituents = (2, 1) if model.is_partitioned else (2, 2)
        expected = bracketings * preterminals**n * constituents ** (n - 1)
        trees = hdp_pcfg.all_trees(model, [0] * n)
        assert len(trees) == len(set(trees)) == expected


def test_bound_of_a_grammar_is_tight_where_nothing_is_hidden():
    """One symbol and one tree: q is the posterior, and the bound the evidence."""
    model, betas = hdp_pcfg.Model(2, (1,), emission_prior=0.7), [np.ones(1)]
    corpus = [[0], [1, 0], [0]]
    prior = model.rows(betas)
    posterior = {row: dict(outcomes) for row, outcomes in prior.items()}
    for words in corpus:
        (tree,) = hdp_pcfg.all_trees(model, words)
        for (row, outcome), n in hdp_pcfg.events(model, tree).items():
            posterior[row][outcome] += n
    found = hdp_pcfg.bound(model, corpus, betas, posterior)
    assert found == pytest.approx(hdp_pcfg.log_evidence(model, corpus, betas), rel=1e-12)
