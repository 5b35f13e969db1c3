"""Mixtures and their clusters, numbers of components, traces of chains, and lower bounds."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from registry import fitted
from unit.inspection.figures import check_texts, labels_of, ticks_of

from skdp.inference import Trace
from skdp.inspection import (
    ClusterDisplay,
    ClusterTreeDisplay,
    CoAssignmentDisplay,
    ComponentCountDisplay,
    LowerBoundDisplay,
    TraceDisplay,
)
from skdp.inspection._axes import GREY
from skdp.mixture import DPMixture, HDPMixture
from skdp.sequence import HDPHMMLT

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(m, 0.5, (30, 2)) for m in (0, 6)])
FRAME = pd.DataFrame(X, columns=["$a$", "b_1"])


@pytest.fixture(scope="module")
def mixture():
    return DPMixture(max_iter=100, random_state=0).fit(FRAME)


# --- clusters -------------------------------------------------------------------------------------


def test_points_by_cluster():
    display = ClusterDisplay(X[:4], [2, 0, 2, 2]).plot()
    assert display.contours_ is None
    found = [dots.get_offsets().tolist() for dots in display.points_]
    assert found == [X[[1]].tolist(), X[[0, 2, 3]].tolist()]
    assert labels_of(display) == ["0 (1 row)", "2 (3 rows)"]
    assert display.ax_.get_ylabel() == "column 1"
    display = ClusterDisplay(X[:25], np.arange(25)).plot()  # more than there are colors
    assert len(display.points_) == 21
    assert to_hex(display.points_[-1].get_facecolor()[0]).upper() == GREY
    assert len(display.points_[-1].get_offsets()) == 5
    assert labels_of(display)[-1] == "5 others (5 rows)"


def test_clusters_of_a_model(mixture):
    """Half of the draws from the density are within the innermost line."""
    display = ClusterDisplay.from_estimator(mixture, FRAME, masses=[0.9, 0.5])
    low, high = display.contours_.levels
    draws = pd.DataFrame(mixture.sample(4000, random_state=0), columns=FRAME.columns)
    density = np.exp(mixture.score_samples(draws))
    assert np.mean(density > high) == pytest.approx(0.5, abs=0.05)
    assert np.mean(density > low) == pytest.approx(0.9, abs=0.03)
    np.testing.assert_array_equal(display.labels, mixture.predict(FRAME))
    assert display.column_names == ["$a$", "b_1"]
    x, y, density = display.grid
    at = pd.DataFrame([[x[3], y[7]]], columns=FRAME.columns)
    assert density[7, 3] == pytest.approx(np.exp(mixture.score_samples(at)[0]))
    labels = np.arange(60) % 2
    turned = ClusterDisplay.from_estimator(mixture, FRAME, columns=(1, 0), labels=labels)
    np.testing.assert_array_equal(turned.grid[2], density.T)
    np.testing.assert_array_equal(turned.points, X[:, ::-1])
    np.testing.assert_array_equal(turned.labels, labels)


def test_grids_of_other_columns():
    """Three columns have none, a constant one has one."""
    wide = np.column_stack([X, X[:, 0] ** 2])
    model = DPMixture(max_iter=6, random_state=0).fit(wide)
    display = ClusterDisplay.from_estimator(model, wide, columns=(2, 0))
    assert display.grid is None
    assert display.column_names == ["column 2", "column 0"]
    constant = np.column_stack([X[:, 0], np.ones(60)])
    model = DPMixture(max_iter=6, random_state=0).fit(constant)
    y = ClusterDisplay.from_estimator(model, constant).grid[1]
    assert y[0] < 1.0 < y[-1]


def named(sizes):
    return [f"{k} ({size} row{'s' if size > 1 else ''})" for k, size in sizes]


def test_trees_of_clusters():
    rows = (
        np.random.default_rng(0).normal(size=(90, 2)) + 9.0 * np.repeat(np.arange(3), 30)[:, None]
    )
    pieces = {"max_iter": 2, "burn_in": 0, "init": np.arange(90) // 10, "split_merge": False}
    pieces["merge_overlapping"] = False
    model = DPMixture(**pieces, random_state=0).fit(rows)
    display = ClusterTreeDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.linkage, model.cluster_tree().linkage)
    sizes = np.bincount(model.labels_)
    assert ticks_of(display.ax_.yaxis) == named((k, sizes[k]) for k in display.leaves_)
    assert display.ax_.get_xlabel() == "loss of log evidence (nats per row)"
    display = ClusterTreeDisplay.from_estimator(model, n_clusters=3)
    expected = named(enumerate(np.bincount(model.labels_at(3))))
    assert sorted(ticks_of(display.ax_.yaxis)) == expected
    np.testing.assert_array_equal(display.linkage, model.cluster_tree().coarse(3).linkage)
    y = np.full(90, -1)
    y[[0, 30]] = 8, 4
    model = DPMixture(max_iter=24, random_state=0).fit(rows, y)  # with numbers of labels
    display = ClusterTreeDisplay.from_estimator(model)
    assert sorted(ticks_of(display.ax_.yaxis)) == named((k, 30) for k in (4, 8, 9))
    display = ClusterTreeDisplay.from_estimator(model, n_clusters=2)
    assert sorted(ticks_of(display.ax_.yaxis)) == named([(0, 60), (1, 30)])


# --- rows in one cluster --------------------------------------------------------------------------

PARTITIONS = np.array([[0, 1, 0, 1, 2], [0, 1, 0, 1, 1], [2, 0, 2, 0, 2], [0, 1, 2, 1, 1]])


def test_labels_come_first():
    labels = np.array([1, 0, 0, 1, 2])
    display = CoAssignmentDisplay(PARTITIONS, labels=labels).plot()
    for (i, j), found in np.ndenumerate(display.probabilities):
        assert found == np.mean(PARTITIONS[:, i] == PARTITIONS[:, j])
    assert labels[display.order].tolist() == [0, 0, 1, 1, 2]
    boxes = [(box.get_x(), box.get_width()) for box in display.outlines_]
    assert boxes == [(-0.5, 2), (1.5, 2), (3.5, 1)]
    assert CoAssignmentDisplay([[0]]).plot().order.tolist() == [0]
    assert CoAssignmentDisplay([[0, 1]], labels=[1, 0]).plot().order.tolist() == [1, 0]


def test_rows_that_are_together_are_drawn_together():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    noise = rng.random((20, 60)) < 0.1
    display = CoAssignmentDisplay(np.where(noise, rng.integers(0, 3, (20, 60)), truth)).plot()
    order = display.order
    assert sorted(order) == list(range(60))
    assert np.count_nonzero(np.diff(truth[order])) == 2
    image = display.image_.get_array()
    np.testing.assert_array_equal(image, display.probabilities[np.ix_(order, order)])
    assert display.outlines_ == []


def test_rows_of_a_model(mixture, monkeypatch):
    display = CoAssignmentDisplay.from_estimator(mixture)
    together = mixture.labels_[:, np.newaxis] == mixture.labels_
    assert display.probabilities[together].mean() > 0.9
    assert display.probabilities[~together].mean() < 0.1
    assert len(display.outlines_) == mixture.n_components_
    some, rows = CoAssignmentDisplay.from_estimator(mixture, rows=[3, 40, 7]), [3, 40, 7]
    np.testing.assert_array_equal(some.probabilities, display.probabilities[np.ix_(rows, rows)])
    monkeypatch.setattr("skdp.inspection._clusters.MOST_ROWS", 40)
    message = r"co-assignments of 60 rows .* such as rows=range\(0, 60, 2\)\."
    with pytest.raises(ValueError, match=message):
        CoAssignmentDisplay.from_estimator(mixture)
    assert len(CoAssignmentDisplay.from_estimator(mixture, rows=range(0, 60, 2)).order) == 30


def test_rows_of_groups_end_to_end():
    model = HDPMixture(max_iter=20, random_state=0).fit([X[20:35], X[25:33]])
    display = CoAssignmentDisplay.from_estimator(model, rows=[3, 17])
    together = [sample.labels[3] == sample.labels[17] for sample in model._models]
    assert display.probabilities[0, 1] == np.mean(together)
    assert display.labels.tolist() == [model.labels_[0][3], model.labels_[1][2]]


# --- numbers of components ------------------------------------------------------------------------


def test_bars():
    display = ComponentCountDisplay([0.0, 0.0, 0.6, 0.0, 0.3995, 0.0005], n_components=2).plot()
    assert [bar.get_x() + bar.get_width() / 2 for bar in display.bars_] == pytest.approx([2, 3, 4])
    assert [bar.get_height() for bar in display.bars_] == [0.6, 0.0, 0.3995]
    first, *others = [to_hex(bar.get_facecolor()).upper() for bar in display.bars_]
    assert first != GREY
    assert others == [GREY, GREY]
    assert display.ax_.get_xlabel() == "number of components"
    for n, heights, label in (
        (100, [0.25, 0.75], "posterior probability"),
        (96, [24.0, 72.0], "kept sweeps, of 96"),  # few are counted
    ):
        display = ComponentCountDisplay([0.0, 0.25, 0.75], n_samples=n).plot()
        assert [bar.get_height() for bar in display.bars_] == heights
        assert display.ax_.get_ylabel() == label


@pytest.mark.parametrize("name", ["DPMixture", "HDPTopicModel", "IBPLatentFeatures"])
def test_numbers_of_components(name):
    model = fitted(name)
    display = ComponentCountDisplay.from_estimator(model)
    assert display.n_components == model.n_components_
    np.testing.assert_array_equal(display.probabilities, model.n_components_distribution_)
    n_sweeps = model.trace_["log_joint"].size
    heights = {round(bar.get_x() + 0.4): bar.get_height() for bar in display.bars_}
    for k, probability in enumerate(model.n_components_distribution_):
        assert heights.get(k, 0.0) == pytest.approx(n_sweeps * probability)
    assert display.ax_.get_ylabel() == f"kept sweeps, of {n_sweeps}"


def test_numbers_of_states_in_use():
    values = np.random.default_rng(0).normal(np.repeat([0.0, 8.0, 0.0], 20))[:, np.newaxis]
    model = HDPHMMLT(4, max_iter=20, random_state=0).fit(values)
    display = ComponentCountDisplay.from_estimator(model)
    numbers = np.asarray(model.trace_["n_active_components"]).ravel()
    for k, probability in enumerate(display.probabilities):
        assert probability == pytest.approx(np.mean(numbers == k))
    assert display.n_components == np.sum(model.state_shares_ >= 1e-3)


# --- traces and lower bounds ----------------------------------------------------------------------


def trace_of(n_chains=2, n_kept=30):
    rng = np.random.default_rng(0)
    values = {
        "log_joint": -1e6 + rng.normal(size=(n_chains, n_kept)),
        "concentration": rng.gamma(2, size=(n_chains, n_kept)),
        "discount": np.zeros((n_chains, n_kept)),
        "n_tables": rng.poisson(9, size=(n_chains, n_kept)).astype(float),
    }
    return Trace(np.arange(1, n_kept + 1) * 10, values)


def titles_of(display):
    return [panel.get_title(loc="left") for panel in display.axes_]


def test_a_panel_for_each_scalar_and_a_line_for_each_chain(model):
    names = ["log_joint", "concentration"]
    display = TraceDisplay.from_estimator(model, names=names)
    assert display.trace is model.trace_
    assert titles_of(display) == ["log joint", "concentration"]
    for name, panel, lines in zip(names, display.axes_, display.lines_, strict=True):
        assert len(lines) == len(panel.lines) == 2
        for line, values in zip(lines, model.trace_[name], strict=True):
            np.testing.assert_array_equal(line.get_xdata(), model.trace_.sweeps)
            np.testing.assert_array_equal(line.get_ydata(), values)
    assert labels_of(display) == ["chain 1", "chain 2"]
    assert len({line.get_color() for line in display.lines_[0]}) == 2
    assert display.ax_.get_xlabel() == "sweep"


def test_traces_of_what_varied():
    display = TraceDisplay.from_trace(trace_of(n_chains=4))
    assert titles_of(display) == ["log joint", "concentration", "n tables"]
    check_texts(display)
    assert titles_of(TraceDisplay.from_trace(trace_of(), names="discount")) == ["discount"]
    (panel,) = TraceDisplay.from_trace(trace_of(), names=["log_joint"]).axes_
    panel.figure.draw_without_rendering()
    assert panel.yaxis.get_offset_text().get_text() == ""  # large numbers are written out
    assert all("00" in tick or "99" in tick for tick in ticks_of(panel.yaxis))
    for n_kept in (1, 30):
        display = TraceDisplay.from_trace(trace_of(1, n_kept))
        assert display.legend_ is None
        assert all(len(lines) == 1 for lines in display.lines_)
        display.figure_.draw_without_rendering()


RUNS = [[-90.0, -50.0, -45.0], [-80.0, -60.0], [-70.0, -55.0, -50.0, -46.0]]


def test_lower_bounds():
    display = LowerBoundDisplay(RUNS).plot()
    assert display.best_ == 0
    for line, bounds in zip(display.lines_, RUNS, strict=True):
        assert line.get_xdata().tolist() == list(range(1, len(bounds) + 1))
        assert line.get_ydata().tolist() == bounds
    colors = [to_hex(line.get_color()) for line in display.lines_]
    assert colors[1] == colors[2] != colors[0]
    assert display.legend_ is None
    assert display.ax_.get_xlabel() == "iteration"
    assert display.ax_.get_ylabel() == "lower bound"
    display.plot(kind="gap")
    assert display.ax_.get_yscale() == "log"
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), [45.0, 5.0, np.nan])
    np.testing.assert_array_equal(display.lines_[2].get_ydata(), [25.0, 10.0, 5.0, 1.0])
    display = LowerBoundDisplay(RUNS, names=["a", "b", "c"]).plot()
    assert labels_of(display) == ["a", "b", "c"]
    assert len({line.get_color() for line in display.lines_}) == 3
    for bounds in (RUNS[0], np.array(RUNS[0]), [RUNS[0]], np.array([RUNS[0]])):
        (found,) = LowerBoundDisplay(bounds).lower_bounds
        assert found.tolist() == RUNS[0]


def test_lower_bounds_of_models():
    models = [fitted("HDPPCFG"), fitted("HDPPCFGRefiner")]
    expected = [model.lower_bounds_.tolist() for model in models]
    one = LowerBoundDisplay.from_estimator(models[1])
    assert [line.get_ydata().tolist() for line in one.lines_] == expected[1:]
    both = LowerBoundDisplay.from_estimator(models, names=["b", "c"], kind="gap")
    assert both.best_ == np.argmax([bounds[-1] for bounds in expected])
    assert [bounds.tolist() for bounds in both.lower_bounds] == expected
