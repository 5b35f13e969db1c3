"""HierarchicalPitmanYorLM against enumeration of all numbers of tables (see hpylm.py)."""

import numpy as np
import pytest
from exact.language.arpa import read_arpa
from exact.language.franchise import predictive
from exact.language.hpylm import Model, enumerate_posterior, log_joint, log_prior
from exact.oracles.batch_means import N_SWEEPS, assert_means
from scipy.special import logsumexp

from skdp.data import TokenSequences
from skdp.language import HierarchicalPitmanYorLM
from skdp.processes import sample_table_counts

BURN_IN = 300
DISCOUNTS, CONCENTRATIONS = [0.3, 0.5, 0.6], [2.0, 0.4, 0.1]
CASES = {
    "unigrams": ([[0, 0, 1], [0]], 1, {}),
    "bigrams": ([[0, 1, 0], [0]], 2, {}),
    "trigrams": ([[0, 1, 0, 1, 0], [1]], 3, {}),
    "trigrams without ends": ([[0, 0, 0], [1, 0, 0]], 3, {"end_of_sequence": False}),
    "one often": ([[0] * 9], 2, {"end_of_sequence": False}),
    "an unlikely one, trigrams": (
        [[0] * 7],
        3,
        {"end_of_sequence": False, "base": [0.01, 0.49, 0.5]},
    ),
    "a base": ([[0, 1, 0, 0]], 2, {"base": [0.7, 0.1, 0.15, 0.05]}),
}
LEARNT = {
    "all": (None, None, {}),
    "discounts": (None, CONCENTRATIONS, {"discount_prior": (2.0, 1.5)}),
    "concentrations": (DISCOUNTS, None, {"concentration_prior": (2.0, 1.0)}),
}
every_case = pytest.mark.parametrize("case", CASES)
N_WORDS = 3


def problem(corpus, order, discounts, concentrations, **params):
    """Return the oracle's model and skdp's."""
    cut = [None] * order
    oracle = Model(
        N_WORDS,
        cut if discounts is None else discounts[:order],
        cut if concentrations is None else concentrations[:order],
        **params,
    )
    given = {
        "discount": "auto" if discounts is None else discounts[:order],
        "concentration": "auto" if concentrations is None else concentrations[:order],
    }
    lm = HierarchicalPitmanYorLM(order, **given, **params, random_state=0)
    return oracle, lm, TokenSequences.from_sequences(corpus, N_WORDS)


def cells_of(state):
    """Return the cells (context, outcome) in the order of the state's arrays."""
    return [
        (tuple(context), word)
        for contexts, words in zip(state.contexts, state.words, strict=True)
        for context, word in zip(contexts.tolist(), words.tolist(), strict=True)
    ]


def flat(arrays):
    return np.concatenate(arrays)


@every_case
def test_tables(case):
    corpus, order, params = CASES[case]
    oracle, lm, X = problem(corpus, order, DISCOUNTS, CONCENTRATIONS, **params)
    posterior = enumerate_posterior(oracle, corpus)
    sweeps = lm.set_params(max_iter=BURN_IN + N_SWEEPS).iter_sweeps(X)
    draws = []
    for state in sweeps:
        draws.append(np.append(flat(state.tables), flat(state.customers)))
    cells = cells_of(state)
    assert set(cells) == set(posterior.tables)
    tables = [posterior.tables[cell] for cell in cells]
    customers = [posterior.customers[cell] for cell in cells]
    assert_means(draws[BURN_IN:], tables + customers, "tables and customers")


@pytest.mark.parametrize(
    ("case", "learned"),
    [
        ("one often", "all"),
        ("trigrams without ends", "concentrations"),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in [
                ("bigrams", "all"),
                ("trigrams without ends", "all"),
                ("bigrams", "discounts"),
            ]
        ),
    ],
)
def test_discounts_and_concentrations(case, learned):
    corpus, order, params = CASES[case]
    discounts, concentrations, priors = LEARNT[learned]
    oracle, lm, X = problem(corpus, order, discounts, concentrations, **params, **priors)
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
    corpus, order, params = CASES[case]
    given = (None, None) if learned else (DISCOUNTS, CONCENTRATIONS)
    oracle, lm, X = problem(corpus, order, *given, **params)
    for state in lm.set_params(max_iter=20).iter_sweeps(X):
        tables = dict(zip(cells_of(state), flat(state.tables).tolist(), strict=True))
        d, theta = state.discounts, state.concentrations
        expected = log_joint(oracle, corpus, tables, d, theta) + log_prior(oracle, d, theta)
        assert state.log_joint() == pytest.approx(expected, rel=1e-9)


@every_case
def test_probabilities_given_samples(case):
    """Those of words, of ends and of contexts never seen, averaged over samples."""
    corpus, order, params = CASES[case]
    oracle, lm, X = problem(corpus, order, None, None, **params)
    lm.set_params(max_iter=12, burn_in=5).fit(X)
    states = [state.copy() for state in lm.iter_sweeps(X)][5:]
    assert len(states) == len(lm._models)
    n_outcomes = N_WORDS + oracle.end_of_sequence
    base = dict(enumerate(oracle.base or [1.0 / n_outcomes] * n_outcomes))
    np.testing.assert_allclose(lm.base_, list(base.values()))

    def expected(context):
        context = tuple(context)[max(len(context) - order + 1, 0) :]
        rows = []
        for state in states:
            cells = cells_of(state)
            tables = dict(zip(cells, flat(state.tables).tolist(), strict=True))
            customers = dict(zip(cells, flat(state.customers).tolist(), strict=True))
            laws = state.discounts, state.concentrations, base
            rows.append(
                [predictive(context, w, customers, tables, *laws) for w in range(n_outcomes)]
            )
        return np.mean(rows, axis=0)

    sentences = [[0, 1, 2, 0, 0], [], [1, 1], [2], [0, 0, 0]]
    found = lm.predict_proba(sentences)
    for sentence, row in zip(sentences, found, strict=True):
        np.testing.assert_allclose(row, expected([-1, *sentence]), rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert_log_probabilities(lm, sentences, lambda words: expected([-1, *words]))


def assert_log_probabilities(lm, sentences, distribution):
    """Assert that all scores follow from the distributions after the words before."""
    values = lm.log_proba(sentences)
    for sentence, found in zip(sentences, values, strict=True):
        events = [*sentence, N_WORDS] if lm.end_of_sequence else sentence
        wanted = [np.log(distribution(sentence[:i])[w]) for i, w in enumerate(events)]
        np.testing.assert_allclose(found, wanted, rtol=1e-10)
    sums = [value.sum() for value in values]
    np.testing.assert_allclose(lm.score_samples(sentences), sums, rtol=1e-12)
    n_events = sum(map(len, values))
    assert lm.score(sentences) == pytest.approx(sum(sums) / n_events, rel=1e-12)
    assert lm.perplexity(sentences) == pytest.approx(np.exp(-sum(sums) / n_events), rel=1e-12)


@pytest.mark.parametrize("case", ["bigrams", pytest.param("trigrams", marks=pytest.mark.slow)])
def test_predictive(case):
    """The exact predictive distribution, with discounts and concentrations summed out."""
    corpus, order, params = CASES[case]
    oracle, lm, X = problem(corpus, order, None, None, **params)
    posterior = enumerate_posterior(oracle, corpus)
    lm.set_params(max_iter=BURN_IN + 8_000, burn_in=BURN_IN, n_samples=8_000).fit(X)
    sentences = [[], [0], [0, 1], [1, 2], [2, 2]]
    found = lm._trie.find_last(TokenSequences.from_sequences(sentences, N_WORDS))
    draws = []
    for model in lm._interpolated_models():
        rows = np.zeros((len(sentences), N_WORDS + 1))
        lm._trie.add_distributions(model, found, rows)
        draws.append(rows)
    expected = [posterior.predictive((-1, *sentence)) for sentence in sentences]
    assert_means(draws, expected, "predictive")


def test_one_word_is_a_restaurant():
    """Of order 1 it is what `sample_table_counts` draws: two samplers, one distribution.

    The difference of two means; a false alarm once in 80,000 comparisons, 3 of them.
    """
    counts, base = [7, 3, 1], [0.6, 0.3, 0.1]
    X = [[0] * 7 + [1] * 3 + [2]]
    lm = HierarchicalPitmanYorLM(
        1, discount=0.4, concentration=1.5, base=base, end_of_sequence=False, random_state=0,
        max_iter=BURN_IN + N_SWEEPS,
    )  # fmt: skip
    draws = np.array([state.tables[0].copy() for state in lm.iter_sweeps(X)])[BURN_IN:]
    others = sample_table_counts(
        counts, base, discount=0.4, concentration=1.5, n_sweeps=len(draws), random_state=1
    )
    assert_means(draws - others, np.zeros(3), "difference of tables")


@every_case
def test_arpa(case, tmp_path):
    """A file says what a stored sample does, and its distributions sum to one."""
    corpus, order, params = CASES[case]
    _, lm, X = problem(corpus, order, None, None, **params)
    lm.set_params(max_iter=8).fit(X)
    names = ["a", "b", "c"]
    for sample in (0, -1):
        lm.to_arpa(tmp_path / "lm.arpa", names, sample=sample)
        arpa = read_arpa((tmp_path / "lm.arpa").read_text(encoding="utf-8"))
        assert arpa.order == order
        model = list(lm._interpolated_models())[sample]
        sentences = [[0, 1, 2, 0, 0], [], [1, 1], [2], [0, 0, 0]]
        found = lm._trie.find_last(TokenSequences.from_sequences(sentences, N_WORDS))
        rows = np.zeros((len(sentences), lm._trie.n_outcomes))
        lm._trie.add_distributions(model, found, rows)
        outcomes = [*names, "</s>"] if lm.end_of_sequence else names
        for sentence, row in zip(sentences, rows, strict=True):
            context = ["<s>", *(names[w] for w in sentence)]
            values = [arpa.log10_probability(context, outcome) for outcome in outcomes]
            np.testing.assert_allclose(values, np.log10(row), atol=2e-8)
            total = logsumexp(np.multiply(values, np.log(10.0)))
            assert total == pytest.approx(0.0, abs=1e-7)
