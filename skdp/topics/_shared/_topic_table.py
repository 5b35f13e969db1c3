"""A table of topics with their sizes and top words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

REST = -1
"""Number in the shared row of all topics that have no separate row."""


class TopicRow(NamedTuple):
    """A row of the table, which describes one topic, or the rest of them."""

    topic: int
    share: float
    n_tokens: float
    top_words: list[Any]


class TopicTable(Sequence[TopicRow]):
    """Rows of a table of topics, shown as text.

    Parameters
    ----------
    rows : list of TopicRow
    names : list of str or None
        Names of all topics; None for a topic that is shown by its number.
    """

    def __init__(self, rows: list[TopicRow], names: list[str | None]):
        self._rows = rows
        self._names = names

    @overload
    def __getitem__(self, place: int) -> TopicRow: ...

    @overload
    def __getitem__(self, place: slice) -> TopicTable: ...

    def __getitem__(self, place: int | slice) -> TopicRow | TopicTable:
        """Return a row, or a table of some of them."""
        rows = self._rows[place]
        return TopicTable(rows, self._names) if isinstance(rows, list) else rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __repr__(self) -> str:
        shown = [self._show(row.topic) for row in self]
        width = max(5, *map(len, shown))
        lines = [f"{'topic':<{width}}  share    n_tokens  top_words"]
        for topic, row in zip(shown, self, strict=True):
            words = " ".join(map(str, row.top_words))
            lines.append(f"{topic:>{width}}  {row.share:5.3f}  {row.n_tokens:10.1f}  {words}")
        return "\n".join(lines)

    def _show(self, topic: int) -> str:
        """Return the name or the number of a topic."""
        if topic == REST:
            return "rest"
        name = self._names[topic]
        return str(topic) if name is None else name
