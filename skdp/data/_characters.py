"""Invisible characters of copied text, and one form for texts that look the same."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_JOINERS = "\u200c\u200d"
"""Parts of words in Persian and Malayalam, between letters or after a mark."""

_JOINER = re.compile(f"(.?)[{_JOINERS}]+(?=(.?))", re.DOTALL)

_VISIBLE = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Format characters that are drawn, around or above numbers."""

_RANGES = (range(0x80, 0x10000), range(0x11000, 0x1E000), range(0xE0000, 0xE0080))
"""Ranges that contain all format characters of Unicode."""

_LINE_END = re.compile("\r\n|[\r\x85\u2028]")


@cache
def _invisible() -> re.Pattern[str]:
    found = [chr(code) for codes in _RANGES for code in codes]
    kept = {*_JOINERS, *_VISIBLE}
    format_characters = [c for c in found if unicodedata.category(c) == "Cf" and c not in kept]
    return re.compile(f"[{''.join(format_characters)}]")


def without_invisible(text: str) -> str:
    """Return a text without byte order marks, soft hyphens, and other format characters."""
    if text.isascii():
        return text
    text = _invisible().sub("", text)
    return _JOINER.sub(_keep_if_it_joins, text)


def _keep_if_it_joins(found: re.Match[str]) -> str:
    before, after = (unicodedata.category(c)[0] if c else "" for c in found.groups())
    joins = before == "M" or (before in "LN" and after in "LMN" and before and after)
    return found[0] if joins else found[1]


def normalize_text(text: str) -> str:
    """Return a text in Unicode's form C, without invisible characters, with its line ends as LF."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", without_invisible(text)).replace("\u2029", "\n\n")
    return _LINE_END.sub("\n", text)


def normalize_word(word: str) -> str:
    """Return a word in the form in which equal words are the same text."""
    return word if word.isascii() else normalize_text(word) or word
