"""A small wrong patch of the package, and the test that it must turn red."""

from typing import NamedTuple


class Mutation(NamedTuple):
    """Replace `old`, which occurs once in `file`, by `new`; then `test` must fail."""

    name: str
    file: str  # within the package
    old: str
    new: str
    why: str  # what goes wrong; the erratum, where it is one
    test: str
    exhaustive: bool | None = None  # whether the gate leaves it out; None: fifteen of sixteen
