"""Parse trees of sentences: their brackets, drawings and head rules."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Self
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from skdp._checks import shorten
from skdp.data._frames import without_invisible

# Parsing of bracketed text into the flat form of trees.
#
# The flat form lists the nodes and words of a tree from left to right, with each node after its
# descendants: a word is a str, a node its label and its number of children. Loops over it replace
# recursion, which would fail for deep trees.


Item = str | tuple[str, int]

Skip = Callable[[int, int, str], None]
"""Records a malformed tree: its first line, its last line, and the error."""

_WHITE = " \t\n\r\f\v\x85\u2028\u2029"
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
    """Yield the trees of bracketed text in flat form; an empty tree is an empty list."""
    # A malformed tree raises a ValueError, or is left out after a call of `skip`. An outer bracket
    # without a label gets `root_label` unless it holds one tree.
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
                visible = without_invisible(token)
                if fresh and visible:
                    labels[-1] = visible
                    fresh = False
                elif visible:
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


def as_in_treebanks(word: str) -> str:
    """Return the canonical spelling of a word: treebank names of brackets, no byte order marks."""
    if word.isalnum():
        return word
    plain = without_invisible(word).translate(_OF_TREEBANKS)
    return _NAME.sub(lambda name: name[0].upper(), plain)


# Layouts: positions of nodes and words.


_NARROW, _WIDE = frozenset("fijlrtI.,:;'`|!()[]-"), frozenset("mwMW@%")


class TreeLayout(NamedTuple):
    """Positions of the nodes and words of a tree, in the order of its flat form."""

    texts: list[str]
    x: NDArray[np.float64]
    """Position of the center of the text, in the units of the widths, from 0 to `width`."""
    depth: NDArray[np.int64]
    """Depth in the tree; 0 for the root."""
    parent: NDArray[np.int64]
    """Index of the parent; -1 for the root."""
    is_word: NDArray[np.bool_]
    width: float


def text_width(text: str) -> float:
    """Return the approximate width of a text in a wide sans-serif font, in font sizes."""
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.42
    if letter in _WIDE:
        return 0.98
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.1
    return 0.75 if letter.isupper() else 0.63


def lay_out(items: Sequence[Item], measure: Callable[[str, bool], float]) -> TreeLayout:
    """Return a layout with nodes centered above their children; widths include gaps."""
    n_items = len(items)
    texts = [item if isinstance(item, str) else item[0] for item in items]
    is_word = np.array([isinstance(item, str) for item in items])
    parent = np.full(n_items, -1)
    room = np.array(list(map(measure, texts, is_word)))  # width of an item with its descendants
    middle = room / 2.0  # center of the text, from the left end of the room
    shift = np.zeros(n_items)  # shift of the room of an item in that of its parent
    open_items: list[int] = []
    for i, item in enumerate(items):
        if not isinstance(item, str):
            children = open_items[-item[1] :]
            del open_items[-item[1] :]
            parent[children] = i
            ends = np.cumsum(room[children])
            lefts = ends - room[children]
            first, last = children[0], children[-1]
            center = (middle[first] + lefts[-1] + middle[last]) / 2.0
            # A label that is wider than its descendants sticks out to the left, the right, or both.
            left = max(0.0, middle[i] - center)
            right = max(0.0, center + middle[i] - ends[-1])
            shift[children] = lefts + left
            middle[i] = left + center
            room[i] = left + ends[-1] + right
        open_items.append(i)
    left_ends, depth = np.zeros(n_items), np.zeros(n_items, dtype=np.int64)
    for i in range(n_items - 2, -1, -1):  # parents come after their children
        left_ends[i] = left_ends[parent[i]] + shift[i]
        depth[i] = depth[parent[i]] + 1
    return TreeLayout(texts, left_ends + middle, depth, parent, is_word, float(room[-1]))


# Drawings as SVG.


_FONT_SIZE = 14.0
_GAP = 10.0
_ROW = 42.0
_LINE_GAP = 5.0
"""Gap between a line and the texts that it joins."""


def draw_svg(items: Sequence[Item]) -> str:
    """Return the SVG of a tree in flat form: words in italics, lines in the color of the text."""
    layout = lay_out(items, lambda text, _: _FONT_SIZE * text_width(text) + _GAP)
    y = [_FONT_SIZE + _ROW * depth for depth in layout.depth.tolist()]
    x = layout.x.tolist()
    height = max(y) + 0.5 * _FONT_SIZE
    lines = "".join(
        f"M{x[p]:.1f} {y[p] + _LINE_GAP:.1f}L{x[i]:.1f} {y[i] - _FONT_SIZE:.1f}"
        for i, p in enumerate(layout.parent.tolist())
        if p >= 0
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{layout.width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {layout.width:.1f} {height:.1f}" '
        f'font-family="sans-serif" font-size="{_FONT_SIZE:g}" text-anchor="middle" '
        'fill="currentColor">',
        f'<path d="{lines}" stroke="currentColor" stroke-opacity="0.5" fill="none"/>',
    ]
    for text, is_word, column, row in zip(layout.texts, layout.is_word.tolist(), x, y, strict=True):
        style = ' font-style="italic"' if is_word else ""
        # Unprintable characters are not allowed in XML.
        shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
        parts.append(f'<text x="{column:.1f}" y="{row:.1f}"{style}>{escape(shown)}</text>')
    return "".join([*parts, "</svg>"])


# Head rules, which determine the head child of a node.


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
        name = rules if isinstance(rules, str) else ""
        self._rules: dict[str, list[_Pass]] = {}
        self._default = [_Pass(name != "last", [])]
        self._has_table = name not in ("first", "last")
        if name == "collins":
            rules = COLLINS_HEAD_RULES
        if isinstance(rules, Mapping):
            self._rules = {label: _compile(label, rules[label]) for label in rules}
        elif self._has_table:
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
    if not isinstance(label, str):
        raise ValueError(f"The labels of head rules must be str, got {shorten(label)}.")
    passes = [rule] if isinstance(rule, tuple) else rule
    if not isinstance(passes, list) or not passes:
        raise _wrong(label, rule)
    found = []
    for each in passes:
        if not isinstance(each, tuple) or len(each) != 2 or each[0] not in ("left", "right"):
            raise _wrong(label, rule)
        listed: Any = each[1] if isinstance(each[1], list | tuple) else [None]
        groups = [(group,) if isinstance(group, str) else group for group in listed]
        if not all(
            isinstance(group, tuple) and all(isinstance(name, str) for name in group)
            for group in groups
        ):
            raise _wrong(label, rule)
        found.append(_Pass(each[0] == "left", [frozenset(group) for group in groups]))
    return found


def _wrong(label: str, rule: Any) -> ValueError:
    return ValueError(
        f"The head rule of {shorten(label)} must be ('left', [labels]) or ('right', [labels]), or "
        f"a list of such pairs, got {shorten(rule)}."
    )


# The class of trees.


class ParseTree:
    """A parse tree: a label and its children, which are parse trees or words.

    It is immutable; it can be hashed, compared and pickled by value. Trees may have any depth,
    because no method is recursive. A notebook shows a tree as a picture.

    Parameters
    ----------
    label : str
        Symbol of the root: not empty, without white space or parentheses.
    children : sequence of ParseTree and str
        At least one child; a str is a word, not empty and without white space.

    Attributes
    ----------
    label : str
    children : tuple of ParseTree and str
    leaves : tuple of str
        All words, from left to right.
    height : int
        Largest number of nodes from the root down to a word; 1 if all children are words.
    is_preterminal : bool
        Whether the only child is a word.
    is_binary : bool
        Whether no node has more than two children.

    Raises
    ------
    TypeError
        If the label is not a str, or a child is neither a ParseTree nor a str.
    ValueError
        If there are no children, or if a label or word is empty or has forbidden characters.

    See Also
    --------
    read_trees : Reads the trees in a bracketed file.
    skdp.metrics.bracket_scores : Measures how well trees agree with the true ones.
    skdp.inspection.ParseTreeDisplay : Draws trees with matplotlib.

    Notes
    -----
    In bracketed text, parentheses in a word are written as in treebanks: ``(`` as ``-LRB-`` and
    ``)`` as ``-RRB-``. Reading does not convert them back, so a tree whose words have no
    parentheses is the same after writing and reading. Grammars and scores treat both spellings as
    the same word.

    Examples
    --------
    >>> from skdp.grammar import ParseTree
    >>> tree = ParseTree("S", [ParseTree("NP", ["he"]), ParseTree("VP", ["ran", "off"])])
    >>> tree
    <ParseTree (S (NP he) (VP ran off))>
    >>> tree == ParseTree.from_brackets("(S (NP he) (VP ran off))")
    True
    >>> tree.leaves
    ('he', 'ran', 'off')
    >>> tree.spans()
    [('S', 0, 3), ('NP', 0, 1), ('VP', 1, 3)]
    """

    __slots__ = ("_children", "_hash", "_height", "_label")

    _label: str
    _children: tuple[ParseTree | str, ...]
    _hash: int
    _height: int

    def __init__(self, label: str, children: Sequence[ParseTree | str]):
        check_label(label)
        if isinstance(children, str | ParseTree) or not hasattr(children, "__iter__"):
            raise TypeError(
                f"children must be a sequence of trees and words, got {shorten(children)}: pass a "
                "single child as a list of one."
            )
        children = tuple(children)
        if not children:
            raise ValueError(f"A node must have children, but {label!r} has none.")
        for child in children:
            if not isinstance(child, ParseTree):
                if isinstance(child, list):
                    raise TypeError(name_other(child, "A child", "a ParseTree or a str"))
                _check_text(child, "A word", NOT_IN_WORD)
        self._set(label, children)

    @classmethod
    def _make(cls, label: str, children: tuple[ParseTree | str, ...]) -> Self:
        """Return a tree without validation of its parts."""
        return cls.__new__(cls)._set(label, children)

    def _set(self, label: str, children: tuple[ParseTree | str, ...]) -> Self:
        self._label = label
        self._children = children
        # Both follow from the children's stored values, so that neither recurses.
        self._hash = hash((label, children))
        self._height = 1 + max(
            [0 if isinstance(child, str) else child._height for child in children]
        )
        return self

    @classmethod
    def from_brackets(cls, text: str, *, root_label: str = "ROOT") -> Self:
        """Return the tree of bracketed text, such as ``(S (NP he) (VP ran))``.

        Parameters
        ----------
        text : str
            One tree, on one or more lines. An outermost bracket without a label is removed if it
            holds one tree.
        root_label : str, default="ROOT"
            Label of an outermost bracket without a label that holds several trees or words.

        Returns
        -------
        ParseTree

        Raises
        ------
        ValueError
            If brackets are malformed (the message gives the line number), if there is not exactly
            one tree, or if it is empty.

        See Also
        --------
        read_trees : Reads the trees in a file.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, got {type(text).__name__}.")
        check_label(root_label, "root_label")
        trees = list(parse_brackets(text.split("\n"), root_label))
        if len(trees) != 1:
            raise ValueError(f"The text must hold one tree, but it holds {len(trees)}.")
        if not trees[0]:
            raise ValueError("The tree is empty: it has no words.")
        return cls._from_flat(trees[0])

    @classmethod
    def from_nltk(cls, tree: Any) -> Self:
        """Return an ``nltk.Tree`` as a parse tree.

        Parameters
        ----------
        tree : nltk.Tree
            A tree whose labels and leaves are str.

        Returns
        -------
        ParseTree

        Raises
        ------
        TypeError
            If `tree` is not an ``nltk.Tree``, or a label or leaf is not a str.
        ValueError
            As in the constructor.
        """
        if not (isinstance(tree, list) and callable(getattr(tree, "label", None))):
            raise TypeError(f"tree must be an nltk.Tree, got {type(tree).__name__}.")
        flat: list[Item] = []
        stack: list[Any] = [tree]
        while stack:
            node = stack.pop()
            if not isinstance(node, list):
                _check_text(node, "A word", NOT_IN_WORD)
                flat.append(node)
                continue
            label = node.label()  # type: ignore[attr-defined]  # nltk's trees are lists with a label
            check_label(label)
            if not node:
                raise ValueError(f"A node must have children, but {label!r} has none.")
            flat.append((label, len(node)))
            stack.extend(node)
        return cls._from_flat(reversed(flat))

    @property
    def label(self) -> str:
        """Symbol of the root."""
        return self._label

    @property
    def children(self) -> tuple[ParseTree | str, ...]:
        """Trees and words below the root."""
        return self._children

    @property
    def leaves(self) -> tuple[str, ...]:
        """All words, from left to right."""
        return tuple(item for item in self._flat() if isinstance(item, str))

    @property
    def height(self) -> int:
        """Largest number of nodes from the root down to a word."""
        return self._height

    @property
    def is_preterminal(self) -> bool:
        """Whether the only child is a word."""
        return len(self._children) == 1 and isinstance(self._children[0], str)

    @property
    def is_binary(self) -> bool:
        """Whether no node has more than two children."""
        return all(len(tree._children) <= 2 for tree in self.subtrees())

    def subtrees(self) -> Iterator[ParseTree]:
        """Yield all nodes: the root, its first child and everything below it, and so on.

        Yields
        ------
        ParseTree
        """
        for node in self._walk():
            if isinstance(node, ParseTree):
                yield node

    def _walk(self) -> Iterator[ParseTree | str | None]:
        """Yield nodes and words from left to right, and None after all that is below a node."""
        stack: list[ParseTree | str | None] = [self]
        while stack:
            item = stack.pop()
            yield item
            if isinstance(item, ParseTree):
                stack.append(None)
                stack.extend(item._children[::-1])

    def spans(self) -> list[tuple[str, int, int]]:
        """Return the words that each node spans, with nodes in the order of `subtrees`.

        Returns
        -------
        list of (str, int, int)
            Label, first word, and one past the last word, counted from 0.
        """
        n_words = 0
        spans: list[tuple[str, int, int]] = []
        open_nodes: list[tuple[int, int]] = []  # first words, and indices among the spans
        for node in self._walk():
            if node is None:
                begin, place = open_nodes.pop()
                spans[place] = (spans[place][0], begin, n_words)
            elif isinstance(node, str):
                n_words += 1
            else:
                open_nodes.append((n_words, len(spans)))
                spans.append((node._label, n_words, n_words))
        return spans

    def with_leaves(self, words: Iterable[str]) -> Self:
        """Return the same tree with other words.

        Parameters
        ----------
        words : iterable of str
            One per leaf.

        Returns
        -------
        ParseTree

        Raises
        ------
        ValueError
            If the number of words differs from that of the leaves, or a word is empty or has white
            space.
        """
        if isinstance(words, str) or not hasattr(words, "__iter__"):
            raise TypeError(f"words must be a list of str, got {shorten(words)}.")
        words = list(words)
        flat = self._flat()
        places = [i for i, item in enumerate(flat) if isinstance(item, str)]
        if len(words) != len(places):
            raise ValueError(
                f"words must hold {len(places)} words, one per leaf, got {len(words)}."
            )
        for i, word in zip(places, words, strict=True):
            _check_text(word, "A word", NOT_IN_WORD)
            flat[i] = word
        return self._from_flat(flat)

    def map_labels(self, function: Callable[[str], str]) -> Self:
        """Return the same tree with other labels.

        Parameters
        ----------
        function : callable
            Function that maps a label to its replacement. It is called once per distinct label, not
            once per node.

        Returns
        -------
        ParseTree

        Raises
        ------
        TypeError
            If the result is not a str.
        ValueError
            If the result is empty or has white space or parentheses.
        """
        if not callable(function):
            raise TypeError(f"function must be callable, got {type(function).__name__}.")
        mapped: dict[str, str] = {}
        flat = self._flat()
        for i, item in enumerate(flat):
            if isinstance(item, str):
                continue
            label, n_children = item
            if label not in mapped:
                check_label(new := function(label))
                mapped[label] = new
            flat[i] = mapped[label], n_children
        return self._from_flat(flat)

    def without_traces(self) -> Self | None:
        """Return the same tree without traces and other empty nodes.

        Returns
        -------
        ParseTree or None
            The tree without nodes labeled ``-NONE-``, and without nodes that then have no words.
            None if nothing is left.

        See Also
        --------
        read_trees : Removes traces from all trees of a file with ``clean=True``.

        Examples
        --------
        >>> from skdp.grammar import ParseTree
        >>> ParseTree.from_brackets("(S (NP (-NONE- *)) (VP (TO to) (VP go)))").without_traces()
        <ParseTree (S (VP (TO to) (VP go)))>
        """
        kept: list[Item] = []
        sizes: list[int] = []  # numbers of kept items below those whose parent is still to come
        for item in self._flat():
            if isinstance(item, str):
                kept.append(item)
                sizes.append(1)
                continue
            label, n_children = item
            below = sizes[-n_children:]
            del sizes[-n_children:]
            size, n_kept = sum(below), sum(n > 0 for n in below)
            if label == TRACE:
                del kept[len(kept) - size :]
                size = 0
            elif n_kept:
                kept.append((label, n_kept))
                size += 1
            sizes.append(size)
        return self._from_flat(kept) if kept else None

    def without_function_tags(self) -> Self:
        """Return the same tree with labels cut to their categories.

        Returns
        -------
        ParseTree
            A tree whose labels end before their first ``-``, ``=`` or ``|``: NP-SBJ, NP-1 and NP=2
            become NP, and ADVP|PRT becomes ADVP. Labels that begin with such a character, such as
            -LRB-, stay.

        See Also
        --------
        read_trees : Removes function tags from all trees of a file with ``clean=True``.
        map_labels : Changes labels in any other way.

        Examples
        --------
        >>> from skdp.grammar import ParseTree
        >>> ParseTree.from_brackets("(NP-SBJ=1 (-LRB- -LRB-) (NN dog))").without_function_tags()
        <ParseTree (NP (-LRB- -LRB-) (NN dog))>
        """
        return self.map_labels(category_of)

    def to_brackets(self) -> str:
        """Return the tree as bracketed text on one line, the same as ``str(tree)``.

        Returns
        -------
        str
        """
        parts: list[str] = []
        for node in self._walk():
            if node is None:
                parts.append(")")
            elif isinstance(node, str):
                parts.append(" " + node.replace("(", "-LRB-").replace(")", "-RRB-"))
            else:
                parts.append(f" ({node._label}")
        return "".join(parts)[1:]

    def to_nltk(self) -> Any:
        """Return the tree as an ``nltk.Tree``.

        Returns
        -------
        nltk.Tree

        Raises
        ------
        ImportError
            If nltk is not installed.
        """
        try:
            from nltk import Tree
        except ImportError as error:
            raise ImportError(
                "ParseTree.to_nltk needs nltk: install it with `pip install skdp[nltk]`."
            ) from error
        return _build(self._flat(), Tree)

    def _flat(self) -> list[Item]:
        """Return all nodes and words, each node after its descendants: the flat form."""
        items: list[Item] = []
        stack: list[ParseTree | str] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                items.append(node)
            else:
                items.append((node._label, len(node._children)))
                stack.extend(node._children)
        items.reverse()
        return items

    @classmethod
    def _from_flat(cls, items: Iterable[Item]) -> Self:
        return _build(items, lambda label, children: cls._make(label, tuple(children)))

    def __reduce__(self) -> Any:
        return self._from_flat, (tuple(self._flat()),)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParseTree):
            return NotImplemented
        if self._hash != other._hash:
            return False
        return self is other or self._flat() == other._flat()

    def __str__(self) -> str:
        return self.to_brackets()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.to_brackets()}>"

    def _repr_svg_(self) -> str:
        return draw_svg(self._flat())


def _build(items: Iterable[Item], make: Callable[[str, list[Any]], Any]) -> Any:
    """Return the tree of a flat form, whose nodes are ``make(label, children)``."""
    stack: list[Any] = []
    for item in items:
        if isinstance(item, str):
            stack.append(item)
        else:
            label, n_children = item
            stack[-n_children:] = [make(label, stack[-n_children:])]
    return stack[0]


def name_other(value: object, what: str, wanted: str = "a ParseTree") -> str:
    """Return a message that a value is not a tree, with advice on conversion."""
    message = f"{what} must be {wanted}, got {type(value).__name__}"
    if isinstance(value, str):
        return f"{message}: use ParseTree.from_brackets for bracketed text."
    if isinstance(value, list) and callable(getattr(value, "label", None)):
        return f"{message}: use ParseTree.from_nltk for an nltk.Tree."
    return message + "."


def check_label(label: Any, name: str = "A label") -> None:
    """Raise TypeError or ValueError unless a label is valid in a tree."""
    _check_text(label, name, NOT_IN_LABEL)


def _check_text(text: Any, name: str, forbidden: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str, got {shorten(text)}.")
    if not text:
        raise ValueError(f"{name} must not be empty.")
    if forbidden.search(text):
        what = "white space" if name == "A word" else "white space or parentheses"
        raise ValueError(f"{name} must not contain {what}, got {shorten(text)}.")
