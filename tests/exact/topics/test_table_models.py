"""Chains of models that count tables against enumeration (exact/oracles/segmented.py).

Problems with fixed and with learned hyper-parameters, seed words, fixed topics and labels.
"""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, check_chain
from exact.oracles.segmented import (
    Problem,
    customers_and_tables,
    log_joint,
    weights_of_document,
    word_counts,
)
from exact.topics.table_models import (
    BURN_IN,
    MODELS,
    SAMPLERS,
    TO_DOCUMENT,
    TO_PREVIOUS,
    UNEQUAL_DOCUMENTS,
    corpus,
    each_with_every_model,
    model,
    mostly_slow,
    of_model,
    posterior_of,
)

from skdp.data import SegmentedCorpus
from skdp.topics import SegmentedTopicModel
from skdp.topics._kernels._btigs import MOST_LISTED

CASES = {
    "no discount": Problem(
        [[[0, 1, 0, 0], [1, 1, 0]]], (0.3, 0.3), 0.0, 0.2, gamma=0.5, n_features=3
    ),
    "one segment": Problem([[[0, 0, 1, 0, 1, 2, 0]]], (0.6, 0.6), 0.5, 1.0, gamma=0.4),
    "long segment": Problem(  # several tables a topic, of different sizes
        [[[0, 0, 0, 0, 0, 0, 1, 1, 1, 1]]], (3.0, 0.3), 0.8, 0.3, gamma=0.4
    ),
    "documents of one segment": Problem(
        [[[0, 0, 1, 0]], [[1, 1, 0]]], (1.2, 0.3), 0.5, 1.0, gamma=0.4, mixing=TO_PREVIOUS
    ),
    "cascade of small tables": Problem(
        [[[1, 1], [], [0, 0, 0, 0]]], (0.5, 0.5), 0.9, 0.2, gamma=0.3, mixing=TO_DOCUMENT
    ),
    # Tables order from tables that order from tables: many words of a topic in a last segment,
    # none or few before.
    "cascade": Problem(
        [[[], [1], [0, 0, 0, 0, 0]]], (1.5, 0.2), 0.5, 5.0, gamma=0.4, mixing=TO_PREVIOUS
    ),
    "three segments": Problem(
        [[[0, 0], [1], [0, 1, 0]]], (0.6, 0.6), 0.5, 1.0, gamma=0.3, mixing=TO_PREVIOUS
    ),
    "leading empty": Problem(
        [[[], [0, 1, 1], [0, 0, 2]]], (0.5, 0.5, 0.5), 0.5, 5.0, gamma=0.2, mixing=TO_DOCUMENT
    ),
    "middle empty": Problem(
        [[[0, 0, 1, 0], [], [1, 2, 2]]], (0.8, 0.8), 0.0, 25.0, gamma=0.3, n_features=4,
        mixing=TO_DOCUMENT,
    ),
    "trailing empty": Problem(
        [[[0, 0, 0], [1, 0], []], [[1, 1], [0]]], (0.5, 0.5), 0.5, 2.0, gamma=0.3
    ),
    "large discount": Problem(
        [[[0, 0, 0, 1], [1, 1]], [[0, 1, 0]]], (0.7, 0.7), 0.9, 0.2, gamma=0.3, mixing=TO_PREVIOUS
    ),
    "asymmetric": Problem([[[0, 0, 1, 0, 0], [1, 1, 0]], []], (1.5, 0.2), 0.5, 0.5, gamma=0.4),
    "three topics": Problem(
        [[[0, 0, 1], [2]], [[0], [], [1, 1]]], (1.4, 0.3, 0.6), 0.9, 1.5, gamma=0.5,
        mixing=TO_PREVIOUS,
    ),
    "four segments": Problem([[[0], [1], [1, 0], [0, 0, 1]]], (0.9, 0.3), 0.5, 1.0, gamma=0.3),
    # Few tables and many words: most words come and go without a table.
    "long segments": Problem(
        [[[0, 1, 0, 1, 1], [0, 1, 0, 0]]], (0.5, 0.7), 0.2, 0.5, gamma=0.3
    ),
    "alternating": Problem([[[0, 0], [1, 1], [0, 0, 0]]], (0.3, 0.3), 0.0, 5.0, gamma=0.1),
    "breaks": Problem(
        [[[0, 0], [1], [0, 1, 0], [0]], [[1], [1, 0]]], (0.9, 0.3), 0.5, 1.0, gamma=0.3,
        mixing=TO_PREVIOUS, breaks=[(2,), (1,)],
    ),
    "empty segments at breaks": Problem(
        [[[0, 1], [], [0, 0, 1], [], [1]]], (0.6, 0.6), 0.0, 4.0, gamma=0.3, mixing=TO_DOCUMENT,
        breaks=[(2, 3)],
    ),
}  # fmt: skip
LIMITS = {
    "infinite concentration": replace(CASES["trailing empty"], concentration=1e8),
    "discount of 1": replace(CASES["trailing empty"], discount=0.99999999),
    "all from the document": replace(CASES["three segments"], mixing=(1e8, 1.0)),
    "all from the previous": replace(CASES["three segments"], mixing=(1.0, 1e8)),
}
HINTS = {
    "seeds": Problem(
        [[[0, 0, 1], [2, 1]], [[2, 0]]], (0.7, 0.7, 0.7), 0.3, 1.5, gamma=0.3,
        seeds=np.array([[0, 2, 0], [0, 0, 0], [2, 0, 2]]),
    ),
    "fixed and seeds": Problem(
        [[[0, 0, 1], [2, 1]], [[2, 0]]], (0.7, 0.7, 0.7), 0.3, 1.5, gamma=0.3,
        seeds=np.array([[0, 0, 0], [0, 2, 0], [0, 0, 0]]), fixed=np.array([[0.6, 0.0, 0.4]]),
    ),
    "labels": Problem(
        [[[0, 0], [2, 1]], [[2, 0]], [[1]]], (0.9, 0.3, 0.6), 0.3, 1.5, gamma=0.4,
        labels=[{0, 1}, None, frozenset([2, 0])],
    ),
    "labels and fixed": Problem(  # which excludes a word of the document that may have it
        [[[0, 0], [2, 1]], [[2, 0]], [[1]]], (0.9, 0.3, 0.6), 0.3, 1.5, gamma=0.4,
        labels=[{0, 1}, None, {2, 0}], fixed=np.array([[0.6, 0.2, 0.2], [0.5, 0.5, 0.0]]),
    ),
}  # fmt: skip

TWO_DOCUMENTS = Problem(
    [[[0, 0, 0, 1], [1, 1]], [[0], [], [1, 0]]], (1.2, 0.3), 0.4, gamma=0.3,
    concentration_prior=(1.5, 0.4), mixing=TO_PREVIOUS,
)  # fmt: skip
ONE_TOPIC, MIXED = [[[0, 0, 0, 0], [1, 1, 1, 1]]], [[[0, 1, 0, 1], [1, 0, 1, 0]]]
LEARNED = {
    "b of segments of one topic": Problem(
        ONE_TOPIC, (3.0, 2.0), 0.0, gamma=0.05, concentration_prior=(1.0, 0.3)
    ),
    "b with breaks": Problem(
        [[[0, 0, 1], [1], [0, 0, 0]], [[1, 1], [0]]], (1.5, 0.4), 0.0, gamma=0.2,
        concentration_prior=(1.0, 0.3), mixing=TO_PREVIOUS, breaks=[(1,), ()],
    ),
    "b with an empty segment": replace(
        CASES["cascade"], concentration=None, concentration_prior=(3.0, 2.0)
    ),
    "b of documents": replace(TWO_DOCUMENTS, scope="document"),
    "b of segments": replace(TWO_DOCUMENTS, scope="segment"),
    "b of unequal documents": replace(UNEQUAL_DOCUMENTS, scope="document"),
    "b of unequal segments": replace(UNEQUAL_DOCUMENTS, scope="segment"),
    "a": Problem(
        [[[0, 0, 0], [], [1, 0, 0]], [[1, 1]]], (1.2, 0.3), None, 0.5, gamma=0.3,
        discount_prior=(2.0, 1.5), mixing=TO_PREVIOUS,
    ),
    "a of segments of one topic": Problem(ONE_TOPIC, (3.0, 2.0), None, 0.3, gamma=0.05),
    "a of mixed segments": Problem(
        MIXED, (3.0, 2.0), None, 0.3, gamma=0.05, mixing=TO_PREVIOUS
    ),
    "large a": Problem(
        [[[0, 1], [0, 0], [0, 1, 1]]], (0.5, 0.5), None, 0.2, gamma=0.2,
        discount_prior=(9.0, 1.0), mixing=TO_DOCUMENT,
    ),
    "a and b": Problem(
        [[[0, 1], [1, 1, 0]]], (0.8, 0.3), gamma=0.4, discount_prior=(1.0, 2.0),
        concentration_prior=(2.0, 0.5),
    ),
    "a, and b of segments": Problem(
        [[[0, 0], [0, 1, 0]], [[], [1]]], (0.8, 0.3), gamma=0.4, discount_prior=(1.0, 2.0),
        concentration_prior=(2.0, 0.5), scope="segment",
    ),
}  # fmt: skip
PROBLEMS = {**CASES, **LIMITS, **HINTS, **LEARNED}
WITH_EVERY_SAMPLER = {
    "segmented": "asymmetric", "sequential": "three segments", "adaptive": "three topics",
}  # fmt: skip
INSTANCES = sorted({
    *each_with_every_model(PROBLEMS),
    *((*pair, sampler) for pair in WITH_EVERY_SAMPLER.items() for sampler in SAMPLERS),
    ("segmented", "large discount", "btigs"),
    ("segmented", "middle empty", "btigs"),
    ("segmented", "middle empty", "cmgs"),
    ("segmented", "three topics", "ssa"),
    *(("adaptive", "cascade", sampler) for sampler in SAMPLERS),
})  # fmt: skip
FAST = [
    ("segmented", "asymmetric", "btigs"),
    ("segmented", "asymmetric", "cmgs"),
    ("sequential", "three segments", "btigs"),
    ("sequential", "three segments", "ssa"),
    ("adaptive", "three topics", "btigs"),
    ("adaptive", "three topics", "cmgs"),
]
AUTO = {"doc_topic_prior": "auto", "topic_word_prior": "auto"}


# --- chains ---------------------------------------------------------------------------------


def is_identified(problem):
    """Topics trade places under a symmetric alpha, unless words have hints."""
    return len(set(problem.alpha)) > 1 or problem.seeds is not None


def check_posterior(problem, sampler, n_sweeps=N_SWEEPS):
    """Compare what a problem's own chain shows of itself to the problem's posterior."""
    expected = posterior_of(problem)
    pairs = np.triu_indices(len(problem.words), 1)
    every = model(problem, sampler=sampler, max_iter=BURN_IN + n_sweeps)
    states = enumerate(islice(every.iter_sweeps(corpus(problem), problem.labels), BURN_IN, None))

    def step():
        i, state = next(states)
        if i % 400 == 0:
            check_state(problem, state)
        tables = np.stack([state.tables_to_document, state.tables_to_previous])
        value = state.log_joint() if i % 40 == 0 else np.nan
        return state.topics.copy(), tables, state.discount, np.array(state.concentration), value

    def compare(topics, tables, a, b, log_joint):
        same = topics[:, pairs[0]] == topics[:, pairs[1]]
        yield same, expected.coassignment[pairs], "P(z_i = z_j)"
        both = np.stack([expected.tables_to_document, expected.tables_to_previous])
        yield tables.sum(axis=3), both.sum(axis=2), "E[tables of segments]"
        yield log_joint[::40], expected.log_joint, "E[log joint]"
        if is_identified(problem):
            yield topics[:, :, None] == np.arange(len(problem.alpha)), expected.topics, "P(z_i = k)"
            yield tables, both, "E[tables]"
        if problem.discount is None:
            yield a, expected.discount, "E[a]"
        if problem.concentration is None:
            yield b, expected.concentration, "E[b]"
        if problem.model == "adaptive":
            weights = mixing_weights(problem, tables)
            yield weights, expected.weight_of_document, "E[weight of the document]"

    check_chain(step, compare, n_sweeps)


def mixing_weights(problem, tables):
    """Expected weight of the document given the tables, (n_sweeps, n_segments)."""
    s, t = np.moveaxis(tables.sum(axis=3), 1, 0)
    return np.hstack([
        weights_of_document(problem, problem.firsts(d), s[:, i:j], t[:, i:j])
        for d, (i, j) in enumerate(problem.ranges)
    ])  # fmt: skip


@pytest.mark.parametrize(("model_name", "case", "sampler"), mostly_slow(INSTANCES, FAST))
def test_posterior(model_name, case, sampler):
    check_posterior(of_model(PROBLEMS[case], model_name), sampler)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_posterior_of_long_segments(sampler):
    """400,000 sweeps: words that come and go without a table change little of what others see."""
    check_posterior(of_model(CASES["long segments"], "adaptive"), sampler, n_sweeps=400_000)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_more_topics_than_are_listed(sampler):
    """With one word in the vocabulary the posterior is the prior, whose means are known.

    Two words of a segment sit at one table with probability (1 - a) / (1 + b), and two tables of a
    document have one dish with probability (1 + alpha) / (1 + K alpha). The longer segment has so
    many topics at times that the sampler does not list them, the shorter one never has.
    """
    n_topics, alpha, a, b, lengths = 40, 0.5, 0.4, 8.0, np.array([5, 60])
    data = SegmentedCorpus.from_documents([[[0] * n for n in lengths]], n_features=1)
    estimator = SegmentedTopicModel(
        n_topics, sampler=sampler, discount=a, concentration=b, topic_word_prior=0.3,
        doc_topic_prior=np.full(n_topics, alpha), max_iter=BURN_IN + N_SWEEPS, random_state=0,
    )  # fmt: skip
    n_tables = np.zeros(2)
    for i in range(60):
        n_tables += np.where(i < lengths, (b + a * n_tables) / (b + i), 0.0)
    same_table, same_dish = (1 - a) / (1 + b), (1 + alpha) / (1 + n_topics * alpha)
    within = same_table + (1 - same_table) * same_dish
    states = islice(estimator.iter_sweeps(data), BURN_IN, None)

    def step():
        state = next(states)
        short, long = (
            np.bincount(topics, minlength=n_topics) for topics in np.split(state.topics, [5])
        )
        pairs = [short @ (short - 1) / 20, long @ (long - 1) / (60 * 59), short @ long / 300]
        return np.array(pairs), state.tables_to_document.sum(axis=1), np.count_nonzero(long)

    def compare(together, tables, n_present):
        assert 0.2 < np.mean(n_present > MOST_LISTED) < 0.98
        return [(together, [within, within, same_dish], "co-assignments"), (tables, n_tables, "")]

    check_chain(step, compare)


@pytest.mark.slow
def test_words_speak_of_what_is_learned():
    """Otherwise the posterior and the prior could not be told apart by the means above."""
    for name in MODELS:
        of = {case: posterior_of(of_model(problem, name)) for case, problem in LEARNED.items()}
        assert of["a of segments of one topic"].discount < 0.45
        assert of["a of mixed segments"].discount > 0.6
        documents = of["b of unequal documents"].concentration
        segments = of["b of unequal segments"].concentration
        assert (documents.shape, segments.shape) == ((2,), (3,))
        prior_mean = 1.0 / 0.3
        assert documents[0] + 0.09 < prior_mean < documents[1] - 0.5
        assert segments[1] + 0.5 < prior_mean < segments[2] - 0.5
    # The third segment takes the first one's topic up again. The mean of the prior is .5.
    alternating = posterior_of(of_model(CASES["alternating"], "adaptive"))
    assert alternating.weight_of_document[2] > 0.52


# --- single states --------------------------------------------------------------------------


def check_state(problem, state):
    """Check a state's constraints and log joint; return the problem with what the state learned."""
    s, t = np.array(state.tables_to_document), np.array(state.tables_to_previous)
    n = word_counts(problem, state.topics)
    assert s.shape == t.shape == n.shape
    assert min(s.min(initial=0), t.min(initial=0)) >= 0
    for d, (i, j) in enumerate(problem.ranges):
        customers, tables = customers_and_tables(n[i:j], s[i:j], t[i:j])
        assert np.all(tables <= customers)
        assert np.all((tables == 0) == (customers == 0))
        is_first = np.isin(np.arange(j - i), problem.firsts(d))
        assert not t[i:j][is_first].any()
        assert problem.model != "sequential" or not s[i:j][~is_first].any()
    assert problem.model != "segmented" or not t.any()
    assert all(n[j, [k not in labels for k in range(n.shape[1])]].sum() == 0
               for j, labels in enumerate(problem.allowed))  # fmt: skip
    assert 0.0 <= state.discount < 1.0
    now = replace(
        problem,
        alpha=tuple(state.doc_topic_prior),
        gamma=float(state.topic_word_prior),
        discount=float(state.discount),
        concentration=concentration_of_segments(problem, state.concentration),
    )
    expected = log_joint(now, state.topics, s, t)
    assert state.log_joint() == pytest.approx(expected, rel=1e-10, abs=1e-10)
    return now


def concentration_of_segments(problem, concentration):
    n_segments = np.diff(problem.doc_ptr)
    shapes = {"corpus": (), "document": n_segments.shape, "segment": (n_segments.sum(),)}
    assert np.shape(concentration) == shapes[problem.scope]
    if problem.scope == "document":
        return np.repeat(concentration, n_segments)
    return np.broadcast_to(concentration, n_segments.sum())


def check_states(problem, n_sweeps, **params):
    """Check the states of a short chain; return the problem at each of them."""
    states = model(problem, max_iter=n_sweeps, **params).iter_sweeps(
        corpus(problem), problem.labels
    )
    return [check_state(problem, state) for state in states]


STATES = [each for each in INSTANCES if each[2] == "btigs"] + [
    ("adaptive", "three segments", "btigs"),
    ("adaptive", "three topics", "ssa"),
    ("sequential", "three segments", "cmgs"),
    ("sequential", "three topics", "btigs"),
    ("segmented", "b of unequal segments", "btigs"),
    ("segmented", "a and b", "btigs"),
]


@pytest.mark.parametrize(("model_name", "case", "sampler"), dict.fromkeys(STATES))
def test_states(model_name, case, sampler):
    """A state is consistent and knows its joint, and the priors are learned from it."""
    problem = of_model(PROBLEMS[case], model_name)
    check_states(problem, 40, sampler=sampler)
    found = check_states(problem, 40, sampler=sampler, **AUTO)
    assert len({(x.alpha, x.gamma, x.discount, x.concentration.tobytes()) for x in found}) > 30


@pytest.mark.parametrize("init", ["lda", np.ones((3, 3))], ids=["lda", "array"])
@pytest.mark.parametrize("case", HINTS)
def test_first_states(case, init):
    check_states(HINTS[case], 20, init=init)


def test_shares_obey_labels():
    problem = HINTS["labels"]
    is_allowed = np.array([[k in labels for k in range(3)] for labels in problem.allowed])
    fitted = model(problem, max_iter=30, **AUTO).fit(corpus(problem), problem.labels)
    assert (fitted.doc_topic_[~is_allowed[[0, 2, 3]]] == 0.0).all()
    assert (fitted.segment_topic_[~is_allowed] == 0.0).all()
    np.testing.assert_allclose(fitted.doc_topic_.sum(axis=1), 1.0)


def test_samplers_take_different_trajectories():
    for name in MODELS:
        problem, trajectories = of_model(CASES["three topics"], name), set()
        for sampler in SAMPLERS:
            states = model(problem, sampler=sampler, max_iter=50).iter_sweeps(corpus(problem))
            trajectories.add(b"".join(state.topics.tobytes() for state in states))
        assert len(trajectories) == 3


@pytest.mark.parametrize("scope", ["corpus", "document", "segment"])
@pytest.mark.parametrize("name", MODELS)
def test_fitted_values_are_means_over_kept_sweeps(name, scope):
    problem = replace(LEARNED["a, and b of segments"], scope=scope, model=name, mixing=TO_PREVIOUS)
    X, params = corpus(problem), {"max_iter": 100, "burn_in": 40, "thin": 1}
    fitted = model(problem, **params).fit(X)
    states = islice(model(problem, **params).iter_sweeps(X), 40, None)
    a, b, tables = map(np.array, zip(*[
        (state.discount, np.array(state.concentration),
         np.stack([state.tables_to_document, state.tables_to_previous]))
        for state in states
    ], strict=True))  # fmt: skip
    assert isinstance(fitted.discount_, float)
    assert fitted.discount_ == pytest.approx(a.mean(), rel=1e-9)
    assert len(np.unique(a)) > 30
    assert np.shape(fitted.concentration_) == b.shape[1:]
    np.testing.assert_allclose(fitted.concentration_, b.mean(axis=0), rtol=1e-9)
    if name == "adaptive":
        expected = mixing_weights(problem, tables).mean(axis=0)
        np.testing.assert_allclose(fitted.segment_mixing_, expected, rtol=1e-6)
        assert np.all(fitted.segment_mixing_[[0, 2]] == 1.0)  # first segments have no other parent
