"""Wrong patches: the walker of mixtures of many rows (mixture)."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "mixture-blocked-start-hears-no-interrupt",
        "mixture/_blocked_walker.py",
        "            check_interrupts()\n",
        "",
        "The first rows take seconds.",
        "tests/unit/mixture/test_blocked.py::test_the_start_can_be_interrupted",
    ),
]
