"""Sentences of words and their trees, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skdp._checks import check_unmasked
from skdp.data._brackets import NOT_IN_WORD, as_in_treebanks
from skdp.data._parse_tree import ParseTree, name_other


def check_sentences(X: Any) -> list[tuple[str, ...]]:
    """Return sentences as tuples of words."""
    if isinstance(X, str | bytes) or not hasattr(X, "__iter__") or hasattr(X, "__next__"):
        raise TypeError(f"X must be a sequence of sentences, got {type(X).__name__}.")
    check_unmasked(X, "X")
    sentences = []
    for i, sentence in enumerate(X):
        if isinstance(sentence, str) or not hasattr(sentence, "__iter__"):
            advice = ""
            if isinstance(sentence, str):
                advice = " Cut it into words: X of one sentence is [sentence.split()]."
            elif isinstance(sentence, ParseTree):
                advice = " Trees are y, and X their words: [tree.leaves for tree in trees]."
            raise TypeError(
                f"sentence {i}: must be a sequence of words, got {type(sentence).__name__}.{advice}"
            )
        words = tuple(sentence)
        if not all(isinstance(word, str) for word in words):
            raise TypeError(f"sentence {i}: words must be str.")
        for j, word in enumerate(words):
            if not word or NOT_IN_WORD.search(word):
                raise ValueError(
                    f"sentence {i}: word {j} must not be empty or contain white space, which a "
                    f"tree cannot hold, got {word!r}."
                )
        sentences.append(tuple(map(str, words)))  # those of arrays are str of another type
    return sentences


def check_trees(y: Any) -> list[ParseTree | None]:
    """Return trees as a list."""
    if y is None:
        raise ValueError("y must hold the parse trees of the sentences, got None.")
    if isinstance(y, str | bytes) or not hasattr(y, "__iter__") or hasattr(y, "__next__"):
        raise TypeError(f"y must be a sequence of ParseTree, got {type(y).__name__}.")
    trees = list(y)
    for i, tree in enumerate(trees):
        if tree is not None and not isinstance(tree, ParseTree):
            raise TypeError(name_other(tree, f"tree {i}:"))
    return trees


def check_yields(sentences: Sequence[tuple[str, ...]], trees: Sequence[ParseTree | None]) -> None:
    """Raise if a tree's words are not those of its sentence; ``(`` and -LRB- are one word."""
    if len(sentences) != len(trees):
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"{[len(sentences), len(trees)]}."
        )
    for i, (sentence, tree) in enumerate(zip(sentences, trees, strict=True)):
        if tree is None and not sentence:
            continue
        if tree is None:
            raise ValueError(f"tree {i} is None, but sentence {i} has words: {sentence!r:.80}.")
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
            differ = f"word {j} is {leaves[j]!r} in the tree and {sentence[j]!r} in the sentence"
        raise ValueError(f"tree {i} and sentence {i} differ in their words: {differ}.")


def check_preterminals(trees: Sequence[ParseTree | None]) -> None:
    """Raise if a word of a tree has siblings."""
    for i, tree in enumerate(trees):
        for node in tree.subtrees() if tree is not None else ():
            words = [child for child in node.children if isinstance(child, str)]
            if words and len(node.children) > 1:
                raise ValueError(
                    f"tree {i}: a word must be the only child of its node, its tag, but "
                    f"{node.label!r} has the word {words[0]!r} and other children."
                )


def check_tags(
    tags: Any, sentences: Sequence[tuple[str, ...]], known: Mapping[str, int]
) -> list[list[int] | None]:
    """Return given tags of words as symbols, -1 where none is given; None for a sentence without.

    Parameters
    ----------
    tags : sequence of sequences of str or None, or None
    sentences : sequence of tuples of str
    known : dict from str to int
        Symbols of tags.
    """
    if tags is None:
        return [None] * len(sentences)
    if isinstance(tags, str) or not hasattr(tags, "__iter__") or hasattr(tags, "__next__"):
        raise TypeError(f"tags must be a sequence of tags of sentences, got {type(tags).__name__}.")
    rows = list(tags)
    if len(rows) != len(sentences):
        raise ValueError(f"tags must be of {len(sentences)} sentences, as X, got {len(rows)}.")
    found: list[list[int] | None] = []
    for i, (row, sentence) in enumerate(zip(rows, sentences, strict=True)):
        if row is None:
            found.append(None)
            continue
        if isinstance(row, str) or not hasattr(row, "__iter__"):
            raise TypeError(f"sentence {i}: tags must be a sequence, got {type(row).__name__}.")
        row = list(row)
        if len(row) != len(sentence):
            raise ValueError(f"sentence {i} has {len(sentence)} words, but {len(row)} tags.")
        for tag in row:
            if tag is not None and tag not in known:
                raise ValueError(
                    f"sentence {i}: no word of the training trees has the tag {tag!r}."
                )
        found.append([-1 if tag is None else known[tag] for tag in row])
    return found
