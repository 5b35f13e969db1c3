"""Counts and trees of grammars; starts, annealing, trials without a symbol; top-level weights."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp.data import TokenSequences
from skdp.datasets import make_pcfg_corpus
from skdp.grammar import HDPPCFG, ParseTree
from skdp.grammar._chart._ascents import (
    MIN_WEIGHT,
    Family,
    TopPrior,
    expected_log,
    log_joint,
    maximize,
    mean,
    negative_divergence,
)
from skdp.grammar._chart._engine import TreeArrays, inside
from skdp.grammar._chart._paths import RuleWeights, SentenceBatches
from skdp.grammar._induction._ascent import Induction, start_weights
from skdp.grammar._induction._layout import GrammarLayout
from skdp.grammar._induction._partitions import count_rules, make_trees, rule_counts
from skdp.grammar._induction._variational import VariationalGrammar
from skdp.metrics import bracket_scores

# Trees: (S1 (S0 4) (S2 (S0 1) (S0 4))), a sentence without a parse, (S2 3)

SENTENCES = TokenSequences.from_sequences([[4, 1, 4], [0, 2], [3]], 5)
WORDS = [str(i) for i in range(7)]
TREES = TreeArrays(
    np.array([1, 0, 2, 0, 0, 2], np.int32),
    np.array([3, 1, 2, 1, 1, 1], np.int32),
    np.array([0, 5, 5, 6]),
)


def test_counts_of_trees():
    """Partitioned, symbol 0 emits, 1 and 2 branch."""
    all_do_both = RuleWeights(np.zeros(3), np.zeros((3, 5)), np.zeros((3, 3, 3)), None)
    counts = count_rules(TREES, SENTENCES, all_do_both)
    assert_array_equal(counts.root, [0, 1, 1])
    emission, binary = np.zeros((3, 5)), np.zeros((3, 3, 3))
    emission[0, 4], emission[0, 1], emission[2, 3] = 2, 1, 1
    binary[1, 0, 2] = binary[2, 0, 0] = 1
    assert_array_equal(counts.emission, emission)
    assert_array_equal(counts.binary, binary)
    trees = TreeArrays(TREES.symbols[:5], TREES.lengths[:5], np.array([0, 5]))
    counts = count_rules(
        trees, SENTENCES[:1], RuleWeights(np.zeros(3), emission[:1], binary[1:], 1)
    )
    assert_array_equal(counts.binary, binary[1:])
    assert counts.emission.sum() == 3
    none = TreeArrays(np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(4, int))
    assert not any(part.any() for part in count_rules(none, SENTENCES, all_do_both))


def test_trees_of_arrays():
    """One of 3,000 levels is made without recursion."""
    made = make_trees(TREES, SENTENCES, ["A", "B", "C"], WORDS, "X")
    assert list(map(str, made)) == ["(B (A 4) (C (A 1) (A 4)))", "(X 0 2)", "(C 3)"]
    n = 3000
    lengths = np.ones(2 * n - 1, np.int32)
    lengths[0:-1:2] = np.arange(n, 1, -1)  # right-branching
    sentence = TokenSequences.from_sequences([np.arange(n) % 7], 7)
    arrays = TreeArrays(np.zeros(2 * n - 1, np.int32), lengths, np.array([0, 2 * n - 1]))
    (tree,) = make_trees(arrays, sentence, ["S"], WORDS, "X")
    expected = ParseTree("S", [str((n - 1) % 7)])
    for i in range(n - 2, -1, -1):
        expected = ParseTree("S", [ParseTree("S", [str(i % 7)]), expected])
    assert tree == expected


# Starts and annealing

CORPUS = make_pcfg_corpus(150, random_state=0)
LAYOUTS = [GrammarLayout(9, 6, None), GrammarLayout(9, 5, 6)]
every_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=["shared", "partitioned"])
expect = partial(rule_counts, SentenceBatches.of(CORPUS.data), np.dtype(np.float64), 1)


def begin(layout, seed=0, n_annealed=0):
    """Return a run whose grammar has been updated, and the estimator that stands for it."""
    estimator = HDPPCFG(
        layout.n_components, n_preterminals=layout.n_preterminals, rule_type_prior=0.1,
        emission_prior=0.01, binary_concentration=0.01, top_concentration=0.1,
    )  # fmt: skip
    grammar = VariationalGrammar(layout, estimator._priors(layout))
    types = np.full(layout.n_rule_types, 1.0 / layout.n_rule_types)
    start = start_weights(layout, types, np.random.default_rng(seed))
    return Induction(grammar, start, start_weights(layout, types), n_annealed)


@every_layout
def test_rule_types_of_starts(layout):
    """They are as asked, of every symbol; each distribution sums to 1."""
    types = np.arange(1.0, layout.n_rule_types + 1.0)
    types /= types.sum()
    weights = start_weights(layout, types, np.random.default_rng(0))
    assert_allclose(np.exp(weights.log_root).sum(), 1.0)
    places = layout.inventories
    binary = np.exp(weights.log_binary)
    for block in layout.blocks:
        share = binary[:, places[block.left], places[block.right]].sum(axis=(1, 2))
        assert_allclose(share, types[block.rule_type])
    emission = np.exp(weights.log_emission).sum(axis=1)
    assert_allclose(emission, 1.0 if layout.is_partitioned else types[0])


def test_drawn_starts():
    """Cells of Dirichlet(1, ..., 1): mean 1 / n, variance (n - 1) / (n^2 (n + 1)), 6 sigma."""
    layout, types = GrammarLayout(5, 4, 3), np.full(4, 0.25)
    draws = [start_weights(layout, types, np.random.default_rng(i)) for i in range(4000)]
    words = np.exp([weights.log_emission[1, 2] for weights in draws])
    pairs = 4.0 * np.exp([weights.log_binary[0, 0, 5] for weights in draws])
    for cells, n in ((words, 5), (pairs, 12)):
        sigma = np.sqrt((n - 1) / (n**2 * (n + 1)))
        assert abs(cells.mean() - 1.0 / n) < 6.0 * sigma / np.sqrt(4000)
        assert abs(cells.std() / sigma - 1.0) < 0.1


def test_uniform_grammar():
    weights = start_weights(LAYOUTS[1], np.array([0.1, 0.2, 0.3, 0.4]))
    assert_allclose(np.exp(weights.log_root), 1.0 / 11)
    assert_allclose(np.exp(weights.log_emission), 1.0 / 9)
    binary = np.exp(weights.log_binary)
    assert_allclose(binary[:, :6, :6], 0.1 / 36)
    assert_allclose(binary[:, :6, 6:], 0.2 / 30)
    assert_allclose(binary[:, 6:, :6], 0.3 / 30)
    assert_allclose(binary[:, 6:, 6:], 0.4 / 25)


def test_annealing():
    """Weights lie between uniform ones and the grammar's, which win, by a geometric path."""
    layout = LAYOUTS[1]
    run, seen = begin(layout, n_annealed=4), []

    def watch(weights):
        seen.append(weights)
        return expect(weights)

    flat = start_weights(layout, np.full(4, 0.25))
    powers = [0.4, 0.4**0.75, 0.4**0.5, 0.4**0.25, 1.0, 1.0]
    for i, power in enumerate(powers):
        run.step(watch, 0.0)
        assert len(run.lower_bounds) == max(0, i - 3)
        own = run.grammar.weights()
        for used, mine, even in zip(seen[-1][:3], own[:3], flat[:3], strict=True):
            assert_allclose(used, power * mine + (1.0 - power) * even)


# Trials without a symbol


@every_layout
def test_without_a_symbol(layout):
    """The others have all rules: .9 of what they had, and .1 in equal shares."""
    run = begin(layout)
    for _ in range(5):
        run.step(expect, 0.0)
    before = run.grammar.probabilities()
    types = before.rule_type if not layout.is_partitioned else np.ones((layout.n_components, 2))
    first = layout.branching.start
    for symbol in run.grammar.removable():
        weights = run.grammar.without(symbol)
        left = np.array(sorted(set(run.grammar.removable()) - {symbol}))
        emitting, branching = left[left < layout.n_emitting], left[left >= first]
        root, emission, binary = (np.zeros_like(part) for part in weights[:3])
        root[left] = 0.9 * before.root[left] + 0.1 / len(left)
        shares = 1.0 if layout.is_partitioned else types[emitting, :1]
        emission[emitting] = (0.9 * before.emission[emitting] + 0.1 / 9) * shares
        place = np.ix_(branching - first, left, left)
        pairs = 0.9 * before.binary[place] + 0.1 / len(left) ** 2
        binary[place] = types[branching - first, 1, None, None] * pairs
        for found, expected in zip(weights[:3], (root, emission, binary), strict=True):
            assert_allclose(np.exp(found), expected)
        assert np.all(np.isfinite(inside(CORPUS.data, weights)))


def test_what_may_go():
    """The least used first; the last of its kind stays."""
    run = begin(LAYOUTS[1])
    run.step(expect, 0.0)
    nodes = run.grammar.counts.of_nodes(LAYOUTS[1])
    assert sorted(run.grammar.removable()) == list(range(11))
    assert np.all(np.diff(nodes[run.grammar.removable()]) >= 0.0)
    run = begin(GrammarLayout(9, 1, 3))
    run.step(expect, 0.0)
    assert sorted(run.grammar.removable()) == [0, 1, 2]


@pytest.mark.parametrize(("layout", "seed"), [(LAYOUTS[0], 1), (LAYOUTS[1], 0)], ids=str)
def test_bound_never_falls(layout, seed):
    """Trials in vain leave everything as it was; what is recorded is the grammar's bound. It has
    converged only when no symbol can go."""
    run, outcomes = begin(layout, seed), set()
    for _ in range(400):
        on_trial = bool(run._untried)
        before, n_before, bounds = run.grammar, len(run.lower_bounds), list(run.lower_bounds)
        run.step(expect, 1e-3)
        if on_trial:
            kept = run.grammar is not before
            outcomes.add(kept)
            assert len(run.lower_bounds) == n_before + kept
        assert run.lower_bounds[:n_before] == bounds
        log_likelihood, counts = expect(run.grammar.weights())
        assert_allclose(run.grammar.lower_bound(log_likelihood), run.lower_bounds[-1])
        assert_allclose(counts.binary, run._counts.binary, atol=1e-9)
        if run.converged:
            break
    assert run.converged
    assert np.all(np.diff(run.lower_bounds) >= 0.0)
    assert outcomes == {True, False}
    bounds = list(run.lower_bounds)
    for symbol in run.grammar.removable():
        run._try_without(symbol, expect)
    assert run.lower_bounds == bounds


def test_maximum_likelihood_keeps_all():
    """Symbols never lower it."""
    model = HDPPCFG(4, n_preterminals=5, inference="em", max_iter=30, random_state=0)
    assert model.fit(CORPUS.data).n_active_components_ == 9


@pytest.mark.slow
def test_grammar_of_the_sentences():
    """Eight symbols and fifteen rules are found, and, where right branches come first, the trees.
    Of twice as many symbols. Of ten seeds seven do so."""
    model = HDPPCFG(
        8, n_preterminals=8, rule_type_prior=[0.01, 0.1, 0.01, 0.1], top_concentration=0.01,
        root_concentration=0.01, emission_prior=0.01, binary_concentration=0.01, max_iter=150,
        random_state=0,
    ).fit(CORPUS.data)  # fmt: skip
    assert model.n_active_components_ == 8
    assert model.n_active_rules_ == 15
    predicted = [
        tree.with_leaves(true.leaves)
        for tree, true in zip(model.predict(CORPUS.data), CORPUS.trees, strict=True)
    ]
    assert bracket_scores(CORPUS.trees, predicted, labelled=False, trivial=False).f1 == 1.0


# Priors with tiny weights, and the maximum over top-level weights

RNG = np.random.default_rng(0)


def test_tiny_priors():
    """Weights at the floor, squared: finite, and of no effect where nothing is counted."""
    prior, counts = np.array([1e-24, 1.0]), np.array([[0.0, 3.0]])
    assert expected_log(prior, counts)[0, 0] == pytest.approx(-1e24)
    assert np.isfinite(negative_divergence(prior, counts))
    assert_allclose(mean(prior, counts), [[2.5e-25, 1.0]])


TOP_PRIORS = [TopPrior(kind, gamma) for kind in ("gem", "dirichlet") for gamma in (0.3, 1.0, 8.0)]
every_prior = pytest.mark.parametrize(
    "prior", TOP_PRIORS, ids=lambda p: f"{p.kind} {p.concentration}"
)


@every_prior
def test_maximum(prior):
    """Weights stay on the simplex and above the floor; L rises, and a second call adds little."""
    rows = [
        Family(1.5, 0, None, RNG.gamma(0.5, 5.0, (1, 4))),
        Family(0.7, 0, 0, RNG.gamma(0.3, 5.0, (3, 4, 4))),
        Family(0.2, 0, 1, RNG.gamma(0.3, 5.0, (3, 4, 3))),
        Family(2.0, 1, 1, RNG.gamma(0.3, 5.0, (3, 3, 3))),
    ]
    start = [np.full(4, 0.25), np.full(3, 1.0 / 3.0)]
    found = maximize(prior, rows, start)
    for beta in found:
        assert_allclose(beta.sum(), 1.0)
        assert np.all(beta >= MIN_WEIGHT)
    at_start, at_found, at_second = (
        log_joint(prior, rows, betas) for betas in (start, found, maximize(prior, rows, found))
    )
    gain = at_found - at_start
    assert gain > 0.0
    assert 0.0 <= at_second - at_found < 1e-3 * (1.0 + gain)


@every_prior
def test_maximum_of_one_number(prior):
    """Against a grid over two weights."""
    rows = [Family(3.0, 0, 0, RNG.gamma(0.5, 8.0, (2, 2, 2)))]
    (found,) = maximize(prior, rows, [np.array([0.5, 0.5])])
    grid = np.linspace(0.0, 1.0, 4001)[1:-1]
    nearest = np.argmin(np.abs(grid - found[0]))
    near = grid[max(0, nearest - 100) : nearest + 100]
    values = [log_joint(prior, rows, [np.array([share, 1.0 - share])]) for share in near]
    assert log_joint(prior, rows, [found]) >= max(values) - 1e-6


def test_maxima_at_ends():
    """The prior alone: a small shape drives weights to the floor, a large one makes them equal.
    Counts raise weights near the floor."""
    rows, start = [Family(1.0, 0, 0, np.zeros((3, 3, 3)))], [np.array([0.5, 0.3, 0.2])]
    (floored,) = maximize(TopPrior("dirichlet", 0.01), rows, start)
    assert_allclose(floored.max(), 1.0, atol=0.01)
    assert floored.min() >= MIN_WEIGHT
    (equal,) = maximize(TopPrior("dirichlet", 300.0), rows, start)
    assert_allclose(equal, 1.0 / 3.0, atol=1e-4)
    rows = [Family(5.0, 0, 0, 500.0 * np.array([[[1.0, 0.0], [0.0, 1.0]]]))]
    start = [np.array([2.0 * MIN_WEIGHT, 1.0 - 2.0 * MIN_WEIGHT])]
    (found,) = maximize(TopPrior("dirichlet", 4.0), rows, start)
    assert found[0] > 0.01


def test_one_symbol():
    rows = [Family(1.0, 0, 0, np.ones((1, 1, 1)))]
    for prior in TOP_PRIORS:
        assert prior.log_density(np.ones(1)) == 0.0
        assert_array_equal(prior.gradient(np.ones(1)), 0.0)
        assert_allclose(maximize(prior, rows, [np.ones(1)]), [[1.0]])


def test_order_of_gem():
    prior = TopPrior("gem", 1.0)
    assert_array_equal(prior.best_order(np.array([0.1, 0.7, 0.2])), [1, 2, 0])
    assert_array_equal(prior.best_order(np.array([0.25] * 4)), range(4))
    other = TopPrior("dirichlet", 1.0)
    assert_array_equal(other.best_order(np.array([0.1, 0.7, 0.2])), range(3))
