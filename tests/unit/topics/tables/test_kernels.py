"""The samplers' state: redundant counts must agree after every sweep."""

import numpy as np
import pytest

from skdp._numeric._simd import padded
from skdp.data import SegmentedCorpus
from skdp.topics._shared._arrays import empty_counts, fixed_words, flat
from skdp.topics._shared._kernels import score_tokens
from skdp.topics._tables._arrays import (
    add_seats,
    empty_assignments,
    empty_levels,
    empty_scratch,
    enter_words,
    sampler_weights,
    stirling_ratios,
)
from skdp.topics._tables._kernels import Prior
from skdp.topics._tables._kernels_sweeps import SAMPLERS, sweeps_of
from skdp.topics._tables._sampler import HyperParameters, TableSampler

PARENTS = {"segmented": (1.0, 0.0), "sequential": (0.0, 1.0), "adaptive": (1.5, 0.7)}
every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)
every_family = pytest.mark.parametrize("family", PARENTS)
SMALL, LARGE = 1e-8, 1e8


def stream(*seed):
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


def make_corpus(lengths, n_words=9, seed=0):
    """Return a corpus whose documents' segments have the given lengths."""
    rng = np.random.default_rng(seed)
    documents = [[rng.integers(0, n_words, n) for n in document] for document in lengths]
    return SegmentedCorpus.from_documents(documents, n_words)


class Chain:
    """A sampler's kernels and the arrays that they work on."""

    def __init__(
        self, corpus, sampler, family="segmented", *, n_topics=3, alpha=0.5, gamma=0.3,
        discount=0.4, concentration=2.0, phi=None, seed=0,
    ):  # fmt: skip
        self.corpus, self.sampler, self.n_topics = corpus, sampler, n_topics
        chained = family != "segmented"
        self.assignments = empty_assignments(
            corpus, n_topics, seats=sampler == "ssa", chained=chained
        )
        self.sweep_corpus = sweeps_of(sampler, chained=chained).sweep_corpus
        self.scratch = empty_scratch(n_topics)
        self.levels = empty_levels(flat(corpus), n_topics, chained=chained)
        if phi is None:
            self.words = empty_counts(corpus.n_features, n_topics)
        else:
            self.words, gamma = fixed_words(phi), 0.0
        self.prior = Prior(
            np.broadcast_to(np.array(alpha, dtype=float), n_topics).copy(),
            gamma,
            discount,
            np.full(len(corpus.segment_ptr) - 1, concentration),
            *PARENTS[family],
        )
        self.ratios = sampler_weights(stirling_ratios(corpus, discount, chained=chained), sampler)
        self.stream = stream(seed)

    def sweep(self):
        place = np.zeros(2, dtype=np.int64)
        enter_words(self.words, self.prior.gamma, self.scratch)
        while n_seats := self.sweep_corpus(
            flat(self.corpus), self.assignments, self.words, self.prior,
            self.ratios, self.scratch, self.levels, place, self.stream,
        ):  # fmt: skip
            self.assignments = add_seats(self.assignments, n_seats)


def assert_consistent(corpus, assignments, n_topics):
    """Compare all counts to those made from topics and tables; return the customers N_jk."""
    lengths = np.diff(corpus.segment_ptr)
    assert np.all((assignments.topics >= 0) & (assignments.topics < n_topics))
    n = np.zeros((len(lengths), n_topics), dtype=int)
    np.add.at(n, (np.repeat(np.arange(len(lengths)), lengths), assignments.topics), 1)
    tables = assignments.tables.copy()
    np.testing.assert_array_equal(assignments.segment_tables, tables.sum(axis=1))
    in_document = np.zeros((len(corpus), n_topics), dtype=int)
    document_of = np.repeat(np.arange(len(corpus)), np.diff(corpus.doc_ptr))
    np.add.at(in_document, document_of, tables)
    np.testing.assert_array_equal(assignments.document_tables, in_document)
    if len(assignments.to_previous):
        previous = assignments.to_previous
        np.testing.assert_array_equal(assignments.segment_to_previous, previous.sum(axis=1))
        assert not np.any(previous[np.unique(flat(corpus).part_begin)])
        n[:-1] += previous[1:]
        tables += previous
    assert np.all(tables <= n)
    np.testing.assert_array_equal(tables == 0, n == 0)
    return n


def assert_words_counted(corpus, assignments, words, n_topics):
    counts = np.zeros((corpus.n_features, padded(n_topics)))
    np.add.at(counts, (corpus.tokens, assignments.topics), 1)
    np.testing.assert_array_equal(words.counts, counts)
    np.testing.assert_array_equal(words.totals, counts.sum(axis=0))


def assert_seats_agree(assignments, n):
    """Compare the tables of SSA, one by one, to their counts."""
    n_seats = 0
    for (j, k), seat in np.ndenumerate(assignments.seat_heads):
        sizes, kinds = [], []
        while seat >= 0:
            sizes.append(assignments.seat_sizes[seat])
            kinds.append(assignments.seat_kinds[seat])
            seat = assignments.seat_links[seat]
        assert all(size >= 1 for size in sizes)
        assert sum(sizes) == n[j, k]
        assert kinds.count(1) == assignments.tables[j, k]
        if len(assignments.to_previous):
            assert kinds.count(2) == assignments.to_previous[j, k]
        n_seats += len(sizes)
    assert assignments.seat_free[1] == len(assignments.seat_links) - n_seats


def assert_sound(chain):
    n = assert_consistent(chain.corpus, chain.assignments, chain.n_topics)
    if chain.sampler == "ssa":
        assert_seats_agree(chain.assignments, n)
    if chain.words.fixed:
        assert not np.any(chain.words.totals)
    else:
        assert_words_counted(chain.corpus, chain.assignments, chain.words, chain.n_topics)
    assert not np.any(chain.scratch.n_k)


SHAPES = {
    "mixed": [[5, 0, 1, 30], [], [0], [0, 0, 7], [1], [200], [1, 1, 1]],
    "one word": [[1]],
    "one-word documents": [[1]] * 20,
}
MODELS = {
    "plain": {},
    "one topic": {"n_topics": 1},
    "16 topics": {"n_topics": 16},
    "17 topics": {"n_topics": 17, "alpha": np.linspace(0.01, 2.0, 17)},
    "no discount": {"discount": 0.0},
    "large discount": {"discount": 0.999},
    "small concentration": {"concentration": SMALL},
    "large concentration": {"concentration": 1e12, "discount": 0.0},
    "small alpha": {"alpha": SMALL},
    "large alpha": {"alpha": LARGE},
    "mixed alpha": {"alpha": [LARGE, SMALL, 1.0]},
    "small gamma": {"gamma": SMALL},
    "large gamma": {"gamma": LARGE},
    "all small": {"alpha": SMALL, "gamma": SMALL, "concentration": SMALL, "discount": 0.0},
    "small and large": {"alpha": SMALL, "gamma": LARGE, "concentration": 1e12, "discount": 0.999},
    "large and small": {"alpha": LARGE, "gamma": SMALL, "concentration": SMALL},
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", SHAPES)
@every_sampler
@every_family
def test_state_after_sweeps(family, sampler, shape, model):
    chain = Chain(make_corpus(SHAPES[shape]), sampler, family, **MODELS[model])
    for _ in range(4):
        chain.sweep()
        assert_sound(chain)


@every_sampler
@every_family
def test_state_of_parts(family, sampler):
    corpus = make_corpus([[30, 5, 20, 0, 8], [], [0, 9], [40]])
    chain = Chain(corpus.with_parts([[2, 3], [], [1], []]), sampler, family)
    for _ in range(20):
        chain.sweep()
        assert_sound(chain)


@every_sampler
@every_family
def test_state_with_topics_fixed(family, sampler):
    phi = np.array([[1.0, 0, 0, 0], [0, 0.5, 0.5, 0], [0.2, 0.3, 0.4, 0.1]])
    corpus = make_corpus(SHAPES["mixed"], n_words=4)
    chain = Chain(corpus, sampler, family, phi=phi, alpha=SMALL)
    given = chain.words.counts.copy()
    for _ in range(4):
        chain.sweep()
        assert_sound(chain)
    np.testing.assert_array_equal(chain.words.counts, given)
    assert np.all(phi[chain.assignments.topics, corpus.tokens] > 0.0)


@pytest.mark.parametrize("init", ["random", "words' topics", "given topics"])
@every_sampler
@every_family
def test_first_state(family, sampler, init):
    corpus = make_corpus(SHAPES["mixed"])
    hyper = HyperParameters(
        "auto", "auto", (1.0, 0.1), "auto", (1.0, 1.0), "auto", (1.0, 0.1), "document",
        PARENTS[family],
    )  # fmt: skip
    words = np.arange(len(corpus.tokens)) % 4
    topics = {"words' topics": words, "given topics": np.full((4, 9), 1 / 9)}.get(init, init)
    chain = TableSampler(corpus, 4, sampler, hyper, topics, [stream(1)], [stream(2)])
    if init == "words' topics":
        np.testing.assert_array_equal(chain.topics, words)
    for _ in range(3):
        n = assert_consistent(corpus, chain.assignments, 4)
        assert_words_counted(corpus, chain.assignments, chain._words, 4)
        if sampler == "ssa":
            assert_seats_agree(chain.assignments, n)
        chain.sweep()


@every_sampler
@every_family
def test_state_of_shards(family, sampler):
    """Their counts of words together are those of the corpus, after every sweep."""
    corpus = make_corpus(SHAPES["mixed"])
    hyper = HyperParameters(
        "auto", "auto", (1.0, 0.1), 0.3, (1.0, 1.0), "auto", (1.0, 0.1), "corpus", PARENTS[family]
    )
    streams = [stream(s) for s in range(3)], [stream(s) for s in range(3, 6)]
    chain = TableSampler(corpus, 4, sampler, hyper, "random", *streams)
    for _ in range(3):
        assert_consistent(corpus, chain.assignments, 4)
        assert_words_counted(corpus, chain.assignments, chain._words, 4)
        chain.sweep()


@every_sampler
def test_chain_that_excludes_the_segment_before_is_the_segmented_model(sampler):
    """One engine: with t never allowed the chain's weights are those of the plain sweep."""
    corpus = make_corpus([[6, 0, 9], [4]], n_words=4)
    means = []
    for family, tiny in (("segmented", 0.0), ("adaptive", 1e-300)):
        chain = Chain(corpus, sampler, family, seed=3)
        chain.prior = chain.prior._replace(to_document=1.0, to_previous=tiny)
        tables = []
        for i in range(4_000):
            chain.sweep()
            if i >= 100:
                tables.append(chain.assignments.tables.sum(axis=1))
        means.append(np.mean(tables, axis=0))
    np.testing.assert_allclose(*means, rtol=0.05)  # standard errors are below 1 %


@pytest.mark.parametrize("discount", [0.0, 0.5])
@every_sampler
def test_words_of_a_segment_share_a_table_where_none_is_opened(sampler, discount):
    """b -> 0: a second table has the weight b + a, times what a topic weighs: b where a = 0."""
    corpus = make_corpus([[40, 0, 13], [25]])
    chain = Chain(
        corpus, sampler, phi=np.full((5, 9), 1 / 9), n_topics=5, concentration=SMALL,
        discount=discount,
    )  # fmt: skip
    chain.sweep()
    n_tables = chain.assignments.segment_tables
    if discount == 0.0:
        np.testing.assert_array_equal(n_tables, [1, 0, 1, 1])
    else:
        assert n_tables.sum() > 3


@every_sampler
def test_every_word_opens_a_table_where_concentration_is_large(sampler):
    corpus = make_corpus([[40, 0, 13], [25]])
    chain = Chain(corpus, sampler, concentration=1e12)
    for _ in range(3):
        chain.sweep()
    np.testing.assert_array_equal(chain.assignments.segment_tables, np.diff(corpus.segment_ptr))


# --- size -----------------------------------------------------------------------------------


@pytest.mark.parametrize("discount", [0.0, 0.5])
@every_sampler
@every_family
def test_segment_of_100_000_words(family, sampler, discount):
    """Its counts are far beyond any table of Stirling ratios."""
    chain = Chain(
        make_corpus([[100_000, 5]]), sampler, family, n_topics=2, discount=discount,
        concentration=5.0,
    )  # fmt: skip
    for _ in range(2):
        chain.sweep()
    assert_sound(chain)
    assert chain.assignments.tables.max() > 2


@every_sampler
@every_family
def test_document_of_5_000_segments(family, sampler):
    chain = Chain(make_corpus([[6] * 5_000]), sampler, family)
    for _ in range(3):
        chain.sweep()
    assert_sound(chain)


# --- scores ---------------------------------------------------------------------------------


def test_score_tokens():
    rng = np.random.default_rng(0)
    segment_topic, components = rng.dirichlet(np.ones(3), size=4), rng.dirichlet(np.ones(6), size=3)
    components = components.astype(np.float32)
    scored = np.array([5, 0, 0, 2], dtype=np.int32)
    segment_of = np.array([0, 0, 3, 1])
    out = np.full(4, 0.25)
    score_tokens(scored, segment_of, segment_topic, components, out)
    expected = 0.25 + np.sum(segment_topic[segment_of] * components.T[scored], axis=1)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
