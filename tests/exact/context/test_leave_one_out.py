"""Leave-one-out predictions of franchises, and weights of chains, against brute force.

The oracle lets an event leave its tables in all possible ways; skdp has a recursion for them."""

import itertools
from collections import Counter

import numpy as np
import pytest
from exact.language.franchise import predictive, stirling
from scipy.optimize import minimize

from skdp.context import HDPBackoffClassifier
from skdp.context._backoff._pool import (
    Events,
    PoolObjective,
    Screening,
    fit_pool_weights,
    leave_one_out_terms,
    log_pool,
    replace_unknown,
)

CLASSES = [0, 1, 2]
EVENTS = [("ap", 0), ("ap", 0), ("ap", 0), ("aq", 0), ("ap", 1), ("bp", 0), ("bq", 1)]
LAWS = {
    "fixed": ([0.2, 0.3, 0.5], [2.0, 1.5, 0.4], "level"),
    "dirichlet": ([0.0, 0.0, 0.0], [2.0, 1.5, 0.4], "level"),
    "learned": ("auto", "auto", "level"),
    "by context": ([0.2, 0.3, 0.5], "auto", "context"),
}


def leave_out(tree, samples, contexts, outcomes, base):
    """Return the terms of skdp for events, the means over samples."""
    cells = tree.find_cells(np.asarray(outcomes, np.int32), contexts)
    return leave_one_out_terms(tree, samples, cells, base)


def removals(context, x, customers, tables, discounts, top):
    """Yield what remains after an event has left, and its probability, from the bottom up."""
    path = [context[i:] for i in range(len(context) + 1 - top)]

    def leave(i, customers, tables, chance):
        if i == len(path):
            yield customers, tables, chance
            return
        cell = path[i], x
        c, t = customers[cell], tables[cell]
        numbers = stirling(c, discounts[len(path[i]) - top])
        closes = numbers[c - 1][t - 1] / numbers[c][t] if c > 1 else 1.0
        fewer = {**customers, cell: c - 1}
        if closes < 1.0:
            yield fewer, tables, chance * (1.0 - closes)
        if closes > 0.0:
            yield from leave(i + 1, fewer, {**tables, cell: t - 1}, chance * closes)

    yield from leave(0, customers, tables, 1.0)


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("law", LAWS)
def test_left_out_terms_of_a_sample(law, root):
    """All ways in which an event can leave given tables, weighted by their probabilities. Their
    means over the posterior are 1 / p(x | others) and p(. | others) / p(x | others)."""
    discounts, concentrations, scope = LAWS[law]
    n, top = 2 + root, int(not root)
    classifier = HDPBackoffClassifier(
        None, root=root, discount=discounts if discounts == "auto" else discounts[:n],
        concentration=concentrations if concentrations == "auto" else concentrations[:n],
        concentration_scope=scope, classes=CLASSES, random_state=0, max_iter=16, burn_in=4,
        n_samples=12,
    ).fit([list(context) for context, _ in EVENTS], [x for _, x in EVENTS])  # fmt: skip
    tree = classifier._tree
    distinct = sorted(set(EVENTS))
    paths = classifier._find([list(context) for context, _ in distinct])
    base = np.full(3, 1.0 / 3.0)
    names = [
        (tuple(context[::-1]), int(x))
        for m in range(n)
        for context, x in zip(
            tree.contexts_at(m)[
                tree.layout.node[tree.layout.cells_at(m)] - tree.layout.nodes_at(m).start
            ].tolist(),
            tree.outcome[tree.layout.cells_at(m)], strict=True,
        )
    ]  # fmt: skip
    restaurants = list(dict.fromkeys(u for u, _ in names))
    several = 0
    for sample in classifier._models:
        franchise = sample.franchise(tree, base)
        customers = dict(zip(names, franchise.customers.tolist(), strict=True))
        tables = dict(zip(names, franchise.tables.tolist(), strict=True))
        several += max(tables.values()) > 1
        inverse, total = leave_out(tree, [sample], paths, [x for _, x in distinct], base)
        d, theta = franchise.discount, franchise.concentration
        if scope == "context":
            theta = dict(zip(restaurants, theta, strict=True))
        laws = d, theta, dict(enumerate(base)), top
        for i, (context, x) in enumerate(distinct):
            context, expected = tuple(context[::-1]), np.zeros(3)
            for rest in removals(context, x, customers, tables, d, top):
                p = np.array([predictive(context, w, *rest[:2], *laws) for w in CLASSES])
                expected += rest[2] * p / p[x]
            np.testing.assert_allclose(total[i], expected, rtol=1e-10)
            np.testing.assert_allclose(inverse[i], expected.sum(), rtol=1e-10)
    assert several > 3


def make_distributions(n_chains=3, n=30, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    distributions = rng.dirichlet(np.ones(n_classes), (n_chains + 1, n))
    outcomes = np.array([rng.choice(n_classes, p=p) for p in distributions[1]])
    return distributions, outcomes, rng.integers(1, 4, n)


def pooled(distributions, weights, i):
    """Return the weighted product for row i, from its definition."""
    p = distributions[0, i].copy()
    for k, weight in enumerate(weights, start=1):
        p *= (distributions[k, i] / distributions[0, i]) ** weight
    return p / p.sum()


def test_weights_maximize_the_left_out_probability():
    distributions, outcomes, counts = make_distributions()
    objective = PoolObjective.of(
        distributions[0], list(distributions[1:]), outcomes, counts.astype(float)
    )

    def loss(weights):
        each = [np.log(pooled(distributions, weights, i)[x]) for i, x in enumerate(outcomes)]
        return np.sum(weights) - counts @ each

    found = fit_pool_weights(objective)
    best = min(
        (minimize(loss, start, bounds=[(0.0, None)] * 3) for start in np.eye(3)),
        key=lambda each: each.fun,
    )
    np.testing.assert_allclose(found, best.x, atol=2e-3)
    value, gradient = objective.loss(np.array([0.3, 0.1, 0.7]))
    assert value == pytest.approx(loss(np.array([0.3, 0.1, 0.7])), rel=1e-5)
    steps = np.eye(3) * 1e-5
    at = np.array([0.3, 0.1, 0.7])
    differences = [(loss(at + step) - loss(at - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient, differences, rtol=1e-3, atol=1e-3)


def test_pool_is_a_weighted_product():
    distributions, _, _ = make_distributions()
    weights = np.array([0.5, 0.0, 0.9])
    logs = np.log(distributions)
    found = np.exp(log_pool(logs[0], logs[1:] - logs[0], weights))
    expected = [pooled(distributions, weights, i) for i in range(distributions.shape[1])]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("uses_new", list(itertools.product([False, True], repeat=2)))
def test_unknown_columns_are_dropped(uses_new):
    """A chain is replaced by the best one among those with a part of its known columns. If there is
    none, it is that of a new context or the one without columns."""
    chains = [(), (0,), (1,), (2,), (0, 1), (0, 2, 1)]
    evidence = np.array([-3.0, -1.0, -2.0, -2.5, -0.5, -0.2])
    patterns = np.array(list(itertools.product([False, True], repeat=3)))
    distributions = np.arange(6 * 8 * 2, dtype=float).reshape(6, 8, 2)
    uses_new_contexts = np.array([False, *uses_new, False, True, False])
    found = replace_unknown(distributions, chains, evidence, patterns, uses_new_contexts)
    for k, chain in enumerate(chains):
        for i, unknown in enumerate(patterns):
            source = k
            if any(unknown[j] for j in chain):
                known = {j for j in chain if not unknown[j]}
                fits = [m for m, other in enumerate(chains) if other and set(other) <= known]
                alone = k if uses_new_contexts[k] else 0
                source = max(fits, key=lambda m: evidence[m]) if fits else alone
            np.testing.assert_array_equal(found[k, i], distributions[source, i])


@pytest.mark.parametrize("rate", [0.35, 0.95])
def test_new_contexts_of_a_fit(rate):
    """New contexts are used if events of categories that occur once are 2 nats more probable."""
    rng = np.random.default_rng(0)
    n, n_single = 150, 40
    X = rng.integers(0, 3, (n, 3))
    y = (rng.random(n) < np.where(X[:, 0] + X[:, 1] == 0, 0.6, 0.05)).astype(int)
    X[:n_single, 0] = 100 + np.arange(n_single)  # columns 1 and 2 have no single categories
    y[:n_single] = rng.random(n_single) < rate
    y[n_single:] |= X[n_single:, 1] == 2
    fitted = HDPBackoffClassifier(max_iter=24, random_state=0).fit(X, y)
    pool, base = fitted._pool, np.full(2, 0.5)
    expected, was_replaced = [], False
    for k, chain in enumerate(pool.chains):
        gain = 0.0
        for row, x in zip(X, y, strict=True):
            unknown = [j for j in chain if np.sum(X[:, j] == row[j]) == 1]
            if not unknown:
                continue
            known = set(chain) - set(unknown)
            if any(other and set(other) <= known for other in pool.chains):
                was_replaced = True
                continue
            codes = np.array([pool.columns[j].find(row[j : j + 1])[0] for j in range(3)])
            chances = []
            for tree in (k, 0):
                samples = [sample[tree] for sample in fitted._models]
                contexts = pool.contexts(tree, codes[None])
                inverse, total = leave_out(pool.trees[tree], samples, contexts, [x], base)
                chances.append(total[0, x] / inverse[0])
            gain += np.log(chances[0] / chances[1])
        expected.append(gain > 2.0)
    assert fitted._pool_weights.uses_new_contexts.tolist() == expected
    assert any(expected) == (rate > 0.5)
    assert was_replaced == any(0 in chain and len(chain) > 1 for chain in pool.chains)
    single = pool.chains.index((0,))
    new = pool.find([np.array([999])] * 3)
    found = fitted._predictor().by_chain(new)
    assert np.array_equal(found[single, 0], found[0, 0]) == (not expected[single])


def test_left_out_weights_of_a_fit():
    """The evidence and weights of a fit, from its own samples and definitions."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (120, 2))
    y = np.where(rng.random(120) < 0.8, (X[:, 0] + X[:, 1]) % 3, rng.integers(0, 3, 120))
    fitted = HDPBackoffClassifier(max_iter=24, random_state=0).fit(X, y)
    pool, weights = fitted._pool, fitted._pool_weights
    assert [0, 1] in fitted.chains_ or [1, 0] in fitted.chains_
    events = Counter(map(tuple, np.column_stack([X, y]).tolist()))
    listed = sorted(events)
    outcomes = np.array([event[2] for event in listed])
    codes = np.array([event[:2] for event in listed])
    logs, base = [], np.full(3, 1.0 / 3.0)
    for k, tree in enumerate(pool.trees):
        samples = [sample[k] for sample in fitted._models]
        inverse, total = leave_out(tree, samples, pool.contexts(k, codes), outcomes, base)
        logs.append(np.log(total / inverse[:, None]))
    counts = np.array([events[event] for event in listed])
    own = np.array(logs)[:, np.arange(len(listed)), outcomes]
    np.testing.assert_allclose(fitted.chain_scores_, (own[1:] @ counts) / 120.0, rtol=1e-5)

    def loss(w):
        each = [
            np.log(pooled(np.exp(np.array(logs)), w, i)[x]) for i, x in enumerate(outcomes)
        ]  # no category occurs once
        return np.sum(w) - counts @ each

    at = weights.weights
    np.testing.assert_allclose(at, fitted.chain_weights_)
    step = np.eye(len(at)) * 0.02
    for move in step:
        assert loss(at) <= loss(at + move) + 1e-4
        assert loss(at) <= loss(np.maximum(at - move, 0.0)) + 1e-4


def test_screening_predicts_without_the_event():
    """Distributions sum to one, and those of contexts with no other event are the ones above."""
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 6, 60), rng.integers(0, 4, 60)]
    outcomes = rng.integers(0, 3, 60)
    events = Events.of(codes, np.array([6, 4]), outcomes, np.ones(60, np.int64), 3)
    screening = Screening(events)
    single = screening._extend(screening._root, 0)
    pair = screening._extend(single, 1)
    for candidate in (screening._root, single, pair):
        np.testing.assert_allclose(candidate.distributions.sum(axis=1), 1.0)
    same = Counter(map(tuple, np.column_stack(codes).tolist()))
    alone = np.array([same[tuple(code)] == 1 for code in events.codes.tolist()])
    assert alone.any()
    np.testing.assert_allclose(pair.distributions[alone], pair.broader[alone])


def test_seen_once():
    codes = [np.array([0, 0, 1, 2, 2]), np.array([0, 0, 1, 1, 0])]
    outcomes, counts = np.array([1, 1, 0, 0, 1]), np.array([1, 1, 1, 2, 1])
    events = Events.of(codes, np.array([3, 2]), outcomes, counts, 2)
    assert events.codes.tolist() == [[0, 0], [1, 1], [2, 0], [2, 1]]
    assert events.counts.tolist() == [2, 1, 1, 2]
    once = events.columns_seen_once(np.arange(4))
    assert once.tolist() == [[False, False], [True, False], [False, False], [False, False]]
