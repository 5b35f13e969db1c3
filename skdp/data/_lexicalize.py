"""Lexicalized parse trees, whose nodes have head words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.data._head_rules import HeadFinder
from skdp.data._parse_tree import ParseTree, name_other


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
    return LexicalizedNodes(
        np.array(nodes.labels, dtype=object),
        np.array(nodes.tags, dtype=object),
        np.array(nodes.words, dtype=object),
        np.array(nodes.parents),
        np.array(nodes.heads),
        np.array(spikes),
    )


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
