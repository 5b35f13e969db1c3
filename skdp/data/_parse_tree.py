"""Parse trees of sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

from skdp._checks import shorten
from skdp.data._brackets import (
    NOT_IN_LABEL,
    NOT_IN_WORD,
    Item,
    escape_brackets,
    parse_brackets,
)
from skdp.data._head_rules import TRACE, category_of
from skdp.data._tree_svg import draw_svg


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
        stack: list[ParseTree | str] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, ParseTree):
                yield node
                stack.extend(node._children[::-1])

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
        stack: list[ParseTree | str | None] = [self]  # None: the end of a node
        while stack:
            node = stack.pop()
            if node is None:
                begin, place = open_nodes.pop()
                spans[place] = (spans[place][0], begin, n_words)
            elif isinstance(node, str):
                n_words += 1
            else:
                open_nodes.append((n_words, len(spans)))
                spans.append((node._label, n_words, n_words))
                stack.append(None)
                stack.extend(node._children[::-1])
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
        stack: list[ParseTree | str | None] = [self]
        while stack:
            node = stack.pop()
            if node is None:
                parts.append(")")
            elif isinstance(node, str):
                parts.append(f" {escape_brackets(node)}")
            else:
                parts.append(f" ({node._label}")
                stack.append(None)
                stack.extend(node._children[::-1])
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
        """Return all nodes and words, each node after its descendants (see `_brackets`)."""
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
        return _rebuild, (type(self), tuple(self._flat()))

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


def _rebuild(cls: type[ParseTree], items: tuple[Item, ...]) -> ParseTree:
    return cls._from_flat(items)


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
