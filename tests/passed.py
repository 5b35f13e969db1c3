"""Which slow tests have passed at their present content: ``pytest --unpassed``.

``passed.txt`` has a line for each file with slow tests and for each wrong patch: its name, a hash
of its content when its tests last passed, and their seconds. The content of a file consists of the
versions of the compiler, its text, and that of all files that it uses (``affected.py``), without
comments and docstrings; that of a patch, of the function that it changes and the files of its test.
A line is added as soon as the last test has passed, so a run may be stopped at any time. After a
merge there may be several lines with one name; any of them counts."""

import ast
import hashlib
import os
import re
import subprocess
import textwrap
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest
from affected import ANY, READ_ALL_SOURCES, ImportGraph

RECORD = "tests/passed.txt"
PATCHES = "tests/mutation/test_mutations.py"

UNKNOWN_COST = 60.0
"""Seconds assumed for a file that has not passed yet."""


def normalize(text: str) -> str:
    """Return a program without comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):  # docstrings, also those of constants
            node.body = [part for part in body if not _is_text(part)]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def find_definition(text: str, place: int) -> str:
    """Return the function or statement around a place in a program, else all of it."""
    line, body = text.count("\n", 0, place) + 1, ast.parse(text).body
    while True:
        node = next((node for node in body if node.lineno <= line <= node.end_lineno), None)
        if node is None:
            return text
        if not isinstance(node, ast.ClassDef):
            return "\n".join(text.split("\n")[node.lineno - 1 : node.end_lineno])
        body = node.body


class Contents:
    """Hashes of what the tests of a project depend on; `root` is its folder, a clone."""

    def __init__(self, root: Path):
        self._root, self._graph = root, ImportGraph(root)
        command = ["git", "ls-files", "-co", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        self._files = [name for name in listed.stdout.splitlines() if (root / name).is_file()]
        self._named = defaultdict(set)  # other files, by the names that tests may give them
        for name in self._files:
            if not name.startswith(("skdp/", "tests/")):
                for key in {Path(name).parts[0], Path(name).name}:
                    self._named[key].add(name)
        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        versions = [version(name).rsplit(".", 1)[0] for name in ("numba", "numpy", "scikit-learn")]
        self._common = repr([versions, settings["tool"]["pytest"]])
        self._digest = cache(self._digest)  # type: ignore[method-assign]

    def _digest(self, name: str) -> str:
        """Return a hash of a file, for a program without its comments."""
        data = (self._root / name).read_bytes()
        if name.endswith(".py") and name.startswith(("skdp/", "tests/")):
            data = normalize(data.decode()).encode()
        return hashlib.sha256(data).hexdigest()

    def _combine(self, names: Iterable[str], *more: str) -> str:
        parts = [f"{name} {self._digest(name)}" for name in sorted(names)]
        return hashlib.sha256("\n".join([self._common, *more, *parts]).encode()).hexdigest()[:12]

    def _uses(self, test: str) -> set[str]:
        folders = [folder for folder in Path(test).parents if len(folder.parts) > 1]
        setups = {(folder / "conftest.py").as_posix() for folder in folders}
        return {*self._graph.uses(test), *(setups & {*self._files})}

    def of_file(self, test: str) -> str:
        """Return the hash of a file of tests."""
        text = (self._root / test).read_text(encoding="utf-8")
        if test in READ_ALL_SOURCES:
            sources = [self._root / name for name in self._files if name != RECORD]
            raw = [source.read_bytes().decode("utf-8", "replace") for source in sources]
            return self._combine([], *raw)
        names = self._uses(test)
        if ANY.search(text):
            names |= {name for name in self._files if name.startswith("skdp/")}
        words = set(re.findall(r"[\"'/]([\w.-]+)", text)) & {*self._named}
        return self._combine(names.union(*(self._named[word] for word in words)))

    def of_patch(self, patch) -> str:
        """Return the hash of a wrong patch: the code that it changes and the files of its test."""
        text = (self._root / "skdp" / patch.file).read_text(encoding="utf-8")
        around = find_definition(text, text.index(patch.old))
        names = {name for name in self._uses(patch.test.partition("::")[0]) if "tests/" in name}
        return self._combine(names, patch.unit + patch.test, normalize(textwrap.dedent(around)))


class Record:
    """The lines of ``passed.txt``."""

    def __init__(self, path: Path):
        self._path = path

    def read(self) -> dict[str, dict[str, float]]:
        """Return the seconds of the tests of each unit, by the hashes at which they passed."""
        found: dict[str, dict[str, float]] = defaultdict(dict)
        text = self._path.read_text(encoding="utf-8") if self._path.exists() else ""
        for line in text.splitlines():
            unit, digest, seconds = line.split()
            found[unit][digest] = float(seconds)
        return found

    def replace(self, unit: str, digest: str, seconds: float, units: Iterable[str]) -> None:
        """Replace the lines of a unit by another one, and remove those of units that are gone."""
        found = {**self.read(), unit: {digest: seconds}}
        lines = [
            f"{unit} {digest} {seconds:.0f}\n"
            for unit in sorted({*found} & {*units})
            for digest, seconds in sorted(found[unit].items())
        ]
        beside = self._path.with_suffix(f".{os.getpid()}.tmp")
        beside.write_text("".join(lines), encoding="utf-8")
        beside.replace(self._path)


def touched_files(root: Path, n_commits: int = 10) -> set[str]:
    """Return the files that the last commits or the work tree have changed."""
    commands = [
        ["git", "log", f"-{n_commits}", "--name-only", "--format="],
        ["git", "diff", "--name-only", "HEAD"],
    ]
    runs = [subprocess.run(each, cwd=root, capture_output=True, text=True) for each in commands]
    return {name for run in runs for name in run.stdout.splitlines()}


class Deadline:
    """A plugin that begins no test after some time, in seconds since the epoch, and prints what it
    has left."""

    def __init__(self, time: float):
        self.time = time
        self._collected: set[str] = set()
        self._finished: set[str] = set()

    def pytest_collection_finish(self, session):
        self._collected.update(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self._collected.update(ids)

    def pytest_runtest_protocol(self):
        return True if time.time() > self.time else None

    def pytest_runtest_logreport(self, report):
        self._finished.add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter):
        left = Counter(
            name if name.startswith(PATCHES) else name.partition("::")[0]
            for name in self._collected - self._finished
        )
        for name, n_tests in sorted(left.items()):
            terminalreporter.write_line(f"no time for {name}: {n_tests} left")


class Unpassed:
    """A plugin that runs the slow tests that have not passed at their present content. `plan` is
    that of the process that started this one, if it is not the first; if `limited` there may not be
    time for all."""

    def __init__(self, root: Path, patches: Iterable, plan: dict | None, limited: bool):
        self._root, self._record = root, Record(root / RECORD)
        self.plan = plan or self._make_plan({patch.unit: patch for patch in patches}, limited)
        self._files: set[str] = set()
        self._n_passed: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self._failed: set[str] = set()

    def _make_plan(self, patches: dict, limited: bool) -> dict:
        """Return the hashes of all units, and the places of those that have not passed."""
        contents, record = Contents(self._root), self._record.read()
        files = [path.relative_to(self._root) for path in (self._root / "tests").rglob("test_*.py")]
        names = {file.as_posix() for file in files} - {PATCHES}
        hashes = {name: contents.of_file(name) for name in names}
        hashes |= {unit: contents.of_patch(patch) for unit, patch in patches.items()}
        touched = touched_files(self._root)

        def rank(unit: str) -> tuple:
            patch = patches.get(unit)
            files = [f"skdp/{patch.file}", patch.test.partition("::")[0]] if patch else [unit]
            cost = max(record[unit].values(), default=UNKNOWN_COST)
            # If there is time for all, the longest come first, so that no process waits at the end.
            if not limited:
                return -cost, unit
            return patch is not None, touched.isdisjoint(files), cost, unit

        waiting = sorted((unit for unit in hashes if hashes[unit] not in record[unit]), key=rank)
        return {"hashes": hashes, "places": {unit: place for place, unit in enumerate(waiting)}}

    def pytest_ignore_collect(self, collection_path):
        """Do not even import files that have passed."""
        file = collection_path.relative_to(self._root).as_posix()
        is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
        return True if is_test and file not in {PATCHES, *self.plan["places"]} else None

    def pytest_collection_modifyitems(self, config, items):
        """Tell each test how many tests its unit has, before other options leave some out."""
        units, places = {item: self._unit_of(item) for item in items}, self.plan["places"]
        counts = Counter(units.values())
        waiting = [item for item in items if units[item] in places]
        waiting.sort(key=lambda item: places[units[item]])
        for item in waiting:
            item.user_properties.append(("unit", [units[item], counts[units[item]]]))
        config.hook.pytest_deselected(items=[item for item in items if item not in {*waiting}])
        items[:] = waiting

    def _unit_of(self, item: pytest.Item) -> str:
        """Return what a slow test belongs to: its file or its wrong patch."""
        if not item.get_closest_marker("slow"):
            return ""
        patch = getattr(item, "callspec", None) and item.callspec.params.get("mutation")
        return patch.unit if patch else item.path.relative_to(self._root).as_posix()

    def pytest_collection_finish(self, session):
        self._files.update(item.nodeid.partition("::")[0] for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self._files.update(name.partition("::")[0] for name in ids)

    def pytest_runtest_logreport(self, report):
        """Add a line when the last test of a unit has passed."""
        unit, n_tests = dict(report.user_properties).get("unit", ("", 0))
        if not unit:
            return
        self._seconds[unit] += report.duration
        is_unseen = report.skipped and unit.startswith("patch:")
        if report.failed or is_unseen or "could not import" in str(report.longrepr):
            self._failed.add(unit)
        if report.when == "teardown" and unit not in self._failed:
            self._n_passed[unit] += 1
            if self._n_passed[unit] == n_tests:
                hashes = self.plan["hashes"]
                self._record.replace(unit, hashes[unit], self._seconds[unit], hashes)

    def pytest_terminal_summary(self, terminalreporter):
        record, hashes = self._record.read(), self.plan["hashes"]
        patches = {unit for unit in hashes if unit.startswith("patch:")}
        files = ({*record} | self._files) & {*hashes} - patches
        for kind, units in {"slow files": files, "patches": patches}.items():
            n_passed = sum(hashes[unit] in record[unit] for unit in units)
            share = f"{n_passed} of {len(units)} {kind} ({n_passed / max(1, len(units)):.1%})"
            terminalreporter.write_line(f"{share} have passed at their present content")
