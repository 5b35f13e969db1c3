"""HDPBackoffFeatures: values of folds and of new rows against HDPBackoffClassifier's definition."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from skdp.context import HDPBackoffFeatures


def make_rows(n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, 3))
    y = (X[:, 0] + X[:, 1] + (rng.random(n) < 0.2)) % 3
    return X, y


FEW = {"max_iter": 6, "random_state": 0}
FOLDS = list(KFold(3, shuffle=True, random_state=1).split(np.zeros(90)))


def predictive(sample, tree, codes, n_classes):
    """Return p(class) in a context from the counts of a sample, restaurant by restaurant."""
    layout = tree.layout
    tables = np.ones(len(layout.parent), int)
    tables[layout.capacity > 1] = sample.tables
    customers = layout.observed.astype(int).copy()
    for x in range(len(customers) - 1, 0, -1):
        if layout.parent[x] >= 0:
            customers[layout.parent[x]] += tables[x]
    p = np.full(n_classes, 1.0 / n_classes)
    for m, u in enumerate(tree.find_codes([np.array([code]) for code in codes], 1)[0]):
        if u < 0:
            break
        mine = np.flatnonzero(layout.node == u)
        d, theta = sample.discount[m], sample.concentration[m]
        c, t = np.zeros(n_classes), np.zeros(n_classes)
        c[tree.outcome[mine]], t[tree.outcome[mine]] = customers[mine], tables[mine]
        p = (c - d * t + (theta + d * t.sum()) * p) / (theta + c.sum())
    return p


def test_features_are_log_probabilities_of_chains():
    X, y = make_rows()
    features = HDPBackoffFeatures([[0], [1, 0]], **FEW).fit(X, y)
    new = np.array([[0, 1, 2], [4, 4, 0], [9, 1, 0], [0, 9, 0]])
    found = features.transform(new).reshape(4, 2, 3)
    for k, (chain, fitted) in enumerate(zip(features._chains, features._fitted, strict=True)):
        assert len(fitted.samples) == 3
        for i, row in enumerate(new):
            codes = [row[j] if row[j] < 5 else -1 for j in chain]
            each = [predictive(s, fitted.tree, codes, 3) for s in fitted.samples]
            np.testing.assert_allclose(found[i, k], np.log(np.mean(each, axis=0)), rtol=1e-10)


@pytest.mark.parametrize("chains", ["single", "pairs", [[2], [0, 1, 2]]])
def test_no_label_influences_features_of_its_own_fold(chains):
    """Other labels in a fold change all features of other folds, and no bit of its own."""
    X, y = make_rows()
    features = HDPBackoffFeatures(chains, cv=FOLDS, **FEW)
    before = features.fit_transform(X, y)
    for _, test in FOLDS:
        others = y.copy()
        others[test] = (others[test] + 1) % 3
        after = features.fit_transform(X, others)
        np.testing.assert_array_equal(after[test], before[test])
        rest = np.setdiff1d(np.arange(len(y)), test)
        assert np.all(np.any(after[rest] != before[rest], axis=1))


def test_folds_are_fits_of_the_other_rows():
    """Up to the random stream, a fold's features are those of a transformer without the fold."""
    X, y = make_rows()
    long = {"max_iter": 1600, "random_state": 0}
    out_of_fold = HDPBackoffFeatures([[0, 1]], cv=FOLDS, **long).fit_transform(X, y)
    train, test = FOLDS[0]
    alone = HDPBackoffFeatures([[0, 1]], classes=[0, 1, 2], **long).fit(X[train], y[train])
    np.testing.assert_allclose(
        np.exp(out_of_fold[test]), np.exp(alone.transform(X[test])), atol=0.03
    )
