"""Wrong patches: features of an Indian buffet (mixture)."""

from mutation.mutation import Mutation

FEATURES = "tests/exact/mixture/test_latent_features.py"
ROWS = "mixture/_latent_features/_kernels_rows.py"
POSTERIOR = "mixture/_latent_features/_kernels_posterior.py"
PREDICT = "mixture/_latent_features/_kernels_predict.py"
HYPER = "mixture/_latent_features/_hyper.py"
WALKER = "mixture/_latent_features/_sampler.py"
MODEL = "mixture/_latent_features/_model.py"
SPLITS = "mixture/_latent_features/_kernels_split_merge.py"
SWEEPS = f"{FEATURES}::test_features"
GAPS = f"{FEATURES}::test_features_and_missing_entries"
HYPERS = f"{FEATURES}::test_drawn_concentration_and_variances"
DENSITIES = f"{FEATURES}::test_predictive_densities"

MOVES = f"{FEATURES}::test_splits_and_merges_leave_the_posterior_alone[1]"

OWN_NOISE = f"{FEATURES}::test_columns_with_noise_of_their_own"

MUTATIONS = [
    Mutation(
        "ibp-variances-of-columns-without-their-rows",
        HYPER,
        "        total = shape + 0.5 * evidence.n_rows\n",
        "        total = shape + 0.5 * (evidence.n_rows - 1)\n",
        "Every row counts, for no mean of the column is drawn.",
        f"{OWN_NOISE}[all]",
    ),
    Mutation(
        "ibp-squares-of-columns-in-other-units",
        HYPER,
        "        squares = evidence.residual_squares(ratio) * scales**2\n",
        "        squares = evidence.residual_squares(ratio)\n",
        "The rows come divided by the scales.",
        f"{OWN_NOISE}[all]",
    ),
    Mutation(
        "ibp-missing-entries-in-other-units",
        WALKER,
        "        self.imputed = rows[self._missing] * self._scales_of_missing()\n",
        "        self.imputed = rows[self._missing]\n",
        "Missing entries outlive the scales that they were drawn with.",
        f"{OWN_NOISE}[gaps]",
    ),
    Mutation(
        "ibp-density-without-its-scales",
        MODEL,
        "        return shares, densities - seen @ np.log(self.scales)\n",
        "        return shares, densities\n",
        "The density is that of rows that are not divided by scales.",
        f"{DENSITIES}[scales]",
    ),
    Mutation(
        "ibp-scan-in-the-order-of-columns",
        ROWS,
        "        place = min(int(next_double(rng) * n_left), n_left - 1)\n",
        "        place = n_left - 1\n",
        "Columns stand in the order in which features came, which depends on who has them.",
        f"{FEATURES}::test_long_chains[gaps]",
    ),
    Mutation(
        "ibp-own-features-dropped-first",
        ROWS,
        "posterior, noise, own / ratio, rng",
        "posterior, noise, 0.0, rng",
        "The shared features are drawn given the row's own ones.",
        f"{FEATURES}::test_hardly_any_noise",
    ),
    Mutation(
        "ibp-own-features-stay-for-their-number",
        ROWS,
        "    return square, n_seen, spread - own\n",
        "    return square, n_seen, spread\n",
        "The number of own features is drawn without the old ones.",
        SWEEPS,
    ),
    Mutation(
        "ibp-share-of-the-others-only",
        ROWS,
        "sign * math.log(m / (n_rows - m))",
        "sign * math.log((m + 0.5) / (n_rows - m))",
        "m / N against (N - m) / N.",
        SWEEPS,
    ),
    Mutation(
        "ibp-certain-weights",
        ROWS,
        "other_spread = spread + 2.0 * sign * products[k] + posterior.covariance[k, k]",
        "other_spread = spread",
        "Weights are not known: features that few rows have make a row less certain.",
        SWEEPS,
    ),
    Mutation(
        "ibp-products-stay",
        ROWS,
        "                products[j] += sign * posterior.covariance[k, j]\n",
        "                products[j] += 0.0\n",
        "M z changes with z.",
        f"{FEATURES}::test_long_chains[narrow]",
    ),
    Mutation(
        "ibp-poisson-without-factorial",
        ROWS,
        "            log_poisson += log_rate - math.log(float(k))\n        log_term",
        "            log_poisson += log_rate\n        log_term",
        "k own features have no order: 1 / k!.",
        f"{FEATURES}::test_fewer_rows[1]",
    ),
    Mutation(
        "ibp-missing-without-the-weights",
        ROWS,
        "math.sqrt(noise * spread)",
        "math.sqrt(noise)",
        "The weights are summed out: a missing entry varies by them, too.",
        GAPS,
    ),
    Mutation(
        "ibp-missing-entries-tell-features",
        ROWS,
        "        residual[d] *= seen[d]\n",
        "        residual[d] *= 1.0\n",
        "While features are drawn, missing entries are summed out.",
        GAPS,
    ),
    Mutation(
        "ibp-posterior-without-the-way-back",
        POSTERIOR,
        "        share = sign / spread * products[k]\n",
        "        share = sign * products[k]\n",
        "A row moves the covariance by g g^T / (1 + s z^T g).",
        SWEEPS,
    ),
    Mutation(
        "ibp-variance-without-jacobian",
        HYPER,
        "    return -shape * log_variance - rate",
        "    return -(shape + 1.0) * log_variance - rate",
        "The density of log v is v times that of v.",
        HYPERS,
    ),
    Mutation(
        "ibp-weights-forgotten-in-the-evidence",
        HYPER,
        " + k * math.log(noise / weights) - log_det",
        " - log_det",
        "The prior of the weights has a constant for each feature.",
        HYPERS,
    ),
    Mutation(
        "ibp-expected-features-of-one-row",
        WALKER,
        "            expected = expected_features(n_rows, 1.0)\n",
        "            expected = 1.0\n",
        "The number of features is Poisson(alpha H_N).",
        HYPERS,
    ),
    Mutation(
        "ibp-next-row-counts-as-one-of-the-others",
        MODEL,
        "        return self.counts / (self.n_rows + 1.0)\n",
        "        return (self.counts - 1e-9) / self.n_rows\n",
        "The next row is the (N + 1)-th.",
        f"{DENSITIES}[alike]",
    ),
    Mutation(
        "ibp-next-row-has-nothing-new",
        MODEL,
        "self.concentration / (self.n_rows + 1.0) if new else 0.0",
        "0.0 if new else 0.0",
        "The next row may have features that nobody has.",
        f"{DENSITIES}[alike]",
    ),
    Mutation(
        "ibp-gray-code-without-cross-products",
        PREDICT,
        "                products[free[b]] += sign * covariance[k, free[b]]\n",
        "                products[free[b]] += 0.0\n",
        "M z changes with z.",
        f"{DENSITIES}[alike]",
    ),
    Mutation(
        "ibp-estimate-without-its-proposal",
        PREDICT,
        "sum_vectors(x, seen, _N_SUMMED, model, others) - log_proposal",
        "sum_vectors(x, seen, _N_SUMMED, model, others)",
        "What is drawn with a probability is divided by it.",
        f"{FEATURES}::test_estimated_densities_have_no_bias",
    ),
    Mutation(
        "ibp-split-way-forgotten",
        SPLITS,
        "math.log1p(-next_double(rng)) < gain - log_way",
        "math.log1p(-next_double(rng)) < gain",
        "A split divides by the probability of its allocation.",
        MOVES,
    ),
    Mutation(
        "ibp-split-without-concentration",
        SPLITS,
        "    gain = log_rate - log_weight(a, features)\n",
        "    gain = -log_weight(a, features)\n",
        "A further feature costs alpha.",
        MOVES,
    ),
    Mutation(
        "ibp-merge-of-what-a-row-has-both-of",
        SPLITS,
        "        elif a != b and not features[i, b] and not features[j, a]:\n",
        "        elif a != b:\n",
        "No split gives i or j both halves.",
        MOVES,
    ),
    Mutation(
        "ibp-split-halves-exclude-each-other",
        SPLITS,
        "        total = first + second + both\n",
        "        both = 0.0 if is_split else both\n        total = first + second + both\n",
        "What a split can do, a merge must be able to undo, and the other way round.",
        MOVES,
    ),
    Mutation(
        "ibp-evidence-without-the-prior-of-weights",
        SPLITS,
        "(n_features * math.log(ratio) - log_det)",
        "(-log_det)",
        "The prior of the weights has a constant for each feature.",
        MOVES,
    ),
]

EQUIVALENTS = [
    Mutation(
        "ibp-allocated-rows-do-not-count",
        SPLITS,
        "        move_row(features[i], rows[i], 1.0, n_features, posterior)\n",
        "",
        "Another proposal, whose probability is known: its moves are as exact.",
        MOVES,
    ),
    Mutation(
        "ibp-another-start-of-a-fold-in",
        PREDICT,
        "        z[k] = model.log_odds[k] > 0.0\n",
        "        z[k] = 0\n",
        "Where a fold-in begins is forgotten.",
        f"{FEATURES}::test_fold_ins_have_the_right_means",
    ),
]
