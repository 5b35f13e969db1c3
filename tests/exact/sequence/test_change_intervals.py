"""Tables of the changes of states: intervals and probabilities against all paths of few steps."""

import numpy as np
import pytest
from exact.oracles.hmm import changes, enumerate_states, posterior, quiet
from numpy.testing import assert_allclose

from skdp.sequence import HDPHMMLT, PoissonDuration, StateDetector

RNG = np.random.default_rng(0)
TRAIN = np.repeat([0.0, 3.0, 6.0, 0.0], 30)[:, np.newaxis] + RNG.normal(size=(120, 1))
SHORT = np.array([0.3, 2.0, 4.0, 6.5, 7.0, 5.0, -2.0, -1.0])[:, np.newaxis]


def shortest(p, change, begin, end):
    """Return the least length of a range about a change with 90 % of the changes near it."""
    wanted = 0.9 * min(p[begin:end].sum(), 1.0)
    ranges = [(a, b) for a in range(begin, change + 1) for b in range(change, end)]
    return min(b - a for a, b in ranges if p[a : b + 1].sum() >= wanted - 1e-12)


def check(table, models, power, labels):
    """Compare a table of `SHORT` with enumerations under all models."""
    found = []
    for own in models:
        known = own.startprob, own.transmat, power * own.emission.log_obs(SHORT)
        pmf = None if own.duration is None else np.exp(own.duration.tables()[0])
        found.append(enumerate_states(*known, pmf)[1])
    unions = labels[:, np.newaxis] == np.arange(len(labels))
    states = (np.mean([posterior(each, len(labels)) for each in found], axis=0) @ unions).argmax(1)
    places = np.flatnonzero(np.diff(states)) + 1
    assert table.positions.tolist() == places.tolist()
    assert len(places) > 1
    renamed = [{} for _ in found]
    for own, each in zip(renamed, found, strict=True):
        for path, p in each.items():
            own[tuple(labels[list(path)])] = own.get(tuple(labels[list(path)]), 0.0) + p
    p = np.mean([changes(each) for each in renamed], axis=0)
    borders = [1, *((places[1:] + places[:-1] + 1) // 2), len(SHORT)]
    for k, row in enumerate(table):
        first, last = row.interval
        assert first <= row.position <= last
        assert last - first == shortest(p, row.position, *borders[k : k + 2])
        expected = 1.0 - np.mean([quiet(each, first, last) for each in renamed])
        assert row.probability == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("labels", [[0, 1, 2], [0, 1, 1]], ids=["plain", "a union"])
def test_states(labels):
    model = HDPHMMLT(3, max_iter=60, n_samples=3, merge_overlapping=False, random_state=0)
    model.fit(TRAIN).component_labels_ = np.array(labels)
    check(model.change_intervals(SHORT), model.samples_, 1.0, np.array(labels))


def test_durations():
    model = HDPHMMLT(3, duration=PoissonDuration(6), max_iter=30, n_samples=3, random_state=0)
    levels = np.tile(np.repeat([0.0, 6.0, 3.0], 4), 10)[:, np.newaxis]
    model.fit(levels + RNG.normal(size=(120, 1)))
    check(model.change_intervals(SHORT), model.samples_, 1.0, np.arange(3))


def test_detector_with_a_part_of_the_evidence():
    model = StateDetector(3, step=1, stickiness=1.0, max_iter=60, random_state=0).fit(TRAIN)
    assert not model.memory_.any()
    model._noise[:] = np.inf
    check(model.change_intervals(SHORT), model.model_.samples_, 0.25, np.arange(3))


def test_sizes():
    """The difference of the means of normal states, with the standard error of both."""
    model = HDPHMMLT(3, max_iter=60, n_samples=3, random_state=0).fit(TRAIN)
    row = model.change_intervals(TRAIN)[0]
    means, shares = [own.emission.means for own in model.samples_], model.state_shares_
    old, new = model.predict(TRAIN)[[row.position - 1, row.position]]
    assert_allclose(row.size, np.mean([own[new] - own[old] for own in means], axis=0))
    error = np.sqrt(1.0 / (120 * shares[old]) + 1.0 / (120 * shares[new]))
    assert_allclose(row.size_interval - row.size, [[-1.645 * error], [1.645 * error]], rtol=0.2)
