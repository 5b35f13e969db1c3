"""Wrong patches of tables of mixed columns, with gaps and powers."""

from mutation.mutation import Mutation

TABLES = "tests/exact/mixture/test_tables.py"
CELLS = "emissions/_cells/_kernels.py"
DRAWS = "emissions/_cells/_kernels_draws.py"
TERMS = "emissions/_cells/_terms.py"
TABLE = "emissions/_cells/_table.py"
ALONE = f"{TABLES}::test_the_kernels_weigh_rows"
GIBBS = f"{TABLES}::test_partitions[cells-gibbs]"
GIBBS_OF_POWERS = f"{TABLES}::test_partitions[powers-gibbs]"
BLOCKED = f"{TABLES}::test_partitions[cells-blocked]"
BLOCKED_OF_POWERS = f"{TABLES}::test_partitions[powers-blocked]"

MUTATIONS = [
    Mutation(
        "cells-gap-counted-as-zero",
        TERMS,
        "        as_readonly(amounts),\n",
        "        as_readonly(np.nan_to_num(amounts)),\n",
        "A missing count is not a count of 0.",
        f"{ALONE}[cells]",
    ),
    Mutation(
        "cells-gap-is-a-symbol",
        TERMS,
        "    codes = np.where(codes >= 0, codes + ptr[:-1].astype(np.int32), codes)\n",
        "    codes = np.maximum(codes, 0) + ptr[:-1].astype(np.int32)\n",
        "A missing category is not the first one.",
        f"{ALONE}[cells]",
    ),
    Mutation(
        "cells-power-left-out-of-the-constants",
        TERMS,
        "constants if powers is None else powers * constants",
        "constants",
        "The base measure of a row has its power, too.",
        f"{ALONE}[powers]",
    ),
    Mutation(
        "cells-power-left-out-of-the-normalizer",
        CELLS,
        "log_rise(prior.totals[d] + (clusters.totals[SEEN, d, k] - less), w)",
        "log_rise(prior.totals[d] + (clusters.totals[SEEN, d, k] - less), 1.0)",
        "The evidence with the row counts its power in the normalizer.",
        GIBBS_OF_POWERS,
    ),
    Mutation(
        "cells-power-counted-in-the-sizes",
        CELLS,
        "    clusters.vectors[SIZE, k] += sign\n",
        "    clusters.vectors[SIZE, k] += w\n",
        "The prior of partitions counts rows, whatever their powers.",
        GIBBS_OF_POWERS,
    ),
    Mutation(
        "cells-powered-row-counts-in-its-own-cluster",
        CELLS,
        "        less = w if k == own else 0.0\n",
        "        less = 0.0\n",
        "A row chooses given the others, not given itself.",
        GIBBS_OF_POWERS,
    ),
    Mutation(
        "cells-symbol-counts-in-its-own-cluster",
        CELLS,
        "own_product *= prior.weights[v] + (clusters.symbols[SEEN, v, own] - 1.0)",
        "own_product *= prior.weights[v] + clusters.symbols[SEEN, v, own]",
        "A row chooses given the others, not given itself.",
        GIBBS,
    ),
    Mutation(
        "cells-moved-row-without-its-total",
        CELLS,
        "            clusters.totals[SEEN, d, k] += w\n",
        "",
        "The number of observed cells of a column changes with each row.",
        GIBBS,
    ),
    Mutation(
        "cells-draws-without-the-power",
        DRAWS,
        "drawn.heads[k] + power * logs[k]",
        "drawn.heads[k] + logs[k]",
        "Given the parameters, the likelihood of a row has its power.",
        BLOCKED_OF_POWERS,
    ),
    Mutation(
        "cells-intensity-drawn-for-no-rows",
        DRAWS,
        "math.log(prior.rates[d] + clusters.counts[SEEN, d, k])",
        "math.log(prior.rates[d])",
        "The rate of an intensity grows with the observed cells of its column.",
        BLOCKED,
    ),
    Mutation(
        "tables-model-without-powers",
        TABLE,
        "                leaf.condition_with_powers(states, self._powers)\n",
        "                leaf.condition(states)\n",
        "The statistics of a cluster count rows with their powers.",
        f"{TABLES}::test_predictive_densities[powers]",
    ),
    Mutation(
        "tables-constant-columns-choose",
        TABLE,
        "return [leaf for leaf in self._list_comparing() if not leaf.is_constant]",
        "return self._list_comparing()",
        "A column of a single symbol shows no clusters.",
        "tests/unit/mixture/test_mixed_columns.py::test_constant_columns_show_no_clusters"
        "[collapsed]",
    ),
    Mutation(
        "tables-constant-columns-of-the-first-rows",
        TABLE,
        'if prior is not None and not getattr(leaf, "is_constant", False):',
        "if prior is not None:",
        "The frequencies of a constant column are those of all rows.",
        "tests/unit/mixture/test_mixed_columns.py::test_constant_columns_of_many_rows",
    ),
    Mutation(
        "tables-part-keeps-its-prior",
        TABLE,
        "                leaf.draw_shared_given(own, rng, *log_odds)\n",
        "                pass\n",
        "Parts with a drawn prior draw it in every sweep.",
        f"{TABLES}::test_drawn_concentration",
    ),
    Mutation(
        "tables-drawn-prior-is-not-taken",
        TABLE,
        "        if any(new is not old for new, old in zip(priors, self._prior, strict=True)):\n",
        "        if not self._prior:\n",
        "Rows are weighed with the drawn prior.",
        f"{TABLES}::test_drawn_concentration",
    ),
    Mutation(
        "alike-columns-count-themselves",
        TABLE,
        "n_others = sum(other.differs for other in choosing if other is not leaf)",
        "n_others = min(sum(other.differs for other in choosing), len(choosing) - 1)",
        "The odds of a column depend on the others.",
        "tests/exact/mixture/test_alike_columns.py::test_partitions_and_columns[MixtureSampler]",
    ),
]
