"""Wrong patches: sections of the kernels (mixture)."""

from mutation.mutation import Mutation

PARTITIONS = "tests/exact/mixture/test_partitions.py"
SECTIONS = "mixture/_kernels_sections.py"
GIBBS = f"{PARTITIONS}::test_partitions[full-gibbs]"
GIBBS_OF_COUNTS = f"{PARTITIONS}::test_partitions[multinomial-gibbs]"
MOVES = f"{PARTITIONS}::test_partitions[full-split-merge]"

MUTATIONS = [
    Mutation(
        "mixture-row-counts-in-its-own-cluster",
        SECTIONS,
        "        seat = -1 if is_alone else own\n",
        "        seat = -1\n",
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
        "mixture-split-way-forgotten",
        SECTIONS,
        "accepted = log_u < (gain - log_way if is_split else log_way - gain)",
        "accepted = log_u < (gain if is_split else -gain)",
        "A split divides by the probability of its allocation, a merge multiplies.",
        MOVES,
    ),
    Mutation(
        "mixture-split-weight-of-a-cluster-too-many",
        SECTIONS,
        "discount * (n_clusters if is_split else n_clusters - 1.0)",
        "discount * n_clusters",
        "A merge goes back to K - 1 clusters: b + a (K - 1).",
        MOVES,
    ),
    Mutation(
        "mixture-split-prior-of-sizes",
        SECTIONS,
        "    gain += log_sizes_ratio(three.vectors[SIZE, 0], three.vectors[SIZE, 1], discount)\n",
        "",
        "The prior of a partition has the sizes of its clusters.",
        MOVES,
    ),
    Mutation(
        "mixture-merge-draws-its-way-back",
        SECTIONS,
        "        sides[place] = labels[members[place]] != first\n",
        "        sides[place] = place % 2\n",
        "The way back of a merge leads to the two clusters that there are.",
        MOVES,
    ),
]

EQUIVALENTS = [
    Mutation(
        "mixture-split-without-sizes",
        SECTIONS,
        "        odds += math.log((sizes[1] - discount) / (sizes[0] - discount))\n",
        "",
        "Another proposal, whose probability is known: its draws are as exact.",
        MOVES,
    ),
]
