"""Wrong patches of Indian buffets."""

from mutation.mutation import Mutation

TESTS = "tests/exact/sequence/test_factor_moves.py"
BUFFET = f"{TESTS}::test_moves_of_buffets"
PROCESS = "processes/_indian_buffet.py"
SWEEPS = f"{TESTS}::test_sweeps_of_buffets"

MUTATIONS = [
    Mutation(
        "moves-birth-without-proposal",
        PROCESS,
        "log_rate + gain - log_proposal - math.log(n_removable)",
        "log_rate + gain - log_proposal",
        "A death chooses among all factors with one run.",
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
]
