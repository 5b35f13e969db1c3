"""Wrong patches: gaussian, kernels student."""

from mutation.mutation import Mutation

STUDENTS = "emissions/_gaussian/_kernels_student.py"
PREDICTIVES = "tests/exact/emissions/test_predictives.py"

MUTATIONS = [
    Mutation(
        "predictive-tail-of-all-columns",
        STUDENTS,
        "exponents[b, j] = 0.5 * (freedoms[k] + n)",
        "exponents[b, j] = 0.5 * (freedoms[k] + width)",
        "Missing columns do not count in the exponent of a t density.",
        f"{PREDICTIVES}::test_missing_entries_are_integrated_out[4.5-1]",
    ),
    Mutation(
        "predictive-normalizer-of-all-columns",
        STUDENTS,
        "constants[j] += log_normalizer(freedoms[k], n)",
        "constants[j] += log_normalizer(freedoms[k], width)",
        "Missing columns do not count in the normalizer of a t density.",
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
        "peak-of-weights-without-digits",
        STUDENTS,
        "    if b < 0.0:\n",
        "    if False:\n",
        "b and its root cancel if a row is far away, and then no weight is between the bounds.",
        f"{PREDICTIVES}::test_peaks_of_weights[2.0-1e+30]",
    ),
    Mutation(
        "predictive-series-cut",
        STUDENTS,
        "        result -= step / (12.0 * low * (low + step))\n",
        "",
        "Stirling's formula alone lacks 1 / (12 x).",
        f"{PREDICTIVES}::test_stirlings_series_takes_over_smoothly[10001.0]",
    ),
]
