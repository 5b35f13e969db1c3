"""GibbsLDA against enumeration of all its states (see exact/oracles/lda.py), dense and sparse."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, assert_means
from exact.oracles.lda import as_nodes, enumerate_lda, log_joint
from exact.oracles.segmented import Problem
from exact.topics.table_models import corpus, observed_half

from skdp.topics import GibbsLDA
from skdp.topics._lda import _sampler

BURN_IN = 400
CASES = {
    "one document": Problem(
        [[[0, 0, 1], [0, 1, 2, 0]]], alpha=(0.6, 0.6), gamma=0.4, n_features=3, discount=0.0
    ),
    "two documents": Problem(
        [[[0, 0], [], [1, 0]], [[1, 1, 0]], []],
        alpha=(1.5, 0.2), gamma=0.3, n_features=2, discount=0.0,
    ),
    "three topics": Problem(
        [[[0, 0, 1], [2]], [[0], [1]]],
        alpha=(1.4, 0.3, 0.6), gamma=0.5, n_features=3, discount=0.0,
    ),
}  # fmt: skip
every_case = pytest.mark.parametrize("case", CASES)
every_level = pytest.mark.parametrize("level", ["document", "segment"])


@pytest.fixture(params=["dense", "sparse"])
def sweep(request, monkeypatch):
    """Let the number of topics call for the one or the other sweep."""
    monkeypatch.setattr(_sampler, "SPARSE_FROM", 1 if request.param == "sparse" else 10**9)


def model(problem, level, **params):
    params = {
        "doc_topic_prior": np.array(problem.alpha),
        "topic_word_prior": problem.gamma,
        "random_state": 0,
        **params,
    }
    return GibbsLDA(len(problem.alpha), level=level, **params)


@every_case
@every_level
def test_posterior(sweep, level, case):
    problem = CASES[case]
    expected = enumerate_lda(problem, level)
    estimator = model(problem, level, max_iter=BURN_IN + N_SWEEPS)
    topics = np.array([s.topics.copy() for s in estimator.iter_sweeps(corpus(problem))])[BURN_IN:]
    pairs = np.triu_indices(topics.shape[1], 1)
    same = topics[:, pairs[0]] == topics[:, pairs[1]]
    assert_means(same, expected.coassignment[pairs], "P(z_i = z_j)")
    if len(set(problem.alpha)) > 1:
        found = topics[:, :, None] == np.arange(len(problem.alpha))
        assert_means(found, expected.topics, "P(z_i = k)")


@every_case
@every_level
def test_log_joint(sweep, level, case):
    problem = CASES[case]
    for params in ({}, {"doc_topic_prior": "auto", "topic_word_prior": "auto"}):
        estimator = model(problem, level, max_iter=40, **params)
        for state in estimator.iter_sweeps(corpus(problem)):
            now = replace(problem, alpha=tuple(state.doc_topic_prior), gamma=state.topic_word_prior)
            expected = log_joint(now, level, state.topics)
            assert state.log_joint() == pytest.approx(expected, rel=1e-10, abs=1e-10)


PHI = np.array([[0.5, 0.3, 0.1, 0.1], [0.05, 0.15, 0.4, 0.4], [0.3, 0.1, 0.05, 0.55]])


@every_level
def test_fold_in(level):
    """E[theta] of documents and segments, and the completion score made of them."""
    problem = Problem(
        [[[0, 0, 2], [3, 0]], [[], [1, 3]], [[2]], []],
        alpha=(0.3, 0.9, 0.5), phi=PHI, discount=0.0,
    )  # fmt: skip
    X = corpus(problem)
    found = [
        GibbsLDA.from_topics(
            PHI, level=level, doc_topic_prior=np.array(problem.alpha), transform_max_iter=2000,
            random_state=seed,
        )
        for seed in range(40)
    ]  # fmt: skip
    documents = np.array([estimator.transform(X) for estimator in found])
    segments = np.array([estimator.transform_segments(X) for estimator in found])
    theta = [enumerate_lda(replace(problem, documents=[d]), level).theta for d in problem.documents]
    mean = np.array(problem.alpha) / sum(problem.alpha)
    if level == "document":
        of_documents = np.concatenate(theta)
        of_segments = np.repeat(of_documents, [2, 2, 1, 0], axis=0)
    else:
        of_segments = np.concatenate(theta)
        lengths = [len(node) for node in as_nodes(problem, level)]
        of_documents = np.array([
            np.average(of_segments[:2], axis=0, weights=lengths[:2]),
            of_segments[3], of_segments[4], mean,
        ])  # fmt: skip
    assert_means(segments, of_segments, "E[theta] of segments", resolution=1e-6)
    assert_means(documents, of_documents, "E[theta] of documents", resolution=1e-6)

    observed = observed_half(X)
    scores = np.array([estimator.score_samples(X) for estimator in found])
    expected = []
    for document, known in zip(problem.documents, observed, strict=True):
        posterior = enumerate_lda(replace(problem, documents=[known]), level).theta
        shares = posterior if level == "segment" else np.repeat(posterior, len(document), axis=0)
        expected.append(
            sum(
                np.log(share @ PHI[:, w])
                for share, segment, half in zip(shares, document, known, strict=True)
                for w in (Counter(segment) - Counter(half)).elements()
            )
        )
    assert_means(scores, np.array(expected), "log p(half | other half)", resolution=1e-6)
