"""Wrong patches of draws of table counts."""

from mutation.mutation import Mutation

ADAPTIVE = "tests/exact/topics/test_adaptive.py"
SEQUENTIAL = "tests/exact/topics/test_sequential.py"
TOPICS = "tests/exact/topics/test_segmented.py"

TABLES = "topics/_tables/_kernels_table_counts.py"


def _posterior(sampler: str, case: str = "asymmetric", of: str = TOPICS) -> str:
    return f"{of}::test_posterior[{sampler}-{case}]"


MUTATIONS = [
    Mutation(
        "cmgs-counts-without-stirling",
        TABLES,
        "change *= next_stirling(n, s + t, values, row_ptr, a) * (s + t + 1) / (s + 1)",
        "change *= (s + t + 1) / (s + 1)",
        "The Stirling numbers of (5.4).",
        _posterior("cmgs", "middle empty"),
    ),
    Mutation(
        "cmgs-counts-without-node",
        TABLES,
        "change = (base + s) / (total + s) * (b + a * (n_document + s + n_previous))",
        "change = (b + a * (n_document + s + n_previous)) / (total + s)",
        "The weight alpha_k + c_k of a topic at the document's node in (5.4).",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-counts-without-node-total",
        TABLES,
        "change = (base + s) / (total + s) * (b + a * (n_document + s + n_previous))",
        "change = (base + s) * (b + a * (n_document + s + n_previous))",
        "The denominator A + c. of the document's node in (5.4).",
        _posterior("cmgs"),
    ),
    Mutation(
        "cmgs-counts-without-opening",
        TABLES,
        "change = (base + s) / (total + s) * (b + a * (n_document + s + n_previous))",
        "change = (base + s) / (total + s)",
        "The weight (b | a)_T of the tables in (5.4).",
        _posterior("cmgs", "middle empty"),
    ),
    Mutation(
        "tables-of-document-without-mixing",
        TABLES,
        "            change *= n_document + s + to_document\n",
        "",
        "The weight S + lambda_S of the document in the draw of s.",
        f"{ADAPTIVE}::test_posterior_of_long_segments[cmgs]",
    ),
    Mutation(
        "tables-of-document-without-binomial",
        TABLES,
        "(n, s + t, values, row_ptr, a) * (s + t + 1) / (s + 1)",
        "(n, s + t, values, row_ptr, a)",
        "C(s + t, s) in the draw of s.",
        _posterior("cmgs", "cascade", ADAPTIVE),
    ),
    Mutation(
        "tables-to-previous-without-parent",
        TABLES,
        "        change *= share_ratio(values, row_ptr, above + t, above_tables, a)\n",
        "",
        "The Stirling numbers of the segment before, whose customers the tables are.",
        _posterior("cmgs", "three segments", SEQUENTIAL),
    ),
    Mutation(
        "tables-to-previous-without-customers",
        TABLES,
        "        change /= above_b + above_customers + t\n",
        "",
        "(b)_N of the segment before.",
        _posterior("cmgs", "three segments", SEQUENTIAL),
    ),
    Mutation(
        "tables-to-previous-without-opening",
        TABLES,
        "change = b + a * (n_document + n_previous + t)",
        "change = 1.0",
        "The weight (b | a)_T of the tables in the draw of t.",
        _posterior("cmgs", "three segments", SEQUENTIAL),
    ),
    Mutation(
        "tables-to-previous-without-mixing",
        TABLES,
        "            change *= n_previous + t + to_previous\n",
        "",
        "The weight T + lambda_T of the segment before in the draw of t.",
        _posterior("cmgs", "cascade", ADAPTIVE),
    ),
    Mutation(
        "tables-split-without-mixing",
        TABLES,
        "        change *= (n_document + s + to_document) / (n_previous + t + to_previous)\n",
        "",
        "Both parents' weights when a table changes its parent.",
        _posterior("cmgs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "tables-split-without-binomial",
        TABLES,
        "change = (base + s) / (total + s) * (t + 1) / (s + 1)",
        "change = (base + s) / (total + s)",
        "C(s + t, s) when a table changes its parent.",
        _posterior("cmgs", "three topics", ADAPTIVE),
    ),
    Mutation(
        "tables-split-without-customers",
        TABLES,
        "        change *= above_b + above_customers + t\n",
        "",
        "(b)_N of the segment before, which has a customer less for each table of the document.",
        _posterior("cmgs", "cascade", ADAPTIVE),
    ),
]
