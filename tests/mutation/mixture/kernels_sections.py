"""Wrong patches: sections of the kernels (mixture)."""

from mutation.mutation import Mutation

PARTITIONS = "tests/exact/mixture/test_partitions.py"
SECTIONS = "mixture/_kernels_sections.py"
GIBBS = f"{PARTITIONS}::test_partitions[full-gibbs]"
GIBBS_OF_COUNTS = f"{PARTITIONS}::test_partitions[multinomial-gibbs]"

MUTATIONS = [
    Mutation(
        "mixture-row-counts-in-its-own-cluster",
        SECTIONS,
        "    seat = -1 if own >= 0 and clusters.vectors[SIZE, own] < 1.5 else own\n",
        "    seat = -1\n",
        "A row chooses given the others, not given itself.",
        GIBBS,
    ),
    Mutation(
        "mixture-own-size-with-the-row",
        SECTIONS,
        "share = (sizes[own] - 1.0 - discount) / (sizes[own] - discount)",
        "share = 1.0",
        "The size of a cluster counts without the row.",
        GIBBS_OF_COUNTS,
    ),
    Mutation(
        "mixture-new-cluster-counts-the-emptied-one",
        SECTIONS,
        "        n_others = n - 1\n",
        "        n_others = n\n",
        "b + a K: K is the number of clusters of the other rows.",
        GIBBS,
    ),
    Mutation(
        "gaps-own-row-stays-in-its-cluster",
        "mixture/_kernels_sections.py",
        "        move_row(kind, i, own, -1.0, rows, prior, clusters, scratch)\n    else:\n",
        "        clusters.vectors[SIZE, own] -= 1.0\n    else:\n",
        "A row chooses its cluster by the other rows, and not by its old missing values.",
        "tests/exact/mixture/test_gaps.py::test_partitions[two-rows-gibbs]",
    ),
    Mutation(
        "left-out-rows-count-in-their-cluster",
        SECTIONS,
        "        size = sizes[k] - 1.0 if k == own else sizes[k]\n",
        "        size = sizes[k]\n",
        "The size of a cluster counts without the row.",
        "tests/exact/mixture/test_left_out.py::test_densities[full-labels2]",
    ),
    Mutation(
        "left-out-rows-count-in-the-total",
        SECTIONS,
        "math.log(total / (n_others + concentration))",
        "math.log(total / (n_others + 1.0 + concentration))",
        "The weights of n - 1 other rows and of a new cluster sum to n - 1 + b.",
        "tests/exact/mixture/test_left_out.py::test_densities[poisson-labels2]",
    ),
    Mutation(
        "left-out-rows-keep-their-emptied-cluster",
        SECTIONS,
        "        if sizes[k] > 1.5 or (k != own and sizes[k] > 0.5):\n",
        "        if sizes[k] > 0.5:\n",
        "b + a K: K is the number of clusters of the other rows.",
        "tests/exact/mixture/test_left_out.py::test_densities[diag-labels1]",
    ),
]
