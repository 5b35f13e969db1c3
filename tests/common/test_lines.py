"""Budgets of lines."""

from pathlib import Path

import pytest
from lines import count_lines, find_faults, lower, measure, read_budgets

PROGRAM = '''"""A module.

Two lines more.
"""

# A comment.
A = (
    1
)


def f():
    """Return nothing."""  # free
    return """a
    text"""
'''
FOUND = {"data": [40, 9], "topics": [101, 30], "all": [141, 39], "files": [7], "tests": [420]}
BUDGETS = {"data": [50, 50], "topics": [150, 50], "all": [200, 100], "files": [7], "tests": [450]}


def test_rooms_keep_their_budgets():
    root = Path(__file__).parents[2]
    assert find_faults(measure(root), read_budgets(root)) == []


def test_count_lines():
    assert count_lines(PROGRAM) == (3 + 3, 4 + 1)


@pytest.mark.parametrize(
    ("room", "budget", "fault"),
    [
        ("data", [50, 0], "data has 9, but a budget of 0: make it smaller"),
        ("topics", [250, 50], "topics has only 101 of 250: python tests/lines.py --write"),
        ("files", [6], "files has 7, but a budget of 6: make it smaller"),
        ("gone", [0, 0], "gone is in only one of package and budgets"),
        ("all", [199, 100], "all rooms together get 200, more than 199"),
    ],
)
def test_faults(room, budget, fault):
    assert find_faults(FOUND, BUDGETS) == []
    assert fault in find_faults(FOUND, BUDGETS | {room: budget})


def test_budgets_are_only_lowered():
    assert lower(FOUND, BUDGETS) == BUDGETS
    assert lower(FOUND, BUDGETS | {"topics": [950, 50], "all": [1050, 100]}) == BUDGETS
    assert lower(FOUND, BUDGETS | {"topics": [100, 0]})["topics"] == [100, 0]
