"""Weights of rows: repetitions, rows left out, and fractions."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp.emissions import GaussianEmission
from skdp.inspection import CoAssignmentDisplay
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.mixture._rows._partition import RowCopies

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(m, 0.5, (12, 2)) for m in (0.0, 6.0)])
WEIGHTS = np.array([2, 1, 0, 3, 1, 1, 2, 0, 1, 4, 1, 1] * 2)
COPIES = np.repeat(np.arange(24), WEIGHTS)
PLACES = [slice(0, 8), slice(8, 10), slice(10, 24)]
GROUPS = [X[own] for own in PLACES]


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
    """Its label is that of most of its copies; a row without weight is predicted."""
    rows = np.rint(np.abs(X)) if params.get("emission") == "poisson" else X
    weighted = make(**params).fit(rows, sample_weight=WEIGHTS)
    repeated = make(**params).fit(rows[COPIES])
    assert_same_chains(weighted, repeated)
    assert np.array_equal(weighted.weights_, repeated.weights_)
    assert np.array_equal(weighted.score_samples(rows), repeated.score_samples(rows))
    for i in np.flatnonzero(WEIGHTS):
        counts = np.bincount(repeated.labels_[i == COPIES])
        assert weighted.labels_[i] == np.argmax(counts)
    left_out = WEIGHTS == 0
    assert np.array_equal(weighted.labels_[left_out], weighted.predict(rows[left_out]))
    assert weighted.labels_at(1).tolist() == [0] * 24


def test_rows_of_groups_are_repeated():
    weighted = make(HDPMixture).fit(GROUPS, sample_weight=[WEIGHTS[own] for own in PLACES])
    repeated = make(HDPMixture).fit([np.repeat(X[own], WEIGHTS[own], axis=0) for own in PLACES])
    assert_same_chains(weighted, repeated)
    assert np.array_equal(weighted.group_weights_, repeated.group_weights_)
    assert [len(labels) for labels in weighted.labels_] == [8, 2, 14]
    assert [len(labels) for labels in weighted.labels_at(1)] == [8, 2, 14]
    assert make(HDPMixture).fit(X, sample_weight=WEIGHTS).labels_.shape == (24,)


def test_forms_of_weights():
    """Whole numbers are whole up to rounding, and weights of 1 change nothing."""
    expected = make().fit(X, sample_weight=WEIGHTS)
    forms = WEIGHTS * 0.1 / 0.1, WEIGHTS.tolist(), pd.Series(WEIGHTS), WEIGHTS.astype(object)
    for weights in forms:
        assert_same_chains(expected, make().fit(X, sample_weight=weights))
    labels = make().fit_predict(X, sample_weight=WEIGHTS)
    assert np.array_equal(labels, expected.labels_)
    assert len(CoAssignmentDisplay.from_estimator(expected).labels) == 20
    assert_same_chains(make().fit(X), make().fit(X, sample_weight=np.ones(24)))


def test_ties_go_to_the_smallest_component():
    """Copies of a row between two labeled ones can be in either; the trace is not looked at."""
    copies = RowCopies(np.zeros((4, 1)), np.array([0, 0, 1, 3, 3, 3]), np.ones(6))
    found = copies.of_rows(np.array([2, 1, 0, 2, 0, 2]), np.array([1]))
    assert found.tolist() == [1, 0, 1, 2]
    amounts = np.array([1.0, 0.5, 1.0, 0.4, 0.4, 0.3])
    found = copies._replace(amounts=amounts).of_rows(np.array([2, 1, 0, 2, 0, 1]), np.array([1]))
    assert found.tolist() == [2, 0, 1, 0]


def test_labels_and_first_partitions_are_repeated():
    """A label that only rows without weight have, such as row 2, is forgotten."""
    y, init = np.full(24, -1), np.repeat([0, 1], 12)
    y[[0, 5]], y[[13, 20]] = 4, 2
    weighted = make(init=init).fit(X, y, sample_weight=WEIGHTS)
    assert_same_chains(weighted, make(init=init[COPIES]).fit(X[COPIES], y[COPIES]))
    assert (weighted.labels_[[0, 5]] == 4).all()
    y = np.full(24, -1)
    y[2], y[13] = 7, 3
    assert make().fit(X, y, sample_weight=WEIGHTS).component_labels_[0] == 3


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
def test_fractions(sampler):
    """Small powers leave the prior: far rows may be together. Large sums outvote one row."""
    rows, params = np.array([[-1.0], [1.0]] * 8), {"sampler": sampler, "max_iter": 60}
    faint = make(**params).fit(rows, sample_weight=np.full(16, 1e-6))
    assert abs(faint.means_[0, 0]) < 0.2  # the prior mean: the values hardly count
    heavy = make(**params).fit(rows, sample_weight=np.tile([0.01, 2.5], 8))
    assert heavy.score_samples([[1.0]]) > heavy.score_samples([[-1.0]])
    assert len(heavy.labels_) == 16


def test_fractions_are_powers_of_the_likelihood():
    """Given the partition, the power of a row is added to the precision of the mean."""
    emission = GaussianEmission(
        "diag", mean_prior=[0.0], mean_precision_prior=1.0, degrees_of_freedom_prior=3.0,
        covariance_prior=[1.0],
    )  # fmt: skip
    for weight, n in ((0.25, 1), (1.5, 2), (3.0, 3)):
        model = make(emission=emission).fit([[2.0]], sample_weight=[weight])
        if model.n_components_ == 1:
            np.testing.assert_allclose(model.means_, [[2.0 * weight / (1.0 + weight)]])
        assert model._representative.labels.shape == (n,)


def test_a_group_without_weight_has_the_shares_of_a_new_one():
    model = make(HDPMixture).fit(GROUPS, sample_weight=[None, [0, 0], np.ones(14)])
    np.testing.assert_allclose(model.group_weights_[1], model.weights_)
    assert model.labels_[1].shape == (2,)


def test_scores_are_weighted_means():
    model = make().fit(X)
    logs, found = model.score_samples(X), model.score(X, sample_weight=WEIGHTS)
    assert found == pytest.approx(np.average(logs, weights=WEIGHTS))
    assert model.score(X, sample_weight=WEIGHTS * 1e306) == pytest.approx(found)
    assert model.score(X) == logs.mean()
    groups = make(HDPMixture).fit(GROUPS)
    ones = [np.ones(len(x)) for x in GROUPS]
    np.testing.assert_allclose(groups.score(GROUPS, sample_weight=ones), groups.score(GROUPS))
    only = [np.zeros(8), None, np.zeros(14)]
    assert np.isfinite(groups.score(GROUPS, sample_weight=only))


def test_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        model = make().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipe = make_pipeline(scaler, model).fit(X, sample_weight=WEIGHTS)
        assert np.isfinite(pipe.score(X, sample_weight=WEIGHTS))
        assert len(pipe[-1]._representative.labels) == WEIGHTS.sum()
