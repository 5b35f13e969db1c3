"""Nested and hierarchical Dirichlet processes with given or drawn weights, by enumeration.

Written from the joint distributions: processes with given weights are urns, and processes that
share drawn weights are seatings of restaurants. Weights, priors and counts are lists of plain
numbers."""

import math
from itertools import product

from exact.language.franchise import stirling


class Urn:
    """Draws from a Dirichlet distribution that is integrated out: the urn of Polya."""

    def __init__(self, prior):
        self.balls = list(prior)

    def draw(self, k):
        """Return the probability of outcome k and add it to the urn."""
        p = self.balls[k] / sum(self.balls)
        self.balls[k] += 1.0
        return p


def nested_joint(words, labels, outer, inner, concentration, word_prior):
    """Return p(words, labels) of a nested process. A word draws a distribution, label[0], with
    weights around `outer`; from it a component, label[1], with weights around `inner`; and from
    that component itself."""
    distributions = Urn([concentration * w for w in outer])
    components = [Urn([concentration * w for w in inner]) for _ in outer]
    emissions = [Urn(word_prior) for _ in inner]
    p = 1.0
    for word, (upper, lower) in zip(words, labels, strict=True):
        p *= distributions.draw(upper)
        p *= components[upper].draw(lower) * emissions[lower].draw(word)
    return p


def nested_evidence(words, outer, inner, concentration, word_prior):
    """Return p(words), summed over all labels."""
    pairs = list(product(range(len(outer)), range(len(inner))))
    return sum(
        nested_joint(words, labels, outer, inner, concentration, word_prior)
        for labels in product(pairs, repeat=len(words))
    )


def franchise_evidence(words, groups, weights, concentration, word_prior):
    """Return p(words | groups) of a hierarchical process with given top-level weights. Words are
    seated one by one in the restaurant of their group; a table serves a component drawn from
    `weights`, which emits the words of its customers."""

    def seat(i, tables, served):
        if i == len(words):
            return 1.0
        own = tables.get(groups[i], ())
        room = sum(n for _, n in own) + concentration
        total = 0.0
        for t, (dish, n) in enumerate(own):
            made = (*own[:t], (dish, n + 1), *own[t + 1 :])
            total += n / room * go_on(i, dish, made, tables, served)
        for dish, weight in enumerate(weights):
            made = (*own, (dish, 1))
            total += concentration * weight / room * go_on(i, dish, made, tables, served)
        return total

    def go_on(i, dish, own, tables, served):
        mine = [word for word, d in served if d == dish]
        p = (word_prior[words[i]] + mine.count(words[i])) / (sum(word_prior) + len(mine))
        return p * seat(i + 1, {**tables, groups[i]: own}, [*served, (words[i], dish)])

    return seat(0, {}, [])


def beta_moment(orders, kind, concentration):
    """Return E[prod beta_k^orders_k] under Dir(c / K) or a truncated GEM(c)."""
    if kind == "dirichlet":
        shape = concentration / len(orders)
        logs = [math.lgamma(shape + n) - math.lgamma(shape) for n in orders]
        total = math.lgamma(concentration) - math.lgamma(concentration + sum(orders))
        return math.exp(total + sum(logs))
    p = 1.0
    for k, n in enumerate(orders[:-1]):  # a stick is Beta(1, c)
        rest = sum(orders[k + 1 :])
        p *= math.exp(
            math.lgamma(1.0 + n)
            + math.lgamma(concentration + rest)
            - math.lgamma(1.0 + concentration + n + rest)
            + math.log(concentration)
        )
    return p


def hierarchical_posterior(rows, n_components, kind, concentration):
    """Return E[beta] and E[rows] given counts, by the table counts of all restaurants. `rows` are
    (alpha, counts): a row is drawn from DP(alpha, base), and counts is a dict from outcomes to
    numbers. An outcome is a tuple of components, and the base gives it the product of their beta;
    see `beta_moment` for `kind` and `concentration`."""
    cells = [
        (alpha, outcome, n) for alpha, counts in rows for outcome, n in counts.items() if n > 0
    ]
    total, beta = 0.0, [0.0] * n_components
    base = [dict.fromkeys(counts, 0.0) for _, counts in rows]
    for tables in product(*(range(1, n + 1) for _, _, n in cells)):
        orders, weight = [0] * n_components, 1.0
        for (alpha, outcome, n), m in zip(cells, tables, strict=True):
            weight *= stirling(n, 0)[n][m] * alpha**m
            for k in outcome:
                orders[k] += m

        def moment(*more, orders=orders):
            added = [n + more.count(k) for k, n in enumerate(orders)]
            return beta_moment(added, kind, concentration)

        total += weight * moment()
        for k in range(n_components):
            beta[k] += weight * moment(k)
        for row in base:
            for outcome in row:
                row[outcome] += weight * moment(*outcome)
    means = [
        {
            outcome: (alpha * row[outcome] / total + n) / (alpha + sum(counts.values()))
            for outcome, n in counts.items()
        }
        for (alpha, counts), row in zip(rows, base, strict=True)
    ]
    return [x / total for x in beta], means
