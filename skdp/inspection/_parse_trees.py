"""Display of parse trees."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from skdp._checks import check_count, shorten
from skdp.data import check_sentences
from skdp.data._parse_tree import ParseTree
from skdp.data._tree_layout import TreeLayout, lay_out, text_width
from skdp.inspection._axes import LITERAL, check_matplotlib, check_names, open_axes, write_name
from skdp.inspection._estimators import check_model

_FONT_SIZE = 10.0
_ROW, _GAP = 2.4, 0.8
"""Distances from a node to its children and between two texts, in font sizes."""
_MARGIN = 1.6
"""Margin around a tree, in font sizes."""
_LARGEST = 30.0
"""Largest width and height of a figure, in inches; larger trees are scaled down."""
_ASPECT = (4.0, 3.0)
"""Approximate aspect ratio of a new figure, by the number of columns."""
_LINE_COLOR = "#808080"


class ParseTreeDisplay:
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
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
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
        n_columns : int, default=None
            See `plot`.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        ParseTreeDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator is not a grammar.
        ValueError
            If a sentence has no words, if there are not enough `feature_names`, or an argument is
            invalid.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_model(estimator, "a grammar", "predict")
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

        Returns
        -------
        ParseTreeDisplay
            The display itself.

        Raises
        ------
        ValueError
            If `n_columns` is out of range.
        ImportError
            If matplotlib is not installed.
        """
        counts: Iterable[int] = range(1, len(self.trees) + 1)
        if n_columns is not None:
            counts = [min(check_count(n_columns, "n_columns", at_least=1), len(self.trees))]
        check_matplotlib(f"{type(self).__name__}.plot")
        layouts = [_lay_out(tree) for tree in self.trees]
        room = _ASPECT
        if ax is not None:
            room = tuple(open_axes(ax, _ASPECT, []).get_window_extent().size)
        lefts, tops, width, height = max(
            (_arrange(layouts, self.names, n) for n in counts),
            key=lambda places: min(room[0] / places[2], room[1] / places[3]),
        )
        inch = 72.0 / _FONT_SIZE  # all coordinates are in font sizes
        scale = min(1.0, _LARGEST * inch / width, _LARGEST * inch / height)
        self.ax_ = ax = open_axes(ax, (scale * width / inch, scale * height / inch), [])
        self.figure_ = ax.figure
        ax.set(xlim=(0.0, width), ylim=(height, 0.0))
        ax.axis("off")
        size = ax.get_window_extent().size / ax.figure.dpi * inch
        font_size = _FONT_SIZE * min(1.0, *(size / (width, height)))
        self.texts_: list[Any] = []
        self.lines_: list[Any] = []
        self.titles_: list[Any] = []
        for i, (layout, left, top) in enumerate(zip(layouts, lefts, tops, strict=True)):
            if self.names is not None:
                title = ax.text(left, top - _ROW, write_name(self.names[i]), **LITERAL)
                title.set(size=font_size, weight="bold", ha="left", va="center")
                self.titles_.append(title)
            self._draw(layout, left, top, font_size)
        return self

    def _draw(self, layout: TreeLayout, left: float, top: float, font_size: float) -> None:
        from matplotlib.collections import LineCollection

        x, y = left + layout.x, top + _ROW * layout.depth
        texts = [
            self.ax_.text(
                x[i],
                y[i],
                write_name(text),
                ha="center",
                va="center",
                size=font_size,
                style="italic" if layout.is_word[i] else "normal",
                **LITERAL,
            )
            for i, text in enumerate(layout.texts)
        ]
        below, above = np.arange(len(x) - 1), layout.parent[:-1]
        starts = np.stack([x[above], y[above] + 0.7], axis=1)
        ends = np.stack([x[below], y[below] - 0.75], axis=1)
        lines = LineCollection(
            list(np.stack([starts, ends], axis=1)),
            colors=_LINE_COLOR,
            linewidths=0.08 * font_size,
        )
        self.lines_.append(self.ax_.add_collection(lines, autolim=False))
        self.texts_.append(texts)


def _lay_out(tree: ParseTree) -> TreeLayout:
    items = tree._flat()
    texts = [item if isinstance(item, str) else item[0] for item in items]
    styles = ["italic" if isinstance(item, str) else "normal" for item in items]
    widths = [_measure(text, style=style) for text, style in zip(texts, styles, strict=True)]
    return lay_out(items, [width + _GAP for width in widths])


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
) -> tuple[list[float], list[float], float, float]:
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
    return lefts, tops, float(column_ends[-1]) + _MARGIN, float(row_ends[-1])
