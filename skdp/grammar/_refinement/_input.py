"""Checks of sentences of words and their trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skdp._checks import check_unmasked, is_list_like, shorten
from skdp.data._binarize import binarize
from skdp.data._brackets import NOT_IN_WORD, as_in_treebanks
from skdp.data._parse_tree import ParseTree, name_other


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
