"""Which instances of tests the fast run takes."""

import ast
from functools import cache
from pathlib import Path

import pytest
from budget import choose, find_slow_instances, make_table, read_table

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("n_instances", "n_chosen", "expected"),
    [(6, 2, {0, 3}), (5, 2, {0, 2}), (3, 3, {0, 1, 2}), (2, 9, {0, 1}), (4, 1, {0}), (4, 0, set())],
)
def test_instances_are_spread(n_instances, n_chosen, expected):
    assert choose(n_instances, n_chosen) == expected


def test_what_is_left_out():
    names = ["a.py::one[x]", "a.py::one[y-[z]]", "a.py::two", "a.py::three[x]", "a.py::three[y]"]
    slow = find_slow_instances(names, {"a.py::one": 1, "a.py::two": 0, "b.py::gone": 1})
    assert slow == {"a.py::one[y-[z]]", "a.py::two"}


def test_a_table_of_a_log(tmp_path):
    log = """
    slowest durations
    9.00s call     a.py::long
    0.04s setup    a.py::many[x]
    0.02s call     a.py::many[x]
    0.08s call     a.py::many[y - z]
    0.12s call     a.py::many[w]
    0.01s call     a.py::short[x]
    1.50s call     a.py::test_ragged[a]
    1.50s call     a.py::test_ragged[b]
    1.50s call     a.py::test_ragged[c]
    1.50s call     a.py::test_ragged[d]
    """
    table = make_table(log.splitlines())
    assert table == {"a.py::long": 0, "a.py::many": 2, "a.py::test_ragged": 2}
    path = tmp_path / "table.txt"
    path.write_text("   0 a.py::long\n  12 a.py::many\n")
    assert read_table(path) == {"a.py::long": 0, "a.py::many": 12}


@cache
def names_in(file):
    """Return the functions of a module, and the methods of its classes as Class::method."""
    names = set()
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            names |= {f"{node.name}::{method.name}" for method in methods}
    return names


def test_no_row_is_out_of_date():
    for row in read_table():
        file, _, name = row.partition("::")
        assert name in names_in(file), row
