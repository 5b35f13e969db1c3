"""scikit-learn's own estimator checks as a pytest mark, on every version that skdp supports."""

import warnings

import pytest
import sklearn
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

IS_1_6 = sklearn.__version__.startswith("1.6.")


COMPARE_PREDICTIONS = (
    "check_estimators_pickle", "check_fit_idempotent", "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
)  # fmt: skip


def expected_failures(estimator):
    """Return the checks that fail by scikit-learn's own fault or ask what cannot be, and why. It
    checks invariance with ``n_components=1``, where states do not follow each other; there is no
    such number of factors. But steps still inform about which sample is right."""
    failures = {}
    ordered = "the rows of an array are one sequence: their order counts"
    if type(estimator).__name__ == "HDPMixture":
        group = "the rows of an array are one group, whose shares depend on all of them"
        failures["check_methods_subset_invariance"] = group
        failures["check_methods_sample_order_invariance"] = group  # y labels three components
    if type(estimator).__name__ in ("HDPHMMLT", "FactorialHMM", "ChangePointDetector"):
        failures["check_methods_sample_order_invariance"] = ordered
        failures["check_methods_subset_invariance"] = ordered
    if type(estimator).__name__ == "TopicSegmenter":
        gaps = "predict_proba returns an array of gaps for each document"
        for kind in ("array", "matrix"):
            failures[f"check_estimator_sparse_{kind}"] = gaps
    if type(estimator).__name__ == "HDPBackoffFeatures":
        folds = "training rows have out-of-fold features, as with scikit-learn's TargetEncoder"
        failures["check_transformer_general"] = folds
        failures["check_transformer_data_not_an_array"] = folds
    if type(estimator).__name__ == "HDPPCFG":
        failures.update(dict.fromkeys(COMPARE_PREDICTIONS, "They subtract predictions: trees"))
    if type(estimator).__name__ == "PanelTransformer":
        same = "the output is of the kind of X, whatever set_output is told"
        for library in ("pandas", "polars"):
            failures[f"check_set_output_transform_{library}"] = same
            failures[f"check_global_output_transform_{library}"] = same
    if type(estimator).__name__ == "LanguageModelClassifier":
        failures["check_classifiers_train"] = "lists, on which it is fitted last, have any length"
    if IS_1_6 and get_tags(estimator).input_tags.categorical:
        failures["check_positive_only_tag_during_fit"] = (
            "1.6 subtracts a float from integers in place"
        )
    return failures


def scikit_learn_checks(estimators):
    """Return `parametrize_with_checks`, which in 1.6 gives pytest a deprecated generator."""
    with warnings.catch_warnings():  # that it can test little of what takes text
        warnings.simplefilter("ignore")
        mark = parametrize_with_checks(estimators, expected_failed_checks=expected_failures).mark
        names, values = mark.args
        return pytest.mark.parametrize(names, list(values), **mark.kwargs)
