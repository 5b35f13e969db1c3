"""Tree of the topics of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from skdp.inspection._axes import check_matplotlib
from skdp.inspection._estimators import check_model
from skdp.inspection._topic_models import TOPIC_MODEL, name_topics
from skdp.inspection._trees import TreeDisplay, count_leaves


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
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
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
            See `plot`.

        Returns
        -------
        TopicTreeDisplay

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
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_model(estimator, TOPIC_MODEL, "components_", "topic_tree")
        n_own = len(estimator.components_)
        n_topics = count_leaves(n_topics, n_own, "n_topics", "topics")
        shown = estimator if n_topics == n_own else estimator.reduce_topics(n_topics)
        linkage = shown.topic_tree().linkage
        return cls(linkage, names=name_topics(shown, feature_names)).plot(ax)
