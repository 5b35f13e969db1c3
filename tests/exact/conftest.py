"""Slow tests that the gate leaves out: further problems, and every second of those that are left.

What is slow twice over, a further sampler on a further problem, and half of the others, by the
name. A test that a wrong patch must turn red is never left out.
"""

import zlib
from pathlib import Path

import pytest
from mutation.mutations import EQUIVALENTS, MUTATIONS

HERE = Path(__file__).parent
NAMES = ("context", "language", "mixture", "sequence", "topics")
FAMILIES = [HERE / name for name in NAMES]


def pytest_collection_modifyitems(items):
    needed = {mutation.test for mutation in [*MUTATIONS, *EQUIVALENTS]}
    for item in items:
        n_marks = len(list(item.iter_markers("slow")))
        is_among = any(item.path.is_relative_to(family) for family in FAMILIES)
        is_needed = item.nodeid in needed or item.nodeid.partition("[")[0] in needed
        if is_among and not is_needed and n_marks + zlib.crc32(item.name.encode()) % 2 > 1:
            item.add_marker(pytest.mark.exhaustive)
