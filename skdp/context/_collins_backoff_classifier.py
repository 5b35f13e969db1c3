"""Back-off smoothing by diversity: Collins's formula."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from skdp._sklearn_compat import EstimatorMixin, Interval, validate_parameters
from skdp.context._backoff._pool import CountedModel, TreePredictor, uniform
from skdp.context._base import BackoffClassifier, take_columns
from skdp.processes._franchise import InterpolatedModel


class CollinsBackoffClassifier(EstimatorMixin, BackoffClassifier, BaseEstimator):
    r"""Classify categories in context by interpolated counts, without sampling.

    The probability of class y in a context h mixes its relative frequency there with its
    probability in the next broader context h':

    .. math::

        p(y \mid h) = \lambda_h \frac{n_{hy}}{n_h} + (1 - \lambda_h) \, p(y \mid h'), \quad
        \lambda_h = \frac{n_h}{n_h + \gamma u_h}

    Context h was seen n_h times with u_h different classes. The classifier is a fast approximation
    to `HDPBackoffClassifier`.

    Parameters
    ----------
    levels : list of columns or of groups of columns, or None, default=None
        The columns that each level of contexts adds, the most important first: column indices, or
        names if X is a data frame. The context of a level consists of the values of its columns and
        of those of all preceding levels. Columns that are in no level are not used. None: every
        column is a level.
    root : bool, default=True
        Whether a context without columns is above all others. If not, contexts whose first level
        was not seen have uniform probabilities.
    gamma : float, default=5.0
        Weight of the broader contexts, > 0.
    classes : (n_classes,) array-like or None, default=None
        All possible labels. None: the labels in y.

    Attributes
    ----------
    classes_ : (n_classes,) array
    n_contexts_ : (n_levels [+ 1],) array of int
        Number of contexts that were seen, the root's first.
    n_features_in_ : int
    feature_names_in_ : (n_features,) array
        If X is a data frame with names.

    See Also
    --------
    HDPBackoffClassifier : The approximated model; more accurate, with learned weights.
    LexicalizedEventModel : Trees whose events such a classifier predicts.
    skdp.language.KneserNeyLM : Smoothing of the words of sentences, also from counts.

    Notes
    -----
    The base distribution of the broadest context is uniform over the classes; the source has a
    small constant instead, which would not sum to one.

    References
    ----------
    M. Collins (2003), Head-driven statistical models for natural language parsing, Computational
    Linguistics 29. -- C. R. Dawson (2015), Modeling and unsupervised learning of structured
    similarity among source contexts in Bayesian hierarchical infinite mixture models, dissertation,
    University of Arizona, chapter 2, equations (2.3)-(2.5).

    Examples
    --------
    >>> from skdp.context import CollinsBackoffClassifier
    >>> X = [["the", "big"], ["the", "red"], ["a", "big"], ["to", "big"]]
    >>> y = ["noun", "noun", "noun", "verb"]
    >>> model = CollinsBackoffClassifier(gamma=1.0).fit(X, y)
    >>> model.predict([["the", "odd"], ["to", "odd"]]).tolist()
    ['noun', 'verb']
    >>> model.predict_proba([["to", "odd"]]).round(3).tolist()  # (1 + (1 + 2 / 2) / 6) / 2
    [[0.333, 0.667]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "levels": ["array-like", None],
        "root": ["boolean"],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "classes": ["array-like", None],
    }

    def __init__(
        self, levels: Any = None, *, root: bool = True, gamma: float = 5.0, classes: Any = None
    ):
        self._store(locals())

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Count.

        Parameters
        ----------
        X : (n_samples, n_features) array-like or data frame
            Categories: integers, strings or other objects, compared by equality. A missing value
            (NaN, None, pandas' NA and NaT) is a category of its column.
        y : (n_samples,) array-like
            Class labels.
        sample_weight : (n_samples,) array-like of int or None, default=None
            How often each event occurred. 0 leaves a row out; its label remains a class.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid. The estimator is left unchanged.
        """
        validate_parameters(self)
        reader = clone(self)
        tree = reader._index(X, y, sample_weight)
        layout = tree.layout
        counts = layout.capacity  # every event is a customer of all contexts along its path
        customers = np.bincount(layout.node, weights=counts, minlength=layout.node_ptr[-1])
        diversity = np.diff(tree.cell_ptr)
        gamma = float(self.gamma)
        total = customers + gamma * diversity
        take_columns(self, reader)
        self.classes_ = tree.classes
        self.n_contexts_ = np.diff(layout.node_ptr)
        self._tree = tree
        self._customers = customers.astype(np.int32)
        self._model = InterpolatedModel(
            tree, counts / total[layout.node], gamma * diversity / total, uniform(tree.n_outcomes)
        )
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a model."""
        return hasattr(self, "_model")

    def _predictor(self) -> TreePredictor:
        model = CountedModel(self._model, self._customers, np.diff(self._tree.cell_ptr))
        return TreePredictor(self._tree, [model])
