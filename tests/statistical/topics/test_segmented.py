"""Geweke's joint distribution test of the segmented topic model's chain.

If the chain leaves the posterior invariant, then alternating one sweep with a draw of the words
given the topics leaves the joint distribution of everything invariant, so its means are those of
plain draws from the prior (Geweke, 2004). The concentration is learnt, so that its sampler is
tested together with the words' and the tables'.

12,000 plain draws and 24,000 sweeps in 40 batches; |z| < 5 with 39 degrees of freedom is a false
alarm once in 80,000 comparisons; there are 90.
"""

from functools import lru_cache

import numpy as np
import pytest
from exact.oracles.batch_means import N_BATCHES

from skdp._random import Role, derive_stream, make_seed_sequence
from skdp.data import SegmentedCorpus
from skdp.topics._sampler import HyperParameters, SegmentedSampler

N_WORDS = 4
ALPHA = np.array([0.7, 0.4, 1.5])
GAMMA = 0.6
SHAPE, RATE = 3.0, 1.5
SEGMENT_PTR = np.array([0, 5, 5, 12, 15])
DOC_PTR = np.array([0, 3, 4])
N_TOKENS = SEGMENT_PTR[-1]


def urn(rng, prior, counts):
    """Draw from a Dirichlet-multinomial given what was drawn before."""
    weights = prior + counts
    return rng.choice(len(weights), p=weights / weights.sum())


def draw_words(rng, topics):
    counts = np.zeros((len(ALPHA), N_WORDS))
    words = np.empty(N_TOKENS, dtype=np.int32)
    for i, k in enumerate(topics):
        words[i] = urn(rng, GAMMA, counts[k])
        counts[k, words[i]] += 1
    return words


def draw_prior(rng, discount):
    """Draw concentration, topics and tables by the Chinese restaurants of the model."""
    concentration = rng.gamma(SHAPE, 1 / RATE)
    topics = np.empty(N_TOKENS, dtype=int)
    tables = np.zeros((len(SEGMENT_PTR) - 1, len(ALPHA)), dtype=int)
    for d in range(len(DOC_PTR) - 1):
        orders = np.zeros(len(ALPHA))
        for j in range(DOC_PTR[d], DOC_PTR[d + 1]):
            dishes, sizes = [], []
            for i in range(SEGMENT_PTR[j], SEGMENT_PTR[j + 1]):
                weights = np.array([*sizes, concentration]) - discount
                weights[-1] += discount * (len(sizes) + 1)
                seat = rng.choice(len(weights), p=weights / weights.sum())
                if seat == len(sizes):
                    dishes.append(urn(rng, ALPHA, orders))
                    orders[dishes[-1]] += 1
                    tables[j, dishes[-1]] += 1
                    sizes.append(0)
                sizes[seat] += 1
                topics[i] = dishes[seat]
    return concentration, topics, tables


def statistics(concentration, topics, tables, words):
    """Return functions of the state that between them see every variable."""
    return [
        np.log(concentration),
        concentration,
        tables.sum(),
        tables.sum() ** 2,
        tables[0].max(),
        (topics == 0).sum(),
        (topics == 2).sum() ** 2,
        (topics[:5, None] == topics[5:12]).mean(),
        (words[:, None] == words).mean(),
        ((words[:, None] == words) & (topics[:, None] == topics)).mean(),
        (words == topics).mean(),
        tables[3, 0],
        tables[3, 2] * concentration,
        np.bincount(topics[12:], minlength=3).max(),
        (tables.sum(axis=0) * np.arange(3)).sum(),
    ]


@lru_cache
def plain_draws(discount):
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(12_000):
        concentration, topics, tables = draw_prior(rng, discount)
        draws.append(statistics(concentration, topics, tables, draw_words(rng, topics)))
    return np.array(draws, dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["btigs", "cmgs", "ssa"])
@pytest.mark.parametrize("discount", [0.0, 0.5])
def test_joint_distribution(sampler, discount):
    plain = plain_draws(discount)
    rng = np.random.default_rng(1)

    def corpus(words):
        return SegmentedCorpus(words, SEGMENT_PTR, DOC_PTR, N_WORDS)

    root = make_seed_sequence(1)
    hyper = HyperParameters(ALPHA, GAMMA, (1.0, 0.1), discount, "auto", (SHAPE, RATE))
    words = rng.integers(0, N_WORDS, N_TOKENS).astype(np.int32)
    streams = derive_stream(root, Role.INIT), derive_stream(root, Role.SWEEP)
    chain = SegmentedSampler(corpus(words), 3, sampler, hyper, "random", *streams)
    visited = []
    for _ in range(24_000):
        chain.sweep()
        topics = chain.assignments.topics
        words = draw_words(rng, topics)
        chain.attach(corpus(words))
        visited.append(statistics(chain.concentration, topics, chain.assignments.tables, words))
    batches = np.array(visited, dtype=float).reshape(N_BATCHES, -1, plain.shape[1]).mean(axis=1)

    error = batches.var(axis=0, ddof=1) / N_BATCHES + plain.var(axis=0, ddof=1) / len(plain)
    z = (batches.mean(axis=0) - plain.mean(axis=0)) / np.sqrt(error)
    assert np.abs(z).max() < 5, z.round(1)
