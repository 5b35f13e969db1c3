"""Wrong patches of predictions with a part of the evidence."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "detector-all-of-the-evidence",
        "sequence/_detector/_coarse.py",
        "        return self.power * self.emission.log_obs(values)",
        "        return self.emission.log_obs(values)",
        "Repeated observations count in part.",
        "tests/unit/sequence/test_coarse_predictions.py::test_probabilities[0.25]",
    ),
]
