"""Table models with an inferred number of topics against all partitions of five words.

By batch means (see `batch_means`): |z| < 5 for at most 90 quantities of each of 30 cases, a false
alarm for one in 30 choices of the seeds; these are fixed. Partitions of less than 1 in 200 are
taken together: too few visits to tell their spread.
"""

from dataclasses import replace
from functools import cache
from itertools import cycle

import numpy as np
import pytest
from exact.oracles import open_segmented
from exact.oracles.batch_means import check_chain
from exact.oracles.open_segmented import Problem

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.data import SegmentedCorpus
from skdp.processes._top_level import TopPriors
from skdp.topics._tables import _open_sampler
from skdp.topics._tables._open_sampler import FirstTopLevel, OpenTableSampler
from skdp.topics._tables._sampler import HyperParameters

PARENTS = {"segmented": (1.0, 0.0), "adaptive": (0.7, 1.4)}
PROBLEMS = {
    "two documents": Problem([[[0, 0], [1]], [[1, 0]]], 2),
    "discount": Problem(
        [[[0, 0, 1], []], [[1], [0]]], 2, alpha=0.7, gamma=2.5, discount=0.5, concentration=0.8
    ),
    "chain": Problem([[[0], [1, 0]], [[0], [], [1]]], 2, discount=0.3, concentration=1.0),
    "one document": Problem([[[0, 1, 0], [2, 0]]], 3, alpha=2.0, gamma=1.5, concentration=5.0),
}
BREAKS = {"breaks": Problem([[[0], [1], [0, 1]], [[0], [1]]], 2, discount=0.3, breaks=[(2,), (1,)])}
SAMPLERS = ["btigs", "cmgs", "ssa"]
KNOWN = TopPriors(None, None)
RARE = 0.005


def make_chain_sampler(
    problem, sampler="btigs", priors=KNOWN, init="random", n_shards=1, n_topics=2, most=None
):
    root = make_seed_sequence(0)
    corpus = SegmentedCorpus.from_documents(problem.documents, n_features=problem.n_words)
    if problem.breaks is not None:
        corpus = corpus.with_parts(problem.breaks)
    hyper = HyperParameters(
        "auto", problem.eta, (1.0, 0.1), problem.discount, (1.0, 1.0), problem.concentration,
        (1.0, 0.1), "corpus", problem.mixing if problem.model == "adaptive" else (1.0, 0.0),
    )  # fmt: skip
    return OpenTableSampler(
        corpus, n_topics, sampler, hyper, FirstTopLevel(problem.alpha, problem.gamma, priors), most,
        init, [derive_stream(root, Role.INIT, s) for s in range(n_shards)],
        [derive_stream(root, Role.SWEEP, s) for s in range(n_shards)],
    )  # fmt: skip


@cache
def exact(name, model, most):
    return open_segmented.posterior(of_model(name, model), most)


def of_model(name, model):
    return replace((PROBLEMS | BREAKS)[name], model=model, mixing=PARENTS[model])


def in_order(labels):
    """Return a partition with its topics named in the order of their first words."""
    names = {}
    return tuple(names.setdefault(int(k), len(names)) for k in labels)


def take_together(columns, expected):
    """Return the columns of common partitions, and the sum of the others."""
    rare = expected < RARE
    return np.concatenate(
        [columns[..., ~rare], columns[..., rare].sum(axis=-1, keepdims=True)], axis=-1
    )


@pytest.fixture(autouse=True)
def no_moves(monkeypatch):
    """Words alone move topics, unless a test proposes splits and merges."""
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", 0)


def check(name, sampler="btigs", model="segmented", most=None, n_sweeps=16_000):
    problem = of_model(name, model)
    every, expected, of_segments = exact(name, model, most)
    index = {labels: i for i, labels in enumerate(every)}
    gibbs = make_chain_sampler(problem, sampler, n_topics=min(2, most or 2), most=most)
    numbers = np.array([max(labels) + 1.0 for labels in every])
    together = np.array([np.equal.outer(labels, labels) for labels in every], dtype=float)

    def step():
        gibbs.sweep()
        assert gibbs.n_topics == gibbs.topics.max() + 1 == len(gibbs.weights)
        state = gibbs.state()
        assert in_order(state.topics) in index
        tables = state.tables_to_document, state.tables_to_previous
        return index[in_order(state.topics)], np.stack([t.sum(axis=1) for t in tables], axis=-1)

    def compare(found, tables):
        draws = take_together(np.eye(len(every))[found], expected)
        yield draws, take_together(expected, expected), "partitions"
        yield numbers[found], expected @ numbers, "topics"
        yield together[found], np.tensordot(expected, together, 1), "words in one topic"
        yield tables, of_segments, "tables"

    check_chain(step, compare, n_sweeps)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_two_documents(sampler):
    check("two documents", sampler, n_sweeps=8000)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_at_most_two_topics(sampler):
    """A partition of more topics is not in the index."""
    check("one document", sampler, most=2, n_sweeps=8000)


KINDS = [(model, name, sampler) for model in PARENTS for name in PROBLEMS for sampler in SAMPLERS]
BOUNDS = [(None, 0), (None, 5), (2, 2), (1, 2), (3, 2)]
"""The largest number of topics, and that of proposed splits and merges."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "name", "sampler", "most", "n_moves"),
    [(*kind, *BOUNDS[(i + j) % 5]) for i, kind in enumerate(KINDS) for j in (0, 1)]
    + [("segmented", "one document", "btigs", 2, 2), ("adaptive", "breaks", "ssa", None, 2)],
)
def test_partitions(model, name, sampler, most, n_moves, monkeypatch):
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", n_moves)
    check(name, sampler, model, most)


@pytest.mark.parametrize(
    ("model", "name", "sampler"),
    [("segmented", "two documents", "btigs"), ("adaptive", "chain", "ssa")],
)
def test_splits_and_merges(model, name, sampler, monkeypatch):
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", 3)
    check(name, sampler, model, n_sweeps=6000)


@pytest.mark.parametrize("by_topic", [False, True])
@pytest.mark.parametrize("forgets", [False, True])
def test_each_kind_of_move(forgets, by_topic, monkeypatch):
    """However blocks are divided, and words picked: each leaves the posterior as it is."""
    coins = cycle([forgets, by_topic])
    monkeypatch.setattr(_open_sampler.moves, "toss", lambda rng: next(coins))
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", 3)
    check("one document", n_sweeps=6000)


@pytest.mark.parametrize("share", [0.6, 1e-3])
def test_any_threshold_will_do(share, monkeypatch):
    """Few topics take part in a sweep, and many documents stay as they are; or nearly all do."""
    monkeypatch.setattr(_open_sampler, "SMALLEST_TABLE", share)
    check("two documents", n_sweeps=12_000)


def test_prior_of_a_sweep_sums_to_alpha(monkeypatch):
    """Topics that take no part keep their weight, whether they have words or not."""
    monkeypatch.setattr(_open_sampler, "SMALLEST_TABLE", 0.6)
    gibbs, n_light = make_chain_sampler(PROBLEMS["two documents"]), 0
    for _ in range(50):
        gibbs.sweep()
        n_light += np.count_nonzero(gibbs.weights <= gibbs.least_weight)
        gibbs._open_columns(gibbs.streams[0])
        assert gibbs.doc_topic_prior.sum() == pytest.approx(gibbs.document_concentration)
        gibbs.doc_topic_prior = gibbs.document_concentration * gibbs.weights
    assert n_light > 0


def test_topics_keep_their_weights_where_gaps_are_closed():
    """Topic 2 moves to the place of topic 0, which has no words."""
    gibbs = make_chain_sampler(PROBLEMS["one document"])
    gibbs._words.totals[:3] = 0.0, 3.0, 2.0
    gibbs._close_gaps(np.array([0.4, 0.3, 0.2]))
    assert gibbs.weights.tolist() == [0.2, 0.3]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_learned_concentrations(sampler):
    problem, priors = PROBLEMS["two documents"], TopPriors((2.0, 1.5), (1.5, 1.0))
    expected = open_segmented.mean_concentrations(problem, (2.0, 1.5), (1.5, 1.0))
    gibbs = make_chain_sampler(problem, sampler, priors)

    def step():
        gibbs.sweep()
        return np.array([gibbs.document_concentration, gibbs.top_concentration, gibbs.n_topics])

    check_chain(step, lambda draws: [(draws, expected, "concentrations, topics")], 16_000)


@pytest.mark.parametrize("model", PARENTS)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", [*PROBLEMS, *BREAKS])
def test_log_joint(name, sampler, model):
    problem = of_model(name, model)
    gibbs = make_chain_sampler(problem, sampler)
    for _ in range(20):
        gibbs.sweep()
        state = gibbs.state()
        expected = open_segmented.log_joint(
            problem, tuple(state.topics), state.tables_to_document, state.tables_to_previous,
            gibbs.weights, gibbs.rest,
        )  # fmt: skip
        assert gibbs.log_joint() == pytest.approx(expected, rel=1e-10)
