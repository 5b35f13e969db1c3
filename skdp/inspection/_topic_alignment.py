"""Displays of topics: alignment of the topics of two models, and the tree of merged topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import check_choice
from skdp.inspection._axes import (
    LITERAL,
    Display,
    TreeDisplay,
    check_fractions,
    check_model,
    check_names,
    count_leaves,
    decide_values,
    label_matrix,
    size_matrix,
    write_name,
    write_values,
)
from skdp.inspection._topic_evolution import TOPIC_MODEL, name_topics
from skdp.metrics import align_topics, hellinger_distance
from skdp.metrics._alignment import check_distributions, check_same_width


class TopicAlignmentDisplay(Display):
    """Matrix of the Hellinger distances between the topics of two models, with topics matched.

    Create it with `from_estimators` or `from_components` ([1]_, figure 7.6). A dark diagonal in a
    pale matrix means that the models found the same topics. A row without a dark cell is a topic
    that the other model does not have; a row with several is a topic that the other model splits.

    Topics are matched one to one by `skdp.metrics.align_topics`. The model with fewer topics (or
    the first, if the numbers are equal) keeps the order of its topics; the topics of the other
    model are in the order of their matches, followed by topics without a match in their own order.

    Parameters
    ----------
    distances : array-like of shape (n_rows, n_columns)
        Distances in [0, 1], in the order of the plot.
    row_names : list of n_rows str, default=None
        Labels of the topics of the first model. None: "0", "1", ...
    column_names : list of n_columns str, default=None
        Labels of the topics of the second model. None: "0", "1", ...
    names : (str, str), default=None
        Names of the models.

    Attributes
    ----------
    distances : ndarray of shape (n_rows, n_columns)
    row_names, column_names, names
        As passed.
    row_topics_, column_topics_ : ndarray of int
        The topic in its model of each row and column. Only if created with
        `from_estimators` or `from_components`.
    ax_, figure_, image_, colorbar_ : matplotlib Axes, Figure, AxesImage and Colorbar
    texts_ : ndarray of shape (n_rows, n_columns) of matplotlib Text, or None
        The numbers in the cells, if shown.

    See Also
    --------
    skdp.metrics.align_topics : Matches the topics.
    skdp.metrics.hellinger_distance : Computes the distances.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.inspection import TopicAlignmentDisplay
    >>> display = TopicAlignmentDisplay.from_components(
    ...     [[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]], [[0.0, 0.0, 1.0], [0.3, 0.4, 0.3], [0.9, 0.1, 0.0]]
    ... )
    >>> display.column_topics_
    array([2, 0, 1])
    >>> display.distances.round(2)
    array([[0.  , 1.  , 0.53],
           [0.95, 0.23, 0.53]])
    """

    row_topics_: NDArray[np.intp]
    column_topics_: NDArray[np.intp]

    def __init__(
        self,
        distances: ArrayLike,
        *,
        row_names: Sequence[str] | None = None,
        column_names: Sequence[str] | None = None,
        names: tuple[str, str] | None = None,
    ):
        self.distances = check_fractions(distances, "distances", 2)
        n_rows, n_columns = self.distances.shape
        self.row_names = check_names(row_names, "row_names", n_rows)
        self.column_names = check_names(column_names, "column_names", n_columns)
        self.names = None if names is None else check_names(names, "names", 2)

    @classmethod
    def from_estimators(
        cls,
        first: Any,
        second: Any,
        *,
        feature_names: ArrayLike | None = None,
        names: tuple[str, str] | None = None,
        kind: str = "distance",
        include_values: bool | None = None,
        cmap: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot how the topics of two fitted models correspond.

        Parameters
        ----------
        first, second : fitted topic models
            The models in the rows and columns of the matrix, with the same vocabulary.
        feature_names : array-like of shape (n_features,), default=None
            Names of the words. With them, the label of a topic is its number and most probable
            words. None: the names seen in ``fit`` if X was a data frame, otherwise only numbers.
        names : (str, str), default=None
            Names of the models. None: the names of their classes.
        kind, include_values, cmap, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If an estimator is not fitted, or is not a topic model.
        ValueError, ImportError
            If the models differ in the number of words, or an argument is invalid, or matplotlib is
            not installed.
        """
        cls._check_matplotlib("from_estimators")
        labels = []
        for name, estimator in (("first", first), ("second", second)):
            check_model(estimator, "a topic model", "components_", name=name)
            labels.append(name_topics(estimator, feature_names))
        return cls.from_components(
            first.components_,
            second.components_,
            topic_names=labels[0],
            other_topic_names=labels[1],
            names=(type(first).__name__, type(second).__name__) if names is None else names,
            kind=kind,
            include_values=include_values,
            cmap=cmap,
            ax=ax,
        )

    @classmethod
    def from_components(
        cls,
        components: ArrayLike,
        other: ArrayLike,
        *,
        topic_names: Sequence[str] | None = None,
        other_topic_names: Sequence[str] | None = None,
        names: tuple[str, str] | None = None,
        kind: str = "distance",
        include_values: bool | None = None,
        cmap: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot how given topics correspond.

        Parameters
        ----------
        components : array-like of shape (n_components, n_features)
            Word probabilities of the topics in the rows of the matrix, such as ``components_``:
            weights >= 0, not all zero in a row, which are divided by their sums.
        other : array-like of shape (n_other, n_features)
            Word probabilities of the topics of the other model, in the columns.
        topic_names : list of n_components str, default=None
            Labels of `components`, in their order. None: "0", "1", ...
        other_topic_names : list of n_other str, default=None
            Labels of `other`, in their order. None: "0", "1", ...
        names : (str, str), default=None
        kind, include_values, cmap, ax

        Raises
        ------
        ValueError, ImportError
            If an argument is invalid, or the widths differ, or matplotlib is not installed.
        """
        first = check_distributions(components, "components")
        second = check_distributions(other, "other")
        check_same_width(first, "components", second, "other")
        distances = hellinger_distance(first, second)
        n_rows, n_columns = distances.shape
        rows, columns = np.arange(n_rows), np.arange(n_columns)
        if n_rows <= n_columns:
            columns = _with_rest(align_topics(components, other)[0], n_columns)
        else:
            rows = _with_rest(align_topics(other, components)[0], n_rows)
        row_names = check_names(topic_names, "topic_names", n_rows)
        column_names = check_names(other_topic_names, "other_topic_names", n_columns)
        display = cls(
            distances[np.ix_(rows, columns)],
            row_names=[row_names[k] for k in rows],
            column_names=[column_names[k] for k in columns],
            names=names,
        )
        display.row_topics_, display.column_topics_ = rows, columns
        return display.plot(ax, kind=kind, include_values=include_values, cmap=cmap)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "distance",
        include_values: bool | None = None,
        cmap: Any = None,
    ) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for labels.
        kind : {"distance", "similarity"}, default="distance"
            Hellinger distances H, or 1 - H.
        include_values : bool, default=None
            Whether to write the numbers in the cells. None: with up to 12 rows and columns.
        cmap : matplotlib colormap or its name, default=None
            None: from yellow to blue; dark cells are similar topics.

        Raises
        ------
        ValueError, ImportError
            If `kind` is invalid, or matplotlib is not installed.
        """
        check_choice(kind, "kind", "distance", "similarity")
        cmap = self._find_cmap(cmap, "YlGnBu_r" if kind == "distance" else "YlGnBu")
        shown = self.distances if kind == "distance" else 1.0 - self.distances
        include_values = decide_values(include_values, max(shown.shape))
        size = size_matrix(self.row_names, self.column_names, with_values=include_values)
        ax = self._open(ax, size)
        # With square cells a constrained layout does not converge, and truncates labels.
        self.image_ = ax.imshow(shown, cmap=cmap, vmin=0.0, vmax=1.0, aspect="auto")
        self.texts_ = write_values(ax, self.image_, shown) if include_values else None
        self._add_colorbar(self.image_, "1 - " * (kind == "similarity") + "Hellinger distance")
        label_matrix(ax, self.row_names, self.column_names)
        for axis, name in zip((ax.yaxis, ax.xaxis), self.names or ("", ""), strict=True):
            axis.set_label_text(write_name(name) or "topics", **LITERAL)
        return self


def _with_rest(order: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    return np.concatenate([order, np.setdiff1d(np.arange(n), order)])


# Tree of the topics of a model.


class TopicTreeDisplay(TreeDisplay):
    """Tree of topics: which would be merged if there were fewer.

    Create it with `from_estimator`, or with the constructor and `plot`. Topics that meet far to the
    left have similar words, or are small; a long horizontal line is a topic, or group of topics,
    that is unlike all others.

    Parameters
    ----------
    linkage : (n_topics - 1, 4) array-like
        Linkage matrix in scipy's convention, such as ``model.topic_tree().linkage``. The height of
        a merge is the loss of likelihood up to there, in nats per training word.
    names : list of n_topics str, default=None
        Labels of the topics. None: "0", "1", ...

    Attributes
    ----------
    linkage : ndarray
    names : list of str
    leaves_ : list of int
        Topics from the bottom to the top.
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : matplotlib LineCollection
        The merges.

    Raises
    ------
    ValueError
        If `linkage` is no linkage matrix.

    See Also
    --------
    skdp.topics.GibbsLDA.reduce_topics : Returns a model with merged topics; all topic models have
        this method.
    ClusterTreeDisplay : Plots the tree of the clusters of a mixture.
    TopicAlignmentDisplay : Compares the topics of two models.

    Examples
    --------
    >>> from skdp.datasets import make_segmented_corpus
    >>> from skdp.inspection import TopicTreeDisplay
    >>> from skdp.topics import GibbsLDA
    >>> X = make_segmented_corpus(30, n_components=4, n_features=40, random_state=0).data
    >>> model = GibbsLDA(6, max_iter=60, random_state=0).fit(X)
    >>> display = TopicTreeDisplay.from_estimator(model)
    >>> sorted(display.leaves_)
    [0, 1, 2, 3, 4, 5]
    """

    _xlabel = "loss of log likelihood (nats per word)"

    def __init__(self, linkage: ArrayLike, *, names: Sequence[str] | None = None):
        super().__init__(linkage, names=names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: ArrayLike | None = None,
        n_topics: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the tree of the topics of a fitted model.

        Parameters
        ----------
        estimator : fitted topic model
        feature_names : (n_features,) array-like, default=None
            Names of the words, for labels with the most probable words of each topic. None: the
            column names of `fit` if X was a data frame, otherwise labels are numbers.
        n_topics : int, default=None
            Number of topics to draw, at most that of the model: others are merged before, as by
            `reduce_topics`. None: 40, or all if there are fewer.
        ax : matplotlib Axes, default=None

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If there are fewer than two topics, or topics were given to `from_topics`.
        TypeError
            If the estimator is not a topic model, or its columns are not topics of words
            (`LatentDirichletCoClustering`).
        ImportError
            If matplotlib is not installed.
        """
        cls._check_model(estimator, TOPIC_MODEL, "components_", "topic_tree")
        n_own = len(estimator.components_)
        n_topics = count_leaves(n_topics, n_own, "n_topics", "topics")
        shown = estimator if n_topics == n_own else estimator.reduce_topics(n_topics)
        linkage = shown.topic_tree().linkage
        return cls(linkage, names=name_topics(shown, feature_names)).plot(ax)
