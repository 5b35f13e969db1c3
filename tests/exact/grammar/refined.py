"""A tiny treebank, random refined grammars, and parses of sentences in the words of the oracle."""

import math
from collections import defaultdict

import numpy as np
from exact.oracles import refinement as oracle

from skdp.grammar import HDPPCFGRefiner, ParseTree
from skdp.grammar._refinement._ascent import (
    MaximumLikelihoodRefinement,
    RefinedTables,
    count_coarse,
)
from skdp.grammar._refinement._parser import RefinedParser
from skdp.grammar._refinement._treebank import flatten

WORDS = {"a": 0, "b": 1, "c": 2}
TREES = [
    ("S", ("A", "a"), ("S", ("A", "b"), ("A", "a"))),
    ("S", ("B", ("A", "c")), ("A", "a")),
    ("S", ("A", "a"), ("B", ("S", ("B", "b"), ("A", "c")))),
    ("B", ("S", ("B", "c"))),
]
SENTENCES = [("a",), ("b", "c"), ("a", "b", "a"), ("c", "a", "b", "c")]
WIDTH = 200.0
"""Of forests from which nothing is pruned."""


def to_tree(tree):
    children = [child if isinstance(child, str) else to_tree(child) for child in tree[1:]]
    return ParseTree(tree[0], children)


def to_tuple(tree):
    return (tree.label, *(c if isinstance(c, str) else to_tuple(c) for c in tree.children))


def fit(trees, n_components=1, **options):
    """Return an estimator that has learned from trees of the oracle."""
    options = {"min_word_count": 1, "random_state": 0, **options}
    parses = [to_tree(tree) for tree in trees]
    return HDPPCFGRefiner(n_components, **options).fit([tree.leaves for tree in parses], parses)


# Treebanks and grammars


def make_treebank(trees=TREES):
    parses = [to_tree(tree) for tree in trees]
    return flatten(parses, [[WORDS[w] for w in tree.leaves] for tree in parses])


def draw_logs(rules, n_components, seed=0):
    rng = np.random.default_rng(seed)
    zeros = RefinedTables.zeros(rules, n_components)
    return RefinedTables(*(rng.normal(-1.0, 1.5, part.shape) for part in zeros))


def numbers_of(rules, tables):
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


def weights_of(rules, logs):
    """Return the oracle's weights."""
    return numbers_of(rules, RefinedTables(*map(np.exp, logs)))


def positive(weights):
    return {rule: weight for rule, weight in weights.items() if weight > 0.0}


# Parses


def parser_of(treebank, logs, width=WIDTH, others=(), coarse_logs=None):
    rules, counts = treebank.rules, count_coarse(treebank)
    if coarse_logs is None:
        coarse_logs = MaximumLikelihoodRefinement(rules, 0.0, 1).updated(counts).weights()
    return RefinedParser(rules, counts, coarse_logs, logs, logs, 3, 3, (width,), others)


def make_parser(n_components, seed=0):
    """Return the parser of a random grammar, its rules, and the logs of its weights."""
    treebank = make_treebank()
    logs = draw_logs(treebank.rules, n_components, seed)
    return parser_of(treebank, logs), treebank.rules, logs


def look_up(parser, words):
    return parser.look_up(np.array([WORDS[w] for w in words], dtype=np.int32), [None] * len(words))


def forest_of(parser, words, width=WIDTH):
    return parser.make_forest(look_up(parser, words), width)


def parse(parser, words, decoding):
    """Return the best tree of a sentence by a way of decoding, or None."""
    tree = parser.parse(look_up(parser, words), words, decoding)
    return tree and to_tuple(tree)


def coarse_rules(rules):
    names, words = rules.symbols, {i: word for word, i in WORDS.items()}
    found = {(names[s], words[w]) for s, w in rules.emission}
    found |= {("unary", names[s], names[c]) for s, c in rules.unary}
    return found | {tuple(names[s] for s in rule) for rule in rules.binary}


def posterior(words, rules, logs):
    """Return the coarse trees of a sentence with their summed weights."""
    names, weights = {rules.symbols[s] for s in rules.roots}, weights_of(rules, logs)
    trees = oracle.coarse_trees(words, coarse_rules(rules), rules.longest_chain)
    return {t: oracle.tree_sum(t, weights, logs.n_components)[0] for t in trees if t[0] in names}


def edges_of(tree):
    """Return the choices of a tree: (item, what it is made of), items as in the kernel. Binary
    rules and the root see copies of items, of whatever level in a chain."""
    edges, end, level = oracle.anchored_edges(tree)
    found = [((tree[0], 0, end, "copy"), level)]
    for kind, first, *rest in edges:
        if kind == "word":
            last, symbol = rest
            found.append(((symbol, first, last, 0), "word"))
        elif kind == "unary":
            last, symbol, child, below = rest
            found.append(((symbol, first, last, below + 1), (child, below)))
        else:
            middle, last, symbol, left, left_level, right, right_level = rest
            left, right = (left, first, middle), (right, middle, last)
            found.append(((symbol, first, last, 0), (left, right)))
            found += [((*left, "copy"), left_level), ((*right, "copy"), right_level)]
    return found


def project(trees):
    """Return the probability of every tree under the projection of a posterior, by its moments."""
    total = sum(trees.values())
    edges, items, roots = defaultdict(float), defaultdict(float), defaultdict(float)
    for tree, weight in trees.items():
        roots[tree[0]] += weight / total
        for item, made_of in edges_of(tree):
            edges[item, made_of] += weight / total
            items[item] += weight / total
    return edges, {
        tree: roots[tree[0]] * math.prod(edges[e] / items[e[0]] for e in edges_of(tree))
        for tree in trees
    }


def max_rule(tree, edges):
    """Return the product of the posterior probabilities of a tree's rules at their places."""
    return math.prod(edges[e] for e in edges_of(tree) if e[0][3] != "copy")
