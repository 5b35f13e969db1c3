"""Wrong patches: the public classes of mixtures of rows."""

from mutation.mutation import Mutation

FITS_WITH_LABELS = "tests/unit/mixture/test_labels.py"

MUTATIONS = [
    Mutation(
        "mixture-labels-predicted-by-index",
        "mixture/_row_mixture.py",
        "np.asarray(self.component_labels_[best])",
        "np.asarray(best)",
        "Predictions are the user's labels.",
        f"{FITS_WITH_LABELS}::test_components_have_the_numbers_of_labels[collapsed]",
    ),
]
