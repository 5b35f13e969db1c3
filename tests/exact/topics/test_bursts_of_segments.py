"""Bursts in models of segments against enumeration (exact/oracles/bursts.py).

Words repeat in and across the segments of a document; documents share words; one has one word.
"""

from dataclasses import replace
from functools import cache
from itertools import islice, product

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means, check_chain
from exact.oracles.bursts import SegmentedProblem, enumerate_tables_of_words, factor_of_tables
from exact.oracles.enumeration import rising
from exact.oracles.segmented import Problem, log_joint
from exact.topics.table_models import (
    MODELS,
    PHI,
    SAMPLERS,
    TO_PREVIOUS,
    corpus,
    estimators,
    fold_in_of,
    model,
    mostly_slow,
    observed_half,
    of_model,
    posterior_of,
)

from skdp.data import SegmentedCorpus
from skdp.topics._kernels._left_to_right import copy_particle
from skdp.topics._shared._fold_in import split_words
from skdp.topics._tables._model import empty_particles

BURN_IN, N_SWEEPS = 400, 12_000
REPEATS = [[[0, 0], [0, 1]], [[0, 1]]]
CASES = {
    "repeats": SegmentedProblem(
        REPEATS, (0.7, 0.3), 0.0, 1.5, gamma=0.4, n_features=3, mixing=TO_PREVIOUS
    ),
    "discounts": SegmentedProblem(
        [[[0, 0, 0], [], [0]], [[0]]], (0.7, 0.3), 0.3, 0.8, gamma=0.4, n_features=2,
        bursts=(0.5, 0.5), mixing=TO_PREVIOUS,
    ),
    "of segments": SegmentedProblem(
        REPEATS, (0.7, 0.3), 0.4, 1.5, gamma=0.4, n_features=3, bursts=(0.3, 0.5),
        mixing=TO_PREVIOUS, unit="segment",
    ),
    "three topics": SegmentedProblem(
        [[[0, 0], [0]], [[1, 0]]], (0.7, 0.3, 0.5), 0.2, 1.5, gamma=0.4, bursts=(0.0, 0.4)
    ),
    "breaks": SegmentedProblem(
        [[[0], [0, 0], [1]], [[0]]], (0.7, 0.3), 0.3, 0.8, gamma=0.4, breaks=[(2,), ()],
        mixing=TO_PREVIOUS,
    ),
    "one word": SegmentedProblem(
        [[[0, 0], [0, 0]], [[0]]], (0.7, 0.3), 0.3, 0.8, gamma=0.4, bursts=(0.2, 1.5)
    ),
    "pairs": SegmentedProblem(  # words that come and go without a table
        [[[0, 1], [1, 0], [0, 2]]], (2.0, 2.5), 0.0, 0.4, gamma=2.0, bursts=(0.0, 8.0)
    ),
    "seeds": SegmentedProblem(
        REPEATS, (0.7, 0.3), 0.0, 1.5, gamma=0.4, n_features=3,
        seeds=np.array([[0, 2, 0], [0, 0, 0]]),
    ),
    "fixed": SegmentedProblem(
        REPEATS, (0.7, 0.3), 0.0, 1.5, gamma=0.4, n_features=3, fixed=np.array([[0.5, 0.0, 0.5]])
    ),
    "labels": SegmentedProblem(
        REPEATS, (0.7, 0.3, 0.5), 0.0, 1.5, gamma=0.4, n_features=3, bursts=(0.3, 0.8),
        labels=[{1, 2}, {0, 1}],
    ),
    "learned": SegmentedProblem(
        [[[0, 0, 0], [1, 0]], [[0]]], (0.7, 0.3), 0.0, 1.5, gamma=0.4, bursts=(None, None)
    ),
}  # fmt: skip
INSTANCES = [
    (name, case, SAMPLERS[(i + j) % 3])
    for i, case in enumerate(CASES)
    for j, name in enumerate(MODELS)
] + [(name, "repeats", sampler) for name in MODELS for sampler in SAMPLERS]
FAST = [("segmented", "repeats", "btigs"), ("adaptive", "of segments", "cmgs")]
tables_of_words = cache(enumerate_tables_of_words)


def bursts_of(problem) -> dict:
    a, b = ("auto" if value is None else value for value in problem.bursts)
    return {
        "burst_concentration": b, "burst_discount": a, "burst_scope": problem.unit,
        "burst_concentration_prior": problem.bursts_prior,
    }  # fmt: skip


@pytest.mark.parametrize(("model_name", "case", "sampler"), mostly_slow(sorted({*INSTANCES}), FAST))
def test_posterior(model_name, case, sampler):
    problem = of_model(CASES[case], model_name)
    expected, of_words = posterior_of(problem), tables_of_words(problem)
    every = model(problem, sampler=sampler, max_iter=BURN_IN + N_SWEEPS, **bursts_of(problem))
    states = islice(every.iter_sweeps(corpus(problem), problem.labels), BURN_IN, None)

    def step():
        state = next(states)
        tables = np.stack([state.tables_to_document, state.tables_to_previous])
        learned = state.burst_discount, np.log(state.burst_concentration)
        return state.topics.copy(), tables, state._sampler.word_counts.copy(), np.array(learned)

    def compare(topics, tables, words, learned):
        yield topics[:, :, None] == np.arange(len(problem.alpha)), expected.topics, "P(z_i = k)"
        yield topics[:, :, None] == topics[:, None], expected.coassignment, "P(z_i = z_j)"
        both = np.stack([expected.tables_to_document, expected.tables_to_previous])
        yield tables, both, "E[tables]"
        yield words, of_words.tables, "E[t_kw]"
        if case == "learned":
            both = np.array([of_words.discount, of_words.log_concentration])
            yield learned, both, "E[a], E[log b]"

    check_chain(step, compare, N_SWEEPS)


@pytest.mark.parametrize(
    "model_name", ["segmented", pytest.param("adaptive", marks=pytest.mark.slow)]
)
def test_limit(model_name):
    """With an infinite concentration every word has a table of its own, and there are no bursts."""
    plain = Problem(REPEATS, (0.7, 0.3), 0.0, 1.5, gamma=0.4, n_features=3, model=model_name)
    every = model(plain, max_iter=BURN_IN + N_SWEEPS, burst_concentration=1e8)
    states = islice(every.iter_sweeps(corpus(plain)), BURN_IN, None)
    expected = posterior_of(plain)

    def step():
        state = next(states)
        assert state._sampler.word_counts.sum() == len(plain.words)
        return state.topics.copy()

    def compare(topics):
        yield topics[:, :, None] == topics[:, None], expected.coassignment, "P(z_i = z_j)"

    check_chain(step, compare, N_SWEEPS)


@pytest.mark.parametrize("case", ["discounts", pytest.param("of segments", marks=pytest.mark.slow)])
def test_log_joint(case):
    """The density of a state is that of its topics, tables of segments, and seats of words."""
    problem = of_model(CASES[case], "adaptive")
    bursts = {**bursts_of(problem), "max_iter": 40}
    (a, b), shown = problem.bursts, set()
    unit_of = problem.segment_of_token
    if problem.unit == "document":
        unit_of = np.searchsorted(problem.doc_ptr, unit_of, side="right") - 1
    given = replace(problem, phi=np.ones((2, problem.n_words)), bursts=(0.0, 1e12))
    for state in model(problem, **bursts).iter_sweeps(corpus(problem)):
        z, seats = state.topics.tolist(), state._sampler.shards[0].seats.tolist()
        sizes: dict = {}
        for table in zip(unit_of, z, problem.words, seats, strict=True):
            sizes[table] = sizes.get(table, 0) + 1
        tables, value = np.zeros((2, problem.n_words), dtype=int), 0.0
        for (_, k, w, _), m in sizes.items():
            tables[k, w] += 1
            value += np.log(rising(1.0 - a, m - 1))
        for unit, k in set(zip(unit_of, z, strict=True)):
            of_topic = [m for table, m in sizes.items() if table[:2] == (unit, k)]
            value += np.log(rising(b, len(of_topic), a) / rising(b, sum(of_topic)))
        value += np.log(factor_of_tables(problem, tables))
        value += log_joint(given, z, state.tables_to_document, state.tables_to_previous)
        np.testing.assert_allclose(state.log_joint(), value, rtol=1e-9)
        shown.add(len(sizes))
    assert len(shown) > 1


PREDICTED = SegmentedProblem(
    [[[0, 0, 0, 1], [0, 2, 1]]], (0.7, 0.3, 0.5), 0.3, 1.5, phi=PHI, bursts=(0.4, 0.8),
    mixing=TO_PREVIOUS,
)  # fmt: skip
SHARP = SegmentedProblem(  # particles are resampled
    [[[0, 0, 0, 0], [1, 1, 1, 0, 0]]], (1.0, 0.7), 0.2, 0.5,
    phi=np.array([[0.95, 0.05], [0.05, 0.95]]), bursts=(0.2, 0.4), mixing=TO_PREVIOUS,
)  # fmt: skip
UNITS = "document", "segment"


@pytest.mark.parametrize(
    ("model_name", "unit", "case"),
    mostly_slow(
        product(MODELS, UNITS, ["three topics", "sharp"]),
        [("segmented", "document", "three topics")],
    ),
)
def test_predictions(model_name, unit, case):
    """Given topics, the words of a document predict others, and its probability is unbiased."""
    problem = SHARP if case == "sharp" else PREDICTED
    problem = replace(problem, model=model_name, unit=unit)
    X = corpus(problem)
    _, scored, segment_of = split_words(X)
    (halves,) = observed_half(X)

    def evidence(segments):
        return fold_in_of(replace(problem, documents=[segments]))[0].log_evidence

    expected, without = 0.0, evidence(halves)
    for w, j in zip(scored.tolist(), segment_of.tolist(), strict=True):
        more = [[*words, w] if i == j else words for i, words in enumerate(halves)]
        expected += evidence(more) - without
    whole = evidence(problem.documents[0])
    scores, ratios = [], []
    for estimator in estimators(problem, n_iter=4000, **bursts_of(problem)):
        scores.append(estimator.score_samples(X)[0])
        estimator._models = estimator._models * 60
        ratios.append(np.exp(estimator.log_likelihood(X, n_particles=5)[0] - whole))
    assert_means(np.array(scores), expected, "score", resolution=1e-4)
    assert_means(np.array(ratios), 1.0, "estimate / p(w)", resolution=1e-6)


@pytest.mark.parametrize("unit", UNITS)
def test_further_words_given_a_state(unit):
    """Pilots are judged by the words that they have not seen."""
    problem = replace(CASES["discounts"], model="adaptive", unit=unit)
    every = model(problem, max_iter=20, **bursts_of(problem)).iter_sweeps(corpus(problem))
    sampler = list(every)[-1]._sampler
    sums, (a, b) = sampler.empty_sums(), problem.bursts
    sampler.add_to(sums)
    groups = np.array(problem.segment_of_token)
    unit_of = np.arange(4) if unit == "segment" else np.array([0, 0, 0, 1])
    segments, words = (x.ravel() for x in np.indices((4, 2)))
    expected = np.zeros(8)
    for i, (j, w) in enumerate(zip(segments, words, strict=True)):
        inside = unit_of[groups] == unit_of[j]
        for k, share in enumerate(sums["segment_topic"][j]):
            of_topic = inside & (sampler.topics == k)
            own = of_topic & (sampler._whole.tokens == w)
            n, seats = of_topic.sum(), sampler.shards[0].seats
            n_tables, n_own = len({*seats[of_topic]}), len({*seats[own]})
            repeats = own.sum() - a * n_own
            new = (b + a * n_tables) * sampler.components()[k, w]
            expected[i] += share * (repeats + new) / (b + n)
    order, found = np.random.default_rng(0).permutation(8), np.zeros(8)
    sampler.score_words(words[order].astype(np.int32), segments[order], found)
    np.testing.assert_allclose(found, expected[order], rtol=1e-5)
    np.testing.assert_allclose(expected.reshape(4, 2).sum(axis=1), 1.0, rtol=1e-9)


def test_particles_are_copied_whole():
    X = corpus(PREDICTED)
    stored = model(replace(PREDICTED, phi=None, gamma=0.4)).fit(X)._models[0]
    drawn = np.random.default_rng(0)
    particles = empty_particles(2, X, stored.prior(2), 1, len(X.tokens), chained=True)
    for array in particles[:-2]:  # not the weights
        array[:] = drawn.integers(0, 9, array.shape)
    copy_particle.py_func(0, 1, len(X.tokens), 2, particles)
    for array in particles[:-2]:
        np.testing.assert_array_equal(array[0], array[1])


def test_shards_keep_count():
    """Counts of topics are those of the tables after sweeps of shards, too."""
    rng = np.random.default_rng(0)
    documents = [
        [(rng.zipf(1.6, 50).clip(max=12) - 1).tolist() for _ in range(3)] for _ in range(6)
    ]
    X = SegmentedCorpus.from_documents(documents, 12)
    topics = []
    for n_jobs in (1, 3):  # shards see the words as they were before the sweep
        every = MODELS["adaptive"](
            3, n_shards=3, n_jobs=n_jobs, burst_concentration="auto", burst_discount="auto",
            max_iter=10, random_state=0,
        )  # fmt: skip
        for state in every.iter_sweeps(X):
            sampler = state._sampler
            counts = sampler._words.counts.copy()
            assert counts.sum() < len(X.tokens)
            sampler._count_words()
            np.testing.assert_array_equal(sampler._words.counts, counts)
        topics.append(state.topics.copy())
    np.testing.assert_array_equal(*topics)
