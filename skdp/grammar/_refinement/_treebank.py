"""Treebanks: trees as flat arrays, their coarse rules, ids of words, and checks of input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_unmasked, is_list_like, shorten
from skdp._numeric import Ints
from skdp._numeric._arrays import unique_rows
from skdp.data._binarize import binarize
from skdp.data._frames import normalize_word
from skdp.data._parse_tree import NOT_IN_WORD, ParseTree, as_in_treebanks, name_other
from skdp.feature_extraction import TokenVectorizer
from skdp.feature_extraction._text import UnknownWords


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

    @property
    def axes(self) -> list[tuple[int, int, Ints, bool]]:
        """Axes of tables of refined rules: table, axis, symbols by rule, whether of the parent."""
        return [
            (0, 1, self.roots, False),
            (1, 1, self.emission[:, 0], True),
            (2, 1, self.unary[:, 1], False),
            (2, 2, self.unary[:, 0], True),
            *((3, axis, self.binary[:, axis % 3], axis == 3) for axis in (1, 2, 3)),
        ]


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
    items = [list(tree._flat()) for tree in trees]
    names = sorted({item[0] for tree in items for item in tree if not isinstance(item, str)})
    ids = {name: symbol for symbol, name in enumerate(names)}
    keys: list[tuple[int, ...]] = []  # of every node: symbol, then word or child symbols
    children: list[tuple[int, int]] = []
    ptr = [0]
    longest = 0
    for tree, ids_of_words in zip(items, words, strict=True):
        start, rest = len(keys), iter(ids_of_words)
        stack: list[tuple[int, int]] = []  # nodes (or -1) waiting for their parent, and heights
        for item in tree:
            if isinstance(item, str):
                stack.append((-1, 0))
                continue
            label, n = item
            below = stack[-n:]
            del stack[-n:]
            first, second = below[0][0], below[1][0] if n == 2 else -1
            height = below[0][1] + 1 if n == 1 and first >= 0 else 0
            longest = max(longest, height)
            stack.append((len(keys) - start, height))
            symbols = [next(rest)] if first < 0 else [keys[start + node][0] for node, _ in below]
            keys.append((ids[label], *symbols))
            children.append((first, second))
        ptr.append(len(keys))
    left, right = np.array(children, dtype=np.int32).reshape(-1, 2).T.copy()
    kinds = np.where(left < 0, 0, np.where(right < 0, 1, 2))
    rule = np.empty(len(keys), dtype=np.int32)
    tables: list[Ints] = []
    for kind, width in enumerate((2, 2, 3)):
        nodes = np.flatnonzero(kinds == kind)
        rows = np.array([keys[node] for node in nodes], dtype=np.int32).reshape(-1, width)
        unique = unique_rows(rows)
        rule[nodes] = unique.places
        tables.append(unique.distinct.astype(np.int32))
    tops = np.array([keys[end - 1][0] for end in ptr[1:]], dtype=np.int32)
    roots, root_rule = np.unique(tops, return_inverse=True)
    emission, unary, binary = tables
    rules = CoarseRules(tuple(names), roots, emission, unary, binary, longest)
    tree_ptr = np.array(ptr, dtype=np.int64)
    return Treebank(rules, left, right, rule, tree_ptr, root_rule.astype(np.int32))


# Ids of words, with classes for rare and new words.


_FIRST = "^"
"""Prefix of the names of word classes at the start of a sentence."""


class TreebankLexicon:
    """Known words, which occur at least `min_count` times, and classes of unknown words."""

    # The class depends on the spelling, as in `TokenVectorizer`. The start of a sentence, where an
    # initial capital is uninformative, has separate classes.

    def __init__(self, sentences: Sequence[Sequence[str]], min_count: int):
        sentences = [list(map(normalize_word, sentence)) for sentence in sentences]
        counts = Counter(word for sentence in sentences for word in sentence)
        known = {word for word, count in counts.items() if count >= min_count}
        first: Counter[str] = Counter()
        other: Counter[str] = Counter()
        for sentence in sentences:
            for i, word in enumerate(sentence):
                if word not in known:
                    (other if i else first)[word] += 1
        affixes = TokenVectorizer().get_params()
        self._first, self._other = (
            UnknownWords(rare.items(), affixes["prefixes"], affixes["suffixes"], max(min_count, 1))
            for rare in (first, other)
        )
        names = sorted(known)
        names += [name for name in sorted(self._other.names) if name not in known]
        names += [_FIRST + name for name in sorted(self._first.names) if _FIRST + name not in known]
        self._ids = {name: i for i, name in enumerate(names)}
        self._known = known
        self.names = names
        self.n_known = len(known)

    def count_symbols(self, sentences: Sequence[Sequence[str]], symbols: Sequence[int]) -> None:
        """Store the counts of symbols of rare words, given the `symbols` of all words."""
        rest = iter(symbols)
        self._seen: dict[str, Counter[int]] = {}
        for sentence in sentences:
            for word, symbol in zip(map(normalize_word, sentence), rest, strict=False):
                if word not in self._known:
                    self._seen.setdefault(word, Counter())[symbol] += 1

    def seen(self, sentence: Sequence[str]) -> list[Counter[int] | None]:
        """Return the counts of symbols in the trees for the rare words of a sentence."""
        return [self._seen.get(normalize_word(word)) for word in sentence]

    def __len__(self) -> int:
        return len(self.names)

    def encode(self, sentence: Sequence[str]) -> NDArray[np.int32]:
        """Return the ids of the words of a sentence."""
        ids = []
        for i, word in enumerate(map(normalize_word, sentence)):
            if word not in self._known:
                word = self._other.classify(word) if i else _FIRST + self._first.classify(word)
            ids.append(self._ids[word])
        return np.array(ids, dtype=np.int32)


# Checks of sentences and their trees.


def _has_order(parts: Any) -> bool:
    """Return whether the words or tags of a sentence have an order; iterators are accepted."""
    return is_list_like(parts) or hasattr(parts, "__next__")


def _name_kind(value: Any) -> str:
    """Return the name of the type of a value that is not a sequence."""
    if getattr(value, "ndim", None) == 0:
        return "an array without dimensions"
    return type(value).__name__


def check_sentences(X: Any) -> list[tuple[str, ...]]:
    """Return sentences as tuples of words."""
    if not is_list_like(X):
        raise TypeError(f"X must be a sequence of sentences, got {_name_kind(X)}.")
    check_unmasked(X, "X")
    sentences = []
    for i, sentence in enumerate(X):
        if not _has_order(sentence):
            advice = ""
            if isinstance(sentence, str):
                advice = " Cut it into words: X of one sentence is [sentence.split()]."
            elif isinstance(sentence, ParseTree):
                advice = " Trees are y, and X their words: [tree.leaves for tree in trees]."
            raise TypeError(
                f"sentence {i}: must be a sequence of words, got {_name_kind(sentence)}.{advice}"
            )
        words = tuple(sentence)
        if not all(isinstance(word, str) for word in words):
            raise TypeError(f"sentence {i}: words must be str.")
        for j, word in enumerate(words):
            if not word or NOT_IN_WORD.search(word):
                raise ValueError(
                    f"sentence {i}: word {j} must not be empty or contain white space, which a "
                    f"tree cannot hold, got {shorten(word)}."
                )
        sentences.append(tuple(map(str, words)))  # arrays have a subclass of str
    return sentences


def check_trees(y: Any) -> list[ParseTree | None]:
    """Return trees as a list."""
    if y is None:
        raise ValueError("y must hold the parse trees of the sentences, got None.")
    if not is_list_like(y):
        raise TypeError(f"y must be a sequence of ParseTree, got {_name_kind(y)}.")
    trees = list(y)
    for i, tree in enumerate(trees):
        if tree is not None and not isinstance(tree, ParseTree):
            raise TypeError(name_other(tree, f"tree {i}:"))
    return trees


def check_yields(sentences: Sequence[tuple[str, ...]], trees: Sequence[ParseTree | None]) -> None:
    """Raise if a tree's words differ from its sentence; ``(`` and -LRB- are equivalent."""
    if len(sentences) != len(trees):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {len(sentences)} "
            f"sentence(s), and y has {len(trees)} tree(s)."
        )
    for i, (sentence, tree) in enumerate(zip(sentences, trees, strict=True)):
        if tree is None and not sentence:
            continue
        if tree is None:
            raise ValueError(f"tree {i} is None, but sentence {i} has words: {shorten(sentence)}.")
        leaves = tree.leaves
        if leaves == sentence:
            continue
        pairs = zip(*(map(as_in_treebanks, words) for words in (leaves, sentence)), strict=False)
        j = next((j for j, (leaf, word) in enumerate(pairs) if leaf != word), None)
        if j is None and len(leaves) == len(sentence):
            continue
        if j is None:
            differ = f"it has {len(leaves)} words and the sentence {len(sentence)}"
        else:
            in_tree, in_sentence = shorten(leaves[j]), shorten(sentence[j])
            differ = f"word {j} is {in_tree} in the tree and {in_sentence} in the sentence"
        raise ValueError(f"tree {i} and sentence {i} differ in their words: {differ}.")


def check_preterminals(trees: Sequence[ParseTree | None]) -> None:
    """Raise if a word of a tree has siblings."""
    for i, tree in enumerate(trees):
        for node in tree.subtrees() if tree is not None else ():
            words = [child for child in node.children if isinstance(child, str)]
            if words and len(node.children) > 1:
                raise ValueError(
                    f"tree {i}: a word must be the only child of its node, its tag, but "
                    f"{shorten(node.label)} has the word {shorten(words[0])} and other children."
                )


def binarize_all(
    trees: Sequence[ParseTree | None], horizontal_order: int, vertical_order: int
) -> list[ParseTree | None]:
    """Return trees after `binarize`, or raise an error that names the tree."""
    binary: list[ParseTree | None] = []
    for i, tree in enumerate(trees):
        try:
            if tree is not None:
                tree = binarize(tree, horizontal_order, vertical_order)
        except ValueError as error:
            raise ValueError(f"tree {i}: {error}") from error
        binary.append(tree)
    return binary


def check_tags(
    tags: Any, sentences: Sequence[tuple[str, ...]], known: Mapping[str, int]
) -> list[list[int] | None]:
    """Return given tags as symbols, -1: a word without a tag; None: a sentence without tags."""
    if tags is None:
        return [None] * len(sentences)
    if not is_list_like(tags):
        raise TypeError(f"tags must be a sequence of tags of sentences, got {_name_kind(tags)}.")
    check_unmasked(tags, "tags")
    rows = list(tags)
    if len(rows) != len(sentences):
        raise ValueError(f"tags must be of {len(sentences)} sentences, as X, got {len(rows)}.")
    found: list[list[int] | None] = []
    for i, (row, sentence) in enumerate(zip(rows, sentences, strict=True)):
        if row is None:
            found.append(None)
            continue
        if not _has_order(row):
            raise TypeError(f"sentence {i}: tags must be a sequence, got {_name_kind(row)}.")
        row = list(row)
        if len(row) != len(sentence):
            raise ValueError(f"sentence {i} has {len(sentence)} words, but {len(row)} tags.")
        for tag in row:
            if tag is not None and not (isinstance(tag, str) and tag in known):
                raise ValueError(
                    f"sentence {i}: no word of the training trees has the tag {shorten(tag)}."
                )
        found.append([-1 if tag is None else known[tag] for tag in row])
    return found
