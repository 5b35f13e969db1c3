r"""Regular expressions for words whose letters may have combining marks.

Python's ``\w`` matches no combining marks, so words of Hindi, Thai or vowelled Arabic, and
decomposed Latin letters, would fall apart. Here ``\w`` and ``\b`` are those of Unicode's standard
for regular expressions (UTS #18), which takes marks and joiners for parts of words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import chain

_JOINERS = (0x200C, 0x200D)
"""Characters that are parts of words in Persian and Malayalam, although they are not marks."""

_BASIC = range(0x300, 0x10000)
_SUPPLEMENTARY = (range(0x10000, 0x20000), range(0xE0000, 0xE0200))
"""Ranges that contain all marks of Unicode."""

_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_CLASS_OR_ESCAPE = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.", re.DOTALL)


class WordPattern:
    """Finds words by a regular expression in which marks belong to the letters before them.

    The group, if there is one, is the word. ASCII texts are searched with the expression as it is,
    and so are all texts if it has the flag ``(?a)`` or ``(?x)``.
    """

    def __init__(self, pattern: str):
        self._plain = re.compile(pattern)
        self._is_plain = bool(self._plain.flags & (re.ASCII | re.VERBOSE))

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text."""
        if self._is_plain or text.isascii() or (found := _find_marks(text)) is None:
            return self._plain.findall(text)
        return _widened(self._plain.pattern, found).findall(text)


def _find_marks(text: str) -> str | None:
    """Return the class of marks that a text needs, or None if it has no marks."""
    if _may_have_marks().search(text) is None:
        return None
    # Supplementary marks are in the class only if the text has one, since they slow `re` down.
    others = set(re.findall("[\U00010000-\U0010ffff]", text))
    has_supplementary = any(unicodedata.category(letter)[0] == "M" for letter in others)
    return _marks(has_supplementary)


@cache
def _may_have_marks() -> re.Pattern[str]:
    return re.compile(f"[{_marks(False)}\U00010000-\U0010ffff]")


@cache
def _marks(with_supplementary: bool) -> str:
    """Return marks and joiners as what stands inside a class of a regular expression."""
    planes = chain(_BASIC, *(_SUPPLEMENTARY if with_supplementary else ()))
    ranges: list[list[int]] = []
    for code in planes:
        if unicodedata.category(chr(code))[0] != "M" and code not in _JOINERS:
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


@cache
def _widened(pattern: str, marks: str) -> re.Pattern[str]:
    r"""Return an expression whose ``\w`` matches marks, and whose matches end with their marks."""
    word = rf"[\w{marks}]"
    escapes = {
        r"\w": word,
        r"\W": rf"[^\w{marks}]",
        r"\b": rf"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))",
        r"\B": rf"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))",
    }

    def widen(part: re.Match[str]) -> str:
        return escapes.get(part[0], part[0]) if part[0][0] == "\\" else _widen_class(part[0], marks)

    flags = found[0] if (found := _FLAGS.match(pattern)) else ""
    body = _CLASS_OR_ESCAPE.sub(widen, pattern[len(flags) :])
    return re.compile(f"{flags}(?:{body})[{marks}]*")


def _widen_class(text: str, marks: str) -> str:
    r"""Return a class with marks among its ``\w``, and none among its ``\W``."""
    escapes = set(_ESCAPE.findall(text))
    if {r"\w", r"\W"} <= escapes:
        return text  # whatever there is
    if r"\w" in escapes:
        return _ESCAPE.sub(lambda part: part[0] + (marks if part[0] == r"\w" else ""), text)
    if r"\W" in escapes:
        is_negated = text.startswith("[^")
        return f"(?:{text}|[{marks}])" if is_negated else f"(?:(?![{marks}]){text})"
    return text
