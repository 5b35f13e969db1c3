"""Which sweeps are kept and stored."""

from skdp.inference import Schedule
from skdp.inference._schedule import N_WATCHED, evenly_spaced, planned_sweeps, watched_sweeps


def test_first_after_burn_in_then_every_thin_th_and_always_the_last():
    assert planned_sweeps(10, 5, 2) == [6, 8, 10]
    assert planned_sweeps(11, 5, 2) == [6, 8, 10, 11]
    assert planned_sweeps(1, 0, 10) == [1]
    assert planned_sweeps(500, 250, 10)[:2] == [251, 261]
    assert planned_sweeps(500, 250, 10)[-2:] == [491, 500]


def test_evenly_spaced_takes_both_ends():
    assert evenly_spaced(range(1, 12), 3) == [1, 6, 11]
    assert evenly_spaced([4, 5], 5) == [4, 5]
    assert evenly_spaced([4, 5, 6], 1) == [6]


def test_a_resumed_chain_has_the_plan_of_a_straight_one():
    straight = Schedule(100, 50, 7, 4)
    done = [sweep for sweep in sorted(straight.kept) if sweep <= 75]
    stored = [sweep for sweep in done if sweep in straight.stored]
    resumed = Schedule(100, 50, 7, 4, done, stored, 75)
    assert resumed.kept == straight.kept
    assert resumed.stored == straight.stored


def test_a_longer_plan_keeps_what_was_kept():
    first = Schedule(10, 5, 1, 3)
    assert first.stored == {6, 8, 10}
    longer = Schedule(20, 10, 1, 3, first.kept, first.stored, 10)
    assert longer.kept == set(range(6, 21))
    assert longer.stored == {6, 13, 20}
    assert Schedule(12, 10, 1, 5, first.kept, first.stored, 10).stored == {6, 8, 10, 12}


def test_the_last_sweep_counts_as_long_as_it_is_the_last():
    first = Schedule(11, 5, 2, 5)
    assert (first.kept, first.last, first.stored) == ({6, 8, 10}, 11, {6, 8, 10})
    again = Schedule(11, 5, 2, 5, first.kept, first.stored, 11)
    assert (again.kept, again.last) == (first.kept, 11)
    longer = Schedule(13, 5, 2, 9, first.kept, first.stored, 11)
    assert (longer.kept, longer.last) == ({6, 8, 10, 12}, 13)
    on_grid = Schedule(12, 5, 2, 9, first.kept, first.stored, 11)
    assert (on_grid.kept, on_grid.last) == ({6, 8, 10, 12}, None)


def test_nothing_is_kept_in_the_burn_in():
    first = Schedule(5, 7, 2, 3)
    assert (first.kept, first.stored, first.last) == (set(), set(), None)
    assert planned_sweeps(5, 7, 2) == []


def test_nothing_is_left_to_do():
    first = Schedule(10, 5, 1, 3)
    assert Schedule(10, 5, 1, 3, first.kept, first.stored, 10).kept == first.kept
    assert Schedule(8, 4, 1, 3, first.kept, first.stored, 10).stored == first.stored


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
