"""Chains that HDPBackoffClassifier chooses, and what they predict."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import log_loss

from skdp.context import HDPBackoffClassifier

FEW = {"max_iter": 24, "random_state": 0}


def make_rows(n=600, n_columns=4, seed=0):
    """Return rows whose class follows from columns 0 and 1 together, with noise from column 2."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, n_columns))
    y = (X[:, 0] + X[:, 1]) % 3
    y = np.where(rng.random(n) < 0.1 * X[:, 2], rng.integers(0, 3, n), y)
    return X, y


def test_the_pair_that_matters_is_found():
    X, y = make_rows()
    X_test, y_test = make_rows(seed=1)
    model = HDPBackoffClassifier(**FEW).fit(X, y)
    best = model.chains_[int(np.argmax(model.chain_weights_))]
    assert {0, 1} <= set(best) <= {0, 1, 2}
    assert len(model.chains_) == len(model.chain_weights_) == len(model.chain_scores_)
    assert len(model.discounts_) == len(model.n_contexts_) == len(model.chains_)
    own = log_loss(y_test, model.predict_proba(X_test))
    alone = HDPBackoffClassifier([0], **FEW).fit(X, y).predict_proba(X_test)
    assert own < log_loss(y_test, alone) - 0.3
    assert -model.score_samples(X_test, y_test).mean() == pytest.approx(own)


@pytest.mark.parametrize("n_columns", [1, 6])
def test_with_nothing_to_find_it_predicts_the_marginal(n_columns):
    rng = np.random.default_rng(0)
    p = np.array([0.6, 0.3, 0.1])
    X, X_test = rng.integers(0, 30, (2, 1500, n_columns))
    y, y_test = rng.choice(3, (2, 1500), p=p)
    model = HDPBackoffClassifier(**FEW).fit(X, y)
    marginal = log_loss(y_test, np.tile(np.bincount(y) / 1500, (1500, 1)))
    assert log_loss(y_test, model.predict_proba(X_test)) < marginal + 0.01


@pytest.mark.parametrize(("n", "n_columns"), [(200, 20), (200, 40), (500, 8)])
def test_the_best_of_many_chains_by_chance_is_not_chosen(n, n_columns):
    """Labels are random; the best of hundreds of chains gains some nats by chance."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (n, n_columns)), rng.integers(0, 2, n)
    X_test, y_test = rng.integers(0, 4, (1000, n_columns)), rng.integers(0, 2, 1000)
    model = HDPBackoffClassifier(max_iter=12, random_state=0).fit(X, y)
    assert log_loss(y_test, model.predict_proba(X_test)) < np.log(2.0) + 0.02


@pytest.mark.parametrize(("n", "n_columns"), [(200, 30), (300, 60)])
def test_one_column_that_matters_is_found_among_many(n, n_columns):
    """The number of chains is bounded."""
    rng = np.random.default_rng(0)
    X, X_test = rng.integers(0, 4, (n, n_columns)), rng.integers(0, 4, (1000, n_columns))
    p = np.array([0.1, 0.2, 0.8, 0.9])
    y, y_test = (rng.random(n) < p[X[:, 5]]), (rng.random(1000) < p[X_test[:, 5]])
    model = HDPBackoffClassifier(max_iter=12, random_state=0).fit(X, y)
    assert len(model.chains_) <= 40
    assert [5] in model.chains_
    alone = HDPBackoffClassifier([5], max_iter=12, random_state=0).fit(X, y)
    losses = [log_loss(y_test, each.predict_proba(X_test)) for each in (model, alone)]
    assert losses[0] < losses[1] + 0.03


def test_unseen_categories_drop_their_columns():
    """A row with an unseen value in one column is predicted by the others."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, 800), rng.integers(0, 4, 800)])
    y = (X[:, 1] + (rng.random(800) < 0.1 * (X[:, 0] % 3))) % 4
    model = HDPBackoffClassifier(**FEW).fit(X, y)
    new = np.array([[99, 0], [99, 1], [99, 2], [99, 3]])
    assert model.predict(new).tolist() == [0, 1, 2, 3]
    assert model.predict_proba(new).max(axis=1).min() > 0.8
    nothing = model.predict_proba([[99, 99]])
    assert_allclose(nothing.ravel(), np.bincount(y) / 800, atol=0.1)


def make_rare_class(n, seed):
    """Return rows of few large contexts, and a rare class that needs several zeros."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, 6))
    return X, (rng.random(n) < np.where((X == 0).sum(axis=1) > 2, 0.5, 0.01)).astype(int)


def test_new_categories_of_large_contexts_do_not_count():
    """Contexts that were seen are large, and are no evidence about the classes of a new one."""
    (X, y), (X_test, y_test) = make_rare_class(1200, 1), make_rare_class(2000, 2)
    model = HDPBackoffClassifier(**FEW).fit(X, y)
    new = X_test.copy()
    new[:, :3] = 9
    without = HDPBackoffClassifier(**FEW).fit(X[:, 3:], y)
    expected = without.score_samples(X_test[:, 3:], y_test).mean()
    assert model.score_samples(new, y_test).mean() > expected - 0.01
    nothing = np.full((1, 6), 9)
    assert_allclose(model.predict_proba(nothing)[0, 1], y.mean(), atol=0.01)
    steps = model.explain(nothing)[0]
    assert len(steps) == 7
    assert {step.probability for step in steps} == {steps[0].probability}


def test_new_categories_of_a_heavy_tailed_column_count():
    """Categories that occur once are the evidence about new ones."""
    rng = np.random.default_rng(0)
    frequent = rng.integers(0, 5, 600)
    X = np.column_stack([np.where(rng.random(600) < 0.3, 100 + np.arange(600), frequent), frequent])
    y = (rng.random(600) < np.where(X[:, 0] >= 100, 0.8, 0.05 + 0.05 * X[:, 1])).astype(int)
    model = HDPBackoffClassifier(**FEW).fit(X, y)
    assert [0] in model.chains_
    rare, new = model.predict_proba([[100, 1], [999, 1]])[:, 1]
    assert new > 0.6
    assert new == pytest.approx(rare, abs=0.2)
    shuffled = HDPBackoffClassifier(**FEW).fit(X, rng.permutation(y))
    assert shuffled.predict_proba([[999, 1]])[0, 1] == pytest.approx(y.mean(), abs=0.05)


def test_columns_that_say_nothing_or_the_same():
    X, y = make_rows(300)
    X[:, 3] = 7
    same = np.column_stack([X, X[:, :2]])
    for columns in (X, same):
        model = HDPBackoffClassifier(**FEW).fit(columns, y)
        assert not any(3 in chain for chain in model.chains_)
        assert np.isfinite(model.predict_log_proba(columns)).all()
    constant = HDPBackoffClassifier(**FEW).fit(np.zeros((20, 2)), [0, 1] * 10)
    assert constant.chains_ == []
    assert_allclose(constant.predict_proba([[0, 0], [5, 0]]), 0.5, atol=0.1)
    single = HDPBackoffClassifier(**FEW).fit(X, np.full(300, 5))
    assert_allclose(single.predict_proba(X[:3]), 1.0)


def test_explanations():
    X, y = make_rows()
    frame = pd.DataFrame(X, columns=["far", "near", "other", "last"])
    model = HDPBackoffClassifier(**FEW).fit(frame, y)
    assert all(isinstance(name, str) for chain in model.chains_ for name in chain)
    rows = frame[:7].assign(far=[0, 1, 2, 3, 9, 9, 0])
    proba = model.predict_proba(rows)
    for steps, p in zip(model.explain(rows), proba, strict=True):
        assert steps[0].level == "root"
        assert [step.level for step in steps[1:]] == [" > ".join(c) for c in model.chains_]
        weights = np.array([step.weight for step in steps])
        assert weights.sum() == pytest.approx(1.0)
        assert_allclose(weights[1:], model.chain_weights_)
        chances = np.array([step.probability for step in steps])
        assert np.all((chances > 0.0) & (chances <= 1.0))
        share = np.prod(chances[None] ** weights)  # up to the constant of the product
        assert share > 0.0
        assert p.max() <= 1.0
    table = model.explain(rows, as_frame=True)
    assert len(table) == 7 * (1 + len(model.chains_))
    seen = next(s for s in model.explain(rows)[0] if s.level == "far")
    assert seen.context == (0,)
    assert seen.customers >= 1.0


def test_states_and_traces():
    X, y = make_rows(200)
    model = HDPBackoffClassifier(max_iter=12, random_state=0)
    states = [state.copy() for state in model.iter_sweeps(X, y)]
    model.fit(X, y)
    assert len(states) == 12
    state = states[-1]
    assert state.columns == [(), *map(tuple, model.chains_)]
    assert state.chains[0].customers[0].sum() == 200
    joints = [each.log_joint() for each in state.chains]
    assert state.log_joint() == pytest.approx(sum(joints))
    assert model.trace_["log_joint"][0, -1] == pytest.approx(state.log_joint())
    model.set_params(levels=[0, 1]).fit(X, y)
    assert not hasattr(model, "chains_")
    assert model.predict_proba(X).shape == (200, 3)


def test_laws_of_all_chains():
    X, y = make_rows(50)
    fixed = HDPBackoffClassifier(discount=np.float64(0.3), concentration=np.float32(2.0), **FEW)
    fixed.fit(X, y)
    for discounts in fixed.discounts_:
        assert_allclose(discounts, 0.3)


def test_large_classes_and_many_rows_are_sampled():
    """Weights depend on a part of the events, chosen without regard to the order of rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 300, (6000, 2))
    y = X[:, 0] // 20
    order = rng.permutation(6000)
    model = HDPBackoffClassifier(max_iter=12, random_state=0)
    found = clone(model).fit(X, y)
    again = clone(model).fit(X[order], y[order])
    assert_array_equal(found.predict_proba(X[:50]), again.predict_proba(X[:50]))
    assert found.score(X, y) > 0.99
