"""Estimators that count tables, and their problems (exact/oracles/segmented.py).

What the tests of training, of new documents, and of likelihoods share.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from exact.oracles.segmented import Problem, completion, enumerate_posterior, fold_in

from skdp.data import SegmentedCorpus
from skdp.topics import AdaptiveTopicModel, SegmentedTopicModel, SequentialLDA
from skdp.topics._shared._fold_in import split_words

MODELS = {
    "segmented": SegmentedTopicModel,
    "sequential": SequentialLDA,
    "adaptive": AdaptiveTopicModel,
}
SAMPLERS = ["btigs", "cmgs", "ssa"]
BURN_IN = 400
N_SEEDS = 40
PHI = np.array([[0.5, 0.3, 0.1, 0.1], [0.05, 0.15, 0.4, 0.4], [0.3, 0.1, 0.05, 0.55]])
TO_PREVIOUS, TO_DOCUMENT = (0.3, 2.0), (3.0, 0.5)
"""Priors of the mixing weights that prefer the one or the other parent."""

UNEQUAL_DOCUMENTS = Problem(  # segments of one topic, and a mixed one: small and large b
    [[[0, 0, 0], [1, 1, 1]], [[0, 1, 0]]], (3.0, 2.0), 0.0, gamma=0.05,
    concentration_prior=(1.0, 0.3),
)  # fmt: skip


@cache
def of_model(problem: Problem, name: str) -> Problem:
    """Return the problem of another model, one object for all tests: posteriors are kept."""
    return replace(problem, model=name)


# Problems compare by identity.
posterior_of = cache(enumerate_posterior)
fold_in_of = cache(fold_in)


def each_with_every_model(cases) -> list[tuple[str, str, str]]:
    """Return models, cases and samplers: each pair occurs."""
    return [
        (model_name, case, SAMPLERS[(i + j) % 3])
        for i, case in enumerate(cases)
        for j, model_name in enumerate(MODELS)
    ]


def mostly_slow(instances, fast) -> list:
    """Return instances of a test: all but the `fast` ones are marked slow."""
    return [
        each if each in fast else pytest.param(*each, marks=pytest.mark.slow) for each in instances
    ]


def corpus(problem) -> SegmentedCorpus:
    n_features = problem.n_words if problem.phi is None else problem.phi.shape[1]
    X = SegmentedCorpus.from_documents(problem.documents, n_features=n_features)
    return X if getattr(problem, "breaks", None) is None else X.with_parts(problem.breaks)


def hints_of(problem) -> dict:
    """Return the parameters for pseudo-counts, all of which are equal or 0, and fixed topics."""
    fixed = {} if problem.fixed is None else {"fixed_components": problem.fixed}
    if problem.seeds is None:
        return fixed
    words = {k: np.flatnonzero(row).tolist() for k, row in enumerate(problem.seeds) if any(row)}
    return {"seed_words": words, "seed_weight": int(np.max(problem.seeds)), **fixed}


def parameters(problem: Problem) -> dict:
    """Everything an estimator must be told of a problem but its topics' prior."""
    params = {
        "doc_topic_prior": np.array(problem.alpha),
        "discount": "auto" if problem.discount is None else problem.discount,
        "concentration": "auto" if problem.concentration is None else problem.concentration,
        "concentration_prior": problem.concentration_prior,
    }
    if problem.discount is None:
        params["discount_prior"] = problem.discount_prior
    if problem.scope != "corpus":
        params["concentration_scope"] = problem.scope
    if problem.model == "adaptive":
        params["mixing_prior"] = problem.mixing
    return params | hints_of(problem)


def model(problem: Problem, **params):
    """Return the estimator for a problem, random hyper-parameters as in the problem."""
    params = {
        "n_components": len(problem.alpha),
        "topic_word_prior": problem.gamma,
        "random_state": 0,
        **parameters(problem),
        **params,
    }
    return MODELS[problem.model](**params)


def estimators(problem: Problem, n_iter: int = 2000, **params) -> list:
    """Return estimators with independent random streams; each estimate of each is one draw."""
    params = {"transform_max_iter": n_iter, **parameters(problem), **params}
    return [
        MODELS[problem.model].from_topics(problem.phi, random_state=seed, **params)
        for seed in range(N_SEEDS)
    ]


def observed_half(X: SegmentedCorpus) -> list[list[list[int]]]:
    """Return the words of each segment that are given when the others are scored."""
    half = split_words(X)[0]
    plain = SegmentedCorpus(half.tokens, half.segment_ptr, half.doc_ptr, half.n_features)
    return [[words.tolist() for words in document] for document in plain]


@cache
def completion_of(problem: Problem) -> np.ndarray:
    observed = observed_half(corpus(problem))
    shares = [posterior.nu for posterior in fold_in(replace(problem, documents=observed))]
    return completion(problem.documents, observed, shares, problem.phi)
