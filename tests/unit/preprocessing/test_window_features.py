"""WindowFeatures: windows, periods, filters, gaps, units and containers."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from skdp.data import SequencePanel
from skdp.preprocessing import WindowFeatures
from skdp.preprocessing._windows import (
    Convolutions,
    Steps,
    WindowLayout,
    choose_features,
    find_observed,
    find_periods,
    has_waves,
)
from skdp.sequence import HDPHMMLT

RNG = np.random.default_rng(0)
T = np.arange(600)
WAVES = np.where(T < 300, np.sin(T / 5), np.sign(np.sin(T / 5)))[:, np.newaxis]
WAVES = WAVES + 0.1 * RNG.normal(size=WAVES.shape)


def fitted(X=WAVES, **params):
    return WindowFeatures(**{"n_kernels": 20, "random_state": 0, **params}).fit(X)


def test_layout():
    """A short sequence has one window; the last window ends where the next would not fit."""
    layout = WindowLayout.of(np.array([0, 10, 13, 14]), 4, 3)
    assert layout.starts.tolist() == [0, 3, 6, 10, 13]
    assert layout.ends.tolist() == [4, 7, 10, 13, 14]
    assert layout.ptr.tolist() == [0, 3, 4, 5]
    # Centers are at 2, 5 and 8: step t belongs to the center nearest to t + 1/2.
    assert layout.spread(np.arange(5)).tolist() == [0] * 4 + [1] * 3 + [2] * 3 + [3] * 3 + [4]
    assert layout.thin(2).tolist() == [0, 2, 3, 4]


def share_above(x, weights, dilation, threshold, least, first, last):
    """Return the share of steps of a window at which a convolution exceeds a threshold."""
    n_above = n_observed = 0
    known = [t for t in range(len(x)) if x[t] == x[t]]
    filled = [np.interp(t, known, [x[u] for u in known]) for t in range(len(x))]
    for t in range(first, last):
        places = [min(max(t + (i - 4) * dilation, 0), len(x) - 1) for i in range(9)]
        if sum(x[u] == x[u] for u in places) >= 7:
            n_observed += 1
            total = sum(w * filled[u] for w, u in zip(weights, places, strict=True))
            n_above += total > threshold
    return n_above / n_observed if n_observed >= max(least * (last - first), 1) else np.nan


@pytest.mark.parametrize("gaps", [[], [3, 4, 5, 20], range(10, 22)])
def test_convolutions_by_their_definition(gaps):
    sequences = [RNG.normal(size=(n, 2)) for n in (30, 7, 25)]
    sequences[0][list(gaps), 0] = np.nan
    panel = SequencePanel.from_sequences(sequences)
    steps = Steps.of(panel.values, panel.ptr)
    layout = WindowLayout.of(panel.ptr, 24, 5)
    bank = Convolutions.draw(steps, layout, 12, np.random.default_rng(1))
    assert set(bank.dilations) == {1}
    bank.dilations[::3] = 2
    bank.least[::2] = 0.3
    found, owners = bank.measure(steps, layout), np.repeat(range(3), np.diff(layout.ptr))
    for k in range(12):
        filters = bank.weights[k], bank.dilations[k], bank.thresholds[k], bank.least[k]
        expected = [
            share_above(sequences[s][:, k % 2], *filters, first - panel.ptr[s], last - panel.ptr[s])
            for s, first, last in zip(owners, layout.starts, layout.ends, strict=True)
        ]
        assert_allclose(found[:, k], expected, rtol=1e-12)


def test_thresholds_are_quantiles():
    """Thresholds are uniform quantiles: a share is 1/2 on average, 5.5 errors of 400 filters."""
    x = RNG.normal(size=(2000, 1))
    steps = Steps.of(x, np.array([0, 2000]))
    layout = WindowLayout.of(np.array([0, 2000]), 100, 50)
    bank = Convolutions.draw(steps, layout, 400, np.random.default_rng(0))
    shares = bank.measure(steps, WindowLayout.of(np.array([0, 2000]), 2000, 1))
    assert abs(shares.mean() - 0.5) < 5.5 * np.sqrt(1 / 12 / 400)
    sums = np.abs(bank.weights.sum(axis=1)) < 1e-9
    assert abs(sums.mean() - 0.8) < 5.5 * np.sqrt(0.16 / 400)


@pytest.mark.parametrize("period", [12, 31, 100])
def test_periods(period):
    t = np.arange(2000)
    noise, drift = RNG.normal(size=2000), np.cumsum(RNG.normal(size=2000))
    wave = np.sin(2 * np.pi * t / period)
    X = np.column_stack([wave + 0.3 * noise, 10 * wave + 0.1 * drift, noise, np.zeros(2000)])
    found = find_periods(X, np.array([0, 1200, 2000]))
    assert abs(found[:2] - period).max() <= period / 10
    assert found[2:].tolist() == [0, 0]
    assert has_waves(X, np.array([0, 2000]))
    assert has_waves(X[:, [0, 3, 3, 3]], np.array([0, 2000]))  # constant columns do not count
    assert not has_waves(X[:, 2:3], np.array([0, 2000]))
    assert not has_waves(X[:, 3:], np.array([0, 2000]))


def make_switched(rng, noise, n_segments=8):
    lengths = rng.integers(40, 81, size=n_segments)
    levels = np.repeat(5.0 * (np.arange(n_segments) % 2), lengths)
    return levels + noise * rng.normal(size=len(levels))


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_levels_are_no_waves(seed, noise):
    """Neither units, an origin, several columns and sequences, gaps nor slow jumps matter."""
    x = make_switched(np.random.default_rng(seed), noise)
    X = np.column_stack([x, 7.0 + 1e-6 * x, -1e6 * x])
    whole = np.array([0, len(x)])
    assert not has_waves(X, whole)
    assert not has_waves(X, np.array([0, 150, 155, len(x)]))
    X[::7] = np.nan
    X[100:110] = np.nan
    assert not has_waves(Steps.of(X, whole).values, whole)


@pytest.mark.parametrize("every", [2, 3])
@pytest.mark.parametrize("shares", ["one column", "all columns"])
def test_interpolated_values_are_no_waves(every, shares):
    """A sensor that is read every second or third step has the waves of its own values."""
    rng, t = np.random.default_rng(0), np.arange(1500)
    levels = np.repeat([0.0, 5.0, 0.0, 3.0, 5.0], 300)
    for base, expected in ((levels, False), (3.0 * np.sin(t / 9), True)):
        X = base[:, np.newaxis] + rng.normal(size=(1500, 2)) * (0.1 if expected else 1.0)
        X[t % every > 0, 1 if shares == "one column" else slice(None)] = np.nan
        ptr = np.array([0, 700, 1500])
        values, is_missing = Steps.of(X, ptr).values, np.isnan(X)
        assert has_waves(values, ptr, is_missing) == expected
        if shares == "all columns":
            assert has_waves(values, ptr)  # interpolated values are smooth


@pytest.mark.parametrize("every", [2, 3])
def test_gaps_leave_only_periods(every):
    """Values that depend on those before have windows; with many gaps, only waves have them."""
    rng, t = np.random.default_rng(0), np.arange(1500)
    drifting = rng.normal(size=(1500, 5))
    for i in range(1, 1500):
        drifting[i] += 0.9 * drifting[i - 1]
    ptr = np.array([0, 1500])
    assert has_waves(drifting, ptr)
    is_missing = np.zeros(drifting.shape, dtype=bool)
    is_missing[t % every == 0] = True
    assert not has_waves(drifting, ptr, is_missing)
    waves = 5.0 * np.sin(t / 9)[:, np.newaxis] + drifting
    assert has_waves(waves, ptr, is_missing)


def test_jumps_may_take_some_steps():
    rng = np.random.default_rng(0)
    x = np.convolve(make_switched(rng, 0.0, 40), np.full(3, 1 / 3), mode="valid")
    x = x[:, np.newaxis] + 0.05 * rng.normal(size=(len(x), 1))
    assert not has_waves(x, np.array([0, len(x)]))


@pytest.mark.parametrize("noise", [0.1, 0.3])
@pytest.mark.parametrize("period", [20, 40, 100, 150])
def test_waves_are_no_levels(period, noise):
    t = np.arange(2000)
    for seed in range(5):
        x = np.sin(2 * np.pi * t / period + seed)
        x += noise * np.random.default_rng(seed).normal(size=2000)
        assert has_waves(x[:, np.newaxis], np.array([0, 2000]))


@pytest.mark.parametrize(
    "features", ["convolutions", "spectrum", lambda window: window.std(axis=0)]
)
def test_the_waves_differ(features):
    found = fitted(features=features, n_components=1)
    rows = found.transform(WAVES)[:, 0]
    states = found.inverse_states(rows > rows.mean(), WAVES)
    changes = np.flatnonzero(np.diff(states.astype(int))) + 1
    assert len(changes) == 1
    assert abs(changes[0] - 300) <= found.window_ // 2


@pytest.mark.parametrize("features", ["convolutions", "spectrum"])
@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e6, 3.0), (1.0, 1e5)])
def test_no_unit(features, scale, shift):
    X = np.column_stack([WAVES[:, 0], np.sign(np.sin(T / 20))])
    found = fitted(scale * X + shift, features=features)
    rows, expected = found.transform(scale * X + shift), fitted(X, features=features).transform(X)
    spread = rows - rows.mean(axis=0)
    assert_allclose(spread, expected - expected.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("features", ["convolutions", "spectrum"])
def test_constant_columns(features):
    """They have no features, also if they vary later; a callable sees them."""
    X = np.column_stack([np.full(600, 3.0), WAVES, np.zeros(600)])
    X[:200, 0] = np.nan
    found, expected = fitted(X, features=features), fitted(features=features)
    assert_array_equal(found.transform(X), expected.transform(WAVES))
    X[:, 2] = WAVES[::-1, 0]
    assert_array_equal(found.transform(X), expected.transform(WAVES))
    own = fitted(X[200:], features=lambda window: window[0], n_components=None)
    assert own.transform(X[200:]).shape[1] == 3


def test_containers():
    """Windows do not depend on the rest of the batch, nor on its container."""
    X = [WAVES, WAVES[:250], WAVES[:5]]
    found = fitted(X)
    expected = found.transform(X)
    assert [len(part) for part in expected] == [len(part) for part in fitted(X).fit_transform(X)]
    assert_array_equal(found.transform([WAVES[:250]])[0], expected[1])
    panel = SequencePanel.from_sequences(X)
    rows = fitted(panel).transform(panel)
    assert isinstance(rows, SequencePanel)
    assert_array_equal(rows.values, np.concatenate(expected))
    frames = [pd.DataFrame({"a": part[:, 0]}) for part in X]
    named = fitted(frames)
    assert named.feature_names_in_.tolist() == ["a"]
    for ours, theirs in zip(named.transform(frames), expected, strict=True):
        assert_array_equal(ours, theirs)
    single = fitted(WAVES)
    assert_array_equal(single.fit_transform(WAVES), single.transform([WAVES])[0])
    assert single.get_feature_names_out().tolist() == [f"windowfeatures{k}" for k in range(5)]


def test_gaps():
    X = WAVES.copy()
    X[200:330] = np.nan
    found = fitted(X, window=60)
    empty = np.isnan(found.transform(X)).any(axis=1)
    assert np.flatnonzero(empty).tolist() == [5, 6, 7, 8, 9, 10]  # any part in the gap
    assert np.isnan(found.transform(X[200:240])).all()
    both = np.column_stack([X, WAVES])
    rows = fitted(both, window=60).transform(both)
    assert np.isfinite(rows).all()
    assert abs(rows[5:11] - fitted(both, window=60).transform(np.tile(WAVES, 2))[5:11]).max() < 0.5


REGULAR = {"half": T % 2 == 0, "third": T % 3 > 0, "two thirds": T % 3 == 0}


@pytest.mark.parametrize("missing", REGULAR.values(), ids=REGULAR)
def test_regular_gaps(missing):
    """Filters whose taps fall into the gaps are left out; the waves differ as they do without."""
    X = np.where(missing[:, np.newaxis], np.nan, WAVES)
    slow = np.column_stack([WAVES, np.where(missing, np.nan, RNG.normal(size=600))])
    for sequence in (X, slow):
        found = fitted(sequence, n_kernels=60)
        rows = found.transform(sequence)
        assert_array_equal(rows, found.fit_transform(sequence))
        assert rows.shape == (len(rows), 5)
        assert np.isnan(rows).mean() < 0.1
        states = found.inverse_states(rows[:, 0] > np.nanmean(rows[:, 0]), sequence)
        changes = np.flatnonzero(np.diff(states.astype(int))) + 1
        assert len(changes) == 1
        assert abs(changes[0] - 300) <= found.window_


def test_features_to_keep_by_their_definition():
    """The most features, the fullest first, that leave half of the observed windows complete."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        raw = np.where(rng.random((40, 9)) < rng.random(9) ** 2, np.nan, 1.0)
        is_observed = rng.random(40) < 0.8
        missing = np.isnan(raw[is_observed])
        order = np.argsort(missing.sum(axis=0), kind="stable")
        shares = [(~missing[:, order[:n]].any(axis=1)).mean() for n in range(10)]
        expected = order[: max(n for n in range(10) if shares[n] >= 0.5)]
        found = choose_features(raw, is_observed)
        if shares[-1] >= 0.1:
            assert found is None
        else:
            assert found.tolist() == sorted(expected)
    assert choose_features(np.where(np.eye(3), 1.0, np.nan), np.ones(3, dtype=bool)) is None


def test_a_late_sensor_keeps_its_features():
    """Half of the windows lack it, but the others are enough to learn from."""
    X = np.column_stack([WAVES, WAVES[::-1]])
    X[:400, 1] = np.nan
    assert fitted(X)._kept is None


def test_observed_windows():
    """Windows in a long gap do not count, but those of a slow sensor do."""
    x = np.where(T % 2 == 0, np.nan, WAVES[:, 0])
    x[:450] = np.nan
    layout = WindowLayout.of(np.array([0, 600]), 50, 50)
    steps = Steps.of(x[:, np.newaxis], np.array([0, 600]))
    assert find_observed(steps, layout).tolist() == [False] * 9 + [True] * 3
    gap = Steps.of(np.full((600, 1), np.nan), np.array([0, 600]))
    assert find_observed(gap, layout).all()


def test_too_few_values_for_windows():
    X = np.full((600, 1), np.nan)
    X[::5] = WAVES[::5]
    with pytest.raises(ValueError, match=r"next to each other\. Fill short gaps in"):
        fitted(X[1:-1], features="spectrum")
    with pytest.warns(UserWarning, match="most windows have too many missing values"):
        fitted(X, features="spectrum", n_components=None)


def test_all_features_without_components():
    """Windows without values have the columns of the training windows."""
    plain = fitted(n_components=None)
    assert plain.transform(WAVES).shape[1] == len(plain.get_feature_names_out()) == 20
    assert fitted(WAVES[:3]).transform(WAVES[:3]).shape == (3, 3)  # windows of one step
    constant = np.ones((100, 1))
    assert np.ptp(fitted(constant).transform(constant)) == 0.0
    found = fitted(features="spectrum", n_components=None)
    rows = found.transform(np.full((200, 1), np.nan))
    assert rows.shape[1] == found.transform(WAVES).shape[1] > 1
    assert np.isnan(rows).all()


def test_functions_may_change_their_argument():
    def spread(window):
        window -= window.mean(axis=0)
        return np.abs(window).mean(axis=0)

    X = WAVES.copy()
    X[5] = np.nan
    for sequence in (X, WAVES):
        found = fitted(sequence, features=spread).transform(sequence)
        again = fitted(sequence, features=lambda w: spread(w.copy())).transform(sequence)
        assert_array_equal(found, again)


def test_functions_of_other_lengths():
    found = fitted(features=lambda window: window[:, 0], n_components=None)
    with pytest.raises(ValueError, match=r"got 10, and \d+ in fit"):
        found.transform(WAVES[:10])


def test_pipeline():
    model = make_pipeline(fitted(), HDPHMMLT(4, max_iter=50, random_state=0)).fit([WAVES])
    states = model[0].inverse_states(model.predict([WAVES]), [WAVES])[0]
    assert len(states) == 600
    model.set_params(windowfeatures__window=np.int64(50)).fit([WAVES])
    assert model[0].window_ == 50


SHAPES = {
    "sine": np.sin,
    "square": lambda phase: np.sign(np.sin(phase)),
    "saw": lambda phase: phase / (2 * np.pi) % 1.0,
    "12 bits": lambda phase: np.round(2047 * np.sin(phase)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("period", [24.0, 33.3, 50.37, 121.9])
def test_a_pure_wave_has_one_row(shape, period):
    """All windows are equal: at the ends, and where windows hold no whole number of periods."""
    wave = SHAPES[shape](2 * np.pi * (np.arange(3000) + 0.3) / period)[:, np.newaxis]
    model = fitted(wave)
    assert np.ptp(model.transform(wave), axis=0).max() < 1e-9
    assert np.ptp(model.transform(wave[100:]), axis=0).max() < 1e-9
    other = wave**3 + np.roll(wave, 7)
    assert np.ptp(model.transform(np.concatenate([wave, other])), axis=0).max() > 0.01


def test_a_pure_wave_with_gaps_has_one_row():
    wave = np.sin(2 * np.pi * np.arange(3000) / 24.3)[:, np.newaxis]
    wave[1000:1200] = np.nan
    rows = fitted(wave).transform(wave)
    assert 0 < np.isnan(rows).any(axis=1).sum() < 20
    assert np.nanmax(rows, axis=0) - np.nanmin(rows, axis=0) == pytest.approx(0.0, abs=1e-9)


def test_nearest_inner_windows():
    layout = WindowLayout.of(np.array([0, 30, 41, 50, 80]), 10, 5)
    observed = np.ones(80, bool)
    assert layout.nearest_inner(observed, 3).tolist() == [1, 1, 2, 3, 3, 5, 6, 8, 8, 9, 10, 10]
    assert layout.nearest_inner(observed, 0).tolist() == list(range(12))
    observed[[2, 66]] = False
    assert layout.nearest_inner(observed, 3).tolist() == [2, 2, 2, 3, 3, *range(5, 12)]
