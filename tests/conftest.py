"""Which tests run, the order of files, and which fits are too short on purpose."""

import signal
import time
from pathlib import Path

import pytest
from affected import Affected, changed_files
from budget import find_slow_instances, read_table
from passed import Deadline, Unpassed
from schedule import make_scheduler, make_scheduler_in_order

# A shell lets what it runs in the background ignore Ctrl-C, which some tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent

SHORT_ASCENTS = [
    HERE / place
    for place in (
        "common/test_backends.py",
        "common/test_refusals.py",
        "exact/grammar",
        "unit/grammar",
        "unit/inspection",
    )
]
"""Their tests need only a few iterations, so the warning is ignored."""


LONG_CHAINS = [HERE / place for place in ("common/test_docs.py", "statistical", "unit/inference")]
"""Warnings of short chains, which pyproject.toml ignores, are errors here: users copy the guide's
examples, and the others are about warnings or long chains."""


def pytest_addoption(parser):
    parser.addoption(
        "--all-instances",
        action="store_true",
        help="take instances of tests as fast ones that tests/budget.txt leaves out",
    )
    parser.addoption(
        "--affected",
        nargs="?",
        const="HEAD",
        metavar="REVISION",
        help="run only the tests that changes since REVISION (HEAD) affect",
    )
    parser.addoption(
        "--unpassed",
        action="store_true",
        help="run the slow tests that have not passed at their present content, and record those"
        " that pass in tests/passed.txt",
    )
    parser.addoption(
        "--seconds",
        type=float,
        help="begin no test later than this after the start, and print what is left",
    )


def pytest_configure(config):
    given = getattr(config, "workerinput", {})  # what the first process of xdist has found
    if (seconds := config.getoption("seconds")) is not None:
        config.deadline = Deadline(given.get("deadline", time.time() + seconds))
        config.pluginmanager.register(config.deadline, "deadline")
    if config.getoption("unpassed"):
        from mutation.mutations import EQUIVALENTS, MUTATIONS

        config.option.markexpr = "slow"
        patches = [*MUTATIONS, *EQUIVALENTS]
        config.unpassed = Unpassed(HERE.parent, patches, given.get("plan"), seconds is not None)
        config.pluginmanager.register(config.unpassed, "unpassed")
    if (revision := config.getoption("--affected")) is not None:
        root = HERE.parent
        config.changed = given.get("changed") or changed_files(root, revision)
        config.pluginmanager.register(Affected(root, config.changed), "affected")


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_configure_node(node):
    if hasattr(node.config, "changed"):
        node.workerinput["changed"] = sorted(node.config.changed)
    if hasattr(node.config, "unpassed"):
        node.workerinput["plan"] = node.config.unpassed.plan
    if hasattr(node.config, "deadline"):
        node.workerinput["deadline"] = node.config.deadline.time


def mark_slow_instances(config, items):
    """Mark the instances of tests for which the fast run has no time."""
    if config.getoption("--all-instances"):
        return
    fast = [item for item in items if item.get_closest_marker("slow") is None]
    slow = find_slow_instances([item.nodeid for item in fast], read_table())
    for item in fast:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)  # marks decide which tests --unpassed and -m take
def pytest_collection_modifyitems(config, items):
    mark_slow_instances(config, items)
    mark = pytest.mark.filterwarnings(
        "ignore:.*the lower bound has not converged:sklearn.exceptions.ConvergenceWarning"
    )
    short = {
        path: any(path.is_relative_to(place) for place in SHORT_ASCENTS)
        for path in {item.path for item in items}
    }
    for item in items:
        if any(item.path.is_relative_to(place) for place in LONG_CHAINS):
            item.add_marker(pytest.mark.filterwarnings("error"), append=False)
        if short[item.path]:
            item.add_marker(mark)


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_make_scheduler(config, log):
    if hasattr(config, "unpassed"):
        return make_scheduler_in_order(config, log)
    return make_scheduler(config, log) if config.getvalue("dist") == "loadfile" else None
