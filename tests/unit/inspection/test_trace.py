import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.inference import Trace
from skdp.inspection import TraceDisplay
from skdp.topics import SegmentedTopicModel


def make_trace(n_chains=2, n_kept=30):
    rng = np.random.default_rng(0)
    values = {
        "log_joint": -1e6 + rng.normal(size=(n_chains, n_kept)),
        "concentration": rng.gamma(2, size=(n_chains, n_kept)),
        "discount": np.zeros((n_chains, n_kept)),
        "n_tables": rng.poisson(9, size=(n_chains, n_kept)).astype(float),
    }
    return Trace(np.arange(1, n_kept + 1) * 10, values)


def test_a_panel_a_scalar_a_line_a_chain(model):
    names = ["log_joint", "concentration"]
    display = TraceDisplay.from_estimator(model, names=names)
    assert display.trace is model.trace_
    assert len(display.axes_) == len(display.lines_) == 2
    for name, panel, lines in zip(names, display.axes_, display.lines_, strict=True):
        assert panel.get_title(loc="left") == name.replace("_", " ")
        assert len(lines) == len(panel.lines) == 2
        for line, values in zip(lines, model.trace_[name], strict=True):
            np.testing.assert_array_equal(line.get_xdata(), model.trace_.sweeps)
            np.testing.assert_array_equal(line.get_ydata(), values)
    assert [text.get_text() for text in display.legend_.get_texts()] == ["chain 1", "chain 2"]
    assert len({line.get_color() for line in display.lines_[0]}) == 2
    assert display.ax_.get_xlabel() == "sweep"
    assert display.figure_ is display.ax_.figure


def test_shows_what_varied():
    display = TraceDisplay.from_trace(make_trace())
    titles = [panel.get_title(loc="left") for panel in display.axes_]
    assert titles == ["log joint", "concentration", "n tables"]
    display = TraceDisplay.from_trace(make_trace(), names="discount")
    assert [panel.get_title(loc="left") for panel in display.axes_] == ["discount"]


@pytest.mark.parametrize("n_kept", [1, 30])
def test_one_chain(n_kept):
    display = TraceDisplay.from_trace(make_trace(n_chains=1, n_kept=n_kept))
    assert display.legend_ is None
    assert all(len(lines) == 1 for lines in display.lines_)
    display.figure_.canvas.draw()


def test_large_numbers_are_written_out():
    display = TraceDisplay.from_trace(make_trace(), names=["log_joint"])
    display.figure_.canvas.draw()
    (panel,) = display.axes_
    assert panel.yaxis.get_offset_text().get_text() == ""
    assert all(
        "00" in tick.get_text() or "99" in tick.get_text() for tick in panel.get_yticklabels()
    )


def test_panels_do_not_overlap():
    display = TraceDisplay.from_trace(make_trace(n_chains=4))
    display.figure_.canvas.draw()
    boxes = [panel.get_tightbbox() for panel in display.axes_]
    boxes.append(display.legend_.get_window_extent())
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_given_axes():
    figure, ax = plt.subplots(layout="constrained")
    before = plt.get_fignums()
    display = TraceDisplay(make_trace())
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == before


@pytest.mark.parametrize("names", [["log_joint", "loss"], "loss", []])
def test_unknown_names(names):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match="names must be some of log_joint, concentration"):
        TraceDisplay.from_trace(make_trace(), names=names)
    assert plt.get_fignums() == before


def test_unfitted(model):
    with pytest.raises(NotFittedError):
        TraceDisplay.from_estimator(clone(model))
    without_chain = SegmentedTopicModel.from_topics([[0.5, 0.5]], doc_topic_prior=1.0)
    with pytest.raises(NotFittedError):
        TraceDisplay.from_estimator(without_chain)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"TraceDisplay\.plot needs matplotlib"):
        TraceDisplay.from_trace(make_trace())
