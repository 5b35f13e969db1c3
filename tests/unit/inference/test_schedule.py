"""Which sweeps are kept and stored."""

import pickle
import tracemalloc

import numpy as np
import pytest

from skdp.inference._chain import N_WATCHED, Schedule, SweepSet, evenly_spaced, watched_sweeps


def planned_sweeps(max_iter, burn_in, thin):
    """Return the sweeps that a chain keeps if it is not stopped."""
    schedule = Schedule(max_iter, burn_in, thin, 1)
    return sorted({*schedule.kept, schedule.last} - {None})


def test_first_after_burn_in_then_every_thin_th_and_always_the_last():
    assert planned_sweeps(10, 5, 2) == [6, 8, 10]
    assert planned_sweeps(11, 5, 2) == [6, 8, 10, 11]
    assert planned_sweeps(1, 0, 10) == [1]
    assert planned_sweeps(5, 7, 2) == []
    assert planned_sweeps(500, 250, 10)[:2] == [251, 261]
    assert planned_sweeps(500, 250, 10)[-2:] == [491, 500]


def test_a_set_of_sweeps():
    sweeps = SweepSet([4, 2], range(10, 20, 5))
    assert sweeps == {2, 4, 10, 15}
    assert (len(sweeps), sorted(sweeps)) == (4, [2, 4, 10, 15])
    assert 15 in sweeps
    assert 12 not in sweeps
    assert pickle.loads(pickle.dumps(sweeps)) == sweeps


@pytest.mark.parametrize("n_samples", [1, 20, 10**9])
@pytest.mark.parametrize("thin", [1, 10])
def test_a_billion_sweeps_take_no_memory(n_samples, thin):
    kept = range(501, 601, thin)
    tracemalloc.start()
    try:
        schedule = Schedule(10**9, 500, thin, n_samples, kept, kept[:1], 600)
        assert tracemalloc.get_traced_memory()[1] < 1e5
    finally:
        tracemalloc.stop()
    assert len(schedule.kept) == (10**9 - 500) // thin
    assert 591 in schedule.kept
    assert 10**9 - 9 in schedule.kept
    n_stored = n_samples if n_samples < 10**9 else len(schedule.kept) - len(kept) + 1
    assert len(schedule.stored) == n_stored - (schedule.last is not None and n_samples < 10**9)


def test_stored_sweeps_are_those_of_a_list():
    """Also of a plan that follows another, after any number of sweeps."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        first = Schedule(*rng.integers(1, (60, 40, 9, 30)).tolist())
        n_sweeps = int(rng.integers(1, 80))
        done = sorted(s for s in first.kept if s <= n_sweeps)
        stored = [s for s in done if s in first.stored]
        max_iter, burn_in, thin, n_samples = rng.integers(1, (90, 60, 9, 30)).tolist()
        plan = Schedule(max_iter, burn_in, thin, n_samples, done, stored, n_sweeps)
        ahead = [s for s in planned_sweeps(max_iter, burn_in, thin) if s > n_sweeps]
        if n_sweeps == plan.last:
            ahead = [n_sweeps]
        assert plan.kept == {*done, *ahead} - {plan.last}
        wanted = evenly_spaced([*done, *ahead], n_samples) if done or ahead else []
        assert {s for s in plan.stored if s > n_sweeps} == {*wanted} - {*done, plan.last}
        passed = [s for s in wanted if s not in ahead]
        nearest = {min(stored, key=lambda old: abs(old - s)) for s in passed if stored}
        assert {s for s in plan.stored if s <= n_sweeps} == nearest


def test_evenly_spaced_takes_both_ends():
    assert evenly_spaced(range(1, 12), 3) == [1, 6, 11]
    assert evenly_spaced([4, 5], 5) == [4, 5]
    assert evenly_spaced([4, 5, 6], 1) == [6]


def test_the_last_sweep_counts_as_long_as_it_is_the_last():
    first = Schedule(11, 5, 2, 5)
    assert (first.kept, first.last, first.stored) == ({6, 8, 10}, 11, {6, 8, 10})
    again = Schedule(11, 5, 2, 5, first.kept, first.stored, 11)
    assert (again.kept, again.last) == (first.kept, 11)
    longer = Schedule(13, 5, 2, 9, first.kept, first.stored, 11)
    assert (longer.kept, longer.last) == ({6, 8, 10, 12}, 13)
    on_grid = Schedule(12, 5, 2, 9, first.kept, first.stored, 11)
    assert (on_grid.kept, on_grid.last) == ({6, 8, 10, 12}, None)


def test_where_few_sweeps_are_kept_more_are_watched():
    assert Schedule(500, 250, 10, 5).watched == set()
    sparse = Schedule(200, 100, 10, 5)
    assert len(sparse.kept) == 10
    assert sorted(sparse.watched) == list(range(104, 201, 4))
    assert sorted(Schedule(40, 20, 10, 5).watched) == list(range(21, 41))
    assert Schedule(5, 7, 2, 3).watched == set()


def test_as_many_are_watched_as_there_are_or_24_to_48():
    for n in range(1, 1000):
        sweeps = watched_sweeps(n + 7, 7)
        step = max(n // N_WATCHED, 1)
        assert 7 < sweeps[0] <= 7 + step
        assert min(n, N_WATCHED) <= len(sweeps) <= 2 * N_WATCHED
        assert n + 7 - step < sweeps[-1] <= n + 7


def test_a_longer_plan_watches_some_of_what_was_watched():
    """Whatever the burn-in was, or is, so that a chain that goes on is judged as a straight one."""
    for first, second in [((100, 50), (150, 50)), ((100, 50), (300, 150)), ((60, 11), (500, 13))]:
        before, after = set(watched_sweeps(*first)), set(watched_sweeps(*second))
        assert {s for s in after if first[1] < s <= first[0]} <= before


def test_no_sweep_is_watched_without_being_kept_where_nothing_is():
    assert Schedule(40, 20, 10, 5).without_keeping().watched == set()


def test_those_that_were_kept_before_count():
    """A longer plan may keep enough."""
    first = Schedule(40, 20, 1, 5)
    assert first.watched
    assert Schedule(60, 30, 1, 5, first.kept, first.stored, 40).watched == set()
