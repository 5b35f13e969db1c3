"""A learned discount, discount="auto", against quadrature over it."""

import numpy as np
import pytest
from exact.oracles.segmented import Problem
from exact.topics.table_models import (
    FOLD_IN_CHAINS,
    cases,
    check_posterior,
    check_states_with_learned_priors,
    estimator_class,
    every_model,
    every_sampler,
    kept_sweeps,
    mostly_one_sampler,
    of_model,
    parameters,
    posterior_of,
)

RANDOM_DISCOUNT = {
    "two segments": Problem(
        [[[0, 0, 1], [0, 0, 1, 0]]],
        alpha=(0.6, 0.6), gamma=0.4, n_features=2, concentration=1.0,
    ),
    "two documents": Problem(
        [[[0, 0, 0], [], [1, 0, 0]], [[1, 1]]],
        alpha=(1.2, 0.3), gamma=0.3, n_features=2, concentration=0.5, discount_prior=(2.0, 1.5),
        mixing=(0.3, 2.0),
    ),
    "segments of one topic": Problem(  # few tables, and so a small discount
        [[[0, 0, 0, 0], [1, 1, 1, 1]]],
        alpha=(3.0, 2.0), gamma=0.05, n_features=2, concentration=0.3,
    ),
    "mixed segments": Problem(  # many tables
        [[[0, 1, 0, 1], [1, 0, 1, 0]]],
        alpha=(3.0, 2.0), gamma=0.05, n_features=2, concentration=0.3, mixing=(0.3, 2.0),
    ),
    "random concentration": Problem(
        [[[0, 1], [1, 1, 0]]],
        alpha=(0.8, 0.3), gamma=0.4, n_features=2, discount_prior=(1.0, 2.0),
        concentration_prior=(2.0, 0.5),
    ),
    "large discount": Problem(
        [[[0, 1], [0, 0], [0, 1, 1]]],
        alpha=(0.5, 0.5), gamma=0.2, n_features=2, concentration=0.2, discount_prior=(9.0, 1.0),
        mixing=(3.0, 0.5),
    ),
    "concentration of segments": Problem(
        [[[0, 0], [0, 1, 0]], [[], [1]]],
        alpha=(0.8, 0.3), gamma=0.4, n_features=2, discount_prior=(1.0, 2.0),
        concentration_prior=(2.0, 0.5), scope="segment",
    ),
}  # fmt: skip


SLOW = [case for case in RANDOM_DISCOUNT if case != "segments of one topic"]


@cases(RANDOM_DISCOUNT, SLOW)
@every_model
@mostly_one_sampler
def test_random_discount(sampler, model_name, case):
    check_posterior(of_model(RANDOM_DISCOUNT, model_name)[case], sampler)


@every_model
@every_sampler
def test_log_joint_of_estimated_hyper_parameters(sampler, model_name):
    problem = of_model(RANDOM_DISCOUNT, model_name)["random concentration"]
    check_states_with_learned_priors(problem, sampler)


@every_model
def test_fitted_discount_is_the_mean_over_kept_sweeps(model_name):
    problem = of_model(RANDOM_DISCOUNT, model_name)["random concentration"]
    sweeps, fitted = kept_sweeps(problem)
    assert isinstance(fitted.discount_, float)
    assert fitted.discount_ == pytest.approx(sweeps.discount.mean(), rel=1e-9)
    assert fitted.concentration_ == pytest.approx(sweeps.concentration.mean(), rel=1e-9)
    assert len(np.unique(sweeps.discount)) > 30


@every_model
def test_given_topics_want_a_given_discount(model_name):
    problem = of_model(FOLD_IN_CHAINS, model_name)["small concentration"]
    params = {**parameters(problem), "discount": "auto"}
    with pytest.raises(ValueError, match="discount must be"):
        estimator_class(problem).from_topics(problem.phi, **params)


@every_model
def test_the_words_speak_of_the_discount(model_name):
    """Otherwise the cases above could not tell apart samplers of the posterior and of the prior."""
    problems = of_model(RANDOM_DISCOUNT, model_name)
    assert posterior_of(problems["segments of one topic"]).discount < 0.45
    assert posterior_of(problems["mixed segments"]).discount > 0.6
