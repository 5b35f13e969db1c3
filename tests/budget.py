"""Which instances of a test the fast run takes, so that it stays within minutes.

``budget.txt`` has a line for each test function that is long or has many instances: the number of
instances that the fast run takes, evenly spread over all of them, and the name of the function. The
other instances are slow tests. Functions without a line run with all their instances.

To write the table again, measure all these tests on a quiet machine with compiled kernels::

    pytest -n 2 --dist loadfile --all-instances --durations=0 --durations-min=0 > durations.log
    python tests/budget.py durations.log
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

TABLE = Path(__file__).with_name("budget.txt")

SECONDS = 0.2
"""How long the instances of a function may take together, in the mean. There is at least one."""

LONGEST = 1.2
"""A function whose instances take longer, in the mean, has none in the fast run."""

CHEAP = 0.02
"""Functions whose instances take at most this, in the mean, take all of them."""

WHOLE = re.compile("test_scikit_learn|test_ragged|/test_battery.py")
"""Functions that take every third instance at least: checks of estimators."""


def read_table(path: Path = TABLE) -> dict[str, int]:
    """Return the number of instances in the fast run, by the name of the function."""
    rows = (line.split(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines())
    return {name: int(number) for number, name in rows}


def choose(n_instances: int, n_chosen: int) -> set[int]:
    """Return the positions of some instances, evenly spread, the first one among them."""
    n_chosen = min(n_instances, n_chosen)
    return {i * n_instances // n_chosen for i in range(n_chosen)}


def find_slow_instances(names: Iterable[str], table: dict[str, int]) -> set[str]:
    """Return the names of the instances that the fast run leaves out, of all names of tests, with
    their instance in brackets; see `read_table` for the table."""
    instances = defaultdict(list)
    for name in names:
        function = name.partition("[")[0]
        if function in table:
            instances[function].append(name)
    return {
        name
        for function, found in instances.items()
        for place, name in enumerate(found)
        if place not in choose(len(found), table[function])
    }


def make_table(durations: Iterable[str]) -> dict[str, int]:
    """Return a table from the lines of a log that pytest wrote with ``--durations=0``."""
    seconds: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for line in durations:
        found = re.match(r"\s*([\d.]+)s (?:call|setup|teardown) +(\S.*)", line)
        if found:
            name = found[2].strip()
            seconds[name.partition("[")[0]][name] += float(found[1])
    table = {}
    for function, instances in sorted(seconds.items()):
        mean = sum(instances.values()) / len(instances)
        n_chosen = max(1, int(SECONDS / max(mean, 1e-3))) if mean <= LONGEST else 0
        if mean <= CHEAP:
            continue
        if WHOLE.search(function):
            n_chosen = max(n_chosen, -(-len(instances) // 3))
        if n_chosen < len(instances):
            table[function] = n_chosen
    return table


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    rows = [f"{number:4d} {name}\n" for name, number in make_table(lines).items()]
    TABLE.write_text("".join(rows), encoding="utf-8")
