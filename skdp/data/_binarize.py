"""Conversion of trees to at most two children per node, and back."""

from __future__ import annotations

from collections.abc import Sequence

from skdp._checks import check_count
from skdp.data._brackets import Item
from skdp.data._parse_tree import ParseTree, _build, name_other

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
            label = _without_ancestors(label, vertical)
        stack.append([ParseTree._make(label, tuple(children))])
    return stack[0][0]  # type: ignore[return-value]  # the root, never a word


def _without_ancestors(label: str, order: int) -> str:
    plain = label.partition(ABOVE)[0]
    if not plain:
        raise ValueError(
            f"Labels must not begin with {ABOVE!r} with vertical_order={order}: {label!r}."
        )
    return plain


def _check_tree(tree: object) -> None:
    if not isinstance(tree, ParseTree):
        raise TypeError(name_other(tree, "tree"))
