"""`log_likelihood` against p(w) by enumeration of all states, and in closed form.

exp(estimate) must have the mean p(w), whatever the number of particles; one particle is never
resampled, so that its moves are seen alone. Each of 40 estimators has a key of its own and averages
the estimates of many stored samples, which are all the same, with keys of their own: by the rule by
which samples are combined. Standard errors are .3 to .9 %.
"""

from dataclasses import replace

import numpy as np
import pytest
from exact.oracles import two_topics
from exact.oracles.batch_means import N_BATCHES, assert_means
from exact.oracles.lda import enumerate_lda
from exact.oracles.segmented import Problem, fold_in
from exact.topics.table_models import (
    PHI,
    TO_DOCUMENT,
    TO_PREVIOUS,
    UNEQUAL_DOCUMENTS,
    corpus,
    estimators,
    fold_in_of,
    model,
    mostly_slow,
    of_model,
)

from skdp.data import SegmentedCorpus
from skdp.topics import GibbsLDA

SHARP = np.array([[0.95, 0.05], [0.05, 0.95]])  # so that the words speak of concentrations
UNEQUAL_SEGMENTS = [[[0, 0, 0, 0], [], [1, 1, 1, 0]], [[0, 1, 0]]]
CASES = {
    "middle empty": Problem(
        [[[0, 0], [], [0, 2, 0]], [[1], [0, 3], [1, 0]]], (0.3, 0.9, 0.5), 0.5, 1.5, phi=PHI,
        mixing=TO_PREVIOUS,
    ),
    "ends empty": Problem(
        [[[], [1, 1], [0, 0, 3], []], [[0, 0, 0, 0, 0]], [[], [2]], [[2, 0], []]],
        (0.2, 0.4, 0.1), 0.0, 0.4, phi=PHI,
    ),
    "large discount": Problem(
        [[[0, 0], [2, 0, 0]], [[3, 1, 3, 1]]], (0.5, 0.5, 0.5), 0.9, 12.0, phi=PHI,
        mixing=TO_DOCUMENT,
    ),
    "breaks": Problem(
        [[[0, 0, 0], [2], [3, 3, 3], [1, 3, 0]], [[1, 1], [0, 3]]], (0.3, 0.9, 0.5), 0.5, 1.5,
        phi=PHI, mixing=TO_PREVIOUS, breaks=[(2,), (1,)],
    ),
    "document's concentration": Problem(
        UNEQUAL_SEGMENTS, (1.0, 0.7), 0.2, phi=SHARP, concentration_prior=(1.0, 0.3)
    ),
    "segments' concentrations": Problem(
        UNEQUAL_SEGMENTS, (1.0, 0.7), 0.2, phi=SHARP, concentration_prior=(1.0, 0.3),
        scope="segment",
    ),
}  # fmt: skip
N_SAMPLES = {1: 250, 5: 60}
INSTANCES = [
    (5, "adaptive", "breaks"),
    (1, "segmented", "middle empty"),
    (1, "sequential", "middle empty"),
    (5, "adaptive", "middle empty"),
    (5, "segmented", "ends empty"),
    (5, "sequential", "ends empty"),
    (1, "adaptive", "ends empty"),
    (5, "segmented", "large discount"),
    (1, "adaptive", "large discount"),
    (5, "sequential", "breaks"),
    (1, "segmented", "document's concentration"),
    (5, "adaptive", "document's concentration"),
    (1, "sequential", "segments' concentrations"),
    (5, "adaptive", "segments' concentrations"),
]


def check_estimates(found, X, expected, n_particles, n_samples):
    """Compare the mean of exp(log_likelihood) / p(w) over estimators to 1."""
    assert len(found) == N_BATCHES
    ratios = []
    for estimator in found:
        estimator._models = estimator._models * n_samples
        log_likelihood = estimator.log_likelihood(X, n_particles=n_particles)
        ratios.append(np.exp(log_likelihood - np.log(expected)))
    assert_means(ratios, np.ones(len(expected)), "estimate / p(w)", resolution=1e-6)


@pytest.mark.parametrize(
    ("n_particles", "model_name", "case"), mostly_slow(INSTANCES, INSTANCES[:1])
)
def test_mean_is_the_probability(n_particles, model_name, case):
    problem = of_model(CASES[case], model_name)
    expected = [np.exp(posterior.log_evidence) for posterior in fold_in_of(problem)]
    check_estimates(
        estimators(problem), corpus(problem), expected, n_particles, N_SAMPLES[n_particles]
    )


@pytest.mark.parametrize("level", ["document", "segment"])
@pytest.mark.parametrize("n_particles", N_SAMPLES)
def test_mean_is_the_probability_lda(n_particles, level):
    problem = CASES["middle empty"]
    expected = [
        np.exp(enumerate_lda(Problem([document], problem.alpha, phi=PHI), level).log_evidence)
        for document in problem.documents
    ]
    found = [
        GibbsLDA.from_topics(
            PHI, level=level, doc_topic_prior=np.array(problem.alpha), random_state=seed
        )
        for seed in range(N_BATCHES)
    ]
    check_estimates(found, corpus(problem), expected, n_particles, N_SAMPLES[n_particles])


# --- hundreds of words: several are added between two moves ---------------------------------

TWO_TOPICS = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])


def long_document(n_words: int) -> list[list[int]]:
    """Return a segment of mixed words, an empty one and one that is mostly of one topic."""
    rng = np.random.default_rng(0)
    mixed = rng.choice(3, n_words // 2, p=TWO_TOPICS.mean(axis=0))
    pure = rng.choice(3, n_words // 2, p=TWO_TOPICS[0])
    return [mixed.tolist(), [], pure.tolist()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_words", "model_name"), [(120, "segmented"), (320, "sequential"), (320, "lda")]
)
def test_long_documents(n_words, model_name):
    """Up to 3 words at a time."""
    alpha, a, b = (0.8, 0.3), 0.3, 4.0
    document = long_document(n_words)
    expected = two_topics.evidence(document, TWO_TOPICS, alpha, a, b, model_name)
    X = SegmentedCorpus.from_documents([document], n_features=3)
    if model_name == "lda":
        found = [
            GibbsLDA.from_topics(TWO_TOPICS, doc_topic_prior=np.array(alpha), random_state=seed)
            for seed in range(N_BATCHES)
        ]
    else:
        problem = Problem(
            [document], alpha, phi=TWO_TOPICS, discount=a, concentration=b, model=model_name
        )
        found = estimators(problem)
    check_estimates(found, X, [expected], n_particles=5, n_samples=20)


# --- stored samples -------------------------------------------------------------------------


@pytest.mark.slow
def test_samples_are_averaged_as_probabilities():
    """Each stored sample has its own topics; in one of them a word is impossible."""
    without = PHI.copy()
    without[:, 3] = 0.0
    without /= without.sum(axis=1, keepdims=True)
    with_all = Problem(
        [[[0, 1], [0, 2]], [[3], [0]]], (0.3, 0.9, 0.5), 0.5, 1.5, phi=PHI, model="adaptive"
    )
    without_one = replace(with_all, phi=without)
    found = estimators(with_all)
    for estimator, other in zip(found, estimators(without_one), strict=True):
        estimator._models = estimator._models + other._models
    first, second = (np.exp(posterior.log_evidence) for posterior in fold_in_of(with_all))
    (other,) = fold_in(replace(without_one, documents=with_all.documents[:1]))
    expected = [(first + np.exp(other.log_evidence)) / 2.0, second / 2.0]
    check_estimates(found, corpus(with_all), expected, n_particles=5, n_samples=100)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model_name", "scope"),
    [("adaptive", "corpus"), ("segmented", "document"), ("sequential", "segment"),
     ("adaptive", "segment")],
)  # fmt: skip
def test_after_a_fit(model_name, scope):
    """New documents draw their own b when documents or segments do, and else take the corpus's."""
    trained = replace(of_model(UNEQUAL_DOCUMENTS, model_name), scope=scope)
    fitted = model(trained, max_iter=100, n_samples=1, random_state=1).fit(corpus(trained))
    stored = fitted._models[0]
    new = replace(
        trained, documents=[[[0, 0, 0, 0], [1, 1, 1, 1]]], alpha=stored.doc_topic_prior,
        phi=stored.components.astype(float),
    )  # fmt: skip
    changes = {
        "corpus": {"scope": "corpus", "concentration": stored.concentration},
        "document": {"scope": "document"},
        "segment": {"scope": "segment"},
    }
    exact = {name: fold_in(replace(new, **x))[0].log_evidence for name, x in changes.items()}
    fitted._models = [stored] * 3000
    found = fitted.log_likelihood(corpus(new))[0]
    assert found == pytest.approx(exact[scope], abs=0.025)  # the standard error is .005 or less
    assert all(abs(exact[scope] - exact[x]) > 0.04 for x in exact if x != scope)
