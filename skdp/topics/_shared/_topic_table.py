"""A table of topics with their sizes and top words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

REST = -1
"""Number in the row of all topics that have no row of their own."""


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
    """

    def __init__(self, rows: list[TopicRow]):
        self._rows = rows

    @overload
    def __getitem__(self, place: int) -> TopicRow: ...

    @overload
    def __getitem__(self, place: slice) -> TopicTable: ...

    def __getitem__(self, place: int | slice) -> TopicRow | TopicTable:
        """Return a row, or a table of some of them."""
        rows = self._rows[place]
        return TopicTable(rows) if isinstance(rows, list) else rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __repr__(self) -> str:
        lines = ["topic  share    n_tokens  top_words"]
        for row in self:
            words = " ".join(map(str, row.top_words))
            topic = "rest" if row.topic == REST else row.topic
            lines.append(f"{topic:>5}  {row.share:5.3f}  {row.n_tokens:10.1f}  {words}")
        return "\n".join(lines)
