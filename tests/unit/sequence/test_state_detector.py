"""StateDetector: waves, levels, gaps, units, known states, and nothing to find."""

from itertools import pairwise
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, adjusted_rand_score

from skdp.data import SequencePanel
from skdp.preprocessing import WindowFeatures
from skdp.preprocessing._windows import WindowLayout
from skdp.sequence import HDPHMMLT, StateDetector, StudentTEmission, hmm_posterior
from skdp.sequence._state_detector import (
    coarsen,
    find_noise,
    forget,
    judge_states,
    know_groups,
    know_windows,
    learn_memory,
    limit_noise,
    write_known,
)

RNG = np.random.default_rng(2)
T = np.arange(3000)
TRUTH = ((T >= 1000) & (T < 2000)).astype(int)
CHANGES = np.array([1000, 2000])
WAVES = np.where(TRUTH == 1, np.sin(T / 6) ** 3, np.sin(T / 6)) + 0.1 * RNG.normal(size=3000)
WAVES = WAVES[:, np.newaxis]
LEVELS = RNG.normal(size=(600, 2)) + 4.0 * np.repeat([0, 1, 2, 0], 150)[:, np.newaxis]


def make(**params):
    return StateDetector(**{"max_iter": 30, "random_state": 0, **params})


@pytest.fixture(scope="module")
def detector():
    return make().fit(WAVES)


@pytest.fixture(scope="module")
def of_levels():
    return make().fit(LEVELS)


def distance(found):
    """Return how far changes are from those of the waves."""
    return abs(found.change_points_ - CHANGES).max()


def test_waves(detector):
    proba, changes = detector.predict_proba(WAVES), detector.predict_change_proba(WAVES)
    assert abs(detector.features_.window_ - 2 * 6 * 2 * np.pi) <= 2
    assert detector.n_active_components_ == 2
    assert distance(detector) <= detector.features_.hop_
    assert adjusted_rand_score(TRUTH, detector.labels_) > 0.9
    assert_array_equal(detector.predict(WAVES), detector.labels_)
    assert_array_equal(np.flatnonzero(np.diff(detector.labels_)) + 1, detector.change_points_)
    # The states of steps change where the probability of a change is largest.
    assert sorted(np.argsort(changes)[-2:]) == detector.change_points_.tolist()
    assert proba.shape == (3000, 20)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(proba.argmax(axis=1), detector.labels_)
    assert_array_equal(detector.transform(WAVES), proba)
    assert changes.shape == (3000,)
    assert changes[0] == 0.0
    assert changes.min() >= 0.0
    assert changes.max() <= 1.0
    # Two changes, each somewhere among the windows around it.
    for place in CHANGES:
        assert changes[place - 120 : place + 120].sum() == pytest.approx(1.0, abs=0.05)
    assert changes.sum() == pytest.approx(2.0, abs=0.02)
    other = make(random_state=1).fit(WAVES)
    assert adjusted_rand_score(other.labels_, detector.labels_) > 0.9


def test_levels(of_levels):
    assert of_levels.features_ is None
    assert of_levels.n_active_components_ == 3
    assert abs(of_levels.change_points_ - [150, 300, 450]).max() <= 1
    assert of_levels.labels_[0] == of_levels.labels_[-1]
    changes = of_levels.predict_change_proba(LEVELS)
    assert np.allclose(changes.sum(), 3.0, atol=0.1)
    assert not of_levels.memory_.any()
    coarse = coarsen(of_levels.model_, 0.1 / of_levels.step_)
    seen = limit_noise(SequencePanel(LEVELS, np.array([0, 600])), of_levels._noise)
    assert_array_equal(changes, coarse.predict_change_proba(seen)[0])


@pytest.mark.parametrize("regular", [True, False])
def test_on_and_off(regular):
    """A machine is off and on four times."""
    rng = np.random.default_rng(0)
    lengths = np.full(8, 60) if regular else rng.integers(40, 81, size=8)
    states = np.repeat(np.arange(8) % 2, lengths)
    found = make().fit((5.0 * states + 0.5 * rng.normal(size=len(states)))[:, np.newaxis])
    assert found.features_ is None
    assert found.n_active_components_ == 2
    assert_array_equal(found.change_points_, np.flatnonzero(np.diff(states)) + 1)


NOTHING = RNG.normal(size=5000)
LOCAL_WAVE = np.sin(np.arange(500) / 8)


@pytest.mark.parametrize(
    "x",
    [NOTHING, NOTHING[:500], LOCAL_WAVE + 0.3 * NOTHING[:500], np.full(300, 7.0)]
    + [WAVES[:n, 0] for n in (1, 2, 3)],
    ids=["noise", "short noise", "wave", "constant", "a step", "two steps", "three steps"],
)
def test_nothing_to_find(x):
    found = make().fit(x[:, np.newaxis])
    assert found.n_active_components_ == 1
    assert found.labels_.tolist() == [0] * len(x)
    assert len(found.change_points_) == 0


def draw_errors(rng, n, length=1):
    """Return normal noise, in which 2 percent of the steps, in runs, are fifteen times as wide."""
    starts = rng.random(n) < 0.02 / length
    are_errors = np.convolve(starts, np.ones(length))[:n] > 0
    return np.where(are_errors, 15.0, 1.0) * rng.normal(size=n)


TAILS = {
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
    "errors": draw_errors,
    "errors in pairs": lambda rng, n: draw_errors(rng, n, 2),
    "Student t": lambda rng, n: rng.standard_t(3, size=n),
}


@pytest.mark.parametrize("name", TAILS)
@pytest.mark.parametrize("seed", range(2))
def test_tails_are_no_states(name, seed):
    """Of 20 seeds, 20, 20, 18 and 19 had one state; 20, 20, 19 and 20 had three levels, right to
    three steps."""
    noise = TAILS[name](np.random.default_rng(seed), 900)
    nothing = make(features="values").fit(noise[:, np.newaxis])
    X = (noise + np.repeat([0.0, 12.0, 24.0], 300))[:, np.newaxis]
    levels = make(features="values").fit(X)
    assert nothing.n_active_components_ == 1
    assert levels.n_active_components_ == 3
    assert abs(levels.change_points_ - [300, 600]).max() <= 3


@pytest.mark.parametrize("n_columns", [1, 3])
def test_noise_is_limited_by_its_definition(n_columns):
    """Values count as four deviations from the median of five, or as far as in another column."""
    rng, ptr = np.random.default_rng(3), [0, 30, 60]
    x = rng.standard_t(2, size=(60, n_columns))
    x[rng.random(x.shape) < 0.1] = np.nan
    x[7, :2], x[40, -1] = [90.0, -70.0][:n_columns], -50.0
    middle = np.full_like(x, np.nan)
    for first, last in pairwise(ptr):
        for t, d in np.ndindex(30, n_columns):
            near = x[max(first + t - 2, first) : min(first + t + 3, last), d]
            if not np.isnan(near).all():
                middle[first + t, d] = np.nanmedian(near)
    apart = x - middle
    ends = np.nanquantile(apart, [0.05, 0.95], axis=0)
    noise = np.nanstd(np.clip(apart, *ends), axis=0)
    expected = x.copy()
    for t, d in np.argwhere(~np.isnan(x)):
        others = np.sort(np.nan_to_num(abs(apart[t]) / noise))
        most = max(4.0, *others[:-1][-1:]) if n_columns > 1 else 4.0
        expected[t, d] = middle[t, d] + np.clip(apart[t, d], -most * noise[d], most * noise[d])
    panel = SequencePanel(x, np.array(ptr))
    assert (abs(expected - x) > 1.0).any()
    assert_allclose(find_noise(panel), noise, rtol=1e-12)
    assert_allclose(limit_noise(panel, find_noise(panel)).values, expected, rtol=1e-12)
    if n_columns > 1:
        assert limit_noise(panel, noise).values[7, 1] == x[7, 1]  # the other column is farther
    # A column without noise keeps its values.
    steps = SequencePanel(np.repeat([[1.0], [5.0]], 30, axis=0), np.array(ptr))
    assert find_noise(steps).tolist() == [np.inf]
    spike = SequencePanel(np.where(np.arange(60) == 9, 3.0, 1.0)[:, np.newaxis], np.array(ptr))
    assert_array_equal(limit_noise(spike, find_noise(steps)).values, spike.values)


def test_no_unit(detector):
    assert_array_equal(make().fit(1e6 * WAVES - 5.0).labels_, detector.labels_)


def test_one_absurd_value():
    """It may have its own state, in the windows that contain it, but no other effect."""
    X = WAVES.copy()
    X[500] = 1e6
    changes = make().fit(X).change_points_
    distances = np.abs(np.array([500, *CHANGES])[:, np.newaxis] - changes)
    assert {*distances.argmin(axis=0)} >= {1, 2}
    assert distances.min(axis=0).max() <= 80


EVERY_SECOND, TWO_OF_THREE = T % 2 == 0, T % 3 > 0
SOME = ((T >= 400) & (T < 700)) | np.isin(T, RNG.integers(3000, size=100))


@pytest.mark.parametrize(
    ("missing", "other"), [(EVERY_SECOND, 0), (EVERY_SECOND, 1), (TWO_OF_THREE, 1), (SOME, 0)]
)
def test_gaps(missing, other):
    """Of a recording, or one of its sensors, every second value or two of three are missing."""
    columns = [WAVES[:, 0], RNG.normal(size=3000)][: 1 + other]
    X = np.column_stack(columns)
    X[missing, other] = np.nan
    found = make().fit(X)
    assert found.features_ is not None
    assert found.n_active_components_ == 2
    assert distance(found) <= found.features_.hop_


@pytest.mark.parametrize("n_columns", [1, 3])
def test_two_of_three_steps_are_missing(n_columns):
    """No two observed steps follow each other, and the levels are found all the same."""
    rng = np.random.default_rng(0)
    states = np.repeat([0, 1, 2, 0, 2, 1], 300)
    X = 3.0 * states[:, None] + rng.normal(size=(1800, n_columns))
    X[np.arange(1800) % 3 > 0] = np.nan
    assert adjusted_rand_score(states, make().fit(X).labels_) > 0.95


def test_too_few_values_for_windows():
    """Without known features, values are taken, with a warning."""
    X = np.where((T % 7 == 0)[:, np.newaxis], WAVES, np.nan)
    with pytest.warns(UserWarning, match="seems to have waves, but too few values"):
        assert make().fit(X).features_ is None
    with pytest.raises(ValueError, match="too many missing values"):
        make(features="windows").fit(X)


def test_several_sequences():
    X = SequencePanel.from_sequences([WAVES[:1500], WAVES[1500:1510], WAVES[1500:]])
    found = make().fit(X)
    assert [len(part) for part in found.labels_] == [1500, 10, 1500]
    assert [len(part) for part in found.change_points_] == [1, 0, 1]
    assert found.labels_[0][-1] == found.labels_[2][0]
    assert_array_equal(np.concatenate(found.predict(list(X))), np.concatenate(found.labels_))
    shares = found.transform(X)
    assert shares.shape == (3, 20)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert [part.shape for part in found.predict_change_proba(X)] == [(1500,), (10,), (1500,)]


def test_intervals_of_waves(detector):
    table = detector.change_intervals_
    assert_array_equal(table.positions, detector.change_points_)
    for row, change in zip(table, CHANGES, strict=True):
        first, last = row.interval
        assert first < change < last
        assert last - first >= 2 * detector.features_.hop_
        assert row.probability > 0.9
        assert row.size.shape == (0,)
        assert [type(x) for x in (row.position, first, last)] == [int] * 3
        assert type(row.probability) is float
    frame, other = table.to_frame(), detector.change_intervals(WAVES).to_frame()
    assert_array_equal(other.to_numpy(), frame.to_numpy())
    assert list(frame) == ["position", "first", "last", "probability"]
    # Near the ends of a sequence, intervals stay in it.
    for row in detector.change_intervals(WAVES[985:2010]):
        assert 0 < row.interval[0] <= row.position <= row.interval[1] < 1025


def test_intervals_of_levels(of_levels):
    table = of_levels.change_intervals_
    assert_array_equal(table.positions, of_levels.change_points_)
    for row, step in zip(table, (4.0, 4.0, -8.0), strict=True):
        assert row.probability > 0.8
        assert abs(row.size - step).max() < 0.5
        assert (row.size_interval[0] < row.size).all()
        assert (row.size_interval[1] - row.size_interval[0]).max() < 1.0
    # A constant column does not change, whichever the others are.
    constant = np.insert(LEVELS, 1, 7.0, axis=1)
    wide = make().fit(constant).change_intervals_
    assert wide[0].size.tolist() == pytest.approx([table[0].size[0], 0.0, table[0].size[1]])
    # Another unit and origin.
    other = make().fit(1e-3 * LEVELS + 50.0).change_intervals_
    assert_allclose(other[0].size_interval, 1e-3 * table[0].size_interval, rtol=1e-6)


def test_intervals_keep_dates_and_sequences():
    days = pd.date_range("2024-03-01", periods=600)
    frame = pd.DataFrame(LEVELS, index=days, columns=["a", "b"])
    detector = make().fit([frame[:200], frame[200:210], frame[210:]])
    tables = detector.change_intervals_
    assert [len(table) for table in tables] == [1, 0, 2]
    assert [table.positions.tolist() for table in tables] == [
        changes.tolist() for changes in detector.change_points_
    ]
    for row, day in zip((*tables[0], *tables[2]), days[[150, 300, 450]], strict=True):
        first, last = row.date_interval
        assert first <= day <= last
    assert tables[2].to_frame().index.tolist() == [row.date for row in tables[2]]
    assert "size a" in tables[2].to_frame()
    again = detector.change_intervals([frame[210:], frame[:200]])
    assert repr(again[0]) == repr(tables[2])
    assert_allclose(again[1][0].probability, tables[0][0].probability)


def test_intervals_between_known_states():
    """Between two known states that differ there is a change, wherever the model sees one."""
    y = know(3000, ([200, 500], 0), ([505, 1200], 1))
    row = make().fit(WAVES, y).change_intervals_[0]
    assert (row.interval, row.probability) == ((501, 505), 1.0)
    assert 500 < row.position <= 505
    at_step = make().fit(LEVELS, know(600, (10, 1), (20, 2))).change_intervals_[0]
    assert 10 < at_step.position <= 20
    assert at_step.probability > 0.8
    # Within the only window of a sequence.
    tables = make().fit([WAVES, WAVES[:30]], [None, know(30, (10, 1), (20, 2))]).change_intervals_
    assert [(row.interval, row.probability) for row in tables[1]] == [((11, 20), 1.0)]


def test_sequences_shorter_than_a_window(detector):
    """They hold no whole wave, so the prior decides: no state without training steps."""
    n_least = int(np.ceil(0.9 * detector.features_.window_))
    expected = detector.model_.predict_proba([np.full((1, 5), np.nan)])[0]
    for n in (1, 3, 20, 40, 60, n_least - 1):
        proba = detector.predict_proba([WAVES[:n], WAVES[1500 : 1500 + n]])
        assert_allclose(proba, np.tile(expected, (2, n, 1)), rtol=1e-12)
        assert set(detector.predict(WAVES[1500 : 1500 + n])) <= set(detector.labels_)
    long = detector.predict([WAVES[200 : 200 + n_least], WAVES[1500 : 1500 + n_least]])
    assert long[0][0] != long[1][0]
    assert not np.allclose(detector.predict_proba(WAVES[:n_least])[0], expected[0])


def test_convergence():
    """The warnings of the fit name the attribute; it is that of the model."""
    with pytest.warns(ConvergenceWarning, match=r"See convergence_\['few_sweeps'\]"):
        found = make(max_iter=2).fit(LEVELS)
    assert found.convergence_ is found.model_.convergence_
    assert "few_sweeps" in found.convergence_


def test_steps(detector):
    assert list(detector.criteria_) == [1]
    long = make(step="auto").fit(LEVELS)
    assert list(long.criteria_) == [1, 2, 4]
    assert long.step_ == max(long.criteria_, key=long.criteria_.get)
    assert make(step=3).fit(LEVELS).step_ == 3


@pytest.mark.parametrize("known", [False, True])
def test_long_recordings_have_few_sweeps(monkeypatch, known):
    """Chains of more than 2,000 values begin with the states of a coarser step."""
    models = []
    monkeypatch.setattr(
        "skdp.sequence._state_detector.HDPHMMLT",
        lambda *args, **params: models.append((HDPHMMLT(*args, **params), params)) or models[-1][0],
    )
    x = RNG.normal(size=(8000, 1)) + 4.0 * (np.arange(8000)[:, np.newaxis] // 500 % 2)
    y = np.where(np.arange(8000) % 500 == 100, 3 - np.arange(8000) // 500 % 2, -1)
    found = make(features="values", max_iter=60).fit(x, y if known else None)
    steps = [64, 32, 16, 8, 4, 2, 1]
    assert [params["max_iter"] for _, params in models] == [60] * 5 + [30] * 2
    for step, (_, params) in zip(steps, models, strict=True):
        if step > 2:
            assert isinstance(params["init"], str)
            continue
        (init,) = params["init"]
        assert len(init) == 8000 // step
        assert np.count_nonzero(np.diff(init)) < 30
    assert {params["n_samples"] for _, params in models} == {12}
    assert found.model_.init == "auto"
    assert len(found.change_points_) == 15
    assert abs(found.change_points_ - 500 * np.arange(1, 16)).max() <= 2
    assert list(found.criteria_) == steps[::-1]
    if known:
        assert accuracy_score(3 - np.arange(8000) // 500 % 2, found.labels_) > 0.998
    assert_array_equal(found.predict(x), found.labels_)
    models.clear()
    make(features="values", step=2, max_iter=60).fit(x)
    assert [params["max_iter"] for _, params in models] == [60]


def test_own_features():
    features = WindowFeatures(100, hop=25, features="spectrum")
    found = make(features=features).fit(WAVES)
    assert found.features_.window_ == 100
    assert not hasattr(features, "window_")
    assert distance(found) <= 50


def with_constants(X):
    """Return X between columns of zeros, and of sevens with gaps."""
    X = np.column_stack([np.zeros(len(X)), X, np.full(len(X), 7.0)])
    X[10:90, -1] = np.nan
    return X


@pytest.mark.parametrize(
    ("X", "features"),
    [(WAVES, "auto"), (LEVELS, "auto"), (LEVELS, WindowFeatures(100, random_state=0))],
    ids=["waves", "levels", "windows of levels"],
)
def test_constant_columns_have_no_influence(X, features):
    """The result is the same to the last bit, also where the columns vary later."""
    expected = make(features=features).fit(X)
    found = make(features=features).fit(with_constants(X))
    assert (found.features_ is None) == (expected.features_ is None)
    assert found.n_features_in_ == X.shape[1] + 2
    new = with_constants(X)
    new[50:, [0, -1]] = RNG.normal(size=(len(X) - 50, 2))
    assert_array_equal(found.labels_, expected.labels_)
    for method in ("predict_proba", "predict_change_proba"):
        assert_array_equal(getattr(found, method)(new), getattr(expected, method)(X))
    if found.features_ is None:
        assert found.memory_.tolist() == [0.0, *expected.memory_, 0.0]
    else:
        assert found.features_.n_features_in_ == X.shape[1] + 2


def make_drifting(seed):
    """Return two columns and their states: levels in noise, and a sensor that drifts."""
    rng = np.random.default_rng(seed)
    states = (np.arange(900) // 300) % 2
    drift = np.zeros(900)
    for t in range(1, 900):
        drift[t] = 0.98 * drift[t - 1] + rng.normal()
    return np.column_stack([2.0 * states + rng.normal(size=900), drift]), states


@pytest.mark.parametrize("seed", range(2))
def test_drift_is_no_state(seed):
    """The states of values as they are follow the drift; without its memory, the levels. For each
    of eight seeds, the adjusted Rand index was at least .97."""
    X, states = make_drifting(seed)
    found = make(features="values").fit(X)
    assert found.memory_[0] < 0.2
    assert 0.8 < found.memory_[1] < 1.0
    assert adjusted_rand_score(states, found.labels_) > 0.95
    assert_array_equal(found.predict(X), found.labels_)
    # Sizes are those of levels, not of what the model explains.
    assert len(found.change_intervals_) == 2
    for row in found.change_intervals_:
        old, new = (X[found.labels_ == found.labels_[row.position + k]].mean(0) for k in (-1, 0))
        assert (row.size_interval[0] < new - old).all()
        assert (new - old < row.size_interval[1]).all()
        assert row.size_interval[1, 0] - row.size_interval[0, 0] < 1.0  # the drift is less clear
        assert row.size_interval[1, 1] - row.size_interval[0, 1] > 4.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("freedom", "is_known"), [(1.5, False), (5.0, True)])
def test_sizes_of_states_without_a_variance(freedom, is_known):
    """Their intervals are infinite; empty states do not matter."""
    X = np.random.default_rng(0).standard_t(freedom, (200, 1))
    X[100:] += 50.0
    emission = StudentTEmission(degrees_of_freedom=freedom)
    model = HDPHMMLT(5, emission=emission, max_iter=30, random_state=0).fit(X)
    (row,) = model.change_intervals(X)
    assert abs(row.size[0] - 50.0) < 2.0
    assert np.isfinite(row.size_interval).all() == is_known


def test_memory_of_columns_that_vary():
    X, _ = make_drifting(0)
    expected, found = (make(features="values").fit(x) for x in (X, with_constants(X)))
    assert found.memory_.tolist() == [0.0, *expected.memory_, 0.0]
    assert found.memory_[2] > 0.8
    assert_array_equal(found.predict_proba(with_constants(X)), expected.predict_proba(X))


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(monkeypatch):
    estimator = make().fit(LEVELS)
    before, press = dict(vars(estimator)), Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("skdp.sequence._state_detector.judge_states", press)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(WAVES)
    assert all(vars(estimator)[name] is value for name, value in before.items())


@pytest.mark.parametrize(("missing", "usual"), [([5], 1), ([1, 3, 7, 9, 11, 14], 2), ([], 1)])
def test_criterion_by_its_definition(missing, usual):
    """The likelihood by loops over steps: each depends on the last one of its sequence."""
    x = np.cumsum(np.random.default_rng(1).normal(size=(16, 2)), axis=0)
    x[missing, :1] = np.nan
    ptr, z = np.array([0, 10, 16]), np.array([0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    known = [t for t in range(16) if t not in missing]
    means = [np.mean([x[t] for t in known if z[t] == k], axis=0) for k in (0, 1)]
    pairs = [(s, t) for s, t in pairwise(known) if not s < 10 <= t]
    residual = {t: x[t] - means[z[t]] for t in known}
    usual_pairs = [(s, t) for s, t in pairs if t - s == usual]
    others = [sum(t - s == k for s, t in pairs) for k in range(1, 9) if k != usual]
    assert len(usual_pairs) > max(others)
    power = sum(residual[s] ** 2 for s, _ in usual_pairs)
    r = np.clip(sum(residual[s] * residual[t] for s, t in usual_pairs) / power, 0.0, 1.0)
    a = np.minimum(r ** (1 / usual), 0.999)
    assert a.min() > 0.1
    expected = 0.0
    for k in (0, 1):
        errors = []
        for s, t in pairs:
            if z[t] == k:
                # The noise of several steps: e_t + a e_t-1 + a^2 e_t-2 ...
                scale = np.sqrt(sum(a ** (2 * i) for i in range(t - s)))
                errors.append((residual[t] - a ** (t - s) * residual[s]) / scale)
                expected -= np.log(scale).sum()
        scatter = sum(np.outer(e, e) for e in errors)
        prior = 4 * 0.05 * np.diag(np.nanvar(x, axis=0))
        covariance = (scatter + prior) / (len(errors) + 4)
        inverse = np.linalg.inv(covariance)
        for e in errors:
            expected -= 0.5 * (np.log(np.linalg.det(covariance)) + e @ inverse @ e)
    n_parameters = 2 * 2 + 2 + 2 * 3  # means, autocorrelations, covariances
    expected -= 0.7 * (n_parameters + 2) * np.log(16)  # changes at steps 2 and 6
    assert judge_states(x, ptr, z, 0.7) == pytest.approx(expected, rel=1e-12)
    is_clear = r > 2.0 / np.sqrt(len(usual_pairs))
    memory = learn_memory(SequencePanel(x, ptr), z)
    assert_allclose(memory, np.where(is_clear, a, 0.0), rtol=1e-12)


def test_memory_is_forgotten_by_its_definition():
    """After a gap, and at the beginning of a sequence, the value itself stands before."""
    x = np.random.default_rng(1).normal(size=(7, 2))
    x[2, 0] = np.nan
    a, ptr = np.array([0.5, 0.9]), np.array([0, 4, 7])
    expected = np.empty_like(x)
    for t, d in np.ndindex(7, 2):
        has_before = t not in ptr and not np.isnan(x[t - 1, d])
        expected[t, d] = x[t, d] - a[d] * (x[t - 1, d] if has_before else x[t, d])
    assert_allclose(forget(SequencePanel(x, ptr), a).values, expected, rtol=1e-14)


@pytest.mark.parametrize("power", [1.0, 0.25])
def test_probabilities_given_a_part_of_the_evidence(power):
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 1.5, 0.0], 15)[:, np.newaxis] + rng.normal(size=(45, 1))
    chain = {"max_iter": 40, "merge_overlapping": False, "random_state": 0}
    model = HDPHMMLT(3, stickiness=10.0, **chain).fit(x)
    parts = [
        hmm_posterior(own.startprob, own.transmat, power * own.emission.log_obs(x))
        for own in model.samples_
    ]
    for found in (coarsen(model, power), *([model] if power == 1.0 else [])):
        assert_allclose(found.predict_proba(x), np.mean(parts, axis=0), atol=1e-10)


def owners(layout):
    """Return the window of each step: that with the nearest center in its sequence."""
    found = []
    for s in range(len(layout.ptr) - 1):
        windows = np.arange(layout.ptr[s], layout.ptr[s + 1])
        centers = (layout.starts[windows] + layout.ends[windows] - 1) / 2
        for t in range(layout.step_ptr[s], layout.step_ptr[s + 1]):
            found.append(windows[len(windows) - 1 - np.argmin(np.abs(centers - t)[::-1])])
    return np.array(found)


@pytest.mark.parametrize(
    ("width", "hop", "share"), [(40, 20, 0.3), (7, 3, 0.05), (1, 1, 0.3), (8, 4, 1.0), (7, 3, 0.0)]
)
def test_windows_and_labels_by_their_definition(width, hop, share):
    rng = np.random.default_rng(0)
    layout = WindowLayout.of(np.array([0, 60, 65, 200]), width, hop)
    truth = np.repeat(rng.integers(0, 3, 20), 10)
    known = np.where(rng.random(200) < share, truth, -1)
    owner, found = owners(layout), know_windows(known, layout)
    labels = rng.integers(0, 3, 200)
    written = labels.copy()
    if share > 0.0:
        write_known(written, known, layout)
    for i, state in enumerate(found):
        own = np.flatnonzero(owner == i)
        held = {*own, *range(layout.starts[i], layout.ends[i])}
        states = {known[t] for t in held} - {-1}
        places = own[known[own] >= 0]
        assert state == (states.pop() if len(places) and len(states) == 1 else -1)
        for t in own:
            distances = np.abs(places - t)
            nearest = known[places[distances == distances.min(initial=999)]]
            assert written[t] in (nearest if len(places) else [labels[t]])
    for step in (1, 2, 4):
        rows = layout.thin(step)
        ends = [*rows[1:], len(found)]
        for group, row, end in zip(know_groups(found, rows, layout.ptr), rows, ends, strict=True):
            states = set(found[row:end]) - {-1}
            assert group == (states.pop() if len(states) == 1 else -1)


def know(n_steps, *pairs):
    """Return states, unknown but for pairs of steps and states."""
    y = np.full(n_steps, -1)
    for steps, state in pairs:
        y[steps] = state
    return y


def test_known_states_keep_their_numbers():
    detector = make()
    found = detector.fit_predict(WAVES, know(3000, ([200, 2500], 5), (1500, 2)))
    for states in (found, detector.predict(WAVES)):
        assert accuracy_score(np.where(TRUTH == 1, 2, 5), states) > 0.95


def test_known_states_of_equal_waves():
    """The user labels the same wave as two states: nearby windows follow each label."""
    y = know(3000, (200, 5), (1500, 2), (2500, 3))
    detector = make()
    found = detector.fit_predict(WAVES, y)
    assert found[[200, 1500, 2500]].tolist() == [5, 2, 3]
    half = detector.features_.hop_ // 2
    for step in (200, 2500):
        assert (found[step - half : step + half] == y[step]).mean() > 0.5
    assert np.isin(found, [5, 2, 3]).all()
    assert_array_equal(np.flatnonzero(np.diff(found)) + 1, detector.change_points_)


def test_known_steps_in_windows_across_changes():
    near = slice(990, 1010)
    found = make().fit_predict(WAVES, know(3000, (near, TRUTH[near]), ([200, 2500], 0)))
    assert_array_equal(found[near], TRUTH[near])


def test_known_states_of_levels():
    y = np.full(600, np.nan)
    y[[10, 160]] = 1, 7
    assert make().fit_predict(LEVELS, y)[[10, 160, 590]].tolist() == [1, 7, 1]
    found = make().fit_predict([LEVELS[:300], LEVELS[300:]], [y[:300], None])
    assert found[0][[10, 160]].tolist() == [1, 7]
    assert found[1][-1] == 1  # the level of step 10


def test_values_are_those_of_the_model():
    y = know(600, (10, 1), (160, 7))
    detector = make(features="values", step=1).fit(LEVELS, y)
    seed = detector.model_.random_state
    model = HDPHMMLT(20, stickiness=1e5, max_iter=30, random_state=seed).fit([LEVELS], [y])
    assert_array_equal(model.transmat_, detector.model_.transmat_)


def test_y_is_ignored_on_request(of_levels):
    found = make(use_y=False).fit_predict(LEVELS, np.full(600, 3))
    assert_array_equal(found, of_levels.labels_)
    both = [LEVELS[:300], LEVELS[300:]]
    by_class, plain = make().fit_predict(both, ["a", "b"]), make().fit_predict(both)
    assert_array_equal(np.concatenate(by_class), np.concatenate(plain))
