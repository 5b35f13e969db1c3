"""Messages, bounds and projections of refined grammars against enumeration."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from exact.oracles import refinement as oracle
from scipy.special import psi

from skdp.data._parse_tree import ParseTree
from skdp.grammar import HDPPCFGRefiner, inside_outside
from skdp.grammar._refinement import _kernels_coarse as coarse
from skdp.grammar._refinement._ascent import count_coarse
from skdp.grammar._refinement._maximum_likelihood import MaximumLikelihoodRefinement
from skdp.grammar._refinement._messages import RefinedTables, expect, expect_best
from skdp.grammar._refinement._parser import RefinedParser
from skdp.grammar._refinement._treebank import flatten
from skdp.grammar._refinement._variational import (
    RefinementPriors,
    VariationalRefinement,
    _join,
)

WORDS = {"a": 0, "b": 1, "c": 2}
TREES = [
    ("S", ("A", "a"), ("S", ("A", "b"), ("A", "a"))),
    ("S", ("B", ("A", "c")), ("A", "a")),
    ("S", ("A", "a"), ("B", ("S", ("B", "b"), ("A", "c")))),
    ("B", ("S", ("B", "c"))),
]


def to_tree(tree):
    children = [child if isinstance(child, str) else to_tree(child) for child in tree[1:]]
    return ParseTree(tree[0], children)


def to_tuple(tree):
    return (tree.label, *(c if isinstance(c, str) else to_tuple(c) for c in tree.children))


def make_treebank(trees=TREES):
    parse_trees = [to_tree(tree) for tree in trees]
    return flatten(parse_trees, [[WORDS[w] for w in tree.leaves] for tree in parse_trees])


def draw_logs(rules, n_components, seed=0):
    rng = np.random.default_rng(seed)
    zeros = RefinedTables.zeros(rules, n_components)
    return RefinedTables(*(rng.normal(-1.0, 1.5, part.shape) for part in zeros))


def to_weights(rules, tables):
    """Return the oracle's dict of a number for every refined rule."""
    names, words = rules.symbols, {i: word for word, i in WORDS.items()}
    found = {}
    for (r, z), x in np.ndenumerate(tables.root):
        found["root", names[rules.roots[r]], z] = x
    for (r, z), x in np.ndenumerate(tables.emission):
        s, word = rules.emission[r]
        found["emission", names[s], z, words[word]] = x
    for (r, i, z), x in np.ndenumerate(tables.unary):
        s, child = rules.unary[r]
        found["unary", names[s], z, names[child], i] = x
    for (r, i, j, z), x in np.ndenumerate(tables.binary):
        s, left, right = rules.binary[r]
        found["binary", names[s], z, names[left], i, names[right], j] = x
    return found


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_messages_match_all_labelings(n_components):
    treebank = make_treebank()
    logs = draw_logs(treebank.rules, n_components)
    log_sum, counts = expect(treebank, logs)
    weights = to_weights(treebank.rules, RefinedTables(*map(np.exp, logs)))
    expected, uses = 0.0, Counter()
    for tree in TREES:
        total, used = oracle.tree_sum(tree, weights, n_components)
        expected += math.log(total)
        uses.update(used)
    assert log_sum == pytest.approx(expected, rel=1e-12)
    for rule, count in to_weights(treebank.rules, counts).items():
        assert count == pytest.approx(uses[rule], abs=1e-10), rule


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_best_labels_match_all_labelings(n_components):
    treebank = make_treebank()
    logs = draw_logs(treebank.rules, n_components, seed=1)
    log_best, counts = expect_best(treebank, logs)
    weights = to_weights(treebank.rules, RefinedTables(*map(np.exp, logs)))
    expected, uses = 0.0, Counter()
    for tree in TREES:
        rules = oracle.best_labeling(tree, weights, n_components)
        expected += math.log(oracle.weight_of(rules, weights))
        uses.update(rules)
    assert log_best == pytest.approx(expected, rel=1e-12)
    for rule, count in to_weights(treebank.rules, counts).items():
        assert count == uses[rule], rule


def test_long_trees_do_not_underflow():
    tree = ParseTree("X", ["a"])
    for _ in range(400):
        tree = ParseTree("X", [ParseTree("X", ["a"]), tree])
    treebank = flatten([tree], [[0] * 401])
    logs = RefinedTables(*(np.full(part.shape, -900.0) for part in draw_logs(treebank.rules, 3)))
    log_sum, counts = expect(treebank, logs)
    n_nodes = 801
    assert log_sum == pytest.approx(-900.0 * (n_nodes + 1) + n_nodes * math.log(3), rel=1e-12)
    assert counts.binary.sum() == pytest.approx(400.0)
    np.testing.assert_allclose(counts.binary, 400.0 / 27.0)


# The lower bound

PRIORS = RefinementPriors(1.3, 0.8, 0.6, None, 1.7, 2.1)


def climb(grammar, treebank, n_iter, seed=0):
    """Return the grammar, the bounds of all iterations."""
    counts = expect(treebank, draw_logs(treebank.rules, grammar.n_components, seed))[1]
    bounds = []
    for _ in range(n_iter):
        grammar = grammar.updated(counts)
        log_likelihood, counts = expect(treebank, grammar.weights())
        bounds.append(grammar.lower_bound(log_likelihood))
    return grammar, bounds


def log_gem(beta, concentration):
    total, left = 0.0, 1.0
    for b in beta[:-1]:  # each stick's share of what is left is Beta(1, concentration)
        rest = left - b
        total += math.log(concentration) + (concentration - 1.0) * math.log(rest / left)
        total -= math.log(left)
        left = rest
    return total


def test_weights_are_expected_logs():
    treebank = make_treebank()
    rules = treebank.rules
    rng = np.random.default_rng(0)
    counts = RefinedTables(*(rng.gamma(1.0, size=t.shape) for t in draw_logs(rules, 2)))
    beta = rng.dirichlet([1.0, 1.0], rules.n_symbols)
    weights = VariationalRefinement(rules, PRIORS, 2, beta, counts).weights()
    s, a, b = (rules.symbols.index(name) for name in "SAB")
    z = 1
    place = rules.binary.tolist().index([s, b, a])
    mine = rules.binary[:, 0] == s
    n_rules = counts.binary[place, :, :, z]
    types = [counts.unary[rules.unary[:, 0] == s, :, z].sum(), counts.binary[mine, :, :, z].sum()]
    types += [counts.emission[rules.emission[:, 0] == s, z].sum()]
    used = np.array([n for n in types if n])
    expected = psi(0.8 + types[1]) - psi(np.sum(0.8 + used))
    expected += psi(1.0 / mine.sum() + n_rules.sum()) - psi(1.0 + types[1])
    expected = expected - psi(2.1 + n_rules.sum()) + psi(2.1 * np.outer(beta[b], beta[a]) + n_rules)
    np.testing.assert_allclose(weights.binary[place, :, :, z], expected)
    expected = psi(1.7 * beta[rules.roots] + counts.root)
    expected -= psi(1.7 + counts.root.sum(axis=1, keepdims=True))
    n_roots = counts.root.sum(axis=1, keepdims=True)
    expected += psi(1.0 / len(n_roots) + n_roots) - psi(1.0 + n_roots.sum())
    np.testing.assert_allclose(weights.root, expected)


@pytest.mark.parametrize("symbol_prior", [None, 0.7])
def test_bound_is_below_the_log_evidence(symbol_prior):
    trees = [TREES[0], TREES[3], TREES[1]]
    treebank = make_treebank(trees)
    priors = PRIORS._replace(symbol=symbol_prior)
    grammar, bounds = climb(VariationalRefinement(treebank.rules, priors, 2), treebank, 40)
    beta = dict(zip(treebank.rules.symbols, grammar.top_weights.tolist(), strict=True))
    evidence = oracle.log_evidence(
        trees,
        beta,
        {
            "type": priors.rule_type,
            "emission": priors.emission,
            "unary": priors.unary,
            "binary": priors.binary,
            "symbol": symbol_prior,
        },
        2,
    )
    bound = bounds[-1] - sum(log_gem(row, priors.top) for row in beta.values())
    assert bound <= evidence + 1e-9
    assert bound > evidence - 8.0


def test_bound_without_counts_is_the_density_of_the_weights():
    rules = make_treebank().rules
    beta = np.random.default_rng(0).dirichlet(np.ones(4), rules.n_symbols)
    none = RefinedTables.zeros(rules, 4)
    grammar = VariationalRefinement(rules, PRIORS, 4, beta, none)
    assert grammar.lower_bound(0.0) == pytest.approx(sum(log_gem(row, 1.3) for row in beta))


def test_bound_is_exact_with_one_subsymbol():
    treebank = make_treebank()
    _, bounds = climb(VariationalRefinement(treebank.rules, PRIORS, 1), treebank, 2)
    priors = {"type": 0.8, "emission": 0.6, "unary": 1.7, "binary": 2.1, "symbol": None}
    beta = {symbol: [1.0] for symbol in treebank.rules.symbols}
    assert bounds[-1] == pytest.approx(oracle.log_evidence(TREES, beta, priors, 1), rel=1e-12)


@pytest.mark.parametrize("n_components", [1, 2, 4])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bound_never_falls(n_components, seed):
    treebank = make_treebank()
    grammar = VariationalRefinement(treebank.rules, PRIORS, n_components)
    _, bounds = climb(grammar, treebank, 40, seed)
    assert np.all(np.diff(bounds) >= -1e-9)


@pytest.mark.parametrize("pseudo_count", [0.0, 0.01])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_likelihood_never_falls(pseudo_count, seed):
    treebank = make_treebank()
    grammar = MaximumLikelihoodRefinement(treebank.rules, pseudo_count, 3)
    _, bounds = climb(grammar, treebank, 40, seed)
    assert np.all(np.diff(bounds) >= -1e-9)


def test_no_other_counts_give_a_higher_bound():
    """q(phi) = Dir(prior + counts) is the best for q(z): each expectation of any other is worse."""
    treebank = make_treebank()
    grammar, _ = climb(VariationalRefinement(treebank.rules, PRIORS, 3), treebank, 3)
    log_likelihood, counts = expect(treebank, grammar.weights())

    def bound_of(made):
        """The bound at q(z) = the one above: linear in the weights, plus its entropy."""
        old, new = grammar.weights(), made.weights()
        shift = sum(np.vdot(c, n - o) for c, n, o in zip(counts, new, old, strict=True))
        return made.lower_bound(log_likelihood + shift)

    best = VariationalRefinement(treebank.rules, PRIORS, 3, grammar.top_weights, counts)
    top = bound_of(best)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = RefinedTables(*(c * rng.uniform(0.9, 1.1, c.shape) for c in counts))
        made = VariationalRefinement(treebank.rules, PRIORS, 3, grammar.top_weights, other)
        assert bound_of(made) < top


def test_merged_counts_are_those_of_merged_labels():
    treebank = make_treebank()
    counts = expect(treebank, draw_logs(treebank.rules, 3))[1]
    grammar = VariationalRefinement(treebank.rules, PRIORS, 3, n_updates=100)
    names = treebank.rules.symbols
    symbol = names.index("A")
    source, target = 2, 0
    joined = to_weights(treebank.rules, _join(counts, treebank.rules, symbol, source, target))
    expected = Counter()
    for rule, count in to_weights(treebank.rules, counts).items():
        rule = list(rule)
        for place, name in enumerate(rule[:-1]):
            if place and name == "A" and rule[place + 1] == source:
                rule[place + 1] = target
        expected[tuple(rule)] += count
    assert joined == pytest.approx({rule: expected[rule] for rule in joined})
    made = grammar.merged(counts, symbol)
    if made is not None:
        np.testing.assert_allclose(made.top_weights.sum(axis=1), 1.0)


# Parsing

SENTENCES = [("a",), ("b", "c"), ("a", "b", "a"), ("c", "a", "b", "c")]


WIDTH = 200.0


def make_parser(n_components, width=WIDTH, seed=0):
    treebank = make_treebank()
    counts = count_coarse(treebank)
    coarse_logs = MaximumLikelihoodRefinement(treebank.rules, 0.0, 1).updated(counts).weights()
    logs = draw_logs(treebank.rules, n_components, seed)
    parser = RefinedParser(treebank.rules, counts, coarse_logs, logs, logs, 3, 3, (width,))
    return parser, treebank.rules, to_weights(treebank.rules, RefinedTables(*map(np.exp, logs)))


def look_up(parser, ids):
    return parser.look_up(ids, [None] * len(ids))


def coarse_rules(rules):
    names, words = rules.symbols, {i: word for word, i in WORDS.items()}
    found = {(names[s], words[w]) for s, w in rules.emission}
    found |= {("unary", names[s], names[c]) for s, c in rules.unary}
    return found | {tuple(names[s] for s in rule) for rule in rules.binary}


def posterior(words, rules, weights, n_components):
    """Return the coarse trees of a sentence with their summed weights."""
    names = {rules.symbols[s] for s in rules.roots}
    trees = [
        tree
        for tree in oracle.coarse_trees(words, coarse_rules(rules), rules.longest_chain)
        if tree[0] in names
    ]
    return {tree: oracle.tree_sum(tree, weights, n_components)[0] for tree in trees}


def edges_of(tree):
    """Return the choices of a tree: (item, what it is made of), items as in the kernel."""
    found = []

    def walk(node, first):
        if isinstance(node[1], str):
            found.append(((node[0], first, first + 1, 0), node[1]))
            last, level = first + 1, 0
        elif len(node) == 2:
            last, below = walk(node[1], first)
            level = below + 1
            found.append(((node[0], first, last, level), (node[1][0], below)))
        else:
            middle, _ = walk(node[1], first)
            left = (node[1][0], first, middle)
            last, _ = walk(node[2], middle)
            level = 0
            found.append(((node[0], first, last, 0), (left, (node[2][0], middle, last))))
        return last, level

    def copies(node, first, is_top=True):
        """Which level an item that a binary rule or the root sees is a copy of."""
        level, below, end = 0, node, first + len(to_tree(node).leaves)
        while len(below) == 2 and not isinstance(below[1], str):
            level, below = level + 1, below[1]
        if is_top:
            found.append(((node[0], first, end, "copy"), level))
        if not isinstance(below[1], str):
            middle = first + len(to_tree(below[1]).leaves)
            copies(below[1], first)
            copies(below[2], middle)

    walk(tree, 0)
    copies(tree, 0)
    return found


def project(trees):
    """Return the probability of every tree under the projection of a posterior, by its moments."""
    total = sum(trees.values())
    edges, items = defaultdict(float), defaultdict(float)
    for tree, weight in trees.items():
        for item, made_of in edges_of(tree):
            edges[item, made_of] += weight / total
            items[item] += weight / total
    roots = defaultdict(float)
    for tree, weight in trees.items():
        roots[tree[0]] += weight / total
    return edges, {
        tree: roots[tree[0]] * math.prod(edges[e] / items[e[0]] for e in edges_of(tree))
        for tree in trees
    }


def max_rule(tree, edges):
    """Return the product of the posterior probabilities of a tree's rules at their places."""
    return math.prod(edges[e] for e in edges_of(tree) if e[0][3] != "copy")


@pytest.mark.parametrize(
    ("words", "n_components"), [(w, k) for w in SENTENCES for k in (1, 2, 3) if len(w) * k <= 6]
)
def test_projection_matches_all_trees(words, n_components):
    parser, rules, weights = make_parser(n_components)
    trees = posterior(words, rules, weights, n_components)
    ids = np.array([WORDS[w] for w in words], dtype=np.int32)
    forest = parser.make_forest(look_up(parser, ids), WIDTH)
    if not trees:
        assert forest is None
        return
    log_sum, shares = parser.project(forest)
    assert log_sum == pytest.approx(math.log(sum(trees.values())), rel=1e-10)
    edges, projected = project(trees)
    expected = sorted(edges.values())
    found = sorted(shares[shares > 1e-12])
    np.testing.assert_allclose(found, expected, atol=1e-10)
    best = max(projected, key=projected.__getitem__)
    assert to_tuple(parser.parse(look_up(parser, ids), words, "projection")) == best
    best = max(trees, key=lambda tree: max_rule(tree, edges))
    assert to_tuple(parser.parse(look_up(parser, ids), words, "max-rule")) == best


def test_decodings_differ():
    """Else the trees above say nothing of which of them it was."""
    words, n_different = SENTENCES[3], 0
    ids = np.array([WORDS[w] for w in words], dtype=np.int32)
    for seed in range(20):
        parser, rules, weights = make_parser(1, seed=seed)
        trees = posterior(words, rules, weights, 1)
        edges, projected = project(trees)
        first = to_tuple(parser.parse(look_up(parser, ids), words, "projection"))
        assert projected[first] == pytest.approx(max(projected.values()), rel=1e-9)
        second = to_tuple(parser.parse(look_up(parser, ids), words, "max-rule"))
        best = max(max_rule(tree, edges) for tree in trees)
        assert max_rule(second, edges) == pytest.approx(best, rel=1e-9)
        n_different += first != second
    assert n_different


@pytest.mark.parametrize("spread", [100.0, 500.0, 2000.0])
def test_shares_with_weights_of_any_size(spread):
    """However far apart weights are, or zero, items that are used have all of their shares."""
    for seed in range(40):
        treebank = make_treebank()
        rules, rng = treebank.rules, np.random.default_rng(seed)
        counts = count_coarse(treebank)
        coarse_logs = MaximumLikelihoodRefinement(rules, 0.0, 1).updated(counts).weights()
        logs = RefinedTables(*(-spread * rng.random(t.shape) for t in draw_logs(rules, 3)))
        for table in logs:
            table[rng.random(table.shape) < 0.2] = -np.inf
        parser = RefinedParser(
            rules, counts, coarse_logs, logs, logs, len(WORDS), len(WORDS), (WIDTH,)
        )
        longer = [tuple(rng.choice(list(WORDS), n)) for n in (12, 25)]
        for words in [*SENTENCES, *longer]:
            ids = np.array([WORDS[w] for w in words], dtype=np.int32)
            forest = parser.make_forest(look_up(parser, ids), WIDTH)
            if forest is None:
                continue
            log_sum, shares = parser.project(forest)
            if not log_sum > -np.inf:
                assert parser.parse(look_up(parser, ids), words, "projection") is None
                continue
            assert np.all((shares >= 0.0) & (shares <= 1.0 + 1e-9))
            own = np.add.reduceat(shares, forest.edge_ptr[:-1])
            roots = forest.root_items[forest.root_items >= 0]
            assert own[roots].sum() == pytest.approx(1.0)
            used = np.zeros_like(own)
            kinds = forest.edges[:, 0]
            for place, kind in ((2, coarse.WORD), (3, coarse.BINARY)):
                mine = kinds != kind if place == 2 else kinds == kind
                np.add.at(used, forest.edges[mine, place], shares[mine])
            used[roots] += own[roots]
            np.testing.assert_allclose(own, used, rtol=1e-6, atol=1e-9)
            assert parser.parse(look_up(parser, ids), words, "projection").leaves == tuple(words)


def test_shares_of_binary_rules_match_all_trees():
    words = SENTENCES[2]
    parser, rules, weights = make_parser(2)
    ids = np.array([WORDS[w] for w in words], dtype=np.int32)
    forest = parser.make_forest(look_up(parser, ids), WIDTH)
    _, shares = parser.project(forest)
    by_rule = defaultdict(float)
    for edge, share in zip(forest.edges, shares, strict=True):
        if edge[0] == coarse.BINARY:
            by_rule[tuple(rules.symbols[s] for s in rules.binary[edge[1]])] += share
    trees = posterior(words, rules, weights, 2)
    expected = defaultdict(float)
    for tree, weight in trees.items():
        for node in oracle.nodes_of(tree):
            if len(node) == 3:
                rule = (node[0], node[1][0], node[2][0])
                expected[rule] += weight / sum(trees.values())
    assert dict(by_rule) == pytest.approx(dict(expected), abs=1e-10)


def test_pruning_keeps_the_best_coarse_tree():
    ids = np.array([WORDS[w] for w in SENTENCES[3]], dtype=np.int32)
    wide, rules, _ = make_parser(1)
    narrow, _, _ = make_parser(1, width=1e-6)
    few, many = (p.make_forest(look_up(p, ids), w) for p, w in ((narrow, 1e-6), (wide, WIDTH)))
    assert len(few.edges) < len(many.edges)
    names = [rules.symbols[s] for s in few.symbols]
    assert set(names) <= set(rules.symbols)
    assert narrow.parse(look_up(narrow, ids), SENTENCES[3], "max-rule").leaves == SENTENCES[3]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("width", [0.5, 2.0, 4.0, WIDTH])
def test_pruning_keeps_what_is_part_of_a_good_tree(seed, width):
    """By all coarse trees: an edge stays if the best tree with it is within the width."""
    treebank = make_treebank()
    rules, counts = treebank.rules, count_coarse(treebank)
    logs = draw_logs(rules, 1, seed)
    parser = RefinedParser(rules, counts, logs, logs, logs, 3, 3, (width,))
    weights = to_weights(rules, RefinedTables(*map(np.exp, logs)))
    for words in (*SENTENCES[1:], ("a", "b", "a", "c", "a")):
        best = defaultdict(lambda: -math.inf)
        for tree, weight in posterior(words, rules, weights, 1).items():
            for edge in oracle.anchored_edges(tree)[0]:
                if edge[0] == "binary":  # sees copies: the chains below do not matter
                    edge = (*edge[:6], edge[7])
                best[edge] = max(best[edge], math.log(weight))
        ids = np.array([WORDS[w] for w in words], dtype=np.int32)
        forest = parser.make_forest(look_up(parser, ids), width)
        if not best:
            assert forest is None
            continue
        cut = max(best.values()) - width
        expected = Counter(edge[0] for edge, log_weight in best.items() if log_weight >= cut)
        kinds = {coarse.WORD: "word", coarse.UNARY: "unary", coarse.BINARY: "binary"}
        found = Counter(kinds[k] for k in forest.edges[:, 0].tolist() if k != coarse.COPY)
        assert found == expected


@pytest.mark.parametrize("n_components", [1, 3, 5])
def test_one_coarse_symbol_is_a_binary_grammar(n_components):
    """Then subsymbols are all there is: sentences have the weights of `inside_outside`."""
    treebank = make_treebank([("S", ("S", "a"), ("S", ("S", "b"), ("S", "c")))])
    rules, counts = treebank.rules, count_coarse(treebank)
    flat = RefinedTables.zeros(rules, 1)
    logs = draw_logs(rules, n_components)
    parser = RefinedParser(rules, counts, flat, logs, logs, 3, 3, (WIDTH,))
    root, emission, binary = (np.exp(t) for t in (logs.root, logs.emission, logs.binary))
    sentences = [[0], [2, 1], [0, 1, 2, 2, 1], [1, 1, 0, 2, 0, 1, 2, 0]]
    found = [
        parser.project(parser.make_forest(look_up(parser, np.array(s)), WIDTH)).log_sum
        for s in sentences
    ]
    expected = inside_outside(
        sentences, root[0], np.ones((n_components, 2)), emission.T, binary[0].transpose(2, 0, 1)
    )
    np.testing.assert_allclose(found, expected.log_prob, rtol=1e-11)


@pytest.mark.parametrize("n_grammars", [2, 3])
@pytest.mark.parametrize("words", SENTENCES[1:])
def test_product_matches_all_trees(words, n_grammars):
    """Moments of every grammar are multiplied, and the choices of every item sum to 1 again."""
    treebank = make_treebank()
    rules, counts = treebank.rules, count_coarse(treebank)
    tables = [draw_logs(rules, 1, seed) for seed in range(n_grammars)]
    first, *others = tables
    parser = RefinedParser(rules, counts, first, first, first, 3, 3, (WIDTH,), others)
    products = None
    for logs in tables:
        trees = posterior(words, rules, to_weights(rules, RefinedTables(*map(np.exp, logs))), 1)
        if not trees:
            break
        edges = project(trees)[0]
        products = {e: edges[e] * (1.0 if products is None else products[e]) for e in edges}
    found = look_up(parser, np.array([WORDS[w] for w in words], dtype=np.int32))
    if products is None:
        assert parser.parse(found, words, "projection") is None
        return
    totals = defaultdict(float)
    for (item, _), share in products.items():
        totals[item] += share
    scores = {
        tree: totals[tree[0], 0, len(words), "copy"]
        * math.prod(products[e] / totals[e[0]] for e in edges_of(tree))
        for tree in trees
    }
    projected = to_tuple(parser.parse(found, words, "projection"))
    assert scores[projected] == pytest.approx(max(scores.values()), rel=1e-10)
    scores = {tree: max_rule(tree, products) for tree in trees}
    best = to_tuple(parser.parse(found, words, "max-rule"))
    assert scores[best] == pytest.approx(max(scores.values()), rel=1e-10)
    shares = parser.project(parser.make_forest(found, WIDTH)).shares
    np.testing.assert_allclose(
        np.sort(shares[shares > 0.0]), np.sort(list(products.values())), rtol=1e-8
    )


def test_product_of_grammars_that_share_no_tree():
    treebank = make_treebank([("S", ("A", "a")), ("S", ("B", "a"))])
    rules, counts = treebank.rules, count_coarse(treebank)
    zeros = RefinedTables.zeros(rules, 1)
    tables = []
    for place in range(2):
        unary = zeros.unary.copy()
        unary[place] = -np.inf
        tables.append(zeros._replace(unary=unary))
    word = np.array([0], dtype=np.int32)
    for others in ([], tables[1:]):
        first = tables[0]
        parser = RefinedParser(rules, counts, zeros, first, first, 3, 3, (WIDTH,), others)
        tree = parser.parse(look_up(parser, word), ["a"], "max-rule")
        assert tree is None if others else to_tuple(tree) == ("S", ("B", "a"))


def test_estimator_climbs():
    trees = [to_tree(tree) for tree in TREES]
    sentences = [tree.leaves for tree in trees]
    model = HDPPCFGRefiner(3, min_word_count=1, max_iter=30, tol=0.0, random_state=0)
    bounds = model.fit(sentences, trees).lower_bounds_
    assert len(bounds) > 3
    assert np.all(np.diff(bounds) >= 0.0)


def test_products_start_from_different_noise():
    trees = [to_tree(tree) for tree in TREES]
    sentences = [tree.leaves for tree in trees]
    options = {"min_word_count": 1, "max_iter": 30, "tol": 1e-3, "random_state": 0}
    one = HDPPCFGRefiner(3, **options).fit(sentences, trees)
    three = HDPPCFGRefiner(3, n_products=3, **options).fit(sentences, trees)
    grammars = [scaled.weights.binary for scaled in three._parser._scaled]
    assert len(grammars) == 3
    assert not any(np.allclose(grammars[i], grammars[i - 1]) for i in range(3))
    assert any(np.array_equal(one._parser._scaled[0].weights.binary, g) for g in grammars)
    assert three.lower_bound_ >= one.lower_bound_
    assert [tree.leaves for tree in three.predict(sentences)] == sentences
