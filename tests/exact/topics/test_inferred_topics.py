"""Models with an inferred number of topics against all partitions of five or six words.

HDPTopicModel, and models that count tables; with seed words, fixed topics, and labels. Partitions
of less than 1 in 200 are taken together: too few visits to tell their spread.
"""

from dataclasses import replace
from functools import cache
from itertools import cycle, product

import numpy as np
import pytest
from exact.oracles import hdp_topics, open_segmented
from exact.oracles.batch_means import assert_means, check_chain
from exact.oracles.open_segmented import Problem
from exact.topics.table_models import SAMPLERS, mostly_slow
from scipy.special import gammaln

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.data import SegmentedCorpus
from skdp.processes._partitions import TopPriors, draw_top_concentration
from skdp.topics._given_topics import TopicsCheck
from skdp.topics._kernels import _hdp as moves
from skdp.topics._lda._hdp import HDPSampler
from skdp.topics._shared._arrays import FixedTopics, LabeledCorpus, Seeds, WordPrior
from skdp.topics._shared._bursts import Bursts
from skdp.topics._tables import _open_sampler
from skdp.topics._tables._open_sampler import FirstTopLevel, OpenTableSampler
from skdp.topics._tables._sampler import HyperParameters

HDP = {
    "two": Problem([[[0, 0, 1]], [[2, 0]]], 3, model="hdp"),
    "one": Problem([[[0, 1, 0, 2, 1]]], 3, model="hdp"),
    "three": Problem([[[0, 1]], [[1, 2, 0]], [[2]]], 3, model="hdp"),
}
TABLES = {
    "two documents": Problem([[[0, 0], [1]], [[1, 0]]], 2),
    "discount": Problem(
        [[[0, 0, 1], []], [[1], [0]]], 2, alpha=0.7, gamma=2.5, discount=0.5, concentration=0.8
    ),
    "chain": Problem([[[0], [1, 0]], [[0], [], [1]]], 2, discount=0.3, concentration=1.0),
    "one document": Problem([[[0, 1, 0], [2, 0]]], 3, alpha=2.0, gamma=1.5, concentration=5.0),
}
BREAKS = {"breaks": Problem([[[0], [1], [0, 1]], [[0], [1]]], 2, discount=0.3, breaks=[(2,), (1,)])}
SEEDED = Problem(
    [[[0, 0], [1]], [[2, 0]]], 3, gamma=1.6, discount=0.2, concentration=1.5,
    seeds=((0, 2, 0), (2, 0, 2)),
)  # fmt: skip
LABELED = replace(SEEDED, documents=[[[0, 0], [1]], [[2], [0]], [[1]]], labels=[None, {0, 1}, {1}])
HINTS = {
    "seeds": SEEDED,
    "fixed": replace(SEEDED, fixed=((0.6, 0.0, 0.4),), seeds=()),
    "fixed and seeds": replace(SEEDED, fixed=((0.6, 0.0, 0.4),), seeds=((0, 2, 0),)),
    "labels and seeds": LABELED,
    "labels and fixed": replace(LABELED, fixed=((0.6, 0.0, 0.4), (0.2, 0.7, 0.1)), seeds=()),
    "all": replace(LABELED, fixed=((0.6, 0.1, 0.3),), seeds=((0, 2, 0),)),
}
KNOWN = TopPriors(None, None)
LEARNED = (2.0, 1.5), (1.5, 1.0)
RARE = 0.005


@cache
def of_model(name, model):
    mixing = (0.7, 1.4) if model == "adaptive" else (1.0, 0.0)
    return replace((TABLES | BREAKS | HINTS)[name], model=model, mixing=mixing)


@cache
def with_concentrations(problem, alpha, gamma):
    return replace(problem, alpha=alpha, gamma=gamma)


posterior_of = cache(open_segmented.posterior)  # problems compare by identity


def prior_of_words(problem):
    n_fixed, seeds = len(problem.fixed), None
    if problem.seeds:
        of_topics, of_words = np.nonzero(np.array(problem.seeds))
        seeds = Seeds(of_topics + n_fixed, of_words, int(np.max(problem.seeds)), problem.n_words)
    return WordPrior(problem.eta, seeds, FixedTopics(np.array(problem.fixed)) if n_fixed else None)


def make_sampler(
    problem, sampler="btigs", priors=KNOWN, init="random", most=None, n_shards=1, level="document"
):
    root = make_seed_sequence(0)
    documents = [problem.segments] if level == "segment" else problem.documents
    X = SegmentedCorpus.from_documents(documents, n_features=problem.n_words)
    if problem.breaks is not None:
        X = X.with_parts(problem.breaks)
    if problem.labels is not None:
        labels = TopicsCheck(None, "document", problem.n_known, {}, True)(problem.labels, X)
        X = LabeledCorpus(X, labels)
    n_topics = min(max(2, problem.n_known + 1), most or 3)
    of_words, of_eta = prior_of_words(problem), (1.0, 0.1)
    if problem.model == "hdp":
        bursts = None
        if problem.bursts is not None:
            bursts = Bursts(problem.bursts[1], LEARNED[0], problem.bursts[0])
        return HDPSampler(
            X, n_topics, level, problem.alpha, problem.gamma, priors, of_words, of_eta, init, True,
            most, derive_stream(root, Role.INIT), derive_stream(root, Role.SWEEP),
            bursts,
        )  # fmt: skip
    hyper = HyperParameters(
        "auto", of_words, of_eta, problem.discount, (1.0, 1.0), problem.concentration, (1.0, 0.1),
        "corpus", problem.mixing,
    )  # fmt: skip
    top = FirstTopLevel(problem.alpha, problem.gamma, priors)
    streams = (
        [derive_stream(root, role, s) for s in range(n_shards)] for role in (Role.INIT, Role.SWEEP)
    )
    bursts = None
    if problem.bursts is not None:
        bursts = Bursts(problem.bursts[1], LEARNED[0], problem.bursts[0])
    return OpenTableSampler(X, n_topics, sampler, hyper, top, most, init, *streams, bursts=bursts)


@pytest.fixture(autouse=True)
def no_moves(monkeypatch):
    """Models that count tables propose no splits and merges, unless a test lets them."""
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", 0)


def in_order(labels, n_known):
    """Return a partition with its new topics named in the order of their first words."""
    names = {k: k for k in range(n_known)}
    return tuple(names.setdefault(int(k), len(names)) for k in labels)


def take_together(columns, expected):
    """Return the columns of common partitions, and the sum of the others."""
    rare = expected < RARE
    return np.concatenate(
        [columns[..., ~rare], columns[..., rare].sum(axis=-1, keepdims=True)], axis=-1
    )


def sweep(chain):
    chain.sweep()


def check(problem, chain, n_sweeps, most=None, step=sweep):
    """Compare the partitions of a chain, and its tables, to the posterior.

    A partition that labels or `most` exclude is not in the index.
    """
    every, expected, of_segments = posterior_of(problem, most)
    index, n_known = {labels: i for i, labels in enumerate(every)}, problem.n_known
    numbers = np.array([max(labels) + 1.0 for labels in every])
    together = np.array([np.equal.outer(labels, labels) for labels in every], dtype=float)
    known = np.array(every)[:, :, None] == np.arange(n_known)

    def next_state():
        step(chain)
        assert chain.n_topics == max(chain.topics.max() + 1, n_known) == len(chain.weights)
        assert chain.weights.sum() + chain.rest == pytest.approx(1.0)
        labels = in_order(chain.topics, n_known)
        assert labels in index
        if problem.model == "hdp":
            return index[labels], np.nan
        state = chain.state()
        tables = state.tables_to_document, state.tables_to_previous
        return index[labels], np.stack([t.sum(axis=1) for t in tables], axis=-1)

    def compare(found, tables):
        draws = take_together(np.eye(len(every))[found], expected)
        yield draws, take_together(expected, expected), "partitions"
        yield numbers[found], expected @ numbers, "topics"
        yield together[found], np.tensordot(expected, together, 1), "words in one topic"
        if n_known:
            yield known[found], np.tensordot(expected, known, 1), "known topics"
        if problem.model != "hdp":
            yield tables, of_segments, "tables"

    check_chain(next_state, compare, n_sweeps)


# --- hierarchical Dirichlet processes -------------------------------------------------------


def words(chain):
    chain._draw_topics()
    chain._draw_weights()


def split_merge(chain):
    """Several moves, then weights, which the next ones depend on."""
    chain._divide_topics(3)
    chain._draw_weights()


STEPS = {"words": words, "split-merge": split_merge, "both": sweep}
KINDS = {"each": moves.EACH, "by-node": moves.BY_NODE, "by-word": moves.BY_WORD}


def check_hdp(name, step, n_sweeps, alpha=1.3, gamma=0.8, most=None, level="document"):
    problem = with_concentrations(HDP[name], alpha, gamma)
    chain = make_sampler(problem, most=most, level=level)
    chain._propose_moves()  # makes room for them
    check(problem, chain, n_sweeps, most, STEPS[step])


@pytest.mark.parametrize("step", ["words", "split-merge"])
def test_hdp(step):
    check_hdp("two", step, 8000)


@pytest.mark.parametrize("most", [2, 3])
def test_hdp_with_a_bound(most):
    check_hdp("two", "words", 8000, gamma=2.5, most=most)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "step", "most"),
    [
        (name, list(STEPS)[(i + j) % 3], most)
        for i, name in enumerate(HDP)
        for j, most in enumerate([2, None, 1, 3])
    ]
    + [("two", "split-merge", 2)],
)
def test_hdp_long(name, step, most):
    check_hdp(name, step, 40_000, alpha=0.7, gamma=2.5, most=most)


BURSTS = {
    "plain": replace(HDP["two"], documents=[[[0, 0, 1]], [[2, 0, 0]]], bursts=(0.0, 0.8)),
    "discount": replace(HDP["two"], documents=[[[0, 0, 0, 1]], [[0]]], bursts=(0.5, 0.6)),
    "hints": replace(HINTS["all"], model="hdp", bursts=(0.2, 0.8)),
    "seeds": replace(SEEDED, model="hdp", bursts=(0.0, 0.8)),
}


@pytest.mark.parametrize(
    ("name", "step"), mostly_slow(product(BURSTS, STEPS), [("plain", "words"), ("plain", "both")])
)
def test_hdp_with_bursts(name, step):
    """Moves divide the tables of words, which keep their customers; sweeps draw the tables."""
    problem = BURSTS[name]
    chain = make_sampler(problem)
    chain._propose_moves()

    def with_tables(chain):
        if step == "split-merge":  # which leaves the seats as they are
            words(chain)
        STEPS[step](chain)

    check(problem, chain, 12_000, None, with_tables)


@pytest.mark.parametrize(
    ("name", "n"),
    mostly_slow([("two", 1), ("three", 2), ("plain", 1), ("discount", 1)], [("two", 1)]),
)
def test_hdp_of_a_stream(name, n):
    """The last document comes again after two of it have left; a sweep draws it, and one of the
    others at random.
    """
    problem = {**HDP, **BURSTS}[name]
    last = [*problem.documents[n:], *problem.documents[n:]]
    chain = make_sampler(replace(problem, documents=[*last, *problem.documents[:n]]))
    for _ in range(3):
        chain.sweep()
    chain = chain.extended(
        make_sampler(problem)._whole, sum(len(words) for segments in last for words in segments)
    )
    check(problem, chain, 16_000)


def test_evidence_of_more_words_in_a_topic():
    """One word after the other, each given those before it."""
    problem = of_model("all", "hdp")
    chain = make_sampler(problem)
    chain.sweep()
    own = np.full((chain.n_topics + 1, problem.n_words), problem.eta)
    own[1] += problem.seeds[0]
    np.add.at(own, (chain.topics, [w for words in problem.segments for w in words]), 1.0)
    own[0], more, logs = problem.fixed[0], [0, 1, 2, 1, 0], np.zeros(len(own))
    for w in more:
        logs += np.log(own[:, w] / own.sum(axis=1))
        own[1:, w] += 1.0
    found = chain._log_evidence_of(np.bincount(more, minlength=3).astype(float))
    np.testing.assert_allclose(found, logs, rtol=1e-6)


def test_hdp_with_bursts_and_no_room(monkeypatch):
    """Every new topic ends the kernel, in the middle of a document."""
    whole = HDPSampler._top_level

    def with_one_free_column(sampler):
        top = whole(sampler)
        top.columns[1] = 0
        return top

    monkeypatch.setattr(HDPSampler, "_top_level", with_one_free_column)
    problem = replace(BURSTS["plain"], gamma=2.5)
    chain = make_sampler(problem)
    chain._propose_moves()
    check(problem, chain, 8000, None, words)


BURSTS_OF_SEGMENTS = {
    "two documents": replace(of_model("two documents", "segmented"), bursts=(0.0, 0.8)),
    "discounts": replace(
        of_model("discount", "segmented"),
        documents=[[[0, 0, 0], []], [[0], [1]]],
        bursts=(0.4, 0.5),
    ),
    "chain": replace(of_model("chain", "adaptive"), bursts=(0.2, 0.8)),
    "hints": replace(of_model("all", "segmented"), bursts=(0.2, 0.8)),
}


@pytest.mark.parametrize(
    ("name", "sampler", "most"),
    mostly_slow(
        [
            (name, sampler, most)
            for i, name in enumerate(BURSTS_OF_SEGMENTS)
            for sampler, most in ((SAMPLERS[i % 3], None), ("btigs", 3))
        ],
        [("two documents", "btigs", None)],
    ),
)
def test_bursts_of_segments(name, sampler, most):
    problem = BURSTS_OF_SEGMENTS[name]
    chain = make_sampler(problem, sampler, most=most)
    check(problem, chain, 12_000, most)


@pytest.mark.slow
def test_segments_as_nodes():
    check_hdp("three", "both", 8000, level="segment")


def test_sweeps_that_stop_for_room(monkeypatch):
    """With one free column, every new topic ends the kernel, in the middle of a document."""
    whole = HDPSampler._top_level

    def with_one_free_column(sampler):
        top = whole(sampler)
        top.columns[1] = 0
        return top

    monkeypatch.setattr(HDPSampler, "_top_level", with_one_free_column)
    check_hdp("two", "words", 8000, gamma=2.5)


@pytest.mark.parametrize(
    ("kind", "by_topic"), mostly_slow(product(KINDS, [False, True]), [("each", True)])
)
def test_each_kind_of_move_of_hdp(kind, by_topic, monkeypatch):
    """However words are divided, and places picked: each leaves the posterior as it is."""
    monkeypatch.setattr(moves, "draw_kind", lambda rng: KINDS[kind])
    monkeypatch.setattr(moves, "toss", lambda rng: by_topic)
    check_hdp("two", "split-merge", 8000, gamma=1.6)


@pytest.mark.parametrize("labels", [(0, 0, 0, 0, 0), (0, 1, 0, 1, 1), (0, 0, 1, 0, 1)])
def test_density_of_weights(labels):
    """Integrated over the weights, the oracle's joint is that of the franchise.

    Gauss's rule is exact here: a gamma of 2 makes the integrand a polynomial, for each topic's
    rising factorials have a factor beta_k that cancels with that of the density.
    """
    problem = with_concentrations(HDP["two"], 1.3, 2.0)
    nodes, node_weights = np.polynomial.legendre.leggauss(12)
    nodes, node_weights = 0.5 * (nodes + 1.0), 0.5 * node_weights
    total = 0.0
    for v, v_weight in zip(nodes, node_weights, strict=True):
        for share, share_weight in zip(nodes, node_weights, strict=True):
            # beta_u = 1 - v; the topics share v.
            weights = [v] if max(labels) == 0 else [v * share, v * (1.0 - share)]
            size = v_weight * share_weight * (v if max(labels) else 1.0)
            total += size * np.exp(
                open_segmented.log_joint(problem, labels, None, None, np.array(weights), 1.0 - v)
            )
    expected = hdp_topics.prior_of_partition([[0, 0, 1], [2, 0]], labels, 1.3, 2.0)
    expected *= open_segmented.words_factor(problem, labels)
    assert total == pytest.approx(expected, rel=1e-9)


def hdp_of_many_words(rng, n_documents):
    documents = [[rng.integers(0, 3, 40).tolist()] for _ in range(n_documents)]
    chain = make_sampler(Problem(documents, 3, model="hdp"))
    chain._propose_moves()
    return chain


@pytest.mark.parametrize("kind", ["each", "by-node"])
def test_a_merge_is_a_split_reversed(kind):
    """On the same stream, with hundreds of words; what is proposed is weighed by the joint."""
    sampler = hdp_of_many_words(np.random.default_rng(0), 12)
    division, stream, tokens = sampler._division, sampler.streams[0], sampler._whole.tokens
    for _ in range(5):
        words(sampler)
        sampler._make_room()
        a = int(sampler.topics[0])
        pair = np.flatnonzero(sampler.topics == a)[[0, -1]]
        weight, saved = float(sampler.weights[a]), stream.copy()
        rest = (sampler._node_of, sampler.concentration * weight, 0.4, 0.8, None, division)
        before = sampler.log_joint()
        n = moves.list_members(sampler.topics, a, a, division)
        forth = moves.log_acceptance(n, KINDS[kind], False, 0.0, 0.0, pair, tokens, *rest, stream)
        shares, b = division.log_shares.copy(), sampler.n_topics
        moves.rename_members(n, False, a, b, tokens, sampler.topics, *sampler._words[:2], division)
        sampler._close_gaps(np.append(sampler.weights, 0.0))
        sampler.weights[[a, b]] = weight * np.exp(shares)
        assert moves.list_members(sampler.topics, a, b, division) == n
        log_q = sampler.log_joint() - before + np.log(weight) - forth
        back = moves.log_acceptance(n, KINDS[kind], True, *shares, pair, tokens, *rest, saved)
        assert forth == pytest.approx(-back, rel=1e-10)
        moves.log_acceptance(n, KINDS[kind], True, *shares, pair, tokens, *rest, stream.copy())
        assert np.array_equal(division.sides[:n], division.found[:n])  # whatever is drawn
        assert log_q < 5.0  # a density of the shares, and a probability of the sides
        assert not division.side_counts.any()
        assert not division.side_totals.any()


def test_a_division_by_word_is_as_likely_as_it_is_found():
    """A proposal for a topic has the same weight if it is found in two topics."""
    rng = np.random.default_rng(0)
    sampler = hdp_of_many_words(rng, 3)
    division, stream, tokens = sampler._division, sampler.streams[0], sampler._whole.tokens
    sampler.topics[:] = 0
    n, possible = moves.list_members(sampler.topics, 0, 0, division), 0
    for _ in range(30):
        pair = rng.choice(n, 2, replace=False)
        division.log_shares[:] = np.log(0.5)
        division.priors[:] = 0.5, 0.5, 1.0
        rest = (pair, tokens, sampler._node_of, 0.4, None, division, stream)
        forth = moves.divide_by_word(n, False, *rest)
        division.side_counts[:], division.side_totals[:] = 0.0, 0.0
        if forth == -np.inf:
            continue
        possible += 1
        division.found[:n] = division.sides[:n]
        back = moves.divide_by_word(n, True, *rest)
        division.side_counts[:], division.side_totals[:] = 0.0, 0.0
        assert forth == pytest.approx(back, rel=1e-10)
        assert np.array_equal(division.found[:n], division.sides[:n])
        assert not division.bound.any()
    assert possible > 5


# --- models that count tables ---------------------------------------------------------------


def check_tables(name, sampler="btigs", model="segmented", most=None, n_sweeps=16_000):
    problem = of_model(name, model)
    check(problem, make_sampler(problem, sampler, most=most), n_sweeps, most)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_two_documents(sampler):
    check_tables("two documents", sampler, n_sweeps=8000)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_at_most_two_topics(sampler):
    check_tables("one document", sampler, most=2, n_sweeps=8000)


ORDERS = [(m, case, s) for m in ("segmented", "adaptive") for case in TABLES for s in SAMPLERS]
BOUNDS = [(None, 0), (None, 5), (2, 2), (1, 2), (3, 2)]
"""The largest number of topics, and that of proposed splits and merges."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "case", "sampler", "most", "n_moves"),
    [(*order, *BOUNDS[i % 5]) for i, order in enumerate(ORDERS)]
    + [("segmented", "one document", "btigs", 2, 2), ("adaptive", "breaks", "ssa", None, 2)],
)
def test_table_models(model, case, sampler, most, n_moves, monkeypatch):
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", n_moves)
    check_tables(case, sampler, model, most)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "case", "sampler"),
    [("segmented", "two documents", "btigs"), ("adaptive", "chain", "ssa")],
)
def test_splits_and_merges(model, case, sampler, monkeypatch):
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", 3)
    check_tables(case, sampler, model, n_sweeps=6000)


@pytest.mark.slow
@pytest.mark.parametrize("by_topic", [False, True])
@pytest.mark.parametrize("forgets", [False, True])
def test_each_kind_of_move(forgets, by_topic, monkeypatch):
    """However blocks are divided, and words picked: each leaves the posterior as it is."""
    coins = cycle([forgets, by_topic])
    monkeypatch.setattr(_open_sampler.moves, "toss", lambda rng: next(coins))
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", 3)
    check_tables("one document", n_sweeps=6000)


@pytest.mark.parametrize("share", [0.6, 1e-3])
def test_any_threshold_will_do(share, monkeypatch):
    """Few topics take part in a sweep, and many documents stay as they are; or nearly all do."""
    monkeypatch.setattr(_open_sampler, "SMALLEST_TABLE", share)
    check_tables("two documents", n_sweeps=12_000)


def test_prior_of_a_sweep_sums_to_alpha(monkeypatch):
    """Topics that take no part keep their weight, whether they have words or not."""
    monkeypatch.setattr(_open_sampler, "SMALLEST_TABLE", 0.6)
    chain, n_light = make_sampler(of_model("two documents", "segmented")), 0
    for _ in range(50):
        chain.sweep()
        n_light += np.count_nonzero(chain.weights <= chain.least_weight)
        chain._open_columns(chain.streams[0])
        assert chain.doc_topic_prior.sum() == pytest.approx(chain.document_concentration)
        chain.doc_topic_prior = chain.document_concentration * chain.weights
    assert n_light > 0


def test_topics_keep_their_weights_where_gaps_are_closed():
    """Topic 2 moves to the place of topic 0, which has no words."""
    chain = make_sampler(of_model("one document", "segmented"))
    chain._words.totals[:3] = 0.0, 3.0, 2.0
    chain._close_gaps(np.array([0.4, 0.3, 0.2]))
    assert chain.weights.tolist() == [0.2, 0.3]


# --- seed words, fixed topics, and labels ---------------------------------------------------

HINTED = [
    ("hdp", "seeds", "btigs", None),
    ("hdp", "fixed and seeds", "btigs", None),
    ("hdp", "all", "btigs", None),
    ("hdp", "seeds", "btigs", 2),
    ("hdp", "labels and seeds", "btigs", 3),
    ("hdp", "fixed", "btigs", 2),
    ("hdp", "labels and fixed", "btigs", None),
    ("segmented", "seeds", "btigs", None),
    ("segmented", "fixed", "cmgs", 3),
    ("segmented", "fixed and seeds", "ssa", None),
    ("segmented", "labels and seeds", "cmgs", None),
    ("segmented", "all", "btigs", None),
    ("adaptive", "seeds", "ssa", 3),
    ("adaptive", "fixed", "btigs", None),
    ("adaptive", "labels and fixed", "ssa", None),
    ("adaptive", "all", "cmgs", 3),
]


@pytest.mark.parametrize(
    ("model", "case", "sampler", "most"), mostly_slow(HINTED, [*HINTED[:3], HINTED[7]])
)
def test_hints(model, case, sampler, most, monkeypatch):
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", 3)
    problem = of_model(case, model)
    check(problem, make_sampler(problem, sampler, most=most), 8000, most)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "by_topic"), [("hdp", True), ("segmented", False), ("segmented", True)]
)
def test_moves_with_seeds(model, by_topic, monkeypatch):
    """Most topics have no seeds, and the first place of a pair is any, or of a random topic."""
    monkeypatch.setattr(_open_sampler, "MOST_MOVES", 5)
    coins = cycle([True, by_topic])
    monkeypatch.setattr(_open_sampler.moves, "toss", lambda rng: next(coins))
    monkeypatch.setattr(moves, "toss", lambda rng: True)
    seeds = ((0, 1 if model == "hdp" else 2, 0),)
    problem = replace(of_model("seeds", model), gamma=4.0, seeds=seeds)
    check(problem, make_sampler(problem), 10_000)


@pytest.mark.parametrize(
    ("model", "case", "init", "n_shards"),
    [("hdp", case, init, 1) for case in HINTS for init in ("random", "array")]
    + [("segmented", case, "random", 1) for case in [*TABLES, *BREAKS, *HINTS]]
    + [("adaptive", case, "array", 1) for case in [*TABLES, *BREAKS, *HINTS]]
    + [("segmented", case, "array", 2) for case in HINTS],
)
def test_states(model, case, init, n_shards):
    """A state knows its joint, and words and shares obey labels."""
    problem = of_model(case, model)
    first = np.ones((3, problem.n_words)) if init == "array" else init
    for sampler in SAMPLERS if model != "hdp" else [None]:
        chain = make_sampler(problem, sampler, init=first, n_shards=n_shards)
        for _ in range(20):
            check_labels_of(problem, chain)
            if n_shards == 1:
                assert chain.log_joint() == pytest.approx(log_joint_of(problem, chain), rel=1e-10)
            chain.sweep()


def log_joint_of(problem, chain):
    tables = None, None
    if problem.model != "hdp":
        state = chain.state()
        tables = state.tables_to_document, state.tables_to_previous
    return open_segmented.log_joint(
        problem, tuple(chain.topics), *tables, chain.weights, chain.rest
    )


def check_labels_of(problem, chain):
    doc_topic, segment_topic, *_ = chain.shares().values()
    np.testing.assert_allclose(doc_topic.sum(axis=1), 1.0)
    if problem.labels is None:
        return
    assert {*chain.topics[3:5]} <= {0, 1}
    assert chain.topics[5] == 1
    assert np.all(doc_topic[1, 2:] == 0.0)
    assert doc_topic[2, 1] == pytest.approx(1.0)
    if problem.model != "hdp":
        assert np.all(segment_topic[2:4, 2:] == 0.0)
        assert segment_topic[4, 1] == pytest.approx(1.0)


# --- learned concentrations -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "case", "sampler", "most"),
    [
        ("hdp", "two", "words", None),
        ("hdp", "seeds", "both", None),
        ("segmented", "two documents", "btigs", None),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in [
                ("hdp", "two", "both", None),
                ("hdp", "two", "both", 2),
                ("segmented", "two documents", "cmgs", None),
                ("segmented", "two documents", "ssa", None),
                ("segmented", "seeds", "btigs", None),
            ]
        ),
    ],
)
def test_learned_concentrations(model, case, sampler, most):
    problem = HDP[case] if case in HDP else of_model(case, model)
    expected = open_segmented.mean_concentrations(problem, *LEARNED, most)
    chain = make_sampler(problem, sampler, TopPriors(*LEARNED), most=most)
    if model == "hdp":
        chain._propose_moves()

    def step():
        STEPS.get(sampler, sweep)(chain)
        alpha = chain.concentration if model == "hdp" else chain.document_concentration
        return np.array([alpha, chain.top_concentration, chain.n_topics])

    check_chain(step, lambda draws: [(draws, expected, "concentrations, topics")], 16_000)


def test_top_concentration():
    """Given tables, draws have the mean of gamma^(K - G) / (gamma + G)_m times the prior."""
    tables, draws, gamma = np.array([0, 3, 2, 1]), np.empty(8000), 1.0
    stream = derive_stream(make_seed_sequence(0), Role.SWEEP)
    for i in range(len(draws)):
        draws[i] = gamma = draw_top_concentration(tables, 2, gamma, (1.5, 0.8), stream)
    grid = np.exp(np.linspace(-12.0, 6.0, 20_001))
    log_density = 3.5 * np.log(grid) - 0.8 * grid + gammaln(grid + 2.0) - gammaln(grid + 8.0)
    weights = np.exp(log_density)
    assert_means(draws, (weights @ grid) / weights.sum(), "gamma")
