"""Reports of models of states hold the numbers of the model, and nothing breaks out of them."""

import numpy as np
import pandas as pd
import pytest
from pages import Page, check_page

from skdp.data import SequencePanel
from skdp.inspection import state_report
from skdp.inspection._reports._states import ReportedColumn, choose_width, tabulate
from skdp.sequence import HDPHMMLT, AutoregressiveEmission, StateDetector

DAYS = pd.date_range("2024-01-01", periods=40)


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(0)
    first = np.repeat([0.0, 9.0], 20) + 0.3 * rng.standard_normal(40)
    frame = pd.DataFrame({"</script>": first, "b & <c>": -first}, index=DAYS)
    frame.iloc[3, 0] = np.nan
    return [frame, frame[::-1].set_index(DAYS), frame[10:30]]


@pytest.fixture(scope="module")
def hmm(frames):
    return HDPHMMLT(4, stickiness=10.0, max_iter=20, random_state=0).fit(frames)


def runs_of(document, n_bins):
    states = np.empty(n_bins, dtype=int)
    for begin, state in zip(document["s"][::2], document["s"][1::2], strict=True):
        states[begin:] = state
    return states


def test_sequences_are_those_of_the_model(hmm, frames, tmp_path):
    page = Page(state_report(hmm, frames, tmp_path / "a.html", titles=["x", "</script>", "z"]))
    check_page(page)
    assert [each["t"] for each in page.data["sequences"]] == ["x", "</script>", "z"]
    assert [column["name"] for column in page.data["columns"]] == ["</script>", "b & <c>"]
    states, proba = hmm.predict(frames), hmm.predict_proba(frames)
    changes, ahead = hmm.predict_change_proba(frames), hmm.forecast(frames, 10, [0.05, 0.95])
    for i, found in enumerate(page.data["sequences"]):
        n = len(frames[i])
        assert (found["n"], found["z"]) == (n, 1)
        np.testing.assert_array_equal(runs_of(found, n), states[i])
        np.testing.assert_allclose(found["p"], 1000 * proba[i].max(axis=1), atol=0.51)
        np.testing.assert_allclose(found["q"], 1000 * changes[i], atol=0.51)
        values = np.array(found["v"], dtype=float).T  # None: missing
        np.testing.assert_allclose(values, frames[i].to_numpy(), 1e-8)
        assert found["x"] == frames[i].index.strftime("%Y-%m-%d").tolist()
        np.testing.assert_allclose(np.array(found["f"]["mean"]).T, ahead.mean[i], 1e-8)
        np.testing.assert_allclose(np.array(found["f"]["lo"]).T, ahead.quantiles[i][..., 0], 1e-8)
        np.testing.assert_allclose(np.array(found["f"]["hi"]).T, ahead.quantiles[i][..., 1], 1e-8)
        assert len(found["f"]["x"]) == min(n, 20) + 10
        np.testing.assert_allclose(
            np.array(found["f"]["past"], dtype=float).T, frames[i].to_numpy()[-20:], 1e-8
        )
    assert page.data["sequences"][0]["f"]["x"][-1] == "2024-02-19"


def test_the_table_of_states(hmm, frames, tmp_path):
    names = ["<i>calm</i>", "&amp;", "b", "c"]
    page = Page(state_report(hmm, frames, str(tmp_path / "a.html"), state_names=names))
    check_page(page)
    assert not page.all("i")
    states = np.concatenate(hmm.predict(frames))
    for row in page.data["states"]:
        assert row["share"] == pytest.approx(np.mean(states == row["id"]))
        assert row["name"] == names[row["id"]]
        assert row["name"] in page.text
    assert sum(row["share"] for row in page.data["states"]) == pytest.approx(1.0)


def test_rows_of_the_table():
    states = np.array([0, 0, 1, 1, 1, 0])
    values = np.array([[1.0, 0], [3.0, 1], [np.nan, 1], [5.0, 1], [5.0, 0], [2.0, np.nan]])
    columns = [ReportedColumn("x", None), ReportedColumn("y", ["no", "yes"])]
    first, second = tabulate(states, np.array([0, 3, 6]), values, columns)
    assert first == (0, 0.5, 2, 1.5, ["2 ± 0.82", "no 50 %, yes 50 %"])
    assert second == (1, 0.5, 2, 1.5, ["5 ± 0", "yes 67 %, no 33 %"])  # a cut between sequences
    empty = tabulate(states[:1], np.array([0, 1]), np.full((1, 1), np.nan), columns[:1])
    assert empty == [(0, 1.0, 1, 1.0, ["missing"])]


def test_long_sequences_are_drawn_in_bins(tmp_path):
    rng = np.random.default_rng(0)
    values = np.where(np.arange(5003) < 2500, 0.0, 9.0) + rng.standard_normal(5003)
    values[4:6] = np.nan
    values = values.reshape(-1, 1)
    model = HDPHMMLT(3, stickiness=100.0, max_iter=8, random_state=0).fit(values)
    page = Page(state_report(model, values, tmp_path / "a.html", n_forecast=0))
    check_page(page)
    (found,) = page.data["sequences"]
    n_bins = -(-5003 // 3)
    assert (found["n"], found["z"], len(found["q"]), found["f"]) == (5003, 3, n_bins, None)
    assert "drawn in bins of steps" in page.text
    padded = np.append(values[:, 0], np.nan).reshape(-1, 3)
    np.testing.assert_allclose(found["lo"][0], np.nanmin(padded, axis=1), 1e-8)
    np.testing.assert_allclose(found["hi"][0], np.nanmax(padded, axis=1), 1e-8)
    changes = np.append(model.predict_change_proba(values), 0.0).reshape(-1, 3)
    np.testing.assert_allclose(found["q"], 1000 * changes.max(axis=1), atol=0.51)
    proba = np.append(model.predict_proba(values).max(axis=1), 1.0).reshape(-1, 3)
    np.testing.assert_allclose(found["p"], 1000 * proba.min(axis=1), atol=0.51)
    states = model.predict(values)
    triples = np.append(states, states[-1]).reshape(-1, 3)
    expected = [np.bincount(triple).argmax() for triple in triples]
    np.testing.assert_array_equal(runs_of(found, n_bins), expected)
    assert choose_width(10**6, 1) == 500
    assert choose_width(10**6, 20) == 1000


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_many_sequences_are_sampled(hmm, frames, tmp_path):
    many = [frames[i % 3] for i in range(7)]
    page = Page(state_report(hmm, many, tmp_path / "a.html", max_sequences=3, n_forecast=0))
    assert [each["t"] for each in page.data["sequences"]] == [f"sequence {i}" for i in (0, 3, 6)]
    assert "A sample of 3 of 7 sequences, evenly spaced." in page.text
    assert page.data["sequences"][1]["v"] == page.data["sequences"][0]["v"]
    panel = SequencePanel.from_sequences([frame.to_numpy() for frame in many])
    same = Page(state_report(hmm, panel, tmp_path / "b.html", max_sequences=3, n_forecast=0))
    for one, other in zip(page.data["sequences"], same.data["sequences"], strict=True):
        assert {**one, "x": None} == other
    states = np.concatenate(hmm.predict(many))  # the table covers all of X
    assert page.data["states"][0]["share"] == pytest.approx(np.mean(states == 0))


def test_panels_and_detectors(tmp_path):
    values = np.repeat([0.0, 9.0, 0.0], 60) + np.random.default_rng(0).normal(0, 0.3, 180)
    panel = SequencePanel(values, np.array([0, 100, 180]))
    detector = StateDetector(4, max_iter=10, features="values", random_state=0).fit(panel)
    page = Page(state_report(detector, panel, tmp_path / "a.html", title="Machine 7"))
    check_page(page)
    assert "Machine 7" in page.text
    assert "There is no forecast. StateDetector has no forecasts." in page.text
    for found, states, changes in zip(
        page.data["sequences"],
        detector.predict(panel),
        detector.predict_change_proba(panel),
        strict=True,
    ):
        np.testing.assert_array_equal(runs_of(found, len(states)), states)
        np.testing.assert_allclose(found["q"], 1000 * changes, atol=0.51)
        assert found["f"] is None
        assert found["x"] is None


def test_categories_have_names(tmp_path):
    letters = np.array(list("aabbaab<"))[:, None]
    model = HDPHMMLT(2, emission="categorical", max_iter=8, random_state=0).fit([letters] * 3)
    page = Page(state_report(model, [letters], tmp_path / "a.html"))
    check_page(page)
    assert page.data["columns"] == [{"name": "column 0", "categories": ["<", "a", "b"]}]
    assert page.data["sequences"][0]["v"] == [[1, 1, 2, 2, 1, 1, 2, 0]]
    assert "There is no forecast. Categories have no interval." in page.text
    codes = HDPHMMLT(2, emission="categorical", max_iter=8, random_state=0)
    codes.fit([np.array([[0], [1], [1], [0]])])
    numbered = Page(state_report(codes, np.array([[0], [1]]), tmp_path / "b.html"))
    assert numbered.data["columns"][0]["categories"] == ["0", "1"]


def test_many_columns(tmp_path):
    values = np.random.default_rng(0).normal(size=(30, 10))
    model = HDPHMMLT(2, max_iter=4, random_state=0).fit(values)
    page = Page(state_report(model, values, tmp_path / "a.html", n_forecast=2))
    assert len(page.data["columns"]) == len(page.data["sequences"][0]["v"]) == 8
    assert "The first 8 of 10 columns are drawn." in page.text
    assert page.text.count("column 9") == 1  # in the table


@pytest.mark.filterwarnings("ignore:Sequence 1 of X has no more than 2 step:UserWarning")
def test_why_there_is_no_forecast(tmp_path):
    """An autoregressive forecast needs as many steps as there are lags."""
    values = np.random.default_rng(0).normal(size=(30, 1))
    emission = AutoregressiveEmission(lags=2)
    model = HDPHMMLT(2, emission=emission, max_iter=4, random_state=0).fit(values)
    page = Page(state_report(model, [values, values[:1]], tmp_path / "a.html"))
    assert "There is no forecast of sequence 1. " in page.text
    assert [each["f"] is None for each in page.data["sequences"]] == [False, True]
    with pytest.raises(ValueError, match="can be continued only from at least 2"):
        state_report(model, [values, values[:1]], tmp_path / "b.html", n_forecast=3)
