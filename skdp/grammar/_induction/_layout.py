"""Symbols and rules of a grammar: their layout, their counts, and brackets of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array, check_memory, is_list_like, is_unknown, shorten
from skdp._numeric import Floats
from skdp.data import TokenSequences
from skdp.data._parse_tree import ParseTree
from skdp.grammar._chart._paths import (
    BracketedSentences,
    RuleWeights,
    Sentences,
    SpanLimits,
)

# The layout, with or without separate preterminals.

SHARED, PRETERMINALS, CONSTITUENTS = 0, 0, 1
"""Indices of inventories of symbols: a shared one, or emitting and branching symbols."""


class RuleBlock(NamedTuple):
    """Binary rules of one type, by the inventories of their children."""

    rule_type: int
    left: int
    right: int


class GrammarLayout(NamedTuple):
    """Numbers of words and symbols of a grammar, and the places of each kind of symbol."""

    n_words: int  # V
    n_components: int  # K: constituents, or all symbols without separate preterminals
    n_preterminals: int | None  # they come first; None: every symbol both emits and branches

    @property
    def is_partitioned(self) -> bool:
        """Whether preterminals are separate symbols."""
        return self.n_preterminals is not None

    @property
    def n_emitting(self) -> int:
        """Number of symbols that emit words, P or K."""
        return self.n_components if self.n_preterminals is None else self.n_preterminals

    @property
    def n_symbols(self) -> int:
        """Number of all symbols, P + C or K."""
        return self.n_components + (self.n_preterminals or 0)

    @property
    def inventories(self) -> tuple[slice, ...]:
        """Places of the symbols of each inventory."""
        if self.n_preterminals is None:
            return (slice(0, self.n_components),)
        return slice(0, self.n_preterminals), slice(self.n_preterminals, self.n_symbols)

    @property
    def branching(self) -> slice:
        """Places of the symbols that branch."""
        return self.inventories[-1]

    @property
    def blocks(self) -> tuple[RuleBlock, ...]:
        """Binary rules: all of type 1 (0 are emissions), or of the types PP, PC, CP, CC."""
        if self.n_preterminals is None:
            return (RuleBlock(1, SHARED, SHARED),)
        pairs = product((PRETERMINALS, CONSTITUENTS), repeat=2)
        return tuple(RuleBlock(t, left, right) for t, (left, right) in enumerate(pairs))

    @property
    def n_rule_types(self) -> int:
        """Number of rule types: 2 (emission, binary) or 4 (PP, PC, CP, CC)."""
        return 4 if self.is_partitioned else 2

    @property
    def names(self) -> list[str]:
        """Labels of the symbols: S0, S1, ..., or P0, ..., C0, ..."""
        if self.n_preterminals is None:
            return [f"S{k}" for k in range(self.n_components)]
        return [
            *(f"P{k}" for k in range(self.n_preterminals)),
            *(f"C{k}" for k in range(self.n_components)),
        ]


def read_row(estimator: Any, name: str, n: int, what: str) -> NDArray[np.float64]:
    """Return a parameter as `n` positive numbers; a number stands for all of them."""
    value = getattr(estimator, name)
    row = as_array(value, name)
    if row.shape not in ((), (n,)) or row.dtype.kind not in "iuf":
        raise ValueError(
            f"{name} must be a number or {n}, one for each {what}; got {shorten(value)}."
        )
    if not np.all((row >= 1e-8) & (row <= 1e8)):
        raise ValueError(f"{name} must be positive, from 1e-8 to 1e8; got {shorten(value)}.")
    return np.full(n, row, dtype=np.float64)


def check_size(
    n_words: int, n_components: int, n_preterminals: int | None, n_grammars: int, what: str
) -> None:
    """Raise if the weights of `n_grammars` grammars would not fit into memory because of `what`."""
    n_first = n_preterminals or 0
    n_symbols = float(n_components) + n_first
    n_weights = n_components * n_symbols**2 + float(n_first or n_components) * n_words
    check_memory(
        24.0 * n_grammars * n_weights,
        f"n_components={n_components}, n_preterminals={n_preterminals}, {n_words} words (one more "
        f"than the largest id) and {what}: weights of rules",
    )


# Brackets that must be constituents, which users pass as y of a fit.


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


# Counts of the rules of a grammar.


ACTIVE = 1e-6
"""Least expected nodes of active symbols, and least weight of their active rules."""


class RuleCounts(NamedTuple):
    """Counts or expected counts, summed over sentences."""

    root: Floats  # (S,)
    emission: Floats  # (P, V)
    binary: Floats  # (C, S, S), parent, left child, right child

    def of_nodes(self, layout: GrammarLayout) -> Floats:
        """Return the number of nodes with each symbol, (S,)."""
        nodes = np.zeros(layout.n_symbols)
        nodes[layout.inventories[0]] += self.emission.sum(axis=1)
        nodes[layout.branching] += self.binary.sum(axis=(1, 2))
        return nodes

    def active(self, layout: GrammarLayout) -> NDArray[np.bool_]:
        """Return a mask of the symbols in use, (S,)."""
        return self.of_nodes(layout) >= ACTIVE

    def of_rule_types(self, layout: GrammarLayout) -> Floats:
        """Return the number of uses of each type of rule by each branching symbol, (C, n_types)."""
        places = layout.inventories
        types = [
            self.binary[:, places[b.left], places[b.right]].sum(axis=(1, 2)) for b in layout.blocks
        ]
        if not layout.is_partitioned:
            types.insert(0, self.emission.sum(axis=1))
        return np.stack(types, axis=1)


def count_active_rules(
    weights: RuleWeights, active: NDArray[np.bool_], layout: GrammarLayout
) -> int:
    """Return the number of rules of active symbols that have a weight of at least `ACTIVE`."""
    least = np.log(ACTIVE)
    emission = (weights.log_emission >= least)[active[layout.inventories[0]]]
    binary = (weights.log_binary >= least)[active[layout.branching]]
    return int(np.count_nonzero(emission) + np.count_nonzero(binary))
