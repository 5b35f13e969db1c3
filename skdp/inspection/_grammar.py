"""Displays of the rules of a grammar, and of parse trees."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import check_count, is_number, shorten
from skdp._numeric import Floats
from skdp.data import check_sentences
from skdp.data._parse_tree import ParseTree, TreeLayout, lay_out, text_width
from skdp.inspection._axes import (
    GREY,
    LITERAL,
    PALETTE,
    Display,
    check_axes,
    check_fractions,
    check_names,
    write_name,
)
from skdp.inspection._states import check_shares

_FONT_SIZE = 10.0
_LINE, _BLOCK_GAP = 1.75, 0.7
"""Distance between lines, and additional space between two symbols, in font sizes."""
_BAR, _NUMBER, _GAP, _PAD = 7.0, 3.0, 1.0, 0.45
"""Widths of a bar of probability 1, a number, a gap, and the padding of a name in its box."""
_LARGEST = 40.0
"""Width and height of a figure, in inches."""
_START = "start"
_HEADINGS = ("symbol", "share", "probability", "becomes")
_ASPECT = (4.0, 3.0)
"""Approximate aspect ratio of a new figure, by the number of columns."""
_INCH = 72.0 / _FONT_SIZE
"""An inch in font sizes, the unit of all coordinates."""


class _TextDisplay(Display):
    """Base class of drawings of texts in figures as large as they need."""

    _left = 0.0
    """Position of texts that are written at 0."""

    def _find_room(self, ax: Any) -> Floats:
        """Return the width and height of axes, or numbers with the aspect ratio of new ones."""
        if ax is None:
            return np.array(_ASPECT)
        return check_axes(ax).get_window_extent().size / ax.figure.dpi * _INCH

    def _open_canvas(self, ax: Any, left: float, size: tuple[float, float], largest: float) -> None:
        """Set axes without frame from `left` and 0 down, up to `largest` inches, and a font."""
        width, height = size
        scale = min(1.0, largest * _INCH / width, largest * _INCH / height)
        ax = self._open(ax, (scale * width / _INCH, scale * height / _INCH))
        ax.set(xlim=(left, left + width), ylim=(height, 0.0))
        ax.axis("off")
        self._font_size = _FONT_SIZE * min(1.0, *(self._find_room(ax) / size))

    def _write(self, x: float, y: float, text: str, **style: Any) -> Any:
        style = {"ha": "left", "va": "center", "size": self._font_size, **LITERAL, **style}
        return self.ax_.text(self._left + x, y, text, **style)


class Rule(NamedTuple):
    """A rule of a grammar: a symbol, its expansion, and the probability of the expansion."""

    symbol: int
    """-1: the start of a sentence."""
    right: tuple[int, ...]
    """The start symbol of a sentence, the two symbols of an expansion, or no symbols."""
    words: tuple[tuple[int, float], ...]
    """The most probable words and their probabilities, given that the symbol becomes a word."""
    probability: float


class GrammarDisplay(_TextDisplay):
    """The active symbols of a grammar, with the probabilities of their rules and their top words.

    Create it with `from_estimator`, or with the constructor and `plot`. Symbols are in the order in
    which sentences reach them, the start first, in one or several columns; boxes of the same color
    are the same symbol. A symbol is active if its share of the nodes of trees is at least a
    threshold or, for unknown shares, if active rules lead to it from the start. A rule of an active
    symbol is active if its probability is at least the threshold ([1]_, section 5.1).

    Parameters
    ----------
    root_probs : array-like of shape (n_symbols,)
        Probabilities of the symbols at the root. In a partitioned grammar, preterminals come first.
    rule_type_probs : array-like of shape (n_symbols, 2) or (n_constituents, 4)
        Probabilities that a symbol becomes a word or two symbols; in a partitioned grammar, that a
        constituent becomes two preterminals, a preterminal and a constituent, a constituent and a
        preterminal, or two constituents.
    emission_probs : array-like of shape (n_symbols, n_words) or (n_preterminals, n_words)
        Probabilities of words, given that the symbol becomes a word.
    binary_probs : array-like of shape (n_symbols or n_constituents, n_symbols, n_symbols)
        Probabilities of the left (axis 1) and right (axis 2) symbol: given that the symbol becomes
        two, or, in a partitioned grammar, overall.
    shares : array-like of shape (n_symbols,), default=None
        Shares of the symbols among the nodes of trees, written next to them. None: unknown.
    feature_names : array-like of n_words str, default=None
        The words. None: "0", "1", ...
    symbol_names : list of n_symbols str, default=None
        Names of the symbols. None: the labels of predicted trees, which are "S0", "S1", ..., or
        "P0", ... and "C0", ... in a partitioned grammar.

    Attributes
    ----------
    root_probs, rule_type_probs, emission_probs, binary_probs, shares
        As passed, as arrays.
    feature_names, symbol_names : lists of str
    symbols_ : ndarray of int
        The symbols that are drawn, from top to bottom.
    n_active_rules_ : int
        Number of active rules, both of two symbols and of words.
    rules_ : list of named tuples (symbol, right, words, probability)
        The lines that are drawn: `symbol` is -1 for the start of sentences; `right` contains the
        symbols on the right, and is empty if the symbol becomes a word; `words` contains pairs
        (word, probability given that the symbol becomes a word).
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : list of matplotlib Rectangle
        For each of `rules_`, the bar of its probability.
    boxes_ : list of matplotlib Text
        The boxed names of symbols.

    Raises
    ------
    ValueError
        If shapes do not agree, or a value is not a probability.

    See Also
    --------
    ParseTreeDisplay : Plots trees of the grammar.
    LowerBoundDisplay : Plots the progress of the fit.

    References
    ----------
    .. [1] P. Liang, M. I. Jordan and D. Klein, "Probabilistic grammars and hierarchical Dirichlet
       processes", The Oxford Handbook of Applied Bayesian Analysis, 2010.

    Examples
    --------
    >>> from skdp.datasets import make_pcfg_corpus
    >>> from skdp.inspection import GrammarDisplay
    >>> corpus = make_pcfg_corpus(1)
    >>> display = GrammarDisplay(
    ...     corpus.root,
    ...     corpus.rule_type,
    ...     corpus.emission,
    ...     corpus.binary,
    ...     feature_names=corpus.feature_names,
    ...     symbol_names=corpus.symbols,
    ... ).plot()
    >>> [corpus.symbols[k] for k in display.symbols_]
    ['S', 'NP', 'VP', 'DT', 'NPBAR', 'NN', 'VB', 'JJ']
    >>> display.n_active_rules_
    15
    """

    def __init__(
        self,
        root_probs: ArrayLike,
        rule_type_probs: ArrayLike,
        emission_probs: ArrayLike,
        binary_probs: ArrayLike,
        shares: ArrayLike | None = None,
        *,
        feature_names: Any = None,
        symbol_names: Sequence[str] | None = None,
    ):
        self.root_probs = check_fractions(root_probs, "root_probs", 1, 1e-6)
        self.rule_type_probs = check_fractions(rule_type_probs, "rule_type_probs", 2, 1e-6)
        self.emission_probs = check_fractions(emission_probs, "emission_probs", 2, 1e-6)
        self.binary_probs = check_fractions(binary_probs, "binary_probs", 3, 1e-6)
        n_symbols, (n_emitting, n_words) = len(self.root_probs), self.emission_probs.shape
        is_partitioned = self.rule_type_probs.shape[1] == 4
        if is_partitioned:
            shapes = (n_symbols - n_emitting, 4), (n_symbols - n_emitting, n_symbols, n_symbols)
        else:
            shapes = (n_emitting, 2), (n_emitting, n_symbols, n_symbols)
        found = self.rule_type_probs.shape, self.binary_probs.shape
        if found != shapes or (not is_partitioned and n_emitting != n_symbols):
            raise ValueError(
                f"root_probs of {n_symbols} symbols, emission_probs of {n_emitting}, "
                f"rule_type_probs of shape {found[0]} and binary_probs of shape {found[1]} do not "
                "belong to one grammar."
            )
        self.shares = None if shares is None else check_shares(shares, "shares", n_symbols)
        self.feature_names = check_names(feature_names, "feature_names", n_words)
        # Probabilities that each symbol becomes a word, of the words, and of pairs of symbols.
        n_first = n_emitting if is_partitioned else 0
        pairs = self.binary_probs.reshape(-1, n_symbols**2)
        self._word_shares = np.repeat([1.0, 0.0], [n_first, n_symbols - n_first])
        if not is_partitioned:
            self._word_shares = self.rule_type_probs[:, 0]
            pairs = self.rule_type_probs[:, 1:] * pairs
        self._words = np.vstack([self.emission_probs, np.zeros((n_symbols - n_emitting, n_words))])
        self._pairs = np.vstack([np.zeros((n_first, n_symbols**2)), pairs])
        if symbol_names is None:
            symbol_names = [f"P{k}" for k in range(n_first)]
            letter = "C" if is_partitioned else "S"
            symbol_names += [f"{letter}{k}" for k in range(n_symbols - n_first)]
        self.symbol_names = check_names(symbol_names, "symbol_names", n_symbols)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Any = None,
        symbol_names: Sequence[str] | None = None,
        threshold: float = 1e-3,
        n_rules: int = 8,
        n_words: int = 5,
        n_columns: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the grammar of a fitted model.

        Parameters
        ----------
        estimator : fitted grammar
            With attributes ``root_probs_``, ``rule_type_probs_``, ``emission_probs_`` and
            ``binary_probs_``; ``symbol_shares_`` are used if it has them.
        feature_names, symbol_names
        threshold, n_rules, n_words, n_columns, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or is not a grammar with learned rules.
        ValueError, ImportError
            If an argument is invalid, or matplotlib is not installed.
        """
        required = "root_probs_", "rule_type_probs_", "emission_probs_", "binary_probs_"
        cls._check_model(estimator, "a grammar with learned rules", *required)
        rules = {name[:-1]: getattr(estimator, name) for name in required}
        return cls._show(locals(), **rules, shares=getattr(estimator, "symbol_shares_", None))

    def plot(
        self,
        ax: Any = None,
        *,
        threshold: float = 1e-3,
        n_rules: int = 8,
        n_words: int = 5,
        n_columns: int | None = None,
    ) -> Self:
        """Draw the rules.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; texts are as small as the axes require. None: in a new figure, as large
            as the grammar needs, up to 40 inches.
        threshold : float, default=1e-3
            Smallest probability of an active rule and share of an active symbol, in (0, 1].
        n_rules : int, default=8
            Number of rules per symbol to draw, the most probable ones, >= 1; an additional line
            gives the number and total probability of the others.
        n_words : int, default=5
            Number of words per symbol to draw, >= 1.
        n_columns : int, default=None
            Number of columns, >= 1; the rules of a symbol stay in one column. None: the number with
            the largest texts in the axes, or for which a new figure is about as wide as high.

        Raises
        ------
        ValueError, ImportError
            If an argument is out of range, or there is no active rule, or matplotlib is not
            installed.
        """
        if not (is_number(threshold) and 0.0 < threshold <= 1.0):
            raise ValueError(f"threshold must be in (0, 1], got {threshold!r}.")
        n_rules = check_count(n_rules, "n_rules", at_least=1)
        n_words = check_count(n_words, "n_words", at_least=1)
        if n_columns is not None:
            n_columns = check_count(n_columns, "n_columns", at_least=1)
        self._find_active(threshold)
        blocks = [self._list_rules(k, threshold, n_words) for k in (-1, *self.symbols_.tolist())]
        blocks = [block for block in blocks if block]
        if not blocks:
            raise ValueError(f"No rule has a probability of threshold={threshold:g} or more.")
        self.rules_ = [rule for block in blocks for rule in block[:n_rules]]
        self._measure()
        lines = [min(len(block), n_rules) + (len(block) > n_rules) for block in blocks]
        heights = [_LINE * n + _BLOCK_GAP for n in lines]
        columns, size = self._arrange(heights, n_columns, self._find_room(ax))
        self._open_canvas(ax, -0.5, size, _LARGEST)
        self.bars_: list[Any] = []
        self.boxes_: list[Any] = []
        for column in range(columns[-1] + 1):
            self._left, y = column * self._column_width, 2.0 * _LINE + _BLOCK_GAP
            self._draw_headings()
            for i in np.flatnonzero(np.equal(columns, column)):
                y = self._draw_block(blocks[i][:n_rules], blocks[i][n_rules:], y) + _BLOCK_GAP
        return self

    def _measure(self) -> None:
        """Set the positions of the parts of a line, and the width of a column."""
        names = [_START, *(write_name(self.symbol_names[k]) for k in self.symbols_)]
        self._name_width = max(
            text_width(_HEADINGS[0]) + _GAP, max(map(text_width, names)) + 2.0 * _PAD
        )
        share = 0.0 if self.shares is None else max(_NUMBER, text_width(_HEADINGS[1]) + 0.4)
        right = max(*map(self._right_width, self.rules_), text_width("… 100 others"))
        self._bars_begin = self._name_width + share + _GAP
        self._rights_begin = self._bars_begin + _BAR + _NUMBER + _GAP
        self._column_width = self._rights_begin + right + 2.0 * _GAP

    def _arrange(
        self, heights: list[float], n_columns: int | None, room: Floats
    ) -> tuple[list[int], tuple[float, float]]:
        """Return the columns of the blocks and their total size, for the largest possible texts."""
        best, largest = ([0], (1.0, 1.0)), -1.0
        counts = range(1, len(heights) + 1) if n_columns is None else [n_columns]
        for n in counts:
            columns = _fill_columns(heights, n)
            highest = np.bincount(columns, weights=heights).max()
            size = (columns[-1] + 1) * self._column_width, 2.5 * _LINE + _BLOCK_GAP + highest
            scale = float(np.min(room / size))
            if scale > largest:
                best, largest = (columns, size), scale
        return best

    def _find_active(self, threshold: float) -> None:
        """Set the active symbols, as sentences reach them, and the number of active rules."""
        active = list(range(len(self.root_probs)))
        starts = self._sort(self.root_probs, threshold)
        if self.shares is not None:
            active = self._sort(self.shares, threshold)
            starts += active  # symbols that only inactive rules lead to
        reached: list[int] = []
        self.n_active_rules_ = 0
        for start in starts:
            waiting = [start]
            for k in waiting:
                if k in reached or k not in active:
                    continue
                reached.append(k)
                pairs = self._sort(self._pairs[k], threshold)
                waiting += [k for pair in pairs for k in divmod(pair, len(self.root_probs))]
                n_words = np.sum(self._word_shares[k] * self._words[k] >= threshold)
                self.n_active_rules_ += len(pairs) + int(n_words)
        self.symbols_ = np.array(reached, dtype=np.int64)

    def _list_rules(self, k: int, threshold: float, n_words: int) -> list[Rule]:
        """Return the active rules of a symbol, or of the start, the most probable first."""
        if k < 0:
            places = self._sort(self.root_probs, threshold)
            return [Rule(-1, (place,), (), float(self.root_probs[place])) for place in places]
        rules = []
        share = float(self._word_shares[k])
        if share >= threshold:
            top = self._sort(self._words[k], threshold / share)[:n_words]
            words = tuple((w, float(self._words[k, w])) for w in top)
            rules.append(Rule(k, (), words, share))
        rules += [
            Rule(k, divmod(pair, len(self.root_probs)), (), float(self._pairs[k, pair]))
            for pair in self._sort(self._pairs[k], threshold)
        ]
        return sorted(rules, key=lambda rule: -rule.probability)

    @staticmethod
    def _sort(probabilities: NDArray[np.float64], threshold: float) -> list[int]:
        """Return the indices of probabilities of at least `threshold`, the largest first."""
        order = np.argsort(-probabilities, kind="stable")
        return order[probabilities[order] >= threshold].tolist()

    def _right_width(self, rule: Rule) -> float:
        if rule.right:
            return sum(self._box_width(k) + _GAP for k in rule.right)
        words = [write_name(self.feature_names[w]) for w, _ in rule.words]
        return sum(text_width(word) + _NUMBER + 0.5 for word in words)

    def _box_width(self, k: int) -> float:
        return 2.0 * _PAD + text_width(write_name(self.symbol_names[k]))

    def _draw_headings(self) -> None:
        symbol, share, probability, becomes = _HEADINGS
        places = {0.0: symbol, self._bars_begin: probability, self._rights_begin: becomes}
        if self.shares is not None:
            places[self._name_width + 0.4] = share
        for x, heading in places.items():
            self._write(x, _LINE, heading, color="#606060")

    def _draw_block(self, rules: list[Rule], rest: list[Rule], y: float) -> float:
        """Draw the rules of a symbol from height y and return the height of the next symbol."""
        k = rules[0].symbol
        self._draw_box(k, 0.5 * self._name_width, y)
        if self.shares is not None and k >= 0:
            self._write(self._name_width + 0.4, y, _format(self.shares[k]), color="#606060")
        for rule in rules:
            self._draw_rule(rule, y)
            y += _LINE
        if rest:
            total = sum(rule.probability for rule in rest)
            self._draw_bar(total, y, GREY)
            plural = "s" * (len(rest) > 1)
            self._write(self._rights_begin, y, f"… {len(rest)} other{plural}", color="#606060")
            y += _LINE
        return y

    def _draw_bar(self, probability: float, y: float, color: str) -> Any:
        """Draw a bar and its number and return the bar."""
        left = self._left + self._bars_begin
        self.ax_.barh(y, _BAR, left=left, height=0.9, color="#F2F2F2")
        (bar,) = self.ax_.barh(y, _BAR * probability, left=left, height=0.9, color=color)
        self._write(self._bars_begin + _BAR + 0.4, y, _format(probability))
        return bar

    def _draw_rule(self, rule: Rule, y: float) -> None:
        self.bars_.append(self._draw_bar(rule.probability, y, _color(rule.symbol)))
        x = self._rights_begin
        for k in rule.right:
            width = self._box_width(k)
            self._draw_box(k, x + 0.5 * width, y)
            x += width + _GAP
        for w, probability in rule.words:
            word = write_name(self.feature_names[w])
            self._write(x, y, word, style="italic")
            x += text_width(word)
            size = 0.8 * self._font_size
            self._write(x + 0.3, y, _format(probability), color="#606060", size=size)
            x += _NUMBER + 0.5

    def _draw_box(self, k: int, x: float, y: float) -> None:
        from matplotlib.colors import to_rgb

        color = _color(k)
        pale = tuple(0.72 + 0.28 * channel for channel in to_rgb(color))
        box = {"boxstyle": "round,pad=0.25", "facecolor": pale, "edgecolor": color}
        name = _START if k < 0 else write_name(self.symbol_names[k])
        self.boxes_.append(self._write(x, y, name, ha="center", bbox=box))


def _fill_columns(heights: list[float], n_columns: int) -> list[int]:
    """Return the column of each block, in order, with the least height of the highest column."""
    ends = np.concatenate([[0.0], np.cumsum(heights)])
    limits = np.unique(ends[:, None] - ends)  # heights of runs of blocks
    # The limit is raised, to the next height that a column can have, until the blocks fit.
    for limit in limits[limits >= max(heights) - 1e-9]:
        columns, filled = [0], heights[0]
        for height in heights[1:]:
            is_next = filled + height > limit + 1e-9
            columns.append(columns[-1] + is_next)
            filled = height + (0.0 if is_next else filled)
        if columns[-1] < n_columns:
            return columns
    raise AssertionError("all blocks fit in one column")


def _color(k: int) -> str:
    return GREY if k < 0 else PALETTE[k % len(PALETTE)]


def _format(probability: float) -> str:
    """Return a probability with two digits, without the zero before the point."""
    if probability >= 0.995:
        return "1"
    if probability < 0.01:
        return f"{probability:.0e}".replace("e-0", "e-")
    return f"{probability:.2f}"[1:]


# Parse trees.


_ROW, _TREE_GAP = 2.4, 0.8
"""Distances from a node to its children and between two texts, in font sizes."""
_MARGIN = 1.6
"""Margin around a tree, in font sizes."""
_LARGEST_TREE = 30.0
"""Largest width and height of a figure, in inches; larger trees are scaled down."""
_LINE_COLOR = "#808080"


class ParseTreeDisplay(_TextDisplay):
    """Drawings of one or several parse trees.

    Create it with `from_estimator`, or with the constructor and `plot`. Words are in italics below
    the node to which they belong.

    Parameters
    ----------
    trees : ParseTree or sequence of ParseTree
        One or several trees.
    names : list of n_trees str, default=None
        Titles of the trees. None: no titles.

    Attributes
    ----------
    trees : list of ParseTree
    names : list of str or None
    ax_, figure_ : matplotlib Axes and Figure
    texts_ : list of lists of matplotlib Text
        For each tree, its labels and words, with each node after its descendants.
    lines_ : list of matplotlib LineCollection
        For each tree, the lines from its nodes to their children.
    titles_ : list of matplotlib Text
        Titles of the trees; empty if they have no names.

    Raises
    ------
    ValueError
        If there are no trees, or if the numbers of names and trees differ.

    See Also
    --------
    GrammarDisplay : Plots the grammar of the trees.
    skdp.metrics.bracket_scores : Measures how well trees agree.

    Examples
    --------
    >>> from skdp.grammar import ParseTree
    >>> from skdp.inspection import ParseTreeDisplay
    >>> tree = ParseTree.from_brackets("(S (NP he) (VP ran off))")
    >>> display = ParseTreeDisplay(tree).plot()
    >>> [text.get_text() for text in display.texts_[0]]
    ['he', 'NP', 'ran', 'off', 'VP', 'S']
    """

    def __init__(
        self, trees: ParseTree | Sequence[ParseTree], *, names: Sequence[str] | None = None
    ):
        if isinstance(trees, str) or not hasattr(trees, "__iter__"):
            trees = [trees]
        self.trees = list(trees)
        if not self.trees or not all(isinstance(tree, ParseTree) for tree in self.trees):
            raise ValueError(f"trees must be a ParseTree or several, got {shorten(trees)}.")
        self.names = None if names is None else check_names(names, "names", len(self.trees))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        feature_names: Any = None,
        names: Sequence[str] | None = None,
        n_columns: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the trees that a fitted grammar predicts.

        Parameters
        ----------
        estimator : fitted grammar
            Its ``predict`` returns trees.
        X : sentences
            As for its ``predict``; few sentences, since a tree is drawn for each.
        feature_names : array-like of n_words str, default=None
            The words of the sentences, if these are word ids. None: the words in the predicted
            trees.
        names : list of str, default=None
            Titles of the trees. None: no titles.
        n_columns, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or is not a grammar.
        ValueError, ImportError
            If a sentence has no words, if there are not enough `feature_names`, or an argument is
            invalid, or matplotlib is not installed.
        """
        cls._check_model(estimator, "a grammar", "predict")
        trees = estimator.predict(X)
        if not isinstance(trees, list) or not all(
            tree is None or isinstance(tree, ParseTree) for tree in trees
        ):
            raise TypeError(
                f"estimator must be a grammar, got a fitted {type(estimator).__name__}, whose "
                "predict returns no trees."
            )
        if None in trees:
            raise ValueError(
                f"Sentence {trees.index(None)} of X has no words, and so no tree to draw."
            )
        if feature_names is not None:
            sentences = check_sentences(estimator, X, reset=False)
            words = check_names(feature_names, "feature_names", sentences.n_features)
            trees = [
                tree.with_leaves([words[w] for w in sentence])
                for tree, sentence in zip(trees, sentences, strict=True)
            ]
        return cls(trees, names=names).plot(ax, n_columns=n_columns)

    def plot(self, ax: Any = None, *, n_columns: int | None = None) -> Self:
        """Draw the trees.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; texts are as small as the axes require. None: in a new figure, as large
            as the trees need, up to 30 inches.
        n_columns : int, default=None
            Number of trees side by side, >= 1. None: the number with the largest texts in the axes,
            or for which a new figure is about as wide as high.

        Raises
        ------
        ValueError, ImportError
            If `n_columns` is out of range, or matplotlib is not installed.
        """
        counts: Iterable[int] = range(1, len(self.trees) + 1)
        if n_columns is not None:
            counts = [min(check_count(n_columns, "n_columns", at_least=1), len(self.trees))]
        self._check_matplotlib("plot")
        layouts = [lay_out(tree._flat(), _measure_item) for tree in self.trees]
        room = self._find_room(ax)
        lefts, tops, size = max(
            (_arrange(layouts, self.names, n) for n in counts),
            key=lambda places: float(np.min(room / places[2])),
        )
        self._open_canvas(ax, 0.0, size, _LARGEST_TREE)
        self.texts_: list[Any] = []
        self.lines_: list[Any] = []
        self.titles_: list[Any] = []
        for i, (layout, left, top) in enumerate(zip(layouts, lefts, tops, strict=True)):
            if self.names is not None:
                title = self._write(left, top - _ROW, write_name(self.names[i]), weight="bold")
                self.titles_.append(title)
            self._draw(layout, left, top)
        return self

    def _draw(self, layout: TreeLayout, left: float, top: float) -> None:
        from matplotlib.collections import LineCollection

        x, y = left + layout.x, top + _ROW * layout.depth
        texts = []
        for i, text in enumerate(layout.texts):
            style = "italic" if layout.is_word[i] else "normal"
            texts.append(self._write(x[i], y[i], write_name(text), ha="center", style=style))
        below, above = np.arange(len(x) - 1), layout.parent[:-1]
        starts = np.stack([x[above], y[above] + 0.7], axis=1)
        ends = np.stack([x[below], y[below] - 0.75], axis=1)
        lines = LineCollection(
            list(np.stack([starts, ends], axis=1)),
            colors=_LINE_COLOR,
            linewidths=0.08 * self._font_size,
        )
        self.lines_.append(self.ax_.add_collection(lines, autolim=False))
        self.texts_.append(texts)


def _measure_item(text: str, is_word: bool) -> float:
    return _measure(text, style="italic" if is_word else "normal") + _TREE_GAP


def _measure(name: str, **font: Any) -> float:
    """Return the room for a name in font sizes, at least its width in matplotlib."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    text, properties = write_name(name), FontProperties(size=_FONT_SIZE, **font)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of missing glyphs: drawing also warns about them
        width = text_to_path.get_text_width_height_descent(text, properties, ismath=False)[0]
    # The estimates by kinds of letters for notebooks are too small for some alphabets.
    return max(text_width(text), width / _FONT_SIZE)


def _arrange(
    layouts: list[TreeLayout], names: list[str] | None, n_columns: int
) -> tuple[list[float], list[float], tuple[float, float]]:
    """Return the left ends of trees in a grid, the heights of their roots, and the total size."""
    title = 0.0 if names is None else _ROW
    widths = [layout.width for layout in layouts]
    if names is not None:
        widths = [
            max(w, _measure(name, weight="bold")) for w, name in zip(widths, names, strict=True)
        ]
    heights = [title + _ROW * float(layout.depth.max()) for layout in layouts]
    column_widths = [max(widths[c::n_columns]) for c in range(n_columns)]
    rows = range(0, len(layouts), n_columns)
    row_heights = [max(heights[r : r + n_columns]) for r in rows]
    column_ends = np.cumsum([_MARGIN + w for w in column_widths])
    row_ends = np.cumsum([2.0 * _MARGIN + h for h in row_heights])
    lefts, tops = [], []
    for i in range(len(layouts)):
        row, column = divmod(i, n_columns)
        lefts.append(float(column_ends[column]) - column_widths[column])
        tops.append(float(row_ends[row]) - row_heights[row] - _MARGIN + title)
    return lefts, tops, (float(column_ends[-1]) + _MARGIN, float(row_ends[-1]))
