"""Wrong patches of the kernels of hidden Markov models."""

from mutation.mutation import Mutation

AGES = "sequence/_hmm/_kernels_ages.py"
FILTER_TESTS = "tests/exact/sequence/hmm/test_filtered.py"
VITERBI = "sequence/_hmm/_kernels_viterbi.py"
VITERBI_TESTS = "tests/exact/sequence/hmm/test_viterbi.py"
BEAM_TESTS = "tests/unit/sequence/hmm/test_beam.py"
DRAWS = "tests/exact/sequence/hmm/test_transition_draws.py"
ROWS = "tests/exact/sequence/hmm/test_transitions.py"
MOVES = "tests/exact/sequence/hmm/test_split_merge.py"
SEGMENT_DRAWS = "tests/exact/sequence/hmm/test_segment_draws.py"
SEGMENT_TESTS = "tests/exact/sequence/hmm/test_segments.py"
BEAM = "sequence/_hmm/_kernels_beam.py"
MERGE_KERNELS = "sequence/_hmm/_kernels_split_merge.py"
MESSAGES = "sequence/_hmm/_kernels_messages.py"
SEGMENTS = "sequence/_hmm/_kernels_segments.py"
TRANSITIONS = "sequence/_hmm/_kernels_transitions.py"


def _draws(case: str) -> str:
    return f"{DRAWS}::test_posterior[{case}]"


def _messages(function: str, case: str) -> str:
    return f"tests/exact/sequence/hmm/test_messages.py::{function}[{case}]"


HINTS = "tests/unit/sequence/test_hints.py"

MUTATIONS = [
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
        "                v = center + right + beyond / fall",
        "                v = center + right + beyond / rise",
        "Each tangent has its slope.",
        f"{MOVES}::test_times_without_rates[similar]",
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
        "hints-clamp-leaves-the-first-state",
        "sequence/_hmm/_kernels_hints.py",
        "            for j in range(log_obs.shape[1]):\n                if j != known[t]:",
        "            for j in range(1, log_obs.shape[1]):\n                if j != known[t]:",
        "A known step has no other state, not even state 0.",
        f"{HINTS}::TestKnownStates::test_no_sweep_changes_them",
    ),
    Mutation(
        "hints-path-begins-anywhere",
        "sequence/_hmm/_kernels_hints.py",
        "                    now[k] = allowed[n_states, k]\n",
        "                    now[k] = True\n",
        "`start` restricts the first state.",
        f"{HINTS}::TestPossibleTransitions::test_a_path_without_a_way",
    ),
    Mutation(
        "messages-in-logs-drop-terms",
        MESSAGES,
        "LOG_NEGLIGIBLE = -60.0",
        "LOG_NEGLIGIBLE = -0.5",
        "All terms that are not below rounding count.",
        "tests/exact/sequence/hmm/test_messages.py::test_sums_of_several_tiny_terms",
    ),
]
