"""Trees with at most two children a node, and back."""

from __future__ import annotations

from skdp.data._parse_tree import ParseTree, name_other

MARK = "@"
"""What labels of intermediate nodes begin with."""


def binarize(tree: ParseTree) -> ParseTree:
    """Return a tree in which no node has more than two children.

    All children of a node X but the first move below a new node @X, the X-bar of the literature,
    and so on: ``(X a b c d)`` becomes ``(X a (@X b (@X c d)))`` ([1]_, section 5.3). Chains of
    nodes with one child stay, except that a node whose only child is a node with the same label is
    dropped, because the rule X -> X carries no information.

    Parameters
    ----------
    tree : ParseTree
        Its labels must not begin with "@".

    Returns
    -------
    ParseTree

    Raises
    ------
    ValueError
        If a label begins with "@".

    See Also
    --------
    debinarize : Removes the intermediate nodes again.

    References
    ----------
    .. [1] P. Liang, M. I. Jordan and D. Klein, "Probabilistic grammars and hierarchical Dirichlet
       processes", The Oxford Handbook of Applied Bayesian Analysis, 2010.

    Examples
    --------
    >>> from skdp.grammar import ParseTree, binarize, debinarize
    >>> tree = ParseTree.from_brackets("(NP (DT the) (JJ big) (JJ black) (NN cat))")
    >>> binarize(tree)
    <ParseTree (NP (DT the) (@NP (JJ big) (@NP (JJ black) (NN cat))))>
    >>> debinarize(binarize(tree)) == tree
    True
    """
    _check_tree(tree)
    stack: list[ParseTree | str] = []
    for item in tree._flat():
        if isinstance(item, str):
            stack.append(item)
            continue
        label, n = item
        if label.startswith(MARK):
            raise ValueError(f"Labels must not begin with {MARK!r} before binarization: {label!r}.")
        children = stack[-n:]
        del stack[-n:]
        only = children[0]
        if n == 1 and isinstance(only, ParseTree) and only.label == label:
            stack.append(only)
            continue
        while len(children) > 2:
            children[-2:] = [ParseTree._make(MARK + label, tuple(children[-2:]))]
        stack.append(ParseTree._make(label, tuple(children)))
    return stack[0]  # type: ignore[return-value]  # the root, never a word


def debinarize(tree: ParseTree) -> ParseTree:
    """Return a tree with its intermediate nodes replaced by their children.

    This undoes `binarize`, except that the nodes X -> X that it dropped are not restored.

    Parameters
    ----------
    tree : ParseTree
        Nodes whose label begins with "@" are intermediate; the root must not be.

    Returns
    -------
    ParseTree

    Raises
    ------
    ValueError
        If the root is an intermediate node.

    See Also
    --------
    binarize : Inserts the intermediate nodes.

    Examples
    --------
    >>> from skdp.grammar import ParseTree, debinarize
    >>> debinarize(ParseTree.from_brackets("(NP (DT the) (@NP (JJ big) (NN cat)))"))
    <ParseTree (NP (DT the) (JJ big) (NN cat))>
    """
    _check_tree(tree)
    if tree.label.startswith(MARK):
        raise ValueError(f"The root must not be an intermediate node, got {tree.label!r}.")
    stack: list[
        list[ParseTree | str]
    ] = []  # what stands in the place of a node: it or its children
    for item in tree._flat():
        if isinstance(item, str):
            stack.append([item])
            continue
        label, n = item
        children = [child for part in stack[-n:] for child in part]
        del stack[-n:]
        if label.startswith(MARK):
            stack.append(children)
        else:
            stack.append([ParseTree._make(label, tuple(children))])
    return stack[0][0]  # type: ignore[return-value]  # the root, never a word


def _check_tree(tree: object) -> None:
    if not isinstance(tree, ParseTree):
        raise TypeError(name_other(tree, "tree"))
