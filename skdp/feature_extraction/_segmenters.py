"""How raw text is cut into segments."""

from __future__ import annotations

import re
from collections.abc import Callable

_PARAGRAPH_END = re.compile(r"\n\s*\n")

# A full stop behind one of these, or behind a lone capital (an initial), ends no sentence.
_ABBREVIATIONS = ("Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Gen", "Rep", "Sen", "Gov", "vs")
_SENTENCE_END = re.compile(
    "".join(rf"(?<!\b{abbreviation}\.)" for abbreviation in _ABBREVIATIONS)
    + r"(?<!\b[A-Z]\.)(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]]))\s+(?![a-z])"  # none before lower case
    + r"|\n\s*\n"
)


def split_paragraphs(text: str) -> list[str]:
    """Cut at blank lines."""
    return _without_blank(_PARAGRAPH_END.split(text))


def split_lines(text: str) -> list[str]:
    """Cut at line ends."""
    return _without_blank(text.splitlines())


def split_sentences(text: str) -> list[str]:
    """Cut behind full stops, question and exclamation marks, and at blank lines."""
    return _without_blank(_SENTENCE_END.split(text))


def _without_blank(pieces: list[str]) -> list[str]:
    return [piece for piece in pieces if piece.strip()]


SEGMENTERS: dict[str, Callable[[str], list[str]]] = {
    "paragraph": split_paragraphs,
    "line": split_lines,
    "sentence": split_sentences,
}
