"""The mark that some programs write at the beginning of a text file."""

from __future__ import annotations

_MARK = "\ufeff"


def without_byte_order_mark(text: str) -> str:
    """Return a text without U+FEFF: at its beginning, or where files were joined."""
    return text.replace(_MARK, "")
