"""Bracketed text, and the flat form of trees that it is read into.

The flat form lists the nodes and words of a tree from the left to the right, a node after all that
is below it: a word is a str, a node its label and its number of children. Loops over it take the
place of recursion, which deep trees would not survive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator

from skdp._byte_order_mark import without_byte_order_mark

Item = str | tuple[str, int]

Skip = Callable[[int, int, str], None]
"""Takes note of a malformed tree: its first line, its last line, and what is wrong."""

_WHITE = " \t\n\r\f\v"
_TOKEN = re.compile(rf"[()]|[^(){_WHITE}]+")
NOT_IN_LABEL = re.compile(rf"[(){_WHITE}]")
NOT_IN_WORD = re.compile(rf"[{_WHITE}]")

_NAMES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_OF_TREEBANKS = str.maketrans(_NAMES)
_NAME = re.compile("-[lr][rsc]b-", re.IGNORECASE)


def parse_brackets(
    lines: Iterable[str], root_label: str = "ROOT", where: str = "", skip: Skip | None = None
) -> Iterator[list[Item]]:
    """Yield the trees of bracketed text in flat form; an empty tree is an empty list.

    Parameters
    ----------
    lines : iterable of str
    root_label : str
        Label of an outermost bracket that has none and does not hold one tree.
    where : str
        What messages begin with.
    skip : callable or None
        Called for malformed trees, which are then left out. None: they raise a ValueError with the
        number of the line, from 1.
    """
    if skip is None:
        yield from _parse(lines, 1, root_label, where, None)
        return
    lines = list(lines)
    first = 1
    while first <= len(lines):
        # From a bracket that is never closed on, all is one tree: go on where the next one begins.
        opened = yield from _parse(lines[first - 1 :], first, root_label, where, skip)
        if opened is None:
            break
        rest = range(opened + 1, len(lines) + 1)
        first = next((n for n in rest if lines[n - 1].startswith("(")), len(lines) + 1)
        skip(opened, first - 1, _NEVER_CLOSED)


_NEVER_CLOSED = "a bracket is never closed"


def _parse(
    lines: Iterable[str], first: int, root_label: str, where: str, skip: Skip | None
) -> Generator[list[Item], None, int | None]:
    """Yield trees; return the line of the outermost bracket that is never closed, if there is."""
    items: list[Item] = []
    # Of open brackets: the label ("" as long as there is none), the number of children, the line.
    labels: list[str] = []
    counts: list[int] = []
    opened: list[int] = []
    fresh = False  # the last token opened a bracket
    fault = ""  # of a tree that is left out
    stray = 0  # the last line with something outside of brackets

    def complain(what: str) -> str:
        if skip is None:
            raise ValueError(f"{where}line {number}: {what}.")
        return fault or what

    for number, line in enumerate(lines, first):
        for token in _TOKEN.findall(line):
            if token == "(":
                if fresh and len(labels) > 1:
                    fault = complain("an inner bracket has no label")
                labels.append("")
                counts.append(0)
                opened.append(number)
                fresh = True
            elif not labels:
                if without_byte_order_mark(token):
                    what = "a closing bracket without an opening bracket"
                    what = complain(what if token == ")" else f"{token!r} is outside of brackets")
                    if skip is not None and stray < number:
                        skip(number, number, what)
                        stray = number
            elif token != ")":
                if fresh:
                    labels[-1] = token
                    fresh = False
                else:
                    items.append(token)
                    counts[-1] += 1
            else:
                label, n_children, start = labels.pop(), counts.pop(), opened.pop()
                fresh = False
                if n_children == 0:
                    if label or labels not in ([], [""]):
                        fault = complain(f"the bracket ({label}) is empty")
                elif label:
                    items.append((label, n_children))
                elif n_children > 1 or isinstance(items[-1], str):
                    items.append((root_label, n_children))
                if labels:
                    counts[-1] += n_children > 0
                    continue
                if skip is not None and fault:
                    skip(start, number, fault)
                else:
                    yield items
                items, fault = [], ""
    if opened and skip is None:
        raise ValueError(f"{where}line {opened[-1]}: {_NEVER_CLOSED}.")
    return opened[0] if opened else None


def escape_brackets(word: str) -> str:
    """Return a word with the treebank's names of round brackets in their place."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def as_in_treebanks(word: str) -> str:
    """Return the form in which all spellings of a word are one.

    A bracket has its treebank's name, in capitals, and there are no byte order marks.
    """
    if word.isalnum():
        return word
    plain = without_byte_order_mark(word).translate(_OF_TREEBANKS)
    return _NAME.sub(lambda name: name[0].upper(), plain)
