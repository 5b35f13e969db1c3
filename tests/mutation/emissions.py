"""Wrong patches of emissions."""

from mutation.mutation import Mutation

MARGINALS = "emissions/_marginals.py"
FORECAST_TESTS = "tests/exact/sequence/hmm/test_forecast.py"

BAG_TESTS = "tests/exact/emissions/test_multinomial.py"
BIT_TESTS = "tests/exact/emissions/test_bernoulli.py"
MIXED_TESTS = "tests/exact/emissions/test_independent.py"
GAUSSIAN_TESTS = "tests/exact/emissions/test_gaussian.py"
PREDICTIVES = "tests/exact/emissions/test_predictives.py"
LINK_TESTS = "tests/exact/emissions/test_factor_links.py"
VECTORS = "tests/exact/emissions/test_factor_vectors.py"
WEIGHTS = "tests/exact/emissions/test_factor_weights.py"

AMPLITUDES = "emissions/_kernels_factor_amplitudes.py"
BERNOULLI = "emissions/_bernoulli.py"
EVENTS = "emissions/_kernels_events.py"
EVENT_MARGINALS = "emissions/_event_marginals.py"
FACTORS = "emissions/_kernels_factors.py"
GAUSSIANS = "emissions/_kernels_gaussian.py"
LINKS = "emissions/_kernels_links.py"
GAUSSIAN_SAMPLER = "emissions/_gaussian.py"
GAUSSIAN_MODEL = "emissions/_gaussian_model.py"
INDEPENDENT = "emissions/_independent.py"
INDEPENDENT_MODEL = "emissions/_independent_model.py"
MULTINOMIAL = "emissions/_multinomial.py"
POISSON = "emissions/_poisson.py"
STUDENTS = "emissions/_kernels_student.py"
SYMBOLS = "emissions/_categorical.py"

MUTATIONS = [
    Mutation(
        "moves-missing-values-twice",
        "emissions/_gaussian.py",
        "        if self._filled is None:\n            self.complete(states, rng)",
        "        self.complete(states, rng)",
        "Parameters of before a move say nothing of what is missing after it.",
        "tests/unit/emissions/test_gaussian.py::test_parameters_are_drawn_given_completed_values",
    ),
    Mutation(
        "factors-half-shift",
        FACTORS,
        "(means[d] - fit[d] - 0.5 * shift[d])",
        "(means[d] - fit[d] - shift[d])",
        "The square of the weight counts half; the papers' (86), (1.112).",
        f"{VECTORS}::test_vectors[normal]",
    ),
    Mutation(
        "factors-own-bit-counted",
        FACTORS,
        "others_on = n_on[f] - (spin > 0.0)",
        "others_on = n_on[f]",
        "A bit does not support itself.",
        f"{VECTORS}::test_vectors[normal]",
    ),
    Mutation(
        "factors-swap-uncoupled",
        FACTORS,
        "                gain += weigh_change(links, spins, j, 2.0, decay)\n",
        "",
        "A swap changes similarities, too.",
        f"{VECTORS}::test_vectors[coupled, three factors]",
    ),
    Mutation(
        "factors-idle-always-kept",
        FACTORS,
        "            if next_double(rng) < math.exp(min(gain, 0.0)):\n                for b in",
        "            if True:\n                for b in",
        "Bits of states without data enter the normalisers of transitions.",
        f"{VECTORS}::test_vectors[coupled, two idle states]",
    ),
    Mutation(
        "factors-noise-not-halved",
        FACTORS,
        "shape + 0.5 * seen[d]",
        "shape + seen[d]",
        "A value adds one half to the shape of the precision.",
        f"{WEIGHTS}::test_weights_and_noise",
    ),
    Mutation(
        "factors-weights-without-noise",
        FACTORS,
        "n = precisions[d] * counts[j, d]\n",
        "n = counts[j, d]\n",
        "The papers' (1.122), (1.137): the noise divides theta'theta.",
        f"{WEIGHTS}::test_weights_and_noise",
    ),
    Mutation(
        "factors-latent-sign",
        FACTORS,
        "totals[j, d] -= draw_normal_above(centre, rng)",
        "totals[j, d] -= draw_normal_above(-centre, rng)",
        "Where a value is 0 the latent normal is below 0.",
        f"{WEIGHTS}::test_probit_weights",
    ),
    Mutation(
        "amplitudes-trace-not-halved",
        AMPLITUDES,
        "result + 0.5 * projections.variance * trace",
        "result + projections.variance * trace",
        "The amplitudes take half of what they explain off the squared residuals.",
        f"{VECTORS}::test_vectors[amplitudes]",
    ),
    Mutation(
        "amplitudes-mean-alone",
        AMPLITUDES,
        "column[a] = scale * column[a] + draw_normal(rng)",
        "column[a] = scale * column[a]",
        "Weights and variances are drawn given a draw of the amplitudes, not given their mean.",
        f"{WEIGHTS}::test_amplitudes",
    ),
    Mutation(
        "laplacian-moves-one-way",
        LINKS,
        "counts[j, k] + counts[k, j]",
        "2 * counts[j, k]",
        "Moves into a state count as those out of it.",
        f"{VECTORS}::test_vectors[coupled]",
    ),
    Mutation(
        "factors-latent-tail",
        FACTORS,
        "if 0.5 * (x - rate) ** 2 < draw_exponential(rng)",
        "if 0.5 * (x - bound) ** 2 < draw_exponential(rng)",
        "The ratio of the densities peaks at the rate.",
        f"{WEIGHTS}::test_normal_above[0.6]",
    ),
    Mutation(
        "laplacian-own-row-forgotten",
        LINKS,
        "    if links.left[j] > 0.0:\n        steps[j]",
        "    if False:\n        steps[j]",
        "A vector changes the normaliser of its own row.",
        f"{VECTORS}::test_vectors[coupled]",
    ),
    Mutation(
        "laplacian-totals-stay",
        LINKS,
        "            links.log_totals[i] += links.steps[i]\n    for k",
        "            links.log_totals[i] += 0.0\n    for k",
        "Normalisers follow the changes that are kept.",
        f"{VECTORS}::test_vectors[coupled]",
    ),
    Mutation(
        "laplacian-column-forgotten",
        LINKS,
        "steps[i] = small_log_1p(terms[i] * (growth[i] - 1.0))",
        "steps[i] = 0.0",
        "A vector changes the normalisers of other rows, where the change is small, too.",
        f"{LINK_TESTS}::test_change_of_a_vector[0.3-30.0]",
    ),
    Mutation(
        "gaussian-missing-values-too-close",
        GAUSSIANS,
        "                        x[d] = draw_normal(rng)\n",
        "                        x[d] = 0.5 * draw_normal(rng)\n",
        "Missing values are drawn, with the covariance that is left.",
        f"{GAUSSIAN_TESTS}::test_missing_values_are_drawn_given_what_was_observed",
    ),
    Mutation(
        "gaussian-scale-without-means",
        GAUSSIANS,
        "        x = weight * (centres[k, d] - mean[b, d])\n",
        "        x = 0.0 * weight\n",
        "The term of the posterior's scale for means far from the prior's.",
        f"{GAUSSIAN_TESTS}::test_log_evidence[full-2]",
    ),
    Mutation(
        "gaussian-mean-without-observations",
        GAUSSIANS,
        "draw_normal(rng) / math.sqrt(weight)",
        "draw_normal(rng) / math.sqrt(precision)",
        "The mean's covariance is Sigma / (c + n).",
        f"{GAUSSIAN_TESTS}::test_draws_have_the_moments_of_the_posterior",
    ),
    Mutation(
        "gaussian-freedom-the-wrong-way",
        GAUSSIANS,
        "(dof - (width - 1 - d))",
        "(dof - d)",
        "Degrees of freedom rise along the diagonal: A^T A is Wishart, A A^T is not asked for.",
        f"{GAUSSIAN_TESTS}::test_draws_have_the_moments_of_the_posterior",
    ),
    Mutation(
        "predictive-without-the-means-error",
        GAUSSIAN_SAMPLER,
        "divisors / freedoms * (1.0 + 1.0 / (precision + self.counts))",
        "divisors / freedoms",
        "The mean of a state is known from n observations only.",
        f"{PREDICTIVES}::test_full_covariances[2-1.5]",
    ),
    Mutation(
        "predictive-freedom-of-the-prior",
        GAUSSIAN_SAMPLER,
        "freedoms = dofs - (width - 1.0)",
        "freedoms = dofs",
        "Each column takes a degree of freedom.",
        f"{PREDICTIVES}::test_full_covariances[2-1.5]",
    ),
    Mutation(
        "predictive-tail-of-all-columns",
        STUDENTS,
        "exponents[b, j] = 0.5 * (freedoms[k] + n)",
        "exponents[b, j] = 0.5 * (freedoms[k] + width)",
        "Missing columns do not count in the exponent of a t density.",
        f"{PREDICTIVES}::test_missing_entries_are_integrated_out[4.5-1]",
    ),
    Mutation(
        "predictive-normaliser-of-all-columns",
        STUDENTS,
        "constants[j] += log_normaliser(freedoms[k], n)",
        "constants[j] += log_normaliser(freedoms[k], width)",
        "Missing columns do not count in the normaliser of a t density.",
        f"{PREDICTIVES}::test_missing_entries_are_integrated_out[4.5-1]",
    ),
    Mutation(
        "predictive-logarithm-rounded",
        STUDENTS,
        "z = fast_log(y) + (x - (y - 1.0)) / y",
        "z = fast_log(y)",
        "log(1 + x) of a small x is all in what 1 + x loses.",
        f"{PREDICTIVES}::test_logarithms_of_one_and_more",
    ),
    Mutation(
        "predictive-series-cut",
        STUDENTS,
        "        result -= step / (12.0 * low * (low + step))\n",
        "",
        "Stirling's formula alone lacks 1 / (12 x).",
        f"{PREDICTIVES}::test_stirlings_series_takes_over_smoothly[10001.0]",
    ),
    Mutation(
        "bits-rest-left-out",
        EVENTS,
        "        for d in range(rest, n_columns):\n            a = places[t, d]",
        "        for d in range(rest, n_columns - 1):\n            a = places[t, d]",
        "The last one to three columns count, too.",
        f"{BIT_TESTS}::test_log_probabilities[5]",
    ),
    Mutation(
        "bits-four-at-a-time",
        EVENTS,
        "+ (rows[c, j] + rows[e, j])",
        "+ (rows[c, j] + rows[c, j])",
        "Each of four columns has its own row.",
        f"{BIT_TESTS}::test_log_probabilities[4]",
    ),
    Mutation(
        "bits-prior-swapped",
        EVENTS,
        "of_one + counts[2 * d + 1, j], of_zero + counts[2 * d, j]",
        "of_zero + counts[2 * d + 1, j], of_one + counts[2 * d, j]",
        "p belongs to 1, q to 0.",
        f"{BIT_TESTS}::test_posterior",
    ),
    Mutation(
        "bits-missing-are-zeros",
        BERNOULLI,
        "    places[missing] = 2 * n_columns\n",
        "",
        "What is missing says nothing.",
        f"{BIT_TESTS}::test_evidence",
    ),
    Mutation(
        "bits-as-if-known",
        BERNOULLI,
        "(of_one + ones) / (of_one + of_zero + ones + zeros)",
        "(of_one + ones) / (of_one + of_zero + ones + zeros + 1.0)",
        "The predictive probability is the ratio of two evidences.",
        f"{BIT_TESTS}::test_predictive_is_a_ratio_of_evidences_and_sums_to_one",
    ),
    Mutation(
        "events-counted-once",
        EVENTS,
        "counts[kinds[i], j] += int(amounts[i])",
        "counts[kinds[i], j] += 1",
        "A kind may happen several times in a step.",
        f"{BAG_TESTS}::test_evidence",
    ),
    Mutation(
        "events-without-amounts",
        EVENTS,
        "log_obs[t, j] += amount * log_probs[v, j]",
        "log_obs[t, j] += log_probs[v, j]",
        "Each event multiplies the probability.",
        f"{BAG_TESTS}::test_log_probabilities",
    ),
    Mutation(
        "events-without-coefficient",
        MULTINOMIAL,
        "return float(events) + self._log_coefficient",
        "return float(events)",
        "The evidence is that of rows, in whatever order their events came.",
        f"{BAG_TESTS}::test_evidence",
    ),
    Mutation(
        "events-as-if-known",
        MULTINOMIAL,
        "self.totals, concentrations)",
        "self.totals)",
        "Probabilities are known from finitely many events only.",
        f"{BAG_TESTS}::test_predictive_is_a_ratio_of_evidences_and_sums_to_one[4]",
    ),
    Mutation(
        "events-rounded",
        EVENT_MARGINALS,
        "result = (shapes - 0.5) * np.log1p(counts / shapes) + counts * (np.log(sums) - 1.0)",
        "result = (shapes + 0.5) * np.log1p(counts / shapes) + counts * (np.log(sums) - 1.0)",
        "log Gamma(a) is Stirling's formula of a! without log a.",
        f"{BAG_TESTS}::test_rising_factorials_lose_no_digits[4.0]",
    ),
    Mutation(
        "events-spread-of-binomial",
        EVENT_MARGINALS,
        "spread = (mean * c + square) / (c + 1.0)",
        "spread = (mean * c + mean) / (c + 1.0)",
        "Counts of unknown probabilities vary more than binomial ones.",
        f"{BAG_TESTS}::test_marginals_by_enumeration[learned]",
    ),
    Mutation(
        "mixed-last-part-alone",
        INDEPENDENT,
        "            out += self._scratch",
        "            out[:] = self._scratch",
        "Log densities of parts are added up.",
        f"{MIXED_TESTS}::test_log_densities",
    ),
    Mutation(
        "mixed-evidence-of-one-part",
        INDEPENDENT,
        "sum(sampler.log_evidence() for sampler in self.samplers)",
        "sum(sampler.log_evidence() for sampler in self.samplers[:1])",
        "All parts tell whether to split or merge.",
        f"{MIXED_TESTS}::test_evidence",
    ),
    Mutation(
        "mixed-columns-in-order",
        INDEPENDENT_MODEL,
        "            out[:, columns] = block",
        "            out[:, np.sort(columns)] = block",
        "Columns of a part may be in any order.",
        f"{MIXED_TESTS}::test_quantiles_of_mixtures[0]",
    ),
    Mutation(
        "predictive-draws-without-tails",
        GAUSSIAN_MODEL,
        "noise /= np.maximum(roots, kernels.SMALLEST_ROOT)",
        "noise /= 1.0",
        "Samples of a stored state are t distributed, as its densities say.",
        f"{PREDICTIVES}::test_draws_follow_the_density[full]",
    ),
    Mutation(
        "predictive-counts-rounded",
        POISSON,
        "x - np.log(one_more))",
        "x - np.log1p(x))",
        "Where x is near -1, 1 + x has lost its digits.",
        f"{PREDICTIVES}::test_large_counts_and_shapes_lose_no_digits[15]",
    ),
    Mutation(
        "predictive-counts-as-if-known",
        POISSON,
        "self.counts[:, np.newaxis]), shapes)",
        "self.counts[:, np.newaxis]))",
        "The intensity of a state is known from n observations only.",
        f"{PREDICTIVES}::test_counts_by_quadrature_over_the_intensity[1.5-0.4]",
    ),
    Mutation(
        "symbols-first-states-one-by-one",
        SYMBOLS,
        "if t == 0 or next_double(rng) * MEAN_RUN < 1.0:",
        "if True:",
        "First states come in runs, or chains of many symbols get stuck.",
        "tests/unit/emissions/test_categorical.py::test_first_states_come_in_runs",
    ),
    Mutation(
        "forecast-scale-for-deviation",
        MARGINALS,
        "        ratios = np.where(self.freedoms > 2.0, self.freedoms / above, np.inf)",
        "        ratios = np.where(self.freedoms > 2.0, 1.0, np.inf)",
        "The variance of a Student t distribution is above its squared scale.",
        f"{FORECAST_TESTS}::test_numbers[Student]",
    ),
    Mutation(
        "impute-without-the-row",
        MARGINALS,
        'means[:, unseen] + np.einsum("njs,jsu->nju", away, slopes)',
        'means[:, unseen] + 0.0 * np.einsum("njs,jsu->nju", away, slopes)',
        "The other columns of a row tell of those that are missing.",
        f"{FORECAST_TESTS}::test_fill[full, Student]",
    ),
]
