"""The classifier by similar contexts: what its parts promise, and what users see."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import EVENTS, OUTCOMES
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from skdp.context import DistanceDependentCRPClassifier
from skdp.context._distance_dependent import _kernels as kernels
from skdp.context._distance_dependent._kernels import kernel_of
from skdp.context._distance_dependent._sampler import (
    ContextObservations,
    ProductTable,
    SubsetProduct,
    list_sources,
)


def make_events(n=300, n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, n_columns))
    return X, np.where(rng.random(n) < 0.85, (X[:, 0] > 2) + 2 * (X[:, 1] > 2), 3)


def connected(links):
    """Return the components of links by a plain search."""
    n = len(links)
    neighbors = [{links[i]} | {j for j in range(n) if links[j] == i} for i in range(n)]
    labels = [-1] * n
    for start in range(n):
        waiting = [start]
        while waiting:
            i = waiting.pop()
            if labels[i] < 0:
                labels[i] = start
                waiting += neighbors[i]
    return np.array(labels)


@pytest.mark.parametrize("outcome_model", ["shared", "dirichlet"])
@pytest.mark.parametrize("n_columns", [3, 9])
def test_components_are_those_of_the_links(outcome_model, n_columns):
    """After sweeps over some hundred observations, counts and labels equal recomputed ones."""
    X, y = make_events(200, n_columns)
    model = DistanceDependentCRPClassifier(outcome_model=outcome_model, random_state=0)
    (chain,) = model._make_procedure(model._check_input(X, y)).start_chains(1).runs
    sampler = chain.sampler
    for _ in range(5):
        components = sampler._make_components()
        kernel_of(sampler.is_shared, sampler.similarity.is_table)(
            4, sampler.concentration, sampler.outcome_prior, sampler._log_gammas,
            sampler._log_total_gammas, sampler.similarity.source, components, sampler.stream,
        )  # fmt: skip
        expected = connected(sampler.links.tolist())
        names, places = np.unique(expected, return_inverse=True)
        found = components.labels
        assert len(names) == len(np.unique(found)) == components.numbers[0]
        assert len(np.unique(places * len(X) + found)) == len(names)
        assert_array_equal(components.sizes, np.bincount(found, minlength=len(X)))
        if outcome_model == "dirichlet":
            for label in names:
                members = y[expected == label]
                assert_array_equal(
                    components.counts[found[label]], np.bincount(members, minlength=4)
                )
        else:
            assert all(len(set(y[expected == label])) == 1 for label in names)
            assert_array_equal(components.n_of_outcome, np.bincount(y[names], minlength=4))
        first, after, _ = list_sources(sampler.links)
        for i in range(len(X)):
            for start, following in ((components.first, components.after), (first, after)):
                sources, j = [], start[i]
                while j >= 0:
                    sources.append(j)
                    j = following[j]
                wanted = [j for j in np.flatnonzero(sampler.links == i) if j != i]
                assert sorted(sources) == wanted
        sampler.labels = found_in_order(found)
    assert len(names) > 1


def found_in_order(labels):
    names = list(dict.fromkeys(labels.tolist()))
    return np.array([names.index(label) for label in labels])


@pytest.mark.parametrize("by_outcome", [True, False])
def test_two_ways_to_the_same_sums(by_outcome):
    """Sums by sets of columns are those over all pairs; so are the parts for each column."""
    rng = np.random.default_rng(2)
    codes = np.unique(rng.integers(0, 3, (30, 3)), axis=0).astype(np.int32)
    context_of = np.r_[np.arange(len(codes)), rng.integers(0, len(codes), 20)]
    outcomes = rng.integers(0, 3, len(context_of))
    data = ContextObservations(codes, None, context_of, outcomes, np.arange(3))
    decay = np.array([0.3, 1.2, 2.5])
    one, other = SubsetProduct(decay.copy(), (1.0, 1.0)), ProductTable(decay.copy(), (1.0, 1.0))
    for similarity in (one, other):
        similarity.attach(data, by_outcome=by_outcome)
    plain = np.exp((codes[:, None] != codes) @ -decay) @ np.bincount(context_of) - 1.0
    assert_allclose(one.sums, plain)
    assert_allclose(other.sums, plain)
    for d in range(3):
        parts, others = one._split(d), other._split(d)
        assert_allclose(parts, others)
        t = np.exp(-decay[d])
        assert_allclose((1.0 - t) * parts[0] + t * parts[1], plain)
    links = rng.permutation(len(context_of))
    assert_allclose(one.log_along(links), other.log_along(links))
    kernels.move_apart(codes, 1, 0.7, other._distances)
    assert_allclose(
        other._distances, (codes[:, None] != codes) @ (decay + np.array([0.0, 0.7, 0.0]))
    )


def test_equal_categories_of_different_types():
    mixed = [["a", 1], [("a", 1), 1.0], ["none", True]]
    model = DistanceDependentCRPClassifier(max_iter=4).fit(mixed, [0, 1, 1])
    probas = model.predict_proba([["a", 1], ["a", 1.0], ["a", True]])
    assert_array_equal(probas, probas[[0, 0, 0]])


def test_what_is_fitted():
    X, y = make_events(150)
    model = DistanceDependentCRPClassifier(max_iter=60, n_chains=2, random_state=0).fit(X, y)
    assert model.trace_["decay_0"].shape == (2, 4)
    assert_allclose(model.decay_[1], model.trace_["decay_1"].mean())
    assert_allclose(model.concentration_, model.trace_["concentration"].mean())
    assert not hasattr(model, "weights_")
    sizes = np.bincount(model.labels_)
    assert len(sizes) == model.n_components_
    assert np.all(np.diff(sizes) <= 0)
    assert all(len(set(y[model.labels_ == k])) == 1 for k in range(len(sizes)))
    model.set_params(kernel="overlap", weights="auto").fit(X, y)
    assert not hasattr(model, "decay_")
    assert_allclose(model.weights_.sum(), 1.0)
    model.set_params(kernel="overlap", weights=None).fit(X, y)
    assert_allclose(model.weights_, np.full(3, 1 / 3))
    assert len(pickle.dumps(model)) < 200_000


def test_states():
    X, y = make_events(60)
    model = DistanceDependentCRPClassifier(max_iter=5, random_state=0)
    states = [state.copy() for state in model.iter_sweeps(X, y)]
    assert len(states) == 5
    fitted = model.set_params(burn_in=0, thin=1).fit(X, y)
    wide = [state.copy() for state in model.iter_sweeps(X.repeat(3, axis=1), y)]
    trace = clone(model).fit(X.repeat(3, axis=1), y).trace_
    assert_array_equal([state.log_joint() for state in wide], trace["log_joint"][0])
    assert_array_equal([state.log_joint() for state in states], fitted.trace_["log_joint"][0])
    assert states[-1].decay.shape == (3,)
    assert states[-1].weights is None
    assert states[-1].concentration == fitted.trace_["concentration"][0, -1]
    with pytest.raises(ValueError, match="read-only"):
        states[-1].links[0] = 1
    *_, last = DistanceDependentCRPClassifier("overlap", max_iter=2).iter_sweeps(X, y)
    assert last.decay is None
    assert_allclose(last.weights, 1 / 3)


def test_grid_search_among_given_similarities():
    X, y = make_events(90)
    search = GridSearchCV(
        DistanceDependentCRPClassifier("precomputed", max_iter=20, random_state=0),
        {"outcome_prior": [0.1, 1.0]},
        cv=3,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit((X[:, None] == X).mean(axis=2), y)
    assert search.best_score_ > 0.5


ODD = [
    ({}, EVENTS, ["only"] * 12),
    ({}, EVENTS[:1], ["one"]),
    ({}, [["same"]] * 12, OUTCOMES),
    ({}, np.arange(24).reshape(12, 2), OUTCOMES),
    ({"decay": 0.0}, EVENTS, OUTCOMES),
    ({"decay": 1e6, "concentration": 1e-8}, EVENTS, OUTCOMES),
    ({"decay": [0.5] * 9}, np.arange(108).reshape(12, 9) // 5, OUTCOMES),
    ({"kernel": "overlap", "weights": [0.0, 1.0], "concentration": 1e6}, EVENTS, OUTCOMES),
    ({"kernel": "overlap"}, np.arange(24).reshape(12, 2), OUTCOMES),
    ({"outcome_prior": 1e-8, "concentration": 1e-8}, EVENTS, OUTCOMES),
    ({"kernel": "precomputed"}, np.zeros((12, 12)), OUTCOMES),
    ({"kernel": "precomputed"}, np.triu(np.ones((12, 12)), 1) * 1e119, OUTCOMES),
    ({"classes": [*"wxyz"]}, [*EVENTS[:11], [("a", 1), 1]], OUTCOMES),
    ({}, [*EVENTS[:11], ["none", 1]], OUTCOMES),
]


@pytest.mark.parametrize("outcome_model", ["shared", "dirichlet"])
def test_odd_but_legal(outcome_model):
    for params, X, y in ODD:
        model = DistanceDependentCRPClassifier(
            outcome_model=outcome_model, max_iter=6, random_state=0, **params
        )
        proba = model.fit(X, y).predict_proba(X)
        assert np.isfinite(proba).all(), params
        assert_allclose(proba.sum(axis=1), 1.0)
        assert np.isfinite(model.score_samples(X, y)).all(), params
        assert np.isfinite(model.trace_["log_joint"]).all(), params


def test_more_than_the_memory():
    model = DistanceDependentCRPClassifier(max_iter=2)
    wide = np.arange(200_000)[:, None] + np.zeros((1, 18), dtype=int)
    with pytest.raises(ValueError, match="200000 distinct contexts of 18 columns"):
        model.fit(wide, np.arange(200_000) % 2)
    with pytest.raises(ValueError, match="more than the memory"):
        model.set_params(kernel=lambda A, B: None).fit(wide[:, :1], np.arange(200_000) % 2)
