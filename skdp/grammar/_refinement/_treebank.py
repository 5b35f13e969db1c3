"""Trees as flat arrays, and their coarse rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Ints
from skdp._numeric._unique_rows import unique_rows
from skdp.data._parse_tree import ParseTree


class CoarseRules(NamedTuple):
    """Rules over coarse symbols, each kind in lexicographic order."""

    symbols: tuple[str, ...]  # names of the S symbols
    roots: Ints  # (R,)
    emission: Ints  # (E, 2), symbol and word
    unary: Ints  # (U, 2), symbol and child
    binary: Ints  # (B, 3), symbol, left and right child
    longest_chain: int  # length of the longest chain of unary rules

    @property
    def n_symbols(self) -> int:
        """Number of coarse symbols."""
        return len(self.symbols)


class Treebank(NamedTuple):
    """Binary trees, one after another, children before parents."""

    rules: CoarseRules
    left: Ints  # (N,), children numbered within the tree; -1: none. Without children: emits
    right: Ints  # (N,)
    rule: Ints  # (N,), coarse rule of every node, among the rules of its kind
    tree_ptr: NDArray[np.int64]  # (n_trees + 1,), offsets of nodes; the last of a tree is its root
    root_rule: Ints  # (n_trees,), index of the root's symbol in `rules.roots`

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.root_rule)

    @property
    def word_symbols(self) -> Ints:
        """Symbols of all words, tree by tree from left to right."""
        return np.asarray(self.rules.emission[self.rule[self.left < 0], 0])

    @property
    def largest(self) -> int:
        """Number of nodes of the largest tree."""
        return int(np.diff(self.tree_ptr).max())


def flatten(trees: Sequence[ParseTree], words: Sequence[Sequence[int] | Ints]) -> Treebank:
    """Return binary trees with the ids of their words as arrays; words must be only children."""
    names: dict[str, int] = {}
    keys: list[tuple[int, ...]] = []  # key of every node: symbol, then word or child symbols
    left: list[int] = []
    right: list[int] = []
    symbols: list[int] = []
    ptr = [0]
    longest = 0
    for tree, ids in zip(trees, words, strict=True):
        start, rest = len(symbols), iter(ids)
        stack: list[tuple[int, int]] = []  # nodes (or -1) waiting for their parent, and heights
        for item in tree._flat():
            if isinstance(item, str):
                stack.append((-1, 0))
                continue
            label, n = item
            symbol = names.setdefault(label, len(names))
            below = stack[-n:]
            del stack[-n:]
            children = [node for node, _ in below]
            height = 0
            if children == [-1]:
                keys.append((symbol, -1, next(rest)))
                left.append(-1)
            else:
                keys.append((symbol, *(symbols[start + node] for node in children)))
                left.append(children[0])
                if n == 1:
                    height = below[0][1] + 1
                    longest = max(longest, height)
            right.append(children[1] if n == 2 else -1)
            stack.append((len(symbols) - start, height))
            symbols.append(symbol)
        ptr.append(len(symbols))
    return _number(names, keys, symbols, left, right, ptr, longest)


def _number(
    names: dict[str, int],
    keys: list[tuple[int, ...]],
    symbols: list[int],
    left: list[int],
    right: list[int],
    ptr: list[int],
    longest: int,
) -> Treebank:
    """Return the treebank, with ordered symbols and rules."""
    labels = sorted(names)
    new = np.empty(len(names), dtype=np.int32)
    for place, label in enumerate(labels):
        new[names[label]] = place
    lefts, rights = np.array(left, dtype=np.int32), np.array(right, dtype=np.int32)
    kinds = np.where(lefts < 0, 0, np.where(rights < 0, 1, 2))
    rule = np.empty(len(keys), dtype=np.int32)
    tables: list[Ints] = []
    for kind, width in enumerate((3, 2, 3)):
        nodes = np.flatnonzero(kinds == kind)
        rows = np.array([keys[node] for node in nodes], dtype=np.int32).reshape(-1, width)
        if kind == 0:
            rows = np.column_stack([new[rows[:, 0]], rows[:, 2]])
        else:
            rows = new[rows]
        unique = unique_rows(rows)
        rule[nodes] = unique.places
        tables.append(unique.distinct.astype(np.int32))
    tree_ptr = np.array(ptr, dtype=np.int64)
    tops = new[np.array(symbols, dtype=np.int64)[tree_ptr[1:] - 1]]
    roots, root_rule = np.unique(tops, return_inverse=True)
    emission, unary, binary = tables
    rules = CoarseRules(tuple(labels), roots.astype(np.int32), emission, unary, binary, longest)
    return Treebank(rules, lefts, rights, rule, tree_ptr, root_rule.astype(np.int32))
