"""Wrong patches of clusters of rows in several parts."""

from mutation.mutation import Mutation

TABLES = "tests/exact/mixture/test_tables.py"
CLUSTERS = "emissions/_kernels_clusters.py"

MUTATIONS = [
    Mutation(
        "parts-evidence-left-out-in-a-merge",
        CLUSTERS,
        "            result += log_evidence_of_gaussians(",
        "            result += 0.0 * log_evidence_of_gaussians(",
        "The evidence of a cluster is the product over all parts.",
        f"{TABLES}::test_partitions_of_parts[gaussian-split-merge]",
    ),
    Mutation(
        "parts-events-left-out-of-a-weight",
        CLUSTERS,
        "                scratch.counts, scratch.line, out,\n",
        "                scratch.counts, scratch.line, scratch.line,\n",
        "The density of a row is the product over all parts.",
        f"{TABLES}::test_the_kernels_weigh_rows[multinomial]",
    ),
]
