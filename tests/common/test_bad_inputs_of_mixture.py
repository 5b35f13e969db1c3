"""Faults in the use of mixtures are named."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skdp.data import SequencePanel, TokenSequences
from skdp.emissions import (
    AutoregressiveEmission,
    BernoulliEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
    PoissonEmission,
    StudentTEmission,
)
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture

X = np.random.default_rng(0).normal(size=(12, 2))
COUNTS = np.random.default_rng(0).poisson(3.0, (12, 2)).astype(float)


def with_entry(value, X=COUNTS):
    changed = X.copy()
    changed[3, 1] = value
    return changed


FAULTS = {
    "infinity": ({}, with_entry(np.inf, X), ValueError, "Input X contains infinity"),
    "too large": ({}, with_entry(1e130, X), ValueError, "numbers up to 1e"),
    "no rows": ({}, np.empty((0, 2)), ValueError, "0 sample"),
    "one dimension": ({}, X[:, 0], ValueError, "Expected 2D array"),
    "a panel": ({}, SequencePanel(X, [0, 12]), TypeError, "got a SequencePanel"),
    "masked": ({}, np.ma.masked_array(X, X > 0), ValueError, "masked"),
    "negative counts": ({"emission": "poisson"}, with_entry(-1.0), ValueError, "got -1"),
    "fractions": ({"emission": "multinomial"}, with_entry(0.5), ValueError, "got 0.5 in column 1"),
    "strings": (
        {"emission": "poisson"}, [["a"], ["b"]], ValueError, "preprocessing.OrdinalEncoder",
    ),
    "unknown emission": ({"emission": "gauss"}, X, ValueError, "'emission' parameter"),
    "a number of components": ({"emission": 3}, X, ValueError, "got 3. If this was to be"),
    "a class": ({"emission": PoissonEmission}, COUNTS, TypeError, "got the class"),
    "no bits": ({"emission": BernoulliEmission()}, COUNTS, ValueError, "must hold 0 and 1"),
    "missing in a part with full covariances": (
        {"emission": IndependentEmissions([("full", "gaussian", [0, 1])])}, with_entry(np.nan, X),
        ValueError, "takes no missing values next to other parts",
    ),
    "lags": ({"emission": AutoregressiveEmission()}, X, TypeError, "got AutoregressiveEmission"),
    "weights in parts": (
        {"emission": IndependentEmissions([("t", StudentTEmission(), [0, 1])])}, X, TypeError,
        "cannot be a part of IndependentEmissions",
    ),
    "width": (
        {"emission": GaussianEmission(mean_prior=[0.0])}, X, ValueError, "shape (2,) for X of 2",
    ),
    "concentration": ({"concentration": -0.5, "discount": 0.5}, X, ValueError, "> -0.5"),
    "with a drawn discount": ({"concentration": -0.1}, X, ValueError, "> 0, got -0.1"),
    "a word": ({"concentration": "learn"}, X, ValueError, "may also be 'auto'"),
    "discount": ({"discount": 1.0}, X, ValueError, "'discount' parameter"),
    "discount_prior": ({"discount_prior": (0, 1)}, X, ValueError, "discount_prior must be two"),
    "concentration_prior": (
        {"concentration_prior": (1.0,)}, X, ValueError, "concentration_prior must be two",
    ),
    "sampler": ({"sampler": "slice"}, X, ValueError, "'sampler' parameter"),
    "point_estimate": ({"point_estimate": "map"}, X, ValueError, "'point_estimate' parameter"),
    "init": ({"init": [0, 1]}, X, ValueError, "12 integers, a label per row"),
    "init of fractions": ({"init": np.zeros(12)}, X, ValueError, "got float64"),
    "burn_in": ({"burn_in": 9}, X, ValueError, "burn_in must be smaller"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name):
    params, rows, error, message = FAULTS[name]
    model = PitmanYorMixture(**{"max_iter": 4, **params})
    with pytest.raises(error) as caught:
        model.fit(rows)
    assert message in str(caught.value)
    assert not hasattr(model, "n_features_in_")


LABELS = [0, 0, 3, *[-1] * 9]
"""Labels of three of the rows of X."""

FAULTS_OF_LABELS = {
    "too few": (LABELS[:-1], ValueError, "y must have shape (12,), a label per row of X"),
    "ragged": ([[0], [1, 2], *[0] * 10], ValueError, "got shape ()"),
    "negative": ([*LABELS[:-1], -2], ValueError, "got y[11]=-2. If y is for a later step"),
    "fractions": ([0.5, *LABELS[1:]], ValueError, "got y[0]=0.5. If y is for a later step"),
    "infinity": ([np.inf, *LABELS[1:]], ValueError, "got y[0]=inf"),
    "too large": ([2**31, *LABELS[1:]], ValueError, "from 0 to 2147483647, or -1"),
    "strings": (["a"] * 12, TypeError, "Encode other labels with a LabelEncoder"),
    "a string": ([None, "a", *LABELS[2:]], TypeError, "got y[1]='a'. Encode other labels"),
    "bits": (np.array(LABELS) > 0, TypeError, "got values of type bool"),
    "a bit": ([True, None, *LABELS[2:]], TypeError, "got y[0]=True"),
    "masked": (np.ma.masked_less(LABELS, 0), ValueError, "masked"),
}


@pytest.mark.parametrize("name", FAULTS_OF_LABELS)
@pytest.mark.parametrize("model", [DPMixture(max_iter=4), PitmanYorMixture(max_iter=4)])
def test_fault_of_labels(model, name):
    y, error, message = FAULTS_OF_LABELS[name]
    model = clone(model)
    for call in (model.fit, model.fit_predict, model.iter_sweeps):
        with pytest.raises(error) as caught:
            call(X, y)
        assert message in str(caught.value)
        assert not hasattr(model, "n_features_in_")


def test_a_first_partition_that_contradicts_the_labels():
    model = DPMixture(init=np.arange(12) // 2, max_iter=4)
    with pytest.raises(ValueError, match="init separates rows 1 and 5, which y gives the same lab"):
        model.fit(X, [-1, 4, -1, -1, -1, 4, *[-1] * 6])
    with pytest.raises(ValueError, match=r"init joins rows 2 and 3, .* different labels, 8 and 9"):
        model.fit(X, [-1, -1, 8, 9, *[-1] * 8])


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
@pytest.mark.parametrize("y", [np.zeros(12), range(12), [5, *[-1] * 11], [0, *[None] * 10, 0]])
def test_odd_but_legal_labels(y, sampler):
    model = DPMixture(sampler=sampler, max_iter=24, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    known = [(i, label) for i, label in enumerate(y) if label not in (None, -1)]
    assert all(model.labels_[i] == label for i, label in known)
    assert model.component_labels_[: len({label for _, label in known})].max() == known[-1][1]
    assert np.isfinite(model.score(X))


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
@pytest.mark.parametrize(
    ("rows", "params"),
    [
        (X[:1], {}),
        (X[:2], {}),
        (np.column_stack([X, np.full(12, 7.0)]), {}),
        (np.full((5, 2), 3.0), {}),
        (np.random.default_rng(0).normal(size=(4, 9)), {}),
        (COUNTS * 0.0, {"emission": "multinomial"}),
        (COUNTS[:1], {"emission": "poisson"}),
        (COUNTS[:, :1], {"emission": "categorical", "concentration": 1e-8}),
        (X, {"discount": 0.9, "concentration": -0.89}),
    ],
)
def test_odd_but_legal(rows, params, sampler):
    params = {"max_iter": 6, "random_state": 0, "sampler": sampler, **params}
    model = PitmanYorMixture(**params).fit(rows)
    assert np.isfinite(model.score(rows))
    assert model.labels_.shape == (len(rows),)
    assert np.isfinite(model.predict_proba(rows)).all()


def test_another_number_of_columns():
    model = DPMixture(max_iter=4).fit(X)
    for method in (model.predict, model.predict_proba, model.novelty, model.score_samples):
        with pytest.raises(ValueError, match="1 features, but DPMixture is expecting 2"):
            method(X[:, :1])


FEATURE_FAULTS = {
    "infinity": ({}, with_entry(np.inf, X), ValueError, "Input X contains infinity"),
    "too large": ({}, with_entry(1e130, X), ValueError, "X must hold numbers up to 1e+120"),
    "an empty column": (
        {}, np.column_stack([X, np.full(12, np.nan)]), ValueError, "Column 2 of X has no observed",
    ),
    "no rows": ({}, np.empty((0, 2)), ValueError, "0 sample"),
    "one dimension": ({}, X[:, 0], ValueError, "Expected 2D array"),
    "a panel": ({}, SequencePanel(X, [0, 12]), TypeError, "got a SequencePanel"),
    "masked": ({}, np.ma.masked_array(X, X > 0), ValueError, "masked"),
    "concentration": ({"concentration": 0.0}, X, ValueError, "> 0, got 0.0. It may also be 'auto'"),
    "endless": ({"concentration": np.inf}, X, ValueError, "concentration must be a finite number"),
    "a word": ({"concentration": "learn"}, X, ValueError, "may also be 'auto'"),
    "too many": ({"concentration": 1e9}, X, ValueError, "concentration=1e+09, 3.1e+09 features"),
    "noise_variance": ({"noise_variance": 0.0}, X, ValueError, "'noise_variance' parameter"),
    "no end of noise": ({"noise_variance": np.inf}, X, ValueError, "'noise_variance' parameter"),
    "weights_variance": ({"weights_variance": -1}, X, ValueError, "'weights_variance' parameter"),
    "concentration_prior": (
        {"concentration_prior": (1.0,)}, X, ValueError, "concentration_prior must be two",
    ),
    "noise_prior": ({"noise_prior": (0, 1)}, X, ValueError, "noise_prior must be two"),
    "shape": ({"noise_prior": (1e-20, 1)}, X, ValueError, "noise_prior must have a shape from"),
    "weights_prior": ({"weights_prior": 3}, X, ValueError, "'weights_prior' parameter"),
    "center": ({"center": "yes"}, X, ValueError, "'center' parameter"),
    "split_merge": ({"split_merge": 2}, X, ValueError, "'split_merge' parameter"),
    "transform_max_iter": (
        {"transform_max_iter": 0}, X, ValueError, "'transform_max_iter' parameter",
    ),
    "burn_in": ({"burn_in": 9}, X, ValueError, "burn_in must be smaller"),
    "no digits": (
        {"noise_variance": 1e-200}, np.ones((5, 3)), ValueError, "a larger noise_variance",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FEATURE_FAULTS)
def test_fault_of_latent_features(name):
    params, rows, error, message = FEATURE_FAULTS[name]
    model = IBPLatentFeatures(**{"max_iter": 4, "center": False, **params})
    with pytest.raises(error) as caught:
        model.fit(rows)
    assert message in str(caught.value)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("rows", "params"),
    [
        (X[:1], {}),
        (X[:1], {"center": False}),
        (np.column_stack([X, np.full(12, 7.0)]), {}),
        (np.full((5, 2), 3.0), {}),
        (np.zeros((5, 2)), {"center": False}),
        (1e100 * X, {}),
        (1e-100 * X, {"noise_prior": (1.0, 1e-59)}),
        (np.random.default_rng(0).normal(size=(4, 9)), {"noise_variance": 1e-8}),
        (np.vstack([X, np.full((3, 2), np.nan)]), {}),
        (with_entry(np.nan, X), {"concentration": 1e-8}),
        (X, {"concentration": 30.0, "noise_variance": 1e-3, "weights_variance": 1e3}),
    ],
)
def test_odd_but_legal_for_latent_features(rows, params):
    model = IBPLatentFeatures(**{"max_iter": 6, "random_state": 0, **params}).fit(rows)
    assert np.isfinite(model.score(rows))
    assert np.isfinite(model.impute(rows)).all()
    shares = model.transform(rows)
    assert shares.shape == (len(rows), model.n_components_)
    assert np.all((shares >= 0.0) & (shares <= 1.0 + 1e-9))


def test_another_number_of_columns_for_latent_features():
    model = IBPLatentFeatures(max_iter=4).fit(X)
    for method in (model.transform, model.impute, model.score_samples, model.score):
        with pytest.raises(ValueError, match="1 features, but IBPLatentFeatures is expecting 2"):
            method(X[:, :1])


GROUPS = [X[:5], X[5:]]
COUNTED = [COUNTS[:5], COUNTS[5:]]


def with_entries(value, groups=COUNTED):
    return [groups[0], with_entry(value, groups[1])]


FAULTS_OF_GROUPS = {
    "infinity": ({}, with_entries(np.inf, GROUPS), ValueError, "contains infinity: sequence 1"),
    "no groups": ({}, [], ValueError, "0 sample"),
    "an empty group": (
        {}, [X, X[:0]], ValueError, "0 observation(s) (sequence 1) while a minimum of 1",
    ),
    "other columns": ({}, [X, X[:, :1]], ValueError, "sequence 1 has 1 features, but sequence 0"),
    "an array of groups": ({}, X.reshape(3, 4, 2), ValueError, "write list(X)"),
    "masked": ({}, np.ma.masked_array(X, X > 0), ValueError, "masked"),
    "words": ({}, TokenSequences([0, 1], [0, 2], 2), TypeError, "TokenSequences"),
    "negative counts": ({"emission": "poisson"}, with_entries(-1.0), ValueError, "got -1"),
    "fractions": ({"emission": "multinomial"}, with_entries(0.5), ValueError, "got 0.5"),
    "unknown emission": ({"emission": "gauss"}, GROUPS, ValueError, "'emission' parameter"),
    "concentration": ({"concentration": 0.0}, GROUPS, ValueError, "must be 'auto' or a number"),
    "a word": ({"concentration": "learn"}, GROUPS, ValueError, "got 'learn'"),
    "top_concentration": (
        {"top_concentration": -1.0}, GROUPS, ValueError, "top_concentration must be 'auto' or",
    ),
    "infinite": ({"top_concentration": np.inf}, GROUPS, ValueError, "from 1e-08 to 1e+08, got inf"),
    "a truth": ({"concentration": True}, GROUPS, ValueError, "got True"),
    "concentration_prior": (
        {"concentration_prior": (1.0,)}, GROUPS, ValueError, "concentration_prior must be two",
    ),
    "top_concentration_prior": (
        {"top_concentration_prior": (0.0, 1.0)}, GROUPS, ValueError,
        "top_concentration_prior must be two",
    ),
    "split_merge": ({"split_merge": 3}, GROUPS, ValueError, "'split_merge' parameter"),
    "init": ({"init": [[0] * 5]}, GROUPS, ValueError, "a list of 2 arrays of int, one per group"),
    "init of rows": ({"init": np.zeros(12, int)}, GROUPS, ValueError, "one per group of X; got 1"),
    "short init": ({"init": [[0] * 5, [1]]}, GROUPS, ValueError, "7 for group 1, got"),
    "init of fractions": ({"init": [[0.0] * 5, [0] * 7]}, GROUPS, ValueError, "got float64"),
}  # fmt: skip


def test_classes_of_groups_are_no_labels():
    model = HDPMixture(max_iter=24, random_state=0)
    expected = model.fit([X, X]).labels_
    for y in ([0, 1], ["a", "b"], [None, None]):  # classes of groups
        np.testing.assert_array_equal(model.fit([X, X], y).labels_, expected)
    with pytest.raises(ValueError, match="y holds what look like the lengths of groups"):
        model.fit(X, [5, 7])


FAULTS_OF_LABELED_GROUPS = {
    "too few groups": ([[0] * 5], ValueError, "an array of labels for each of the 2 groups of X"),
    "a number": (3, ValueError, "an array of labels for each of the 2 groups of X"),
    "too few rows": ([[0] * 5, [0] * 6], ValueError, "y[1] must have shape (7,), a label per row"),
    "a class and labels": ([1, [0] * 7], ValueError, "y[0] must have shape (5,), a label per row"),
    "negative": ([[0] * 5, [-2] * 7], ValueError, "got y[1][0]=-2. If y is for a later step"),
    "fractions": ([[0.5] * 5, None], ValueError, "got y[0][0]=0.5"),
    "strings": ([None, ["a"] * 7], TypeError, "Encode other labels with a LabelEncoder"),
    "a string": ([None, [1, "a", *[None] * 5]], TypeError, "got y[1][1]='a'"),
}


@pytest.mark.parametrize("name", FAULTS_OF_LABELED_GROUPS)
def test_fault_of_labeled_groups(name):
    y, error, message = FAULTS_OF_LABELED_GROUPS[name]
    model = HDPMixture(max_iter=4)
    with pytest.raises(error) as caught:
        model.fit(GROUPS, y)
    assert message in str(caught.value)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "_is_single")


def test_first_components_that_contradict_the_labels():
    model = HDPMixture(init=[[0, 0, 1, 1, 1], [1] * 7], max_iter=4)
    with pytest.raises(ValueError, match="init separates rows 0 and 6, which y gives the same lab"):
        model.fit(GROUPS, [[2, -1, -1, -1, -1], [-1, 2, *[-1] * 5]])


@pytest.mark.parametrize("name", FAULTS_OF_GROUPS)
def test_fault_of_groups(name):
    params, groups, error, message = FAULTS_OF_GROUPS[name]
    model = HDPMixture(**{"max_iter": 4, **params})
    with pytest.raises(error) as caught:
        model.fit(groups)
    assert message in str(caught.value)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "_is_single")


@pytest.mark.parametrize("method", ["fit", "score"])
def test_sizes_of_groups_are_not_labels(method):
    model = HDPMixture(max_iter=4, random_state=0).fit(GROUPS)
    with pytest.raises(ValueError, match=r"lengths of groups.* one per group"):
        getattr(model, method)(X, [5, 7])


@pytest.mark.parametrize(
    ("groups", "params"),
    [
        ([X[:1]], {}),
        ([X[:1], X[1:2]], {}),
        (X, {}),
        (X[:1], {"n_chains": 2}),
        ([np.column_stack([group, np.full(len(group), 7.0)]) for group in GROUPS], {}),
        ([np.full((5, 2), 3.0)] * 2, {}),
        ([group[:, 0] for group in GROUPS], {}),
        ([np.random.default_rng(0).normal(size=(4, 9))] * 2, {}),
        ([COUNTS * 0.0], {"emission": "multinomial"}),
        ([COUNTS[:1], COUNTS], {"emission": "poisson"}),
        ([COUNTS[:, :1]], {"emission": "categorical", "concentration": 1e-8}),
        (GROUPS, {"concentration": 1e8, "top_concentration": 1e-8}),
        (GROUPS, {"concentration": 1e-8, "top_concentration": 1e8}),
        (GROUPS, {"init": [[-3] * 5, [1] * 7], "max_iter": 1, "burn_in": 0}),
    ],
)
def test_odd_but_legal_groups(groups, params):
    model = HDPMixture(**{"max_iter": 6, "random_state": 0, **params}).fit(groups)
    assert np.all(np.isfinite(model.score_samples(groups)))
    shares = model.transform(groups)
    assert np.all(np.isfinite(shares))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_new_groups_of_another_width():
    model = HDPMixture(max_iter=4, random_state=0).fit(GROUPS)
    for method in ("predict", "predict_proba", "transform", "novelty", "score_samples", "score"):
        with pytest.raises(ValueError, match="expecting 2 features"):
            getattr(model, method)([X[:, :1]])


def test_new_groups_of_what_no_component_has():
    """A category that the fit has not seen, but that its emission allows."""
    groups = [np.array([[0], [1], [0]]), np.array([[1], [1]])]
    model = HDPMixture(CategoricalEmission(4), max_iter=6, random_state=0).fit(groups)
    assert np.isfinite(model.score([[[3], [3], [0]]]))
    with pytest.raises(ValueError, match="symbol"):
        model.score([[[4], [3], [0]]])


def test_draws_of_no_groups():
    model = HDPMixture(max_iter=4, random_state=0).fit(GROUPS)
    for params in ({"n_rows": 0}, {"n_rows": 1, "n_groups": 0}, {"n_rows": 1.5}):
        with pytest.raises(ValueError, match=r"n_rows|n_groups"):
            model.sample(**params)
