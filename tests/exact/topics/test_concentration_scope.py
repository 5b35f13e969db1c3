"""Concentrations of documents and of segments, concentration_scope, against quadrature."""

from dataclasses import replace

import numpy as np
import pytest
from exact.oracles.segmented import Problem, fold_in
from exact.topics.table_models import (
    FOLD_IN_CHAINS,
    as_model,
    cases,
    check_completion,
    check_posterior,
    check_states_with_learned_priors,
    check_transform,
    corpus,
    every_model,
    every_sampler,
    kept_sweeps,
    model,
    mostly_one_sampler,
    of_model,
    posterior_of,
)

TWO_DOCUMENTS = Problem(
    [[[0, 0, 0, 1], [1, 1]], [[0], [], [1, 0]]],
    alpha=(1.2, 0.3), gamma=0.3, n_features=2, discount=0.4, concentration_prior=(1.5, 0.4),
    mixing=(0.3, 2.0),
)  # fmt: skip
UNEQUAL_DOCUMENTS = Problem(  # segments of one topic, and a mixed one: small and large b
    [[[0, 0, 0], [1, 1, 1]], [[0, 1, 0]]],
    alpha=(3.0, 2.0), gamma=0.05, n_features=2, discount=0.0, concentration_prior=(1.0, 0.3),
)  # fmt: skip
RANDOM_CONCENTRATION = {
    "documents": replace(TWO_DOCUMENTS, scope="document"),
    "segments": replace(TWO_DOCUMENTS, scope="segment"),
    "unequal documents": replace(UNEQUAL_DOCUMENTS, scope="document"),
    "unequal segments": replace(UNEQUAL_DOCUMENTS, scope="segment"),
}
SLOW = [case for case in RANDOM_CONCENTRATION if case != "unequal segments"]
FOLD_IN = {
    scope: replace(FOLD_IN_CHAINS["random concentration"], scope=scope)
    for scope in ("document", "segment")
}


@cases(RANDOM_CONCENTRATION, SLOW)
@every_model
@mostly_one_sampler
def test_random_concentration(sampler, model_name, case):
    check_posterior(of_model(RANDOM_CONCENTRATION, model_name)[case], sampler)


@cases(RANDOM_CONCENTRATION, SLOW)
@every_model
@every_sampler
def test_log_joint_of_estimated_hyper_parameters(sampler, model_name, case):
    problem = of_model(RANDOM_CONCENTRATION, model_name)[case]
    check_states_with_learned_priors(problem, sampler)


@every_model
def test_the_words_speak_of_concentrations(model_name):
    """Otherwise the cases above could not tell apart samplers of the posterior and of the prior."""
    problems = of_model(RANDOM_CONCENTRATION, model_name)
    prior_mean = 1.0 / 0.3
    documents = posterior_of(problems["unequal documents"]).concentration
    assert documents.shape == (2,)
    assert documents[0] + 0.09 < prior_mean < documents[1] - 0.5
    segments = posterior_of(problems["unequal segments"]).concentration
    assert segments.shape == (3,)
    assert segments[1] + 0.5 < prior_mean < segments[2] - 0.5


@cases(RANDOM_CONCENTRATION, SLOW)
@every_model
def test_fitted_concentration_is_the_mean_over_kept_sweeps(model_name, case):
    problem = of_model(RANDOM_CONCENTRATION, model_name)[case]
    sweeps, fitted = kept_sweeps(problem)
    expected = sweeps.concentration.mean(axis=0)
    assert np.shape(fitted.concentration_) == expected.shape
    np.testing.assert_allclose(fitted.concentration_, expected, rtol=1e-9)


@cases(FOLD_IN, ["document"])
@every_model
@every_sampler
def test_transform(sampler, model_name, case):
    """A new document draws its own concentration, or one for each segment."""
    check_transform(of_model(FOLD_IN, model_name)[case], sampler, n_iter=1000)


@cases(FOLD_IN, ["document"])
@every_model
@every_sampler
def test_completion(sampler, model_name, case):
    check_completion(of_model(FOLD_IN, model_name)[case], sampler, n_iter=1000)


@pytest.mark.parametrize(
    "scope",
    [pytest.param(scope, marks=pytest.mark.slow) for scope in ("corpus", "document")] + ["segment"],
)
@every_model
def test_fold_in_after_a_fit(model_name, scope):
    """New documents draw their own b when documents or segments do, and else take the corpus's."""
    trained = replace(as_model(UNEQUAL_DOCUMENTS, model_name), scope=scope)
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
