"""Wrong patches: mixtures of rows whose missing values and weights are drawn."""

from mutation.mutation import Mutation

SECTIONS = "mixture/_kernels_sections.py"
SAMPLER = "mixture/_cluster_sampler.py"
STUDENT_T = "emissions/_student_t/_emission.py"
GAPS = "tests/exact/mixture/test_gaps.py"
STUDENTS = "tests/exact/mixture/test_student_t.py"
DENSITIES = "tests/exact/mixture/test_gap_densities.py"

MUTATIONS = [
    Mutation(
        "gaps-own-row-stays-in-its-cluster",
        SECTIONS,
        "        move_row(kind, i, own, -1.0, rows, prior, clusters, scratch)\n    else:\n",
        "        clusters.vectors[SIZE, own] -= 1.0\n    else:\n",
        "A row chooses its cluster by the other rows, and not by its old missing values.",
        f"{GAPS}::test_partitions[two-rows-gibbs]",
    ),
    Mutation(
        "gaps-of-labeled-rows-stay",
        SAMPLER,
        "            self._draw_latent(np.flatnonzero(self._pinned), self.stream)\n",
        "            pass\n",
        "Rows with labels have no other step that draws their missing values.",
        f"{GAPS}::test_partitions_with_labels[y1]",
    ),
    Mutation(
        "gaps-copies-share-missing-values",
        SAMPLER,
        "            other._terms = other.emission.cluster_terms()\n",
        "            pass\n",
        "The representative partition is computed without effect on the chain.",
        "tests/unit/mixture/test_gaps.py::test_a_resumed_fit_equals_a_straight_one"
        "[DPMixture-gaussian]",
    ),
    Mutation(
        "weights-never-leave-their-lattice",
        STUDENT_T,
        "        self.drawn_weights[:] = part._weights\n",
        "",
        "Lattices are renewed by draws given parameters.",
        f"{STUDENTS}::test_partitions[column-gibbs]",
    ),
    Mutation(
        "weights-not-in-empty-rows",
        STUDENT_T,
        "part.means[k] + away / roots",
        "part.means[k] + away",
        "Values of a row without any are drawn given its weight.",
        f"{STUDENTS}::test_partitions[empty-row-gibbs]",
    ),
    Mutation(
        "gap-draws-without-observed-degrees-of-freedom",
        "emissions/_marginals.py",
        "rng.chisquare(nu + len(seen), len(rows))",
        "rng.chisquare(nu, len(rows))",
        "Each observed value adds a degree of freedom to the conditional distribution.",
        f"{DENSITIES}::test_draws_of_missing_columns[gaussian]",
    ),
    Mutation(
        "gap-draws-without-the-observed-weight",
        "emissions/_student_t/_model.py",
        "            logs -= exponents[:, np.newaxis] * np.log1p(distances[:, np.newaxis]"
        " / spread[k])\n",
        "            logs -= exponents[:, np.newaxis]\n",
        "A row that is far out probably has a small weight.",
        f"{DENSITIES}::test_draws_of_missing_columns[student_t]",
    ),
    Mutation(
        "unions-without-weights",
        "mixture/_augmented_summary.py",
        "apart = (np.sqrt(weights) * (values - means[k])).transpose(1, 2, 0)",
        "apart = (values - means[k]).transpose(1, 2, 0)",
        "Rows count by their weights.",
        f"{DENSITIES}::test_unions_of_clusters_with_weights",
    ),
]
