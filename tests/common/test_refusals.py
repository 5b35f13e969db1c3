"""Mistakes are named by messages that say what is wrong and what to do (tests/refusals)."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
import refusals

FOLDER = Path(refusals.__file__).parent
MODULES = {
    path.stem: import_module(f"refusals.{path.stem}")
    for path in sorted(FOLDER.glob("*.py"))
    if path.stem not in ("__init__", "samples")
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("room", "row"),
    [
        pytest.param(room, row, id=f"{room}-{row.call[:60]}")
        for room, module in MODULES.items()
        for row in refusals.parse(module.TABLE)
    ],
)
def test_refusals(room, row):
    if plt := sys.modules.get("matplotlib.pyplot"):
        plt.close("all")  # of other tests
    refusals.check(row, MODULES[room])
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
