"""Wrong patches: clusters of rows whose missing values and weights are drawn."""

from mutation.mutation import Mutation

KERNELS = "emissions/_gaussian/_kernels_augmented.py"
GAPS = "tests/exact/mixture/test_gaps.py::test_partitions"
STUDENT_T = "tests/exact/mixture/test_student_t.py::test_partitions"

MUTATIONS = [
    Mutation(
        "gaps-without-the-observed-degrees-of-freedom",
        KERNELS,
        "draw_gamma(clusters.vectors[POWER, k] - 0.5 * m, rng)",
        "draw_gamma(clusters.vectors[POWER, k] - 0.5 * width, rng)",
        "Each observed value adds a degree of freedom to the conditional distribution.",
        f"{GAPS}[two-rows-gibbs]",
    ),
    Mutation(
        "gaps-without-the-observed-distance",
        KERNELS,
        "length = math.sqrt((1.0 + ratio * scratch.squares[b, k]) / ratio)",
        "length = math.sqrt(1.0 / ratio)",
        "A row that is far out in its observed values is so in the others.",
        "tests/exact/mixture/test_gap_densities.py"
        "::test_missing_values_given_the_partition_follow_the_conditional[4.0]",
    ),
    Mutation(
        "gaps-without-regression",
        KERNELS,
        "x = length * draw_normal(rng) - triangle[j, m, k]",
        "x = length * draw_normal(rng)",
        "Columns are correlated.",
        f"{GAPS}[two-rows-gibbs]",
    ),
    Mutation(
        "gaps-independent-of-each-other",
        KERNELS,
        "                x -= triangle[j, other, k] * drawn[other]\n",
        "                x -= 0.0\n",
        "Two missing values of a row are correlated.",
        f"{GAPS}[three-columns-gibbs]",
    ),
    Mutation(
        "gaps-in-the-determinant",
        KERNELS,
        "        heads[k] -= 0.5 * fast_log(dots[k])\n",
        "",
        "The density of the observed values has the determinant of their scale.",
        f"{GAPS}[two-rows-gibbs]",
    ),
    Mutation(
        "gaps-in-the-distance",
        KERNELS,
        "            project(j, m, e, first, last, work, triangle, dots)\n",
        "",
        "The distance is that of the observed values, the smallest for any missing ones.",
        f"{GAPS}[two-rows-gibbs]",
    ),
    Mutation(
        "weights-not-in-the-mean",
        KERNELS,
        "center + sign * u * away / after",
        "center + sign * away / after",
        "A row moves the mean by its weight.",
        f"{STUDENT_T}[column-gibbs]",
    ),
    Mutation(
        "weights-not-in-the-determinant",
        KERNELS,
        "            out[k] += 0.5 * width * fast_log(ratio)\n",
        "",
        "The scale of a predictive density has the weight of the row.",
        f"{STUDENT_T}_given_parameters[column-blocked]",
    ),
    Mutation(
        "weights-not-in-the-evidence",
        KERNELS,
        "        result += 0.5 * width * math.log(prior.precision / clusters.masses[b, k])\n",
        "        result -= 0.5 * width * math.log(1.0 + clusters.vectors[SIZE, k])\n",
        "The mean is known as well as the weights of the rows say.",
        f"{STUDENT_T}[column-both]",
    ),
    Mutation(
        "lattice-without-jacobian",
        KERNELS,
        "log_prior = shape * (y - u)",
        "log_prior = (shape - 1.0) * y - shape * u",
        "Lattice points are equidistant in log u.",
        f"{STUDENT_T}[column-gibbs]",
    ),
    Mutation(
        "lattice-sums-of-the-rows-own-cluster",
        KERNELS,
        "    rest, chosen = next_double(rng), n_nodes - 1\n",
        "    rest, chosen = 1.0, n_nodes // 2\n    n_nodes = 0\n",
        "Weights are drawn, and not put into the middle.",
        f"{STUDENT_T}[column-gibbs]",
    ),
]
