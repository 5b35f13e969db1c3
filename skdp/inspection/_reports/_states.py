"""Reports of models of hidden states."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count, is_number, shorten
from skdp.data._ragged import Ragged
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.inspection._axes import PALETTE, check_names, write_name
from skdp.inspection._reports._page import (
    check_target,
    choose_evenly,
    count_shown,
    escape,
    numbers,
    read_file,
    write_page,
)
from skdp.inspection._state_sequence import _join_times
from skdp.inspection._states import (
    check_state_names,
    check_times,
    find_times,
    predict_states,
    write_times,
)
from skdp.sequence import HDPHMMLT, StateDetector

# Numbers of a report.


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
    states = series.states
    if width > 1:  # the most frequent state of each bin, the lowest number among equal ones
        counts = np.zeros((len(edges), int(states.max()) + 1), dtype=np.int64)
        np.add.at(counts, (np.arange(n_steps) // width, states), 1)
        states = counts.argmax(axis=1)
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


def _thousandths(values: NDArray[np.float64]) -> list[int]:
    found: list[int] = np.rint(1000.0 * values).astype(np.int64).tolist()
    return found


# The page of a report.


_FORECAST = 10
"""Number of steps of the forecast by default."""
_MOST_COLUMNS = 8
"""Number of columns that are drawn."""


def state_report(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    state_names: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    title: str | None = None,
    n_forecast: int | None = None,
    interval: float = 0.9,
    max_sequences: int = 20,
) -> Path:
    """Write a page about a model of states: the states, and sequences with their changes.

    The page is one HTML file that loads nothing from other places, so it can be sent by mail and
    opened without a network. It has a table of the states, and for each sequence the observations
    above bands in the colors of the states, the posterior probability of a change at each step,
    and a forecast. The page can be used with a keyboard and with a screen reader, and has light and
    dark colors.

    Parameters
    ----------
    model : fitted HDPHMMLT or StateDetector
    X : as for ``predict``
        The sequences to show. An array or data frame is one sequence. The times of data frames with
        dates in their index are shown.
    path : str or path-like
        The file to write, such as "states.html". An existing file is replaced once the page is
        complete.
    state_names : list of str, default=None
        Names of the states, the name of state j at position j. None: "state 0", "state 1", ...
    titles : list of n_sequences str, default=None
        Titles of the sequences. None: "sequence 0", "sequence 1", ...
    title : str, default=None
        Title of the page. None: the name of the class.
    n_forecast : int, default=None
        Number of steps to forecast after each sequence; 0: no forecast. None: 10 if the model can
        forecast X; if it cannot, the page gives the reason.
    interval : float, default=0.9
        Probability of the interval of the forecast at each step, between 0 and 1.
    max_sequences : int, default=20
        Largest number of sequences, >= 1. If X has more, the page shows evenly spaced sequences,
        and says so. The table covers all of X. A long sequence is drawn by the extremes of bins of
        steps, and at most eight columns are drawn.

    Returns
    -------
    Path
        `path`.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is of another class, `path` is not a path, or `n_forecast` is given and the
        model has no forecasts of X.
    ValueError
        If X or another argument is invalid.
    OSError
        If there is no such folder, or the file cannot be written.

    See Also
    --------
    StateSequenceDisplay : Plots the states of a sequence.
    topic_report : Writes a page about a topic model.

    Notes
    -----
    States are those of ``predict``, the most probable at each step, and changes have the
    probabilities of ``predict_change_proba``. A mean duration is the mean length of the runs of a
    state; a run that begins before or ends after its sequence counts as it is.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from skdp.inspection import state_report
    >>> from skdp.sequence import HDPHMMLT
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(m, 0.5, 40) for m in (0, 5, 0, 5)]).reshape(-1, 1)
    >>> model = HDPHMMLT(6, stickiness=20.0, max_iter=200, random_state=0).fit(x)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = state_report(model, x, f"{folder}/states.html")
    ...     page.read_text(encoding="utf-8").count("<html")
    1
    """
    if not isinstance(model, HDPHMMLT | StateDetector):
        raise TypeError(
            f"model must be an HDPHMMLT or a StateDetector, got {type(model).__name__}."
        )
    target = check_target(path)
    check_is_fitted(model)
    if n_forecast is not None:
        n_forecast = check_count(n_forecast, "n_forecast")
    if not is_number(interval) or not 0.0 < interval < 1.0:
        raise ValueError(f"interval must be between 0 and 1, got {shorten(interval)}.")
    max_sequences = check_count(max_sequences, "max_sequences", at_least=1)
    states, boundaries, values = predict_states(model, X, None)
    is_single = boundaries is None
    inner = np.empty(0, dtype=np.int64) if boundaries is None else boundaries
    ptr = np.concatenate([[0], inner, [len(states)]])
    n_sequences = len(ptr) - 1
    why = ", one for each sequence of X"
    names = check_names(titles, "titles", n_sequences, "sequence ", why)
    labels = [f"state {j}" for j in range(int(states.max()) + 1)]
    if state_names is not None:
        labels = check_state_names(state_names, states)
    columns = _find_columns(model, values.shape[1])
    rows = tabulate(states, ptr, values, columns)

    chosen = choose_evenly(n_sequences, max_sequences)
    some = X
    if len(chosen) < n_sequences:
        some = X[chosen] if isinstance(X, Ragged) else [X[i] for i in chosen.tolist()]
    state_proba, change_proba = model.predict_proba(some), model.predict_change_proba(some)
    if is_single:
        state_proba, change_proba = [state_proba], [change_proba]
    shown, missing = [], {}
    drawn = columns[:_MOST_COLUMNS]
    for i, of_states, of_changes in zip(chosen.tolist(), state_proba, change_proba, strict=True):
        own = X if is_single else X[i : i + 1]
        here = slice(ptr[i], ptr[i + 1])
        times = find_times(own, None)
        if times is not None:
            times = write_times(check_times(times, here.stop - here.start))
        ahead, reason = _forecast(model, own, values[here], n_forecast, interval, len(drawn))
        if reason:
            missing[names[i]] = reason
        series = Series(
            names[i],
            values[here],
            states[here],
            of_states.max(axis=1),
            of_changes,
            times,
            ahead,
        )
        shown.append(describe(series, len(chosen), _MOST_COLUMNS))
    return write_page(
        target,
        model,
        title,
        body=_write_body(rows, columns, labels, len(chosen), n_sequences),
        notes=_write_notes(shown, len(columns), missing, float(interval)),
        data={
            "palette": PALETTE,
            "interval": float(interval),
            "states": [
                {"id": row.state, "name": write_name(labels[row.state]), "share": row.share}
                for row in rows
            ],
            "columns": [
                {
                    "name": write_name(column.name),
                    "categories": column.categories and [*map(write_name, column.categories)],
                }
                for column in drawn
            ],
            "sequences": shown,
        },
        script="states.js",
    )


def _find_columns(model: Any, n_columns: int) -> list[ReportedColumn]:
    """Return the names of the columns and of their categories, if there are any."""
    names = getattr(model, "feature_names_in_", [f"column {d}" for d in range(n_columns)])
    known = getattr(model, "categories_", None) or [None] * n_columns
    emission = getattr(model, "emission_", None)
    if isinstance(emission, CategoricalModel):
        codes = [str(code) for code in range(emission.probs.shape[1])]
        known = [codes if each is None else each for each in known]
    return [
        ReportedColumn(str(name), None if each is None else [str(category) for category in each])
        for name, each in zip(names, known, strict=True)
    ]


def _forecast(
    model: Any,
    own: Any,
    values: NDArray[np.float64],
    n_steps: int | None,
    interval: float,
    n_columns: int,
) -> tuple[dict[str, Any] | None, str]:
    """Return the forecast of a sequence, or None and the reason why there is none."""
    if n_steps == 0:
        return None, ""
    try:
        if not hasattr(model, "forecast"):
            raise TypeError(f"{type(model).__name__} has no forecasts.")
        tail = 0.5 * (1.0 - float(interval))
        found = model.forecast(own, n_steps or _FORECAST, [tail, 1.0 - tail])
        if "mean" not in found:
            raise TypeError("Categories have no interval.")
    except (TypeError, ValueError) as error:
        if n_steps is not None:
            raise
        return None, str(error)
    is_list = isinstance(found["mean"], list)
    only = {name: each[0] if is_list else each for name, each in found.items()}
    frame = own[0] if is_list and isinstance(own, list | tuple) else own
    n_before = max(len(values) - 2 * len(only["mean"]), 0)  # twice as many steps are shown before
    times = None
    if "frame" in only:
        joined = _join_times(frame, only["frame"], len(values) + len(only["mean"]))
        times = write_times(joined)[n_before:] if joined.dtype.kind == "M" else None
    columns_shown = range(n_columns)
    return {
        "n": n_before,
        "x": times,
        "past": [numbers(values[n_before:, d]) for d in columns_shown],
        "mean": [numbers(only["mean"][:, d]) for d in columns_shown],
        "lo": [numbers(only["quantiles"][:, d, 0]) for d in columns_shown],
        "hi": [numbers(only["quantiles"][:, d, 1]) for d in columns_shown],
    }, ""


def _write_body(
    rows: list[StateRow],
    columns: list[ReportedColumn],
    labels: list[str],
    n_shown: int,
    n_sequences: int,
) -> str:
    head = ["state", "share of steps", "runs", "mean duration", *(c.name for c in columns)]
    lines = []
    for row in rows:
        cells = [f"{100 * row.share:.1f} %", f"{row.n_runs:,}", f"{row.mean_length:,.1f}"]
        texts = "".join(f"<td>{escape(cell)}</td>" for cell in [*cells, *row.values])
        lines.append(f'<tr><th scope="row">{escape(labels[row.state])}</th>{texts}</tr>')
    return read_file("states.html").format(
        note="Durations are in steps. Columns have the mean ± the standard deviation of the "
        "observations, or the shares of the most frequent categories.",
        head="".join(f'<th scope="col">{escape(name)}</th>' for name in head),
        rows="\n".join(lines),
        sequences=count_shown(n_shown, n_sequences, "sequence"),
    )


def _write_notes(
    shown: list[dict[str, Any]], n_columns: int, missing: dict[str, str], interval: float
) -> list[str]:
    notes = [
        "The state of a step is the most probable one given its whole sequence. The probability of "
        "a change is that of a state other than in the step before."
    ]
    if any(each["z"] > 1 for each in shown):
        notes.append(
            "Long sequences are drawn in bins of steps: the smallest and largest observation, the "
            "most frequent state, and the largest probability of a change."
        )
    if n_columns > _MOST_COLUMNS:
        notes.append(f"The first {_MOST_COLUMNS} of {n_columns:,} columns are drawn.")
    if any(each["f"] for each in shown):
        notes.append(
            f"Forecasts: the mean, and an interval that holds the observation with probability "
            f"{interval:g} at each step on its own."
        )
    if missing:
        name, reason = next(iter(missing.items()))
        which = "" if len(missing) == len(shown) else f" of {write_name(name)}"
        if 1 < len(missing) < len(shown):
            which += f" and {len(missing) - 1:,} other sequences"
        notes.append(f"There is no forecast{which}. {write_name(reason, 400)}")
    return notes
