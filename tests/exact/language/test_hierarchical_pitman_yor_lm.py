"""HierarchicalPitmanYorLM against enumeration of all numbers of tables (see hpylm.py).

With ``order=None`` contexts have any length. An order that no context reaches is the same model,
with all contexts in the trie: with given discounts and concentrations even the draws are the same,
as nothing is drawn in a context that one event alone follows."""

from collections import Counter

import numpy as np
import pytest
from exact.language.arpa import read_arpa
from exact.language.draws import check_states
from exact.language.franchise import predictive
from exact.language.hpylm import Model, Posterior, enumerate_posterior, log_joint, log_prior
from exact.oracles.batch_means import check_chain
from scipy.special import logsumexp

from skdp.data import TokenSequences
from skdp.language import HierarchicalPitmanYorLM

N_WORDS = 3
DISCOUNTS, CONCENTRATIONS = [0.3, 0.5, 0.6], [2.0, 0.4, 0.1]
UNENDED = {"end_of_sequence": False}
CASES = {
    "unigrams": ([[0, 0, 1], [0]], 1, {}),
    "bigrams": ([[0, 1, 0], [0]], 2, {}),
    "trigrams": ([[0, 1, 0, 1, 0], [1]], 3, {}),
    "trigrams without ends": ([[0, 0, 0], [1, 0, 0]], 3, UNENDED),
    "one often": ([[0] * 9], 2, UNENDED),
    "an unlikely one, trigrams": ([[0] * 7], 3, {**UNENDED, "base": [0.01, 0.49, 0.5]}),
    "a base": ([[0, 1, 0, 0]], 2, {"base": [0.7, 0.1, 0.15, 0.05]}),
}
ANY_ORDER = {
    "recurs": ([[0, 0, 1], [1, 0, 0]], 3, UNENDED),
    "any sentences": ([[0, 0], [0]], 2, {}),
    "twice": ([[0, 1], [0, 1]], 2, UNENDED),  # contexts of two symbols have two events
}
"""Sentences, the number of discounts and of concentrations, and other parameters."""
EVERY = CASES | ANY_ORDER
PRIORS = {
    "nothing": {},
    "discounts": {"discount_prior": (2.0, 1.5)},
    "concentrations": {"concentration_prior": (2.0, 1.0)},
    "all": {},
}
"""Of what is learned."""
NEW = [[0, 1, 2, 0, 0], [], [1, 1], [2], [0, 0, 0]]


def problem(case, learned="nothing"):
    """Return the oracle's model, skdp's, and X; one of any order must know the number of laws."""
    corpus, n_laws, params = EVERY[case]
    params = {**params, **PRIORS[learned]}
    of_oracle = {"n_symbols": max(map(len, corpus)) + 1} if case in ANY_ORDER else {}
    laws, given = [], []
    for name, values in (("discounts", DISCOUNTS), ("concentrations", CONCENTRATIONS)):
        is_free = learned in ("all", name)
        laws.append([None] * n_laws if is_free else values[:n_laws])
        given.append("auto" if is_free else values[:n_laws])
    lm = HierarchicalPitmanYorLM(
        None if case in ANY_ORDER else n_laws, discount=given[0], concentration=given[1], **params
    )
    oracle = Model(N_WORDS, *laws, **params, **of_oracle)
    return oracle, lm.set_params(random_state=0), TokenSequences.from_sequences(corpus, N_WORDS)


def cells_of(state):
    """Return the cells (context, outcome) in the order of the state's arrays."""
    return [
        (tuple(context), word)
        for contexts, words in zip(state.contexts, state.words, strict=True)
        for context, word in zip(contexts.tolist(), words.tolist(), strict=True)
    ]


def counts_by_cell(state):
    """Return the tables and the customers of each cell."""
    cells, kinds = cells_of(state), (state.tables, state.customers)
    return [dict(zip(cells, np.concatenate(of).tolist(), strict=True)) for of in kinds]


FAST = ("bigrams", "twice")


@pytest.mark.parametrize(
    "case", [case if case in FAST else pytest.param(case, marks=pytest.mark.slow) for case in EVERY]
)
def test_tables(case):
    oracle, lm, X = problem(case)
    posterior = enumerate_posterior(oracle, EVERY[case][0])
    cells = cells_of(next(lm.iter_sweeps(X)))
    others = set(posterior.tables) - set(cells)  # in the text, if contexts have any length
    assert case in ANY_ORDER or not others
    assert all(posterior.customers[cell] == pytest.approx(1.0, rel=1e-12) for cell in others)
    expected = {
        "tables": [posterior.tables[cell] for cell in cells],
        "customers": [posterior.customers[cell] for cell in cells],
    }

    def record(state):
        return np.concatenate(state.tables), np.concatenate(state.customers)

    check_states(lm, (X,), record, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "learned"),
    [
        *(("one often", "all"), ("bigrams", "all"), ("trigrams without ends", "all")),
        *(("bigrams", "discounts"), ("any sentences", "discounts"), ("twice", "discounts")),
        *(("trigrams without ends", "concentrations"), ("recurs", "concentrations")),
        ("twice", "concentrations"),
    ],
)
def test_discounts_and_concentrations(case, learned):
    """With any order, all longer contexts share the last ones."""
    oracle, lm, X = problem(case, learned)
    posterior = enumerate_posterior(oracle, EVERY[case][0])
    expected = {
        "discounts": posterior.discounts,
        "concentrations": posterior.concentrations,
        "tables": [posterior.tables[cell] for cell in cells_of(next(lm.iter_sweeps(X)))],
    }

    def record(state):
        return state.discounts.copy(), state.concentrations.copy(), np.concatenate(state.tables)

    check_states(lm, (X,), record, expected)


STREAMS = {
    "bigrams": [[[0, 1, 0], [1, 1, 1]], [[0]]],
    "trigrams without ends": [[[1, 0, 0]], [[0, 0, 0]]],
    "one often": [[[0] * 4], [[0] * 3], [[0] * 2]],
    "recurs": [[[0, 0, 1]], [[1, 0, 0]]],
    "twice": [[[0, 1]], [[0, 1]]],  # a context of the first is longer with the second
    "any sentences": [[[0, 0], [0]], [[0, 0]]],  # and one of the second shorter without the first
}
"""Batches of sentences; of three, the first leaves, but for those with one word."""


@pytest.mark.parametrize(
    ("case", "learned"),
    [
        *(("bigrams", "nothing"), ("twice", "nothing")),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in [
                *(("trigrams without ends", "nothing"), ("any sentences", "nothing")),
                *(("one often", "all"), ("bigrams", "discounts"), ("recurs", "concentrations")),
            ]
        ),
    ],
)
def test_posterior_of_a_stream(case, learned):
    """A sweep draws the last sentences, and as many others at random."""
    oracle, lm, _ = problem(case, learned)
    batches = [TokenSequences.from_sequences(batch, N_WORDS) for batch in STREAMS[case]]
    n = 3 if case == "one often" else 2
    for batch in batches:
        lm.set_params(max_iter=20, stream_sweeps=2, stream_window=n).partial_fit(batch)
    sentences = [words for batch in STREAMS[case] for words in batch][-n:]
    posterior = enumerate_posterior(oracle, sentences)
    chain = lm._saved.runs[0].sampler
    chain.attach(lm._stream)
    cells = cells_of(chain.state())

    def step():
        chain.sweep()
        franchise = chain.franchise
        laws = franchise.discount.copy(), franchise.concentration.copy()
        return franchise.tables.copy(), franchise.customers.copy(), *laws

    def compare(tables, customers, discounts, concentrations):
        yield tables, [posterior.tables[cell] for cell in cells], "tables"
        yield customers, [posterior.customers[cell] for cell in cells], "customers"
        yield discounts, posterior.discounts, "discounts"
        yield concentrations, posterior.concentrations, "concentrations"

    check_chain(step, compare)


def test_seats_of_a_later_word():
    """It has a table of its own with the right probability; |z| < 5."""
    _, lm, _ = problem("one often")
    first, second = (TokenSequences.from_sequences([words], N_WORDS) for words in ([0] * 3, [0]))
    chain = lm.set_params(max_iter=20, stream_sweeps=1).partial_fit(first)._saved.runs[0].sampler
    chain.attach(lm._stream)
    tables, customers = counts_by_cell(chain.state())
    data, _ = lm._check_batch(lm._stream, second, None)
    at = cells_of(chain.state()).index(((-1,), 0))
    laws = DISCOUNTS, CONCENTRATIONS, dict.fromkeys(range(N_WORDS), 1.0 / N_WORDS)
    opens = CONCENTRATIONS[1] + DISCOUNTS[1]  # next to one customer at one table
    opens *= predictive((), 0, customers, tables, *laws)
    p = opens / (1.0 - DISCOUNTS[1] + opens)
    is_new = []
    for _ in range(2000):
        other = chain.extended(data, lm._stream, 0)
        is_new.append(other.franchise.tables[at] == 2)
        chain.rng = other.rng
    assert abs(np.mean(is_new) - p) < 5.0 * np.sqrt(p * (1.0 - p) / len(is_new))


@pytest.mark.parametrize("case", EVERY)
def test_log_joint(case):
    for learned in ("nothing", "discounts"):
        oracle, lm, X = problem(case, learned)
        events = oracle.events(EVERY[case][0])
        every = Posterior(oracle, events).tables
        for state in lm.set_params(max_iter=20).iter_sweeps(X):
            tables = {**dict.fromkeys(every, 1), **counts_by_cell(state)[0]}
            laws = state.discounts, state.concentrations
            expected = log_joint(oracle, events, tables, *laws) + log_prior(oracle, *laws)
            assert state.log_joint() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_probabilities_given_samples(case):
    """Those of words, of ends and of contexts never seen, averaged over samples."""
    oracle, lm, X = problem(case, "all")
    lm.set_params(max_iter=12, burn_in=5).fit(X)
    states = [state.copy() for state in lm.iter_sweeps(X)][5:]
    assert len(states) == len(lm._models)
    np.testing.assert_allclose(lm.base_, list(oracle.base_probabilities.values()))

    def expected(words):
        context = (-1, *words)[max(len(words) + 2 - oracle.order, 0) :]
        rows = []
        for state in states:
            tables, customers = counts_by_cell(state)
            laws = state.discounts, state.concentrations, oracle.base_probabilities
            outcomes = range(oracle.n_outcomes)
            rows.append([predictive(context, w, customers, tables, *laws) for w in outcomes])
        return np.mean(rows, axis=0)

    found = lm.predict_proba(NEW)
    np.testing.assert_allclose(found, [expected(words) for words in NEW], rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    values = lm.log_proba(NEW)
    for sentence, logs in zip(NEW, values, strict=True):
        events = [*sentence, N_WORDS] if lm.end_of_sequence else sentence
        wanted = [np.log(expected(sentence[:i])[w]) for i, w in enumerate(events)]
        np.testing.assert_allclose(logs, wanted, rtol=1e-10)
    sums = [value.sum() for value in values]
    np.testing.assert_allclose(lm.score_samples(NEW), sums, rtol=1e-12)
    mean = sum(sums) / sum(map(len, values))
    assert lm.score(NEW) == pytest.approx(mean, rel=1e-12)
    assert lm.perplexity(NEW) == pytest.approx(np.exp(-mean), rel=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_arpa(case, tmp_path):
    """A file says what a stored sample does, and its distributions sum to one."""
    _, lm, X = problem(case, "all")
    lm.set_params(max_iter=8).fit(X)
    names = ["a", "b", "c"]
    for sample in (0, -1):
        lm.to_arpa(tmp_path / "lm.arpa", names, sample=sample)
        arpa = read_arpa((tmp_path / "lm.arpa").read_text(encoding="utf-8"))
        assert arpa.order == lm.order
        found = lm._trie.find_last(TokenSequences.from_sequences(NEW, N_WORDS))
        rows = np.zeros((len(NEW), lm._trie.n_outcomes))
        lm._trie.add_distributions(list(lm._interpolated_models())[sample], found, rows)
        outcomes = [*names, "</s>"] if lm.end_of_sequence else names
        for sentence, row in zip(NEW, rows, strict=True):
            context = ["<s>", *(names[w] for w in sentence)]
            values = [arpa.log10_probability(context, outcome) for outcome in outcomes]
            np.testing.assert_allclose(values, np.log10(row), atol=2e-8)
            total = logsumexp(np.multiply(values, np.log(10.0)))
            assert total == pytest.approx(0.0, abs=1e-7)


# --- any order ------------------------------------------------------------------------------------


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
    order = max(map(len, train)) + 2
    X, new = (TokenSequences.from_sequences(part, 6) for part in (train, test))

    def fit(order, n_laws):
        laws = [
            [*values, *[values[-1]] * (n_laws - len(values))]
            for values in (discounts, np.linspace(2.0, 0.1, len(discounts)).tolist())
        ]
        lm = HierarchicalPitmanYorLM(order, discount=laws[0], concentration=laws[1])
        lm.set_params(end_of_sequence=ends, max_iter=8, n_samples=3, random_state=0)
        return lm.fit(X)

    lm, full = fit(None, len(discounts)), fit(order, order)
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


@pytest.mark.slow
def test_draws():
    """Sequences come as often as their probabilities say. 30,000 draws of one stored sample, the 40
    most common sequences, |z| < 5: a false alarm once in 40,000 runs."""
    lm = HierarchicalPitmanYorLM(
        None, discount=[0.8], concentration=[0.1], max_iter=2, n_samples=1, random_state=0
    )
    lm.fit([[0, 1, 2, 3, 4], [1, 0, 3, 2], [4, 1]])
    n = 30_000
    sequences, found = zip(
        *Counter(map(tuple, lm.sample(n, random_state=0))).most_common(40), strict=True
    )
    commonest = TokenSequences.from_sequences([list(words) for words in sequences])
    assert lm._trie.find_last(commonest).tails.max() > 1
    p = np.exp(lm.score_samples(commonest))
    assert np.all(np.abs(np.array(found) - n * p) < 5.0 * np.sqrt(n * p * (1.0 - p)))
