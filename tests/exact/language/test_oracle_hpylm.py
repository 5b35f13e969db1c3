"""The oracle of the hierarchical Pitman-Yor model: its own identities, and other roads to it."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp, log, prod

import numpy as np
import pytest
from exact.language.franchise import events_of, joint, predictive, rising, stirling, table_counts
from exact.language.hpylm import (
    Model,
    Posterior,
    enumerate_posterior,
    evidence_by_chain_rule,
    log_joint,
    log_prior,
    moments_given_seats,
)
from exact.language.story import Franchise, fixed_base, seatings
from exact.oracles.partitions import set_partitions, table_count_posterior
from scipy.stats import beta, gamma

CORPORA = {
    "repeats": [[0, 0, 0, 0]],
    "alternation": [[0, 1, 0, 1, 0]],
    "sentences": [[0, 1], [0, 0], [0, 1]],
    "an empty one": [[], [1], [1, 1, 1]],
}
DISCOUNTS = Fraction(1, 4), Fraction(1, 2), Fraction(3, 5)
CONCENTRATIONS = Fraction(2), Fraction(1, 3), Fraction(1, 10)


def model_of(order, **changes):
    given = {
        "discounts": [float(d) for d in DISCOUNTS[:order]],
        "concentrations": [float(theta) for theta in CONCENTRATIONS[:order]],
    }
    return Model(2, **{**given, **changes})


def sum_by_tables(weighted_states):
    """Return {tables of cells: probability} of (probability, {(name, *cell): sizes})."""
    result: Counter = Counter()
    for probability, state in weighted_states:
        result[frozenset((u, w, len(sizes)) for (_, u, w), sizes in state.items())] += probability
    return result


def test_events():
    assert events_of([5, 6], 3, 9) == [((-1,), 5), ((-1, 5), 6), ((5, 6), 9)]
    assert events_of([5, 6, 7], 2) == [((-1,), 5), ((5,), 6), ((6,), 7)]
    assert events_of([5, 6], 1, 9) == [((), 5), ((), 6), ((), 9)]
    assert events_of([], 2, 9) == [((-1,), 9)]
    assert events_of([], 2) == []


@pytest.mark.parametrize("d", [Fraction(0), Fraction(1, 3), Fraction(7, 8)])
def test_stirling_numbers_count_partitions(d):
    numbers = stirling(7, d)
    found = [[0] * (n + 1) for n in range(8)]
    for n in range(8):
        for seats in set_partitions(n):
            sizes = Counter(seats).values()
            found[n][len(sizes)] += prod(rising(1 - d, size - 1) for size in sizes)
    assert numbers == found


def test_known_stirling_numbers():
    assert stirling(4, 0)[4] == [0, 6, 11, 6, 1]  # the unsigned ones of the first kind
    assert stirling(3, Fraction(1, 2))[3] == [0, Fraction(3, 4), Fraction(3, 2), 1]


@pytest.mark.parametrize("corpus", CORPORA.values(), ids=CORPORA)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_table_counts_sum_all_seatings(order, corpus):
    """The joint of tables against customers who come one by one, in fractions: no tolerance."""
    events = [event for words in corpus for event in events_of(words, order, 2)][:6]
    base = {0: Fraction(1, 2), 1: Fraction(1, 3), 2: Fraction(1, 6)}
    hyper = DISCOUNTS[:order], CONCENTRATIONS[:order]
    of_seatings = sum_by_tables(seatings(Franchise(*hyper, fixed_base(base)), events))
    of_tables = {
        frozenset((u, w, t) for (u, w), t in tables.items()):
        joint(customers, tables, *hyper, base)
        for customers, tables in table_counts(Counter(events))
    }  # fmt: skip
    assert of_tables == of_seatings


def test_number_of_configurations():
    """A context seen six times has 1 to 6 tables, each of them a customer of the root."""
    of_six = Posterior(model_of(2), [((1,), 0)] * 6)
    assert len(of_six.configurations) == 1 + 2 + 3 + 4 + 5 + 6
    # Two contexts of two customers: 2 to 4 customers of the root, one of these counts twice.
    of_two = Posterior(model_of(2), [((1,), 0), ((0,), 0)] * 2)
    assert len(of_two.configurations) == 2 + 2 * 3 + 4
    # One sentence "0 0 0" of order 3: only (0, 0) -> 0 or its suffixes can have a choice.
    of_order_three = enumerate_posterior(model_of(3, end_of_sequence=False), [[0, 0, 0]])
    assert [sorted(of.tables.items()) for of in of_order_three.configurations] == [
        [(((), 0), root), (((-1,), 0), 1), (((-1, 0), 0), 1), (((0,), 0), one), (((0, 0), 0), 1)]
        for one, customers in ((1, 2), (2, 3))
        for root in range(1, customers + 1)
    ]


def test_order_one_is_a_chinese_restaurant():
    model = Model(3, [0.3], [1.5], end_of_sequence=False, base=(0.5, 0.3, 0.2))
    posterior = enumerate_posterior(model, [[0, 0, 1], [0, 2, 1]])
    expected = table_count_posterior((3, 2, 1), (0.5, 0.3, 0.2), 0.3, 1.5)
    found = {
        tuple(of.tables[(), w] for w in range(3)): probability
        for of, probability in zip(
            posterior.configurations, posterior.probabilities.tolist(), strict=True
        )
    }
    assert found == pytest.approx(expected, rel=1e-12)


def test_order_one_without_discount_is_a_dirichlet_process():
    base, theta = np.array([0.5, 0.3, 0.2]), 1.5
    model = Model(3, [0.0], [theta], end_of_sequence=False, base=base.tolist())
    posterior = enumerate_posterior(model, [[0, 0, 1, 0, 1]])
    evidence = prod(rising(theta * h, c) for h, c in zip(base, (3, 2, 0), strict=True))
    assert posterior.log_evidence == pytest.approx(log(evidence / rising(theta, 5)), rel=1e-12)
    np.testing.assert_allclose(
        posterior.predictive(()), (np.array([3, 2, 0]) + theta * base) / (5 + theta), rtol=1e-12
    )


LEARNT = {
    "given": {},
    "discounts": {"discounts": None},
    "concentrations": {"concentrations": None},
    "both": {"discounts": None, "concentrations": None},
}


def learned(order, which, **changes):
    """Return a model in which all hyper-parameters of some kinds are learned."""
    free = dict.fromkeys(LEARNT[which], [None] * order)
    priors = {"discount_prior": (1.5, 2.0), "concentration_prior": (2.0, 0.5)}
    return model_of(order, **free, **priors, **changes)


@pytest.mark.parametrize("which", LEARNT)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_evidence_by_the_chain_rule(order, which):
    """Predictives of prefixes, also of contexts that they have not seen, multiply to it."""
    model = learned(order, which, base=(0.5, 0.3, 0.2))
    events = model.events(CORPORA["sentences"])[:6]
    whole = Posterior(model, events).log_evidence
    assert whole == pytest.approx(evidence_by_chain_rule(model, events), rel=1e-10)


@pytest.mark.parametrize("end_of_sequence", [False, True])
@pytest.mark.parametrize("which", LEARNT)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_predictives_sum_to_one(order, which, end_of_sequence):
    model = learned(order, which, end_of_sequence=end_of_sequence)
    posterior = enumerate_posterior(model, CORPORA["alternation"])
    for context in [(), (-1,), (0,), (1,), (-1, 0), (0, 1), (1, 1), (1, 0, 1), (-1, 1, 1)]:
        found = posterior.predictive(context)
        assert len(found) == 2 + end_of_sequence
        assert found.sum() == pytest.approx(1.0, rel=1e-12)
    assert len(posterior.log_proba([1, 1, 0])) == 3 + end_of_sequence
    assert posterior.log_proba([1, 1, 0])[1] == log(posterior.predictive((-1, 1))[1])


def test_unseen_contexts_fall_to_their_longest_seen_suffix():
    posterior = enumerate_posterior(model_of(3), CORPORA["alternation"])
    np.testing.assert_array_equal(posterior.predictive((1, 1)), posterior.predictive((1,)))
    np.testing.assert_array_equal(posterior.predictive((5, 5)), posterior.predictive(()))
    assert np.abs(posterior.predictive((0, 1)) - posterior.predictive((1,))).max() > 0.01


def test_no_events():
    posterior = enumerate_posterior(model_of(2, end_of_sequence=False), [[]])
    assert posterior.log_evidence == 0.0
    np.testing.assert_array_equal(posterior.predictive((0,)), [0.5, 0.5])


def test_configurations_have_the_joint():
    model = model_of(2)
    corpus = CORPORA["sentences"]
    posterior = enumerate_posterior(model, corpus)
    values = [
        log_joint(model, corpus, of.tables, model.discounts, model.concentrations)
        for of in posterior.configurations
    ]
    np.testing.assert_allclose(values, posterior.log_joints, rtol=1e-12)
    assert posterior.mean_log_joint() == pytest.approx(posterior.mean(values), rel=1e-12)


def test_quadrature_of_one_depth():
    """Three words of a unigram: evidence and means by Gauss-Legendre in d and in theta."""
    model = Model(2, [None], [None], end_of_sequence=False, base=(0.8, 0.2),
                  discount_prior=(2.0, 3.0), concentration_prior=(2.0, 0.5))  # fmt: skip
    posterior = enumerate_posterior(model, [[0, 0, 0]])
    nodes, weights = np.polynomial.legendre.leggauss(100)
    d, theta = (nodes[:, None] + 1) / 2, 50 * (nodes + 1)
    numbers = stirling(3, d)
    share = sum(0.8**t * rising(theta, t, d) / rising(theta, 3) * numbers[3][t] for t in (1, 2, 3))
    share = share * beta.pdf(d, 2.0, 3.0) * gamma.pdf(theta, 2.0, scale=2.0)
    share = share * np.outer(weights / 2, 50 * weights)
    assert exp(posterior.log_evidence) == pytest.approx(share.sum(), rel=1e-10)
    assert posterior.discounts[0] == pytest.approx((share * d).sum() / share.sum(), rel=1e-10)
    assert posterior.concentrations[0] == pytest.approx(
        (share * theta).sum() / share.sum(), rel=1e-10
    )


def test_finer_quadrature_changes_nothing():
    coarse = enumerate_posterior(learned(3, "both"), CORPORA["sentences"])
    fine = enumerate_posterior(learned(3, "both", n_nodes=40, step=0.1), CORPORA["sentences"])
    assert coarse.log_evidence == pytest.approx(fine.log_evidence, rel=1e-10)
    for name in ("discounts", "concentrations"):
        np.testing.assert_allclose(getattr(coarse, name), getattr(fine, name), rtol=1e-9)
    assert coarse.mean_log_joint() == pytest.approx(fine.mean_log_joint(), rel=1e-8)


def test_depths_are_independent_given_tables():
    """All nodes of all depths at once, on a coarse grid: the naive loop."""
    model = learned(2, "both", n_nodes=3, step=6.0)
    corpus = [[0, 0], [0]]
    posterior = enumerate_posterior(model, corpus)
    names = "evidence", "log_joint", "d_0", "theta_1", "next"
    sums = dict.fromkeys(names, 0.0)
    grids = [model.grid(m) for m in range(2)]
    nodes = [
        [(d, theta, weight[i, j]) for i, d in enumerate(all_d[:, 0])
         for j, theta in enumerate(all_theta[0])]
        for all_d, all_theta, weight in grids
    ]  # fmt: skip
    for (d_0, theta_0, prior_0), (d_1, theta_1, prior_1) in product(*nodes):
        hyper = (d_0, d_1), (theta_0, theta_1)
        for of in posterior.configurations:
            value = log_joint(model, corpus, of.tables, *hyper)
            weight = prior_0 * prior_1 * exp(value)
            base = model.base_probabilities
            after = predictive((0,), 1, of.customers, of.tables, *hyper, base)
            for name, x in zip(names, (1.0, value, d_0, theta_1, after), strict=True):
                sums[name] += weight * x
    found = (
        posterior.mean_log_joint(), posterior.discounts[0], posterior.concentrations[1],
        posterior.predictive((0,))[1],
    )  # fmt: skip
    assert exp(posterior.log_evidence) == pytest.approx(sums["evidence"], rel=1e-10)
    expected = [sums[name] / sums["evidence"] for name in names[1:]]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_density_of_the_hyper_parameters():
    found = log_prior(learned(2, "discounts"), (0.2, 0.7), (1.0, 4.0))
    of_discounts = beta.logpdf([0.2, 0.7], 1.5, 2.0).sum()
    assert found == pytest.approx(of_discounts, rel=1e-12)
    found = log_prior(learned(2, "both"), (0.2, 0.7), (1.0, 4.0))
    density = 0.25 * 1.0 * exp(-0.5) * 0.25 * 4.0 * exp(-2.0)  # rate^shape / Gamma(shape) = 1/4
    assert found == pytest.approx(of_discounts + log(density), rel=1e-12)


def test_hyper_parameters_given_seats_average_to_those_given_tables():
    """p(d, theta | t) is the mean over the seatings with those tables of p(d, theta | seats)."""
    model = learned(1, "both")
    events = [((), 0)] * 4
    shares, sizes = [], []
    d, theta, prior = model.grid(0)
    for seats in set_partitions(4):
        of_seats = sorted(Counter(seats).values())
        weight = rising(theta + d, len(of_seats) - 1, d) / rising(theta + 1, 3)
        weight = weight * prod(rising(1 - d, size - 1) for size in of_seats)
        base = (1 / 3) ** len(of_seats)
        shares.append((weight * prior).sum() * base)
        sizes.append(of_seats)
    expected = np.average(
        [moments_given_seats(model, 0, [[of]], lambda d, theta: d * theta) for of in sizes],
        weights=shares,
    )
    found = Posterior(model, events)
    assert found.log_evidence == pytest.approx(log(sum(shares)), rel=1e-10)
    assert found.moment(0, lambda d, theta: d * theta) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("order", [1, 3])
def test_predictive_of_one_configuration(order):
    """The class's predictive is the mean of the formula of the franchise."""
    model = model_of(order)
    posterior = enumerate_posterior(model, CORPORA["sentences"])
    hyper = model.discounts, model.concentrations, model.base_probabilities
    for context in [(0, 1)[: order - 1], (-1,)[: order - 1], ()]:
        for w in range(3):
            expected = posterior.mean(
                [predictive(context, w, of.customers, of.tables, *hyper)
                 for of in posterior.configurations]
            )  # fmt: skip
            assert posterior.predictive(context)[w] == pytest.approx(expected, rel=1e-12)
