import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skdp.inspection import CoAssignmentDisplay
from skdp.mixture import HDPMixture, PitmanYorMixture
from skdp.topics import GibbsLDA

PARTITIONS = [[0, 1, 0, 1, 2], [0, 1, 0, 1, 1], [2, 0, 2, 0, 2], [0, 1, 2, 1, 1]]


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 0.5, (20, 2)) for m in (0, 6)])[rng.permutation(40)]
    return PitmanYorMixture(max_iter=20, n_chains=2, random_state=0).fit(X)


def test_probabilities_by_loops():
    display = CoAssignmentDisplay(PARTITIONS)
    for i in range(5):
        for j in range(5):
            share = np.mean([labels[i] == labels[j] for labels in PARTITIONS])
            assert display.probabilities[i, j] == share


def test_rows_that_are_together_are_drawn_together():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    noise = rng.random((20, 60)) < 0.1
    partitions = np.where(noise, rng.integers(0, 3, (20, 60)), truth)
    display = CoAssignmentDisplay(partitions).plot()
    assert sorted(display.order) == list(range(60))
    assert np.count_nonzero(np.diff(truth[display.order])) == 2
    image = display.image_.get_array()
    np.testing.assert_array_equal(
        image, display.probabilities[np.ix_(display.order, display.order)]
    )
    assert display.outlines_ == []


def test_labels_come_first():
    labels = [1, 0, 0, 1, 2]
    display = CoAssignmentDisplay(PARTITIONS, labels=labels).plot()
    assert np.asarray(labels)[display.order].tolist() == [0, 0, 1, 1, 2]
    boxes = [(box.get_x(), box.get_width()) for box in display.outlines_]
    assert boxes == [(-0.5, 2), (1.5, 2), (3.5, 1)]


def test_from_estimator(model):
    ax = plt.figure().add_subplot()
    display = CoAssignmentDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    together = model.labels_[:, np.newaxis] == model.labels_
    assert display.probabilities[together].mean() > 0.9
    assert display.probabilities[~together].mean() < 0.1
    assert len(display.outlines_) == model.n_components_
    some = CoAssignmentDisplay.from_estimator(model, rows=[3, 30, 7])
    np.testing.assert_array_equal(
        some.probabilities, display.probabilities[np.ix_([3, 30, 7], [3, 30, 7])]
    )


def test_rows_of_groups_end_to_end():
    rng = np.random.default_rng(0)
    groups = [rng.normal(rng.choice([0.0, 6.0], (n, 1)), 0.5, (n, 2)) for n in (12, 8)]
    mixture = HDPMixture(max_iter=20, random_state=0).fit(groups)
    display = CoAssignmentDisplay.from_estimator(mixture, rows=[3, 15])
    together = [model.labels[3] == model.labels[15] for model in mixture._models]
    assert display.probabilities[0, 1] == np.mean(together)
    assert display.labels.tolist() == [mixture.labels_[0][3], mixture.labels_[1][3]]


def test_one_and_two_rows():
    assert CoAssignmentDisplay([[0]]).plot().order.tolist() == [0]
    assert CoAssignmentDisplay([[0, 1]], labels=[1, 0]).plot().order.tolist() == [1, 0]


def test_too_many_rows(model, monkeypatch):
    with pytest.raises(ValueError, match=r"co-assignments of 5001 rows .* choose up to 5000"):
        CoAssignmentDisplay(np.zeros((1, 5001), dtype=int))
    monkeypatch.setattr("skdp.inspection._co_assignment.MOST_ROWS", 30)
    message = r"co-assignments of 40 rows .* such as rows=range\(0, 40, 2\)\."
    with pytest.raises(ValueError, match=message):
        CoAssignmentDisplay.from_estimator(model)
    assert len(CoAssignmentDisplay.from_estimator(model, rows=range(0, 40, 2)).order) == 20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CoAssignmentDisplay([0, 1]), "partitions must have shape"),
        (lambda: CoAssignmentDisplay([[0.5, 1]]), "partitions must"),
        (lambda: CoAssignmentDisplay([[0, 1]], labels=[0]), "labels must have shape"),
        (lambda: CoAssignmentDisplay([[0, 1]]).plot(cmap="no"), "cmap must be"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bad_estimators(model):
    with pytest.raises(NotFittedError):
        CoAssignmentDisplay.from_estimator(PitmanYorMixture())
    lda = GibbsLDA(2, max_iter=4, random_state=0).fit([[[0, 1]], [[1, 1]]])
    with pytest.raises(TypeError, match="estimator must be a mixture"):
        CoAssignmentDisplay.from_estimator(lda)
    with pytest.raises(ValueError, match="rows must be a list of rows, from 0 to 39"):
        CoAssignmentDisplay.from_estimator(model, rows=[0, 40])


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"CoAssignmentDisplay\.plot needs matplotlib"):
        CoAssignmentDisplay([[0, 1]]).plot()
