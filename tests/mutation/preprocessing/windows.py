"""Wrong patches of the features of windows."""

from mutation.mutation import Mutation

TESTS = "tests/unit/preprocessing/test_window_features.py"
KERNELS = "preprocessing/_windows/_kernels_convolutions.py"
FEATURES = "preprocessing/_windows/_features.py"
PERIOD = "preprocessing/_windows/_period.py"
DEFINITION = f"{TESTS}::test_convolutions_by_their_definition[gaps2]"

MUTATIONS = [
    Mutation(
        "windows-filter-shifted",
        KERNELS,
        "                    total += weights[i] * values[t + (i - half) * dilation]",
        "                    total += weights[i] * values[t + (i - half + 1) * dilation]",
        "A filter is centered at its step.",
        DEFINITION,
    ),
    Mutation(
        "windows-past-the-end-of-a-sequence",
        KERNELS,
        "                    total += weights[i] * values[min(max(place, first), last)]",
        "                    total += weights[i] * values[min(max(place, 0), last)]",
        "No filter reads another sequence.",
        DEFINITION,
    ),
    Mutation(
        "windows-share-of-all-steps",
        KERNELS,
        "            shares[i] = (n_above[ends[i]] - n_above[starts[i]]) / n\n",
        "            shares[i] = (n_above[ends[i]] - n_above[starts[i]]) / (ends[i] - starts[i])\n",
        "Steps without values do not count.",
        f"{TESTS}::test_convolutions_by_their_definition[gaps1]",
    ),
    Mutation(
        "windows-all-steps-usable",
        KERNELS,
        "            usable[t] = n >= n_least",
        "            usable[t] = True",
        "Interpolated values are no observations.",
        DEFINITION,
    ),
    Mutation(
        "windows-thresholds-without-margin",
        FEATURES,
        "np.quantile(signal, level) + 1e-7 * signal.std()",
        "np.quantile(signal, level)",
        "Rounding does not decide whether a plateau exceeds its own level.",
        f"{TESTS}::test_no_unit[1000000.0-3.0-convolutions]",
    ),
    Mutation(
        "windows-not-of-the-nearest-center",
        "preprocessing/_windows/_layout.py",
        "        first[1:] = (middle[1:] + middle[:-1] + 2) // 4",
        "        first[1:] = self.starts[1:]",
        "A step belongs to the window with the nearest center.",
        f"{TESTS}::test_layout",
    ),
    Mutation(
        "windows-period-at-a-ripple",
        PERIOD,
        "is_peak & (inner > 0.0) & (valleys <= 0.5 * inner)",
        "is_peak & (inner > 0.0)",
        "A ripple on the slope of a wide peak is no period.",
        f"{TESTS}::test_periods[100]",
    ),
    Mutation(
        "windows-period-in-noise",
        PERIOD,
        "    if heights.max(initial=0.0) <= least * covariances[0]:",
        "    if len(heights) == 0:",
        "Noise has no period.",
        f"{TESTS}::test_periods[12]",
    ),
    Mutation(
        "windows-constant-columns-are-no-waves",
        PERIOD,
        "    columns = find_varying(values)",
        "    columns = None",
        "A column that never changes does not say that the others have no waves.",
        f"{TESTS}::test_periods[31]",
    ),
    Mutation(
        "windows-interpolated-values-are-waves",
        PERIOD,
        "    is_sparse = is_observed.mean(axis=0) < 1.0 - _SPARSE",
        "    is_sparse = is_observed.mean(axis=0) < 0.0",
        "Interpolated values are smooth, whatever a column shows.",
        f"{TESTS}::test_interpolated_values_are_no_waves[all columns-2]",
    ),
    Mutation(
        "windows-of-gaps",
        PERIOD,
        "np.minimum(dependence, 0.0)",
        "dependence",
        "Windows full of gaps show little but periods.",
        f"{TESTS}::test_gaps_leave_only_periods[3]",
    ),
    Mutation(
        "windows-levels-are-waves",
        PERIOD,
        "    values = remove_levels(limit(values), ptr)\n",
        "    values = limit(values)\n",
        "A machine that is switched on and off regularly has no waves.",
        f"{TESTS}::test_levels_are_no_waves[0-0.5]",
    ),
    Mutation(
        "windows-slow-jumps-are-waves",
        PERIOD,
        "away = ~maximum_filter1d(starts, _LAG)",
        "away = np.ones(len(column), dtype=bool)",
        "A jump between levels may take some steps.",
        f"{TESTS}::test_jumps_may_take_some_steps",
    ),
    Mutation(
        "windows-waves-are-levels",
        PERIOD,
        "        if is_flat and rest @ rest",
        "        if True or rest @ rest",
        "Halves of waves are no levels.",
        f"{TESTS}::test_waves_are_no_levels[100-0.3]",
    ),
    Mutation(
        "windows-features-with-gaps-kept",
        "preprocessing/_windows/_known_features.py",
        "    return np.sort(order[:n_kept]) if n_kept else None",
        "    return np.sort(order[-n_kept:]) if n_kept else None",
        "Filters that fall into regular gaps do not decide what the components learn from.",
        f"{TESTS}::test_features_to_keep_by_their_definition",
    ),
    Mutation(
        "windows-most-features-with-gaps-left-out",
        "preprocessing/_windows/_known_features.py",
        "np.sort(numbers)[len(numbers) // 2]",
        "np.sort(numbers)[len(numbers) // 4]",
        "No more features are left out than half of the windows need.",
        f"{TESTS}::test_features_to_keep_by_their_definition",
    ),
    Mutation(
        "windows-functions-change-the-series",
        FEATURES,
        'steps.values[first:last].copy(order="C")',
        "np.ascontiguousarray(steps.values[first:last])",
        "A function may change its window in place.",
        f"{TESTS}::test_functions_may_change_their_argument",
    ),
]
