"""Display of the segmentation of a text into words, with the probabilities of the cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self
from unicodedata import category, east_asian_width

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_array, as_floats, check_count, shorten
from skdp._numeric import Floats
from skdp.inspection._axes import (
    LITERAL,
    PALETTE,
    Display,
    as_names,
    check_index,
    write_name,
    write_title,
)

# Layout of characters in columns and lines, as in a terminal.


_COMBINING = ("Mn", "Me", "Cf")
"""Categories of characters that are drawn on the preceding character."""
_SPACE = "\N{OPEN BOX}"
_INSIDE = 0.4
"""Distance in columns from a place before a mark to the end of the character with its marks."""


class Line(NamedTuple):
    """Characters of a line and their positions."""

    start: int
    end: int  # after the last character
    clusters: list[tuple[str, float]]  # characters with marks, and the column of their middle
    ends: NDArray[np.float64]  # (end - start,), column at which each character ends


def split_characters(characters: Any) -> list[str]:
    """Return drawn characters; the elements of a list may be longer than one character."""
    if isinstance(characters, str):
        return [_SPACE if c.isspace() else write_name(c) for c in characters]
    if isinstance(characters, bytes | dict) or not hasattr(characters, "__iter__"):
        raise ValueError(f"characters must be a string or a list, got {shorten(characters)}.")
    return [write_name(str(c), 20) or _SPACE for c in characters]


def measure(characters: Sequence[str]) -> NDArray[np.int64]:
    """Return the columns of each character: 0 for a mark, 2 for a wide one."""
    widths = np.array(
        [sum(0 if category(c) in _COMBINING else 1 + (east_asian_width(c) in "WF") for c in s)
         for s in characters], dtype=np.int64
    )  # fmt: skip
    if any(len(s) > 1 for s in characters):
        widths += 1  # names are separated by spaces
    return widths


def break_lines(characters: list[str], cuts: NDArray[np.bool_], width: int) -> list[Line]:
    """Return lines of at most `width` columns, which end at the end of a word if possible."""
    widths = measure(characters)
    width = max(width, int(widths.max()))
    lines = []
    start, n = 0, len(characters)
    while start < n:
        columns = np.cumsum(widths[start:])
        end = start + int(np.searchsorted(columns, width, "right"))
        if end < n:
            ends = np.flatnonzero(cuts[start : end - 1]) + 1
            if len(ends) and 3 * columns[ends[-1] - 1] > 2 * width:
                end = start + int(ends[-1])
        places = np.cumsum(widths[start:end]).astype(np.float64)
        clusters: list[tuple[str, float]] = []
        for i in range(start, end):
            if widths[i] or not clusters:
                clusters.append((characters[i], float(places[i - start] - widths[i] / 2)))
            else:
                clusters[-1] = (clusters[-1][0] + characters[i], clusters[-1][1])
                places[i - start - 1] -= _INSIDE
        lines.append(Line(start, end, clusters, places))
        start = end
    return lines


# Words, cuts and their probabilities.


_MOST = 5000
"""Largest number of drawn characters, each of which is a separate text."""
_COLUMN_INCHES, _ROW_INCHES = 0.125, 0.62
_BOX, _BARS, _LANE = 0.42, 0.36, 0.17
"""Heights of words, of a bar of probability 1, and of a lane of marks."""
_FEWEST_COLUMNS = 30.0
"""Least number of columns of a figure, for the legend."""
_GAP = 0.24
"""Gap between words, in columns."""
_EM = 0.602
"""Width of a character of a monospaced font, in font sizes."""
_LINE_HEIGHT = 1.2
_LARGEST = 14.0


_MISSED: dict[str, Any] = {"color": PALETTE[5], "markersize": 4.5, "markerfacecolor": "none"}
_MARKS: dict[str, dict[str, Any]] = {
    "true cut, found": {"marker": "^", "color": "black", "markersize": 4.5},
    "true cut, missed": {"marker": "^", **_MISSED},
    "cut that is not true": {"marker": "x", "color": PALETTE[5], "markersize": 4.5},
    "known: a cut": {"marker": "D", "color": PALETTE[2], "markersize": 3.5},
    "known: no cut": {"marker": "_", "color": PALETTE[2], "markersize": 3.5},
}
"""Marker styles of kinds of places."""


class SegmentationDisplay(Display):
    """A text without spaces, the words found in it, and the probability of each cut.

    Create it with `from_estimator`, `from_predictions`, or the constructor and `plot`. Words are
    boxes. A bar above a place between two characters shows the probability that a word ends there,
    from 0 to the gray line, 1. Bars of medium height show uncertain places.

    Parameters
    ----------
    characters : str or list of str
        The text, without its spaces; the elements of a list count as characters, regardless of
        their length. At most 5,000.
    probabilities : (n - 1,) array-like
        Probability of a cut at each place between two characters.
    predicted : (n - 1,) array-like of 0 and 1, or list of words, default=None
        The predicted cuts, or the words. None: cuts with probability 1/2 or more.
    true : (n - 1,) array-like of 1, 0 and -1, or list of words, default=None
        The true cuts: 1 a cut, 0 none, -1 unknown. None: unknown.
    known : (n - 1,) array-like of 1, 0 and -1, default=None
        Cuts that were given to the model, in the same format.

    Attributes
    ----------
    characters : list of str
        The drawn characters, with spaces as open boxes.
    probabilities : (n - 1,) array
    predicted, true, known : (n - 1,) int8 arrays; the last two may be None
    ax_, figure_ : matplotlib Axes and Figure
    boxes_ : matplotlib PolyCollection
        The words; a word that continues in the next line has a box in both lines.
    bars_ : matplotlib LineCollection
        The probabilities above 0.
    marks_ : dict of str to matplotlib Line2D
        Marks below the words, by their meaning.
    texts_ : list of matplotlib Text
        The characters, each with its combining marks.
    legend_ : matplotlib Legend

    Raises
    ------
    ValueError
        If there are no characters or too many, or if lengths do not match.

    See Also
    --------
    LexiconDisplay : Plots the number and frequencies of words.
    skdp.metrics.segmentation_scores : Precision and recall of words and cuts.

    Notes
    -----
    A character is a code point. Wide characters take two columns, and combining marks are drawn on
    the preceding character; a bar between the two is slightly to the left of its end. Characters
    that matplotlib's monospaced font lacks are taken from ``rcParams["font.family"]``: for Chinese
    or Japanese, add a font that has them to this list.

    Examples
    --------
    >>> from skdp.inspection import SegmentationDisplay
    >>> display = SegmentationDisplay("thedog", [0.0, 0.1, 0.9, 0.0, 0.2], true=["the", "dog"])
    >>> display.plot().ax_.get_title(loc="left")
    '1 of 1 true cuts found, 0 others'
    """

    def __init__(
        self,
        characters: str | Sequence[str],
        probabilities: ArrayLike,
        predicted: Any = None,
        true: Any = None,
        *,
        known: ArrayLike | None = None,
    ):
        self.characters = split_characters(characters)
        n = len(self.characters)
        if not 1 <= n <= _MOST:
            raise ValueError(
                f"characters must be 1 to {_MOST} characters, got {n}: choose a part of the text."
            )
        array = as_floats(probabilities, "probabilities")
        if array.shape != (n - 1,) or not np.all((array >= 0.0) & (array <= 1.0)):
            raise ValueError(
                f"probabilities must hold a number in [0, 1] for each of the {n - 1} places "
                f"between {n} characters, got {shorten(probabilities)}."
            )
        self.probabilities: Floats = array
        if predicted is None:
            self.predicted = (array >= 0.5).astype(np.int8)
        else:
            self.predicted = _check_cuts(predicted, "predicted", characters, n, (0, 1))
        self.true, self.known = (
            None if cuts is None else _check_cuts(cuts, name, characters, n, (-1, 0, 1))
            for name, cuts in (("true", true), ("known", known))
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        true: Any = None,
        *,
        sample: int = 0,
        known: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        width: int = 60,
        ax: Any = None,
    ) -> Self:
        """Plot the segmentation of one of the strings of X by a fitted model.

        Parameters
        ----------
        estimator : fitted NestedPitmanYorLM or CollocationPitmanYorLM
        X : as in the estimator's `fit`
        true : (n - 1,) array-like of 1, 0 and -1, or list of words, default=None
        sample : int, default=0
            Index of the string of X to show.
        known : (n - 1,) array-like of 1, 0 and -1, default=None
        feature_names : list of str, default=None
            Names of characters that are ids.
        width, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or does not cut strings into words.
        ValueError, ImportError
            If `sample` is out of range, or X or another argument is invalid, or matplotlib is not
            installed.
        """
        cls._check_matplotlib()
        check_is_fitted(estimator)
        if not hasattr(estimator, "word_concentrations_"):
            raise TypeError(
                f"estimator must be a NestedPitmanYorLM, got {type(estimator).__name__}. "
                "from_predictions plots the cuts of any model."
            )
        if isinstance(X, str):
            raise ValueError(f"X must be a list of strings, got one string, {shorten(X)}.")
        sample = check_index(sample, "sample", len(X), "strings")
        chosen = X[sample : sample + 1]
        (probabilities,), (words,) = estimator.predict_proba(chosen), estimator.predict(chosen)
        characters: Any = ""
        if words and isinstance(words[0], str):
            characters = "".join(words)
        elif words:
            ids = np.concatenate(words)
            names = None
            if feature_names is not None:
                names = as_names(feature_names, "feature_names", estimator.n_words_)
            characters = [str(i) if names is None else names[i] for i in ids]
        if isinstance(characters, str) and feature_names is not None:
            raise ValueError("feature_names are names of ids, but X holds strings.")
        ends = np.cumsum([len(word) for word in words], dtype=np.int64)[:-1]
        cuts = np.zeros(max(len(characters) - 1, 0), dtype=np.int8)
        cuts[ends - 1] = 1
        return cls(characters, probabilities, cuts, true, known=known).plot(ax, width=width)

    @classmethod
    def from_predictions(
        cls,
        characters: str | Sequence[str],
        probabilities: ArrayLike,
        predicted: Any = None,
        true: Any = None,
        *,
        known: ArrayLike | None = None,
        width: int = 60,
        ax: Any = None,
    ) -> Self:
        """Plot given cuts.

        Parameters
        ----------
        characters, probabilities, predicted, true, known
        width, ax

        Raises
        ------
        ValueError, ImportError
            If there are no characters or too many, or if lengths do not match, or matplotlib is not
            installed.
        """
        return cls._show(locals())

    def plot(self, ax: Any = None, *, width: int = 60) -> Self:
        """Draw the text.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. The text becomes as large as the axes allow; the
            legend is below them, and your own figure should have ``layout="constrained"``, which
            makes room for it.
        width : int, default=60
            Columns of a line, >= 1. Lines end at the end of a word if possible.

        Raises
        ------
        ValueError, ImportError
            If `width` is invalid, or matplotlib is not installed.
        """
        width = check_count(width, "width", at_least=1)
        lines = break_lines(self.characters, self.predicted.astype(np.bool_), width)
        columns = max(_FEWEST_COLUMNS, *(float(line.ends[-1]) for line in lines))
        columns = max(columns, width if len(lines) > 1 else 0.0)
        lanes = (self.true is not None) + (self.known is not None)
        height = _BARS + _BOX + _LANE * lanes + 0.12
        size = (columns * _COLUMN_INCHES + 0.3, len(lines) * height * _ROW_INCHES + 0.8)
        ax = self._open(ax, size)
        from matplotlib import rcParams

        ax.set(xticks=[], yticks=[], frame_on=False)
        ax.set(xlim=(-0.3, columns + 0.3), ylim=(-len(lines) * height, 0.0))
        tops = [-i * height - _BARS for i in range(len(lines))]  # tops of the boxes
        self._draw_boxes(ax, lines, tops)
        handles = {"probability of a cut": self._draw_bars(ax, lines, tops)}
        self._draw_marks(ax, lines, tops)
        fonts = ["monospace", *rcParams["font.family"]]  # the user's, for missing glyphs
        self.texts_ = [
            ax.text(
                *(column, top - 0.52 * _BOX, text),
                ha="center",
                va="center_baseline",
                family=fonts,
                zorder=3,
                **LITERAL,
            )
            for line, top in zip(lines, tops, strict=True)
            for text, column in line.clusters
        ]
        handles |= {name: mark for name, mark in self.marks_.items() if len(mark.get_xdata())}
        if self.true is not None:
            found = int(np.sum((self.true == 1) & (self.predicted == 1)))
            wrong = int(np.sum((self.true == 0) & (self.predicted == 1)))
            title = f"{found} of {np.sum(self.true == 1)} true cuts found, {wrong} others"
            write_title(ax, title)
        self.legend_ = ax.legend(
            list(handles.values()),
            list(handles),
            loc="upper left",
            bbox_to_anchor=(0.0, 0.0),
            ncols=4 if columns >= 55 else 2 if columns >= 28 else 1,
            fontsize="small",
            frameon=False,
            borderaxespad=0.2,
        )
        self._choose_size(columns, len(lines) * height)
        return self

    def _draw_boxes(self, ax: Any, lines: list[Line], tops: list[float]) -> None:
        from matplotlib.collections import PolyCollection

        boxes = []
        for line, top in zip(lines, tops, strict=True):
            is_cut = np.append(self.predicted, 1)[line.start : line.end].astype(np.bool_)
            is_cut[-1] = True
            ends = line.ends[is_cut]
            for left, right in zip([0.0, *ends[:-1]], ends, strict=True):
                a, b, bottom = left + _GAP / 2, right - _GAP / 2, top - _BOX
                boxes.append([(a, bottom), (a, top), (b, top), (b, bottom)])
        self.boxes_ = PolyCollection(boxes, facecolor="#CFE6F5", edgecolor="none", zorder=1)
        ax.add_collection(self.boxes_, autolim=False)

    def _draw_bars(self, ax: Any, lines: list[Line], tops: list[float]) -> Any:
        from matplotlib.collections import LineCollection

        bars = []
        for line, top in zip(lines, tops, strict=True):
            ax.hlines(top + _scale(1.0), 0.0, line.ends[-1], color="#BBBBBB", linewidth=0.6)
            part = self.probabilities[line.start : line.end]
            at = line.ends[: len(part)]
            for x, p in zip(at[part > 0.0], part[part > 0.0], strict=True):
                bars.append([(x, top), (x, top + _scale(p))])
        self.bars_ = LineCollection(bars, color=PALETTE[0], linewidth=2.6, capstyle="butt")
        ax.add_collection(self.bars_, autolim=False)
        return self.bars_

    def _draw_marks(self, ax: Any, lines: list[Line], tops: list[float]) -> None:
        is_on: dict[str, NDArray[np.bool_]] = {}
        made = self.predicted == 1
        if self.true is not None:
            is_on["true cut, found"] = made & (self.true == 1)
            is_on["true cut, missed"] = ~made & (self.true == 1)
            is_on["cut that is not true"] = made & (self.true == 0)
        lane_of_known = 1 if self.true is not None else 0
        if self.known is not None:
            is_on["known: a cut"] = self.known == 1
            is_on["known: no cut"] = self.known == 0
        n = len(self.predicted)
        x, y = np.empty(n), np.empty(n)
        for line, top in zip(lines, tops, strict=True):
            end = min(line.end, n)
            x[line.start : end] = line.ends[: end - line.start]
            y[line.start : end] = top - _BOX
        self.marks_ = {}
        for name, chosen in is_on.items():
            lane = lane_of_known if name.startswith("known") else 0
            (self.marks_[name],) = ax.plot(
                x[chosen],
                y[chosen] - (lane + 0.5) * _LANE,
                linestyle="none",
                clip_on=False,
                **_MARKS[name],
            )

    def _choose_size(self, columns: float, height: float) -> None:
        """Set the largest size of the characters that fits the laid-out figure."""
        figure = self.figure_.figure
        figure.draw_without_rendering()
        box = self.ax_.get_window_extent()
        points = 72.0 / figure.dpi
        by_width = box.width * points / (columns + 0.6) / _EM * 0.97
        by_height = box.height * points * _BOX / height / _LINE_HEIGHT
        size = min(by_width, by_height, _LARGEST)
        for text in self.texts_:
            text.set_fontsize(size)
        self.bars_.set_linewidth(min(2.6, 0.3 * size))


def _scale(probability: float) -> float:
    """Return the height of a bar, with some room left between lines of text."""
    return 0.85 * _BARS * probability


def _check_cuts(
    values: Any, name: str, characters: str | Sequence[str], n: int, allowed: tuple[int, ...]
) -> NDArray[np.int8]:
    """Return cuts (n - 1,) from cuts or words."""
    if isinstance(values, list | tuple) and values and isinstance(values[0], str):
        if not isinstance(characters, str) or "".join(values) != characters:
            raise ValueError(
                f"{name} must hold the words of the text, which they are not end to end; got "
                f"{shorten(values)}."
            )
        cuts = np.zeros(n - 1, dtype=np.int8)
        ends = np.cumsum([len(word) for word in values])[:-1]
        cuts[ends[(ends > 0) & (ends < n)] - 1] = 1
        return cuts
    array = as_array(values, name)
    if array.shape == (0,) == (n - 1,):
        return np.zeros(0, dtype=np.int8)
    if array.shape != (n - 1,) or array.dtype.kind not in "biuf" or not np.isin(
        array, allowed
    ).all():  # fmt: skip
        raise ValueError(
            f"{name} must hold {', '.join(map(str, allowed[::-1]))} for each of the {n - 1} places "
            f"between {n} characters, or the words; got {shorten(values)}."
        )
    return array.astype(np.int8)
