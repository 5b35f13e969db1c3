"""Wrong patches: clusters that rows join and leave, and the moves of mixtures."""

from mutation.mutation import Mutation

PARTITIONS = "tests/exact/mixture/test_partitions.py"
DENSITIES = "tests/exact/mixture/test_densities.py"
GAUSSIAN = "emissions/_kernels_gaussian_clusters.py"
COUNTS = "emissions/_kernels_count_clusters.py"
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
    Mutation(
        "mixture-centre-without-the-row",
        GAUSSIAN,
        "centre + sign * (x[begin + r] - centre) / (c + sign)",
        "centre + sign * (x[begin + r] - centre) / (c + 1.0)",
        "A row that leaves takes a larger share of the mean with it.",
        GIBBS,
    ),
    Mutation(
        "mixture-factor-of-a-row-that-leaves",
        GAUSSIAN,
        "y = (factors[begin + r, e, k] - sign * w * row[e]) * root",
        "y = (factors[begin + r, e, k] - w * row[e]) * root",
        "I - w w^T has another factor than I + w w^T.",
        f"{DENSITIES}::test_rows_that_come_and_go_leave_no_trace",
    ),
    Mutation(
        "mixture-own-density-with-the-row",
        GAUSSIAN,
        "        weight = c / (c - 1.0)\n",
        "        weight = 1.0\n",
        "The row is compared to a cluster without it.",
        GIBBS,
    ),
    Mutation(
        "mixture-far-row-by-difference",
        GAUSSIAN,
        "FEWEST_DIGITS = 1e-6\n",
        "FEWEST_DIGITS = -1e9\n",
        "A difference without digits may be negative, and its logarithm NaN.",
        f"{DENSITIES}::test_a_row_that_is_far_out_leaves_its_cluster",
    ),
    Mutation(
        "mixture-factors-never-made-anew",
        GAUSSIAN,
        "MOST_UPDATES = 1000\n",
        "MOST_UPDATES = 1000000\n",
        "Rounding errors of moves add up.",
        f"{DENSITIES}::test_rows_that_come_and_go_leave_no_trace",
    ),
    Mutation(
        "mixture-own-events-count-twice",
        COUNTS,
        "own_logs += log_rising(shape + (sums[own] - amount), amount)",
        "own_logs += log_rising(shape + sums[own], amount)",
        "The events of the row are not those that it is compared to.",
        GIBBS_OF_COUNTS,
    ),
    Mutation(
        "mixture-events-of-many-as-of-one",
        COUNTS,
        "            m = 1.0\n            while m < amount:\n                for k",
        "            m = 1.0\n            while m < 1.0:\n                for k",
        "Two events of a kind are a rising factorial.",
        GIBBS_OF_COUNTS,
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
