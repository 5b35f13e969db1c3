"""Parts of refined grammars: words, splits, renamed and joined subsymbols, top-level weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skdp.grammar import ParseTree, binarize
from skdp.grammar._chart._ascents import MIN_WEIGHT, TopPrior
from skdp.grammar._refinement import _ascent
from skdp.grammar._refinement._treebank import CoarseRules, TreebankLexicon, flatten


def test_rare_words_become_classes():
    """First words have classes of their own."""
    sentences = [["The", "dog", "ran"], ["Dogs", "the", "dog"], ["the", "walking", "talking"]]

    def names_of(lexicon, sentence):
        return [lexicon.names[i] for i in lexicon.encode(sentence)]

    lexicon = TreebankLexicon(sentences, 2)
    assert names_of(lexicon, ["the", "dog", "ran"]) == ["the", "dog", "UNK"]
    assert names_of(lexicon, ["the", "jumping"]) == ["the", "UNK:-ing"]
    assert names_of(lexicon, ["Cats", "Cats"]) == ["^UNK:initial", "UNK"]
    assert lexicon.names[: lexicon.n_known] == ["dog", "the"]
    lexicon = TreebankLexicon(sentences, 1)
    assert names_of(lexicon, sentences[0]) == sentences[0]
    assert names_of(lexicon, ["new", "new"]) == ["^UNK", "UNK"]
    assert len(lexicon) == lexicon.n_known + 2


# Splits


def treebank():
    texts = (
        "(S (X (A a) (B b)) (Y (X (A c))))", "(S (Y (X (A a)) (X (B b))) (X (A a) (A c)))",
        "(X (B b))",
    )  # fmt: skip
    trees = [binarize(ParseTree.from_brackets(text)) for text in texts]
    lexicon = TreebankLexicon([tree.leaves for tree in trees], 1)
    return flatten(trees, [lexicon.encode(tree.leaves) for tree in trees])


@pytest.mark.parametrize(
    ("n_components", "sizes"),
    [(1, [1]), (2, [2]), (15, [15]), (16, [2, 4, 8, 16]), (20, [3, 5, 10, 20])],
)
def test_sizes(n_components, sizes):
    assert _ascent._sizes(n_components) == sizes


@pytest.mark.parametrize("n_components", [3, 4, 5, 6])
def test_split_grammar_is_the_same(monkeypatch, n_components):
    """But for the noise: trees keep their probability, halves have the counts of what was one."""
    trees, rng = treebank(), np.random.default_rng(0)
    coarse = _ascent.count_coarse(trees)
    logs = _ascent.split(
        _ascent.RefinedTables(*(np.log(part + 1.0) - 3.0 for part in coarse)), 3, rng
    )
    monkeypatch.setattr(_ascent, "_NOISE", 0.0)
    before, counts = _ascent.expect(trees, logs)
    after, new_counts = _ascent.expect(trees, _ascent.split(logs, n_components, rng))
    assert_allclose(after, before, rtol=1e-12)
    for old, new in zip(counts, new_counts, strict=True):
        totals = (table.reshape(len(table), -1).sum(axis=1) for table in (new, old))
        assert_allclose(*totals)
    if n_components == 6:
        assert_allclose(new_counts.root.reshape(-1, 3, 2).sum(axis=2), counts.root)


def test_noise():
    """Halves differ, by at most that, and evenly."""
    flat = _ascent.RefinedTables(*map(np.zeros_like, _ascent.count_coarse(treebank())))
    made = _ascent.split(flat, 8, np.random.default_rng(0))
    shift = made.binary + 2.0 * np.log(8.0)
    assert np.all(np.abs(shift) <= 0.5)
    assert np.abs(shift).max() > 0.49
    assert abs(shift.mean()) < 6.0 * np.sqrt(1.0 / 12.0 / shift.size)


# Joined and renamed subsymbols, against uses of rules changed one by one

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


def count(uses, rename=lambda symbol, subsymbol: subsymbol):
    """Count uses after subsymbols have been renamed."""
    tables = {name: np.zeros((len(o), *[K] * o.shape[1])) for name, o in OWNERS.items()}
    for name, rule, subsymbols in uses:
        tables[name][(rule, *map(rename, OWNERS[name][rule], subsymbols))] += 1.0
    return _ascent.RefinedTables(**tables)


@pytest.mark.parametrize("symbol", [0, 1, 2])
def test_join(symbol):
    uses = draw_uses()
    found = _ascent.joined(count(uses), RULES, symbol, 2, 0)
    expected = count(uses, lambda s, z: 0 if s == symbol and z == 2 else z)
    for table, other in zip(found, expected, strict=True):
        assert_array_equal(table, other)


def test_rename():
    order = np.array([[2, 0, 1], [1, 0, 2], [0, 1, 2]])
    place = np.argsort(order, axis=1)  # subsymbol order[s, i] becomes i
    counts, expected = count(draw_uses()), count(draw_uses(), lambda s, z: int(place[s, z]))
    for table, other in zip(_ascent.renamed(counts, order, RULES), expected, strict=True):
        assert_array_equal(table, other)


# Top-level weights

RNG = np.random.default_rng(0)
N_SYMBOLS, N_SUBSYMBOLS = 3, 4
CHILDREN = _ascent.ChildRows(
    1.5, np.array([0, 2], dtype=np.int32), -RNG.gamma(4.0, size=(2, N_SUBSYMBOLS)),
    np.array([1.0, 4.0]),
)  # fmt: skip
PAIRS = _ascent.PairRows(
    2.5, np.array([0, 1, 2], dtype=np.int32), np.array([1, 1, 0], dtype=np.int32),
    -RNG.gamma(20.0, size=(3, N_SUBSYMBOLS, N_SUBSYMBOLS)), np.array([4.0, 8.0, 4.0]),
)  # fmt: skip


@pytest.mark.parametrize("concentration", [0.5, 1.0, 3.0])
def test_gradient_matches_differences(concentration):
    """Without counts the prior is left: the sum over symbols."""
    beta = RNG.dirichlet(np.full(N_SUBSYMBOLS, 2.0), N_SYMBOLS)
    slopes = _ascent.log_joint(beta, concentration, CHILDREN, PAIRS)[1]
    step = 1e-6
    for s in range(N_SYMBOLS):
        for i in range(N_SUBSYMBOLS - 1):
            values = []
            for sign in (1.0, -1.0):  # along the simplex
                moved = beta.copy()
                moved[s, [i, -1]] += sign * step, -sign * step
                values.append(_ascent.log_joint(moved, concentration, CHILDREN, PAIRS)[0])
            difference = (values[0] - values[1]) / (2.0 * step)
            assert difference == pytest.approx(slopes[s, i] - slopes[s, -1], rel=1e-5, abs=1e-5)
    prior = TopPrior("gem", concentration)
    expected = sum(prior.log_density(row) for row in beta)
    assert _ascent.log_gem(beta, concentration)[0] == pytest.approx(expected)
    assert _ascent.log_gem(np.ones((2, 1)), concentration)[0] == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_maximize_climbs(seed):
    beta = np.random.default_rng(seed).dirichlet(np.full(N_SUBSYMBOLS, 1.0), N_SYMBOLS)
    beta = MIN_WEIGHT + (1.0 - N_SUBSYMBOLS * MIN_WEIGHT) * beta
    found = _ascent.maximize(beta, 1.0, CHILDREN, PAIRS)
    assert_allclose(found.sum(axis=1), 1.0)
    assert found.min() >= MIN_WEIGHT * (1.0 - 1e-6)
    before, after = (_ascent.log_joint(b, 1.0, CHILDREN, PAIRS)[0] for b in (beta, found))
    assert after > before
