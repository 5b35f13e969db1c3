"""Conversions of parse trees: binary trees and back, lexicalized trees, and reading from files."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_choice, check_count, shorten
from skdp.data._parse_tree import (
    HeadFinder,
    Item,
    ParseTree,
    _build,
    check_label,
    name_other,
    parse_brackets,
)

# Trees with at most two children per node, and back.

MARK = "@"
"""Prefix of the labels of intermediate nodes."""

SIBLING = "|"
"""Separator before each sibling in the label of an intermediate node."""

ABOVE = "^"
"""Separator between a label and its ancestors."""


def binarize(tree: ParseTree, horizontal_order: int = 0, vertical_order: int = 1) -> ParseTree:
    """Return a tree in which no node has more than two children.

    All children of a node X but the first move below a new node @X, the X-bar of the literature,
    and so on: ``(X a b c d)`` becomes ``(X a (@X b (@X c d)))`` ([1]_, section 5.3). Chains of
    nodes with one child stay, except that a node whose only child is a node with the same label is
    dropped, because the rule X -> X carries no information.

    By default labels carry no information about the context of a node. The orders change that: a
    grammar read off the trees then has finer symbols ([2]_).

    Parameters
    ----------
    tree : ParseTree
        Its labels must not begin with "@", nor contain "^" if `vertical_order` > 1.
    horizontal_order : int, default=0
        Number of siblings in the labels of new nodes, at least 0. 1: ``(X A B C D)`` becomes
        ``(X A (@X|A B (@X|B C D)))``; 2: the second new node is @X|A|B. A word counts as a sibling
        without a label. "|" and backslashes in X and its children are escaped by a backslash.
    vertical_order : int, default=1
        One more than the number of ancestors in the labels of phrases, at least 1. 2: an NP below
        an S is NP^S; 3: if that is below a VP, NP^S^VP. Phrases are nodes that are not
        preterminals; near the root they have fewer ancestors, and the root is S^. Labels of new
        nodes include the ancestors of their X (@NP^S) and plain siblings.

    Returns
    -------
    ParseTree

    Raises
    ------
    ValueError
        If a label begins with "@", or contains "^" although `vertical_order` > 1, or if an order is
        not an integer in its range.

    See Also
    --------
    debinarize : Removes the intermediate nodes.

    References
    ----------
    .. [1] P. Liang, M. I. Jordan and D. Klein, "Probabilistic grammars and hierarchical Dirichlet
       processes", The Oxford Handbook of Applied Bayesian Analysis, 2010.
    .. [2] D. Klein and C. D. Manning, "Accurate unlexicalized parsing", Proceedings of ACL, 2003.

    Examples
    --------
    >>> from skdp.grammar import ParseTree, binarize, debinarize
    >>> tree = ParseTree.from_brackets("(NP (DT the) (JJ big) (JJ black) (NN cat))")
    >>> binarize(tree)
    <ParseTree (NP (DT the) (@NP (JJ big) (@NP (JJ black) (NN cat))))>
    >>> debinarize(binarize(tree)) == tree
    True
    >>> binarize(tree, horizontal_order=1)
    <ParseTree (NP (DT the) (@NP|DT (JJ big) (@NP|JJ (JJ black) (NN cat))))>
    >>> binarize(ParseTree.from_brackets("(S (NP (PRP he)) (VP (VBD ran)))"), vertical_order=2)
    <ParseTree (S^ (NP^S (PRP he)) (VP^S (VBD ran)))>
    """
    _check_tree(tree)
    horizontal = check_count(horizontal_order, "horizontal_order")
    vertical = check_count(vertical_order, "vertical_order", at_least=1)
    items = _without_repeats(tree)
    if vertical > 1:
        items = _with_ancestors(items, vertical)

    def make(label: str, children: list[ParseTree | str]) -> ParseTree:
        plain = [_label_of(child, vertical) for child in children] if horizontal else []
        for i in range(len(children) - 2, 0, -1):
            name = _remember(label, plain[max(0, i - horizontal) : i])
            children[i:] = [ParseTree._make(MARK + name, tuple(children[i:]))]
        return ParseTree._make(label, tuple(children))

    return _build(items, make)


def _without_repeats(tree: ParseTree) -> list[Item]:
    """Return the flat form without nodes whose only child is a node with the same label."""
    items: list[Item] = []
    for item in tree._flat():
        if not isinstance(item, str):
            label, n = item
            if label.startswith(MARK):
                raise ValueError(
                    f"Labels must not begin with {MARK!r} before binarization: {label!r}."
                )
            below = items[-1]
            if n == 1 and not isinstance(below, str) and below[0] == label:
                continue
        items.append(item)
    return items


def _with_ancestors(items: list[Item], order: int) -> list[Item]:
    """Return the flat form with `order` - 1 ancestors in the labels of phrases."""
    marked = list(items)
    above: list[tuple[str, ...]] = [()]  # ancestors of the items to come, the parent first
    for i in range(len(items) - 1, -1, -1):  # the root first, last children before first ones
        item, ancestors = items[i], above.pop()
        if isinstance(item, str):
            continue
        label, n = item
        if ABOVE in label:
            raise ValueError(
                f"Labels must not contain {ABOVE!r} with vertical_order={order}: {label!r}."
            )
        above.extend([(label, *ancestors)[: order - 1]] * n)
        if n > 1 or not isinstance(items[i - 1], str):
            # Also mark the root, whose symbol would otherwise be that of preterminals.
            marked[i] = label + ABOVE + ABOVE.join(ancestors), n
    return marked


def _label_of(child: ParseTree | str, vertical_order: int) -> str:
    """Return the label of a node without ancestors, "" for a word."""
    if isinstance(child, str):
        return ""
    return child.label.partition(ABOVE)[0] if vertical_order > 1 else child.label


def _remember(label: str, siblings: Sequence[str]) -> str:
    """Return a label that includes the labels of siblings, unambiguously."""
    if not siblings:
        return label
    parts = (
        name.replace("\\", "\\\\").replace(SIBLING, "\\" + SIBLING) for name in (label, *siblings)
    )
    return SIBLING.join(parts)


def debinarize(tree: ParseTree, vertical_order: int = 1) -> ParseTree:
    """Return a tree with its intermediate nodes replaced by their children.

    This undoes `binarize`, except that the nodes X -> X that it dropped are not restored.

    Parameters
    ----------
    tree : ParseTree
        Nodes whose label begins with "@" are intermediate; the root must not be.
    vertical_order : int, default=1
        The order passed to `binarize`. If it is greater than 1, labels end before their first "^".

    Returns
    -------
    ParseTree

    Raises
    ------
    ValueError
        If the root is an intermediate node, `vertical_order` is not an integer of at least 1, or
        it is greater than 1 and a label begins with "^".

    See Also
    --------
    binarize : Inserts the intermediate nodes.

    Examples
    --------
    >>> from skdp.grammar import ParseTree, debinarize
    >>> debinarize(ParseTree.from_brackets("(NP (DT the) (@NP (JJ big) (NN cat)))"))
    <ParseTree (NP (DT the) (JJ big) (NN cat))>
    >>> debinarize(ParseTree.from_brackets("(S^ (NP^S (PRP he)) (VP^S (VBD ran)))"), 2)
    <ParseTree (S (NP (PRP he)) (VP (VBD ran)))>
    """
    _check_tree(tree)
    vertical = check_count(vertical_order, "vertical_order", at_least=1)
    if tree.label.startswith(MARK):
        raise ValueError(f"The root must not be an intermediate node, got {tree.label!r}.")
    stack: list[
        list[ParseTree | str]
    ] = []  # for each node, the node itself, or its children if it is intermediate
    for item in tree._flat():
        if isinstance(item, str):
            stack.append([item])
            continue
        label, n = item
        children = [child for part in stack[-n:] for child in part]
        del stack[-n:]
        if label.startswith(MARK):
            stack.append(children)
            continue
        if vertical > 1:
            if label.startswith(ABOVE):
                raise ValueError(
                    f"Labels must not begin with {ABOVE!r} with vertical_order={vertical}: "
                    f"{label!r}."
                )
            label = label.partition(ABOVE)[0]
        stack.append([ParseTree._make(label, tuple(children))])
    return stack[0][0]  # type: ignore[return-value]  # the root, never a word


# Lexicalized parse trees, whose nodes have head words.


class LexicalizedNodes(NamedTuple):
    """The nodes of a tree, in the order of `ParseTree.subtrees`, with the heads they inherit."""

    labels: NDArray[Any]
    tags: NDArray[Any]
    """Label of the preterminal at the end of each node's spike."""
    words: NDArray[Any]
    """The word below that preterminal."""
    parents: NDArray[np.int64]
    """Index of the parent; -1 for the root."""
    heads: NDArray[np.int64]
    """Index of the head child; -1 for a preterminal."""
    spikes: NDArray[np.int64]
    """Index of the node at the top of the spike: the root or a modifier."""


class NodeLists(NamedTuple):
    """The nodes of a tree with their heads, as lists."""

    labels: list[str]
    tags: list[str]
    words: list[str]
    parents: list[int]
    children: list[list[int]]
    heads: list[int]


def head_children(tree: ParseTree, rules: Any = "collins") -> NDArray[np.int64]:
    """Find the head child of every node of a tree.

    The head of a phrase is the child that determines its meaning and its grammatical behavior, such
    as the verb of a verb phrase or the noun of a noun phrase. Following head children from a node
    to a word gives the head word of the node, see :func:`lexicalize`.

    Parameters
    ----------
    tree : ParseTree
        Every word is the only child of its node, its tag.
    rules : {"collins", "first", "last"} or dict, default="collins"
        "collins": `COLLINS_HEAD_RULES`, a table for the labels of the Penn Treebank. "first" or
        "last": the first or the last child, for languages without a table whose phrases begin or
        end with their heads. A dict is a custom table, which maps a label to
        ``(direction, labels)``.

    Returns
    -------
    (n_nodes,) array of int
        Index of the head among the children of each node, from 0. Nodes are in the order of
        `ParseTree.subtrees`; the head of a preterminal is 0, its word.

    Raises
    ------
    TypeError
        If `tree` is not a ParseTree.
    ValueError
        If a word has siblings, or `rules` is none of the above.

    See Also
    --------
    lexicalize : The head words and tags that follow from head children.

    Notes
    -----
    A rule ``("left", ["VP", "S"])`` searches the children from the left for a VP, and if there is
    none, for an S. ``"right"`` begins at the right. A tuple of labels is searched for at once:
    ``("right", [("NN", "NNS"), "NP"])`` finds the last noun, singular or plural. A list of rules is
    tried in order. If nothing is found, the head is the child at which the last search began. The
    rest is the same for all rules:

    - Function tags and indices do not count: NP-SBJ and NP=2 are NP, and ADVP|PRT is ADVP.
    - Punctuation and traces (``-NONE-``) are heads only if a node has no other children.
    - The head of a node whose label has no rule is its first child.
    - Coordination, with any table: if the child before the head is a CC or a CONJP, the head is the
      child before that, and so on. So if the search for the head of a coordinated phrase begins at
      the right, it has the head of its first conjunct if there is a conjunction between any two.
    - Trees are taken as they are: find heads before :func:`binarize`, not after.

    The table has the categories and directions of Collins ([1]_, appendix A), with a few categories
    in a different order.

    References
    ----------
    .. [1] M. Collins, "Head-driven statistical models for natural language parsing", PhD thesis,
       University of Pennsylvania, 1999.

    Examples
    --------
    >>> from skdp.grammar import ParseTree, head_children
    >>> tree = ParseTree.from_brackets("(S (NP-SBJ (DT the) (NN cat)) (VP (VBD sat)) (. .))")
    >>> head_children(tree)
    array([1, 1, 0, 0, 0, 0, 0])
    >>> head_children(tree, {"NP": ("left", ["DT", "NN"])})
    array([0, 0, 0, 0, 0, 0, 0])
    """
    nodes = read_nodes(_check_tree(tree), HeadFinder(rules))
    return np.array(
        [
            0 if head < 0 else children.index(head)
            for head, children in zip(nodes.heads, nodes.children, strict=True)
        ]
    )


def lexicalize(tree: ParseTree, rules: Any = "collins") -> LexicalizedNodes:
    """Return the head word and tag of every node of a tree, and the spikes that they form.

    A spike is a chain of head children that ends at a word; every word has one. The head of all
    nodes of a spike is this word with its tag. The tree consists of spikes: the spike of the root,
    and a spike for each modifier, that is, each child that is not a head.

    Parameters
    ----------
    tree : ParseTree
        Every word is the only child of its node, its tag.
    rules : {"collins", "first", "last"} or dict, default="collins"
        Rules that determine the head child, see :func:`head_children`.

    Returns
    -------
    LexicalizedNodes
        A named tuple of arrays, with nodes in the order of `ParseTree.subtrees`:

        - labels, tags, words : (n_nodes,) arrays of str: label, tag of the head, head word;
        - parents : (n_nodes,) array of int: index of the parent; -1 for the root;
        - heads : (n_nodes,) array of int: index of the head child; -1 for a preterminal;
        - spikes : (n_nodes,) array of int: index of the node at the top of the spike.

    Raises
    ------
    TypeError
        If `tree` is not a ParseTree.
    ValueError
        If a word has siblings, or `rules` is invalid.

    See Also
    --------
    head_children : The rules, and heads as indices among the children.
    skdp.context.extract_events : The decisions by which a lexicalized tree is generated.

    Examples
    --------
    >>> from skdp.grammar import ParseTree, lexicalize
    >>> tree = ParseTree.from_brackets("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
    >>> nodes = lexicalize(tree)
    >>> " ".join(map("{}({},{})".format, nodes.labels, nodes.tags, nodes.words))
    'S(VBD,sat) NP(NN,cat) DT(DT,the) NN(NN,cat) VP(VBD,sat) VBD(VBD,sat)'
    >>> nodes.spikes  # S - VP - VBD, NP - NN and DT
    array([0, 1, 2, 1, 0, 0])
    """
    nodes = read_nodes(_check_tree(tree), HeadFinder(rules))
    spikes = list(range(len(nodes.labels)))
    for node, head in enumerate(nodes.heads):
        if head >= 0:
            spikes[head] = spikes[node]  # parents come before their children
    texts = (np.array(part, dtype=object) for part in (nodes.labels, nodes.tags, nodes.words))
    return LexicalizedNodes(*texts, *map(np.array, (nodes.parents, nodes.heads, spikes)))


def read_nodes(tree: ParseTree, finder: HeadFinder) -> NodeLists:
    """Return the nodes of a tree with their heads, in the order of `ParseTree.subtrees`."""
    labels: list[str] = []
    words: list[str] = []
    parents: list[int] = []
    children: list[list[int]] = []
    stack: list[tuple[ParseTree, int]] = [(tree, -1)]
    while stack:
        node, parent = stack.pop()
        number = len(labels)
        below = node.children
        labels.append(node.label)
        parents.append(parent)
        children.append([])
        if parent >= 0:
            children[parent].append(number)
        if len(below) == 1 and isinstance(below[0], str):
            words.append(below[0])
            continue
        words.append("")
        for child in reversed(below):
            if isinstance(child, str):
                raise ValueError(
                    f"The word {child!r} has siblings below {node.label!r}: every word must be the "
                    "only child of its node, its tag."
                )
            stack.append((child, number))
    tags = list(labels)
    heads = [-1] * len(labels)
    for node_number in range(len(labels) - 1, -1, -1):  # children come after their parents
        if below_it := children[node_number]:
            place = finder.find(labels[node_number], [labels[i] for i in below_it])
            head = heads[node_number] = below_it[place]
            tags[node_number], words[node_number] = tags[head], words[head]
    return NodeLists(labels, tags, words, parents, children, heads)


def _check_tree(tree: object) -> ParseTree:
    if not isinstance(tree, ParseTree):
        raise TypeError(name_other(tree, "tree"))
    return tree


# Trees in files.


_N_NAMED = 10
"""Largest number of malformed trees that a warning names."""


def read_trees(
    file: str | os.PathLike[str] | IO[Any],
    *,
    encoding: str = "utf-8",
    root_label: str = "ROOT",
    clean: bool = False,
    on_bad_trees: str = "error",
) -> list[ParseTree | None]:
    r"""Read the parse trees in a bracketed file, the format of treebanks.

    A tree may extend over several lines, and a line may hold several trees. An outermost bracket
    without a label, as in ``( (S (NP he) (VP ran)))``, is removed if it holds one tree. Labels and
    words are kept as written, including names of brackets such as ``-LRB-``, unless `clean` is set.
    Byte order marks are removed.

    Parameters
    ----------
    file : str, path or file object
        A path, or an open text or binary file, which is read to its end and stays open.
    encoding : str, default="utf-8"
        Encoding of the bytes, which is ignored for an open text file.
    root_label : str, default="ROOT"
        Label of an outermost bracket without a label that holds several trees or words, as in
        ``( (S (NP he) (VP ran)) (. .))``.
    clean : bool, default=False
        Whether to remove traces and other empty nodes, function tags and indices, as grammars are
        usually trained without them: see :meth:`ParseTree.without_traces` and
        :meth:`ParseTree.without_function_tags`.
    on_bad_trees : {"error", "warn"}, default="error"
        Treatment of malformed trees. "error": raise an error for the first. "warn": leave them out,
        with a warning that names their lines. A tree with a bracket that is never closed ends
        before the next line that begins with a bracket and is indented no further.

    Returns
    -------
    list of ParseTree or None
        None stands for an empty tree, ``(())`` or ``()``, which parsers write for a sentence that
        they cannot parse, and for a tree that holds nothing but traces if `clean` is set.

    Raises
    ------
    ValueError
        If a bracket is never closed or never opened, is empty, or has no label without being
        outermost, or if a word is outside of brackets. The message gives the file and the line.
        Also if `file` is the text of trees, not a path, or if another parameter is invalid.
    OSError
        If the file cannot be read.
    UnicodeDecodeError
        If the bytes are not valid in this encoding.

    Warns
    -----
    UserWarning
        If trees are left out.

    See Also
    --------
    ParseTree.from_brackets : Reads the tree in a string.

    Examples
    --------
    >>> import io
    >>> from skdp.grammar import read_trees
    >>> read_trees(io.StringIO("(S (NP he) (VP ran)) ( (S\n (NP she)\n (VP sat)))"))
    [<ParseTree (S (NP he) (VP ran))>, <ParseTree (S (NP she) (VP sat))>]
    >>> text = "( (S (NP-SBJ=1 he) (VP ran (NP (-NONE- *)))) (. .) )\n(())"
    >>> read_trees(io.StringIO(text), clean=True)
    [<ParseTree (ROOT (S (NP he) (VP ran)) (. .))>, None]
    """
    check_choice(on_bad_trees, "on_bad_trees", "error", "warn")
    check_label(root_label, "root_label")
    name = _name_of(file)
    bad: list[tuple[int, int, str]] = []
    skip = None if on_bad_trees == "error" else lambda *found: bad.append(found)
    where = f"{name}, " if name else ""
    with _open_text(file, encoding) as lines:
        trees = [
            ParseTree._from_flat(items) if items else None
            for items in parse_brackets(lines, root_label, where, skip)
        ]
    if bad:
        _warn_of(bad, name)
    if clean:
        trees = [tree and tree.without_traces() for tree in trees]
        trees = [tree and tree.without_function_tags() for tree in trees]
    return trees


def _name_of(file: Any) -> str:
    """Return the name of a file for messages, "" if it has no name."""
    name = file if isinstance(file, str | os.PathLike) else getattr(file, "name", "")
    name = os.fspath(name) if isinstance(name, os.PathLike) else name
    return name if isinstance(name, str) else ""


def _warn_of(bad: list[tuple[int, int, str]], name: str) -> None:
    """Warn that trees are left out, and name the lines of the first few."""
    named = [
        (f"line {first}" if first == last else f"lines {first} to {last}") + f" ({what})"
        for first, last, what in sorted(bad)[:_N_NAMED]
    ]
    if len(bad) > _N_NAMED:
        named.append("...")
    warnings.warn(
        f"{name or 'The file'}: {len(bad)} malformed {'trees are' if len(bad) > 1 else 'tree is'} "
        f"left out: {', '.join(named)}.",
        stacklevel=3,
    )


@contextmanager
def _open_text(file: Any, encoding: str) -> Iterator[IO[str]]:
    if not isinstance(file, str | os.PathLike) and not hasattr(file, "read"):
        # `open` takes integers as open files, and would close them.
        raise TypeError(f"file must be a path or an open file, got {type(file).__name__}.")
    if isinstance(file, str) and file.lstrip().startswith("("):
        raise ValueError(
            f"file must be a path or an open file, got trees, {shorten(file)}: use "
            "ParseTree.from_brackets for one, and io.StringIO(text) for several."
        )
    try:
        if not hasattr(file, "read"):
            with open(file, encoding=encoding) as opened:
                yield opened
        elif isinstance(file.read(0), str):
            yield file
        else:
            text = io.TextIOWrapper(file, encoding=encoding)
            try:
                yield text
            finally:
                text.detach()  # otherwise it would close the caller's file
    except UnicodeDecodeError as error:
        error.reason += f" in {_name_of(file) or 'file'}: give its encoding, or gzip.open(file)"
        raise
