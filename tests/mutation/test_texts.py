"""Patches fit the package as it is: no run is needed to see that."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from mutation.mutations import EQUIVALENTS, MUTATIONS, NOT_SEEN, ROOMS
from passed import RECORD, Record

ROOT = Path(__file__).parents[2]


@cache
def names_in(path: Path) -> set[str]:
    """Return the functions of a module, and the methods of its classes as Class::method."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            names |= {f"{node.name}::{method.name}" for method in methods}
    return names


every_room = pytest.mark.parametrize("room", ROOMS)


@every_room
def test_patches_fit(room):
    """What they replace is there once, and what comes of it is a program."""
    for mutation in ROOMS[room]:
        assert mutation.old != mutation.new, mutation.name
        ast.parse(mutation.apply((ROOT / "skdp" / mutation.file).read_text()))


@every_room
def test_named_tests_exist(room):
    for mutation in ROOMS[room]:
        path, _, name = mutation.test.partition("::")
        assert name.split("[")[0] in names_in(ROOT / path), mutation.name


@every_room
def test_patches_are_in_the_file_of_their_room(room):
    for mutation in ROOMS[room]:
        folder, slash, _ = mutation.file.partition("/")
        assert room == (folder.lstrip("_") if slash else "package"), mutation.name


def test_names_are_unique():
    counts = Counter(mutation.name for mutation in [*MUTATIONS, *EQUIVALENTS])
    assert [name for name, n in counts.items() if n > 1] == []


def test_every_patch_has_been_seen():
    """A new or changed patch must run once: ``pytest --unpassed tests/mutation -k name``."""
    record = Record(ROOT / RECORD).read()
    never = {patch.name for patch in MUTATIONS if patch.unit not in record}
    assert never == {*NOT_SEEN}
