"""Shares and scores of new documents, with topics given, against enumeration.

40 estimators have independent random streams: each estimate of each is one draw.
"""

from dataclasses import replace

import numpy as np
import pytest
from exact.oracles import ldcc, sections, segmentations
from exact.oracles.batch_means import assert_means
from exact.oracles.lda import enumerate_lda
from exact.oracles.segmented import Problem, completion, fold_in
from exact.topics.table_models import (
    MODELS,
    N_SEEDS,
    PHI,
    TO_DOCUMENT,
    TO_PREVIOUS,
    UNEQUAL_DOCUMENTS,
    completion_of,
    corpus,
    each_with_every_model,
    estimators,
    fold_in_of,
    model,
    mostly_slow,
    observed_half,
    of_model,
)

from skdp.topics import GibbsLDA, LatentDirichletCoClustering, SectionedTopicModel, TopicSegmenter

CASES = {
    "small concentration": Problem(
        [[[0, 0, 2], [3, 0]], [[], [1], [1, 1, 3]], [[2]], [[]], []], (0.3, 0.9, 0.5), 0.5, 0.4,
        phi=PHI, mixing=TO_PREVIOUS,
    ),
    "large concentration": Problem(
        [[[0, 1], [], [3, 0, 2]], [[3, 3], [1, 0]], [[2, 2], [0, 0], []]], (0.2, 0.4, 0.1), 0.0,
        12.0, phi=PHI,
    ),
    "large discount": Problem(
        [[[0, 1], [2, 0, 0, 0]], [[3], [1], [0, 0]]], (0.5, 0.5, 0.5), 0.9, 2.0, phi=PHI,
        mixing=TO_DOCUMENT,
    ),
    "orders": Problem(  # leading and middle segments without words are links of a chain
        [[[0, 0], [3, 1], [0]], [[0], [3, 1], [0, 0]], [[3, 1], [0, 0], [0]],
         [[], [0, 0], [3, 1], [0]], [[0, 0], [], [3, 1], [0]], [[0, 0], [3, 1], [0], []]],
        (0.3, 0.9), 0.5, 0.5, phi=PHI[:2], mixing=(0.5, 3.0),
    ),
    "breaks": Problem(
        [[[0, 0, 2], [3, 0], [0, 0, 1]], [[1], [], [1, 3], [3]], [[0, 2], [2, 2]]],
        (0.3, 0.9, 0.5), 0.3, 1.5, phi=PHI, mixing=TO_PREVIOUS, breaks=[(2,), (1, 3), (1,)],
    ),
}  # fmt: skip
for SCOPE in ("corpus", "document", "segment"):
    CASES[f"concentration of a {SCOPE}"] = Problem(
        [[[0, 2], [3, 0, 2]], [[0], [0, 0, 1]], [[], []]], (0.3, 0.9, 0.5), 0.2, phi=PHI,
        concentration_prior=(1.5, 0.4), scope=SCOPE,
    )  # fmt: skip
CO_CLUSTERED = {
    "dense": ldcc.Problem(
        [[[0, 0, 2], [3, 0]], [[], [1], [1, 1, 3]], [[2]], [[]], []], (0.3, 0.9),
        ((0.3, 0.9, 0.5), (2.0, 0.2, 1.0)), phi=PHI,
    ),
    "sparse": ldcc.Problem(
        [[[0, 1], [], [3, 0, 2]], [[3, 3], [1, 0]], [[2, 2], []]], (0.5, 0.2),
        ((1.0, 1e-3, 1e-3), (1e-4, 0.6, 0.9)), phi=PHI,
    ),
}  # fmt: skip


def check_shares(found, X, of_documents, of_segments):
    """Compare E[mu] and E[nu] of documents, each by itself, to the posterior."""
    for name, expected in (("transform", of_documents), ("transform_segments", of_segments)):
        draws = np.array([getattr(estimator, name)(X) for estimator in found])
        assert_means(draws, expected, name, resolution=1e-6)
        np.testing.assert_allclose(draws.sum(axis=-1), 1.0, rtol=0, atol=1e-6)


def check_scores(found, X, documents, expected):
    """Compare the scores of documents to the log predictive of their second halves."""
    n_scored = sum(len(segment) // 2 for document in documents for segment in document)
    scores = np.array([estimator.score_samples(X) for estimator in found])
    assert_means(scores, expected, "log p(half | other half)", resolution=1e-6)
    for estimator, score in zip(found[:3], scores, strict=False):
        assert estimator.score(X) == pytest.approx(score.sum() / n_scored, rel=1e-10)
        assert estimator.perplexity(X) == pytest.approx(np.exp(-score.sum() / n_scored), rel=1e-10)


FAST = [
    ("segmented", "large discount", "btigs"),
    ("sequential", "small concentration", "btigs"),
    ("adaptive", "small concentration", "ssa"),
]
INSTANCES = [
    *each_with_every_model(CASES), *FAST, ("adaptive", "small concentration", "btigs"),
    ("sequential", "breaks", "btigs"), ("sequential", "concentration of a segment", "btigs"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("model_name", "case", "sampler"), mostly_slow(dict.fromkeys(INSTANCES), FAST)
)
def test_table_models(model_name, case, sampler):
    problem = of_model(CASES[case], model_name)
    X, expected = corpus(problem), fold_in_of(problem)
    mu, nu = (np.concatenate([getattr(x, name) for x in expected]) for name in ("mu", "nu"))
    found = estimators(problem, n_iter=1000, sampler=sampler)
    check_shares(found, X, mu, nu)
    check_scores(found, X, problem.documents, completion_of(problem))


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["corpus", "document", "segment"])
@pytest.mark.parametrize("model_name", MODELS)
def test_table_models_after_a_fit(model_name, scope):
    """New documents draw their own b when documents or segments do, and else take the corpus's."""
    trained = replace(of_model(UNEQUAL_DOCUMENTS, model_name), scope=scope)
    for seed in range(20):  # the first fit whose topics let the shares depend on the scope
        fitted = model(trained, max_iter=100, transform_max_iter=160_000, random_state=seed)
        fitted.fit(corpus(trained))
        new = replace(
            trained, documents=[[[0, 0, 0, 1], [1, 1, 1]], [[], [1, 0]]], gamma=None,
            phi=fitted.components_, alpha=tuple(fitted.doc_topic_prior_),
        )  # fmt: skip
        expected = {
            "corpus": replace(new, scope="corpus", concentration=np.mean(fitted.concentration_)),
            "document": replace(new, scope="document"),
            "segment": replace(new, scope="segment"),
        }
        nu = {name: np.concatenate([x.nu for x in fold_in(expected[name])]) for name in expected}
        if all(np.abs(nu[scope] - nu[other]).max() > 0.02 for other in {*nu} - {scope}):
            break
    else:
        pytest.fail("no fit tells the scopes apart")
    # The standard error is .0015 or less.
    found = fitted.transform_segments(corpus(new))
    np.testing.assert_allclose(found, nu[scope], rtol=0, atol=0.008)


@pytest.mark.parametrize("level", ["document", "segment"])
def test_lda(level):
    problem = Problem([[[0, 0, 2], [3, 0]], [[], [1, 3]], [[2]], []], (0.3, 0.9, 0.5), phi=PHI)

    def shares_of_segments(documents):
        """Return E[theta] of the segments of each document, or of the document for each."""
        theta = [enumerate_lda(replace(problem, documents=[d]), level).theta for d in documents]
        return [
            rows if level == "segment" else np.repeat(rows, len(document), axis=0)
            for rows, document in zip(theta, documents, strict=True)
        ]

    X, of_segments = corpus(problem), shares_of_segments(problem.documents)
    prior = np.array(problem.alpha) / sum(problem.alpha)
    lengths = [[len(segment) for segment in document] for document in problem.documents]
    of_documents = [
        np.average(rows, axis=0, weights=n) if sum(n) else prior
        for rows, n in zip(of_segments, lengths, strict=True)
    ]
    found = [
        GibbsLDA.from_topics(
            PHI, level=level, doc_topic_prior=np.array(problem.alpha), transform_max_iter=2000,
            random_state=seed,
        )
        for seed in range(N_SEEDS)
    ]  # fmt: skip
    check_shares(found, X, np.array(of_documents), np.concatenate(of_segments))
    observed = observed_half(X)
    scores = completion(problem.documents, observed, shares_of_segments(observed), PHI)
    check_scores(found, X, problem.documents, scores)


def co_clustering(problem, seed):
    return LatentDirichletCoClustering.from_topics(
        PHI, document_topic_prior=np.array(problem.delta),
        segment_topic_prior=np.array(problem.alpha), transform_max_iter=2000, random_state=seed,
    )  # fmt: skip


@pytest.mark.parametrize("case", CO_CLUSTERED)
def test_co_clustering(case):
    problem = CO_CLUSTERED[case]
    X, expected = corpus(problem), ldcc.fold_in(problem)
    found = [co_clustering(problem, seed) for seed in range(N_SEEDS)]
    theta, pi = (np.concatenate([getattr(x, name) for x in expected]) for name in ("theta", "pi"))
    check_shares(found, X, theta, pi)
    observed = observed_half(X)
    shares = [posterior.pi for posterior in ldcc.fold_in(replace(problem, documents=observed))]
    scores = completion(problem.documents, observed, shares, PHI)
    check_scores(found, X, problem.documents, scores)


@pytest.mark.parametrize("case", CO_CLUSTERED)
def test_documents_without_words_have_the_prior_mean_of_co_clustering(case):
    problem = replace(CO_CLUSTERED[case], documents=[[], [[]], [[], []]])
    X, estimator = corpus(problem), co_clustering(problem, 0)
    theta, alpha = np.array(problem.delta) / sum(problem.delta), np.array(problem.alpha)
    pi = theta @ (alpha / alpha.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(estimator.transform(X), [theta] * 3, rtol=1e-12)
    np.testing.assert_allclose(estimator.transform_segments(X), [pi] * 3, rtol=1e-12)
    np.testing.assert_array_equal(estimator.score_samples(X), 0.0)


TWO_TOPICS = np.array([[0.8, 0.2], [0.3, 0.7]])


@pytest.mark.parametrize(
    "documents",
    [[[[[0], [1, 1]]], [[[1]], [[0], [0]]]], [[[[0, 1], []], [[1], [0]]], [], [[[]]]]],
    ids=["two", "odd"],
)
def test_sections(documents):
    given = {"discount": (0.3, 0.6), "concentration": (1.5, 0.4)}
    problem = sections.Problem(documents, (0.7, 1.4), phi=TWO_TOPICS, **given)
    expected = sections.enumerate_posterior(problem)
    found = [
        SectionedTopicModel.from_topics(
            TWO_TOPICS, doc_topic_prior=problem.alpha, transform_max_iter=520,
            transform_burn_in=20, random_state=seed, **given,
        )
        for seed in range(N_SEEDS)
    ]  # fmt: skip
    check_shares(found, documents, expected["mu"], expected["paragraphs"])
    draws = np.array([estimator.transform_sections(documents) for estimator in found])
    assert_means(draws, expected["sections"], "sections", resolution=1e-3)


@pytest.mark.parametrize(
    "document", [[[0, 0], [1], [0, 1]], [[1], [], [0], [1]]], ids=["words", "an empty unit"]
)
def test_segmenter(document):
    alpha, b, rho = (0.7, 1.2), 3.0, 0.35
    expected = segmentations.given_topics(document, TWO_TOPICS, alpha, b, rho)
    found = [
        TopicSegmenter.from_topics(
            TWO_TOPICS, doc_topic_prior=alpha, concentration=b, cut_probability=rho,
            transform_max_iter=420, transform_burn_in=20, random_state=seed,
        )
        for seed in range(N_SEEDS)
    ]  # fmt: skip
    cuts = [estimator.predict_proba([document])[0] for estimator in found]
    assert_means(cuts, expected.cuts, "P(cut)", resolution=1e-3)
    shares, of_units = (
        np.stack([s, 1.0 - s], axis=-1) for s in (expected.share, expected.of_units)
    )
    check_shares(found, [document], shares[None], of_units)
