"""Wrong patches of hidden Markov models."""

from mutation.mutation import Mutation

AGES = "sequence/_hmm/_kernels_ages.py"
FILTER_TESTS = "tests/exact/sequence/hmm/test_filtered.py"
VITERBI = "sequence/_hmm/_kernels_viterbi.py"
VITERBI_TESTS = "tests/exact/sequence/hmm/test_viterbi.py"
FORECAST = "sequence/_hmm/_forecast.py"
LAGGED = "sequence/_hmm/_lagged_forecast.py"
LAG_TESTS = "tests/exact/sequence/hmm/test_lagged_forecast.py"
MODEL = "sequence/_hmm/_model.py"
FORECAST_TESTS = "tests/exact/sequence/hmm/test_forecast.py"

BEAM_TESTS = "tests/unit/sequence/hmm/test_beam.py"
DRAWS = "tests/exact/sequence/hmm/test_transition_draws.py"
NAMES = "tests/unit/sequence/hmm/test_alignment.py"
ROWS = "tests/exact/sequence/hmm/test_transitions.py"
MOVES = "tests/exact/sequence/hmm/test_split_merge.py"
SEGMENT_DRAWS = "tests/exact/sequence/hmm/test_segment_draws.py"
SIMILARITY_TESTS = "tests/exact/sequence/similarities/test_emission.py"
SEGMENT_TESTS = "tests/exact/sequence/hmm/test_segments.py"

FITS = "tests/unit/sequence/test_partitioned_fits.py"
BITS = f"{FITS}::test_bits_are_those_of_the_whole"
STARTS = f"{FITS}::test_starts_of_large_panels"
PLACED_MOVES = f"{FITS}::test_states_are_split_and_merged"

ALIGNMENT = "sequence/_hmm/_alignment.py"
BEAM = "sequence/_hmm/_kernels_beam.py"
CONCENTRATIONS = "sequence/_hmm/_transitions.py"
MERGE_KERNELS = "sequence/_hmm/_kernels_split_merge.py"
MESSAGES = "sequence/_hmm/_kernels_messages.py"
SEGMENTS = "sequence/_hmm/_kernels_segments.py"
SPLIT_MERGE = "sequence/_hmm/_split_merge.py"
WALKER = "sequence/_hmm/_walker.py"
TRANSITIONS = "sequence/_hmm/_kernels_transitions.py"


def _draws(case: str) -> str:
    return f"{DRAWS}::test_posterior[{case}]"


def _messages(function: str, case: str) -> str:
    return f"tests/exact/sequence/hmm/test_messages.py::{function}[{case}]"


def _moves(case: str) -> str:
    return f"{MOVES}::test_posterior_in_short[{case}]"


MUTATIONS = [
    Mutation(
        "emission-similarity-old-rates",
        WALKER,
        "            transitions.redraw_rates(rng)\n",
        "",
        "Rates were summed out when phi was drawn: those of before know the old one.",
        "tests/unit/sequence/similarities/test_emission.py"
        "::test_rates_are_drawn_given_the_new_similarities",
    ),
    Mutation(
        "emission-similarity-joint-without-parameters",
        WALKER,
        "result += emission.log_posterior()",
        "result += 0.0",
        "Parameters that phi depends on are not summed out.",
        "tests/exact/sequence/test_log_joint.py::test_log_joint_with_similarities_of_observations",
    ),
    Mutation(
        "emission-similarity-moves-with-old-phi",
        SPLIT_MERGE,
        "log_ratio += there.log_probability_of(counts, weights)",
        "log_ratio += transitions.log_probability_of(counts, weights)",
        "New parameters of two states are new similarities.",
        f"{SIMILARITY_TESTS}::test_posterior_by_many_splits_and_merges",
    ),
    Mutation(
        "emission-similarity-moves-with-swapped-names",
        SPLIT_MERGE,
        "self._emission, splitter.emission, groups[0].astype(np.int64), pair, self._rng",
        "self._emission, splitter.emission, 1 - groups[0].astype(np.int64), pair, self._rng",
        "Each of the two has parameters given its own steps.",
        f"{SIMILARITY_TESTS}::test_split_states_have_parameters_of_their_own_steps",
    ),
    Mutation(
        "symbols-concentration-not-held",
        "sequence/_hmm/_walker.py",
        "self.emission.held = self.n_held > 0",
        "self.emission.held = False",
        "Random states, which all have all symbols, call for a large concentration.",
        "tests/unit/emissions/test_categorical.py::test_the_walker_holds_the_concentration",
    ),
    Mutation(
        "moves-empty-states",
        SPLIT_MERGE,
        "model.log_probability(groups) - np.log(len(used) * len(empty))",
        "model.log_probability(groups) - np.log(len(used))",
        "A split chooses one of the states that are not in use.",
        _moves("three states"),
    ),
    Mutation(
        "moves-small-states",
        SPLIT_MERGE,
        "    return float(-np.log(counts[b] * (1.0 / used).sum() * (len(used) - 1)))",
        "    return float(-np.log(len(used) * (len(used) - 1)))",
        "Merges choose small states more often.",
        f"{MOVES}::test_choice_of_merges",
    ),
    Mutation(
        "moves-one-orientation",
        SPLIT_MERGE,
        "    return float(np.logaddexp(*both) - np.log(2.0))",
        "    return float(both[0])",
        "A coin decides which group keeps the name.",
        _moves("three states"),
    ),
    Mutation(
        "moves-weights-for-nothing",
        SPLIT_MERGE,
        "        log_ratio -= log_density_of_share(weights[pair], new)",
        "        log_ratio -= log_density_of_share(weights[pair], old)",
        "The weights have a proposal of their own.",
        _moves("three states"),
    ),
    Mutation(
        "moves-what-follows-a-run",
        MERGE_KERNELS,
        "            last += log_out_of[1, after[i]] - log_out_of[0, after[i]]",
        "            last += log_out_of[1, after[i]]",
        "What follows a run tells of its last step.",
        f"{MOVES}::test_probability_of_groups[three runs]",
    ),
    Mutation(
        "moves-tangents",
        TRANSITIONS,
        "                v = centre + right + beyond / fall",
        "                v = centre + right + beyond / rise",
        "Each tangent has its slope.",
        f"{MOVES}::test_times_without_rates[similar]",
    ),
    Mutation(
        "moves-old-times",
        "sequence/_hmm/_transitions.py",
        "        if rates_known:",
        "        if True:",
        "The rates of before a move do not go with its states.",
        _moves("three states, apart, concentrations"),
    ),
    Mutation(
        "messages-never-in-logs",
        MESSAGES,
        "            if is_safe(row):",
        "            if True:",
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
        "    while column < width:",
        "    while column + VECTOR_DOUBLES < width:",
        "The last columns of the matrix.",
        _messages("test_posterior", "seventeen states"),
    ),
    Mutation(
        "messages-only-the-first-moves-on",
        MESSAGES,
        "        n_rows = 1 if n_under_way == 1 else TOGETHER",
        "        n_rows = 1",
        "All sequences under way go a step forward.",
        "tests/exact/sequence/hmm/test_messages.py::test_panel",
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
        "        log_times[j] = -math.inf\n        if n > 0:\n            log_total",
        "        log_times[j] = 0.0\n        if n > 0:\n            log_total",
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
        "log_table, log_total = durations.log_survival[j], log_last[j]",
        "log_table, log_total = durations.log_pmf[j], log_last[j]",
        "P(D >= d) of the last segment, where it is drawn.",
        f"{SEGMENT_DRAWS}::test_sample_segments[plain]",
    ),
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
    Mutation(
        "names-of-the-unlikeliest",
        ALIGNMENT,
        "np.where(is_usual, log_joints, -np.inf)",
        "np.where(is_usual, -log_joints, -np.inf)",
        "The sample with the highest log joint names the states.",
        f"{NAMES}::test_names_come_from_the_highest_log_joint",
    ),
    Mutation(
        "names-of-a-sample-with-an-odd-state",
        ALIGNMENT,
        "np.where(is_usual, log_joints, -np.inf)",
        "log_joints",
        "Samples with the most frequent number of states come first.",
        f"{NAMES}::test_names_come_from_a_sample_with_the_usual_number_of_states",
    ),
    Mutation(
        "names-one-by-one",
        ALIGNMENT,
        "linear_sum_assignment(pairs[names], maximize=True)[1]",
        "linear_sum_assignment(-pairs[names], maximize=True)[1]",
        "As many observations as possible keep their names.",
        f"{NAMES}::test_a_match_has_most_in_all",
    ),
    Mutation(
        "filtering-likelihood-of-later-steps",
        AGES,
        "        begin = t - d\n",
        "        begin = t - d + 1 if d > 0 else t\n",
        "The d-th step of a segment is d - 1 steps after its first.",
        f"{FILTER_TESTS}::test_ages[plain]",
    ),
    Mutation(
        "filtering-without-survival",
        AGES,
        "likelihoods[j] + survival_logs[d, j])",
        "likelihoods[j])",
        "A segment may have ended before it was so old.",
        f"{FILTER_TESTS}::test_ages[plain]",
    ),
    Mutation(
        "filtering-segments-that-end",
        "sequence/_hmm/_segment_messages.py",
        "np.exp(self._log_filtered[: len(rows)], out=rows)",
        "np.exp(self._log_end[: len(rows)], out=rows)",
        "Segments go on after the step.",
        f"{FILTER_TESTS}::test_filtered_segments[plain]",
    ),
    Mutation(
        "filtering-logs-as-they-are",
        "sequence/_hmm/_messages.py",
        "            out[self.ptr[s] : self.ptr[s + 1]] = np.exp(logs[1])",
        "            out[self.ptr[s] : self.ptr[s + 1]] = np.ones(logs[1].shape)",
        "Sequences that take logarithms say as much as others.",
        f"{FILTER_TESTS}::test_filtered[left to right, late]",
    ),
    Mutation(
        "viterbi-tail-of-the-matrix",
        VITERBI,
        "    for i in range(whole, n):\n        a = vector[i]",
        "    for i in range(whole, n - 1):\n        a = vector[i]",
        "The rows beyond the last whole block of eight.",
        f"{VITERBI_TESTS}::test_long_sequence",
    ),
    Mutation(
        "viterbi-last-of-ties",
        VITERBI,
        "        if x > largest:\n            place, largest = i, x",
        "        if x >= largest:\n            place, largest = i, x",
        "The lowest of equally good states counts.",
        f"{VITERBI_TESTS}::test_order_of_ties",
    ),
    Mutation(
        "viterbi-greedy",
        VITERBI,
        "            state = find_best_previous(own_best[t], log_into[state])",
        "            state = find_first_largest(own_best[t])",
        "The best state of a step need not be on the best path.",
        f"{VITERBI_TESTS}::test_random_models",
    ),
    Mutation(
        "viterbi-wrong-way",
        VITERBI,
        "            state = find_best_previous(own_best[t], log_into[state])",
        "            state = find_best_previous(own_best[t], log_from[state])",
        "Rows of the transposed matrix go into a state.",
        f"{VITERBI_TESTS}::test_path[left to right]",
    ),
    Mutation(
        "viterbi-last-segment-is-whole",
        VITERBI,
        "            log_last[j] = find_best_duration(own_enter, own_obs, t, j, log_survival)[1]",
        "            log_last[j] = find_best_duration(own_enter, own_obs, t, j, log_pmf)[1]",
        "The end of a sequence cuts off its last segment.",
        f"{VITERBI_TESTS}::test_segments[plain]",
    ),
    Mutation(
        "viterbi-observations-of-few-segments",
        VITERBI,
        "            entries[k, j] += obs[j]",
        "            entries[k, j] += 0.0",
        "Every segment under way has to explain the step.",
        f"{VITERBI_TESTS}::test_random_segments",
    ),
    Mutation(
        "viterbi-ring",
        "sequence/_hmm/_viterbi.py",
        "[np.arange(longest, 0, -1), np.arange(longest, 1, -1)]",
        "[np.arange(longest, 0, -1), np.arange(1, longest)]",
        "Beyond the newest row of a ring are the longest segments.",
        f"{VITERBI_TESTS}::test_random_segments",
    ),
    Mutation(
        "forecast-ages-stand-still",
        FORECAST,
        "                ages[1:] = older[:-1]  # nothing",
        "                ages[1:] = older[1:]  # nothing",
        "A segment that goes on is one step older.",
        f"{FORECAST_TESTS}::test_next_states[Poisson]",
    ),
    Mutation(
        "forecast-leaving-at-any-age",
        FORECAST,
        "    logs = np.where(reached, log_pmf, 0.0) - np.where(reached, log_survival, 0.0)",
        "    logs = np.where(reached, log_pmf, 0.0)",
        "A segment has lasted so long already.",
        f"{FORECAST_TESTS}::test_next_states[Poisson]",
    ),
    Mutation(
        "forecast-within-alone",
        FORECAST,
        "                variance[h] += weights[h] @ (away * away)",
        "                variance[h] += 0.0 * (weights[h] @ (away * away))",
        "The means of the states differ.",
        f"{FORECAST_TESTS}::test_numbers[Student]",
    ),
    Mutation(
        "forecast-twins-without-weight",
        FORECAST,
        "            mixed.append(weights @ np.eye(len(states))[places.ravel()])",
        "            mixed.append(weights[:, states])",
        "Equal states count as often as there are.",
        f"{FORECAST_TESTS}::test_equal_states",
    ),
    Mutation(
        "forecast-duration-from-its-start",
        MODEL,
        "        log_pmf = self.duration.tables()[0][state, age:]",
        "        log_pmf = self.duration.tables()[0][state]",
        "A segment has lasted so long already.",
        f"{FORECAST_TESTS}::test_draws_of_next_states[Poisson]",
    ),
    Mutation(
        "lags-certain-coefficients",
        LAGGED,
        'weights = shares + np.einsum("ajkl,jkl->aj", moments, steps.precisions)',
        "weights = shares",
        "What is not known of coefficients widens forecasts.",
        f"{LAG_TESTS}::test_moments[2-1-none]",
    ),
    Mutation(
        "lags-ages-stand-still",
        LAGGED,
        "np.where(leaves, 0, ages + 1)",
        "np.where(leaves, 0, ages)",
        "A segment that goes on is a step older.",
        f"{LAG_TESTS}::test_simulated_quantiles[Poisson]",
    ),
    Mutation(
        "lags-first-step-at-the-last-state",
        LAGGED,
        "weights = [one.move(own).sum(axis=0)[np.newaxis] for one, own in both]",
        "weights = [own.sum(axis=0)[np.newaxis] for one, own in both]",
        "A transition comes before the next observation.",
        f"{LAG_TESTS}::test_simulated_quantiles[none]",
    ),
    Mutation(
        "partitions-states-by-local-number",
        "sequence/_hmm/_messages.py",
        "ptr, number + first, self.reverse, own, filtered, states, weights, key, own_rng",
        "ptr, first, self.reverse, own, filtered, states, weights, key, own_rng",
        "The stream of a sequence is that of its number in the whole panel.",
        f"{BITS}[gaussian]",
    ),
    Mutation(
        "partitions-missing-by-local-number",
        "sequence/_hmm/_placed.py",
        "chain.emission.complete_with(states, orders.missing_key, part.first)",
        "chain.emission.complete_with(states, orders.missing_key, 0)",
        "Missing values have streams of the numbers of their steps in the whole panel.",
        f"{BITS}[missing]",
    ),
    Mutation(
        "partitions-groups-by-local-number",
        "sequence/_hmm/_placed_moves.py",
        "self._n_states, self._first, self._states = n_states, part.first, chain.states",
        "self._n_states, self._first, self._states = n_states, 0, chain.states",
        "A run has the stream of the number of its last step in the whole panel.",
        f"{PLACED_MOVES}[gaussian]",
    ),
    Mutation(
        "partitions-windows-of-one-partition",
        "sequence/_hmm/_placed_moves.py",
        "tuple(i - begin if begin <= i < end else -1 for i in windows)",
        "tuple(i - begin if begin < i < end else -1 for i in windows)",
        "The first window of a partition is one of its windows.",
        f"{PLACED_MOVES}[gaussian]",
    ),
    Mutation(
        "partitions-start-of-local-numbers",
        "sequence/_hmm/_placed.py",
        "    chosen, _ = list_chosen(part.panel.ptr, stride, part.number)",
        "    chosen, _ = list_chosen(part.panel.ptr, stride)",
        "Every so many sequences of the whole panel are chosen.",
        f"{STARTS}[poisson]",
    ),
    Mutation(
        "partitions-joined-sequences",
        "sequence/_hmm/_placed.py",
        "    return sum_part(part, f, (part.panel.ptr, *args))\n",
        "    return sum_part(part, f, (part.panel.ptr[[0, -1]], *args))\n",
        "The prior comes from sequences, wherever partitions end.",
        f"{BITS}[autoregressive]",
    ),
    Mutation(
        "partitions-segments-by-local-number",
        "sequence/_hmm/_segment_messages.py",
        "self.ptr[first : last + 1], number + first, self.reverse, self.log_obs,",
        "self.ptr[first : last + 1], first, self.reverse, self.log_obs,",
        "The stream of a sequence is that of its number in the whole panel.",
        f"{BITS}[poisson durations]",
    ),
    Mutation(
        "partitions-stays-are-transitions",
        "sequence/_hmm/_transitions.py",
        "        np.fill_diagonal(changes[:-1], 0)\n        return changes\n",
        "        return changes\n",
        "With a duration, how long a state lasts is not for transitions to explain.",
        f"{BITS}[poisson durations]",
    ),
    Mutation(
        "partitions-first-segments",
        "sequence/_hmm/_placed_walker.py",
        "        duration.take(self._found[3:])\n",
        "",
        "Durations are those of the states that were drawn last.",
        f"{BITS}[poisson durations]",
    ),
    Mutation(
        "partitions-old-counts-after-a-move",
        "sequence/_hmm/_placed_walker.py",
        "        if has_moved:\n            self._take_counts()\n",
        "",
        "A move changes the states, and all sums.",
        f"{PLACED_MOVES}[gaussian]",
    ),
    Mutation(
        "moves-transitions-of-before",
        "sequence/_hmm/_split_merge.py",
        "    result[np.ix_(pair, pair)] = within\n",
        "",
        "Transitions between the two states change, too.",
        "tests/exact/sequence/hmm/test_split_merge.py::test_posterior_in_short[three states]",
    ),
]
