"""Wrong patches of moves of runs and factors, and of Indian buffets."""

from mutation.mutation import Mutation

TESTS = "tests/exact/sequence/test_factor_moves.py"
GIVEN = f"{TESTS}::test_moves_of_given_numbers"
BUFFET = f"{TESTS}::test_moves_of_buffets"
SWEEPS = f"{TESTS}::test_sweeps_of_buffets"
DRAWS = f"{TESTS}::test_draws_of_buffets"

EVIDENCE = "sequence/_factorial/_kernels_evidence.py"
MOVES = "sequence/_factorial/_kernels_moves.py"
BUFFETS = "sequence/_factorial/_kernels_buffet.py"
STEPS = "sequence/_factorial/_step_factors.py"
PROCESS = "processes/_indian_buffet.py"

MUTATIONS = [
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
        f"{GIVEN}[one sequence]",
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
        f"{BUFFET}[one sequence]",
    ),
    Mutation(
        "moves-birth-without-proposal",
        PROCESS,
        "log_rate + gain - log_proposal - math.log(n_removable)",
        "log_rate + gain - log_proposal",
        "A death chooses among all factors with one run.",
        f"{BUFFET}[one sequence]",
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
        "buffet-weight-without-concentration",
        PROCESS,
        "    result = math.log(concentration) + math.lgamma(n_on)",
        "    result = math.lgamma(n_on)",
        "The density is that of mass times q.",
        f"{TESTS}::test_log_probability_of_paths[two sequences]",
    ),
    Mutation(
        "buffet-mass-without-trials",
        PROCESS,
        "/ (rate + expected), _SMALLEST)",
        "/ rate, _SMALLEST)",
        "That many trials brought so few features tells of the mass.",
        f"{SWEEPS}[one sequence-True]",
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
        f"{SWEEPS}[one sequence-False]",
    ),
    Mutation(
        "buffet-slice-without-ratio",
        STEPS,
        "                if next_double(rng) >= ratio:",
        "                if next_double(rng) >= 1.0:",
        "The density of the slice depends on which factors are ever on.",
        f"{SWEEPS}[one sequence-False]",
    ),
]
