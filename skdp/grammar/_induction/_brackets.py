"""Brackets of sentences that must be constituents, as y of a fit has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from skdp._checks import as_array, is_list_like, is_unknown, shorten
from skdp.data import TokenSequences
from skdp.data._parse_tree import ParseTree
from skdp.grammar._chart._limits import BracketedSentences, Sentences, SpanLimits

Span = tuple[int, int]


def add_brackets(sentences: TokenSequences, y: Any, name: str = "y") -> Sentences:
    """Return sentences with the limits that brackets `y` set, or `sentences` if there are none."""
    if y is None:
        return sentences
    y = read_entries(y, name)
    if len(y) != len(sentences):
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{len(sentences)} sentence(s), and {name} has {len(y)} entries."
        )
    if len(y) and all(map(is_label, y)):
        return sentences
    lengths = np.diff(sentences.ptr)
    firsts = np.zeros(len(sentences.tokens), dtype=np.int64)
    lasts = np.repeat(lengths, lengths)
    for k, entry in enumerate(y):
        if not is_unknown(entry):
            words = slice(sentences.ptr[k], sentences.ptr[k + 1])
            spans = _read_spans(entry, f"{name}[{k}]", int(lengths[k]))
            _narrow(spans, firsts[words], lasts[words], f"{name}[{k}]")
    if not firsts.any() and np.array_equal(lasts, np.repeat(lengths, lengths)):
        return sentences
    return BracketedSentences(sentences, SpanLimits.of(firsts, lasts))


def read_entries(y: Any, name: str) -> Any:
    """Return `y` as a sequence of entries."""
    if hasattr(y, "__array__"):  # an array, or a data frame's column
        y = as_array(y, name)
    if not is_list_like(y):
        raise TypeError(
            f"{name} must be a sequence with an entry for each sentence, got {type(y).__name__}."
        )
    return y


def is_label(entry: Any) -> bool:
    """Return whether an entry is a single value, such as the class of a sentence."""
    is_iterable = isinstance(entry, Iterable) and not isinstance(entry, str | bytes)
    return not (entry is None or is_iterable or isinstance(entry, ParseTree))


def _read_spans(entry: Any, where: str, n_words: int) -> list[Span]:
    """Return the brackets of a sentence."""
    if isinstance(entry, list) and callable(getattr(entry, "label", None)):
        entry = ParseTree.from_nltk(entry)
    if isinstance(entry, ParseTree):
        if len(entry.leaves) != n_words:
            raise ValueError(
                f"{where} is a tree of {len(entry.leaves)} words, but the sentence has {n_words}."
            )
        return [(i, j) for _, i, j in entry.spans()]
    if is_label(entry) or isinstance(entry, Mapping):
        raise TypeError(
            f"{where} must be a list of spans (i, j), a ParseTree or None, got {shorten(entry)}."
        )
    spans = []
    for given in entry:
        span = tuple(given) if isinstance(given, Iterable) else ()
        if len(span) != 2 or not all(map(_is_integer, span)):
            raise TypeError(
                f"{where} must hold spans (i, j) of two integers, got {shorten(given)}."
            )
        i, j = map(int, span)
        if not 0 <= i < j <= n_words:
            raise ValueError(
                f"{where}: the span {shorten((i, j))} is out of range: a span (i, j) of the "
                f"{n_words} words of the sentence must have 0 <= i < j <= {n_words}."
            )
        spans.append((i, j))
    return spans


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _narrow(spans: list[Span], firsts: Any, lasts: Any, where: str) -> None:
    """Narrow the limits of a sentence's spans in place; raise ValueError if two brackets cross."""
    # In the order of their starts, long ones first: a bracket crosses an earlier one, or lies
    # within all spans with which it shares words.
    ordered = sorted(set(spans), key=lambda span: (span[0], -span[1]))
    for i, j in ordered:
        if lasts[i] < j:
            other = next(span for span in ordered if span[0] < i < span[1] < j)
            raise ValueError(
                f"{where}: the spans {other} and {(i, j)} cross, so they cannot both be "
                "constituents of the sentence."
            )
        firsts[i : j - 1] = i
        lasts[i + 1 : j] = j
