"""Maximum likelihood, merges and smoothing of refined grammars by enumeration.

Trees and weights as in `refinement`. A rule is a tuple: its kind, then (symbol, subsymbol) of its
left side ("root" has none), then those of its children, or a word."""

from collections import Counter
from itertools import product

from exact.oracles.refinement import labelings, nodes_of, refined_rules, tree_sum, weight_of


def parent_of(rule):
    """Return the left side of a rule, None of a root's."""
    return None if rule[0] == "root" else rule[1:3]


def expected_uses(trees, weights, n_components):
    """Return the expected uses of all rules."""
    uses = Counter()
    for tree in trees:
        uses.update(tree_sum(tree, weights, n_components)[1])
    return uses


def expected_nodes(trees, weights, n_components):
    """Return the expected nodes of every (symbol, subsymbol)."""
    nodes = Counter()
    for rule, use in expected_uses(trees, weights, n_components).items():
        nodes[parent_of(rule)] += use
    return nodes


def updated(trees, weights, n_components):
    """Return the rules' probabilities after an iteration of expectation maximization."""
    uses = expected_uses(trees, weights, n_components)
    totals = Counter()
    for rule, use in uses.items():
        totals[parent_of(rule)] += use
    return {rule: use / totals[parent_of(rule)] for rule, use in uses.items() if use > 0.0}


def merged(weights, first, second, share):
    """Return weights in which two subsymbols are one, the first. As a child it has the sum of both.
    As a parent it is one of them, the first with probability `share`."""
    found = Counter()
    for rule, weight in weights.items():
        factor = share if parent_of(rule) == first else 1.0 - share
        factor = factor if parent_of(rule) in (first, second) else 1.0
        found[_renamed(rule, {second: first})] += factor * weight
    return found


def _renamed(rule, names):
    if rule[0] == "emission":
        return ("emission", *names.get(rule[1:3], rule[1:3]), rule[3])
    pairs = (rule[i : i + 2] for i in range(1, len(rule), 2))
    return (rule[0], *(part for pair in pairs for part in names.get(pair, pair)))


def factor_of_a_merge(tree, node, pair, share, weights, n_components):
    """Return the factor by which a merge at one node (in pre-order) changes a tree's weight. There
    the subsymbol that the rule above has chosen (z) is forgotten: the rule below has one that is
    drawn by `share`. All other nodes, of the symbol or not, stay as they are."""
    total = changed = 0.0
    n_nodes = len(nodes_of(tree))
    for labels in product(range(n_components), repeat=n_nodes):
        weight = weight_of(refined_rules(tree, labels), weights)
        total += weight
        if labels[node] not in pair:
            changed += weight
            continue
        for below, p in zip(pair, (share, 1.0 - share), strict=True):
            as_parents = (*labels[:node], below, *labels[node + 1 :])
            changed += p * weight_of(refined_rules(tree, labels, as_parents), weights)
    return changed / total


def smoothed(weights, sizes, rule_share, word_share):
    """Return weights mixed with the mean over the subsymbols of the left side, made to sum to 1.
    `sizes` are the numbers of subsymbols of symbols."""
    found = Counter()
    for rule, weight in weights.items():
        if rule[0] == "root":
            found[rule] = weight
            continue
        share = word_share if rule[0] == "emission" else rule_share
        found[rule] += (1.0 - share) * weight
        for z in range(sizes[rule[1]]):
            found[(*rule[:2], z, *rule[3:])] += share * weight / sizes[rule[1]]
    totals = Counter()
    for rule, weight in found.items():
        totals[parent_of(rule)] += weight
    return {
        rule: weight if rule[0] == "root" else weight / totals[parent_of(rule)]
        for rule, weight in found.items()
    }


def likelihood(trees, weights, n_components):
    """Return the product of the summed weights of all trees."""
    total = 1.0
    for tree in trees:
        total *= sum(weight_of(rules, weights) for rules in labelings(tree, n_components))
    return total
