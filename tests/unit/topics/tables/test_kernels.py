"""Kernels of table models: counts that agree, lists of tables, levels, splits and merges."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skdp._numeric._numba import njit
from skdp._numeric._random import derive_stream
from skdp._numeric._simd import padded
from skdp.data import SegmentedCorpus
from skdp.topics import SegmentedTopicModel
from skdp.topics._kernels._hdp import Division
from skdp.topics._kernels._left_to_right import enter_levels
from skdp.topics._kernels._open_moves import Blocks, seat_anchors, sweep_sides
from skdp.topics._kernels._ssa import LONG_WALK, take_seat
from skdp.topics._kernels._sweeps import SAMPLERS
from skdp.topics._shared._arrays import flat
from skdp.topics._tables import _open_sampler as _open_moves
from skdp.topics._tables._model import empty_levels, stirling_ratios, writable
from skdp.topics._tables._sampler import HyperParameters, TableSampler

PARENTS = {"segmented": (1.0, 0.0), "sequential": (0.0, 1.0), "adaptive": (1.5, 0.7)}
every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)
KINDS = [(family, sampler) for family in PARENTS for sampler in SAMPLERS]
every_kind = pytest.mark.parametrize(("family", "sampler"), KINDS)
SMALL, LARGE = 1e-8, 1e8


def stream(*seed):
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


def make_corpus(lengths, n_words=9, seed=0):
    """Return a corpus whose documents' segments have the given lengths."""
    rng = np.random.default_rng(seed)
    documents = [[rng.integers(0, n_words, n) for n in document] for document in lengths]
    return SegmentedCorpus.from_documents(documents, n_words)


def make_sampler(
    corpus, sampler="btigs", family="segmented", *, n_topics=3, alpha=0.5, gamma=0.3, discount=0.4,
    concentration=2.0, scope="corpus", init="random", n_shards=1,
):  # fmt: skip
    if not isinstance(alpha, str):
        alpha = np.broadcast_to(np.array(alpha, dtype=float), n_topics).copy()
    if isinstance(init, str) and init == "given topics":
        init = np.full((n_topics, corpus.n_features), 1 / corpus.n_features)
    hyper = HyperParameters(
        alpha, gamma, (1.0, 0.1), discount, (1.0, 1.0), concentration, (1.0, 0.1), scope,
        PARENTS[family],
    )  # fmt: skip
    streams = ([stream(i, s) for s in range(n_shards)] for i in (1, 2))
    return TableSampler(corpus, n_topics, sampler, hyper, init, *streams)


def assert_consistent(corpus, assignments, n_topics):
    """Compare all counts to those made from topics and tables; return the customers N_jk."""
    lengths = np.diff(corpus.segment_ptr)
    assert np.all((assignments.topics >= 0) & (assignments.topics < n_topics))
    n = np.zeros((len(lengths), n_topics), dtype=int)
    np.add.at(n, (np.repeat(np.arange(len(lengths)), lengths), assignments.topics), 1)
    tables = assignments.tables.copy()
    assert_array_equal(assignments.segment_tables, tables.sum(axis=1))
    in_document = np.zeros((len(corpus), n_topics), dtype=int)
    document_of = np.repeat(np.arange(len(corpus)), np.diff(corpus.doc_ptr))
    np.add.at(in_document, document_of, tables)
    assert_array_equal(assignments.document_tables, in_document)
    if len(assignments.to_previous):
        previous = assignments.to_previous
        assert_array_equal(assignments.segment_to_previous, previous.sum(axis=1))
        assert not np.any(previous[np.unique(flat(corpus).part_begin)])
        n[:-1] += previous[1:]
        tables += previous
    assert np.all(tables <= n)
    assert_array_equal(tables == 0, n == 0)
    return n


def assert_words_counted(corpus, assignments, words, n_topics):
    counts = np.zeros((corpus.n_features, padded(n_topics)))
    np.add.at(counts, (corpus.tokens, assignments.topics), 1)
    assert_array_equal(words.counts, counts)
    assert_array_equal(words.totals, counts.sum(axis=0))


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


def assert_sound(chain, corpus):
    n = assert_consistent(corpus, chain.assignments, chain.n_topics)
    assert_words_counted(corpus, chain.assignments, chain._words, chain.n_topics)
    if chain.sampler == "ssa" and len(chain.shards) == 1:
        assert_seats_agree(chain.assignments, n)
    assert not any(np.any(scratch.n_k) for scratch in chain._scratch)


MIXED = make_corpus([[5, 0, 1, 30], [], [0], [0, 0, 7], [1], [200], [1, 1, 1]])
PARTS = make_corpus([[30, 5, 20, 0, 8], [], [0, 9], [40]]).with_parts([[2, 3], [], [1], []])
CORPORA = {
    "mixed": MIXED,
    "one word": make_corpus([[1]]),
    "one-word documents": make_corpus([[1]] * 20),
    "parts": PARTS,
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


@pytest.mark.parametrize(
    ("model", "name", "family", "sampler"),
    [
        (model, name, list(PARENTS)[(i + j) % 3], list(SAMPLERS)[(i // 3 + j) % 3])
        for i, model in enumerate(MODELS)
        for j, name in enumerate(CORPORA)
    ],
)
def test_state_after_sweeps(model, name, family, sampler):
    corpus, init = CORPORA[name], "random" if name == "mixed" else "given topics"
    chain = make_sampler(corpus, sampler, family, init=init, **MODELS[model])
    for _ in range(20 if name == "parts" else 4):
        assert_sound(chain, corpus)
        chain.sweep()


TOPICS = np.arange(len(MIXED.tokens)) % 4


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize(("family", "sampler"), KINDS)
def test_state_with_learned_parameters(family, sampler, n_shards):
    """Counts of words of shards together are those of the corpus."""
    chain = make_sampler(
        MIXED, sampler, family, n_topics=4, alpha="auto", gamma="auto", discount="auto",
        concentration="auto", scope="document" if n_shards == 1 else "corpus",
        init=TOPICS if n_shards == 1 else "random", n_shards=n_shards,
    )  # fmt: skip
    if n_shards == 1:
        assert_array_equal(chain.topics, TOPICS)
    later = np.setdiff1d(np.arange(len(MIXED.segment_ptr) - 1), MIXED.doc_ptr[:-1])
    for _ in range(3):
        assert_sound(chain, MIXED)
        if family == "sequential":
            assert not chain.assignments.tables[later].any()
        chain.sweep()


@pytest.mark.parametrize(
    ("concentration", "discount", "expected"),
    [(SMALL, 0.0, [1, 0, 1, 1]), (1e12, 0.4, [40, 0, 13, 25])],
)
@every_sampler
def test_numbers_of_tables(sampler, concentration, discount, expected):
    """All words of a segment share a table, or each has its own."""
    corpus = make_corpus([[40, 0, 13], [25]])
    chain = make_sampler(
        corpus, sampler, init="given topics", concentration=concentration, discount=discount
    )
    chain.sweep()
    assert_array_equal(chain.assignments.segment_tables, expected)


@pytest.mark.parametrize(
    ("family", "sampler", "discount"),
    [("segmented", "btigs", 0.5), ("sequential", "cmgs", 0.0), ("adaptive", "ssa", 0.5)],
)
def test_long_segments(family, sampler, discount):
    """The counts of a segment may be far beyond any table of Stirling ratios."""
    corpus = make_corpus([[100_000, 5]])
    chain = make_sampler(corpus, sampler, family, n_topics=2, discount=discount, concentration=5.0)
    chain.sweep()
    assert_sound(chain, corpus)
    assert chain.assignments.tables.max() > 2


def test_read_only_ratios_are_copied():
    """Another process gets arrays that it may not write to, as patches are when they are filled."""
    ratios = stirling_ratios(MIXED, 0.5, chained=False)
    assert writable(ratios) is ratios
    ratios.values.flags.writeable = False
    copy = writable(ratios)
    assert copy.values.flags.writeable
    assert_array_equal(copy.values, ratios.values)


N_TABLES = 3 * LONG_WALK
DISCOUNT = 0.3


@njit
def take(target, heads, links, sizes):
    take_seat(0, 0, target, DISCOUNT, heads, links, sizes)


def in_order(heads, links):
    seats, seat = [], heads[0, 0]
    while seat >= 0:
        seats.append(int(seat))
        seat = links[seat]
    return seats


def test_a_table_far_down_moves_to_the_head():
    """Each table of SSA is chosen at its share of the running sum, in any order."""
    rng = np.random.default_rng(0)
    order = rng.permutation(N_TABLES)
    sizes = rng.integers(1, 50, N_TABLES).astype(np.int32)
    heads = np.full((1, 1), order[0], dtype=np.int32)
    links = np.empty(N_TABLES, dtype=np.int32)
    links[order] = np.append(order[1:], -1)
    for position in [*rng.integers(0, N_TABLES, 200), LONG_WALK - 1, LONG_WALK, N_TABLES - 1]:
        before, old_sizes = in_order(heads, links), sizes.copy()
        ends = np.cumsum(sizes[before] - DISCOUNT)
        seat = before[position]
        take(ends[position] - 0.5 * (1.0 - DISCOUNT), heads, links, sizes)
        old_sizes[seat] += 1
        assert_array_equal(sizes, old_sizes)
        rest = [other for other in before if other != seat]
        expected = before if position < LONG_WALK else [seat, *rest]
        assert in_order(heads, links) == expected


@njit
def enter(j, corpus, assignments, prior, ratios, levels):
    enter_levels(j, corpus, assignments, prior, ratios, levels)


def levels_above(j, corpus, chain, assignments, prior):
    """Return the levels above segment `j`, as the left-to-right likelihood enters them."""
    levels = empty_levels(flat(make_corpus([[1] * 5])), chain.n_topics, chained=True)
    enter(np.int64(j), flat(corpus), assignments, prior, chain._weights, levels)
    return levels


@pytest.mark.parametrize("family", ["sequential", "adaptive"])
def test_levels_of_a_part_are_those_of_the_part_alone(family):
    whole = make_corpus([[9, 4, 7, 0, 5]]).with_parts([[2]])
    chain = make_sampler(whole, "btigs", family)
    for _ in range(5):
        chain.sweep()
    state, first = chain.assignments, 2
    of_segments = ("tables", "segment_tables", "to_previous", "segment_to_previous")
    alone = state._replace(
        topics=state.topics[whole.segment_ptr[first] :],
        **{name: getattr(state, name)[first:] for name in of_segments},
    )
    prior = chain._prior(0)
    found = levels_above(4, whole, chain, state, prior)
    prior = prior._replace(concentration=prior.concentration[first:])
    expected = levels_above(2, make_corpus([[7, 0, 5]]), chain, alone, prior)
    assert expected.fixed_part[:2].max() > 0.1
    for name, one, other in zip(found._fields, found, expected, strict=True):
        assert_array_equal(one, other, err_msg=name)


# --- splits and merges of topics


@pytest.mark.parametrize("discount", [0.0, 0.6])
def test_seats(discount):
    """Five words at two tables: each seating with its probability."""
    model = SegmentedTopicModel("auto", discount=discount, init=np.ones((1, 1)), random_state=0)
    gibbs = next(model.iter_sweeps([[[0] * 5]]))._sampler
    state = gibbs.shards[0]
    state.topics[:], state.tables[:], state.document_tables[:] = 0, 0, 0
    state.tables[0, 0] = state.document_tables[0, 0] = 2
    arguments = gibbs._corpora[0], gibbs.shards[0], gibbs._prior(0), gibbs._stirling
    n = 8000
    alone = pairs = 0
    for _ in range(n):
        seats = _open_moves.seat([0], *arguments, gibbs.streams[0])
        sizes = np.bincount(seats.table)
        assert_array_equal(sizes, seats.size)
        assert len(sizes) == 2
        alone += sizes.min() == 1
        pairs += seats.table[0] == seats.table[4]
    # 5 seatings with tables of 1 and 4 words, 10 with 2 and 3: each table of m has the
    # weight (1 - a) (2 - a) ... (m - 1 - a).
    ones = 5 * np.prod(np.arange(1, 4) - discount)
    twos = 10 * np.prod(np.arange(1, 3) - discount) * (1 - discount)
    assert alone / n == pytest.approx(ones / (ones + twos), abs=0.02)
    expected = (ones * 0.6 + twos * 0.4) / (ones + twos)
    assert pairs / n == pytest.approx(expected, abs=0.02)


@njit
def sweep_of_sides(pair, blocks, division, stream):
    """Seat the pair, and replay the other blocks' sides."""
    seat_anchors(3, pair, blocks, division)
    return sweep_sides(3, False, True, pair, blocks, 0.3, division, stream)


def test_weights_of_blocks():
    """Draws of one block's side are as probable as they are said to be."""
    blocks = Blocks(np.array([0, 1, 2, 6]), np.array([0, 1, 0, 0, 1, 0]), np.array([0, 1, 2]))
    division = Division(
        members=np.arange(3),
        sides=np.zeros(3, np.int8),
        found=np.zeros(3, np.int8),
        bound=np.zeros(2, np.int8),
        priors=np.array([0.8, 0.5, 1.3]),
        log_shares=np.zeros(2),
        side_counts=np.zeros((2, 2)),
        side_totals=np.zeros(2),
    )
    pair, stream = np.array([0, 1]), derive_stream(np.random.SeedSequence(0), 0)
    weights = []
    for side in range(2):
        counts = np.array([0.3, 0.3])
        counts[side] += 1.0
        weight = division.priors[side]
        for w in (0, 0, 1, 0):
            weight *= counts[w] / counts.sum()
            counts[w] += 1.0
        weights.append(weight)
    for side in range(2):
        division.side_counts[:] = 0.0
        division.side_totals[:] = 0.0
        division.found[2] = side
        seat_pair_and_replay = sweep_of_sides(pair, blocks, division, stream)
        assert np.exp(seat_pair_and_replay) == pytest.approx(weights[side] / sum(weights))
