"""Starts of refined grammars."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skdp.data._binarize import binarize
from skdp.data._parse_tree import ParseTree
from skdp.grammar._refinement import _ascent as _refinement
from skdp.grammar._refinement._ascent import _sizes, split
from skdp.grammar._refinement._lexicon import TreebankLexicon
from skdp.grammar._refinement._messages import expect
from skdp.grammar._refinement._treebank import flatten

TREES = [
    binarize(ParseTree.from_brackets(text))
    for text in (
        "(S (X (A a) (B b)) (Y (X (A c))))", "(S (Y (X (A a)) (X (B b))) (X (A a) (A c)))",
        "(X (B b))",
    )
]  # fmt: skip


def treebank():
    sentences = [tree.leaves for tree in TREES]
    lexicon = TreebankLexicon(sentences, 1)
    return flatten(TREES, [lexicon.encode(sentence) for sentence in sentences])


@pytest.mark.parametrize(
    ("n_components", "sizes"),
    [(1, [1]), (2, [2]), (15, [15]), (16, [2, 4, 8, 16]), (20, [3, 5, 10, 20])],
)
def test_sizes(n_components, sizes):
    assert _sizes(n_components) == sizes


@pytest.mark.parametrize("n_components", [3, 4, 5, 6])
def test_split_grammar_is_the_same(monkeypatch, n_components):
    """But for the noise: trees keep their probability, halves have the counts of what was one."""
    trees, rng = treebank(), np.random.default_rng(0)
    coarse = _refinement.count_coarse(trees)
    logs = split(type(coarse)(*(np.log(part + 1.0) - 3.0 for part in coarse)), 3, rng)
    monkeypatch.setattr(_refinement, "_NOISE", 0.0)
    before, counts = expect(trees, logs)
    after, new_counts = expect(trees, split(logs, n_components, rng))
    assert_allclose(after, before, rtol=1e-12)
    for old, new in zip(counts, new_counts, strict=True):
        totals = (table.reshape(len(table), -1).sum(axis=1) for table in (new, old))
        assert_allclose(*totals)
    if n_components == 6:
        assert_allclose(new_counts.root.reshape(-1, 3, 2).sum(axis=2), counts.root)


def test_noise():
    """Halves differ, by at most that, and evenly."""
    trees, rng = treebank(), np.random.default_rng(0)
    coarse = _refinement.count_coarse(trees)
    logs = type(coarse)(*(np.zeros_like(part) for part in coarse))
    made = split(logs, 8, rng)
    shift = made.binary + 2.0 * np.log(8.0)
    assert np.all(np.abs(shift) <= 0.5)
    assert np.abs(shift).max() > 0.49
    assert abs(shift.mean()) < 6.0 * np.sqrt(1.0 / 12.0 / shift.size)
