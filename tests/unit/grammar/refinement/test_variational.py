"""Joining and renaming subsymbols, against uses of rules changed one by one."""

import numpy as np
import pytest

from skdp.grammar._refinement._messages import RefinedTables
from skdp.grammar._refinement._treebank import CoarseRules
from skdp.grammar._refinement._variational import _join, _rename

K = 3
RULES = CoarseRules(
    ("A", "B", "C"),
    np.array([0, 1], dtype=np.int32),
    np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int32),
    np.array([[0, 1], [1, 0], [1, 1]], dtype=np.int32),
    np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0], [2, 1, 2]], dtype=np.int32),
    1,
)
# What stands in a table's axes after the rule: children from left to right, then the parent.
OWNERS = {
    "root": RULES.roots[:, None],
    "emission": RULES.emission[:, :1],
    "unary": RULES.unary[:, [1, 0]],
    "binary": RULES.binary[:, [1, 2, 0]],
}


def draw_uses(n_uses=60):
    """Return uses of rules: the table, the rule, and the subsymbols in the order of the axes."""
    rng = np.random.default_rng(0)
    return [
        (name, rule, tuple(int(z) for z in rng.integers(K, size=owners.shape[1])))
        for name, owners in OWNERS.items()
        for rule in rng.integers(len(owners), size=n_uses)
    ]


def count(uses):
    tables = {name: np.zeros((len(o), *[K] * o.shape[1])) for name, o in OWNERS.items()}
    for name, rule, subsymbols in uses:
        tables[name][(rule, *subsymbols)] += 1.0
    return RefinedTables(**tables)


def change(uses, rename):
    """Return the same uses with other subsymbols: ``rename(symbol, subsymbol)``."""
    return [
        (name, rule, tuple(map(rename, OWNERS[name][rule], subsymbols)))
        for name, rule, subsymbols in uses
    ]


@pytest.mark.parametrize("symbol", [0, 1, 2])
def test_join(symbol):
    def rename(s, z):
        return 0 if s == symbol and z == 2 else z

    uses = draw_uses()
    found = _join(count(uses), RULES, symbol, 2, 0)
    for table, expected in zip(found, count(change(uses, rename)), strict=True):
        np.testing.assert_array_equal(table, expected)


@pytest.mark.parametrize(("name", "rules"), [("unary", RULES.unary), ("binary", RULES.binary)])
def test_rename(name, rules):
    order = np.array([[2, 0, 1], [1, 0, 2], [0, 1, 2]])
    place = np.argsort(order, axis=1)  # subsymbol order[s, i] becomes i
    uses = draw_uses()
    found = _rename(getattr(count(uses), name), order, rules)
    expected = getattr(count(change(uses, lambda s, z: int(place[s, z]))), name)
    np.testing.assert_array_equal(found, expected)
