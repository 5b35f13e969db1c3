"""Latent Dirichlet allocation with bursts against enumeration (exact/oracles/bursts.py)."""

from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from exact.oracles.batch_means import assert_means, check_chain
from exact.oracles.bursts import Problem, enumerate_bursts, predictive
from scipy.special import gammaln, logsumexp

from skdp.data import SegmentedCorpus
from skdp.topics import GibbsLDA
from skdp.topics._kernels._counts import weigh_table
from skdp.topics._shared._fold_in import split_words

BURN_IN, N_SWEEPS = 400, 12_000
WORDS = [[0, 0, 1], [2, 0, 0]]
PHI = np.array([[0.6, 0.1, 0.3], [0.2, 0.7, 0.1]])
GIVEN = {
    "plain": Problem(nodes=WORDS, alpha=(0.7, 0.3), gamma=0.4, n_features=3, concentration=0.8),
    "discount": Problem(
        nodes=[[0, 0, 0, 1], [0, 0]], alpha=(0.7, 0.3), gamma=0.4, discount=0.6, concentration=0.5
    ),
    "one word": Problem(nodes=[[0, 0, 0, 0], [0]], alpha=(0.7, 0.3), gamma=0.4, concentration=2.0),
    "seeds": Problem(
        nodes=WORDS, alpha=(0.7, 0.3), gamma=0.4, concentration=0.8,
        seeds=np.array([[0, 2, 0], [0, 0, 0]]),
    ),
    "fixed": Problem(
        nodes=WORDS, alpha=(0.7, 0.3), gamma=0.4, concentration=0.8,
        fixed=np.array([[0.5, 0.5, 0.0]]),
    ),
    "labels": Problem(
        nodes=[[0, 0], [1, 0]], alpha=(0.7, 0.3, 0.5), gamma=0.4, concentration=0.8, discount=0.3,
        labels=[{1, 2}, {0, 1}],
    ),
}  # fmt: skip
LEARNED = {
    "learned concentration": Problem(
        nodes=WORDS, alpha=(0.7, 0.3), gamma=0.4, discount=0.3, concentration_prior=(2.0, 0.5)
    ),
    "both learned": Problem(
        nodes=[[0, 0, 1], [0, 0]], alpha=(0.7, 0.3), gamma=0.4, discount=None,
        concentration_prior=(2.0, 0.5),
    ),
}  # fmt: skip
PROBLEMS = {**GIVEN, **LEARNED}
SLOW = ["one word", "both learned"]


def model(problem, **params):
    seeds = None
    if problem.seeds is not None:
        topics, words = np.nonzero(problem.seeds)
        seeds = {int(k): [int(w)] for k, w in zip(topics, words, strict=True)}
    return GibbsLDA(
        len(problem.alpha),
        **{
            "doc_topic_prior": np.array(problem.alpha),
            "topic_word_prior": problem.gamma,
            "burst_concentration": problem.concentration or "auto",
            "burst_concentration_prior": problem.concentration_prior,
            "burst_discount": "auto" if problem.discount is None else problem.discount,
            "seed_words": seeds,
            "seed_weight": "auto" if seeds is None else int(problem.seeds.max()),
            "fixed_components": problem.fixed,
            "random_state": 0,
            **params,
        },
    )


def corpus(nodes, n_features, level="document"):
    documents = [list(nodes)] if level == "segment" else [[list(node)] for node in nodes]
    return SegmentedCorpus.from_documents(documents, n_features)


@pytest.mark.parametrize(
    ("case", "level"),
    [("plain", "segment")]
    + [pytest.param(c, "document", marks=pytest.mark.slow if c in SLOW else ()) for c in PROBLEMS],
)
def test_posterior(case, level):
    problem = PROBLEMS[case]
    expected = enumerate_bursts(problem)
    X = corpus(problem.nodes, problem.n_words, level)
    sweeps = model(problem, level=level, max_iter=BURN_IN + N_SWEEPS).iter_sweeps(X, problem.labels)
    states = islice(sweeps, BURN_IN, None)

    def step():
        state = next(states)
        a, b = state.burst_discount, np.log(state.burst_concentration)
        tables = state._sampler.word_counts.copy()
        return state.topics.copy(), tables, np.array([a, a * a]), np.array([b, b * b])

    def compare(topics, tables, a, b):
        yield topics[:, :, None] == np.arange(len(problem.alpha)), expected.topics, "P(z_i = k)"
        yield topics[:, :, None] == topics[:, None], expected.coassignment, "P(z_i = z_j)"
        yield tables, expected.tables, "E[t_kw]"
        if case in LEARNED:
            yield a, expected.discount, "moments of a"
            yield b, expected.log_concentration, "moments of log b"

    check_chain(step, compare, N_SWEEPS)


@pytest.mark.parametrize("discount", [0.0, 0.4])
def test_predictions(discount):
    """Given topics, the words of a document predict others, and its probability is unbiased."""
    problem = Problem(
        nodes=[[0, 0, 1]], alpha=(0.7, 0.3), phi=PHI, discount=discount, concentration=1.5
    )
    X = corpus([[0, 0, 0, 1, 2]], 3)
    observed, scored, _ = split_words(X)
    expected = predictive(
        Problem(
            nodes=[observed.tokens.tolist()], alpha=problem.alpha, phi=PHI, discount=discount,
            concentration=1.5,
        )
    )  # fmt: skip
    evidence = np.exp(
        enumerate_bursts(
            Problem(
                nodes=[X.tokens.tolist()], alpha=problem.alpha, phi=PHI, discount=discount,
                concentration=1.5,
            )
        ).log_evidence
    )  # fmt: skip
    scores, ratios = [], []
    for seed in range(40):
        estimator = GibbsLDA.from_topics(
            PHI, doc_topic_prior=np.array(problem.alpha), burst_concentration=1.5,
            burst_discount=discount, transform_max_iter=4_000, random_state=seed,
        )  # fmt: skip
        scores.append(estimator.score_samples(X)[0])
        estimator._models = estimator._models * 60
        ratios.append(np.exp(estimator.log_likelihood(X, n_particles=5)[0]) / evidence)
    assert_means(np.array(scores), np.log(expected[scored]).sum(), "score", resolution=1e-4)
    assert_means(np.array(ratios), 1.0, "estimate / p(w)", resolution=1e-6)


def test_shards_keep_count():
    """Counts of topics are those of the tables after sweeps of shards, too."""
    rng = np.random.default_rng(0)
    X = corpus([(rng.zipf(1.6, 150).clip(max=12) - 1).tolist() for _ in range(6)], 12)
    params = {"burst_concentration": "auto", "burst_discount": "auto", "max_iter": 10}
    for n_jobs in (1, 2):
        lda = GibbsLDA(3, n_shards=3, n_jobs=n_jobs, random_state=0, **params)
        for state in lda.iter_sweeps(X):
            sampler = state._sampler
            counts = sampler._words.counts.copy()
            assert counts.sum() < len(X.tokens)
            sampler._count_words()
            np.testing.assert_array_equal(sampler._words.counts, counts)


@pytest.mark.parametrize("m", [2, 3, 40])
def test_a_table_moves_by_the_joint(m):
    """Its words are customers of the node, and one word of the topic; other words have tables."""
    alpha, n, tables = (
        np.array([0.7, 0.3, 0.5]),
        np.array([2.0, 0.0, 3.0]),
        np.array([1.0, 0.0, 2.0]),
    )
    a, b, gamma, counts = 0.3, 0.8, 0.4, np.array([[4.0, 0.0, 1.0], [1.0, 2.0, 5.0]])
    factor = (alpha + n) / (b + n) * (b + a * tables) / (counts.sum(axis=0) + 2 * gamma)
    scratch = SimpleNamespace(base=alpha + n, factor=factor)
    bursts = SimpleNamespace(concentration=b, weights=np.empty(3))
    words = SimpleNamespace(counts=counts)
    total = weigh_table.py_func(m, 1, alpha, gamma, words, scratch, bursts)
    expected = gammaln(alpha + n + m) - gammaln(alpha + n) - gammaln(b + n + m) + gammaln(b + n)
    expected += np.log((b + a * tables) * (counts[1] + gamma) / (counts.sum(axis=0) + 2 * gamma))
    expected = np.exp(expected - logsumexp(expected))
    np.testing.assert_allclose(bursts.weights / total, expected, rtol=1e-12)
