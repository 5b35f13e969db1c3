"""The numbers of a report on a model of states."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.inspection._axes import write_name
from skdp.inspection._reports._page import number, numbers

_MOST_BINS, _BINS_OF_PAGE = 2000, 20_000
"""Most bins of a sequence, and of all sequences."""
_N_CATEGORIES = 3
"""Number of categories of a state that the table names."""


class ReportedColumn(NamedTuple):
    """A column of the observations."""

    name: str
    categories: list[str] | None
    """Names of the codes; None for numbers."""


class Series(NamedTuple):
    """A sequence of the page."""

    title: str
    values: NDArray[np.float64]
    """(T, D) observations."""
    states: NDArray[np.int64]
    state_proba: NDArray[np.float64]
    """Probabilities of these states."""
    change_proba: NDArray[np.float64]
    times: list[str] | None
    forecast: dict[str, Any] | None


class StateRow(NamedTuple):
    """A row of the table of states."""

    state: int
    share: float
    n_runs: int
    mean_length: float
    values: list[str]
    """A description of each column."""


def tabulate(
    states: NDArray[np.int64],
    ptr: NDArray[np.int64],
    values: NDArray[np.float64],
    columns: list[ReportedColumn],
) -> list[StateRow]:
    """Return a row for each state of joined sequences; runs cut at their ends count as they are."""
    begins = np.zeros(len(states), dtype=bool)
    begins[1:] = states[1:] != states[:-1]
    begins[ptr[:-1]] = True
    rows = []
    for j in np.unique(states).tolist():
        here = states == j
        n_steps, n_runs = int(here.sum()), int((begins & here).sum())
        texts = [_summarize(values[here, d], column) for d, column in enumerate(columns)]
        rows.append(StateRow(j, n_steps / len(states), n_runs, n_steps / n_runs, texts))
    return rows


def _summarize(values: NDArray[np.float64], column: ReportedColumn) -> str:
    """Return the mean and deviation of a column in a state, or its first categories."""
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return "missing"
    if column.categories is None:
        return f"{known.mean():.4g} ± {known.std():.2g}"
    codes, counts = np.unique(known.astype(np.int64), return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_N_CATEGORIES]
    return ", ".join(
        f"{column.categories[codes[i]]} {100 * counts[i] / len(known):.0f} %" for i in order
    )


def choose_width(n_steps: int, n_sequences: int) -> int:
    """Return the number of steps of a bin."""
    most = max(1, min(_MOST_BINS, _BINS_OF_PAGE // n_sequences))
    return -(-n_steps // most)


def describe(series: Series, n_sequences: int, n_columns: int) -> dict[str, Any]:
    """Return a sequence for the page."""
    n_steps = len(series.states)
    width = choose_width(n_steps, n_sequences)
    edges = np.arange(0, n_steps, width)
    states = series.states if width == 1 else _most_frequent(series.states, width)
    begins = np.flatnonzero(np.diff(states, prepend=states[0] - 1))
    found: dict[str, Any] = {
        "t": write_name(series.title),
        "n": n_steps,
        "z": width,  # steps in a bin
        "s": np.column_stack([begins, states[begins]]).ravel().tolist(),  # runs: first bin, state
        "p": _thousandths(np.minimum.reduceat(series.state_proba, edges)),
        "q": _thousandths(np.maximum.reduceat(series.change_proba, edges)),
        "x": None if series.times is None else [series.times[i] for i in edges],
        "f": series.forecast,
    }
    values = series.values[:, :n_columns].T
    if width == 1:
        found["v"] = [numbers(column) for column in values]
    else:  # missing values do not count
        found["lo"] = [numbers(np.fmin.reduceat(column, edges)) for column in values]
        found["hi"] = [numbers(np.fmax.reduceat(column, edges)) for column in values]
    return found


def _most_frequent(states: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the most frequent state of each bin, the lowest number among equal ones."""
    bins = np.arange(len(states)) // width
    counts = np.zeros((int(bins[-1]) + 1, int(states.max()) + 1), dtype=np.int64)
    np.add.at(counts, (bins, states), 1)
    return counts.argmax(axis=1)


def _thousandths(values: NDArray[np.float64]) -> list[int]:
    found: list[int] = np.rint(1000.0 * values).astype(np.int64).tolist()
    return found


def describe_forecast(
    history: NDArray[np.float64],
    found: Any,
    columns: list[ReportedColumn],
    times: list[str] | None,
) -> dict[str, Any]:
    """Return a forecast for the page, after twice as many observed steps."""
    n_ahead = len(found["mean"])
    n_before = max(len(history) - 2 * n_ahead, 0)
    past = history[n_before:]
    if times is not None:
        times = times[n_before:]
    columns_shown = range(len(columns))
    return {
        "n": n_before,
        "x": times,
        "past": [numbers(past[:, d]) for d in columns_shown],
        "mean": [[number(x) for x in found["mean"][:, d]] for d in columns_shown],
        "lo": [numbers(found["quantiles"][:, d, 0]) for d in columns_shown],
        "hi": [numbers(found["quantiles"][:, d, 1]) for d in columns_shown],
    }
