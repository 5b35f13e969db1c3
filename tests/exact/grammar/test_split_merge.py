"""Cycles of splits and merges of refined grammars against enumeration."""

import math

import numpy as np
import pytest
from exact.grammar.refined import (
    SENTENCES,
    TREES,
    draw_logs,
    fit,
    look_up,
    make_treebank,
    parser_of,
    positive,
    posterior,
    to_tree,
    weights_of,
)
from exact.oracles import refinement
from exact.oracles import split_merge as oracle
from numpy.testing import assert_allclose, assert_array_equal

from skdp.grammar._refinement import _split_merge
from skdp.grammar._refinement import _split_merge as split_merge
from skdp.grammar._refinement._ascent import (
    MaximumLikelihoodRefinement,
    RefinedTables,
    count_nodes,
    expect,
)
from skdp.grammar._refinement._treebank import TreebankLexicon

ONE_S = [
    ("S", ("A", "a"), ("B", ("A", "b"), ("A", "a"))),
    ("B", ("A", "c"), ("S", ("A", "a"))),
    ("B", ("S", "b")),
    ("A", ("B", "c"), ("S", ("A", "b"), ("B", "a"))),
]
"""No tree has more than one node of S; it has words, one child and two."""


def draw_grammar(treebank, sizes, seed=0):
    """Return the logs of random probabilities; symbols have these numbers of subsymbols."""
    n = max(sizes)
    used = np.arange(n) < np.array(sizes)[:, None]
    rules = treebank.rules
    root, emission, unary, binary = (np.exp(t) for t in draw_logs(rules, n, seed))
    root *= used[rules.roots]
    emission *= used[rules.emission[:, 0]]
    unary *= used[rules.unary[:, 1]][:, :, None] * used[rules.unary[:, 0]][:, None]
    binary *= used[rules.binary[:, 1]][:, :, None, None] * used[rules.binary[:, 0]][:, None, None]
    binary *= used[rules.binary[:, 2]][:, None, :, None]
    tables = RefinedTables(root, emission, unary, binary)
    return MaximumLikelihoodRefinement(rules, 0.0, n).updated(tables).weights()


def nodes_of(treebank, logs):
    """Return the expected nodes of each subsymbol."""
    return count_nodes(treebank.rules, expect(treebank, logs)[1])


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(_split_merge, "_N_SPLIT", 4)
    monkeypatch.setattr(_split_merge, "_N_MERGED", 3)


def make_run(*schedule):
    treebank, rng = make_treebank(), np.random.default_rng(0)
    lexicon = TreebankLexicon([["a", "b", "c"]], 1)
    return split_merge.SubsymbolSplitMerge(
        treebank, lexicon, split_merge.SplitMergeSchedule(*schedule), rng
    ), treebank


# Expectation maximization


@pytest.mark.usefixtures("short")
def test_iterations_are_those_of_enumeration():
    """Log likelihoods of every step, and the probabilities that follow, of two and three halves."""
    run, treebank = make_run(3, 2, 0.4)
    rules, seen = treebank.rules, set()
    while not run.converged:
        before, n_phases = run.grammar._logs, run._n_phases
        run.step(treebank, 0.0)
        logs = run.grammar.weights()
        n, weights = logs.n_components, weights_of(rules, logs)
        likelihood = oracle.likelihood(TREES, weights, n)
        assert run.bound == pytest.approx(math.log(likelihood), rel=1e-11)
        is_smoothed = run._is_merged and run._n_left == 0
        if run._n_phases == n_phases and before is not None and not is_smoothed:
            expected = oracle.updated(TREES, weights_of(rules, before), n)
            found = positive(weights)
            assert found == pytest.approx({r: expected.get(r, 0.0) for r in found}, abs=1e-12)
            seen.add(n)
    assert seen == {2, 3}
    assert len(set(run._sizes.tolist())) > 1  # some symbols have more subsymbols


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("words", SENTENCES[1:3])
def test_sums_over_symbols_of_different_sizes(words):
    run, treebank = make_run(2, 1, 0.5)
    while not run.converged:
        run.step(treebank, 0.0)
    assert set(run._sizes.tolist()) == {1, 2}
    logs = run.grammar.weights()
    parser, trees = parser_of(treebank, logs), posterior(words, treebank.rules, logs)
    ids = look_up(parser, words)
    assert parser.log_sum(ids) == pytest.approx(math.log(sum(trees.values())), rel=1e-10)
    for tree, weight in trees.items():
        assert parser.log_prob(to_tree(tree), ids) == pytest.approx(math.log(weight), rel=1e-10)


def test_likelihood_never_falls_between_splits_merges_and_smoothing():
    run, treebank = make_run(4, 2, 0.5)
    phases = {}
    while not run.converged:
        run.step(treebank, -np.inf)
        phases.setdefault(run._n_phases, []).append(run.bound)
    assert [len(bounds) for bounds in phases.values()] == [20, 15, 20, 15]
    for phase, bounds in phases.items():
        plain = bounds[:-1] if phase % 2 == 0 else bounds
        assert np.all(np.diff(plain) >= -1e-10)
        if phase % 2 == 0:
            assert bounds[-1] < bounds[-2]


def test_no_cycle_is_the_treebank_grammar():
    run, treebank = make_run(8, 0, 0.5)
    run.step(treebank, 0.0)
    assert run.converged
    expected = refinement.relative_frequencies(TREES, {"a", "b", "c"})
    assert weights_of(treebank.rules, run.grammar.weights()) == pytest.approx(expected)
    plain = fit(TREES, inference="em")
    for zero in ({"n_components": 8, "n_cycles": 0}, {"n_components": 1}):
        model = fit(TREES, inference="split-merge", **zero)
        for mine, other in zip(model._logs, plain._logs, strict=True):
            assert_array_equal(mine, other)
        assert model.n_iter_ == 1
        assert model.lower_bound_ == plain.lower_bound_


# Splits


@pytest.mark.parametrize("n_components", [6, 4, 3])
def test_splits_without_noise_change_nothing(n_components):
    """Trees keep their probabilities, halves share the nodes; where room is scarce, the rarest
    subsymbols stay whole. Merged halves are what was split."""
    treebank, sizes = make_treebank(), np.array([3, 1, 2])
    logs = draw_grammar(treebank, sizes)
    nodes = nodes_of(treebank, logs)
    made = split_merge.split_in_two(sizes, nodes, n_components)
    assert made.sizes.tolist() == np.minimum(2 * sizes, n_components).tolist()
    halves = made.apply(logs, treebank.rules)
    before, after = (expect(treebank, each)[0] for each in (logs, halves))
    assert after == pytest.approx(before, rel=1e-12)
    new_nodes = nodes_of(treebank, halves)
    for s, size in enumerate(sizes):
        n_split = made.sizes[s] - size
        split = np.sort(np.argsort(-nodes[s, :size])[:n_split])
        expected = [x for z in range(size) for x in
                    ([nodes[s, z] / 2] * 2 if z in split else [nodes[s, z]])]  # fmt: skip
        assert_allclose(new_nodes[s, : made.sizes[s]], expected)
        assert np.count_nonzero(made.partner[s] >= 0) == 2 * n_split
        for z in np.flatnonzero(made.partner[s] >= 0):
            assert made.partner[s, made.partner[s, z]] == z
    assert not new_nodes[np.arange(new_nodes.shape[1]) >= made.sizes[:, None]].any()
    is_first = made.partner > np.arange(made.partner.shape[1])
    share = split_merge.shares_of_pairs(made.partner, new_nodes)
    back = split_merge.merge_pairs(made.sizes, made.partner, is_first, share)
    assert back.sizes.tolist() == sizes.tolist()
    for mine, other in zip(back.apply(halves, treebank.rules), logs, strict=True):
        assert_allclose(np.exp(mine), np.exp(other), atol=1e-15)


# Merges

SIZES = (3, 2, 4)


def pairs_of(sizes):
    """Return partners of neighbors 0 and 1, 2 and 3, ..."""
    partner = np.full((len(sizes), max(sizes)), -1, dtype=np.int32)
    for s, size in enumerate(sizes):
        for z in range(0, size - 1, 2):
            partner[s, z : z + 2] = z + 1, z
    return partner


def draw_pairs(sizes, seed=0, trees=TREES):
    """Return a treebank, a random grammar, pairs of its subsymbols, and the shares of the first."""
    treebank = make_treebank(trees)
    logs, partner = draw_grammar(treebank, sizes, seed), pairs_of(sizes)
    return treebank, logs, partner, split_merge.shares_of_pairs(partner, nodes_of(treebank, logs))


def share_of(nodes, pair):
    return nodes[pair[0]] / (nodes[pair[0]] + nodes[pair[1]])


@pytest.mark.parametrize("seed", range(3))
def test_merged_grammar(seed):
    """Sums of children, means of parents by their expected nodes; other subsymbols move up."""
    treebank, logs, partner, share = draw_pairs(SIZES, seed)
    weights = weights_of(treebank.rules, logs)
    names, n = treebank.rules.symbols, max(SIZES)
    nodes = oracle.expected_nodes(TREES, weights, n)
    for s, z in np.argwhere(partner > np.arange(n)):
        is_merged = np.zeros(partner.shape, dtype=bool)
        is_merged[s, z] = True
        made = split_merge.merge_pairs(np.array(SIZES), partner, is_merged, share)
        pair = (names[s], z), (names[s], z + 1)
        expected = oracle.merged(weights, *pair, share_of(nodes, pair))
        moved = {(names[s], y): (names[s], y - 1) for y in range(z + 2, SIZES[s])}
        expected = {oracle._renamed(rule, moved): x for rule, x in expected.items()}
        found = positive(weights_of(treebank.rules, made.apply(logs, treebank.rules)))
        assert found == pytest.approx(positive(expected))
        assert made.sizes.tolist() == [size - (t == s) for t, size in enumerate(SIZES)]


@pytest.mark.parametrize("seed", range(3))
def test_losses_are_exact_if_no_tree_has_two_such_nodes(seed):
    """The log likelihood of the merged grammar is the one before, less the loss."""
    treebank, logs, partner, share = draw_pairs((2, 2, 4), seed, ONE_S)
    losses = split_merge.find_losses(treebank, logs, partner, share)
    weights, n = weights_of(treebank.rules, logs), 4
    nodes = oracle.expected_nodes(ONE_S, weights, n)
    before = math.log(oracle.likelihood(ONE_S, weights, n))
    for z in (0, 2):
        pair = ("S", z), ("S", z + 1)
        merged = oracle.merged(weights, *pair, share_of(nodes, pair))
        loss = before - math.log(oracle.likelihood(ONE_S, merged, n))
        assert losses[treebank.rules.symbols.index("S"), z] == pytest.approx(loss, rel=1e-9)
        assert abs(loss) > 1e-3


def test_losses_take_every_node_by_itself():
    """Where trees have several: each factor is exact, all else left as it is."""
    treebank, logs, partner, share = draw_pairs((2, 2, 3))
    losses = split_merge.find_losses(treebank, logs, partner, share)
    weights, n = weights_of(treebank.rules, logs), 3
    nodes = oracle.expected_nodes(TREES, weights, n)
    for s, name in enumerate(treebank.rules.symbols):
        p = share_of(nodes, ((name, 0), (name, 1)))
        expected = -sum(
            math.log(oracle.factor_of_a_merge(tree, number, (0, 1), p, weights, n))
            for tree in TREES
            for number, node in enumerate(refinement.nodes_of(tree))
            if node[0] == name
        )
        assert losses[s, 0] == pytest.approx(expected, rel=1e-9)
    assert not losses[:, 1:].any()


@pytest.mark.parametrize(("merge_share", "n_merged"), [(0.0, 0), (0.5, 2), (0.75, 3), (1.0, 4)])
def test_the_cheapest_merges_are_made(merge_share, n_merged):
    treebank, logs, partner, share = draw_pairs(SIZES, 1)
    chosen, share = split_merge.choose_merges(treebank, logs, partner, merge_share)
    losses = split_merge.find_losses(treebank, logs, partner, share)
    is_first = partner > np.arange(4)
    assert chosen.sum() == n_merged
    assert not chosen[~is_first].any()
    kept = losses[is_first & ~chosen]
    assert losses[chosen].max(initial=-np.inf) <= kept.min(initial=np.inf)


def test_subsymbols_without_nodes_are_merged_evenly():
    share = split_merge.shares_of_pairs(pairs_of((2, 2)), np.array([[0.0, 0.0], [3.0, 1.0]]))
    assert share.tolist() == [[0.5, 0.5], [0.75, 0.25]]


# Smoothing


def test_smoothing():
    """S has words and children; rules go to the mean over used subsymbols, and sum to 1."""
    treebank, sizes = make_treebank(ONE_S), (1, 2, 3)
    rules, logs = treebank.rules, draw_grammar(treebank, sizes)
    made = split_merge.smooth(logs, rules, 0.2, 0.5)
    by_name = dict(zip(rules.symbols, sizes, strict=True))
    expected = oracle.smoothed(positive(weights_of(rules, logs)), by_name, 0.2, 0.5)
    assert positive(weights_of(rules, made)) == pytest.approx(expected)
    totals = count_nodes(rules, RefinedTables(*map(np.exp, made)))
    assert_allclose(totals, np.arange(3) < np.array(sizes)[:, None])
    for mine, other in zip(split_merge.smooth(logs, rules, 0.0, 0.0), logs, strict=True):
        assert_allclose(np.exp(mine), np.exp(other), rtol=1e-12)


@pytest.mark.usefixtures("short")
def test_every_cycle_ends_with_a_smoothed_grammar(monkeypatch):
    monkeypatch.setattr(_split_merge, "_SMOOTHING", (0.3, 0.4))
    run, treebank = make_run(4, 2, 0.5)
    smoothed = []
    while not run.converged:
        before = run._counts
        run.step(treebank, -np.inf)
        plain = run.grammar.updated(run.grammar.counts).weights()
        if any(np.any(a != b) for a, b in zip(plain, run.grammar.weights(), strict=True)):
            smoothed.append(run.n_iter)
            by_name = dict(zip(treebank.rules.symbols, run._sizes.tolist(), strict=True))
            plain = positive(weights_of(treebank.rules, plain))
            expected = oracle.smoothed(plain, by_name, 0.3, 0.4)
            found = positive(weights_of(treebank.rules, run.grammar.weights()))
            assert found == pytest.approx(expected)
        assert before is not run._counts
    assert smoothed == [7, 14]
