"""Weights of rows: repetitions, rows left out, and fractions."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp.inspection import CoAssignmentDisplay
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(m, 0.5, (12, 2)) for m in (0.0, 6.0)])
WEIGHTS = np.array([2, 1, 0, 3, 1, 1, 2, 0, 1, 4, 1, 1] * 2)


@pytest.fixture(autouse=True)
def _short_fits():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def make(cls=DPMixture, **params):
    return cls(**{"max_iter": 20, "random_state": 0, **params})


def assert_same_chains(one, other):
    for name in ("log_joint", "n_components", "concentration"):
        assert np.array_equal(one.trace_[name], other.trace_[name])


@pytest.mark.parametrize(
    "params",
    [{}, {"sampler": "blocked"}, {"emission": "poisson"}, {"cls": PitmanYorMixture}],
    ids=["collapsed", "blocked", "counts", "with a discount"],
)
def test_a_row_of_weight_w_is_w_rows(params):
    rows = np.rint(np.abs(X)) if params.get("emission") == "poisson" else X
    weighted = make(**params).fit(rows, sample_weight=WEIGHTS)
    repeated = make(**params).fit(np.repeat(rows, WEIGHTS, axis=0))
    assert_same_chains(weighted, repeated)
    assert np.array_equal(weighted.weights_, repeated.weights_)
    assert np.array_equal(weighted.score_samples(rows), repeated.score_samples(rows))
    assert len(weighted.labels_) == len(X)


def test_equal_weights_of_one_change_nothing():
    assert_same_chains(make().fit(X), make().fit(X, sample_weight=np.ones(len(X))))


def test_whole_up_to_rounding():
    assert_same_chains(
        make().fit(X, sample_weight=WEIGHTS), make().fit(X, sample_weight=WEIGHTS * 0.1 / 0.1)
    )


def test_labels_of_rows_are_those_of_most_copies():
    weighted = make().fit(X, sample_weight=WEIGHTS)
    repeated = make().fit(np.repeat(X, WEIGHTS, axis=0))
    places = np.repeat(np.arange(len(X)), WEIGHTS)
    for i in np.flatnonzero(WEIGHTS):
        counts = np.bincount(repeated.labels_[places == i])
        assert weighted.labels_[i] == np.argmax(counts)
    left_out = WEIGHTS == 0
    assert np.array_equal(weighted.labels_[left_out], weighted.predict(X[left_out]))
    merged = weighted.labels_at(1)
    assert merged.shape == (len(X),)
    assert not merged.any()


def test_ties_go_to_the_smallest_component():
    """Copies of a row between two labeled ones can be in either; the trace is not looked at."""
    from skdp.mixture._table._weights import RowCopies

    copies = RowCopies(np.zeros((4, 1)), np.array([0, 0, 1, 3, 3, 3]), np.ones(6))
    found = copies.of_rows(np.array([2, 1, 0, 2, 0, 2]), np.array([1]))
    assert found.tolist() == [1, 0, 1, 2]
    amounts = np.array([1.0, 0.5, 1.0, 0.4, 0.4, 0.3])
    found = copies._replace(amounts=amounts).of_rows(np.array([2, 1, 0, 2, 0, 1]), np.array([1]))
    assert found.tolist() == [2, 0, 1, 0]


def test_labels_and_first_partitions_are_repeated():
    y = np.full(len(X), -1)
    y[[0, 5]], y[[13, 20]] = 4, 2
    init = np.repeat([0, 1], 12)
    weighted = make(init=init).fit(X, y, sample_weight=WEIGHTS)
    rows = np.repeat(np.arange(len(X)), WEIGHTS)
    repeated = make(init=init[rows]).fit(X[rows], y[rows])
    assert_same_chains(weighted, repeated)
    assert (weighted.labels_[[0, 5]] == 4).all()
    with pytest.raises(ValueError, match="a label per row of X"):
        make(init=init[rows]).fit(X, sample_weight=WEIGHTS)


def test_a_label_without_rows_is_forgotten():
    y = np.full(len(X), -1)
    y[2], y[13] = 7, 3
    model = make().fit(X, y, sample_weight=WEIGHTS)  # row 2 has weight 0
    assert 7 not in model.component_labels_.tolist()[:1]
    assert model.component_labels_[0] == 3


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
def test_fractions(sampler):
    """Small powers leave the prior: far rows may be together. Large sums outvote one row."""
    rows = np.array([[-1.0], [1.0]] * 8)
    emission = {"emission": "gaussian", "sampler": sampler, "max_iter": 60}
    faint = make(**emission).fit(rows, sample_weight=np.full(16, 1e-6))
    means = faint.means_[0]
    assert abs(means[0]) < 0.2  # the prior mean: the values hardly count
    heavy = make(**emission).fit(rows, sample_weight=np.tile([0.01, 2.5], 8))
    assert heavy.score_samples([[1.0]]) > heavy.score_samples([[-1.0]])
    assert len(heavy.labels_) == 16


@pytest.mark.parametrize("emission", ["gaussian", "student_t"])
def test_rows_of_dependent_columns_take_whole_weights(emission):
    rows = np.random.default_rng(0).normal(size=(20, 2))
    weights = np.tile([0.5, 1.5], 10)
    with pytest.raises(ValueError, match=r'whole weights only.*GaussianEmission\("diag"\)'):
        make(emission=emission).fit(rows, sample_weight=weights)
    with pytest.raises(ValueError, match="whole weights only"):
        make(HDPMixture, emission=emission).fit([rows], sample_weight=[weights])
    make(emission=emission, max_iter=2, n_samples=1).fit(rows, sample_weight=np.round(weights))


def test_fractions_are_powers_of_the_likelihood():
    """Given the partition, the power of a row is added to the precision of the mean."""
    from skdp.emissions import GaussianEmission

    emission = GaussianEmission(
        "diag", mean_prior=[0.0], mean_precision_prior=1.0, degrees_of_freedom_prior=3.0,
        covariance_prior=[1.0],
    )  # fmt: skip
    for weight in (0.25, 1.5, 3.0):
        model = make(emission=emission).fit([[2.0]], sample_weight=[weight])
        n = 1.0 if weight < 1 else np.ceil(weight)
        if model.n_components_ == 1:
            np.testing.assert_allclose(model.means_, [[2.0 * weight / (1.0 + weight)]])
        assert model._representative.labels.shape == (n,)


GROUPS = [X[:8], X[8:10], X[10:]]
GROUP_WEIGHTS = [WEIGHTS[:8], WEIGHTS[8:10], WEIGHTS[10:]]


def test_groups():
    weighted = make(HDPMixture).fit(GROUPS, sample_weight=GROUP_WEIGHTS)
    repeated = make(HDPMixture).fit(
        [np.repeat(x, w, axis=0) for x, w in zip(GROUPS, GROUP_WEIGHTS, strict=True)]
    )
    assert_same_chains(weighted, repeated)
    assert np.array_equal(weighted.group_weights_, repeated.group_weights_)
    assert [len(labels) for labels in weighted.labels_] == [8, 2, 14]
    assert [len(labels) for labels in weighted.labels_at(1)] == [8, 2, 14]


def test_a_group_without_weight_has_the_shares_of_a_new_one():
    model = make(HDPMixture).fit(GROUPS, sample_weight=[None, [0, 0], np.ones(14)])
    np.testing.assert_allclose(model.group_weights_[1], model.weights_)
    assert model.labels_[1].shape == (2,)
    single = make(HDPMixture).fit(X, sample_weight=WEIGHTS)
    assert single.labels_.shape == (24,)


def test_scores_are_weighted_means():
    model = make().fit(X)
    logs = model.score_samples(X)
    np.testing.assert_allclose(
        model.score(X, sample_weight=WEIGHTS), np.average(logs, weights=WEIGHTS)
    )
    assert model.score(X) == logs.mean()
    np.testing.assert_allclose(
        model.score(X, sample_weight=WEIGHTS * 1e306), model.score(X, sample_weight=WEIGHTS)
    )
    groups = make(HDPMixture).fit(GROUPS)
    ones = [np.ones(len(x)) for x in GROUPS]
    np.testing.assert_allclose(groups.score(GROUPS, sample_weight=ones), groups.score(GROUPS))
    only = [np.zeros(8), None, np.zeros(14)]
    assert np.isfinite(groups.score(GROUPS, sample_weight=only))
    with pytest.raises(ValueError, match="no rows to score"):
        groups.score([X[:1]], sample_weight=[[1.0]])


FAULTS = {
    "negative": (-WEIGHTS, ValueError, "got -2 for row 0"),
    "NaN": (np.where(WEIGHTS == 4, np.nan, 1.0), ValueError, "got nan for row 9"),
    "infinite": (np.where(WEIGHTS == 4, np.inf, 1.0), ValueError, "got inf"),
    "all zero": (np.zeros(24), ValueError, "zero for all rows"),
    "too few": (np.ones(23), ValueError, "must hold 24 numbers"),
    "two dimensions": (np.ones((24, 1)), ValueError, "shape"),
    "a number": (2.0, ValueError, "must hold 24 numbers"),
    "text": (["a"] * 24, TypeError, "must hold numbers"),
    "objects": ([None] * 24, ValueError, "got nan"),
    "too many": (np.full(24, 1e12), ValueError, "Scale sample_weight"),
    "far too many": (np.full(24, 1e300), ValueError, "Scale sample_weight"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name):
    weights, error, message = FAULTS[name]
    model = make()
    with pytest.raises(error, match=message):
        model.fit(X, sample_weight=weights)
    assert not hasattr(model, "n_features_in_")
    if "many" not in name:
        fitted = make().fit(X)
        with pytest.raises(error, match=message):
            fitted.score(X, sample_weight=weights)


@pytest.mark.parametrize(
    "weights", [np.ones(24), [np.ones(8), np.ones(2)], [1.0, 1.0, 1.0], "abc", 3]
)
def test_faults_of_groups(weights):
    with pytest.raises(ValueError, match="for each of the 3 groups"):
        make(HDPMixture).fit(GROUPS, sample_weight=weights)


def test_fault_of_one_group():
    with pytest.raises(ValueError, match=r"sample_weight\[1\] must hold 2 numbers"):
        make(HDPMixture).fit(GROUPS, sample_weight=[None, [1.0], None])
    with pytest.raises(ValueError, match="zero for all rows"):
        make(HDPMixture).fit(GROUPS, sample_weight=[np.zeros(len(x)) for x in GROUPS])


def test_containers():
    expected = make().fit(X, sample_weight=WEIGHTS)
    for weights in (WEIGHTS.tolist(), pd.Series(WEIGHTS), WEIGHTS.astype(object)):
        assert_same_chains(expected, make().fit(X, sample_weight=weights))


def test_fits_with_weights_resume_and_interrupt():
    whole = make(burn_in=0).fit(X, sample_weight=WEIGHTS)
    part = make(max_iter=10, burn_in=0, warm_start=True).fit(X, sample_weight=WEIGHTS)
    part.set_params(max_iter=20).fit(X, sample_weight=WEIGHTS)
    assert_same_chains(whole, part)
    with pytest.raises(ValueError, match="same X"):
        part.set_params(max_iter=30).fit(X, sample_weight=WEIGHTS[::-1])
    states = list(make(max_iter=3).iter_sweeps(X, sample_weight=WEIGHTS))
    assert len(states) == 3
    assert len(states[-1].labels) == WEIGHTS.sum()


def test_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        model = make().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipe = make_pipeline(scaler, model).fit(X, sample_weight=WEIGHTS)
        assert np.isfinite(pipe.score(X, sample_weight=WEIGHTS))
        assert len(pipe[-1]._representative.labels) == WEIGHTS.sum()


def test_display():
    model = make().fit(X, sample_weight=WEIGHTS)
    display = CoAssignmentDisplay.from_estimator(model)
    assert len(display.labels) == 20
    with pytest.raises(ValueError, match="weight of row 2 was 0"):
        CoAssignmentDisplay.from_estimator(model, rows=[0, 2])


def test_fit_predict():
    labels = make().fit_predict(X, sample_weight=WEIGHTS)
    assert np.array_equal(labels, make().fit(X, sample_weight=WEIGHTS).labels_)
