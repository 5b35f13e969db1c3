"""Wrong patches: discrete, kernels event marginals."""

from mutation.mutation import Mutation

EVENT_KERNELS = "emissions/_discrete/_kernels_event_marginals.py"

MUTATIONS = [
    Mutation(
        "events-fewer-than-the-likeliest",
        EVENT_KERNELS,
        "weigh_next(m, k, b[j], slope) / weigh_next(k - 1, m + 1, a[j], slope)",
        "weigh_next(m, k, b[j], slope) / weigh_next(k, m + 1, a[j], slope)",
        "The ratio of P(k - 1) and P(k), not that of their neighbors.",
        "tests/exact/emissions/test_multinomial.py::test_millions_of_events[learned]",
    ),
]
