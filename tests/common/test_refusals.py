"""Mistakes are named by messages that say what is wrong and what to do (tests/refusals)."""

import sys

import pytest
import refusals


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("room", "row"),
    [
        pytest.param(room, row, id=f"{room}-{row.call[:60]}")
        for room, path in refusals.TABLES.items()
        for row in refusals.parse(path.read_text(encoding="utf-8"))
    ],
)
def test_refusals(room, row):
    if plt := sys.modules.get("matplotlib.pyplot"):
        plt.close("all")  # of other tests
    refusals.check(row, room)
    if plt := sys.modules.get("matplotlib.pyplot"):
        figures = plt.get_fignums()
        plt.close("all")
        assert row.error == "fine" or not figures  # a plot that is refused opens none


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("f()\n    a.b...c", refusals.Row("f()", "ValueError", r"a\.b.*c")),
        ("f() -> ~ a.b$", refusals.Row("f()", "ValueError", "a.b$")),
        ("f() -> IndexError", refusals.Row("f()", "IndexError", "")),
        ("f(1,\n        2)\n    fine", refusals.Row("f(1, 2)", "fine")),
        ("f(1,\n        2) -> KeyError: a", refusals.Row("f(1, 2)", "KeyError", "a")),
        ("f(lambda x: 1) -> fine", refusals.Row("f(lambda x: 1)", "fine")),
        ("f() -> UserWarning: a", refusals.Row("f()", "UserWarning", "a")),
        ("# one\n\nf()\n    KeyError ~ a.b", refusals.Row("f()", "KeyError", "a.b")),
    ],
)
def test_parsing(table, expected):
    assert refusals.parse(table) == [expected]


def test_parsing_of_several_calls():
    table = "f($, b=2) for $ in 1 |\n        a\n    KeyError: c $"
    assert refusals.parse(table) == [
        refusals.Row(f"f({value}, b=2)", "KeyError", rf"c\ {value}") for value in ("1", "a")
    ]
