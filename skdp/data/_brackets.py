"""Bracketed text, and the flat form of trees that it is read into.

The flat form lists the nodes and words of a tree from the left to the right, a node after all that
is below it: a word is a str, a node its label and its number of children. Loops over it take the
place of recursion, which deep trees would not survive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

Item = str | tuple[str, int]

_WHITE = " \t\n\r\f\v"
_TOKEN = re.compile(rf"[()]|[^(){_WHITE}]+")
NOT_IN_LABEL = re.compile(rf"[(){_WHITE}]")
NOT_IN_WORD = re.compile(rf"[{_WHITE}]")


def parse_brackets(lines: Iterable[str]) -> Iterator[list[Item]]:
    """Yield the trees of bracketed text in flat form.

    Raises a ValueError with the number of the line, from 1, if brackets are malformed.
    """
    items: list[Item] = []
    # Of open brackets: the label ("" as long as there is none), the number of children, the line.
    labels: list[str] = []
    counts: list[int] = []
    opened: list[int] = []
    fresh = False  # the last token opened a bracket
    for number, line in enumerate(lines, 1):
        for token in _TOKEN.findall(line):
            if token == "(":
                if fresh and len(labels) > 1:
                    raise ValueError(f"line {number}: an inner bracket has no label.")
                labels.append("")
                counts.append(0)
                opened.append(number)
                fresh = True
            elif token != ")":
                if not labels:
                    raise ValueError(f"line {number}: {token!r} is outside of brackets.")
                if fresh:
                    labels[-1] = token
                    fresh = False
                else:
                    items.append(token)
                    counts[-1] += 1
            else:
                if not labels:
                    raise ValueError(
                        f"line {number}: a closing bracket without an opening bracket."
                    )
                label, n_children, fresh = labels.pop(), counts.pop(), False
                if n_children == 0:
                    raise ValueError(f"line {number}: the bracket ({label}) is empty.")
                if label:
                    items.append((label, n_children))
                elif n_children > 1 or isinstance(items[-1], str):
                    raise ValueError(
                        f"line {number}: an outermost bracket without a label must hold one tree."
                    )
                opened.pop()
                if labels:
                    counts[-1] += 1
                else:
                    yield items
                    items = []
    if opened:
        raise ValueError(f"line {opened[-1]}: a bracket is never closed.")


def escape_brackets(word: str) -> str:
    """Return a word with the treebank's names of round brackets in their place."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")
