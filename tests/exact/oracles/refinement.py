"""Refinement of treebank grammars by enumeration: every subsymbol of every node, every tree.

A tree is (symbol, word), (symbol, child) or (symbol, child, child). A refined grammar is a dict of
weights: ("root", s, z), ("emission", s, z, x), ("unary", s, z, s', z') and
("binary", s, z, s', z', s'', z''). Weights that are missing are 0."""

import math
from collections import Counter
from itertools import product


def nodes_of(tree):
    """Return the nodes of a tree in pre-order."""
    return [tree, *(node for child in tree[1:] if not isinstance(child, str)
                    for node in nodes_of(child))]  # fmt: skip


def refined_rules(tree, labels, as_parents=None):
    """Return the rules of a tree whose nodes have these subsymbols (a list in pre-order), and maybe
    others as parents."""
    rest = zip(labels, as_parents or labels, strict=True)
    rules = []

    def walk(node):
        z, below = next(rest)
        if isinstance(node[1], str):
            rules.append(("emission", node[0], below, node[1]))
        else:
            children = [part for child in node[1:] for part in walk(child)]
            rules.append(("unary" if len(node) == 2 else "binary", node[0], below, *children))
        return node[0], z

    rules.append(("root", *walk(tree)))
    return rules


def labelings(tree, n_components):
    """Yield the refined rules of a tree under every choice of subsymbols."""
    for labels in product(range(n_components), repeat=len(nodes_of(tree))):
        yield refined_rules(tree, labels)


def weight_of(rules, weights):
    """Return the product of the rules' weights."""
    return math.prod(weights.get(rule, 0.0) for rule in rules)


def tree_sum(tree, weights, n_components):
    """Return the summed weight of a tree's labelings and the expected uses of every rule."""
    total, uses = 0.0, Counter()
    for rules in labelings(tree, n_components):
        weight = weight_of(rules, weights)
        total += weight
        for rule in rules:
            uses[rule] += weight
    return total, {rule: use / total for rule, use in uses.items()}


def best_labeling(tree, weights, n_components):
    """Return the rules of the labeling of the highest weight."""
    return max(labelings(tree, n_components), key=lambda rules: weight_of(rules, weights))


def coarse_trees(words, rules, most_unary):
    """Return all trees over words from coarse rules: (s, x), (s, s') as ("unary", s, s'), and (s,
    s', s''). Chains of nodes with one child that is a node have at most `most_unary` of them."""
    if len(words) == 1:
        found = [(s, words[0]) for (s, x) in (r for r in rules if len(r) == 2) if x == words[0]]
    else:
        found = []
        for m in range(1, len(words)):
            lefts = coarse_trees(words[:m], rules, most_unary)
            rights = coarse_trees(words[m:], rules, most_unary)
            for left in lefts:
                for right in rights:
                    found += [
                        (r[0], left, right)
                        for r in rules
                        if len(r) == 3 and r[0] != "unary" and r[1:] == (left[0], right[0])
                    ]
    level = found
    for _ in range(most_unary):
        level = [
            (r[1], tree) for tree in level for r in rules if r[0] == "unary" and r[2] == tree[0]
        ]
        found = found + level
    return found


def anchored_edges(tree, first=0):
    """Return the anchored rules of a coarse tree: (kind, span, symbols, height of the chain)."""
    if isinstance(tree[1], str):
        return [("word", first, first + 1, tree[0])], first + 1, 0
    if len(tree) == 2:
        below, end, height = anchored_edges(tree[1], first)
        return [("unary", first, end, tree[0], tree[1][0], height), *below], end, height + 1
    left, middle, left_height = anchored_edges(tree[1], first)
    right, end, right_height = anchored_edges(tree[2], middle)
    edge = ("binary", first, middle, end, tree[0], tree[1][0], left_height, tree[2][0],
            right_height)  # fmt: skip
    return [edge, *left, *right], end, 0


def dirichlet_multinomial(counts, prior):
    """Return log E[prod phi^counts], phi ~ Dir(prior)."""
    total = math.lgamma(sum(prior)) - math.lgamma(sum(prior) + sum(counts))
    return total + sum(
        math.lgamma(a + c) - math.lgamma(a) for a, c in zip(prior, counts, strict=True)
    )


def log_evidence(trees, beta, priors, n_components):
    """Return log p(trees | beta), with rules integrated out and subsymbols summed out; beta maps
    symbols to lists of K weights. `priors` has "type", "emission", "unary", "binary" (the last two
    are concentrations), and "symbol": a number or None (1 over the number of right-hand sides). The
    support of right-hand sides, words and types of a symbol is what the trees show."""
    shown = {"type": {}, "emission": {}, "unary": {}, "binary": {}, "root": {None: set()}}
    for tree in trees:
        shown["root"][None].add(tree[0])
        for node in nodes_of(tree):
            kind, right_side = _coarse(node)
            shown["type"].setdefault(node[0], set()).add(kind)
            shown[kind].setdefault(node[0], set()).add(right_side)
    total = -math.inf
    for parts in product(*(list(labelings(tree, n_components)) for tree in trees)):
        uses = Counter(rule for rules in parts for rule in rules)
        joint = _log_marginal(uses, shown, beta, priors, n_components)
        total = max(total, joint) + math.log1p(math.exp(-abs(total - joint)))
    return total


def _coarse(node):
    if isinstance(node[1], str):
        return "emission", node[1]
    if len(node) == 2:
        return "unary", node[1][0]
    return "binary", (node[1][0], node[2][0])


def _log_marginal(uses, shown, beta, priors, n_components):
    def symbol_prior(n):
        return [1.0 / n if priors["symbol"] is None else priors["symbol"]] * n

    ks = range(n_components)
    roots = sorted(shown["root"][None])
    total = dirichlet_multinomial(
        [sum(uses["root", s, z] for z in ks) for s in roots], symbol_prior(len(roots))
    )
    for s in roots:
        total += dirichlet_multinomial(
            [uses["root", s, z] for z in ks], [priors["unary"] * b for b in beta[s]]
        )
    for s, z in product(shown["type"], ks):
        mine = {rule: n for rule, n in uses.items() if rule[0] != "root" and rule[1:3] == (s, z)}
        types = sorted(shown["type"][s])
        total += dirichlet_multinomial(
            [sum(n for rule, n in mine.items() if rule[0] == kind) for kind in types],
            [priors["type"]] * len(types),
        )
        words = sorted(shown["emission"].get(s, ()))
        if words:
            total += dirichlet_multinomial(
                [mine.get(("emission", s, z, x), 0) for x in words],
                [priors["emission"]] * len(words),
            )
        children = sorted(shown["unary"].get(s, ()))
        if children:
            cells = [[mine.get(("unary", s, z, c, zc), 0) for zc in ks] for c in children]
            total += dirichlet_multinomial(list(map(sum, cells)), symbol_prior(len(children)))
            for c, row in zip(children, cells, strict=True):
                total += dirichlet_multinomial(row, [priors["unary"] * b for b in beta[c]])
        pairs = sorted(shown["binary"].get(s, ()))
        if pairs:
            cells = [
                [mine.get(("binary", s, z, a, za, b, zb), 0) for za in ks for zb in ks]
                for a, b in pairs
            ]
            total += dirichlet_multinomial(list(map(sum, cells)), symbol_prior(len(pairs)))
            for (a, b), row in zip(pairs, cells, strict=True):
                prior = [priors["binary"] * x * y for x in beta[a] for y in beta[b]]
                total += dirichlet_multinomial(row, prior)
    return total


# Grammars of relative frequencies, one subsymbol, and rare words


def token_classes(tree, known):
    """Return (tag, word, class) of the words of a tree: known ones are their own class."""
    tokens = [node for node in nodes_of(tree) if isinstance(node[1], str)]
    return [
        (tag, word, word if word in known else "^UNK" if place == 0 else "UNK")
        for place, (tag, word) in enumerate(tokens)
    ]


def relative_frequencies(trees, known):
    """Return the weights of a grammar of one subsymbol; words that are not known are classes."""
    uses, nodes = Counter(), Counter()
    for tree in trees:
        uses["root", tree[0], 0] += 1
        for node in nodes_of(tree):
            nodes[node[0]] += 1
            if not isinstance(node[1], str):
                kind = "unary" if len(node) == 2 else "binary"
                children = [part for child in node[1:] for part in (child[0], 0)]
                uses[kind, node[0], 0, *children] += 1
        for tag, _, name in token_classes(tree, known):
            uses["emission", tag, 0, name] += 1
    return {
        rule: n / (len(trees) if rule[0] == "root" else nodes[rule[1]]) for rule, n in uses.items()
    }


def rare_factor(trees, known, tag, word, name):
    """Return P(tag | word) / P(tag | class): own counts and half a token of the class."""
    tokens = [token for tree in trees for token in token_classes(tree, known)]
    of_class = [token for token in tokens if token[2] == name]
    of_word = [token for token in tokens if token[1] == word]
    p_class = sum(token[0] == tag for token in of_class) / len(of_class)
    p_word = (sum(token[0] == tag for token in of_word) + 0.5 * p_class) / (len(of_word) + 0.5)
    return p_word / p_class
