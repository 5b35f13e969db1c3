"""Which sweeps are kept and stored."""

from skdp.inference import Schedule
from skdp.inference._schedule import evenly_spaced, planned_sweeps


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
