"""In which order xdist gives files of tests to its processes.

Most of a first run goes into compiling, and models of one family share their kernels. A process
stays with a family, another process takes another one, so that they seldom compile the same at the
same time. What uses kernels of all families comes last, when they are in the cache."""

from collections import Counter
from collections.abc import Iterable

import pytest

FAMILIES = {
    "topics": "topics", "sequence": "sequence", "emissions": "sequence", "grammar": "grammar",
    "language": "language", "mixture": "mixture", "context": "context", "processes": "processes",
}  # fmt: skip


def family(file: str) -> str:
    """Return the family of a file of tests by its folders and name, "" if it has none."""
    words = file.removesuffix(".py").replace("/", "_").split("_")
    return next((FAMILIES[word] for word in words if word in FAMILIES), "")


def next_file(files: dict[str, int], mine: str, theirs: Iterable[str]) -> str:
    """Return the file that a process should take, of those that wait, each with its number of
    tests, in the order in which they would be given out. `mine` is the family of the file that the
    process did last, `theirs` are those of the others."""
    left: Counter[str] = Counter()
    for file, n_tests in files.items():
        left[family(file)] += n_tests
    nobodys = {name: n for name, n in left.items() if name and name not in theirs}
    if mine and mine in left:
        chosen = mine
    elif nobodys:
        chosen = max(nobodys, key=lambda name: nobodys[name])
    else:
        chosen = "" if "" in left else next(iter(left))
    return next(file for file in files if family(file) == chosen)


def make_scheduler(config: pytest.Config, log):
    """Return xdist's scheduler of whole files, which asks here which one is next."""
    from xdist.scheduler import LoadFileScheduling

    class ByFamily(LoadFileScheduling):
        _families: dict  # of the file that each process did last

        def _assign_work_unit(self, node):
            self._families = getattr(self, "_families", {})
            waiting = {file: len(tests) for file, tests in self.workqueue.items()}
            theirs = [name for other, name in self._families.items() if other is not node]
            file = next_file(waiting, self._families.get(node, ""), theirs)
            self._families[node] = family(file)
            self.workqueue.move_to_end(file, last=False)
            super()._assign_work_unit(node)

    return ByFamily(config, log)


def make_scheduler_in_order(config: pytest.Config, log):
    """Return xdist's scheduler of files and wrong patches, in the order in which they stand."""
    from xdist.scheduler import LoadScopeScheduling

    class InOrder(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return nodeid if "[" in nodeid and "/mutation/" in nodeid else nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return InOrder(config, log)
