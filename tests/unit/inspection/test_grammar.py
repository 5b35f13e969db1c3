import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from skdp.datasets import make_pcfg_corpus
from skdp.inspection import GrammarDisplay

# Partitioned: preterminals 0, 1, 2 and constituents 3, 4; 2 is never reached, 4 hardly.
ROOT = np.array([0.1, 0.0, 0.0, 0.9, 0.0])
TYPES = np.array([[0.7, 0.2, 0.0, 0.1], [1.0, 0.0, 0.0, 0.0]])
EMISSION = np.array([[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.0, 1.0]])
BINARY = np.zeros((2, 5, 5))
BINARY[0, 0, 1], BINARY[0, 0, 3], BINARY[0, 3, 3] = 0.7, 0.2, 0.0995
BINARY[0, 4, 4] = 0.0005
BINARY[1, 0, 0] = 1.0
SHARES = np.array([0.4, 0.2, 0.0, 0.2995, 0.1005])
WORDS = ["the", "a", "cat", "dog"]


class Known(BaseEstimator):
    """A stand-in for a fitted grammar with its own preterminals."""

    def __init__(self, shares=True):
        self.shares = shares

    def fit(self, X=None, y=None):
        self.root_probs_, self.rule_type_probs_ = ROOT, TYPES
        self.emission_probs_, self.binary_probs_ = EMISSION, BINARY
        if self.shares:
            self.symbol_shares_ = SHARES
        return self


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
    names = display.symbol_names
    lines = []
    for rule in display.rules_:
        left = "start" if rule.symbol < 0 else names[rule.symbol]
        right = [names[k] for k in rule.right]
        right += [f"{display.feature_names[w]}:{p:.2f}" for w, p in rule.words]
        lines.append(f"{left} -> {' '.join(right)} {rule.probability:.2f}")
    return lines


def test_rules(mouse):
    assert rules_of(mouse.plot()) == [
        "start -> S 1.00",
        "S -> NP VP 1.00",
        "NP -> DT NPBAR 0.50",
        "NP -> DT NN 0.50",
        "VP -> VB NP 1.00",
        "DT -> the:0.50 a:0.50 1.00",
        "NPBAR -> JJ NPBAR 0.50",
        "NPBAR -> JJ NN 0.50",
        "NN -> mouse:0.33 cat:0.33 dog:0.33 1.00",
        "VB -> chased:0.50 ate:0.50 1.00",
        "JJ -> big:0.50 black:0.50 1.00",
    ]
    assert mouse.n_active_rules_ == 15
    assert mouse.symbols_.tolist() == [0, 1, 3, 4, 2, 6, 7, 5]


def test_bars_and_boxes(mouse):
    mouse.plot()
    widths = np.array([bar.get_width() for bar in mouse.bars_])
    probabilities = np.array([rule.probability for rule in mouse.rules_])
    np.testing.assert_allclose(widths / widths[0], probabilities)
    boxes = [box.get_text() for box in mouse.boxes_]
    assert boxes[:6] == ["start", "S", "S", "NP", "VP", "NP"]
    colors = {}
    for box in mouse.boxes_:
        edge = to_hex(box.get_bbox_patch().get_edgecolor())
        assert colors.setdefault(box.get_text(), edge) == edge
    assert len(set(colors.values())) == len(colors) == 9


def check_texts(display):
    """No text lies over another one, and all are in the figure."""
    renderer = display.figure_.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in display.ax_.texts]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert display.figure_.bbox.contains(*box.min)
        assert display.figure_.bbox.contains(*box.max)


def test_texts_do_not_overlap(mouse):
    check_texts(mouse.plot())


def columns_of(display):
    """Return the left ends of the bars, each once."""
    return np.unique(np.round([bar.get_x() for bar in display.bars_], 6))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 9, 30])
def test_columns(mouse, n_columns):
    """The requested number, or all symbols, are drawn, the start included; all have headings."""
    mouse.plot(n_columns=n_columns)
    expected = min(n_columns, 9)
    assert len(columns_of(mouse)) == expected
    texts = [text.get_text() for text in mouse.ax_.texts]
    assert texts.count("probability") == texts.count("becomes") == expected
    assert "share" not in texts
    order = [(bar.get_x(), bar.get_y()) for bar in mouse.bars_]
    assert order == sorted(order)  # down, then to the right
    of_symbols = {}
    for rule, bar in zip(mouse.rules_, mouse.bars_, strict=True):
        of_symbols.setdefault(rule.symbol, set()).add(round(bar.get_x(), 6))
    assert all(len(places) == 1 for places in of_symbols.values())
    check_texts(mouse)


def test_columns_are_as_high_as_each_other(mouse):
    """Blocks of 1, 1, 2, 1, 1, 2, 1, 1 and 1 lines, with gaps, in two columns."""
    mouse.plot(n_columns=2)
    first = min(bar.get_x() for bar in mouse.bars_)
    assert [bar.get_x() == first for bar in mouse.bars_].count(True) == 6


def test_columns_suit_the_axes(mouse):
    """A wide one has more than a high one, and texts are as large as they can be."""
    sizes = {}
    for shape in [(16, 3), (4, 9)]:
        counts = {}
        for n_columns in (None, 1, 2, 3, 4):
            ax = plt.figure(figsize=shape).add_axes((0, 0, 1, 1))
            mouse.plot(ax, n_columns=n_columns)
            counts[n_columns] = mouse.boxes_[0].get_size()
            plt.close(ax.figure)
            if n_columns is None:
                sizes[shape] = len(columns_of(mouse))
        assert counts.pop(None) >= max(counts.values())
    assert sizes[16, 3] > sizes[4, 9] == 1


def test_a_large_grammar_is_no_strip():
    """A stand-in for a grammar of fourteen symbols with four rules each."""
    rng = np.random.default_rng(0)
    types = np.full((14, 2), 0.5)
    binary = np.zeros((14, 14, 14))
    for k in range(14):
        binary[k].flat[rng.choice(196, 4, replace=False)] = 0.25
    emission = rng.dirichlet(np.full(30, 0.3), size=14)
    display = GrammarDisplay(np.full(14, 1 / 14), types, emission, binary)
    display.plot()
    width, height = display.figure_.get_size_inches()
    assert 0.5 < width / height < 2.0
    check_texts(display)


def test_both_kinds_of_rules():
    """A symbol that becomes a word or two symbols; probabilities count the type."""
    binary = np.zeros((2, 2, 2))
    binary[:, 0, 1] = 1.0
    types = [[0.25, 0.75], [0.999, 0.001]]
    emission = [[1.0, 0.0], [0.5, 0.5]]
    display = GrammarDisplay([1.0, 0.0], types, emission, binary).plot(threshold=0.01)
    assert rules_of(display) == [
        "start -> S0 1.00",
        "S0 -> S0 S1 0.75",
        "S0 -> 0:1.00 0.25",
        "S1 -> 0:0.50 1:0.50 1.00",
    ]
    assert display.n_active_rules_ == 4
    assert display.plot(threshold=0.001).n_active_rules_ == 5


def test_from_estimator():
    display = GrammarDisplay.from_estimator(Known().fit(), feature_names=WORDS)
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
    texts = [text.get_text() for text in display.ax_.texts]
    assert "share" in texts
    assert ".40" in texts
    with pytest.raises(NotFittedError):
        GrammarDisplay.from_estimator(clone(Known()))


def test_without_shares():
    """Active is what active rules lead to."""
    display = GrammarDisplay.from_estimator(Known(shares=False).fit())
    assert display.symbols_.tolist() == [3, 0, 1]
    assert display.feature_names == ["0", "1", "2", "3"]
    assert "share" not in [text.get_text() for text in display.ax_.texts]
    display.plot(threshold=1e-4)
    assert display.symbols_.tolist() == [3, 0, 1, 4]


def test_shares_below_the_threshold():
    display = GrammarDisplay.from_estimator(Known().fit(), threshold=0.2)
    assert display.symbols_.tolist() == [3, 0, 1]
    assert "C0 -> C0 C0 0.10" not in rules_of(display)


def test_some_of_the_rules():
    display = GrammarDisplay.from_estimator(Known().fit(), n_rules=1, n_words=1)
    assert rules_of(display) == [
        "start -> C0 0.90",
        "C0 -> P0 P1 0.70",
        "P0 -> 0:0.60 1.00",
        "P1 -> 2:0.50 1.00",
        "C1 -> P0 P0 1.00",
    ]
    assert display.n_active_rules_ == 8
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts.count("… 1 other") == 1
    assert texts.count("… 2 others") == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"root_probs": [[1.0]]}, "root_probs must be a 1-D array of numbers, got shape"),
        ({"emission_probs": EMISSION * 2}, r"emission_probs must hold numbers in \[0, 1\]"),
        ({"rule_type_probs": TYPES[:1]}, "do not belong to one grammar"),
        ({"rule_type_probs": TYPES[:, :2]}, "do not belong to one grammar"),
        ({"binary_probs": BINARY[:, 1:]}, "do not belong to one grammar"),
        ({"emission_probs": EMISSION[:2]}, "do not belong to one grammar"),
        ({"shares": SHARES[:2]}, "shares must hold 5 numbers"),
        ({"feature_names": ["a"]}, "feature_names must hold 4 names, got 1"),
        ({"symbol_names": ["a"]}, "symbol_names must hold 5 names, got 1"),
    ],
)
def test_bad_parts(changes, message):
    parts = {
        **{"root_probs": ROOT, "rule_type_probs": TYPES},
        **{"emission_probs": EMISSION, "binary_probs": BINARY, **changes},
    }
    with pytest.raises(ValueError, match=message):
        GrammarDisplay(**parts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_columns": 0}, "n_columns must be"),
        ({"threshold": 0.0}, r"threshold must be in \(0, 1\], got 0"),
        ({"threshold": 1.0}, "No rule has a probability of threshold=1 or more"),
        ({"n_rules": 0}, "n_rules must be an integer >= 1, got 0"),
        ({"n_words": 0}, "n_words must be an integer >= 1, got 0"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        GrammarDisplay.from_estimator(Known().fit(), **options)


def test_without_matplotlib(monkeypatch, mouse):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"GrammarDisplay\.plot needs matplotlib"):
        mouse.plot()
