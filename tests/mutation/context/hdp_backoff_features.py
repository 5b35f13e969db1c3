"""Wrong patches of features from chains of columns."""

from mutation.mutation import Mutation

FEATURES = "tests/exact/context/test_backoff_features.py"

MUTATIONS = [
    Mutation(
        "features-own-fold",
        "context/_hdp_backoff_features.py",
        "features[test, k] = fitted[k, fold].log_probabilities(mine)",
        "features[test, k] = fitted[k, 0].log_probabilities(mine)",
        "Features of training rows come from models without them.",
        f"{FEATURES}::test_no_label_influences_features_of_its_own_fold[single]",
    ),
    Mutation(
        "features-mean-of-logs",
        "context/_hdp_backoff_features.py",
        "return np.log(total / len(self.samples))",
        "return np.log(total)",
        "A feature is the log of a mean probability.",
        f"{FEATURES}::test_features_are_log_probabilities_of_chains",
    ),
]
