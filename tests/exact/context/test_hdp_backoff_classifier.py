"""HDPBackoffClassifier against enumeration of all numbers of tables (see hpylm.py).

The oracle's contexts end with the most important value, as those of words end with the last."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest
from exact.language.franchise import of_restaurant, predictive, table_counts
from exact.language.hpylm import Model, Posterior, log_joint, log_prior
from exact.oracles.batch_means import N_SWEEPS, assert_means, check_chain

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.context import HDPBackoffClassifier
from skdp.context._backoff._pool import BackoffSampler
from skdp.data import TokenSequences
from skdp.language import HierarchicalPitmanYorLM
from skdp.processes._franchise import FranchisePriors

BURN_IN = 300
DISCOUNTS, CONCENTRATIONS = [0.2, 0.3, 0.5, 0.6], [2.0, 1.5, 0.4, 0.2]
EVENTS = {
    "three levels": (3, [("apx", 0), ("apx", 0), ("apy", 1), ("aqx", 0), ("bpx", 1), ("bpx", 0)]),
    "two levels": (2, [("ap", 0), ("ap", 0), ("aq", 0), ("bp", 0), ("bq", 1)]),
    "one often": (1, [("a", 0)] * 6),
}
CASES = [(events, root) for events in EVENTS for root in (True, False)]
HYPER = {
    "fixed": (True, True, False),
    "dirichlet": (0.0, True, False),
    "level": (False, False, False),
    "context": (False, False, True),
    "dirichlet, context": (0.0, False, True),
    "discount": (False, True, False),
}
every_case = pytest.mark.parametrize(("events", "root"), CASES)
every_law = pytest.mark.parametrize("hyper", HYPER)
CLASSES = [0, 1, 2]
BASE = dict.fromkeys(CLASSES, 1 / 3)


def oracle(n_levels, root, discounts=None, concentrations=None, **params):
    """Return the model of contexts with as many values as there are levels; None: learned."""
    unknown = [None] * (n_levels + root)
    laws = discounts or unknown, concentrations or unknown
    return Model(3, *laws, end_of_sequence=False, root=root, **params)


def problem(events, root, hyper, **priors):
    """Return the oracle's model, its events, skdp's classifier and its X and y."""
    n_levels, listed = EVENTS[events]
    n = n_levels + root
    discount, concentration, by_context = HYPER[hyper]
    d = [0.0] * n if discount == 0.0 and discount is not False else None
    d = DISCOUNTS[:n] if discount is True else d
    theta = CONCENTRATIONS[:n] if concentration else None
    model = oracle(n_levels, root, d, theta, by_context=by_context, **priors)
    classifier = HDPBackoffClassifier(
        None, root=root, discount="auto" if d is None else d,
        concentration="auto" if theta is None else theta,
        concentration_scope="context" if by_context else "level",
        classes=CLASSES, random_state=0, **priors,
    )  # fmt: skip
    X = [list(context) for context, _ in listed]
    pairs = [(tuple(context[::-1]), x) for context, x in listed]
    return model, pairs, classifier, X, [x for _, x in listed]


def cells_of(state):
    """Return the cells (context, outcome) in the order of the state's arrays."""
    return [
        (tuple(context[::-1]), outcome)
        for contexts, outcomes in zip(state.contexts, state.outcomes, strict=True)
        for context, outcome in zip(contexts.tolist(), outcomes.tolist(), strict=True)
    ]


def restaurants_of(state):
    """Return the restaurants in the order of the state's concentrations by context."""
    return list(dict.fromkeys(context for context, _ in cells_of(state)))


def thetas_of(model, state):
    """Return the concentrations, by restaurant if each has its own."""
    if model.by_context:
        values = np.concatenate(state.concentrations).tolist()
        return dict(zip(restaurants_of(state), values, strict=True))
    return state.concentrations


def flat(arrays):
    return np.concatenate(arrays)


def sweeps(classifier, X, y):
    """Return the states of a chain after its burn-in."""
    states = classifier.set_params(max_iter=BURN_IN + N_SWEEPS + 1).iter_sweeps(X, y)
    return islice(states, BURN_IN, None)


@pytest.mark.parametrize(
    ("hyper", "events", "root"),
    [
        ("fixed", "three levels", True),
        ("dirichlet", "three levels", False),
        ("dirichlet", "two levels", True),
        ("fixed", "two levels", False),
        ("fixed", "one often", True),
        ("dirichlet", "one often", False),
    ],
)
def test_tables(events, root, hyper):
    model, pairs, classifier, X, y = problem(events, root, hyper)
    posterior = Posterior(model, pairs)
    states = sweeps(classifier, X, y)
    cells = cells_of(next(states))
    assert set(cells) == set(posterior.tables)
    expected = [posterior.tables[cell] for cell in cells]
    expected += [posterior.customers[cell] for cell in cells]

    def step():
        state = next(states)
        return np.append(flat(state.tables), flat(state.customers))

    check_chain(step, lambda draws: [(draws, expected, "tables and customers")])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("events", "root", "hyper"),
    [
        ("one often", True, "context"),
        ("one often", False, "level"),
        ("two levels", True, "level"),
        ("two levels", False, "context"),
        ("two levels", True, "dirichlet, context"),
        ("two levels", False, "discount"),
    ],
)
def test_discounts_and_concentrations(events, root, hyper):
    priors = {"discount_prior": (2.0, 1.5), "concentration_prior": (2.0, 1.0)}
    model, pairs, classifier, X, y = problem(events, root, hyper, **priors)
    posterior = Posterior(model, pairs)
    states = sweeps(classifier, X, y)
    first = next(states)
    thetas = [of_restaurant(posterior.concentrations, u, model.top) for u in restaurants_of(first)]
    tables = [posterior.tables[cell] for cell in cells_of(first)]
    expected = np.concatenate([posterior.discounts, thetas, tables])

    def step():
        state = next(states)
        thetas = [
            of_restaurant(thetas_of(model, state), u, model.top) for u in restaurants_of(state)
        ]
        return np.concatenate([state.discounts, thetas, flat(state.tables)])

    check_chain(step, lambda draws: [(draws, expected, "discounts, concentrations, tables")])


@pytest.mark.parametrize("root", [True, False])
def test_concentrations_that_differ_between_contexts(root):
    """Very different ones, given: whose is whose matters."""
    listed = [("ap", 1)] * 2 + [("aq", 1)] + [("bp", 0)] * 2 + [("bq", 0)] * 3
    pairs = [(tuple(context[::-1]), x) for context, x in listed]
    model = oracle(2, root)
    thetas = {(): 1.0, ("a",): 0.05, ("b",): 30.0}
    thetas |= {tuple("pa"): 8.0, tuple("qa"): 0.1, tuple("pb"): 1.0, tuple("qb"): 2.0}
    d = [0.3, 0.2, 0.1][-model.n_laws :]
    states = [tables for _, tables in table_counts(Counter(pairs), model.top)]
    weights = np.exp([log_joint(model, pairs, tables, d, thetas) for tables in states])
    cells = sorted(states[0], key=lambda cell: (len(cell[0]), cell[0][::-1], cell))
    means = [weights @ [tables[cell] for tables in states] / weights.sum() for cell in cells]

    classifier = HDPBackoffClassifier(None, root=root, classes=CLASSES)
    tree = classifier._index([list(u) for u, _ in listed], [x for _, x in listed], None)
    depths = range(model.n_laws)
    restaurants = [tuple(u[::-1]) for m in depths for u in tree.contexts_at(m).tolist()]
    priors = FranchisePriors(
        np.array(d), np.array([thetas[u] for u in restaurants]), (1.0, 1.0), (1.0, 1.0),
        by_node=True,
    )  # fmt: skip
    sampler = BackoffSampler(tree, np.ones(3) / 3, priors, make_stream(make_seed_sequence(0)))
    for _ in range(BURN_IN):
        sampler.sweep()
    assert cells_of(sampler.state()) == cells

    def step():
        sampler.sweep()
        return sampler.franchise.tables.copy()

    check_chain(step, lambda draws: [(draws, means, "tables")])


@every_case
@every_law
def test_log_joint(events, root, hyper):
    model, pairs, classifier, X, y = problem(events, root, hyper)
    for state in classifier.set_params(max_iter=20).iter_sweeps(X, y):
        tables = dict(zip(cells_of(state), flat(state.tables).tolist(), strict=True))
        thetas = thetas_of(model, state)
        learned = list(thetas.values() if model.by_context else thetas)
        expected = log_joint(model, pairs, tables, state.discounts, thetas)
        expected += log_prior(model, state.discounts, learned)
        assert state.log_joint() == pytest.approx(expected, rel=1e-9)


@every_case
@every_law
def test_probabilities_given_samples(events, root, hyper):
    """Those of contexts that were seen, in part or not at all, averaged over samples."""
    model, _, classifier, X, y = problem(events, root, hyper)
    classifier.set_params(max_iter=12, burn_in=5).fit(X, y)
    states = [state.copy() for state in classifier.iter_sweeps(X, y)][5:]
    assert len(states) == len(classifier._models)
    n_levels = len(X[0])
    contexts = ["apx", "apy", "apz", "aqy", "azx", "bpx", "zzz"]
    contexts = sorted({context[:n_levels] for context in contexts})
    expected = np.zeros((len(contexts), len(CLASSES)))
    for state in states:
        cells = cells_of(state)
        tables = dict(zip(cells, flat(state.tables).tolist(), strict=True))
        customers = dict(zip(cells, flat(state.customers).tolist(), strict=True))
        laws = state.discounts, thetas_of(model, state), BASE, model.top
        for i, context in enumerate(contexts):
            for x in CLASSES:
                expected[i, x] += predictive(tuple(context[::-1]), x, customers, tables, *laws)
    expected /= len(states)
    rows = [list(context) for context in contexts]
    found = classifier.predict_proba(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(classifier.predict_log_proba(rows), np.log(expected), rtol=1e-10)
    assert classifier.predict(rows).tolist() == expected.argmax(axis=1).tolist()
    for x in CLASSES:
        scores = classifier.score_samples(rows, [x] * len(rows))
        np.testing.assert_allclose(scores, np.log(expected[:, x]), rtol=1e-10)
    np.testing.assert_allclose(classifier.score_samples(rows), np.log(expected.max(axis=1)))


@pytest.mark.slow
@pytest.mark.parametrize(("root", "hyper"), [(True, "level"), (False, "context")])
def test_predictive(root, hyper):
    """The exact predictive distribution, with discounts and concentrations integrated out."""
    model, pairs, classifier, X, y = problem("two levels", root, hyper)
    posterior = Posterior(model, pairs)
    classifier.set_params(max_iter=BURN_IN + 8_000, burn_in=BURN_IN, n_samples=8_000).fit(X, y)
    contexts = ["ap", "aq", "bz", "zz"]
    found = classifier._find([list(context) for context in contexts])
    draws = []
    for each in classifier._predictor()._models:
        rows = np.zeros((len(contexts), len(CLASSES)))
        each.model.add_to_distributions(found, rows)
        draws.append(rows)
    expected = [posterior.predictive(tuple(context[::-1])) for context in contexts]
    assert_means(draws, expected, "predictive")


@pytest.mark.parametrize("discount", [0.0, "auto"])
def test_one_column_is_a_bigram_model(discount, monkeypatch):
    """Contexts of the word before, the beginning last: from one start the same chain, bit for bit.
    Probabilities are summed from the other end, so their last digits differ."""
    monkeypatch.setattr("skdp.processes._franchise.find_start", lambda *_: (None, None))
    rng = np.random.default_rng(0)
    n_words = 9
    sentences = [rng.integers(0, n_words, n).tolist() for n in rng.integers(1, 9, 60)]
    lm = HierarchicalPitmanYorLM(2, discount=discount, n_chains=2, max_iter=20, random_state=0)
    lm.fit(TokenSequences.from_sequences(sentences, n_words))
    pairs = [
        pair
        for words in sentences
        for pair in zip([n_words, *words], [*words, n_words], strict=True)
    ]
    X, y = np.array(pairs)[:, :1], np.array(pairs)[:, 1]
    classifier = HDPBackoffClassifier(
        None, discount=discount, n_chains=2, max_iter=20, random_state=0, classes=range(n_words + 1)
    ).fit(X, y)
    np.testing.assert_array_equal(classifier.discounts_, lm.discounts_)
    np.testing.assert_array_equal(classifier.concentrations_, lm.concentrations_)
    np.testing.assert_array_equal(classifier.n_tables_, lm.n_tables_)
    for own, other in zip(classifier._models, lm._models, strict=True):
        np.testing.assert_array_equal(own.tables, other.tables)
    np.testing.assert_allclose(
        classifier.predict_proba([[n_words], [0], [5]]),
        lm.predict_proba([[], [0], [0, 5]]),
        rtol=1e-13,
    )


# The oracle


@pytest.mark.parametrize("by_context", [False, True])
@pytest.mark.parametrize("root", [False, True])
def test_probabilities_are_exchangeable(root, by_context):
    """p(first) p(second | first) is the same in any order: the chain rule holds."""
    model = oracle(2, root, by_context=by_context)
    one, two = (("p", "a"), 0), (("q", "a"), 1)

    def chain(first, second):
        return np.log(Posterior(model, [first]).predictive(second[0])[second[1]])

    assert chain(one, two) == pytest.approx(chain(two, one), rel=1e-8)
