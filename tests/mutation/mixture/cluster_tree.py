"""Wrong patches of trees of clusters."""

from mutation.mutation import Mutation

TREE = "mixture/_cluster_tree.py"
EXACT = "tests/exact/mixture/test_cluster_tree.py::test_merges"

MUTATIONS = [
    Mutation(
        "cluster-tree-unions-without-the-distance",
        TREE,
        "        scatters += weight * apart[..., np.newaxis] * apart[..., np.newaxis, :]\n",
        "",
        "The scatter of a union has the distance of the two means.",
        f"{EXACT}[full-some-0]",
    ),
    Mutation(
        "cluster-tree-centers-without-prior",
        TREE,
        "        apart = self.means - prior.mean\n",
        "        apart = 0.0 * self.means\n",
        "The mean of a cluster is itself drawn around the prior's.",
        f"{EXACT}[diag-rows-0]",
    ),
    Mutation(
        "cluster-tree-powers-of-a-row-too-few",
        TREE,
        "dof = prior.precision + n, prior.dof + n\n",
        "dof = prior.precision + n, prior.dof + n - 1.0\n",
        "Each row is a degree of freedom.",
        f"{EXACT}[full-rows-0]",
    ),
    Mutation(
        "cluster-tree-poisson-without-prior-rate",
        TREE,
        "shapes * np.log(self.prior.rates) - (shapes",
        "-(shapes",
        "Two clusters have the constant of the Gamma prior twice.",
        f"{EXACT}[poisson-rows-0]",
    ),
    Mutation(
        "cluster-tree-counts-without-totals",
        TREE,
        "result + gammaln(total) - gammaln(total + sums.sum(axis=1))",
        "result",
        "Probabilities add up to 1.",
        f"{EXACT}[multinomial-rows-0]",
    ),
    Mutation(
        "cluster-tree-forgets-the-merged",
        TREE,
        "        own[a], names[a] = union.log_evidence()[0], n + i\n",
        "        names[a] = n + i\n",
        "A union has an evidence of its own.",
        f"{EXACT}[full-rows-0]",
    ),
    Mutation(
        "cluster-tree-merges-labels-early",
        TREE,
        "        if 0 < n_labels < n - i:\n",
        "        if False:\n",
        "Clusters of different labels stay apart until all others are merged.",
        f"{EXACT}[full-rows-2]",
    ),
    Mutation(
        "cluster-tree-never-merges-labels",
        TREE,
        "        if 0 < n_labels < n - i:\n",
        "        if 0 < n_labels:\n",
        "In the end, clusters of different labels are merged by their losses.",
        f"{EXACT}[full-rows-3]",
    ),
]
