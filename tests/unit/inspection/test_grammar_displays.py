"""Rules of grammars, and parse trees."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from registry import fitted
from sklearn.base import BaseEstimator
from unit.inspection.figures import axes_of, check_texts

from skdp.datasets import make_pcfg_corpus
from skdp.grammar import ParseTree
from skdp.inspection import GrammarDisplay, ParseTreeDisplay


def texts_in(display):
    return [text.get_text() for text in display.ax_.texts]


# --- rules ----------------------------------------------------------------------------------------


class Known(BaseEstimator):
    """Like a fitted grammar with its own preterminals. These are 0, 1 and 2, of which 2 is never
    reached; 3 and 4 are constituents, 4 hardly reached."""

    root_probs_ = np.array([0.1, 0.0, 0.0, 0.9, 0.0])
    rule_type_probs_ = np.array([[0.7, 0.2, 0.0, 0.1], [1.0, 0.0, 0.0, 0.0]])
    emission_probs_ = np.array([[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.0, 1.0]])
    binary_probs_ = np.zeros((2, 5, 5))
    binary_probs_[0, [0, 0, 3, 4], [1, 3, 3, 4]] = 0.7, 0.2, 0.0995, 0.0005
    binary_probs_[1, 0, 0] = 1.0

    def fit(self, X):
        return self

    def __sklearn_is_fitted__(self):
        return True


class Shared(Known):
    symbol_shares_ = np.array([0.4, 0.2, 0.0, 0.2995, 0.1005])


@pytest.fixture
def mouse():
    corpus = make_pcfg_corpus(1)
    return GrammarDisplay(
        *(corpus.root, corpus.rule_type, corpus.emission, corpus.binary),
        feature_names=corpus.feature_names,
        symbol_names=corpus.symbols,
    )


def rules_of(display):
    """Return the lines as text: symbol, what it becomes, probability."""
    names, lines = display.symbol_names, []
    for rule in display.rules_:
        left = "start" if rule.symbol < 0 else names[rule.symbol]
        right = [names[k] for k in rule.right]
        right += [f"{display.feature_names[w]}:{p:.2f}" for w, p in rule.words]
        lines.append(f"{left} -> {' '.join(right)} {rule.probability:.2f}")
    return lines


def test_rules(mouse):
    assert rules_of(mouse.plot()) == [
        "start -> S 1.00", "S -> NP VP 1.00", "NP -> DT NPBAR 0.50", "NP -> DT NN 0.50",
        "VP -> VB NP 1.00", "DT -> the:0.50 a:0.50 1.00", "NPBAR -> JJ NPBAR 0.50",
        "NPBAR -> JJ NN 0.50", "NN -> mouse:0.33 cat:0.33 dog:0.33 1.00",
        "VB -> chased:0.50 ate:0.50 1.00", "JJ -> big:0.50 black:0.50 1.00",
    ]  # fmt: skip
    assert mouse.n_active_rules_ == 15
    assert mouse.symbols_.tolist() == [0, 1, 3, 4, 2, 6, 7, 5]
    widths = np.array([bar.get_width() for bar in mouse.bars_])
    probabilities = [rule.probability for rule in mouse.rules_]
    np.testing.assert_allclose(widths / widths[0], probabilities)
    assert [box.get_text() for box in mouse.boxes_][:6] == ["start", "S", "S", "NP", "VP", "NP"]
    colors = {}
    for box in mouse.boxes_:
        edge = to_hex(box.get_bbox_patch().get_edgecolor())
        assert colors.setdefault(box.get_text(), edge) == edge
    assert len(set(colors.values())) == len(colors) == 9


def columns_of(display):
    """Return the left ends of the bars, each once."""
    return np.unique(np.round([bar.get_x() for bar in display.bars_], 6))


@pytest.mark.parametrize("n_columns", [1, 2, 9, 30])
def test_columns(mouse, n_columns):
    """The requested number, or all symbols, are drawn, the start included; all have headings."""
    mouse.plot(n_columns=n_columns)
    expected = min(n_columns, 9)
    assert len(columns_of(mouse)) == expected
    texts = texts_in(mouse)
    assert texts.count("probability") == texts.count("becomes") == expected
    assert "share" not in texts
    order = [(bar.get_x(), bar.get_y()) for bar in mouse.bars_]
    assert order == sorted(order)  # down, then to the right
    of_symbols = {}
    for rule, bar in zip(mouse.rules_, mouse.bars_, strict=True):
        of_symbols.setdefault(rule.symbol, set()).add(round(bar.get_x(), 6))
    assert all(len(places) == 1 for places in of_symbols.values())
    check_texts(mouse)
    if n_columns == 2:  # blocks of 1, 1, 2, 1, 1, 2, 1, 1 and 1 lines, with gaps
        assert [x for x, _ in order].count(order[0][0]) == 6


def test_columns_of_rules_suit_the_axes(mouse):
    """A wide one has more than a high one, and texts are as large as they can be."""
    found = []
    for shape in ((16, 3), (4, 9)):
        sizes = [
            mouse.plot(axes_of(*shape), n_columns=n).boxes_[0].get_size() for n in (1, 2, 3, 4)
        ]
        assert mouse.plot(axes_of(*shape)).boxes_[0].get_size() >= max(sizes)
        found.append(len(columns_of(mouse)))
    assert found[0] > found[1] == 1


def test_a_large_grammar_is_no_strip():
    """Fourteen symbols with four rules each."""
    rng = np.random.default_rng(0)
    binary = np.zeros((14, 14, 14))
    for k in range(14):
        binary[k].flat[rng.choice(196, 4, replace=False)] = 0.25
    emission = rng.dirichlet(np.full(30, 0.3), size=14)
    parts = np.full(14, 1 / 14), np.full((14, 2), 0.5), emission, binary
    display = GrammarDisplay(*parts).plot()
    width, height = display.figure_.get_size_inches()
    assert 0.5 < width / height < 2.0
    check_texts(display)


def test_both_kinds_of_rules():
    """A symbol that becomes a word or two symbols; probabilities count the type."""
    binary = np.zeros((2, 2, 2))
    binary[:, 0, 1] = 1.0
    types, emission = [[0.25, 0.75], [0.999, 0.001]], [[1.0, 0.0], [0.5, 0.5]]
    display = GrammarDisplay([1.0, 0.0], types, emission, binary).plot(threshold=0.01)
    assert rules_of(display) == [
        "start -> S0 1.00", "S0 -> S0 S1 0.75", "S0 -> 0:1.00 0.25", "S1 -> 0:0.50 1:0.50 1.00",
    ]  # fmt: skip
    assert display.n_active_rules_ == 4
    assert display.plot(threshold=0.001).n_active_rules_ == 5


def test_rules_of_a_model():
    words = ["the", "a", "cat", "dog"]
    display = GrammarDisplay.from_estimator(Shared(), feature_names=words)
    assert rules_of(display) == [
        "start -> C0 0.90",
        "start -> P0 0.10",
        "C0 -> P0 P1 0.70",
        "C0 -> P0 C0 0.20",
        "C0 -> C0 C0 0.10",
        "P0 -> the:0.60 a:0.40 1.00",
        "P1 -> cat:0.50 dog:0.50 1.00",
        "C1 -> P0 P0 1.00",  # by its share, though no active rule leads there
    ]
    assert display.n_active_rules_ == 8
    assert {"share", ".40"} < set(texts_in(display))
    display.plot(threshold=0.2)
    assert display.symbols_.tolist() == [3, 0, 1]
    assert "C0 -> C0 C0 0.10" not in rules_of(display)
    display.plot(n_rules=1, n_words=1)
    assert rules_of(display) == [
        "start -> C0 0.90", "C0 -> P0 P1 0.70", "P0 -> the:0.60 1.00", "P1 -> cat:0.50 1.00",
        "C1 -> P0 P0 1.00",
    ]  # fmt: skip
    assert display.n_active_rules_ == 8
    assert texts_in(display).count("… 1 other") == texts_in(display).count("… 2 others") == 1


def test_without_shares():
    """Active is what active rules lead to."""
    display = GrammarDisplay.from_estimator(Known())
    assert display.symbols_.tolist() == [3, 0, 1]
    assert display.feature_names == ["0", "1", "2", "3"]
    assert "share" not in texts_in(display)
    assert display.plot(threshold=1e-4).symbols_.tolist() == [3, 0, 1, 4]


# --- parse trees ----------------------------------------------------------------------------------

TEXTS = ["(S (NP he) (VP ran off))", "(S (NP (DT the) (NN cat)) (VP sat))", "(X $a$ $b$)"]
TREES = [ParseTree.from_brackets(text) for text in TEXTS]


def texts_of(display, i=0):
    return [text.get_text() for text in display.texts_[i]]


def test_lines_join_parents_and_children():
    display = ParseTreeDisplay(TREES[0]).plot()
    assert texts_of(display) == ["he", "NP", "ran", "off", "VP", "S"]
    styles = [text.get_style() for text in display.texts_[0]]
    assert styles == ["italic", "normal", "italic", "italic", "normal", "normal"]
    assert display.titles_ == []
    assert not display.ax_.axison
    x, y = np.transpose([text.get_position() for text in display.texts_[0]])
    parents, lines = [1, 5, 4, 4, 5], display.lines_[0].get_segments()
    for i, (parent, (above, below)) in enumerate(zip(parents, lines, strict=True)):
        assert (above[0], below[0]) == (x[parent], x[i])
        assert y[parent] < above[1] < below[1] < y[i]


def test_several_trees():
    display = ParseTreeDisplay(TREES, names=["a", "b", "c"]).plot(n_columns=2)
    assert [texts_of(display, i)[-1] for i in range(3)] == ["S", "S", "X"]
    assert [title.get_text() for title in display.titles_] == ["a", "b", "c"]
    check_texts(display)


def test_columns_of_trees_suit_the_axes():
    """Next to each other in a wide one, one above the other in a high one, as large as can be."""
    for shape, expected in (((24, 2), 4), ((1, 12), 1)):
        sizes = []
        for n_columns in (1, 2, 4, None):
            display = ParseTreeDisplay([TREES[0]] * 4)
            display.plot(axes_of(*shape), n_columns=n_columns)
            sizes.append(display.texts_[0][0].get_size())
        assert sizes.pop() == max(sizes)
        assert len({texts[-1].get_position()[0] for texts in display.texts_}) == expected


def test_sizes_of_trees():
    """Texts get as small as axes ask for; a figure is as wide as its drawn texts, or 30 inches."""
    for size in ((3.0, 1.5), (1.0, 4.0)):
        check_texts(ParseTreeDisplay(TREES[:2]).plot(axes_of(*size)))
    huge = ParseTreeDisplay(ParseTree("S", [f"word{i}" for i in range(2000)])).plot()
    assert huge.figure_.get_size_inches().max() == pytest.approx(30.0)
    assert huge.texts_[0][0].get_size() < 5.0
    for letter in "Щ‰Ж—W":
        trees = [ParseTree("S", ["a", 30 * letter])] * 2
        check_texts(ParseTreeDisplay(trees, names=["one", 60 * letter]).plot(n_columns=1))


def test_trees_of_a_model():
    model, X = fitted("HDPPCFG"), [[2, 0], [1]]
    display = ParseTreeDisplay.from_estimator(model, X, names=["x", "y"], n_columns=2)
    for i, tree in enumerate(model.predict(X)):
        assert display.trees[i] == tree
        assert [text for text in texts_of(display, i) if text.isdigit()] == list(tree.leaves)
    words = np.array(["the", "cat", "sat"])
    display = ParseTreeDisplay.from_estimator(model, X, feature_names=words)
    assert texts_of(display)[0] == "sat"
    assert texts_of(display, 1)[0] == "cat"
