"""Geweke's test of the chains of the table models: 171 comparisons.

Concentration and discount are learned, so that their samplers are tested together with the words'
and the tables'."""

from functools import lru_cache

import numpy as np
import pytest
from statistical.geweke import check_joint

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.data import SegmentedCorpus
from skdp.topics._tables._sampler import HyperParameters, TableSampler

N_WORDS = 4
ALPHA = np.array([0.7, 0.4, 1.5])
GAMMA = 0.6
SHAPE, RATE = 3.0, 1.5
P, Q = 2.0, 3.0
PARENTS = {"segmented": (1.0, 0.0), "sequential": (0.0, 1.0), "adaptive": (1.5, 0.7)}
SEGMENT_PTR = np.array([0, 5, 5, 12, 15])
DOC_PTR = np.array([0, 3, 4])
N_TOKENS = SEGMENT_PTR[-1]


def draw(rng, weights):
    """Draw an index; `Generator.choice` would take most of the time of these tests."""
    bounds = np.cumsum(weights)
    return min(int(bounds.searchsorted(rng.random() * bounds[-1], "right")), len(bounds) - 1)


def urn(rng, prior, counts):
    """Draw from a Dirichlet-multinomial given what was drawn before."""
    return draw(rng, prior + counts)


def draw_words(rng, topics):
    counts = np.zeros((len(ALPHA), N_WORDS))
    words = np.empty(N_TOKENS, dtype=np.int32)
    for i, k in enumerate(topics):
        words[i] = urn(rng, GAMMA, counts[k])
        counts[k, words[i]] += 1
    return words


class Restaurant:
    """The tables of a segment: a dish, a size and whether it came from the segment before."""

    def __init__(self, rng, concentration, discount, order):
        self.rng, self.order = rng, order
        self.concentration, self.discount = concentration, discount
        self.dishes, self.sizes, self.from_previous = [], [], []

    def seat(self):
        """Seat a customer by the Chinese restaurant process; return the dish."""
        weights = np.array([*self.sizes, self.concentration]) - self.discount
        weights[-1] += self.discount * (len(self.sizes) + 1)
        table = draw(self.rng, weights)
        if table == len(self.sizes):
            dish, from_previous = self.order(self)
            self.dishes.append(dish)
            self.from_previous.append(from_previous)
            self.sizes.append(0)
        self.sizes[table] += 1
        return self.dishes[table]


def draw_prior(rng, parents):
    """Draw concentration, discount, topics and tables (s, t) from the model."""
    concentration, discount = rng.gamma(SHAPE, 1 / RATE), rng.beta(P, Q)
    to_document, to_previous = parents
    topics = np.empty(N_TOKENS, dtype=int)
    tables = np.zeros((2, len(SEGMENT_PTR) - 1, len(ALPHA)), dtype=int)
    for d in range(len(DOC_PTR) - 1):
        orders = np.zeros(len(ALPHA))
        above, rooms = None, []
        for j in range(DOC_PTR[d], DOC_PTR[d + 1]):

            def order(node, above=above, orders=orders):
                t = sum(node.from_previous)
                s = len(node.from_previous) - t
                weight = (t + to_previous) / (s + t + to_document + to_previous)
                if above is not None and rng.random() < weight:
                    return above.seat(), True
                dish = urn(rng, ALPHA, orders)
                orders[dish] += 1
                return dish, False

            above = Restaurant(rng, concentration, discount, order)
            for i in range(SEGMENT_PTR[j], SEGMENT_PTR[j + 1]):
                topics[i] = above.seat()
            rooms.append(above)
        for j, room in enumerate(rooms, start=DOC_PTR[d]):
            for dish, from_previous in zip(room.dishes, room.from_previous, strict=True):
                tables[int(from_previous), j, dish] += 1
    return concentration, discount, topics, *tables


def statistics(concentration, discount, topics, tables, previous, words):
    """Return functions of the state that between them see every variable."""
    return [
        np.log(concentration), concentration, discount, discount**2,
        tables.sum() + previous.sum(), (tables.sum() - previous.sum()) ** 2, previous[2].sum(),
        tables[0].max(), (topics == 0).sum(), (topics == 2).sum() ** 2,
        (topics[:5, None] == topics[5:12]).mean(), (words[:, None] == words).mean(),
        ((words[:, None] == words) & (topics[:, None] == topics)).mean(),
        (words == topics).mean(), tables[3, 0], tables[3, 2] * concentration,
        np.bincount(topics[12:], minlength=3).max(),
        (tables.sum(axis=0) * np.arange(3)).sum() * discount, previous[2].sum() * tables[2].sum(),
    ]  # fmt: skip


@lru_cache
def plain_draws(family):
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(12_000):
        *parameters, topics, tables, previous = draw_prior(rng, PARENTS[family])
        words = draw_words(rng, topics)
        draws.append(statistics(*parameters, topics, tables, previous, words))
    return draws


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["btigs", "cmgs", "ssa"])
@pytest.mark.parametrize("family", PARENTS)
def test_joint_distribution(sampler, family):
    plain = plain_draws(family)
    rng = np.random.default_rng(1)

    def corpus(words):
        return SegmentedCorpus(words, SEGMENT_PTR, DOC_PTR, N_WORDS)

    root = make_seed_sequence(1)
    hyper = HyperParameters(
        ALPHA, GAMMA, (1.0, 0.1), "auto", (P, Q), "auto", (SHAPE, RATE), "corpus", PARENTS[family]
    )
    words = rng.integers(0, N_WORDS, N_TOKENS).astype(np.int32)
    streams = [derive_stream(root, Role.INIT)], [derive_stream(root, Role.SWEEP)]
    chain = TableSampler(corpus(words), 3, sampler, hyper, "random", *streams)
    visited = []
    for _ in range(24_000):
        chain.sweep()
        words = draw_words(rng, chain.topics)
        chain.attach(corpus(words))
        state = chain.state()
        tables = state.tables_to_document, state.tables_to_previous
        visited.append(
            statistics(state.concentration, state.discount, state.topics, *tables, words)
        )
    check_joint(plain, visited)
