"""Changes of series as users see them."""

import math
import pickle
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skdp.data import SequencePanel
from skdp.sequence import ChangePointDetector, _change_point_detector, _divisions
from skdp.sequence._kernels import _changes as kernels

STEPS = np.arange(300)
LEVELS = np.repeat([0.0, 6.0, 1.0], [80, 60, 60])
X = (LEVELS + np.random.default_rng(4).normal(size=200))[:, None]
PAIR = np.column_stack([X, np.random.default_rng(1).normal(size=200)])


def rng(seed):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("emission", ["auto", "gaussian"])
def test_units_and_offsets(emission):
    model = ChangePointDetector(emission).fit(PAIR)
    scale, offset = np.array([1e6, 1e-6]), np.array([3e7, -5.0])
    other = ChangePointDetector(emission).fit(PAIR * scale + offset)
    expected = model.predict_proba(PAIR)
    assert_allclose(other.predict_proba(PAIR * scale + offset), expected, atol=1e-6)
    assert model.change_points_.positions.tolist() == [80, 140]
    for one, two in zip(other.change_points_, model.change_points_, strict=True):
        assert one.interval == two.interval
        assert_allclose(one.size, two.size * scale, rtol=1e-6)
        assert_allclose(one.size_interval, two.size_interval * scale, rtol=1e-6)


def test_order_of_columns():
    model = ChangePointDetector().fit(PAIR)
    other = ChangePointDetector().fit(PAIR[:, ::-1])
    assert_allclose(other.predict_proba(PAIR[:, ::-1]), model.predict_proba(PAIR), atol=1e-12)
    assert_allclose(other.change_points_[0].size, model.change_points_[0].size[::-1], rtol=1e-12)


def test_table():
    table = ChangePointDetector().fit(X).change_points_
    assert len(table) == 2
    for row, change, size in zip(table, [80, 140], [6.0, -5.0], strict=True):
        assert row.interval[0] <= change <= row.interval[1] < row.interval[0] + 8
        assert 0.8 < row.probability <= 1.0
        assert row.size_interval[0, 0] < size < row.size_interval[1, 0]
        assert row.size == pytest.approx(row.size_interval.mean(axis=0))
        assert row.date is None
    assert len(table[1:]) == 1
    assert repr(table).splitlines()[1].split()[0] == "80"
    frame = table.to_frame()
    assert frame["position"].tolist() == [80, 140]
    assert frame.loc[0, "lower x0"] == table[0].size_interval[0, 0]
    assert len(ChangePointDetector().fit(X[:30]).change_points_.to_frame()) == 0


def test_dates():
    index = pd.date_range("2020-01-01", periods=200)
    frame = pd.DataFrame(X, index=index, columns=["flow"])
    model = ChangePointDetector().fit(frame)
    row = model.change_points_[0]
    assert row.date == index[80]
    assert row.date_interval == (index[row.interval[0]], index[row.interval[1]])
    assert "2020-03-21" in repr(model.change_points_)
    assert model.change_points_.to_frame().index[0] == index[80]
    means = model.transform(frame)
    assert means.index.equals(index)
    assert list(means.columns) == ["flow"]
    assert abs(means["flow"].iloc[100] - 6.0) < 0.5


@pytest.mark.parametrize("power", [1e-3, 1e-12, 1e-300])
def test_small_powers_stay_in_range(power):
    known = np.where(np.isin(np.arange(200), [80, 140]), 1, -1)
    table, expected = (
        ChangePointDetector(power=p).fit(X, known).change_points_ for p in (power, 1e-2)
    )
    assert_allclose([row.size for row in table], [row.size for row in expected], rtol=1e-4)


def test_several_series():
    parts = [X[:100], X[:1], X[100:]]
    model = ChangePointDetector().fit(parts)
    assert [table.positions.tolist() for table in model.change_points_] == [[80], [], [40]]
    assert [p.tolist() for p in model.predict(parts)] == [[80], [], [40]]
    assert [len(p) for p in model.predict_proba(parts)] == [100, 1, 100]
    assert [m.shape for m in model.transform(parts)] == [(100, 1), (1, 1), (100, 1)]
    assert [len(draws) for draws in model.sample(parts, 3, random_state=0)] == [3, 3, 3]
    assert model.n_changes_distribution_[1] == pytest.approx([1.0], abs=1e-12)
    panel = ChangePointDetector().fit(SequencePanel.from_sequences(parts))
    for one, two in zip(panel.predict_proba(parts), model.predict_proba(parts), strict=True):
        assert_array_equal(one, two)
    dated = [pd.DataFrame(part, index=pd.date_range("2020", periods=len(part))) for part in parts]
    tables = ChangePointDetector().fit(dated).change_points_
    assert tables[2][0].date == pd.Timestamp("2020-02-10")


NOISE = {
    "normal": rng(0).normal(size=300),
    "t": rng(1).standard_t(3, size=300),
    "constant": np.full(300, 0.1),
    "walk": rng(2).normal(size=300).cumsum(),
    "other walk": rng(9).normal(size=300).cumsum(),
    "season": np.sin(2 * np.pi * STEPS / 12),
    "long season": np.sin(2 * np.pi * STEPS / 30) + 0.1 * rng(3).normal(size=300),
    "trend": 0.1 * STEPS + rng(4).normal(size=300),
    "outlier": rng(5).normal(size=300) + 20.0 * (STEPS == 100),
    "far outlier": rng(6).normal(size=300) + 1e9 * (STEPS == 100),
}


@pytest.mark.parametrize("name", NOISE)
def test_noise_has_no_changes(name):
    x = NOISE[name][:, None]
    assert ChangePointDetector().fit(x).predict_proba(x).max() <= 0.5


def test_outliers_hide_no_change():
    x = X.copy()
    x[[20, 110]] += 1e9
    assert ChangePointDetector().fit(x).change_points_.positions.tolist() == [80, 140]


def test_missing_values():
    x = PAIR.copy()
    x[30:50], x[79, 0], x[120] = np.nan, np.nan, np.nan
    model = ChangePointDetector().fit(x)
    assert model.change_points_.positions.tolist() in ([79, 140], [80, 140])
    assert np.isfinite(model.transform(x)).all()
    # Where nothing was seen, a change is as probable at any step.
    p = ChangePointDetector(trend="level").fit(x).predict_proba(x)
    assert_allclose(p[31:50], p[31], rtol=1e-9)


def test_trends():
    x = (np.abs(STEPS - 150.0) + 3.0 * rng(0).normal(size=300))[:, None]
    model = ChangePointDetector("gaussian", trend="linear").fit(x)
    assert np.abs(model.change_points_.positions - 150).max() <= 10
    assert np.abs(model.transform(x)[:, 0] - np.abs(STEPS - 150.0)).max() < 4.0
    both = ChangePointDetector("gaussian").fit(x)
    assert both.score(x) > ChangePointDetector("gaussian", trend="level").fit(x).score(x)


def test_autocorrelation():
    noise, e = np.zeros(300), rng(0).normal(size=300)
    for t in range(1, 300):
        noise[t] = 0.8 * noise[t - 1] + e[t]
    x = (noise + 12.0 * (STEPS >= 150))[:, None]
    white, red = (
        ChangePointDetector("gaussian", trend="level", autocorrelation=phi).fit(x)
        for phi in (0.0, "auto")
    )
    assert red.change_points_.positions.tolist() == [150]
    assert len(white.change_points_) > 1
    assert red.score(x) > white.score(x) + 0.1


def test_counts_and_symbols():
    counts = rng(0).poisson(np.where(STEPS < 120, 3.0, 9.0))[:, None]
    model = ChangePointDetector("poisson").fit(counts)
    assert abs(model.change_points_.positions[0] - 120) <= 3
    assert_allclose(model.transform(counts)[[0, -1], 0], [3.0, 9.0], rtol=0.2)
    symbols = np.where(STEPS < 200, rng(1).choice(list("ab"), 300), rng(2).choice(list("bc"), 300))
    frame = pd.DataFrame({"word": symbols})
    model = ChangePointDetector("categorical").fit(frame)
    assert abs(model.change_points_.positions[0] - 200) <= 3
    names = ["word=a", "word=b", "word=c"]
    assert model.get_feature_names_out().tolist() == names
    assert_allclose(model.transform(frame).iloc[-1], [0.0, 0.5, 0.5], atol=0.1)
    texts = [list("aaaaaaaabbbbbbbb"), list("ab")]
    assert len(ChangePointDetector("categorical").fit(texts).change_points_) == 2
    frame_of_bits = pd.DataFrame({"on": STEPS >= 150})
    model_of_bits = ChangePointDetector("bernoulli").fit(frame_of_bits)
    assert model_of_bits.get_feature_names_out().tolist() == ["on"]
    assert_allclose(model_of_bits.change_points_[0].size, [1.0], atol=0.02)
    assert_allclose(model_of_bits.transform(frame_of_bits)["on"].iloc[[0, -1]], [0, 1], atol=0.01)
    with pytest.raises(ValueError, match="'d'"):
        model.predict(pd.DataFrame({"word": ["d", "a"]}))


def test_search_of_emissions():
    """The score is a probability of counts, so emissions compare."""
    series = [rng(seed).poisson(np.repeat([3.0, 6.0], 40))[:, None] for seed in range(6)]
    search = GridSearchCV(ChangePointDetector(), {"emission": ["categorical", "poisson"]}, cv=3)
    assert search.fit(series).best_params_ == {"emission": "poisson"}
    assert search.best_estimator_.score(series) > -2.5


def test_n_parts():
    model = ChangePointDetector().fit(X)
    assert model.predict(X, n_parts=1).tolist() == []
    assert model.predict(X, n_parts=2).tolist() == [80]
    assert model.fit_predict(X, n_parts=3).tolist() == [80, 140]
    assert len(model.predict(X, n_parts=200)) == 199


def test_lengths_of_parts():
    ChangePointDetector(max_length=90).fit(X)
    for least, most in ((30, None), (1, 50), (20, 40)):
        model = ChangePointDetector(min_length=least, max_length=most)
        with nullcontext() if most is None else pytest.warns(UserWarning, match=f"h={most} steps"):
            model.fit(X)
        for changes in (model.predict(X), *model.sample(X, 20, random_state=0)):
            lengths = np.diff([0, *changes, 200])
            assert lengths.min() >= least
            assert most is None or lengths.max() <= most


def test_samples():
    model = ChangePointDetector("gaussian").fit(X)
    draws = model.sample(X, 500, random_state=0)
    for one, two in zip(draws, model.sample(X, 500, random_state=0), strict=True):
        assert_array_equal(one, two)
    shares = np.bincount(np.concatenate(draws), minlength=200) / 500
    p = model.predict_proba(X)
    assert np.abs(shares - p).max() < 5.0 * math.sqrt(0.25 / 500)
    assert p.sum() == pytest.approx(model.n_changes_, abs=1e-8)


def test_pickles_hold_no_data():
    small, large = (ChangePointDetector("gaussian").fit(np.tile(X, (n, 1))) for n in (1, 20))
    assert len(pickle.dumps(large)) < len(pickle.dumps(small)) + 20_000


def test_what_is_dropped_is_negligible(monkeypatch):
    x = (np.repeat([0.0, 5.0, -2.0, 1.0], 150) + rng(0).normal(size=600))[:, None]
    model = ChangePointDetector("gaussian", trend="level").fit(x)
    short = _divisions.DividedSeries(model._models[0].of(x), model._rates, np.full(600, -1), 1.0)
    assert short.last[0] < 200
    monkeypatch.setattr(_divisions, "NEGLIGIBLE", 0.0)
    whole = clone(model).fit(x)
    assert_allclose(whole.predict_proba(x), model.predict_proba(x), atol=1e-9)
    assert whole.score(x) == pytest.approx(model.score(x), abs=1e-11)


@pytest.mark.parametrize("kind", ["gaussian", "multinomial"])
def test_many_columns_of_noise(kind):
    """At the first steps, parts of a step each are far more probable than one part."""
    x = rng(1).normal(size=(100, 300))
    if kind == "multinomial":
        shares = rng(1).dirichlet(np.full(400, 0.3))
        x = rng(2).multinomial(100, shares, size=100)
    assert ChangePointDetector(kind).fit(x).n_changes_ < 0.01


def test_known_changes():
    y = np.full(200, -1)
    y[[20, 80]], y[140] = 1, 0
    model = ChangePointDetector()
    assert model.fit_predict(X, y).tolist()[:2] == [20, 80]
    first, second = model.change_points_[:2]
    assert first.interval == (20, 20)
    assert [first.probability, second.probability] == pytest.approx([1.0, 1.0], abs=1e-12)
    p = model.predict_proba(X, known=y)
    assert_allclose(p[[20, 80, 140]], [1.0, 1.0, 0.0], atol=1e-12)
    assert model.predict(X).tolist() == [80, 140]
    assert model.transform(X, known=y)[19] != model.transform(X, known=y)[20]
    both = ChangePointDetector().fit([X, X], [None, y])
    assert [len(table) for table in both.change_points_] == [2, len(model.change_points_)]
    ignored = ChangePointDetector(use_y=False).fit(X, y)
    assert ignored.change_points_.positions.tolist() == [80, 140]
    assert ignored.fit_predict(X, y).tolist() == [80, 140]


@pytest.mark.parametrize("emission", ["auto", "gaussian"])
def test_online(emission):
    """Changes in the last steps, as in a series that ends there."""
    frame = pd.DataFrame(np.concatenate([X + 1e3, PAIR[:, 1:]], axis=1), columns=["a", "b"])
    frame.iloc[[90, 138]] = np.nan
    model = ChangePointDetector(emission, autocorrelation=0.3, power=1.0).fit(frame)
    state = None
    for n in range(1, 201):
        before = state
        state = model.filter_update(state, frame.iloc[n - 1])
        if n in (75, 82, 90, 139, 145, 200):
            unknown = np.full(n, -1)
            batch = model._divide(frame.to_numpy()[:n], unknown)
            posterior = _change_point_detector._Posterior(model, batch)
            ranges = np.array([[n - k, n - 1] for k in (1, 2, 3, 5, 10, 30)])
            expected = [posterior.change_in(pair[None])[0] for pair in ranges]
            found = [state.proba[: n - first].sum() for first, _ in ranges]
            assert_allclose(found, expected, atol=1e-10)
            assert before.n_steps == n - 1
    assert state.proba.sum() == pytest.approx(1.0, abs=1e-12)
    assert len(state._values) < 130  # what is before the change is forgotten
    rebuilt = pickle.loads(pickle.dumps(state))
    one, two = (model.filter_update(each, frame.iloc[5]).proba for each in (rebuilt, state))
    assert_array_equal(one, two)


def test_many_changes():
    """The width in which their number is counted grows."""
    x = (np.arange(2000) // 4 % 2 + 0.4 * rng(0).normal(size=2000))[:, None]
    model = ChangePointDetector("gaussian", trend="level", change_probability=0.25).fit(x)
    numbers = model.n_changes_distribution_
    assert 300 < model.n_changes_ < 600
    assert numbers.sum() == pytest.approx(1.0, abs=1e-9)
    assert numbers @ np.arange(len(numbers)) == pytest.approx(
        model.predict_proba(x).sum(), abs=1e-6
    )


def test_rates_recover():
    """Of a change at every step, and then of none for long."""
    x = np.append(np.arange(300) % 2 * 50, np.full(900, 25))[:, None]
    model = ChangePointDetector("poisson", change_probability=(1.0, 1.0)).fit(x)
    assert np.isfinite(model.score(x))
    p = model.predict_proba(x)
    assert p[1:299].mean() > 0.9
    assert p[310:].mean() < 0.05
    assert 0.2 < model.change_probability_ < 0.3
    spans, unknown = model._models[0].of(x), np.full(1200, -1)
    found = _divisions.DividedSeries(spans, model._rates, unknown, 1.0).log_evidence
    for g in (24, 28, 40):  # each as if it were the only one
        rate = model._rates.rates[g]
        alone = model._rates._replace(
            rates=np.array([rate]), prior=np.array([model._rates.prior[g]])
        )
        expected = _divisions.DividedSeries(spans, alone, unknown, 1.0).log_evidence[0]
        assert found[g] == pytest.approx(expected, abs=1e-6)


def test_running_sums_keep_what_rounding_loses():
    terms = np.array([[1e16, 1.0, 3.0, -1e16, 0.1, 0.2]])
    sums, errors = np.empty((2, 1, 7))
    kernels.add_up_exactly(terms, sums, errors)
    for i in range(6):
        for j in range(i + 1, 7):
            found = (sums[0, j] - sums[0, i]) + (errors[0, j] - errors[0, i])
            assert found == pytest.approx(math.fsum(terms[0, i:j]), rel=1e-15, abs=1e-15)


def test_far_spans_are_exact():
    """Behind ten thousand steps and a value of 1e8."""
    y = np.append(rng(0).normal(size=10_000), X[:, 0])[:, None]
    y[50] = 1e8
    for gap in (False, True):
        if gap:
            y[10_010] = np.nan
        for model in ChangePointDetector("gaussian", autocorrelation=0.5)._list_models(
            SequencePanel.from_sequences([X])
        ):
            whole, alone = model.of(y), model.of(y[10_000:])
            spans = np.array([[0, 150], [3, 8], [60, 61], [7, 200]]).T
            assert_allclose(whole.weigh(*(spans + 10_000)), alone.weigh(*spans), rtol=1e-11)
