"""A small wrong patch of the package, and the test that it must turn red."""

import zlib
from typing import NamedTuple


class Mutation(NamedTuple):
    """Replace `old`, which occurs once in `file`, by `new`; then `test` must fail."""

    name: str
    file: str  # within the package
    old: str
    new: str
    why: str  # what goes wrong; the erratum, where it is one
    test: str

    @property
    def unit(self) -> str:
        """The name of its line in ``passed.txt``.

        It has a hash of the patch, so that a patch that is changed has to be run again.
        """
        digest = zlib.crc32("\n".join([self.file, self.old, self.new, self.test]).encode())
        return f"patch:{self.name}:{digest:08x}"

    def apply(self, text: str) -> str:
        """Return the text of the file with the patch."""
        assert text.count(self.old) == 1, f"{self.old!r}: {text.count(self.old)} times"
        return text.replace(self.old, self.new)
