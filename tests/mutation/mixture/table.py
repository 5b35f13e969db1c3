"""Wrong patches: weights, missing cells and explanations of mixtures of tables."""

from mutation.mutation import Mutation

CELLS = "tests/exact/mixture/test_table_cells.py"
WEIGHTS = "tests/unit/mixture/test_weights.py"
TABLES = "tests/unit/mixture/test_tables.py"

MUTATIONS = [
    Mutation(
        "table-samples-count-alike",
        "mixture/_table/_cells.py",
        "    logs = np.concatenate([model.log_joint_with(values) for model in models], axis=1)\n",
        "    logs = np.concatenate([log_posterior(model.log_joint_with(values), model.log_weights) "
        "for model in models], axis=1)\n",
        "A sample that fits the observed cells counts more.",
        f"{CELLS}::test_predictions[gaussian-row1]",
    ),
    Mutation(
        "table-counts-are-not-whole",
        "mixture/_table/_cells.py",
        "out[rows, d] = np.rint(self._sums[rows, d])",
        "out[rows, d] = self._sums[rows, d]",
        "A count is whole.",
        f"{CELLS}::test_predictions[gaussian-row1]",
    ),
    Mutation(
        "table-flags-are-shares",
        "mixture/_table/_cells.py",
        "out[rows, d] = self._sums[rows, d] > 0.5",
        "out[rows, d] = self._sums[rows, d]",
        "A flag is 0 or 1.",
        f"{CELLS}::test_predictions[gaussian-row1]",
    ),
    Mutation(
        "table-categories-of-the-last-sample",
        "mixture/_table/_cells.py",
        "own if d not in self._probs else self._probs[d] + own",
        "own",
        "Probabilities are summed over the samples.",
        f"{CELLS}::test_categories_are_averaged_over_samples",
    ),
    Mutation(
        "table-components-drawn-by-prior",
        "mixture/_table/_cells.py",
        "        samples, components = _draw_components(weights, rng)\n",
        "        samples, components = _draw_components([np.broadcast_to(model.weights, w.shape) "
        "for model, w in zip(models, weights, strict=True)], rng)\n",
        "The observed cells inform about the component.",
        f"{CELLS}::test_draws[gaussian]",
    ),
    Mutation(
        "table-cells-drawn-apart",
        "mixture/_table/_cells.py",
        "np.where(hidden, model.sample(components, rng), own)",
        "np.where(hidden, model.sample(rng.permutation(components), rng), own)",
        "All cells of a row are of the same component.",
        f"{CELLS}::test_cells_of_a_row_are_drawn_together[gaussian]",
    ),
    Mutation(
        "table-divergence-of-the-mixture",
        "mixture/_table/_divergences.py",
        "        out += amounts @ (np.exp(logs) * (logs - mixed[:, np.newaxis]))\n",
        "        out += amounts @ (np.exp(mixed)[:, np.newaxis] * (mixed[:, np.newaxis] - logs))\n",
        "The mean is over rows of the component.",
        f"{CELLS}::test_divergences[normal]",
    ),
    Mutation(
        "table-divergence-without-weights",
        "mixture/_table/_divergences.py",
        "    mixed = weights @ probs\n",
        "    mixed = probs.mean(axis=0)\n",
        "Components have different weights.",
        f"{CELLS}::test_divergences[normal]",
    ),
    Mutation(
        "table-panels-of-one-component",
        "mixture/_table/_divergences.py",
        "of_distance * np.abs(x - locations)).min())",
        "of_distance * np.abs(x - locations)).max())",
        "Panels are narrow near every component.",
        f"{CELLS}::test_divergences_of_far_and_narrow_components",
    ),
    Mutation(
        "table-fractions-rounded-up",
        "mixture/_table/_weights.py",
        "        amounts[ends[~is_whole]] = (weights - whole)[~is_whole]\n",
        "        amounts[ends[~is_whole]] = 1.0\n",
        "A fraction is a power.",
        f"{WEIGHTS}::test_fractions_are_powers_of_the_likelihood",
    ),
    Mutation(
        "table-labels-of-the-first-copy",
        "mixture/_table/_weights.py",
        "    order = np.lexsort((found, -amounts, rows))\n",
        "    order = np.lexsort((found, rows))\n",
        "The label of most copies counts.",
        f"{WEIGHTS}::test_ties_go_to_the_smallest_component",
    ),
    Mutation(
        "table-weights-of-zero-are-rows",
        "mixture/_table/_weights.py",
        "    counts = whole + ~is_whole\n",
        "    counts = np.maximum(whole + ~is_whole, 1.0)\n",
        "A row of weight 0 is left out.",
        f"{WEIGHTS}::test_a_row_of_weight_w_is_w_rows[collapsed]",
    ),
    Mutation(
        "table-groups-do-not-help",
        "mixture/_table/_cells.py",
        "        weights = model.responsibilities(ptr, values, key + np.uint64(m))\n",
        "        weights = np.broadcast_to(model.weights, (len(values), len(model.weights)))\n",
        "A row is of the components of its group.",
        f"{TABLES}::test_groups_help_their_rows",
    ),
]
