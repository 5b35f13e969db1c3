"""Base class of all back-off classifiers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skdp._checks import MAX_INTEGER, as_array, check_memory, shorten
from skdp._numeric import Floats, Ints, Places
from skdp.context._backoff._columns import (
    ContextTree,
    GapColumn,
    are_numbers,
    check_classes,
    check_labels,
    check_levels,
    describe_column,
    read_columns,
)
from skdp.context._backoff._pool import BackoffStep, PoolPredictor, TreePredictor
from skdp.data._coding import Values

_CELLS_AT_ONCE = 2**24
"""Largest number of probabilities that `predict` keeps in memory."""


class TrainingEvents(NamedTuple):
    """Training events, of which those with a positive count occurred."""

    values: list[Values]  # all columns of X
    labels: NDArray[Any]  # (n_rows,)
    counts: Places  # (n_rows,)
    classes: NDArray[Any]
    names: NDArray[Any] | None  # of the columns of X

    @classmethod
    def read(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> TrainingEvents:
        """Return the training events of an estimator, which records the columns of X."""
        labels, classes = read_labels(estimator, y)
        values = read_columns(estimator, X, reset=True)
        check_consistent_length(values[0], labels)
        counts = check_counts(sample_weight, len(labels))
        names = getattr(estimator, "feature_names_in_", None)
        return cls(values, labels, counts, classes, names)

    def encode(
        self, places: Iterable[int]
    ) -> tuple[list[GapColumn], list[Places], Places, Places, NDArray[Any]]:
        """Return columns by index, codes of the rows that occurred, outcomes, counts, classes."""
        occurred = self.counts > 0
        columns, codes = [], []
        for place in places:
            described = describe_column(place, self.names)
            column, found = GapColumn.of(self.values[place][occurred], described)
            columns.append(column)
            codes.append(found)
        outcomes = np.searchsorted(self.classes, self.labels[occurred])
        return columns, codes, outcomes, self.counts[occurred], self.classes


def read_labels(estimator: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the labels that an estimator learns from, and its classes."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    labels = check_labels(y)
    classes = check_classes(labels, estimator.classes)
    lacks = np.setdiff1d(labels, classes).tolist()
    if lacks:
        raise ValueError(f"classes must hold all labels of y; it lacks {shorten(lacks)}.")
    return labels, classes


def take_columns(estimator: Any, reader: Any) -> None:
    """Set the number and names of columns that a clone of the estimator has read."""
    estimator.__dict__.pop("feature_names_in_", None)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(reader, name):
            setattr(estimator, name, getattr(reader, name))


class ContextClassifier(ClassifierMixin):
    """Mixin with the public methods that follow from probabilities of the classes in contexts."""

    classes: Any
    classes_: NDArray[Any]

    def _find(self, X: Any) -> Any:
        """Look up the contexts in the rows of X."""
        raise NotImplementedError

    def _distributions(self, contexts: Any) -> Floats:
        """Return the distributions of the classes in contexts, which may be found as such."""
        return np.asarray(contexts)

    def _probabilities(self, contexts: Any, outcomes: Ints) -> Floats:
        """Return the probabilities of outcomes in contexts."""
        return np.asarray(self._distributions(contexts)[np.arange(len(outcomes)), outcomes])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class in the context of each row."""
        return self._distributions(self._find(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the log probability of each class in the context of each row.

        Parameters
        ----------
        X : as in `predict_proba`

        Returns
        -------
        (n_samples, n_classes) array
            In the order of `classes_`. Natural logarithms.
        """
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class in the context of each row.

        Parameters
        ----------
        X : as in `predict_proba`

        Returns
        -------
        (n_samples,) array
        """
        places = self._most_probable(self._find(X))
        return np.asarray(self.classes_[places])

    def _most_probable(self, contexts: Any) -> Ints:
        step = max(_CELLS_AT_ONCE // len(self.classes_), 1)
        parts = [contexts[i : i + step] for i in range(0, len(contexts), step)]
        found = [np.argmax(self._distributions(part), axis=1) for part in parts]
        return np.concatenate(found).astype(np.int32)

    def score_samples(self, X: Any, y: ArrayLike | None = None) -> Floats:
        """Return the log probability of the class of each row, given its context.

        Their mean is what ``scoring="neg_log_loss"`` of a grid search maximizes.

        Parameters
        ----------
        X : as in `predict_proba`
        y : (n_samples,) array-like or None, default=None
            Labels, each one of `classes_`. None: the predictions of `predict`, so that the values
            measure their certainty.

        Returns
        -------
        (n_samples,) array
            Natural logarithms.

        Raises
        ------
        ValueError
            If a label is not in `classes_`; pass all possible labels by the parameter `classes`.
        """
        contexts = self._find(X)
        outcomes = self._most_probable(contexts) if y is None else self._find_outcomes(y)
        check_consistent_length(contexts, outcomes)
        return np.log(self._probabilities(contexts, outcomes))

    def _find_outcomes(self, y: Any) -> Ints:
        """Return the indices of labels in the classes."""
        labels = check_labels(y)
        if are_numbers(labels) != are_numbers(self.classes_):
            raise ValueError(
                "y must hold labels of the kind of classes_, "
                f"{shorten(self.classes_[:3].tolist())}, "
                f"got {shorten(labels[:3].tolist())}."
            )
        places = np.searchsorted(self.classes_, labels)
        places = np.minimum(places, len(self.classes_) - 1)
        new = labels[self.classes_[places] != labels]
        if len(new):
            raise ValueError(
                f"y has the label {new[:1].tolist()[0]!r}, which is not one of the classes of fit. "
                "Name all possible labels in the parameter classes."
            )
        return places.astype(np.int32)


class BackoffClassifier(ContextClassifier):
    """Mixin with the input checks and the public methods of trees of contexts."""

    levels: Any
    root: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

    def _predictor(self) -> TreePredictor | PoolPredictor:
        """Return the predictive distribution of the fit."""
        raise NotImplementedError

    # Input

    def _index(self, X: Any, y: Any, sample_weight: Any) -> ContextTree:
        """Return the contexts of the training events."""
        events = TrainingEvents.read(self, X, y, sample_weight)
        levels = check_levels(self.levels, len(events.values), events.names)
        columns, codes, *occurred = events.encode(place for level in levels for place in level)
        return ContextTree.of(columns, codes, levels, *occurred, has_root=bool(self.root))

    def _find(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._predictor().find(read_columns(self, X, reset=False))

    def _probabilities(self, contexts: Any, outcomes: Ints) -> Floats:
        return self._predictor().probabilities(contexts, outcomes)

    def _distributions(self, contexts: Any) -> Floats:
        return self._predictor().distributions(contexts)

    # Public methods

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class in the context of each row.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            An unseen context has the probabilities of its narrowest part that was seen in training.

        Returns
        -------
        (n_samples, n_classes) array
            In the order of `classes_`.
        """
        contexts = self._find(X)
        n_classes = len(self.classes_)
        check_memory(
            16.0 * len(contexts) * n_classes,
            f"predict_proba: {len(contexts)} rows and {n_classes} classes",
            "Call it for fewer rows at a time, or score_samples for given classes.",
        )
        return self._distributions(contexts)

    def explain(self, X: Any, *, as_frame: bool = False) -> Any:
        """Return the contributions of all levels to the prediction for each row.

        Parameters
        ----------
        X : as in `predict_proba`
        as_frame : bool, default=False
            Return a pandas data frame with one row for each row of X and each level.

        Returns
        -------
        list of lists of BackoffStep, or DataFrame
            For each row: the base, the root if there is one, and the context of every level, each
            with ``level``, ``context`` (the values of its and all preceding columns),
            ``customers`` (its events, or the tables of the contexts below it; 0 if it is unseen),
            ``tables`` (customers of the context in the level above), ``weight`` (the share of its
            own counts in the prediction; weights sum to 1) and ``probability`` (the contribution
            of these counts; contributions sum to the probability of the predicted class). Values
            are means over the stored samples. The frame also has a column ``row``.

            With ``levels="auto"`` of `HDPBackoffClassifier` there is a step for the chain without
            columns, "root", and for each other chain: the narrowest context that was seen,
            ``weight`` is the chain's exponent in the weighted product, and ``probability`` that of
            the predicted class under this chain. The exponents sum to 1; the root's may be
            negative.
        """
        contexts = self._find(X)
        values, names = read_columns(self, X, reset=False), getattr(self, "feature_names_in_", None)
        rows = self._predictor().explain(contexts, self._most_probable(contexts), values, names)
        if not as_frame:
            return rows
        import pandas as pd

        lines = [(i, *step) for i, row in enumerate(rows) for step in row]
        return pd.DataFrame(lines, columns=["row", *BackoffStep._fields])


def check_counts(sample_weight: Any, n_samples: int) -> Places:
    """Return how often each event occurred."""
    if sample_weight is None:
        return np.ones(n_samples, np.int64)
    weights = as_array(sample_weight, "sample_weight")
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must hold {n_samples} integers, one for each row of X, got an array of "
            f"shape {weights.shape}."
        )
    if weights.dtype.kind not in "biuf" or not np.all(np.isfinite(weights)):
        raise ValueError(f"sample_weight must hold integers >= 0, got {shorten(sample_weight)}.")
    wrong = weights[(weights < 0) | (weights != np.floor(weights))]
    if len(wrong):
        raise ValueError(
            "sample_weight must hold integers >= 0: a weight is how often an event occurred; got "
            f"{wrong[0]}."
        )
    total = weights.sum(dtype=np.float64)
    if total == 0:
        raise ValueError("sample_weight is zero for all rows: no event is left.")
    if total > MAX_INTEGER:
        raise ValueError(f"sample_weight must have a sum of at most {MAX_INTEGER}, got {total:g}.")
    return weights.astype(np.int64)
