"""Decisions by which a lexicalized parse tree is generated, as rows of categories."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skdp._checks import check_unmasked, is_list_like, shorten
from skdp.data._brackets import as_in_treebanks
from skdp.data._head_rules import HeadFinder, category_of
from skdp.data._lexicalize import NodeLists, read_nodes
from skdp.data._parse_tree import ParseTree, name_other

STOP = "STOP"
"""The outcome that ends the modifiers on one side of a head."""

NULL = "-"
"""Symbol of the null elaboration."""


class Event(NamedTuple):
    """A kind of event from table 2.1 of the source, see `extract_events`."""

    site: str
    """Kind of the sites of the event in a tree: "root", "head" (child) or "modifier"."""
    outcome: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]


# The name of a feature is its kind (label, tag, word, semantic head or arguments), then its owner:
# the constituent being generated (no suffix, or m), its parent (p) or its sister head (h).
EVENTS = {
    "root1": Event("root", ("l", "t"), (("s",), ("sa",))),
    "root2": Event("root", ("w",), (("t", "s"), ("l",), ("sa",))),
    "head_sem": Event("head", ("s", "sa"), (("s_p", "l_p"), ("t_h", "sa_p"), ("w_h",))),
    "unary": Event("head", ("l",), (("s", "l_p"), ("s_p", "t_h", "sa_h"), ("sa_p",), ("w_p",))),
    "mod_sem": Event(
        "modifier",
        ("s", "sa"),
        (("s_p", "l_p"), ("s_h", "l_h", "dist"), ("t_h", "sa_p", "sa_h"), ("w_h",)),
    ),
    "mod1": Event(
        "modifier",
        ("l", "t"),
        # The table prints sa_p twice in the third level; by analogy with mod2, the second is sa_h.
        (("l_p", "s"), ("l_h", "s_p", "s_h", "dist"), ("t_h", "sa_m", "sa_p", "sa_h"), ("w_h",)),
    ),
    "mod2": Event(
        "modifier",
        ("w",),
        (
            ("t", "s"),
            ("l", "l_p", "l_h", "s_p", "s_h", "dist"),
            ("t_h", "sa_m", "sa_p", "sa_h"),
            ("w_h",),
        ),
    ),
}

SYNTACTIC = ("root1", "root2", "unary", "mod1", "mod2")
"""The events of a tree without annotations, in the order in which they generate it."""

_WHOSE = {"": "node", "m": "node", "p": "parent", "h": "head"}
_SEMANTIC = ("s", "sa")


def extract_events(
    trees: Any,
    event: str,
    *,
    head_rules: Any = "collins",
    stop: bool = True,
    annotations: Any = None,
) -> Bunch:
    r"""Extract the events of one kind from parse trees: outcomes, and the contexts they depend on.

    A lexicalized tree is generated from its root downwards ([1]_; [2]_, table 2.1): first the
    label, tag and head word of the root; then, for each phrase, the label of its head child, which
    inherits tag and word; then its modifiers to the left and to the right, from the head outwards,
    each with label, tag and word. Each of these decisions is a classification: an outcome given a
    context of categories, ordered by importance.

    Parameters
    ----------
    trees : list of n_trees ParseTree or str
        Parse trees, or their bracketed text. Every word is the only child of its node, its tag.
    event : {"root1", "root2", "head_sem", "unary", "mod_sem", "mod1", "mod2"}
        Kind of the events. "root1": label and tag of the root; "root2": its word; "unary": label of
        a head child; "mod1": label and tag of a modifier; "mod2": its word. "head_sem" and
        "mod_sem": the semantics of a head child or a modifier, which need `annotations`.
    head_rules : {"collins", "first", "last"} or dict, default="collins"
        Rules for the head child of a phrase, see :func:`skdp.grammar.head_children`.
    stop : bool, default=True
        Whether the modifiers of a head end with the outcome "STOP" on each side. Without it the
        product of all events is not a distribution over trees.
    annotations : list of n_trees lists of (str, str) or None, default=None
        The semantics of each node: predicate (s) and arguments (sa), for the nodes of each tree in
        the order of `ParseTree.subtrees`. None instead of a pair stands for no semantics, written
        ("-", "-"). Strings must not be empty or contain white space.

    Returns
    -------
    Bunch
        With

        - X : (n_events, n_features) array of str objects: the contexts;
        - y : (n_events,) array of str objects: the outcomes;
        - levels : list of lists of columns of X, the most important level first;
        - feature_names : list of n_features str;
        - tree_index : (n_events,) array of int: the tree of each event.

        Events are in the order of trees, nodes (parents first), sides (left first), and outwards.

    Raises
    ------
    TypeError
        If a tree is neither a ParseTree nor a str, or an annotation is not a pair of str.
    ValueError
        If there are no trees or a word has siblings, if `event` or `head_rules` is unknown, if
        annotations do not fit the trees, or if a semantic event has none.

    See Also
    --------
    LexicalizedEventModel : Probabilities of trees from classifiers of their events.
    skdp.grammar.lexicalize : Head words of the nodes of a tree.

    Notes
    -----
    Features are named as in the table: l, t, w, s and sa are label, tag, word, predicate and
    arguments of the generated constituent; the suffix "_p" denotes its parent, "_h" the head. In
    "head_sem" and "unary" the head itself is generated; t_h and w_h are inherited from its parent.
    "sa_m" refers to the modifier. "dist" is Collins' distance: the side, "left" or "right";
    ",adjacent" if nothing stands between the head and the modifier (or STOP); ",verb" if there is a
    verb between them, a word whose tag is MD, VERB or AUX or begins with VB.

    Two outcomes of one event are joined by a space, as in "NP NN": labels have no white space, so
    the str can be split, and scikit-learn accepts strings as classes, but not tuples.

    Without annotations the semantic features are left out, and so are levels without other
    features. Then "root1" has no columns. With annotations, the semantics of a modifier are
    generated before its label, so "mod_sem" has the outcome STOP and "mod1" does not; without
    annotations "mod1" has it. "mod2" never has it. Labels keep their function tags as outcomes;
    remove these with `ParseTree.map_labels` for coarse labels.

    The table prints sa_p twice in the third level of "mod1"; the second is read as sa_h.

    References
    ----------
    .. [1] M. Collins, "Head-driven statistical models for natural language parsing", Computational
       Linguistics 29, 2003.
    .. [2] C. R. Dawson, "Modeling and unsupervised learning of structured similarity among source
       contexts in Bayesian hierarchical infinite mixture models", dissertation, University of
       Arizona, 2015, chapter 2.

    Examples
    --------
    >>> from skdp.context import extract_events
    >>> events = extract_events(["(S (NP (DT the) (NN cat)) (VP (VBD sat)))"], "mod1")
    >>> events.feature_names, events.levels
    (['l_p', 'l_h', 'dist', 't_h', 'w_h'], [[0], [1, 2], [3], [4]])
    >>> for x, y in zip(events.X[:3], events.y):
    ...     print(*x, "->", y)
    S VP left,adjacent VBD sat -> NP NN
    S VP left VBD sat -> STOP
    S VP right,adjacent VBD sat -> STOP
    """
    if not isinstance(event, str) or event not in EVENTS:
        raise ValueError(f"event must be one of {', '.join(EVENTS)}; got {shorten(event)}.")
    if not isinstance(stop, bool | np.bool_):
        raise ValueError(f"stop must be True or False, got {shorten(stop)}.")
    if annotations is None and EVENTS[event].outcome == _SEMANTIC:
        raise ValueError(
            f"event={event!r} needs annotations: a list of (s, sa) for the nodes of each tree."
        )
    return LexicalizedTrees(trees, head_rules, annotations).extract(event, stop=bool(stop))


class LexicalizedTrees:
    """Concatenated nodes of several trees, and the sites of their events; see `extract_events`."""

    def __init__(self, trees: Any, head_rules: Any, annotations: Any = None):
        finder = HeadFinder(head_rules)
        checked = check_trees(trees)
        self.n_trees = len(checked)
        self.trees = [_read(i, tree, finder) for i, tree in enumerate(checked)]
        self._has_semantics = annotations is not None
        if self._has_semantics:
            pairs = _check_annotations(annotations, self.trees)
        labels, tags, words = (
            [text for tree in self.trees for text in texts(tree)]
            for texts in (
                lambda t: t.labels,
                lambda t: t.tags,
                lambda t: map(as_in_treebanks, t.words),
            )
        )
        self._features = {"l": _objects(labels), "t": _objects(tags), "w": _objects(words)}
        if self._has_semantics:
            self._features["s"] = _objects([pair[0] for pair in pairs])
            self._features["sa"] = _objects([pair[1] for pair in pairs])
        self._offsets = list(accumulate((len(tree.labels) for tree in self.trees), initial=0))
        self.n_words = sum(head < 0 for tree in self.trees for head in tree.heads)

    def extract(self, event: str, *, stop: bool = True) -> Bunch:
        """Return the events of one kind, as `extract_events` does."""
        site, outcome, levels = EVENTS[event]
        may_stop = outcome == (_SEMANTIC if self._has_semantics else ("l", "t"))
        sites = self._find_sites(site, stop=stop and may_stop)
        names = [[name for name in level if self._is_known(name)] for level in levels]
        names = [level for level in names if level]
        flat = [name for level in names for name in level]
        X = np.empty((len(sites.tree), len(flat)), dtype=object)
        for column, name in enumerate(flat):
            X[:, column] = self._look_up(name, sites)
        first, *second = (self._features[name] for name in outcome)
        y = first[sites.node]
        for other in second:
            y = y + " " + other[sites.node]
        y[sites.node < 0] = STOP
        ends = np.cumsum([len(level) for level in names]).tolist()
        return Bunch(
            X=X,
            y=y,
            levels=[
                list(range(end - len(level), end)) for level, end in zip(names, ends, strict=True)
            ],
            feature_names=flat,
            tree_index=sites.tree,
        )

    def find_label_that_is_a_tag(self) -> tuple[int, str] | None:
        """Return the index of a tree and the label of a phrase in it that equals its head's tag."""
        for i, tree in enumerate(self.trees):
            for label, tag, head in zip(tree.labels, tree.tags, tree.heads, strict=True):
                if head >= 0 and label == tag:
                    return i, label
        return None

    def _is_known(self, name: str) -> bool:
        return name == "dist" or name.partition("_")[0] in self._features

    def _look_up(self, name: str, sites: _Sites) -> NDArray[Any]:
        """Return a feature at each site."""
        if name == "dist":
            return sites.dist
        what, _, whose = name.partition("_")
        return np.asarray(self._features[what][getattr(sites, _WHOSE[whose])])

    def _find_sites(self, kind: str, *, stop: bool) -> _Sites:
        rows: list[tuple[int, int, int, int, str]] = []
        for i, (tree, offset) in enumerate(zip(self.trees, self._offsets, strict=False)):
            if kind == "root":
                rows.append((i, offset, -1, -1, ""))
            elif kind == "head":
                pairs = [(offset + p, offset + h) for p, h in enumerate(tree.heads) if h >= 0]
                rows += [(i, head, parent, head, "") for parent, head in pairs]
            else:
                rows += _modifiers(tree, i, offset, stop)
        places = np.array([row[:4] for row in rows], dtype=np.int64).reshape(-1, 4)
        tree_index, nodes, parents, heads = places.T
        return _Sites(tree_index, nodes, parents, heads, _objects([row[4] for row in rows]))


class _Sites(NamedTuple):
    """Sites of events of one kind, as indices of nodes among those of all trees."""

    tree: NDArray[np.int64]
    node: NDArray[np.int64]
    """The generated node; -1 for STOP."""
    parent: NDArray[np.int64]
    head: NDArray[np.int64]
    dist: NDArray[Any]


def _modifiers(
    tree: NodeLists, number: int, offset: int, stop: bool
) -> list[tuple[int, int, int, int, str]]:
    """Return the sites of the modifiers of a tree."""
    has_verb = _find_verbs(tree)
    rows = []
    for parent, (children, head) in enumerate(zip(tree.children, tree.heads, strict=True)):
        if head < 0:
            continue
        place = children.index(head)
        at_head = offset + parent, offset + head
        for side, modifiers in (("left", children[:place][::-1]), ("right", children[place + 1 :])):
            dist = f"{side},adjacent"
            passed_verb = False
            for modifier in modifiers:
                rows.append((number, offset + modifier, *at_head, dist))
                passed_verb = passed_verb or has_verb[modifier]
                dist = f"{side},verb" if passed_verb else side
            if stop:
                rows.append((number, -1, *at_head, dist))
    return rows


def _find_verbs(tree: NodeLists) -> list[bool]:
    """Return for each node whether a word below it is a verb."""
    has_verb = [False] * len(tree.labels)
    for node in range(len(tree.labels) - 1, -1, -1):  # children come after their parents
        if tree.heads[node] < 0:
            category = category_of(tree.labels[node])
            has_verb[node] = category.startswith("VB") or category in ("MD", "VERB", "AUX")
        if has_verb[node] and (parent := tree.parents[node]) >= 0:
            has_verb[parent] = True
    return has_verb


def _objects(items: list[Any]) -> NDArray[Any]:
    return np.array(items, dtype=object)


def check_trees(trees: Any, name: str = "trees") -> list[ParseTree]:
    """Return a list of parse trees, after parsing bracketed text."""
    if not (is_list_like(trees) or hasattr(trees, "__next__")):
        raise TypeError(
            f"{name} must be a list of ParseTree or of bracketed text, got "
            f"{type(trees).__name__}: pass a single tree as a list of one."
        )
    check_unmasked(trees, name)
    checked = []
    for i, tree in enumerate(trees):
        if isinstance(tree, str):
            try:
                tree = ParseTree.from_brackets(tree)
            except ValueError as error:
                raise ValueError(f"Tree {i}: {error}") from error
        if not isinstance(tree, ParseTree):
            raise TypeError(name_other(tree, f"Tree {i}", "a ParseTree or bracketed text"))
        checked.append(tree)
    if not checked:
        raise ValueError(f"{name} must hold at least one tree.")
    return checked


def _read(number: int, tree: ParseTree, finder: HeadFinder) -> NodeLists:
    try:
        return read_nodes(tree, finder)
    except ValueError as error:
        raise ValueError(f"Tree {number}: {error}") from None


def _check_annotations(annotations: Any, trees: list[NodeLists]) -> list[tuple[str, str]]:
    """Return a pair for every node of all trees."""
    if not isinstance(annotations, list | tuple) or len(annotations) != len(trees):
        raise ValueError(
            f"annotations must be a list with one entry for each of {len(trees)} trees, got "
            f"{shorten(annotations)}."
        )
    pairs = []
    for i, (tree, entry) in enumerate(zip(trees, annotations, strict=True)):
        if not isinstance(entry, list | tuple) or len(entry) != len(tree.labels):
            raise ValueError(
                f"annotations of tree {i} must be a list of {len(tree.labels)} pairs (s, sa), one "
                f"for each node, got {shorten(entry)}."
            )
        pairs += [_check_pair(pair, i, node) for node, pair in enumerate(entry)]
    return pairs


def _check_pair(pair: Any, tree: int, node: int) -> tuple[str, str]:
    if pair is None:
        return NULL, NULL
    where = f"The annotation of node {node} of tree {tree}"
    if (
        not isinstance(pair, list | tuple)
        or len(pair) != 2
        or not all(isinstance(text, str) for text in pair)
    ):
        raise TypeError(f"{where} must be a pair of str, or None, got {shorten(pair)}.")
    if not all(len(text.split()) == 1 and text == text.strip() for text in pair):
        raise ValueError(f"{where} must not be empty or have white space, got {shorten(pair)}.")
    return pair[0], pair[1]
