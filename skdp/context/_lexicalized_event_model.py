"""The events that generate lexicalized parse trees, and probabilities of trees from classifiers."""

from __future__ import annotations

from inspect import signature
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_floats, check_unmasked, is_list_like, naming, shorten
from skdp._sklearn_compat import EstimatorMixin, HasMethods, StrOptions, validate_parameters
from skdp.data._binarize import NodeLists, read_nodes
from skdp.data._parse_tree import HeadFinder, ParseTree, as_in_treebanks, category_of, name_other

# Events: decisions by which a parse tree is generated, as rows of categories.


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
        self.trees = []
        for i, tree in enumerate(checked):
            with naming(f"Tree {i}"):
                self.trees.append(read_nodes(tree, finder))
        self._has_semantics = annotations is not None
        if self._has_semantics:
            pairs = _check_annotations(annotations, self.trees)
        words = (as_in_treebanks(word) for tree in self.trees for word in tree.words)
        self._features = {
            "l": _objects([label for tree in self.trees for label in tree.labels]),
            "t": _objects([tag for tree in self.trees for tag in tree.tags]),
            "w": _objects(list(words)),
        }
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
        known = {*self._features, "dist"}
        names = [[name for name in level if name.partition("_")[0] in known] for level in levels]
        names = [level for level in names if level]
        flat = [name for level in names for name in level]
        X = np.empty((len(sites.tree), len(flat)), dtype=object)
        for column, name in enumerate(flat):
            if name == "dist":
                X[:, column] = sites.dist
                continue
            what, _, whose = name.partition("_")
            X[:, column] = self._features[what][getattr(sites, _WHOSE[whose])]
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
            with naming(f"Tree {i}"):
                tree = ParseTree.from_brackets(tree)
        if not isinstance(tree, ParseTree):
            raise TypeError(name_other(tree, f"Tree {i}", "a ParseTree or bracketed text"))
        checked.append(tree)
    if not checked:
        raise ValueError(f"{name} must hold at least one tree.")
    return checked


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
        for node, given in enumerate(entry):
            pair = (NULL, NULL) if given is None else given
            where = f"The annotation of node {node} of tree {i}"
            is_pair = isinstance(pair, list | tuple) and len(pair) == 2
            if not is_pair or not all(isinstance(text, str) for text in pair):
                raise TypeError(f"{where} must be a pair of str, or None, got {shorten(pair)}.")
            if not all(len(text.split()) == 1 and text == text.strip() for text in pair):
                raise ValueError(
                    f"{where} must not be empty or have white space, got {shorten(pair)}."
                )
            pairs.append((pair[0], pair[1]))
    return pairs


# Probabilities of trees, from classifiers of their events.

BLOCK = 2**22
"""Largest number of probabilities per call of a classifier, rows times classes."""

_ROUNDING = 1e-6
"""Tolerance by which probabilities in single precision may exceed 1."""


class LexicalizedEventModel(EstimatorMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Probabilities of parse trees, from classifiers of the decisions that generate them.

    A tree is generated from its root downwards by the events "root1", "root2", "unary", "mod1" and
    "mod2" of :func:`extract_events`. A classifier is fitted to the events of each kind, and the
    probability of a tree is the product over all of its events:

    .. math::

       p(\mathrm{tree}) = \prod_e p(y_e \mid x_e)

    Use it to rank the parses that a parser proposes for a sentence, or to compare classifiers by
    the probabilities of whole trees.

    Parameters
    ----------
    classifier : estimator
        Classifier with ``predict_proba`` of rows of categories (an object array of str), for
        instance a pipeline that begins with an encoder. One clone is fitted per kind of event. If
        it has a parameter `levels`, which must be None or "auto", the clones are given the levels
        of their events instead.
    head_rules : {"collins", "first", "last"} or dict, default="collins"
        Rules for the head child of a phrase, see :func:`skdp.grammar.head_children`.

    Attributes
    ----------
    classifiers_ : dict of str to classifier
        Fitted clones by the name of the event. If all events of a kind have the same outcome, it is
        scikit-learn's ``DummyClassifier``, because many classifiers refuse a single class. It gives
        this outcome the probability 1, and has `classes_` and ``predict_proba``, but no other
        attributes and methods of `classifier`, such as ``score_samples``. A kind of event that does
        not occur in the training trees has none.

    See Also
    --------
    extract_events : The events.
    HDPBackoffClassifier, CollinsBackoffClassifier : Classifiers for them.
    skdp.grammar.HDPPCFGRefiner : A parser.

    Notes
    -----
    An outcome that is not among the classes of its classifier has probability 0, and so has a tree
    with such an outcome: the logarithm is -inf. Unless the classifier has more classes than the
    training data, replace rare words by classes in the trees of both `fit` and `score_samples`
    (`ParseTree.with_leaves`). The classifier has to handle unseen contexts: an encoder must not
    refuse them (``handle_unknown``).

    If the classifier's ``score_samples(X, y)`` has two arguments, it supplies the logarithms of
    p(y | x), which avoids computing the probabilities of all words. "root1" has no context here;
    its classifier is given one constant column.

    The modifiers on each side end with STOP, so the probabilities of all ways to generate a tree
    sum to at most 1, and to less than 1 if generation may never end. Some probability also goes to
    trees in which `head_rules` would find another head, so the sum over consistent trees may be
    smaller. A phrase with the label of its head's tag is refused, because a spike ends when the
    label is the tag.

    References
    ----------
    .. [1] M. Collins, "Head-driven statistical models for natural language parsing", Computational
       Linguistics 29, 2003.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from skdp.context import LexicalizedEventModel
    >>> trees = [
    ...     "(S (NP (PRP she)) (VP (VBD saw) (NP (NN fish))))",
    ...     "(S (NP (PRP he)) (VP (VBD ate) (NP (NN fish)) (PP (IN with) (NP (NN salt)))))",
    ...     "(S (NP (PRP he)) (VP (VBD saw) (NP (NP (NN salt)) (PP (IN with) (NP (NN fish))))))",
    ... ]
    >>> encoder = OneHotEncoder(handle_unknown="ignore")
    >>> model = LexicalizedEventModel(make_pipeline(encoder, LogisticRegression())).fit(trees)
    >>> candidates = [
    ...     "(S (NP (PRP she)) (VP (VBD ate) (NP (NN fish)) (PP (IN with) (NP (NN salt)))))",
    ...     "(S (NP (PRP she)) (VP (VBD ate) (NP (NP (NN fish)) (PP (IN with) (NP (NN salt))))))",
    ... ]
    >>> model.score_samples(candidates).argmax()
    np.int64(0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "classifier": [HasMethods(["fit", "get_params", "predict_proba"])],
        "head_rules": [StrOptions({"collins", "first", "last"}), dict],
    }

    def __init__(self, classifier: Any, *, head_rules: Any = "collins"):
        self.classifier = classifier
        self.head_rules = head_rules

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a classifier to the events of each kind.

        Parameters
        ----------
        X : sequence of n_trees ParseTree or str
            Parse trees, or their bracketed text. Every word is the only child of its node, its tag.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X or a parameter is invalid, a phrase has the label of its head's tag, or the
            classifier refuses its events.
        """
        if isinstance(self.classifier, type):
            raise TypeError(
                f"classifier must be an object, got the class {self.classifier.__name__}: write "
                f"LexicalizedEventModel({self.classifier.__name__}(...))."
            )
        validate_parameters(self)
        levels = self.classifier.get_params(deep=False).get("levels")
        if levels is not None and not (isinstance(levels, str) and levels == "auto"):
            raise ValueError(
                "The parameter levels of classifier must be None or 'auto': each kind of event has "
                "its own."
            )
        trees = self._read(X)
        fitted = {}
        for event in SYNTACTIC:
            events = _extract(trees, event)
            if len(events.y) > 0:
                fitted[event] = _fit(self.classifier, events, event)
        self.classifiers_ = fitted
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log probability of each tree, which includes its words.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_trees,) array
            Natural logarithms; -inf if an outcome of a tree is not among the classes of its
            classifier.
        """
        check_is_fitted(self)
        return self._score(self._read(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log probability of trees per word: higher is better.

        Parameters
        ----------
        X : as in `fit`
        y : ignored

        Returns
        -------
        float
        """
        check_is_fitted(self)
        trees = self._read(X)
        return float(self._score(trees).sum() / trees.n_words)

    def _score(self, trees: LexicalizedTrees) -> NDArray[np.float64]:
        total = np.zeros(trees.n_trees)
        for event in SYNTACTIC:
            events = _extract(trees, event)
            logs = _log_probabilities(self.classifiers_.get(event), events.X, events.y)
            total += np.bincount(events.tree_index, logs, trees.n_trees)
        return total

    def _read(self, X: Any) -> LexicalizedTrees:
        if hasattr(X, "__next__"):
            raise TypeError(f"X must be a sequence of trees, got {type(X).__name__}: pass list(X).")
        trees = LexicalizedTrees(check_trees(X, "X"), self.head_rules)
        for i, tree in enumerate(trees.trees):
            for label, tag, head in zip(tree.labels, tree.tags, tree.heads, strict=True):
                if head >= 0 and label == tag:
                    raise ValueError(
                        f"Tree {i}: a phrase has the label {label!r}, which is the tag of its "
                        "head, too. Phrases and tags need different labels: see "
                        "ParseTree.map_labels."
                    )
        return trees


def _extract(trees: LexicalizedTrees, event: str) -> Bunch:
    """Return the events of one kind, with a constant context if they have none."""
    events = trees.extract(event)
    if not events.feature_names:
        events.X, events.levels = np.full((len(events.y), 1), "", dtype=object), [[0]]
    return events


def _fit(classifier: Any, events: Bunch, name: str) -> Any:
    if np.all(events.y == events.y[0]):  # many classifiers refuse a single class
        return DummyClassifier().fit(events.X, events.y)
    own = clone(classifier)
    if "levels" in own.get_params(deep=False):
        own.set_params(levels=events.levels)
    try:
        own.fit(events.X, events.y)
    except Exception as error:
        error.add_note(f"The classifier was fitted to {len(events.y)} events {name!r}.")
        raise
    if not hasattr(own, "classes_"):
        raise TypeError(
            f"classifier must have the attribute classes_ after its fit; {type(own).__name__} has "
            "none."
        )
    return own


def _log_probabilities(classifier: Any, X: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
    """Return log p(y | x) of each row: -inf if y is not a class of the classifier."""
    logs = np.full(len(y), -np.inf)
    if classifier is None:
        return logs
    codes = {outcome: code for code, outcome in enumerate(classifier.classes_)}
    columns = np.array([codes.get(outcome, -1) for outcome in y], dtype=np.int64)
    known = np.flatnonzero(columns >= 0)
    method = getattr(classifier, "score_samples", None)
    scores_outcomes = method is not None and {"X", "y"} <= set(signature(method).parameters)
    if scores_outcomes and len(known) > 0:
        scores = classifier.score_samples(X[known], y[known])
        logs[known] = _check_result(scores, known.shape, -np.inf, 0.0, classifier, "score_samples")
        return logs
    size = max(1, BLOCK // len(codes))
    for begin in range(0, len(known), size):
        rows = known[begin : begin + size]
        shape = len(rows), len(codes)
        probabilities = _check_result(
            classifier.predict_proba(X[rows]), shape, 0.0, 1.0, classifier, "predict_proba"
        )
        with np.errstate(divide="ignore"):
            logs[rows] = np.log(probabilities[np.arange(len(rows)), columns[rows]])
    return logs


def _check_result(
    values: Any, shape: tuple[int, ...], low: float, high: float, classifier: Any, method: str
) -> NDArray[np.float64]:
    """Return the result of a classifier's method as an array, after checking shape and range."""
    name = f"classifier: the result of {type(classifier).__name__}.{method}"
    array = as_floats(values, name)
    if array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, got {array.shape}.")
    wrong = ~((array >= low) & (array <= high + _ROUNDING))
    if wrong.any():
        raise ValueError(
            f"{name} must hold numbers from {low:g} to {high:g}, got {array[wrong][0]:g}."
        )
    return array
