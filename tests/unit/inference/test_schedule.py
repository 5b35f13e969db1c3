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


def test_nothing_is_left_to_do():
    first = Schedule(10, 5, 1, 3)
    assert Schedule(10, 5, 1, 3, first.kept, first.stored, 10).kept == first.kept
    assert Schedule(8, 4, 1, 3, first.kept, first.stored, 10).stored == first.stored
