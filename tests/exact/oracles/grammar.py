"""Binary grammars with given weights, by enumeration of all trees and labels.

A derivation of a sentence is a binary tree whose 2n - 1 nodes carry symbols; its weight is that of
the root's symbol times one weight a node: of the word under a leaf, or of the symbols of the two
children. Nothing else is used here. Trees are pairs of tuples in pre-order: symbols, and lengths of
the nodes' spans.
"""

import math
from collections import defaultdict
from itertools import product
from typing import NamedTuple

import numpy as np


class Grammar(NamedTuple):
    """Logs of the weights of whole rules; -inf is a weight of zero."""

    log_root: np.ndarray  # (S,)
    log_emission: np.ndarray  # (P, V)
    log_binary: np.ndarray  # (C, S, S): parent, left, right
    n_preterminals: int | None  # None: every symbol may emit and branch


class Corpus(NamedTuple):
    """What a sentence's derivations say, all of them enumerated."""

    log_prob: float
    root: np.ndarray
    emission: np.ndarray
    binary: np.ndarray
    symbols: np.ndarray  # expected number of nodes of each symbol
    best: float  # the log weight of the likeliest derivation
    trees: dict  # the probability of every tree given the sentence


def shapes(n):
    """Yield the lengths of the nodes, in pre-order, of every binary tree over n words."""
    if n == 1:
        yield (1,)
        return
    for left in range(1, n):
        for first, second in product(list(shapes(left)), list(shapes(n - left))):
            yield (n, *first, *second)


def spans_of(lengths):
    """Return the spans (first word, end) of the nodes of a tree, given their lengths."""
    spans, begins = set(), [0]
    for length in lengths:
        begin = begins.pop()
        spans.add((begin, begin + length))
        if length > 1:
            left = lengths[len(spans)]
            begins += [begin + left, begin]
    return spans


def weigh(grammar, words, lengths, symbols):
    """Return the log weight of a derivation and the rules that it uses."""
    n_leading = grammar.n_preterminals or 0  # symbols that never branch
    total = grammar.log_root[symbols[0]]
    rules = []
    word = 0
    for node, (length, symbol) in enumerate(zip(lengths, symbols, strict=True)):
        if length == 1:
            total += grammar.log_emission[symbol][words[word]]
            rules.append((symbol, words[word]))
            word += 1
        else:
            left = node + 1
            right = left + 2 * lengths[left] - 1
            rule = symbol - n_leading, symbols[left], symbols[right]
            total += grammar.log_binary[rule]
            rules.append(rule)
    return total, rules


def allowed(grammar, length):
    """Return the symbols that a span of some length may have."""
    n_symbols = len(grammar.log_root)
    if grammar.n_preterminals is None:
        return range(n_symbols)
    return (
        range(grammar.n_preterminals) if length == 1 else range(grammar.n_preterminals, n_symbols)
    )


def enumerate_trees(grammar, words, brackets=()):
    """Return sums over the derivations of a sentence in which every bracket is a constituent."""
    found = []
    for lengths in shapes(len(words)):
        if not spans_of(lengths).issuperset(brackets):
            continue
        for symbols in product(*(allowed(grammar, length) for length in lengths)):
            log_weight, rules = weigh(grammar, words, lengths, symbols)
            if log_weight > -math.inf:
                found.append((log_weight, symbols, lengths, rules))
    counts = [np.zeros(np.shape(part)) for part in grammar[:3]]
    symbol_counts = np.zeros(len(grammar.log_root))
    if not found:
        return Corpus(-math.inf, *counts, symbol_counts, -math.inf, {})
    best = max(log_weight for log_weight, *_ in found)
    log_prob = best + math.log(math.fsum(math.exp(w - best) for w, *_ in found))
    trees = {}
    used = defaultdict(list)
    for log_weight, symbols, lengths, rules in found:
        p = math.exp(log_weight - log_prob)
        trees[symbols, lengths] = p
        used[0, symbols[0]].append(p)
        for rule in rules:
            used[len(rule) - 1, rule].append(p)
        for symbol in symbols:
            used[3, symbol].append(p)
    for (kind, rule), shares in used.items():
        (*counts, symbol_counts)[kind][rule] = math.fsum(shares)
    return Corpus(log_prob, *counts, symbol_counts, best, trees)
