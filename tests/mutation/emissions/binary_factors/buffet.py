"""Wrong patches: binary factors whose number is inferred, sampler."""

from mutation.mutation import Mutation

SAMPLER = "emissions/_binary_factors/_buffet.py"
BUFFET = "tests/exact/emissions/test_factor_buffet.py::test_factors"

MUTATIONS = [
    Mutation(
        "buffet-no-room-for-idle",
        SAMPLER,
        "log_room = np.logaddexp.accumulate(log_new)[::-1].copy()",
        "log_room = np.zeros(len(log_new))",
        "The bound holds for the factors of idle states, too.",
        f"{BUFFET}[idle state, bound]",
    ),
    Mutation(
        "buffet-mass-of-one-customer-less",
        SAMPLER,
        "self.expected = expected_features(n_states, self.concentration)",
        "self.expected = expected_features(n_states - 1, self.concentration)",
        "All states are customers.",
        f"{BUFFET}[normal]",
    ),
]
