"""Matrices with named rows and columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import shorten
from skdp.inspection._axes import LITERAL, write_names

MAX_VALUES = 12
"""Number of rows or columns beyond which numbers in the cells are illegible."""
BAR = (1.03, 0.1, 0.04, 0.8)
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


def write_values(
    ax: Any, image: Any, values: NDArray[np.float64], least: float = 0.0
) -> NDArray[np.object_]:
    """Return the texts of numbers in cells of an image, white on dark ones, empty below `least`."""
    texts = np.empty(values.shape, dtype=object)
    for (i, j), value in np.ndenumerate(values):
        red, green, blue, _ = image.cmap(image.norm(value))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        texts[i, j] = ax.text(
            *(j, i, f"{value:.2f}" if value >= least else ""),
            color="white" if dark else "black",
            ha="center",
            va="center",
            fontsize="small",
        )
    return texts
