"""Known states of steps and windows of StateDetector: rules by their definition, and fits."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import accuracy_score

from skdp.preprocessing._windows._layout import WindowLayout
from skdp.sequence import HDPHMMLT, StateDetector
from skdp.sequence._detector._known import know_groups, know_windows, write_known

T = np.arange(3000)
TRUTH = ((T >= 1000) & (T < 2000)).astype(int)
RNG = np.random.default_rng(2)
WAVES = np.where(TRUTH == 1, np.sin(T / 6) ** 3, np.sin(T / 6)) + 0.1 * RNG.normal(size=3000)
WAVES = WAVES[:, np.newaxis]
LEVELS = RNG.normal(size=(600, 2)) + 4.0 * np.repeat([0, 1, 2, 0], 150)[:, np.newaxis]


def owners(layout):
    """Return the window of each step: that with the nearest center in its sequence."""
    found = []
    for s in range(len(layout.ptr) - 1):
        windows = np.arange(layout.ptr[s], layout.ptr[s + 1])
        centers = (layout.starts[windows] + layout.ends[windows] - 1) / 2
        for t in range(layout.step_ptr[s], layout.step_ptr[s + 1]):
            found.append(windows[len(windows) - 1 - np.argmin(np.abs(centers - t)[::-1])])
    return np.array(found)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 1.0])
@pytest.mark.parametrize(("width", "hop"), [(1, 1), (7, 3), (8, 4), (40, 20)])
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
        has_own = (known[own] >= 0).any()
        assert state == (states.pop() if has_own and len(states) == 1 else -1)
        places = own[known[own] >= 0]
        for t in own:
            if len(places) == 0:
                assert written[t] == labels[t]
            else:
                distances = np.abs(places - t)
                assert written[t] in known[places[distances == distances.min()]]
    for step in (1, 2, 4):
        rows = layout.thin(step)
        groups = know_groups(found, rows, layout.ptr)
        for k, row in enumerate(rows):
            end = rows[k + 1] if k + 1 < len(rows) else len(found)
            states = set(found[row:end]) - {-1}
            assert groups[k] == (states.pop() if len(states) == 1 else -1)


def test_known_states_keep_their_numbers():
    y = np.full(3000, -1)
    y[[200, 1500, 2500]] = 5, 2, 5
    detector = StateDetector(max_iter=30, random_state=0)
    found = detector.fit_predict(WAVES, y)
    assert accuracy_score(np.where(TRUTH == 1, 2, 5), found) > 0.95
    assert accuracy_score(detector.predict(WAVES), found) > 0.95


def test_known_states_of_equal_waves():
    """The user labels the same wave as two states: nearby windows follow each label."""
    y = np.full(3000, -1)
    y[[200, 1500, 2500]] = 5, 2, 3
    detector = StateDetector(max_iter=30, random_state=0)
    found = detector.fit_predict(WAVES, y)
    assert found[[200, 1500, 2500]].tolist() == [5, 2, 3]
    hop = detector.features_.hop_
    for step in (200, 2500):
        assert (found[step - hop // 2 : step + hop // 2] == y[step]).mean() > 0.5
    assert np.isin(found, [5, 2, 3]).all()
    assert_array_equal(np.flatnonzero(np.diff(found)) + 1, detector.change_points_)


def test_known_steps_in_windows_across_changes():
    y = np.full(3000, -1)
    y[990:1010] = TRUTH[990:1010]
    y[[200, 2500]] = 0
    found = StateDetector(max_iter=30, random_state=0).fit_predict(WAVES, y)
    assert_array_equal(found[990:1010], TRUTH[990:1010])


@pytest.mark.parametrize("kind", [list, "column", "list of arrays"])
def test_containers_of_known_states(kind):
    y = np.full(600, np.nan)
    y[[10, 160]] = 1, 7
    expected = StateDetector(max_iter=30, random_state=0).fit_predict(LEVELS, y)
    assert expected[[10, 160, 590]].tolist() == [1, 7, 1]
    if kind == "list of arrays":
        X, other = [LEVELS[:300], LEVELS[300:]], [y[:300], None]
        found = StateDetector(max_iter=30, random_state=0).fit_predict(X, other)
        assert found[0][[10, 160]].tolist() == [1, 7]
        assert found[1][-1] == 1  # the level of step 10
        return
    other = y[:, np.newaxis] if kind == "column" else [None if v != v else int(v) for v in y]
    assert_array_equal(
        StateDetector(max_iter=30, random_state=0).fit_predict(LEVELS, other), expected
    )


def test_values_are_those_of_the_model():
    y = np.full(600, -1)
    y[[10, 160]] = 1, 7
    detector = StateDetector(features="values", step=1, max_iter=30, random_state=0).fit(LEVELS, y)
    seed = detector.model_.random_state
    model = HDPHMMLT(20, stickiness=1e5, max_iter=30, random_state=seed).fit([LEVELS], [y])
    assert_array_equal(model.transmat_, detector.model_.transmat_)


def test_y_is_ignored_on_request():
    y = np.full(600, 3)
    expected = StateDetector(max_iter=30, random_state=0).fit_predict(LEVELS)
    found = StateDetector(use_y=False, max_iter=30, random_state=0).fit_predict(LEVELS, y)
    assert_array_equal(found, expected)
    both = [LEVELS[:300], LEVELS[300:]]
    by_class = StateDetector(max_iter=30, random_state=0).fit_predict(both, ["a", "b"])
    plain = StateDetector(max_iter=30, random_state=0).fit_predict(both)
    assert_array_equal(np.concatenate(by_class), np.concatenate(plain))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(599, -1), "y must hold"),
        (np.full(600, 20), "y"),
        (np.full(600, 0.5), "y"),
        (np.full(600, -2), "y"),
    ],
)
def test_bad_known_states(y, message):
    detector = StateDetector()
    with pytest.raises(ValueError, match=message):
        detector.fit(LEVELS, y)
    assert not hasattr(detector, "labels_")
