"""Starts, annealing and trials without a symbol."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skdp.datasets import make_pcfg_corpus
from skdp.grammar import HDPPCFG
from skdp.grammar._chart._batches import SentenceBatches
from skdp.grammar._chart._engine import inside
from skdp.grammar._induction._ascent import Induction, start_weights
from skdp.grammar._induction._counts import count_expected
from skdp.grammar._induction._layout import GrammarLayout
from skdp.grammar._induction._variational import VariationalGrammar
from skdp.metrics import bracket_scores

CORPUS = make_pcfg_corpus(150, random_state=0)
LAYOUTS = [GrammarLayout(9, 6, None), GrammarLayout(9, 5, 6)]
every_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=["shared", "partitioned"])


def expect(weights):
    return partial(count_expected, SentenceBatches.of(CORPUS.data), np.dtype(np.float64), 1)(
        weights
    )


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


class TestStart:
    @every_layout
    def test_rule_types(self, layout):
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

    def test_flat(self):
        """Cells of Dirichlet(1, ..., 1): mean 1 / n, variance (n - 1) / (n^2 (n + 1)), 6 sigma."""
        layout = GrammarLayout(5, 4, 3)
        types = np.full(4, 0.25)
        draws = [start_weights(layout, types, np.random.default_rng(i)) for i in range(4000)]
        words = np.exp([weights.log_emission[1, 2] for weights in draws])
        pairs = 4.0 * np.exp([weights.log_binary[0, 0, 5] for weights in draws])
        for cells, n in ((words, 5), (pairs, 12)):
            sigma = np.sqrt((n - 1) / (n**2 * (n + 1)))
            assert abs(cells.mean() - 1.0 / n) < 6.0 * sigma / np.sqrt(4000)
            assert abs(cells.std() / sigma - 1.0) < 0.1


class TestAnnealing:
    def test_powers(self):
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

    def test_uniform_grammar(self):
        weights = start_weights(LAYOUTS[1], np.array([0.1, 0.2, 0.3, 0.4]))
        assert_allclose(np.exp(weights.log_root), 1.0 / 11)
        assert_allclose(np.exp(weights.log_emission), 1.0 / 9)
        binary = np.exp(weights.log_binary)
        assert_allclose(binary[:, :6, :6], 0.1 / 36)
        assert_allclose(binary[:, :6, 6:], 0.2 / 30)
        assert_allclose(binary[:, 6:, :6], 0.3 / 30)
        assert_allclose(binary[:, 6:, 6:], 0.4 / 25)


class TestTrials:
    @every_layout
    def test_without_a_symbol(self, layout):
        """The others have all rules: .9 of what they had, and .1 in equal shares."""
        run = begin(layout)
        for _ in range(5):
            run.step(expect, 0.0)
        before = run.grammar.probabilities()
        types = before.rule_type if not layout.is_partitioned else np.ones((layout.n_components, 2))
        first = layout.branching.start
        for symbol in run.grammar.removable():
            weights = run.grammar.without(symbol)
            root, emission, binary = map(np.exp, weights[:3])
            left = [s for s in run.grammar.removable() if s != symbol]
            emitting = [s for s in left if s < layout.n_emitting]
            branching = [s for s in left if s >= first]
            expected = np.zeros_like(root), np.zeros_like(emission), np.zeros_like(binary)
            for s in left:
                expected[0][s] = 0.9 * before.root[s] + 0.1 / len(left)
            for s in emitting:
                words = 0.9 * before.emission[s] + 0.1 / 9
                expected[1][s] = words * types[s, 0] if not layout.is_partitioned else words
            for s in branching:
                for one in left:
                    for two in left:
                        pair = 0.9 * before.binary[s - first, one, two] + 0.1 / len(left) ** 2
                        expected[2][s - first, one, two] = types[s - first, 1] * pair
            assert_allclose(root, expected[0])
            assert_allclose(emission, expected[1])
            assert_allclose(binary, expected[2])
            assert np.all(np.isfinite(inside(CORPUS.data, weights)))

    def test_least_used_first(self):
        run = begin(LAYOUTS[1])
        run.step(expect, 0.0)
        nodes = run.grammar.counts.of_nodes(LAYOUTS[1])
        assert sorted(run.grammar.removable()) == list(range(11))
        assert np.all(np.diff(nodes[run.grammar.removable()]) >= 0.0)

    def test_the_last_of_its_kind_stays(self):
        run = begin(GrammarLayout(9, 1, 3))
        run.step(expect, 0.0)
        assert sorted(run.grammar.removable()) == [0, 1, 2]

    @every_layout
    @pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1])
    def test_bound_never_falls(self, layout, seed):
        """Trials in vain leave everything as it was; what is recorded is the grammar's bound."""
        run, outcomes = begin(layout, seed), set()
        for _ in range(400):
            on_trial = bool(run._untried)
            before, n_before, bounds = run.grammar, len(run.lower_bounds), list(run.lower_bounds)
            run.step(expect, 1e-4)
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

    def test_converged_only_when_no_symbol_can_go(self):
        run = begin(LAYOUTS[1])
        while not run.converged:
            run.step(expect, 1e-3)
        bounds = list(run.lower_bounds)
        for symbol in run.grammar.removable():
            run._try_without(symbol, expect)
        assert run.lower_bounds == bounds

    def test_maximum_likelihood_keeps_all(self):
        """They never lower it."""
        model = HDPPCFG(4, n_preterminals=5, inference="em", max_iter=30, random_state=0)
        assert model.fit(CORPUS.data).n_active_components_ == 9


def test_grammar_of_the_sentences():
    """Eight symbols and fifteen rules are found, and, where right branches come first, the trees.

    Of twice as many symbols. Of ten seeds seven do so.
    """
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
