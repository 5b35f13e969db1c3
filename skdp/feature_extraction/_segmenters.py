"""Segmentation of raw text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_PARAGRAPH_END = re.compile(r"\n\s*\n")

_GAP = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’“»›)\]]))\s+|\n\s*\n")
"""White space behind what may end a sentence, all of it, and blank lines."""

_LETTER_WITH_STOP = re.compile(r"[^\W\d_]\.")

_NUMBER = re.compile(r"\s*[(\[]?(\d+|[a-zA-Z]|[ivxIVX]+)(\.\d+)*[)\]]?\.")
"""The number of an item, with its full stop, if it is all of a sentence so far."""

_TWO_LETTERS = ("e.g.", "i.e.", "E.g.", "I.e.")

_ABBREVIATIONS = frozenset(
    ["Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Gen", "Rep", "Sen", "Gov", "vs"]
)
"""A full stop behind one of these ends no sentence."""

_BEFORE_NUMBERS = frozenset(
    "al app art ch chap chs col eq eqs fig figs l ll n no nos nr p par para pp pt ref refs s sec "
    "secs sect ser tab tabs vol vols".split()
)
"""A full stop between one of these and a number ends no sentence."""


def split_paragraphs(text: str) -> list[str]:
    """Cut at blank lines."""
    return _without_blank(_PARAGRAPH_END.split(text))


def split_lines(text: str) -> list[str]:
    """Cut at line ends."""
    return _without_blank(text.splitlines())


def split_sentences(text: str) -> list[str]:
    """Cut behind full stops, question and exclamation marks, and at blank lines."""
    pieces, begin = [], 0
    for gap in _GAP.finditer(text):
        if _PARAGRAPH_END.search(gap[0]) or _ends_sentence(text, begin, *gap.span()):
            pieces.append(text[begin : gap.start()])
            begin = gap.end()
    return _without_blank([*pieces, text[begin:]])


def _ends_sentence(text: str, first: int, stop: int, begin: int) -> bool:
    """Return whether a sentence from `first` ends before `stop`, if text continues at `begin`."""
    following = text[begin : begin + 1]
    if following.islower():
        return False
    if text[stop - 1] != ".":
        return True
    if _NUMBER.fullmatch(text, first, stop) or text[:stop].endswith(_TWO_LETTERS):
        return False
    word = _word_before(text, stop - 1)
    if following.isdigit() and word.lower() in _BEFORE_NUMBERS:
        return False
    if len(word) != 1:
        return word not in _ABBREVIATIONS
    # An initial, also of a script without capitals, or the first of two letters, as in "z. B."
    is_initial = word.isalpha() and not word.islower()
    return not (is_initial or (word.isalpha() and _LETTER_WITH_STOP.match(text, begin)))


def _word_before(text: str, end: int) -> str:
    """Return the letters and digits right before a place, without combining marks."""
    letters = []
    for letter in reversed(text[max(end - 40, 0) : end]):
        if letter.isalnum() or letter == "_":
            letters.append(letter)
        elif unicodedata.category(letter)[0] != "M":
            break
    return "".join(reversed(letters))


def _without_blank(pieces: list[str]) -> list[str]:
    return [piece for piece in pieces if piece.strip()]


SEGMENTERS: dict[str, Callable[[str], list[str]]] = {
    "paragraph": split_paragraphs,
    "line": split_lines,
    "sentence": split_sentences,
}
