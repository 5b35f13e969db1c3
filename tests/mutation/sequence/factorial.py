"""Wrong patches of the factorial hidden Markov model."""

from mutation.mutation import Mutation

CHAIN_TESTS = "tests/exact/sequence/test_factorial_hmm.py"
FACTORIAL_TESTS = "tests/unit/sequence/test_factorial_hmm.py"

CHAINS = "sequence/_factorial/_kernels_block.py"
FACTORIAL = "sequence/_factorial/_model.py"
JOINT = "sequence/_factorial/_kernels_joint.py"
JOINT_STEPS = "sequence/_factorial/_joint.py"

_STEPS = "            for t in range(ptr[s], ptr[s + 1]):\n                "
TESTS = "tests/exact/sequence/test_factor_moves.py"
GIVEN = f"{TESTS}::test_moves_of_given_numbers"
EVIDENCE = "sequence/_factorial/_kernels_evidence.py"
BUFFET = f"{TESTS}::test_moves_of_buffets"
MOVES = "sequence/_factorial/_kernels_moves.py"
DRAWS = f"{TESTS}::test_draws_of_buffets"
BUFFETS = "sequence/_factorial/_kernels_buffet.py"
SWEEPS = f"{TESTS}::test_sweeps_of_buffets"
STEPS = "sequence/_factorial/_step_factors.py"

MUTATIONS = [
    Mutation(
        "chains-drawn-without-the-next-step",
        CHAINS,
        "        weights[j] *= row[j]",
        "        weights[j] = row[j]",
        "A bit has to fit the bit drawn after it.",
        f"{CHAIN_TESTS}::test_activities_and_transitions[priors-1]",
    ),
    Mutation(
        "chains-into-off-as-into-on",
        CHAINS,
        "        if not (state >> k) & 1:",
        "        if False:",
        "Probabilities to be off are what those to be on leave.",
        f"{CHAIN_TESTS}::test_activities_and_transitions[priors-1]",
    ),
    Mutation(
        "chains-all-noise-is-alike",
        CHAINS,
        "half, rest = 0.5 * precisions[d], value - off",
        "half, rest = 0.5, value - off",
        "Every column has a precision of its own.",
        f"{CHAIN_TESTS}::test_activities_and_transitions[one sequence-2]",
    ),
    Mutation(
        "chains-block-sees-itself",
        CHAINS,
        "        off = fits[d] - shift[state]",
        "        off = fits[d]",
        "What the factors of a block add now is not there for their draw.",
        f"{CHAIN_TESTS}::test_activities_and_transitions[one sequence-2]",
    ),
    Mutation(
        "chains-probit-sign",
        CHAINS,
        "log_normal_cdf(sign * (off + shift[j]))",
        "log_normal_cdf(off + sign * shift[j])",
        "The mean of the other factors counts against a 0, too.",
        f"{CHAIN_TESTS}::test_activities_and_transitions[probit-1]",
    ),
    Mutation(
        "chains-fits-stay",
        CHAINS,
        "fits[t, d] += shifts[d, drawn] - shifts[d, before]",
        "fits[t, d] += 0.0",
        "The next block has to see what this one became.",
        f"{CHAIN_TESTS}::test_activities_and_transitions[three factors-1]",
    ),
    Mutation(
        "chains-shifts-one-factor-off",
        CHAINS,
        "shifts[d, j] + weights[block[k] + 1, d]",
        "shifts[d, j] + weights[block[k], d]",
        "Row 0 of the weights is the background.",
        f"{CHAIN_TESTS}::test_activities_and_transitions[one sequence-1]",
    ),
    Mutation(
        "chains-first-steps-as-after-off",
        CHAINS,
        f"            row = FIRST\n{_STEPS}counts",
        f"            row = AFTER_OFF\n{_STEPS}counts",
        "First steps have a probability of their own.",
        f"{CHAIN_TESTS}::test_activities_and_transitions[two sequences-1]",
    ),
    Mutation(
        "chains-transitions-without-prior",
        CHAINS,
        "on, off = priors[row, 1] + counts[f, row, 1], priors[row, 0] + counts[f, row, 0]",
        "on, off = 1.0 + counts[f, row, 1], 1.0 + counts[f, row, 0]",
        "Beta priors count beside the steps.",
        f"{CHAIN_TESTS}::test_activities_and_transitions[priors-2]",
    ),
    Mutation(
        "chains-joint-without-sums",
        CHAINS,
        "            result -= math.lgamma(off + on + n_off + n_on)",
        "            result -= 0.0 * math.lgamma(off + on + n_off + n_on)",
        "The normalizer of a Beta distribution grows with the steps.",
        f"{CHAIN_TESTS}::test_activities_and_transitions[priors-2]",
    ),
    Mutation(
        "chains-forward-transposed",
        JOINT,
        "message[k] = off * off_off + on * on_off",
        "message[k] = off * off_off + on * off_on",
        "Rows of the matrix of transitions are what is left.",
        f"{CHAIN_TESTS}::test_likelihood_and_smoothing[one sequence]",
    ),
    Mutation(
        "chains-backward-transposed",
        JOINT,
        "message[k] = off_off * off + off_on * on",
        "message[k] = off_off * off + on_off * on",
        "Means are over the states that follow.",
        f"{CHAIN_TESTS}::test_likelihood_and_smoothing[one sequence]",
    ),
    Mutation(
        "chains-smoothing-without-predicted",
        JOINT,
        "message[j] = message[j] / p if p > 0.0 else 0.0",
        "message[j] = message[j] if p > 0.0 else 0.0",
        "The denominator p(z_t+1 given y_<=t) of smoothing.",
        f"{CHAIN_TESTS}::test_likelihood_and_smoothing[priors]",
    ),
    Mutation(
        "chains-blocks-of-steps-from-their-first",
        JOINT_STEPS,
        "            known.current[:] = before[block]\n",
        "            known.current[:] = before[0]\n",
        "A block of steps goes on with what was filtered before it.",
        f"{CHAIN_TESTS}::test_likelihood_and_smoothing[one sequence]",
    ),
    Mutation(
        "chains-fold-the-first-factor",
        JOINT,
        "            folded[k] += folded[half + k]",
        "            folded[k] += 0.0",
        "Factors that are not asked for are summed over.",
        f"{CHAIN_TESTS}::test_likelihood_and_smoothing[three factors]",
    ),
    Mutation(
        "chains-flipped-without-background",
        FACTORIAL,
        "background = self.weights[0] + weights[flipped].sum(axis=0)",
        "background = self.weights[0]",
        "What is on where a factor was off moves into the background.",
        f"{FACTORIAL_TESTS}::test_reordered_factors_are_the_same_model",
    ),
    Mutation(
        "moves-evidence-without-determinant",
        EVIDENCE,
        "0.5 * rest * rest - math.log(factor[i, i]) + 0.5 * log_ratio",
        "0.5 * rest * rest",
        "A factor more has weights that are summed over.",
        f"{GIVEN}[one sequence]",
    ),
    Mutation(
        "moves-sums-of-missing-values",
        EVIDENCE,
        "            if board.seen[t, d] == 0.0:\n                continue",
        "            if False:\n                continue",
        "Steps tell nothing of a column that is missing there.",
        f"{GIVEN}[missing]",
    ),
    Mutation(
        "moves-counts-without-the-next-step",
        EVIDENCE,
        "last = end if board.is_first[end] else end + 1\n    count_steps",
        "last = end\n    count_steps",
        "The step after a run has another one before it, too.",
        f"{TESTS}::test_moves_keep_up_what_follows_from_paths[2]",
    ),
    Mutation(
        "moves-one-name-for-a-new-factor",
        EVIDENCE,
        "return math.log(left) if left > 0 else -math.inf",
        "return 0.0 if left > 0 else -math.inf",
        "Any of the factors that are never on may become the new one.",
        f"{GIVEN}[one sequence]",
    ),
    Mutation(
        "moves-weight-with-first-steps-apart",
        EVIDENCE,
        "n_on = counts[FIRST, 1] + counts[AFTER_OFF, 1]\n    result",
        "n_on = counts[AFTER_OFF, 1] + 1\n    result",
        "First steps are trials of the buffet.",
        f"{BUFFET}[two sequences]",
    ),
    Mutation(
        "moves-new-factor-without-mass",
        MOVES,
        "            weights[f] += log_rate\n",
        "            weights[f] += 0.0\n",
        "A run on its own has the mass of a factor more.",
        f"{TESTS}::test_moves_of_a_small_mass",
    ),
    Mutation(
        "moves-runs-end-anywhere-alike",
        MOVES,
        "            to_end += 0.5 / n_next",
        "            to_end += 0.0",
        "The density of a proposed run sums over the ways to propose it.",
        f"{BUFFET}[one sequence]",
    ),
    Mutation(
        "moves-pair-counts-one",
        MOVES,
        "                weights[result] += log_weight(board, g)",
        "                weights[result] += 0.0",
        "Both factors weigh something.",
        f"{GIVEN}[two sequences]",
    ),
    Mutation(
        "moves-meaning-without-weight",
        MOVES,
        "log_ratio = after - now + log_weight(board, f) - before",
        "log_ratio = after - now",
        "A factor that is flipped has another prior probability.",
        f"{BUFFET}[one sequence]",
    ),
    Mutation(
        "buffet-new-factors-at-a-constant-rate",
        BUFFETS,
        "mass * q / (q + t), rng)\n            if n",
        "mass, rng)\n            if n",
        "Later steps have fewer new factors.",
        f"{DRAWS}[one sequence]",
    ),
    Mutation(
        "buffet-idle-factors-not-thinned",
        BUFFETS,
        "math.exp((q - 1.0 + n_steps) * math.log1p(-a))",
        "math.exp((q - 1.0) * math.log1p(-a))",
        "Factors that are never on failed at every step.",
        f"{TESTS}::test_idle_factors[0.02]",
    ),
    Mutation(
        "buffet-slice-without-ratio",
        STEPS,
        " or next_double(rng) >= ratio:",
        " or next_double(rng) >= 1.0:",
        "The density of the slice depends on which factors are ever on.",
        f"{SWEEPS}[one sequence-False]",
    ),
    Mutation(
        "buffet-without-bound",
        "sequence/_factorial/_priors.py",
        "return bool(n <= self.most or n <=",
        "return bool(n <= 999 or n <=",
        "A buffet that is cut off has at most so many factors.",
        f"{FACTORIAL_TESTS}::test_bound_on_the_number_of_factors",
    ),
]
