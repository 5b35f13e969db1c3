"""Probabilistic context-free grammars as dictionaries of rules, and in Chomsky normal form."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import shorten
from skdp.data._parse_tree import ParseTree

Symbols = tuple[str, ...]
Rules = dict[str, list[tuple[Symbols, float]]]
"""Right-hand sides and their positive probabilities for each nonterminal, the start first."""

_TOLERANCE = 1e-6
"""Tolerance of the sum of the probabilities of a symbol."""


def make_mouse() -> Rules:
    """Return a little grammar of English with four preterminals and four constituents."""
    third = 1.0 / 3.0
    return {
        "S": [(("NP", "VP"), 1.0)],
        "NP": [(("DT", "NN"), 0.5), (("DT", "NPBAR"), 0.5)],
        "NPBAR": [(("JJ", "NN"), 0.5), (("JJ", "NPBAR"), 0.5)],
        "VP": [(("VB", "NP"), 1.0)],
        "DT": [(("the",), 0.5), (("a",), 0.5)],
        "JJ": [(("big",), 0.5), (("black",), 0.5)],
        "NN": [(("mouse",), third), (("cat",), third), (("dog",), third)],
        "VB": [(("chased",), 0.5), (("ate",), 0.5)],
    }


def make_pairs() -> Rules:
    """Return a grammar of pairs of words that agree, by four subsymbols of one symbol."""
    numbers = range(1, 5)
    rules: Rules = {"S": [((f"X_{i}", f"X_{i}"), 0.25) for i in numbers]}
    for i in numbers:
        rules[f"X_{i}"] = [((f"{letter}_{i}",), 0.25) for letter in "abcd"]
    return rules


def check_grammar(grammar: Any) -> Rules:
    """Return a grammar without rules of probability 0, probabilities summing to 1."""
    if not isinstance(grammar, Mapping) or not grammar:
        raise ValueError(
            "grammar must be the name of a grammar or a dictionary with at least one rule; got "
            f"{shorten(grammar)}."
        )
    rules: Rules = {}
    for symbol, alternatives in grammar.items():
        kept = []
        total = 0.0
        for rule in alternatives:
            right, probability = _check_rule(symbol, rule)
            total += probability
            if probability > 0.0:
                kept.append((right, probability))
        if not abs(total - 1.0) <= _TOLERANCE:
            raise ValueError(f"The probabilities of {symbol!r} must sum to 1, not {total:g}.")
        rules[symbol] = [(right, probability / total) for right, probability in kept]
    return rules


def _check_rule(symbol: Any, rule: Any) -> tuple[Symbols, float]:
    try:
        right, probability = rule
    except (TypeError, ValueError):
        right, probability = None, None
    if (
        not isinstance(right, tuple | list)
        or len(right) == 0
        or not all(isinstance(part, str) for part in (symbol, *right))
    ):
        raise ValueError(
            f"The rules of {symbol!r} must be pairs (right-hand side, probability), the former a "
            f"tuple of at least one str; got {shorten(rule)}."
        )
    number = isinstance(probability, Real) and not isinstance(probability, bool)
    chance = float(probability) if number else np.nan
    if not 0.0 <= chance <= 1.0 + _TOLERANCE:
        raise ValueError(
            f"The probability of {symbol!r} -> {right!r} must be in [0, 1], got "
            f"{shorten(probability)}."
        )
    ParseTree(symbol, right)  # or a ValueError about white space or brackets
    return tuple(right), chance


def list_words(rules: Rules) -> list[str]:
    """Return the terminals, in the order of the rules."""
    seen = {
        part: None for alternatives in rules.values() for right, _ in alternatives for part in right
    }
    return [part for part in seen if part not in rules]


def mean_growth(rules: Rules, start: str) -> float:
    """Return the growth of the mean number of nonterminals from a generation to the next."""
    reached = [start]
    for symbol in reached:
        below = {part for right, _ in rules[symbol] for part in right if part in rules}
        reached.extend(sorted(below.difference(reached)))
    place = {symbol: k for k, symbol in enumerate(reached)}
    means = np.zeros((len(reached), len(reached)))
    for symbol, row in zip(reached, means, strict=True):
        for right, probability in rules[symbol]:
            for part in right:
                if part in rules:
                    row[place[part]] += probability
    # The spectral radius: if it is 1 or more, the mean size of a tree is infinite.
    return float(np.abs(np.linalg.eigvals(means)).max())


def least_lengths(rules: Rules) -> dict[str, float]:
    """Return the least number of words of each nonterminal; infinite if it derives none."""
    least = dict.fromkeys(rules, np.inf)
    changed = True
    while changed:
        changed = False
        for symbol, alternatives in rules.items():
            best = min(sum(least.get(part, 1.0) for part in right) for right, _ in alternatives)
            if best < least[symbol]:
                least[symbol] = best
                changed = True
    return least


class NormalForm(NamedTuple):
    """A grammar of rules X -> Y Z and X -> word that gives every sentence the same probability."""

    symbols: list[str]
    root: NDArray[np.float64]
    """(K,)"""
    rule_type: NDArray[np.float64]
    """(K, 2): of a word, of two symbols."""
    emission: NDArray[np.float64]
    """(K, V), given the type."""
    binary: NDArray[np.float64]
    """(K, K, K), parent, left, right, given the type."""


def to_normal_form(rules: Rules, start: str, words: list[str]) -> NormalForm:
    """Return a grammar in Chomsky normal form."""
    index: dict[Symbols, int] = {(symbol,): k for k, symbol in enumerate(rules)}
    vocabulary = {word: w for w, word in enumerate(words)}
    unary: list[tuple[int, int, float]] = []
    emissions: list[tuple[int, int, float]] = []
    binary: list[tuple[int, int, int, float]] = []

    # Words in longer rules, and right ends of rules of three or more parts, get their own symbols.
    def index_of(parts: Symbols) -> int:
        if parts not in index:
            index[parts] = len(index)
            add(index[parts], parts, 1.0)
        return index[parts]

    def add(k: int, right: Symbols, probability: float) -> None:
        if len(right) > 1:
            binary.append((k, index_of(right[:1]), index_of(right[1:]), probability))
        elif right[0] in vocabulary:
            emissions.append((k, vocabulary[right[0]], probability))
        else:
            unary.append((k, index[right], probability))

    for symbol, alternatives in rules.items():
        for right, probability in alternatives:
            add(index[symbol,], right, probability)

    n_symbols = len(index)
    weights_e, weights_b = np.zeros((n_symbols, len(words))), np.zeros((n_symbols,) * 3)
    for k, w, probability in emissions:
        weights_e[k, w] += probability
    for k, left, right_k, probability in binary:
        weights_b[k, left, right_k] += probability
    if unary:
        # Chains of rules X -> Y, of probabilities U, are summed out: the symbols in which they end
        # have weights (I - U)^-1.
        chains = np.eye(n_symbols)
        for k, below, probability in unary:
            chains[k, below] -= probability
        try:
            ends = np.linalg.inv(chains)
        except np.linalg.LinAlgError as error:
            raise ValueError("The grammar has symbols that can only become one another.") from error
        weights_e, weights_b = ends @ weights_e, np.tensordot(ends, weights_b, 1)
    root = np.zeros(n_symbols)
    root[index[start,]] = 1.0
    types = np.stack([weights_e.sum(axis=1), weights_b.sum(axis=(1, 2))], axis=1)
    given = np.where(types > 0.0, types, 1.0)
    return NormalForm(
        [parts[0] if len(parts) == 1 else " ".join(parts) for parts in index],
        root,
        types,
        weights_e / given[:, :1],
        weights_b / given[:, 1:, None],
    )
