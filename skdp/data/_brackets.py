"""Parsing of bracketed text into the flat form of trees.

The flat form lists the nodes and words of a tree from left to right, with each node after its
descendants: a word is a str, a node its label and its number of children. Loops over it replace
recursion, which would fail for deep trees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from skdp.data._characters import without_invisible

Item = str | tuple[str, int]

Skip = Callable[[int, int, str], None]
"""Records a malformed tree: its first line, its last line, and the error."""

_WHITE = " \t\n\r\f\v"
_BEFORE = _WHITE + "\ufeff"
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

    A malformed tree raises a ValueError, or is left out after a call of `skip`. An outer bracket
    without a label gets `root_label` unless it holds one tree.
    """
    if skip is not None:
        lines = list(lines)
        for first, last in _find_never_closed(lines):  # they would swallow the following trees
            skip(first, last, _NEVER_CLOSED)
            lines[first - 1 : last] = [""] * (last - first + 1)
    items: list[Item] = []
    # For each open bracket: the label ("" if there is none yet), the number of children, the line.
    labels: list[str] = []
    counts: list[int] = []
    opened: list[int] = []
    fresh = False  # the last token opened a bracket
    fault = ""  # the error in a tree to leave out
    stray = 0  # the last line with something outside of brackets
    hollow = 0  # the line of an empty bracket in the outermost one, which must be alone in it

    def complain(what: str, line: int) -> str:
        if skip is None:
            raise ValueError(f"{where}line {line}: {what}.")
        return fault or what

    number = 0
    for number, line in enumerate(lines, 1):
        for token in _TOKEN.findall(line):
            if token == "(":
                if fresh and len(labels) > 1:
                    fault = complain("an inner bracket has no label", number)
                labels.append("")
                counts.append(0)
                opened.append(number)
                fresh = True
            elif not labels:
                if without_invisible(token):
                    what = "a closing bracket without an opening bracket"
                    if token != ")":
                        what = f"{token!r} is outside of brackets"
                    what = complain(what, number)
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
                    if label or labels not in ([], [""]) or (labels and hollow):
                        fault = complain(f"the bracket ({label}) is empty", number)
                    hollow = number if labels else 0
                elif hollow and not labels:
                    fault = complain("the bracket () is empty", hollow)
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
                items, fault, hollow = [], "", 0
    if opened and skip is None:
        raise ValueError(f"{where}line {opened[-1]}: {_NEVER_CLOSED}.")
    if opened and skip is not None:
        skip(opened[0], number, _NEVER_CLOSED)


_NEVER_CLOSED = "a bracket is never closed"


def _find_never_closed(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last lines of trees with a bracket that is never closed."""
    rests = [line.lstrip(_BEFORE) for line in lines]
    indents = [
        len(line) - len(rest) if rest.startswith("(") else -1
        for line, rest in zip(lines, rests, strict=True)
    ]
    rises = (rest.count("(") - rest.count(")") for rest in rests)
    depths = list(accumulate(rises, initial=0))
    lowest = list(accumulate(reversed(depths[1:]), min))[::-1]  # after this line or any later one
    begin = 0
    while begin < len(lines):
        end = begin + 1
        if indents[begin] >= 0 and lowest[begin] > depths[begin]:
            # The tree ends before the next bracket that begins a line and is indented no further.
            while end < len(lines) and not 0 <= indents[end] <= indents[begin]:
                end += 1
            yield begin + 1, end
        begin = end


def escape_brackets(word: str) -> str:
    """Return a word with round brackets replaced by their treebank names."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def as_in_treebanks(word: str) -> str:
    """Return the canonical spelling of a word: treebank names of brackets, no byte order marks."""
    if word.isalnum():
        return word
    plain = without_invisible(word).translate(_OF_TREEBANKS)
    return _NAME.sub(lambda name: name[0].upper(), plain)
