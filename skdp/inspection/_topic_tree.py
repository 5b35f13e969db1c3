"""Tree of the topics of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_floats, check_count
from skdp.inspection._axes import (
    LITERAL,
    PALETTE,
    check_matplotlib,
    check_names,
    open_axes,
    write_names,
)
from skdp.inspection._topic_models import name_topics

_WIDTH, _LEAF, _MARGIN = 3.6, 0.2, 0.9
"""Width of the tree, height of a topic, and height of the axis, in inches."""

_LARGEST = 40
"""Number of topics that are drawn by default, at most."""


class TopicTreeDisplay:
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

    def __init__(self, linkage: ArrayLike, *, names: Sequence[str] | None = None):
        self.linkage = as_floats(linkage, "linkage", 2)
        if not is_valid_linkage(self.linkage):
            raise ValueError("linkage must be a linkage matrix of scipy.cluster.hierarchy.")
        self.names = check_names(names, "names", len(self.linkage) + 1)

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
            If the columns are not topics of words (`LatentDirichletCoClustering`).
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_is_fitted(estimator)
        n_own = len(estimator.components_)
        n_topics = min(n_own, _LARGEST) if n_topics is None else check_count(n_topics, "n_topics")
        if min(n_topics, n_own) < 2:
            raise ValueError(f"A tree needs at least two topics, got {min(n_topics, n_own)}.")
        shown = estimator if n_topics == n_own else estimator.reduce_topics(n_topics)
        linkage = shown.topic_tree().linkage
        return cls(linkage, names=name_topics(shown, feature_names)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure.

        Returns
        -------
        TopicTreeDisplay
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{type(self).__name__}.plot")
        from matplotlib.collections import LineCollection

        names = write_names(self.names)
        tree = dendrogram(self.linkage, no_plot=True, color_threshold=0.0)
        self.leaves_ = list(map(int, tree["leaves"]))
        size = _WIDTH + 0.08 * max(map(len, names)), _MARGIN + _LEAF * len(names)
        self.ax_ = ax = open_axes(ax, size, [])
        self.figure_ = ax.figure
        lines = np.stack([tree["dcoord"], tree["icoord"]], axis=-1)
        self.lines_ = ax.add_collection(
            LineCollection(list(lines), colors=PALETTE[0], linewidths=1.2)
        )
        places = 10.0 * np.arange(len(names)) + 5.0  # dendrogram's
        ax.set_yticks(places, [names[k] for k in self.leaves_], **LITERAL)
        ax.set_ylim(0.0, 10.0 * len(names))
        ax.set_xlim(0.0, 1.05 * max(float(self.linkage[-1, 2]), 1e-12))
        ax.set(xlabel="loss of log likelihood (nats per word)")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return self
