"""Tree of the clusters of a mixture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from skdp._merge_tree import check_at_most
from skdp.inspection._axes import check_matplotlib, with_count
from skdp.inspection._estimators import check_model
from skdp.inspection._trees import TreeDisplay, count_leaves


class ClusterTreeDisplay(TreeDisplay):
    """Tree of clusters: which would be merged if there were fewer.

    Create it with `from_estimator`, or with the constructor and `plot`. Clusters that meet far to
    the left are alike, or small; cut the tree where long horizontal lines are.

    Parameters
    ----------
    linkage : (n_clusters - 1, 4) array-like
        Linkage matrix in scipy's convention, such as ``model.cluster_tree().linkage``. The height
        of a merge is the loss of evidence up to there, in nats per row.
    names : list of n_clusters str, default=None
        Labels of the clusters. None: "0", "1", ...

    Attributes
    ----------
    linkage : ndarray
    names : list of str
    leaves_ : list of int
        Clusters from the bottom to the top.
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
    skdp.mixture.PitmanYorMixture.labels_at : Returns merged labels of rows; all mixtures have this
        method.
    CoAssignmentDisplay : Plots how certain it is that rows belong together.
    TopicTreeDisplay : Plots the tree of the topics of a model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skdp.inspection import ClusterTreeDisplay
    >>> from skdp.mixture import PitmanYorMixture
    >>> model = PitmanYorMixture(max_iter=100, random_state=0).fit(load_iris().data)
    >>> display = ClusterTreeDisplay.from_estimator(model)
    >>> len(display.leaves_) == model.n_components_
    True
    """

    _xlabel = "loss of log evidence (nats per row)"

    def __init__(self, linkage: ArrayLike, *, names: Sequence[str] | None = None):
        super().__init__(linkage, names=names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n_clusters: int | None = None, ax: Any = None
    ) -> Self:
        """Plot the tree of the clusters of a fitted mixture.

        Parameters
        ----------
        estimator : fitted mixture
        n_clusters : int, default=None
            Number of clusters to draw, at most that of the mixture: others are merged before, as by
            `labels_at`. None: 40, or all if there are fewer.
        ax : matplotlib Axes, default=None
            See `plot`.

        Returns
        -------
        ClusterTreeDisplay

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator is not a mixture.
        ValueError
            If there are fewer than two clusters.
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        check_model(estimator, "a mixture with clusters", "cluster_tree", "n_components_")
        n_own = estimator.n_components_
        n_clusters = count_leaves(n_clusters, n_own, "n_clusters", "clusters")
        tree = estimator.cluster_tree()
        numbers = getattr(estimator, "component_labels_", range(n_own))
        if n_clusters != n_own:
            numbers = range(n_clusters)
            tree = tree.coarse(check_at_most(n_clusters, "n_clusters", n_own, "components"))
        names = [with_count(str(k), int(n)) for k, n in zip(numbers, tree.sizes, strict=True)]
        return cls(tree.linkage, names=names).plot(ax)
