"""HierarchicalPitmanYorLM(order=None): contexts of any length, against enumeration and orders.

An order that no context reaches is the same model, with all contexts in the trie: with given
discounts and concentrations even the draws are the same, as nothing is drawn in a context that one
event alone follows.
"""

from collections import Counter

import numpy as np
import pytest
from exact.language.hpylm import Model, enumerate_posterior, log_joint, log_prior
from exact.language.test_hierarchical_pitman_yor_lm import cells_of, flat
from exact.oracles.batch_means import N_SWEEPS, assert_means

from skdp.data import TokenSequences
from skdp.language import HierarchicalPitmanYorLM

BURN_IN = 300
N_WORDS = 3
CASES = {
    "recurs": ([[0, 0, 1], [1, 0, 0]], {"end_of_sequence": False}),
    "sentences": ([[0, 0], [0]], {}),
    "twice": ([[0, 1], [0, 1]], {"end_of_sequence": False}),
}
LAWS = {2: ([0.3, 0.6], [2.0, 0.4]), 3: ([0.3, 0.5, 0.6], [2.0, 0.4, 0.1])}
every_case = pytest.mark.parametrize("case", CASES)


def problem(corpus, discounts, concentrations, **params):
    """Return the oracle's model and skdp's, and X."""
    n_symbols = max(map(len, corpus)) + 1
    oracle = Model(N_WORDS, discounts, concentrations, n_symbols=n_symbols, **params)
    given = {
        name: "auto" if None in values else values
        for name, values in (("discount", discounts), ("concentration", concentrations))
    }
    if all(value == "auto" for value in given.values()):
        raise ValueError("one of them says how many laws there are")
    lm = HierarchicalPitmanYorLM(None, **given, **params, random_state=0)
    return oracle, lm, TokenSequences.from_sequences(corpus, N_WORDS)


@every_case
@pytest.mark.parametrize("n_laws", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_tables(case, n_laws):
    corpus, params = CASES[case]
    oracle, lm, X = problem(corpus, *LAWS[n_laws], **params)
    posterior = enumerate_posterior(oracle, corpus)
    draws = []
    for state in lm.set_params(max_iter=BURN_IN + N_SWEEPS).iter_sweeps(X):
        draws.append(np.append(flat(state.tables), flat(state.customers)))
    cells = cells_of(state)
    assert set(cells) <= set(posterior.tables)
    tables = [posterior.tables[cell] for cell in cells]
    customers = [posterior.customers[cell] for cell in cells]
    assert_means(draws[BURN_IN:], tables + customers, "tables and customers")
    for cell in set(posterior.tables) - set(cells):
        assert posterior.customers[cell] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    ("case", "learned"),
    [
        ("twice", "discounts"),  # contexts of two symbols have two events
        ("recurs", "concentrations"),
        pytest.param("sentences", "discounts", marks=pytest.mark.slow),
        pytest.param("twice", "concentrations", marks=pytest.mark.slow),
    ],
)
def test_shared_laws(case, learned):
    """Discounts or concentrations, the last of which all longer contexts share."""
    corpus, params = CASES[case]
    discounts, concentrations = LAWS[2]
    if learned == "discounts":
        discounts, params = [None, None], {**params, "discount_prior": (2.0, 1.5)}
    else:
        concentrations, params = [None, None], {**params, "concentration_prior": (2.0, 1.0)}
    oracle, lm, X = problem(corpus, discounts, concentrations, **params)
    posterior = enumerate_posterior(oracle, corpus)
    draws = []
    for state in lm.set_params(max_iter=BURN_IN + N_SWEEPS).iter_sweeps(X):
        draws.append(np.concatenate([state.discounts, state.concentrations, flat(state.tables)]))
    tables = [posterior.tables[cell] for cell in cells_of(state)]
    expected = np.concatenate([posterior.discounts, posterior.concentrations, tables])
    assert_means(draws[BURN_IN:], expected, "discounts, concentrations, tables")


@every_case
@pytest.mark.parametrize("learned", [False, True])
def test_log_joint(case, learned):
    corpus, params = CASES[case]
    discounts, concentrations = LAWS[2]
    oracle, lm, X = problem(
        corpus, [None, None] if learned else discounts, concentrations, **params
    )
    for state in lm.set_params(max_iter=20).iter_sweeps(X):
        tables = dict(zip(cells_of(state), flat(state.tables).tolist(), strict=True))
        missing = set(enumerate_posterior(oracle, corpus).tables) - set(tables)
        tables.update(dict.fromkeys(missing, 1))
        laws = state.discounts, state.concentrations
        expected = log_joint(oracle, corpus, tables, *laws) + log_prior(oracle, *laws)
        assert state.log_joint() == pytest.approx(expected, rel=1e-9)


def draw_corpora():
    """Return sentences to learn from and others, which share stretches of many words."""
    rng = np.random.default_rng(0)
    stock = [rng.integers(0, 4, n).tolist() for n in (3, 8, 2, 5)]

    def sentence():
        parts = [word for i in rng.integers(0, 4, 3) for word in stock[i]]
        return parts + rng.integers(0, 5, rng.integers(0, 3)).tolist()

    return [sentence() for _ in range(12)] + [[], [4]], [sentence() for _ in range(6)] + [[], [5]]


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("discounts", [[0.3, 0.5, 0.6, 0.8], [0.4, 0.0], [0.0]])
def test_same_as_an_order_that_no_context_reaches(ends, discounts):
    """The same draws, and so the same probabilities, in the trie or in the text."""
    train, test = draw_corpora()
    concentrations = np.linspace(2.0, 0.1, len(discounts))
    order = max(map(len, train)) + 2

    def extended(values):
        return [*values, *[values[-1]] * (order - len(values))]

    X, new = (TokenSequences.from_sequences(part, 6) for part in (train, test))
    params = {"end_of_sequence": ends, "max_iter": 8, "n_samples": 3, "random_state": 0}
    lm = HierarchicalPitmanYorLM(
        None, discount=discounts, concentration=concentrations, **params
    ).fit(X)
    full = HierarchicalPitmanYorLM(
        order, discount=extended(discounts), concentration=extended(concentrations), **params
    ).fit(X)
    assert lm._trie.order < order
    assert len(lm._trie.outcome) < len(full._trie.outcome)
    for sample, other in zip(lm._models, full._models, strict=True):
        np.testing.assert_array_equal(sample.tables, other.tables)
    np.testing.assert_allclose(lm.trace_["log_joint"], full.trace_["log_joint"], rtol=1e-12)
    for sentences in (X, new):
        np.testing.assert_allclose(
            lm.score_samples(sentences), full.score_samples(sentences), rtol=1e-10
        )
        expected = full.predict_proba(sentences)
        np.testing.assert_allclose(lm.predict_proba(sentences), expected, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(expected.sum(axis=1), 1.0, rtol=1e-12)


def test_draws():
    """Sequences come as often as their probabilities say.

    30,000 draws of one stored sample, the 40 commonest sequences, |z| < 5: a false alarm once in
    40,000 runs.
    """
    lm = HierarchicalPitmanYorLM(
        None, discount=[0.8], concentration=[0.1], max_iter=2, n_samples=1, random_state=0
    )
    lm.fit([[0, 1, 2, 3, 4], [1, 0, 3, 2], [4, 1]])
    n_draws = 30_000
    counts = Counter(map(tuple, lm.sample(n_draws, random_state=0)))
    commonest = TokenSequences.from_sequences([list(words) for words, _ in counts.most_common(40)])
    assert lm._trie.find_last(commonest).tails.max() > 1
    p = np.exp(lm.score_samples(commonest))
    found = np.array([n for _, n in counts.most_common(40)])
    assert np.all(np.abs(found - n_draws * p) < 5.0 * np.sqrt(n_draws * p * (1.0 - p)))
