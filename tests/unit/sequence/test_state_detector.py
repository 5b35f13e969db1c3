"""StateDetector: waves, levels, gaps, units, containers, and nothing to find."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

from skdp.data import SequencePanel
from skdp.preprocessing import WindowFeatures
from skdp.sequence import StateDetector
from skdp.sequence._detector._coarse import coarsen
from skdp.sequence._detector._criterion import judge_states
from skdp.sequence._detector._memory import forget, learn_memory

RNG = np.random.default_rng(2)
T = np.arange(3000)
TRUTH = ((T >= 1000) & (T < 2000)).astype(int)
WAVES = np.where(TRUTH == 1, np.sin(T / 6) ** 3, np.sin(T / 6)) + 0.1 * RNG.normal(size=3000)
WAVES = WAVES[:, np.newaxis]
LEVELS = RNG.normal(size=(600, 2)) + 4.0 * np.repeat([0, 1, 2, 0], 150)[:, np.newaxis]


HALF_SEEN = LEVELS.copy()
HALF_SEEN[::2] = np.nan


def fitted(X=WAVES, **params):
    return StateDetector(**{"max_iter": 30, "random_state": 0, **params}).fit(X)


@pytest.fixture(scope="module")
def detector():
    return fitted()


def test_waves(detector):
    assert abs(detector.features_.window_ - 2 * 6 * 2 * np.pi) <= 2
    assert detector.n_active_components_ == 2
    assert abs(detector.change_points_ - [1000, 2000]).max() <= detector.features_.hop_
    assert adjusted_rand_score(TRUTH, detector.labels_) > 0.9
    assert np.array_equal(detector.predict(WAVES), detector.labels_)
    assert np.array_equal(np.flatnonzero(np.diff(detector.labels_)) + 1, detector.change_points_)


def test_levels():
    detector = fitted(LEVELS)
    assert detector.features_ is None
    assert detector.n_active_components_ == 3
    assert abs(detector.change_points_ - [150, 300, 450]).max() <= 1
    assert detector.labels_[0] == detector.labels_[-1]
    changes = detector.predict_change_proba(LEVELS)
    assert np.allclose(changes.sum(), 3.0, atol=0.1)
    assert not detector.memory_.any()
    coarse = coarsen(detector.model_, 0.1 / detector.step_)
    assert np.array_equal(changes, coarse.predict_change_proba([LEVELS])[0])


def make_switched(seed, regular):
    """Return values and states of a machine that is off and on four times."""
    rng = np.random.default_rng(seed)
    lengths = np.full(8, 60) if regular else rng.integers(40, 81, size=8)
    states = np.repeat(np.arange(8) % 2, lengths)
    return (5.0 * states + 0.5 * rng.normal(size=len(states)))[:, np.newaxis], states


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("regular", [True, False])
def test_on_and_off(regular, seed):
    X, states = make_switched(seed, regular)
    detector = fitted(X)
    assert detector.features_ is None
    assert detector.n_active_components_ == 2
    assert np.array_equal(detector.change_points_, np.flatnonzero(np.diff(states)) + 1)


@pytest.mark.parametrize("seed", [0, 1])
def test_known_states_of_on_and_off(seed):
    X, states = make_switched(seed, regular=True)
    y = np.full(len(X), -1)
    y[5:30], y[70:90] = 2, 0
    assert np.array_equal(fitted(X).fit(X, y).labels_, np.where(states == 0, 2, 0))


@pytest.mark.parametrize("n_steps", [500, 5000])
@pytest.mark.parametrize("kind", ["noise", "wave", "walk"])
def test_nothing_to_find(kind, n_steps):
    rng = np.random.default_rng(1)
    noise = rng.normal(size=n_steps)
    if kind == "wave":
        noise = np.sin(np.arange(n_steps) / 8) + 0.3 * noise
    elif kind == "walk":
        noise = np.diff(np.cumsum(noise), prepend=0.0)
    assert fitted(noise[:, np.newaxis]).n_active_components_ == 1


@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e6, -5.0)])
def test_no_unit(detector, scale, shift):
    assert np.array_equal(fitted(scale * WAVES + shift).labels_, detector.labels_)


def test_one_absurd_value():
    """It may have its own state, in the windows that contain it, but no other effect."""
    X = WAVES.copy()
    X[500] = 1e6
    changes = fitted(X).change_points_
    assert {np.argmin(np.abs(np.array([500, 1000, 2000]) - place)) for place in changes} >= {1, 2}
    assert all(np.abs(np.array([500, 1000, 2000]) - place).min() <= 80 for place in changes)


def test_gaps():
    X = WAVES.copy()
    X[400:700] = np.nan
    X[np.random.default_rng(3).integers(3000, size=100)] = np.nan
    found = fitted(X)
    assert abs(found.change_points_ - [1000, 2000]).max() <= found.features_.window_


@pytest.mark.parametrize("missing", [T % 2 == 0, T % 3 == 0, T % 3 > 0])
def test_regular_gaps(missing):
    """A recording, or one of its sensors, of which every second or third value is missing."""
    slow = np.where(missing, np.nan, np.random.default_rng(4).normal(size=3000))
    for X in (np.where(missing, np.nan, WAVES[:, 0]), np.column_stack([WAVES, slow])):
        found = fitted(X.reshape(3000, -1))
        assert found.features_ is not None
        assert found.n_active_components_ == 2
        assert abs(found.change_points_ - [1000, 2000]).max() <= found.features_.hop_


def test_too_few_values_for_windows():
    """ "auto" then takes values, and warns."""
    X = np.where((T % 7 == 0)[:, np.newaxis], WAVES, np.nan)
    with pytest.warns(UserWarning, match="seems to have waves, but too few values"):
        assert fitted(X).features_ is None
    with pytest.raises(ValueError, match="too many missing values"):
        fitted(X, features="windows")


def test_probabilities(detector):
    proba, changes = detector.predict_proba(WAVES), detector.predict_change_proba(WAVES)
    assert proba.shape == (3000, 20)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.array_equal(proba.argmax(axis=1), detector.labels_)
    assert changes.shape == (3000,)
    assert changes[0] == 0.0
    assert changes.min() >= 0.0
    assert changes.max() <= 1.0
    # Two changes, each somewhere among the windows around it.
    for place in (1000, 2000):
        assert changes[place - 120 : place + 120].sum() == pytest.approx(1.0, abs=0.05)
    assert changes.sum() == pytest.approx(2.0, abs=0.02)
    assert np.array_equal(detector.transform(WAVES), proba)


def test_changes_are_where_states_change(detector):
    """The states of steps change where the probability of a change is largest."""
    changes = detector.predict_change_proba(WAVES)
    assert sorted(np.argsort(changes)[-2:]) == detector.change_points_.tolist()


def test_several_sequences(detector):
    X = [WAVES[:1500], WAVES[1500:1510], WAVES[1500:]]
    found = fitted(X)
    assert [len(part) for part in found.labels_] == [1500, 10, 1500]
    assert [len(part) for part in found.change_points_] == [1, 0, 1]
    assert found.labels_[0][-1] == found.labels_[2][0]
    shares = found.transform(X)
    assert shares.shape == (3, 20)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    panel = SequencePanel.from_sequences(X)
    assert np.array_equal(
        np.concatenate(fitted(panel).predict(panel)), np.concatenate(found.labels_)
    )
    assert [part.shape for part in found.predict_change_proba(X)] == [(1500,), (10,), (1500,)]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(detector, library):
    X = pytest.importorskip(library).DataFrame({"x": WAVES[:, 0]})
    assert np.array_equal(fitted(X).labels_, detector.labels_)
    assert fitted(X).feature_names_in_.tolist() == ["x"]
    output = fitted(X).set_output(transform="pandas").transform(X)
    assert list(output.columns[:2]) == ["statedetector0", "statedetector1"]


def test_sequences_shorter_than_a_window(detector):
    """They hold no whole wave, so the prior decides: no state without training steps."""
    n_least = int(np.ceil(0.9 * detector.features_.window_))
    expected = detector.model_.predict_proba([np.full((1, 5), np.nan)])[0]
    for n in (1, 3, 20, 40, 60, n_least - 1):
        proba = detector.predict_proba([WAVES[:n], WAVES[1500 : 1500 + n]])
        np.testing.assert_allclose(proba, np.tile(expected, (2, n, 1)), rtol=1e-12)
        assert set(detector.predict(WAVES[1500 : 1500 + n])) <= set(detector.labels_)
    long = detector.predict([WAVES[200 : 200 + n_least], WAVES[1500 : 1500 + n_least]])
    assert long[0][0] != long[1][0]
    assert not np.allclose(detector.predict_proba(WAVES[:n_least])[0], expected[0])


def test_seeds_agree(detector):
    assert adjusted_rand_score(fitted(random_state=1).labels_, detector.labels_) > 0.9


def test_again(detector):
    same = fitted(max_iter=np.int64(30))
    assert np.array_equal(same.predict_proba(WAVES), detector.predict_proba(WAVES))
    copy = pickle.loads(pickle.dumps(detector))
    assert np.array_equal(copy.predict(WAVES), detector.labels_)


def test_convergence(detector):
    """The warnings of the fit name the attribute; it is that of the model."""
    with pytest.warns(ConvergenceWarning, match=r"See convergence_\['few_sweeps'\]"):
        found = fitted(LEVELS, max_iter=2)
    assert found.convergence_ is found.model_.convergence_
    assert "few_sweeps" in found.convergence_


@pytest.mark.parametrize(
    ("X", "y", "refused"),
    [
        (LEVELS, [200, 400], True),
        ([LEVELS[:200], LEVELS[200:]], [100, 100, 400], True),
        ([LEVELS[:200], LEVELS[200:]], [0, 1], False),
    ],
)
def test_lengths(X, y, refused):
    """Numbers of sequences in a list are classes, as the lists hold their own lengths."""
    detector = StateDetector(max_iter=20, random_state=0)
    if refused:
        with pytest.raises(ValueError, match="what look like the lengths of sequences"):
            detector.fit(X, y)
    else:
        assert len(detector.fit(X, y).labels_) == len(X)


def test_steps(detector):
    assert list(detector.criteria_) == [1]
    long = fitted(LEVELS, step="auto")
    assert list(long.criteria_) == [1, 2, 4]
    assert long.step_ == max(long.criteria_, key=long.criteria_.get)
    assert fitted(LEVELS, step=3).step_ == 3


def test_own_features():
    features = WindowFeatures(100, hop=25, features="spectrum")
    found = fitted(features=features)
    assert found.features_.window_ == 100
    assert not hasattr(features, "window_")
    assert abs(found.change_points_ - [1000, 2000]).max() <= 50
    search = GridSearchCV(
        StateDetector(features=features, max_iter=20, random_state=0),
        {"features__window": [60, 100]},
        scoring=lambda model, X, y=None: -len(model.change_points_[0]),
        cv=2,
    )
    search.fit([WAVES, WAVES])
    assert search.best_params_["features__window"] in (60, 100)


@pytest.mark.parametrize("n_steps", [1, 2, 3])
def test_few_steps(n_steps):
    found = fitted(WAVES[:n_steps])
    assert found.labels_.tolist() == [0] * n_steps
    assert len(found.change_points_) == 0


def test_constant():
    found = fitted(np.full((300, 1), 7.0))
    assert found.n_active_components_ == 1


def with_constants(X):
    """Return X between columns of zeros, and of sevens with gaps."""
    X = np.column_stack([np.zeros(len(X)), X, np.full(len(X), 7.0)])
    X[10:90, -1] = np.nan
    return X


@pytest.mark.parametrize(
    "features", ["auto", "values", "windows", WindowFeatures(100, random_state=0)]
)
@pytest.mark.parametrize("X", [WAVES, LEVELS])
def test_constant_columns_have_no_influence(X, features):
    """The result is the same to the last bit, also where the columns vary later."""
    expected, found = fitted(X, features=features), fitted(with_constants(X), features=features)
    n_columns = X.shape[1] + 2
    assert (found.features_ is None) == (expected.features_ is None)
    assert found.n_features_in_ == n_columns
    new = with_constants(X)
    new[50:, [0, -1]] = RNG.normal(size=(len(X) - 50, 2))
    assert np.array_equal(found.labels_, expected.labels_)
    for method in ("predict_proba", "predict_change_proba"):
        assert np.array_equal(getattr(found, method)(new), getattr(expected, method)(X))
    if found.features_ is None:
        assert found.memory_.tolist() == [0.0, *expected.memory_, 0.0]
    else:
        assert found.features_.n_features_in_ == n_columns


def test_memory_of_columns_that_vary():
    X, _ = make_drifting(0)
    expected, found = fitted(X, features="values"), fitted(with_constants(X), features="values")
    assert found.memory_.tolist() == [0.0, *expected.memory_, 0.0]
    assert found.memory_[2] > 0.8
    assert np.array_equal(found.predict_proba(with_constants(X)), expected.predict_proba(X))


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        ({"step": 0}, WAVES, "The 'step' parameter of StateDetector must be"),
        ({"features": "frequencies"}, WAVES, "The 'features' parameter of StateDetector must be"),
        ({"features": object()}, WAVES, "The 'features' parameter of StateDetector must be"),
        ({"features": "values", "step": 2}, HALF_SEEN, "step=2 leaves no observed value"),
        ({"features": WindowFeatures(4000)}, WAVES, "window=4000 exceeds the longest sequence"),
        ({}, WAVES * np.nan, "nothing but missing values"),
        ({}, WAVES * 1e170, r"numbers up to 1e\+120, because squares of larger ones overflow"),
        ({"features": "windows"}, WAVES * 1e170, r"numbers up to 1e\+120, because squares"),
        ({}, WAVES * [1.0, np.nan], "column 1 holds nothing but missing values"),
        ({}, WAVES + 1j, "Complex data not supported: X must hold real.*complex128.$"),
        ({}, WAVES[:, 0], "Expected 2D array, got 1D array"),
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_bad_input(params, X, message):
    estimator = StateDetector(**params)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)
    assert vars(estimator).keys() == estimator.get_params(deep=False).keys()


def test_other_width(detector):
    with pytest.raises(ValueError, match="2 features, but StateDetector is expecting 1"):
        detector.predict(np.ones((50, 2)))


def test_interrupt(monkeypatch):
    """An interrupted fit leaves the estimator as it was."""
    estimator = fitted(LEVELS)
    before = estimator.labels_
    monkeypatch.setattr(
        "skdp.sequence._state_detector.judge_states",
        lambda *args: (_ for _ in ()).throw(KeyboardInterrupt),
    )
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(WAVES)
    assert estimator.labels_ is before
    assert estimator.features_ is None


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
    assert all(
        len(usual_pairs) > sum(t - s == k for s, t in pairs) for k in range(1, 9) if k != usual
    )
    power = sum(residual[s] ** 2 for s, _ in usual_pairs)
    r = np.clip(sum(residual[s] * residual[t] for s, t in usual_pairs) / power, 0.0, 1.0)
    a = np.minimum(r ** (1 / usual), 0.999)
    assert a.min() > 0.1
    variances = np.nanvar(x, axis=0)
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
        covariance = (scatter + 4 * 0.05 * np.diag(variances)) / (len(errors) + 4)
        inverse = np.linalg.inv(covariance)
        for e in errors:
            expected -= 0.5 * (np.log(np.linalg.det(covariance)) + e @ inverse @ e)
    n_parameters = 2 * 2 + 2 + 2 * 3  # means, autocorrelations, covariances
    expected -= 0.7 * (n_parameters + 2) * np.log(16)  # changes at steps 2 and 6
    assert judge_states(x, ptr, z, 0.7) == pytest.approx(expected, rel=1e-12)
    memory = learn_memory(SequencePanel(x, ptr), z)
    is_clear = r > 2.0 / np.sqrt(len(usual_pairs))
    np.testing.assert_allclose(memory, np.where(is_clear, a, 0.0), rtol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_two_of_three_steps_are_missing(n_columns):
    """No two observed steps follow each other, and the states are found all the same."""
    rng = np.random.default_rng(0)
    states = np.repeat([0, 1, 2, 0, 2, 1], 300)
    X = 3.0 * states[:, None] + rng.normal(size=(1800, n_columns))
    X[np.arange(1800) % 3 > 0] = np.nan
    assert adjusted_rand_score(states, fitted(X).labels_) > 0.95


def test_memory_is_forgotten_by_its_definition():
    """After a gap, and at the beginning of a sequence, the value itself stands before."""
    x = np.random.default_rng(1).normal(size=(7, 2))
    x[2, 0] = np.nan
    a, ptr = np.array([0.5, 0.9]), np.array([0, 4, 7])
    expected = np.empty_like(x)
    for t in range(7):
        for d in range(2):
            has_before = t not in ptr and not np.isnan(x[t - 1, d])
            expected[t, d] = x[t, d] - a[d] * (x[t - 1, d] if has_before else x[t, d])
    np.testing.assert_allclose(forget(SequencePanel(x, ptr), a).values, expected, rtol=1e-14)


def make_drifting(seed):
    """Return two columns and their states: levels in noise, and a sensor that drifts."""
    rng = np.random.default_rng(seed)
    states = (np.arange(900) // 300) % 2
    drift = np.empty(900)
    drift[0] = 0.0
    for t in range(1, 900):
        drift[t] = 0.98 * drift[t - 1] + rng.normal()
    return np.column_stack([2.0 * states + rng.normal(size=900), drift]), states


@pytest.mark.parametrize("seed", range(3))
def test_drift_is_no_state(seed):
    """The states of values as they are follow the drift; without its memory, the levels.

    For each of eight seeds, the adjusted Rand index was at least .97.
    """
    X, states = make_drifting(seed)
    detector = fitted(X, features="values")
    assert detector.memory_[0] < 0.2
    assert 0.8 < detector.memory_[1] < 1.0
    assert adjusted_rand_score(states, detector.labels_) > 0.95
    assert np.array_equal(detector.predict(X), detector.labels_)
