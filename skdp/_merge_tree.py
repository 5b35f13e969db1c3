"""Trees of merges: what comes together first, from all components of a model to one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_count


class MergeTree:
    """Order in which components (topics, clusters) are merged, two at a time.

    The merge that loses least comes first.

    Parameters
    ----------
    merges : (K - 1, 2) int array
        The two nodes of each merge. Components are nodes 0 to K - 1; merge i makes node K + i.
    losses : (K - 1,) array
        The loss of each merge: nats per word of a corpus, or per row of a table.
    sizes : (K,) array
        Numbers of words or rows of the components.
    """

    def __init__(self, merges: NDArray[np.int64], losses: NDArray[np.float64], sizes: NDArray[Any]):
        self.merges, self.losses, self.sizes = merges, losses, sizes

    @property
    def n_components(self) -> int:
        """Number of components K."""
        return len(self.sizes)

    @property
    def linkage(self) -> NDArray[np.float64]:
        """Linkage matrix (K - 1, 4) for `scipy.cluster.hierarchy`.

        The height of a merge is the largest sum of losses up to there: a few merges of clusters may
        gain evidence. Merges of topics never gain.
        """
        n = self.n_components
        counts = np.ones(2 * n - 1)
        for i, (a, b) in enumerate(self.merges):
            counts[n + i] = counts[a] + counts[b]
        heights = np.maximum.accumulate(np.append(0.0, np.cumsum(self.losses)))[1:]
        return np.column_stack([self.merges, heights, counts[n:]])

    def labels(self, n: int) -> NDArray[np.int64]:
        """Return the merged component of every component, (K,).

        Parameters
        ----------
        n : int
            Number of merged components, from 1 to K. They are numbered by decreasing size.

        Raises
        ------
        ValueError
            If `n` is out of range.
        """
        return self._cut(check_at_most(n, "n", self.n_components, "components"))[0]

    def coarse(self, n: int) -> MergeTree:
        """Return the tree of `n` merged components, numbered as by `labels`."""
        labels, nodes = self._cut(check_at_most(n, "n", self.n_components, "components"))
        n_done = self.n_components - n
        names = np.append(nodes, n + np.arange(len(self.merges) - n_done))
        merges = names[self.merges[n_done:]]
        return MergeTree(
            np.sort(merges, axis=1), self.losses[n_done:], np.bincount(labels, weights=self.sizes)
        )

    def _cut(self, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the merged component of every component, and of every node up to there (or -1)."""
        n_own = self.n_components
        node_of = np.arange(n_own)
        for i, pair in enumerate(self.merges[: n_own - n]):
            node_of[np.isin(node_of, pair)] = n_own + i
        kept, labels = np.unique(node_of, return_inverse=True)
        sizes = np.bincount(labels, weights=self.sizes)
        ranks = np.empty(n, dtype=np.int64)
        ranks[np.argsort(-sizes, kind="stable")] = np.arange(n)
        nodes = np.full(2 * n_own - n, -1)
        nodes[kept] = ranks
        return ranks[labels], nodes


def check_at_most(n: Any, name: str, most: int, noun: str) -> int:
    """Return a number from 1 to `most`, such as the number of topics, or raise ValueError."""
    n = check_count(n, name, at_least=1)
    if n > most:
        raise ValueError(f"{name} must be at most the number of {noun}, {most}, got {n}.")
    return n
