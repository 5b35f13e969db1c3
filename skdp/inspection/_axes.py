"""Common parts of the displays: colors, names, axes, panels, matrices, and trees."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from inspect import cleandoc, signature
from typing import Any, ClassVar, Self
from unicodedata import category

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_array, as_floats, check_count, shorten
from skdp._numeric import Floats, Places

PALETTE = (
    "#0072B2 #E69F00 #009E73 #CC79A7 #56B4E9 #D55E00 #F0E442 #3C2D00 #2D0096 #9678FF "
    "#0F694B #B40F1E #4B005A #78FF96 #5A3CB4 #96B478 #780F3C #785A87 #F0A5B4 #004B87"
).split()
"""Twenty colors that are distinct even for color-blind readers.

The first seven are those of Okabe and Ito (2008) without black. The others were chosen among colors
of moderate chroma, by maximizing the OKLab distances from each other, from the seven and from the
gray below, in normal, protanope, deuteranope and tritanope vision (Machado et al., 2009). In
deuteranope vision the smallest distance between two of the twenty is .075, and between two of the
seven .076.
"""

_GAP_INCHES = np.array([0.7, 0.28])
"""Gaps between panels, for tick labels and for a title."""
_LINE_INCHES = 0.215
"""Height of a line of a legend."""

GREY = "#D9D9D9"
"""Color of the category "other"."""


LITERAL: dict[str, Any] = {"parse_math": False}
"""Arguments of a text with a literal name: dollar signs would start a formula, or fail."""

_LONGEST = 100
"""Largest number of drawn characters of a name: figures have no room for more."""


def check_names(
    names: Sequence[Any] | None, what: str, n: int, prefix: str = "", why: str = ""
) -> list[str]:
    """Return n names as str; None stands for "0", "1", ... after `prefix`."""
    return [f"{prefix}{k}" for k in range(n)] if names is None else as_names(names, what, n, why)


def as_names(names: Sequence[Any], what: str, n: int, why: str = "") -> list[str]:
    """Return n names (a str: its characters) as str; `why` explains the number in messages."""
    if isinstance(names, bytes | dict) or not hasattr(names, "__iter__"):
        raise ValueError(f"{what} must be a list of {n} names, got {shorten(names)}.")
    found = [str(name) for name in names]
    if len(found) != n:
        raise ValueError(f"{what} must hold {n} names{why}, got {len(found)}.")
    return found


def write_name(name: str, longest: int = _LONGEST) -> str:
    """Return the drawn form of a name: a single line, drawable characters, limited length."""
    text = "".join(" " if c in "\t\n\v\f\r" else c for c in name)
    broken = "\N{REPLACEMENT CHARACTER}"
    text = "".join(broken if category(c) in ("Cc", "Cs") else c for c in text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def write_names(names: Iterable[str]) -> list[str]:
    """Return the drawn forms of names."""
    return [write_name(name) for name in names]


def _arguments_of(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return those of some variables that are arguments of a function."""
    return {name: given[name] for name in signature(function).parameters if name in given}


def check_axes(ax: Any) -> Any:
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes or None, got {type(ax).__name__}.")
    return ax


_NAMES = re.compile(r"^(\w+)(?:, \w+)*(?: : .*)?\n(?! |-)", re.MULTILINE)
_RAISES = "\nRaises\n------\n"


class Display:
    """Base class of the displays: where they are drawn, and what they can draw.

    Docstrings of methods that draw leave out: the text of a parameter that `plot` or the class
    describes; what they return; and, if `plot` raises nothing else, its ImportError.
    """

    ax_: Any
    figure_: Any
    legend_: Any
    plot: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, method in vars(cls).items() if cls.__module__.startswith("skdp.") else ():
            function = getattr(method, "__func__", method)
            if name.startswith(("plot", "from_")) and function.__doc__:
                function.__doc__ = cls._complete(cleandoc(function.__doc__) + "\n", name == "plot")

    @classmethod
    def _complete(cls, text: str, returns_self: bool) -> str:
        """Return the docstring of a method, with what it leaves out."""
        places = dict.fromkeys(signature(cls.__init__).parameters, "the class")
        places |= dict.fromkeys(signature(cls.plot).parameters, "`plot`")

        def refer(match: re.Match[str]) -> str:
            place = places.get(match[1])
            return match[0] if place is None else f"{match[0]}    See {place}.\n"

        text, mark, errors = _NAMES.sub(refer, text).partition(_RAISES)
        if returns_self and not mark:
            mark, errors = _RAISES, "ImportError\n    If matplotlib is not installed.\n"
        if "\nReturns\n" not in text:
            text += f"\nReturns\n-------\n{'self' if returns_self else cls.__name__}\n"
        return text + mark + errors

    @classmethod
    def _show(cls, given: dict[str, Any], **others: Any) -> Self:
        """Draw a display, given the variables of a method: arguments of the class and of `plot`."""
        given = given | others
        display = cls(**_arguments_of(cls.__init__, given))
        display.plot(**_arguments_of(cls.plot, given))
        return display

    @classmethod
    def _check_matplotlib(cls, method: str = "from_estimator") -> None:
        """Raise an ImportError with installation advice if matplotlib is not installed."""
        try:
            import matplotlib  # noqa: F401 - checks the installation
        except ImportError as error:
            raise ImportError(
                f"{cls.__name__}.{method} needs matplotlib: install it with "
                "`pip install skdp[plot]`."
            ) from error

    @classmethod
    def _check_model(cls, estimator: Any, what: str, *required: str) -> None:
        """Check, before all work, that a fitted estimator can be drawn: see `check_model`."""
        cls._check_matplotlib()
        check_model(estimator, what, *required)

    def _find_cmap(self, cmap: Any, default: str = "Blues") -> Any:
        """Return a colormap, given itself or its name."""
        self._check_matplotlib("plot")
        from matplotlib import colormaps
        from matplotlib.colors import Colormap

        cmap = default if cmap is None else cmap
        if isinstance(cmap, Colormap):
            return cmap
        if not isinstance(cmap, str) or cmap not in colormaps:
            raise ValueError(
                f"cmap must be a matplotlib colormap or its name, got {shorten(cmap)}."
            )
        return colormaps[cmap]

    def _open(self, ax: Any, size: tuple[float, float], labels: Sequence[str] = ()) -> Any:
        """Set `ax`, or the axes of a new figure with room for `size` inches and for a legend."""
        self._check_matplotlib("plot")
        if ax is None:
            import matplotlib.pyplot as plt

            width, height = size
            if labels:
                width += 0.5 + 0.085 * max(map(len, write_names(labels)))
                height = max(height, 0.6 + _LINE_INCHES * len(labels))
            ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
        self.ax_ = check_axes(ax)
        self.figure_ = ax.figure
        return ax

    def _add_colorbar(self, image: Any, label: str) -> None:
        self.colorbar_ = self.figure_.colorbar(image, cax=self.ax_.inset_axes(_BAR))
        self.colorbar_.set_label(label)

    def _add_legend(self, handles: list[Any], labels: list[str]) -> None:
        """Set a legend to the right of the axes, in as many columns as its height requires."""
        height = self.ax_.get_window_extent().height / self.figure_.dpi
        self.legend_ = label_handles(
            self.ax_,
            handles,
            labels,
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0.0,
            handlelength=1.2,
            ncols=math.ceil(_LINE_INCHES * len(labels) / max(height, _LINE_INCHES)),
        )


def make_panels(ax: Any, n_rows: int, n_columns: int, cells: list[int]) -> NDArray[np.object_]:
    """Return panels (n_cells,) inside `ax`, which frames them, in grid cells numbered by row."""
    ax.set(xticks=[], yticks=[], frame_on=False)
    ax.xaxis.labelpad, ax.yaxis.labelpad = 18.0, 26.0  # outside the tick labels of panels
    size = ax.get_window_extent().size / ax.figure.dpi
    gap_x, gap_y = np.minimum(_GAP_INCHES / size, 0.6 / np.array([n_columns, n_rows]))
    width = (1.0 - (n_columns - 1) * gap_x) / n_columns
    height = 1.0 / n_rows - gap_y
    panels = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        row, column = divmod(cell, n_columns)
        place = (column * (width + gap_x), 1.0 - (row + 1) / n_rows, width, height)
        panel = panels[i] = ax.inset_axes(place, sharex=panels[0] if i else None)
        panel.tick_params(labelsize="small", labelbottom=cell + n_columns not in cells)
        panel.spines[["top", "right"]].set_visible(False)
    return panels


def label_handles(ax: Any, handles: list[Any], labels: list[str], **style: Any) -> Any:
    """Return a legend without a frame whose labels are drawn literally."""
    # Placeholders, since labels that begin with "_" would be omitted.
    legend = ax.legend(handles, ["label"] * len(labels), frameon=False, **style)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set(text=write_name(label), **LITERAL)
    return legend


def write_title(ax: Any, title: str, **style: Any) -> None:
    ax.set_title(title, loc="left", fontsize="small", pad=3.0, **style)


def draw_boundaries(
    ax: Any, places: NDArray[Any], widths: tuple[float, float], lowest: float = 0.0, gid: Any = None
) -> None:
    """Draw lines between parts: a light rim shows the dark line on dark areas."""
    for color, width in zip(("white", "#333333"), widths, strict=True):
        style = {"color": color, "linewidth": width, "gid": gid}
        ax.vlines(places, lowest, 1.0, transform=ax.get_xaxis_transform(), **style)


def with_count(name: str, n_rows: int) -> str:
    """Return the name of a cluster with its number of rows."""
    return f"{name} ({n_rows} row{'' if n_rows == 1 else 's'})"


# Matrices with named rows and columns.


MAX_VALUES = 12
"""Number of rows or columns beyond which numbers in the cells are illegible."""
_BAR = (1.03, 0.1, 0.04, 0.8)
"""Position of the color bar: left, bottom, width and height in shares of the matrix."""
_CELL, _VALUE_CELL = 0.25, 0.42
"""Side of a cell, in inches, without and with a number."""
_MIN_SIDE, _MAX_SIDE = 1.8, 10.0
"""Limits of the side of a matrix, in inches, for labels and for screens."""


def decide_values(include_values: Any, n_cells: int) -> bool:
    """Return whether to write numbers in the cells; None: with up to `MAX_VALUES` in a row."""
    if include_values is None:
        return n_cells <= MAX_VALUES
    if not isinstance(include_values, bool | np.bool_):
        raise ValueError(
            f"include_values must be True, False or None, got {shorten(include_values)}."
        )
    return bool(include_values)


def size_matrix(
    row_names: list[str], column_names: list[str], *, with_values: bool
) -> tuple[float, float]:
    """Return the size in inches of cells, with or without numbers, labels and the color bar."""
    n_rows, n_columns = len(row_names), len(column_names)
    side = _VALUE_CELL if with_values else _CELL
    side = min(max(side, _MIN_SIDE / n_rows), _MAX_SIDE / max(n_rows, n_columns))
    rows, columns = (0.08 * max(map(len, write_names(n))) for n in (row_names, column_names))
    return 1.6 + rows + side * n_columns, 0.6 + columns + side * n_rows


def label_matrix(ax: Any, row_names: list[str], column_names: list[str]) -> None:
    """Write the names of rows and columns; long names of columns are vertical."""
    _label_axis(ax.yaxis, row_names, 0)
    _label_axis(ax.xaxis, column_names, 90 if max(map(len, column_names)) > 2 else 0)


def _label_axis(axis: Any, names: list[str], rotation: int) -> None:
    step = math.ceil(len(names) / 70)  # more labels are illegible
    axis.set_ticks(
        np.arange(0, len(names), step),
        write_names(names[::step]),
        fontsize="small" if len(names) <= 40 else "xx-small",
        **LITERAL,
    )
    axis.set_tick_params(length=0)
    for label in axis.get_ticklabels():
        label.set_rotation(rotation)


def text_color(background: Sequence[float]) -> str:
    """Return the color of a text on a color: white on a dark one."""
    red, green, blue, _ = background
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"


def write_values(ax: Any, image: Any, values: Floats, least: float = 0.0) -> NDArray[np.object_]:
    """Return the texts of numbers in cells of an image, white on dark ones, empty below `least`."""
    texts = np.empty(values.shape, dtype=object)
    for (i, j), value in np.ndenumerate(values):
        texts[i, j] = ax.text(
            *(j, i, f"{value:.2f}" if value >= least else ""),
            color=text_color(image.cmap(image.norm(value))),
            ha="center",
            va="center",
            fontsize="small",
        )
    return texts


# Checks of what displays are given.


def check_model(estimator: Any, what: str, *required: str, name: str = "estimator") -> None:
    """Raise NotFittedError, or TypeError if a fitted estimator is not of the kind that is drawn."""
    check_is_fitted(estimator)
    for attribute in required:
        if not hasattr(estimator, attribute):
            raise TypeError(
                f"{name} must be {what}, got a fitted {type(estimator).__name__}, which has no "
                f"{attribute}."
            )


def check_index(index: Any, name: str, n: int, what: str) -> int:
    """Return the position of one of the n parts of X."""
    index = check_count(index, name)
    if index >= n:
        raise ValueError(f"{name} must be below the number of {what} in X, {n}, got {index}.")
    return index


def check_inner(boundaries: Any, name: str, n: int, what: str) -> Places:
    """Return the offsets of parts between boundaries in `n` steps or segments."""
    inner = as_array(boundaries, name)
    if inner.size == 0:
        inner = inner.astype(np.int64)
    ptr = np.array([0, 0])  # invalid: not ascending
    if inner.ndim == 1 and inner.dtype.kind in "iu":
        ptr = np.concatenate([[0], inner, [n]])
    if np.any(ptr[1:] <= ptr[:-1]):
        raise ValueError(
            f"{name} must hold increasing integers between 0 and {n}, the number of {what}, both "
            f"excluded; got {shorten(boundaries)}."
        )
    return ptr.astype(np.int64)


def check_numbers(values: Any, name: str, n_dimensions: int, what: str = "numbers") -> Floats:
    """Return an array that holds at least one number."""
    array = as_array(values, name)
    if array.ndim != n_dimensions or array.size == 0 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a {n_dimensions}-D array of {what}, got shape {array.shape} and type "
            f"{array.dtype}."
        )
    return array.astype(np.float64)


def check_shape(array: NDArray[Any], name: str, shape: tuple[int, ...], what: str) -> None:
    """Raise a ValueError unless an array has a shape; `what` says what that is."""
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, {what}, got shape {array.shape}.")


def check_fractions(
    values: Any, name: str, n_dimensions: int, error: float = 0.0, what: str = "numbers"
) -> Floats:
    """Return an array of numbers in [0, 1]; the largest may have an error of rounding."""
    array = check_numbers(values, name, n_dimensions, what)
    if not np.all((array >= 0.0) & (array <= 1.0 + error)):
        raise ValueError(f"{name} must hold {what} in [0, 1].")
    return array


# Trees of merged components.


_WIDTH, _LEAF, _MARGIN = 3.6, 0.2, 0.9
"""Width of the tree, height of a leaf, and height of the axis, in inches."""

_LARGEST = 40
"""Number of leaves that are drawn by default, at most."""


class TreeDisplay(Display):
    """Base class of the trees, with their constructor and `plot`."""

    _xlabel: ClassVar[str]

    def __init__(self, linkage: ArrayLike, *, names: Sequence[str] | None = None):
        self.linkage = as_floats(linkage, "linkage", 2)
        if not is_valid_linkage(self.linkage):
            raise ValueError("linkage must be a linkage matrix of scipy.cluster.hierarchy.")
        self.names = check_names(names, "names", len(self.linkage) + 1)

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure.
        """
        names = write_names(self.names)
        tree = dendrogram(self.linkage, no_plot=True, color_threshold=0.0)
        self.leaves_ = list(map(int, tree["leaves"]))
        size = _WIDTH + 0.08 * max(map(len, names)), _MARGIN + _LEAF * len(names)
        ax = self._open(ax, size)
        from matplotlib.collections import LineCollection

        lines = np.stack([tree["dcoord"], tree["icoord"]], axis=-1)
        self.lines_ = ax.add_collection(
            LineCollection(list(lines), colors=PALETTE[0], linewidths=1.2)
        )
        places = 10.0 * np.arange(len(names)) + 5.0  # dendrogram's
        ax.set_yticks(places, [names[k] for k in self.leaves_], **LITERAL)
        ax.set_ylim(0.0, 10.0 * len(names))
        ax.set_xlim(0.0, 1.05 * max(float(self.linkage[-1, 2]), 1e-12))
        ax.set(xlabel=self._xlabel)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return self


def count_leaves(n: int | None, n_own: int, name: str, noun: str) -> int:
    """Return the number of leaves to draw: the given one, or all or 40 of the model's own."""
    n = min(n_own, _LARGEST) if n is None else check_count(n, name)
    if min(n, n_own) < 2:
        raise ValueError(f"A tree needs at least two {noun}, got {min(n, n_own)}.")
    return n
