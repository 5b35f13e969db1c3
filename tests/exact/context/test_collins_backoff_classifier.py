"""CollinsBackoffClassifier against numbers worked out by hand, and against its formula."""

from fractions import Fraction as F

import numpy as np
import pytest

from skdp.context import CollinsBackoffClassifier

X = [["a", "p"]] * 3 + [["a", "q"], ["b", "p"], ["b", "q"]]
Y = ["x", "x", "y", "y", "z", "x"]


def test_by_hand():
    """lambda = n / (n + gamma u), gamma = 2, three classes x, y, z.
    The root: n = 6, u = 3, lambda = 1/2: x 1/4 + 1/6 = 5/12, y 1/6 + 1/6 = 1/3, z 1/12 + 1/6 = 1/4.
    a: n = 4, u = 2, lambda = 1/2: x 1/4 + 5/24 = 11/24, y 1/4 + 1/6 = 5/12, z 1/8.
    a p: n = 3, u = 2, lambda = 3/7: x 2/7 + (4/7)(11/24) = 23/42, y 1/7 + 5/21 = 8/21, z 1/14."""
    model = CollinsBackoffClassifier(gamma=2.0).fit(X, Y)
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert model.n_contexts_.tolist() == [1, 2, 4]
    expected = [
        [F(23, 42), F(8, 21), F(1, 14)],  # a p
        [F(11, 24), F(5, 12), F(1, 8)],  # a, then what was not seen
        [F(5, 12), F(1, 3), F(1, 4)],  # not seen: lambda = 0 at both levels
        [F(5, 12), F(1, 3), F(1, 4)],
    ]
    found = model.predict_proba([["a", "p"], ["a", "new"], ["new", "p"], ["new", "new"]])
    np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-12)


def formula(rows, y, row, classes, levels, gamma, *, root):
    """Return the distribution in the context of a row, by (2.3)-(2.5)."""
    p = np.full(len(classes), 1.0 / len(classes))
    for k in range(not root, len(levels) + 1):
        columns = [column for level in levels[:k] for column in level]
        here = [
            label
            for other, label in zip(rows, y, strict=True)
            if all(other[j] == row[j] for j in columns)
        ]
        n, u = len(here), len(set(here))
        weight = n / (n + gamma * u) if n else 0.0
        counts = np.array([here.count(label) for label in classes])
        p = weight * counts / max(n, 1) + (1.0 - weight) * p
    return p


@pytest.mark.parametrize("root", [True, False])
@pytest.mark.parametrize("levels", [None, [[2], [0, 3]], [1, [3, 2, 0]]])
def test_formula(levels, root):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (120, 4))
    y = rng.integers(0, 4, 120)
    model = CollinsBackoffClassifier(levels, root=root, gamma=1.5, classes=range(6)).fit(rows, y)
    groups = [[0], [1], [2], [3]] if levels is None else levels
    groups = [group if isinstance(group, list) else [group] for group in groups]
    new = rng.integers(0, 4, (60, 4))  # 3 was not seen
    expected = [formula(rows, y.tolist(), row, range(6), groups, 1.5, root=root) for row in new]
    np.testing.assert_allclose(model.predict_proba(new), expected, rtol=1e-12)
    labels = rng.integers(0, 6, 60)
    scores = np.log([p[label] for p, label in zip(expected, labels, strict=True)])
    np.testing.assert_allclose(model.score_samples(new, labels), scores, rtol=1e-12)


def test_weights_of_all_levels():
    """What `explain` says: lambdas, diluted by those of narrower contexts."""
    model = CollinsBackoffClassifier(gamma=2.0).fit(X, Y)
    base, root, a, a_p = model.explain([["a", "p"]])[0]
    assert [step.level for step in (base, root, a, a_p)] == ["base", "root", "column 0", "column 1"]
    assert [step.context for step in (base, root, a, a_p)] == [(), (), ("a",), ("a", "p")]
    assert [step.customers for step in (root, a, a_p)] == [6, 4, 3]
    assert [step.tables for step in (root, a, a_p)] == [3, 2, 2]
    weights = [F(4, 7) * F(1, 2) * F(1, 2), F(4, 7) * F(1, 2) * F(1, 2), F(4, 7) * F(1, 2), F(3, 7)]
    np.testing.assert_allclose(
        [step.weight for step in (base, root, a, a_p)], np.array(weights, dtype=float)
    )
    # of x, the most probable: 1/3, 3/6, 2/4 and 2/3 of the counts
    shares = [F(1, 3), F(1, 2), F(1, 2), F(2, 3)]
    expected = [weight * share for weight, share in zip(weights, shares, strict=True)]
    found = [step.probability for step in (base, root, a, a_p)]
    np.testing.assert_allclose(found, np.array(expected, dtype=float))
    assert sum(found) == pytest.approx(model.predict_proba([["a", "p"]]).max())
