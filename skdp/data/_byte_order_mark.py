"""Removal of the byte order mark, which some programs write at the beginning of text files."""

from __future__ import annotations

_MARK = "\ufeff"


def without_byte_order_mark(text: str) -> str:
    """Return a text without U+FEFF, which occurs at the beginning or where files were joined."""
    return text.replace(_MARK, "")
