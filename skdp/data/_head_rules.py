"""Head rules, which determine the head child of a node."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from skdp._checks import shorten

Rule = tuple[str, Sequence[str | tuple[str, ...]]]
"""The side on which the search begins, and categories in the order of their priority."""

_NOUNS = ("NN", "NNS", "NNP", "NNPS", "NX")
_FINITE_VERBS = ("MD", "VBD", "VBZ", "VBP", "VB")
_WH_PHRASES = ("WHNP", "WHPP", "WHADVP", "WHADJP")
_NOMINAL: list[Rule] = [
    ("right", [(*_NOUNS, "POS", "JJR")]),
    ("left", ["NP"]),
    ("right", [("$", "ADJP", "PRN"), "CD", ("JJ", "JJS", "RB", "QP")]),
    ("right", []),
]

COLLINS_HEAD_RULES: dict[str, Rule | list[Rule]] = {
    "ADJP": ("left", [("JJ", "VBN", "VBG"), "NNS", "QP", "NN", "$", "ADJP", "JJR", "JJS", "NP"]),
    "ADVP": ("right", [("RB", "RBR", "RBS"), "FW", "ADVP", "TO", "CD", ("JJ", "JJR"), "IN", "NP"]),
    "CONJP": ("right", ["CC", "RB", "IN"]),
    "FRAG": ("right", []),
    "INTJ": ("left", ["UH"]),
    "LST": ("right", ["LS"]),
    "NAC": ("left", [_NOUNS, "NP", "NAC", "EX", "$", "CD", "QP", "PRP", "VBG", "JJ"]),
    "NP": _NOMINAL,
    "NX": _NOMINAL,
    "PP": ("right", [("IN", "TO"), ("VBG", "VBN"), "RP", "FW", "PP"]),
    "PRN": ("left", []),
    "PRT": ("right", ["RP"]),
    "QP": ("left", ["$", "IN", ("NNS", "NN"), "JJ", "RB", "DT", "CD", "QP", ("JJR", "JJS")]),
    "ROOT": ("left", [("S", "SINV", "SQ", "SBARQ")]),
    "RRC": ("right", ["VP", "NP", "ADVP", "ADJP", "PP"]),
    "S": ("left", ["VP", "S", "SINV", "SBAR", "ADJP", "UCP", "NP"]),
    "SBAR": ("left", [_WH_PHRASES, ("IN", "DT"), "S", "SQ", "SINV", "SBAR", "FRAG"]),
    "SBARQ": ("left", ["SQ", "S", "SINV", "SBARQ", "FRAG"]),
    "SINV": ("left", [_FINITE_VERBS, "VP", "S", "SINV", "ADJP", "NP"]),
    "SQ": ("left", [_FINITE_VERBS, "VP", "SQ"]),
    "TOP": ("left", [("S", "SINV", "SQ", "SBARQ")]),
    "UCP": ("right", []),
    "VP": ("left", [("TO", *_FINITE_VERBS, "VBN", "VBG"), "VP", "ADJP", _NOUNS, "NP"]),
    "WHADJP": ("left", ["WRB", "JJ", "ADJP"]),
    "WHADVP": ("right", ["WRB", "WHADVP"]),
    "WHNP": ("left", [("WDT", "WP", "WP$"), "WHADJP", "WHPP", "WHNP"]),
    "WHPP": ("right", [("IN", "TO"), "FW"]),
}
"""Head rules of the Penn Treebank, like those of Collins (1999): see `head_children`."""

PUNCTUATION = frozenset([",", ":", ".", "``", "''", '"', "-LRB-", "-RRB-", "PUNCT", "PU"])
"""Punctuation tags of the Penn Treebank, Universal Dependencies and the Chinese Treebank."""

TRACE = "-NONE-"
_COORDINATORS = frozenset(["CC", "CONJP"])
_CATEGORY = re.compile("[^-=|]+")
_DIRECTIONS = ("left", "right")


def category_of(label: str) -> str:
    """Return a label without function tags: NP for NP-SBJ=2; ``-NONE-`` and -LRB- stay whole."""
    found = _CATEGORY.match(label)
    return found[0] if found else label


class _Pass(NamedTuple):
    """A search through the children for one set of categories after another."""

    from_left: bool
    wanted: list[frozenset[str]]


class HeadFinder:
    """Finder of the head among the children of a node, which caches the heads of productions."""

    def __init__(self, rules: Any):
        self._rules: dict[str, list[_Pass]] = {}
        self._default = [_Pass(rules != "last", [])]
        self._has_table = rules not in ("first", "last") if isinstance(rules, str) else True
        if isinstance(rules, str) and rules == "collins":
            rules = COLLINS_HEAD_RULES
        if isinstance(rules, Mapping):
            self._rules = {_check_label(label): _compile(label, rules[label]) for label in rules}
        elif not (isinstance(rules, str) and rules in ("first", "last")):
            raise ValueError(
                "Head rules must be 'collins', 'first', 'last' or a dict of "
                f"label: (direction, [labels]), got {shorten(rules)}."
            )
        self._known: dict[tuple[str, ...], int] = {}

    def find(self, parent: str, children: list[str]) -> int:
        """Return the index of the head among children with these labels."""
        production = (parent, *children)
        head = self._known.get(production)
        if head is None:
            head = self._known[production] = self._search(parent, children)
        return head

    def _search(self, parent: str, children: list[str]) -> int:
        categories = [category_of(label) for label in children]
        places = [
            i for i, label in enumerate(categories) if label not in PUNCTUATION and label != TRACE
        ] or list(range(len(children)))
        head = _run(self._rules.get(category_of(parent), self._default), categories, places)
        if self._has_table:
            while head >= 2 and categories[head - 1] in _COORDINATORS:
                before = [i for i in places if i < head - 1]
                if not before:
                    break
                head = before[-1]
        return head


def _run(passes: list[_Pass], categories: list[str], places: list[int]) -> int:
    """Return the first place with a wanted category, else where the last search began."""
    for from_left, wanted in passes:
        order = places if from_left else places[::-1]
        for labels in wanted:
            for i in order:
                if categories[i] in labels:
                    return i
    return order[0]


def _compile(label: str, rule: Any) -> list[_Pass]:
    """Return the searches of a rule, which may be a single search or a list."""
    is_one = len(rule) == 2 and isinstance(rule[0], str) if isinstance(rule, tuple) else False
    passes = [rule] if is_one else rule
    if not isinstance(passes, list) or not passes:
        raise _wrong(label, rule)
    found = []
    for each in passes:
        if not isinstance(each, tuple) or len(each) != 2 or each[0] not in _DIRECTIONS:
            raise _wrong(label, rule)
        groups = [(group,) if isinstance(group, str) else group for group in _listed(each[1])]
        if not all(
            isinstance(group, tuple) and all(isinstance(name, str) for name in group)
            for group in groups
        ):
            raise _wrong(label, rule)
        found.append(_Pass(each[0] == "left", [frozenset(group) for group in groups]))
    return found


def _listed(labels: Any) -> Any:
    return labels if isinstance(labels, list | tuple) else [None]


def _check_label(label: Any) -> str:
    if not isinstance(label, str):
        raise ValueError(f"The labels of head rules must be str, got {shorten(label)}.")
    return label


def _wrong(label: str, rule: Any) -> ValueError:
    return ValueError(
        f"The head rule of {shorten(label)} must be ('left', [labels]) or ('right', [labels]), or "
        f"a list of such pairs, got {shorten(rule)}."
    )
