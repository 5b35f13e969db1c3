"""Wrong patches of models of sequences."""

from mutation.mutation import Mutation

DRAWS = "tests/exact/sequence/hmm/test_transition_draws.py"
ROWS = "tests/exact/sequence/hmm/test_transitions.py"
DURATION_TESTS = "tests/exact/sequence/durations/test_durations.py"
SEGMENT_TESTS = "tests/exact/sequence/hmm/test_segments.py"
LOCATION_TESTS = "tests/exact/sequence/similarities/test_locations.py"
GAUSSIAN_TESTS = "tests/exact/emissions/test_gaussian.py"
VECTORS = "tests/exact/emissions/test_factor_vectors.py"
WEIGHTS = "tests/exact/emissions/test_factor_weights.py"
LINK_TESTS = "tests/exact/emissions/test_factor_links.py"
BEAM_TESTS = "tests/unit/sequence/hmm/test_beam.py"
NAMES = "tests/unit/sequence/hmm/test_alignment.py"

MESSAGES = "sequence/_hmm/_kernels_messages.py"
BEAM = "sequence/_hmm/_kernels_beam.py"
TRANSITIONS = "sequence/_hmm/_kernels_transitions.py"
CONCENTRATIONS = "sequence/_hmm/_transitions.py"
DURATIONS = "sequence/_durations/_kernels.py"
SEGMENTS = "sequence/_hmm/_kernels_segments.py"
LOCATIONS = "sequence/_similarities/_kernels_locations.py"
SPACE = "sequence/_similarities/_gaussian.py"
GAUSSIANS = "emissions/_kernels_gaussian.py"
FACTORS = "emissions/_kernels_factors.py"
AMPLITUDES = "emissions/_kernels_factor_amplitudes.py"
LAPLACIAN = "sequence/_similarities/_kernels_laplacian.py"
LINKS = "emissions/_kernels_links.py"
ALIGNMENT = "sequence/_hmm/_alignment.py"
SYMBOLS = "emissions/_categorical.py"


def _messages(function: str, case: str) -> str:
    return f"tests/exact/sequence/hmm/test_messages.py::{function}[{case}]"


_MESSAGES = [
    Mutation(
        "messages-never-in-logs",
        MESSAGES,
        "            if not is_safe(row):",
        "            if False:",
        "What soft zeros alone predict has to be found in logarithms.",
        _messages("test_log_likelihood", "left to right, late"),
    ),
    Mutation(
        "messages-hard-zeros",
        MESSAGES,
        "        filtered[j] = max(filtered[j] * scale, soft)",
        "        filtered[j] = filtered[j] * scale",
        "Without soft zeros nothing tells that logarithms are needed.",
        _messages("test_log_likelihood", "a narrow way out"),
    ),
    Mutation(
        "messages-tail-of-the-matrix",
        MESSAGES,
        "    for i in range(whole, n):\n        a = vector[i]",
        "    for i in range(whole, n - 1):\n        a = vector[i]",
        "The rows beyond the last whole block of eight.",
        _messages("test_posterior", "seventeen states"),
    ),
    Mutation(
        "messages-smoothing-without-predicted",
        MESSAGES,
        "                predicted[t + 1, j] = filtered[t + 1, j] / p if p > 0.0 else 0.0",
        "                predicted[t + 1, j] = filtered[t + 1, j]",
        "The denominator p(z_t+1 given x_<=t) of smoothing.",
        _messages("test_posterior", "plain"),
    ),
    Mutation(
        "messages-marginal-draws",
        MESSAGES,
        "                weights[i] = row[i] * column[i]",
        "                weights[i] = row[i]",
        "States are drawn jointly: the probability of the transition to the one drawn before.",
        _messages("test_sample_states", "plain"),
    ),
]


_FACTORS = [
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
        "laplacian-decay-without-jacobian",
        LAPLACIAN,
        "result = shape * log_decay - decay",
        "result = (shape - 1.0) * log_decay - decay",
        "The slice is that of log lambda.",
        f"{LINK_TESTS}::test_decay[coupled-prior0]",
    ),
    Mutation(
        "laplacian-decay-counts-rows-once",
        LAPLACIAN,
        "result -= left[b] * (largest + math.log(total))",
        "result -= largest + math.log(total)",
        "Every transition is normalised.",
        f"{LINK_TESTS}::test_decay[coupled-prior0]",
    ),
]


def _draws(case: str) -> str:
    return f"{DRAWS}::test_posterior[{case}]"


_TRANSITIONS = [
    Mutation(
        "transitions-first-states-not-counted",
        TRANSITIONS,
        "ptr[s + 1]):\n            counts[before, states[t]] += 1",
        "ptr[s + 1]):\n            counts[before, states[t]] += before < n_states",
        "Erratum 15: the initial row makes transitions, too.",
        _draws("plain"),
    ),
    Mutation(
        "transitions-rate-of-alpha-without-first-states",
        CONCENTRATIONS,
        "rate + of_states + of_first, rng)",
        "rate + of_states, rng)",
        "Erratum 15: log(1 + u_0) enters the rate of alpha.",
        _draws("plain"),
    ),
    Mutation(
        "transitions-no-failed-tables",
        TRANSITIONS,
        "                m += draw_poisson(a * failed, rng)",
        "                m += 0 * draw_poisson(a * failed, rng)",
        "Erratum 2: there are n + q customers; failed transitions have tables.",
        _draws("similar"),
    ),
    Mutation(
        "transitions-time-in-a-state-never-left",
        TRANSITIONS,
        "        log_times[j] = -math.inf\n",
        "        log_times[j] = 0.0\n",
        "Erratum 6: a state that is never left has u = 0.",
        _draws("never left"),
    ),
    Mutation(
        "transitions-rates-without-stickiness",
        TRANSITIONS,
        "(kappa if j == k else 0.0)\n            log_rate = log_all",
        "0.0 * kappa\n            log_rate = log_all",
        "Erratum 14: the shape of pi_jj is alpha beta_j + kappa.",
        _draws("sticky"),
    ),
    Mutation(
        "transitions-no-override",
        TRANSITIONS,
        "                m -= w\n",
        "",
        "Erratum 14: tables that kappa explains do not tell of beta.",
        _draws("sticky"),
    ),
    Mutation(
        "transitions-share-without-first-states",
        TRANSITIONS,
        "    events = draw_poisson(share * mass * log_first, rng)",
        "    events = 0",
        "Erratum 14: the factor exp(s r L_0) of the share of stickiness.",
        _draws("stickiness"),
    ),
    Mutation(
        "transitions-stickiness-of-first-states",
        CONCENTRATIONS,
        "rate += of_states + (1.0 - share) * of_first",
        "rate += of_states + of_first",
        "Erratum 14: the initial row knows no kappa.",
        _draws("stickiness"),
    ),
    Mutation(
        "transitions-mass-without-overridden-tables",
        CONCENTRATIONS,
        "_draw_concentration(shape + others + overridden, rate, rng)",
        "_draw_concentration(shape + others, rate, rng)",
        "Erratum 14: alpha + kappa explains all tables.",
        _draws("stickiness"),
    ),
    Mutation(
        "transitions-weights-without-J",
        TRANSITIONS,
        "draw_log_gamma(gamma / n_states + tables[k], rng)",
        "draw_log_gamma(gamma + tables[k], rng)",
        "Weak limit: beta ~ Dirichlet(gamma / J), a posteriori plus tables.",
        _draws("plain"),
    ),
    Mutation(
        "transitions-top-tables-without-J",
        TRANSITIONS,
        "top_tables += draw_table_count(tables[k], gamma / n_states, rng)",
        "top_tables += draw_table_count(tables[k], gamma, rng)",
        "Erratum 11: the customers of a state sit in a restaurant of concentration gamma / J.",
        _draws("plain"),
    ),
    Mutation(
        "transitions-rates-without-similarity",
        TRANSITIONS,
        "log_rate = log_1p_exp(log_times[j] + log_similarity[j, k])",
        "log_rate = log_all",
        "With failed transitions summed out the rate of pi is 1 + phi u.",
        _draws("similar"),
    ),
    Mutation(
        "transitions-self-transitions-of-segments",
        CONCENTRATIONS,
        "            np.fill_diagonal(logs[:-1], -np.inf)",
        "            np.fill_diagonal(logs[:-1], 0.0)",
        "Erratum 13: in a semi-Markov model all self-transitions fail.",
        _draws("no self-transitions"),
    ),
    Mutation(
        "transitions-joint-without-times",
        TRANSITIONS,
        "    result = -math.lgamma(float(total))\n",
        "    result = 0.0\n",
        "Erratum 7: T to the power -n, an integral over times that are Gamma(n).",
        f"{ROWS}::test_by_quadrature[similar]",
    ),
]

_LOCATIONS = [
    Mutation(
        "locations-gradient-one-way",
        LOCATIONS,
        "            gradient[d, rows[v]] += pulls[d, v]",
        "            gradient[d, rows[v]] += 0.0 * pulls[d, v]",
        "Erratum 4: transitions in both directions.",
        f"{LOCATION_TESTS}::test_gradient[7-1.0]",
    ),
    Mutation(
        "locations-gradient-without-prior",
        LOCATIONS,
        "_product_of_differences(share, source, x) - x\n",
        "_product_of_differences(share, source, x)\n",
        "Erratum 4: the prior's part of the gradient.",
        f"{LOCATION_TESTS}::test_gradient[2-1.0]",
    ),
    Mutation(
        "locations-whole-squares",
        LOCATIONS,
        "half[v] += 0.5 * (source[v] - x)",
        "half[v] += (source[v] - x)",
        "Erratum 4: exp(-lambda d^2 / 2).",
        f"{LOCATION_TESTS}::test_log_posterior[1.0]",
    ),
    Mutation(
        "locations-accepted-without-prior",
        LOCATIONS,
        "        after -= 0.5 * sum_of_squares(proposal)\n",
        "        after -= 0.5 * sum_of_squares(locations)\n",
        "The prior of the locations is part of the energy.",
        f"{LOCATION_TESTS}::test_posterior[two, fixed]",
    ),
    Mutation(
        "locations-decay-without-jacobian",
        SPACE,
        "result + shape * log_decay - rate * decay",
        "result + (shape - 1.0) * log_decay - rate * decay",
        "The slice is that of log lambda.",
        f"{LOCATION_TESTS}::test_posterior[two]",
    ),
    Mutation(
        "locations-scale-without-jacobian",
        SPACE,
        "exponent = shape - 0.5 * self.locations.size",
        "exponent = shape",
        "Locations shrink as the decay grows: so does a volume of them.",
        f"{LOCATION_TESTS}::test_posterior[two]",
    ),
    Mutation(
        "locations-scale-without-their-prior",
        SPACE,
        "exponent * log_decay - 0.5 * squares / decay - rate * decay",
        "exponent * log_decay - 0.5 * squares - rate * decay",
        "The scale of locations is that of their prior.",
        f"{LOCATION_TESTS}::test_posterior[two]",
    ),
    Mutation(
        "locations-held-decay-drawn",
        SPACE,
        "if self.fixed_decay is None and not hold:",
        "if self.fixed_decay is None:",
        "While states follow each other at random they say that no similarity matters.",
        "tests/unit/sequence/similarities/test_gaussian.py::test_held_decay_stays",
    ),
]

_DURATIONS = [
    Mutation(
        "durations-last-one-complete",
        DURATIONS,
        "            if is_last or d == longest:",
        "            if d == longest:",
        "Of the last segment of a sequence is known that it lasted so long or longer.",
        f"{DURATION_TESTS}::test_parameters_given_states[9-poisson_case]",
    ),
    Mutation(
        "durations-longest-one-complete",
        DURATIONS,
        "            if is_last or d == longest:",
        "            if is_last:",
        "A segment of D_max steps was cut off there.",
        f"{DURATION_TESTS}::test_parameters_given_states[4-poisson_case]",
    ),
    Mutation(
        "durations-one-phase",
        DURATIONS,
        "b + n_phases * counts[j], rng)",
        "b + counts[j], rng)",
        "Every segment ends all of its phases.",
        f"{DURATION_TESTS}::test_parameters_given_states[9-negative_binomial_case]",
    ),
    Mutation(
        "durations-longest-one-cut-off",
        DURATIONS,
        "    log_pmf[last] = log_survival[last]\n",
        "    log_pmf[last] = -math.inf\n",
        "P(D = D_max) is the probability of all that is longer.",
        f"{DURATION_TESTS}::test_tables[4-poisson_case]",
    ),
    Mutation(
        "segments-last-one-complete",
        SEGMENTS,
        "durations.pmf, durations.survival, first, ends, filtered)",
        "durations.pmf, durations.pmf, first, ends, filtered)",
        "P(D >= d) of the last segment.",
        f"{SEGMENT_TESTS}::test_log_likelihood[plain]",
    ),
    Mutation(
        "segments-drawn-with-complete-last-one",
        SEGMENTS,
        "log_table, log_total = durations.log_survival[j], log_last[s, j]",
        "log_table, log_total = durations.log_pmf[j], log_last[s, j]",
        "P(D >= d) of the last segment, where it is drawn.",
        f"{SEGMENT_TESTS}::test_sample_segments[plain]",
    ),
]

_BEAM = [
    Mutation(
        "beam-weighs-transitions",
        BEAM,
        "            sums[k] += weight if row[k] > threshold else 0.0",
        "            sums[k] += weight * row[k] if row[k] > threshold else 0.0",
        "Given thresholds all transitions above them weigh the same.",
        f"{BEAM_TESTS}::test_a_draw_leaves_the_posterior_as_it_is[plain]",
    ),
    Mutation(
        "beam-draws-over-the-threshold",
        BEAM,
        "transmat[i, states[t + 1]] <= thresholds[t + 1]:",
        "transmat[i, states[t + 1]] < 0.0:",
        "The step to the state drawn before must be above its threshold, too.",
        f"{BEAM_TESTS}::test_a_draw_leaves_the_posterior_as_it_is[unlikely transitions]",
    ),
    Mutation(
        "beam-threshold-of-the-mean",
        BEAM,
        "thresholds[t] = p * (1.0 - next_open_double(rng))",
        "thresholds[t] = 0.5 * p",
        "Thresholds are uniform below the probability of the transition.",
        f"{BEAM_TESTS}::test_a_draw_leaves_the_posterior_as_it_is[plain]",
    ),
    Mutation(
        "beam-first-state-for-free",
        BEAM,
        "row[j] = 0.0 if startprob[j] > thresholds[0] else -math.inf",
        "row[j] = 0.0 if startprob[j] > 0.0 else -math.inf",
        "The first state has a threshold, too.",
        f"{BEAM_TESTS}::test_a_draw_leaves_the_posterior_as_it_is[one step]",
    ),
]

_GAUSSIAN = [
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
]

_NAMES = [
    Mutation(
        "names-of-the-unlikeliest",
        ALIGNMENT,
        "np.argmax([sample.log_joint",
        "np.argmin([sample.log_joint",
        "The sample with the highest log joint names the states.",
        f"{NAMES}::test_names_come_from_the_highest_log_joint",
    ),
    Mutation(
        "names-one-by-one",
        ALIGNMENT,
        "    return linear_sum_assignment(pairs.reshape(n_states, n_states), maximize=True)[1]",
        "    return linear_sum_assignment(-pairs.reshape(n_states, n_states), maximize=True)[1]",
        "As many observations as possible keep their names.",
        f"{NAMES}::test_a_match_has_most_in_all",
    ),
]

_SYMBOLS = [
    Mutation(
        "symbols-first-states-one-by-one",
        SYMBOLS,
        "if t == 0 or next_double(rng) * MEAN_RUN < 1.0:",
        "if True:",
        "First states come in runs, or chains of many symbols get stuck.",
        "tests/unit/emissions/test_categorical.py::test_first_states_come_in_runs",
    ),
]

# Their functions are long to compile: these few are the sample of the gate.
_IN_GATE = {
    "transitions-rate-of-alpha-without-first-states",
    "transitions-no-failed-tables",
    "transitions-no-override",
    "transitions-self-transitions-of-segments",
    "locations-gradient-one-way",
    "durations-last-one-complete",
    "segments-last-one-complete",
    "beam-weighs-transitions",
    "gaussian-scale-without-means",
}

MUTATIONS = [
    *_MESSAGES,
    *_FACTORS,
    *(
        mutation._replace(exhaustive=mutation.name not in _IN_GATE)
        for mutation in (
            *_TRANSITIONS, *_LOCATIONS, *_DURATIONS, *_BEAM, *_GAUSSIAN, *_NAMES, *_SYMBOLS,
        )
    ),
]  # fmt: skip
