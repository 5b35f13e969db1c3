"""Trees of clusters: every merge is the best of all pairs, by the evidence of the oracle."""

from itertools import combinations

import numpy as np
import pytest
from exact.mixture.problems import PROBLEMS, make_chain_sampler

from skdp.mixture._cluster_tree import make_cluster_tree

PARTITIONS = {"rows": [0, 1, 2, 3, 4], "some": [2, 0, 1, 0, 2]}


def all_pairs(nodes, n_labels):
    """Return the pairs that may be merged: with two labels only if there are no others."""
    pairs = list(combinations(nodes, 2))
    first = range(n_labels)
    free = [pair for pair in pairs if not all(nodes[k] & set(first) for k in pair)]
    return free or pairs


@pytest.mark.parametrize("n_labels", [0, 2, 3])
@pytest.mark.parametrize("labels", PARTITIONS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_merges(name, labels, n_labels):
    problem, labels = PROBLEMS[name], np.array(PARTITIONS[labels])
    rows = np.array(problem.rows)
    summary = make_chain_sampler(problem).summarize(labels)
    before = [np.array(array) for array in summary[:-1]]
    tree = make_cluster_tree(summary, n_labels)

    def loss(a, b):
        own, other = (np.isin(labels, sorted(nodes[k])) for k in (a, b))
        evidence = [problem.family.log_marginal(rows[x]) for x in (own, other, own | other)]
        return evidence[0] + evidence[1] - evidence[2]

    nodes = {k: {k} for k in range(max(labels) + 1)}
    for i, (pair, found) in enumerate(zip(tree.merges.tolist(), tree.losses, strict=True)):
        best = min(loss(a, b) for a, b in all_pairs(nodes, n_labels))
        assert loss(*pair) == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert found * len(labels) == pytest.approx(best, rel=1e-9, abs=1e-9)
        nodes[max(labels) + 1 + i] = nodes.pop(pair[0]) | nodes.pop(pair[1])
    assert len(nodes) == 1
    for array, kept in zip(summary[:-1], before, strict=True):
        np.testing.assert_array_equal(array, kept)
    np.testing.assert_array_equal(tree.sizes, np.bincount(labels))
