"""Common parts of the displays: lazy use of matplotlib, panels in the place of axes, colors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from skdp._checks import shorten

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


def check_names(names: Sequence[Any] | None, what: str, n: int) -> list[str]:
    """Return n names, each converted to str; None stands for "0", "1", ..."""
    if names is None:
        return [str(k) for k in range(n)]
    return as_names(names, what, n)


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


def check_cmap(cmap: Any) -> Any:
    """Return a colormap, given itself or its name, or raise an error that names the argument."""
    from matplotlib import colormaps
    from matplotlib.colors import Colormap

    if isinstance(cmap, Colormap):
        return cmap
    if not isinstance(cmap, str) or cmap not in colormaps:
        raise ValueError(f"cmap must be a matplotlib colormap or its name, got {shorten(cmap)}.")
    return colormaps[cmap]


def check_matplotlib(caller: str) -> None:
    """Raise an ImportError with installation advice if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401 - checks the installation
    except ImportError as error:
        raise ImportError(
            f"{caller} needs matplotlib: install it with `pip install skdp[plot]`."
        ) from error


def open_axes(ax: Any, size: tuple[float, float], labels: list[str]) -> Any:
    """Return `ax`, or the axes of a new figure with room for `size` inches and for a legend."""
    if ax is not None:
        from matplotlib.axes import Axes

        if not isinstance(ax, Axes):
            raise TypeError(f"ax must be a matplotlib Axes or None, got {type(ax).__name__}.")
        return ax
    import matplotlib.pyplot as plt

    width, height = size
    if labels:
        width += 0.5 + 0.085 * max(map(len, write_names(labels)))
        height = max(height, 0.6 + _LINE_INCHES * len(labels))
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


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


def add_legend(ax: Any, handles: list[Any], labels: list[str]) -> Any:
    """Return a legend to the right of `ax`, in as many columns as its height requires."""
    height = ax.get_window_extent().height / ax.figure.dpi
    legend = ax.legend(
        handles,
        ["label"] * len(labels),  # placeholders: labels that begin with "_" would be omitted
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0,
        frameon=False,
        handlelength=1.2,
        ncols=math.ceil(_LINE_INCHES * len(labels) / max(height, _LINE_INCHES)),
    )
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set(text=write_name(label), **LITERAL)
    return legend


def with_count(name: str, n_rows: int) -> str:
    """Return the name of a cluster with its number of rows."""
    return f"{name} ({n_rows} row{'' if n_rows == 1 else 's'})"
