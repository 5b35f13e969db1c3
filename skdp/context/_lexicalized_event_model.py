"""Probabilities of lexicalized parse trees, from classifiers of their events."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_floats
from skdp._sklearn_compat import EstimatorMixin, HasMethods, StrOptions, validate_parameters
from skdp.context._events import SYNTACTIC, LexicalizedTrees, check_trees

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
        if (found := trees.find_label_that_is_a_tag()) is not None:
            raise ValueError(
                f"Tree {found[0]}: a phrase has the label {found[1]!r}, which is the tag of its "
                "head, too. Phrases and tags need different labels: see ParseTree.map_labels."
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
    if _scores_outcomes(classifier) and len(known) > 0:
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


def _scores_outcomes(classifier: Any) -> bool:
    """Return whether a classifier has ``score_samples(X, y)`` for outcomes given contexts."""
    method = getattr(classifier, "score_samples", None)
    return method is not None and {"X", "y"} <= set(inspect.signature(method).parameters)
