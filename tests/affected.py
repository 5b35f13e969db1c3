"""The tests that an edit affects: ``pytest --affected`` or ``pytest --affected=REVISION``.

A file of tests is affected if it has changed, if a module, a ``conftest.py`` or another file that
it uses has, or if it names a changed file of another kind, such as a page. It uses what it imports,
what the programs in its strings import, and what it globs, over any number of steps. A name that a
package re-exports stands for the module that defines it, so an edit of one model does not affect
the tests of others.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

EVERYTHING = {"pyproject.toml", "tests/affected.py", "tests/conftest.py", "tests/schedule.py"}
READ_ALL_SOURCES = {
    "tests/common/test_docs.py",
    "tests/common/test_layers.py",
    "tests/common/test_lines.py",
    "tests/mutation/test_texts.py",
}

FROM = re.compile(r"\bfrom ([\w.]+) import (\([^)]*\)|[^\n;#\"]*)")
DOTTED = re.compile(r"\b(skdp(?:\.\w+)+)")
ANY = re.compile(r"skdp\.\{|getattr\(skdp|skdp\.__path__")
"""Names of modules that are made when the test runs: it may use all of them."""
SCRIPT = re.compile(r"[\"'](\w+\.py)[\"']")
GLOB = re.compile(r"\bglob\(\"(\*\.\w+)\"\)")


def changed_files(root: Path, revision: str) -> set[str]:
    """Return the files that differ from a revision and the files that git does not track.

    Raises
    ------
    pytest.UsageError
        If there is no git, no repository or no such revision.
    """
    found: set[str] = set()
    for command in (
        ["diff", "--name-only", "--no-renames", "--relative", "-z", revision, "--"],
        ["ls-files", "--others", "--exclude-standard", "-z"],
    ):
        try:
            done = subprocess.run(["git", *command], cwd=root, capture_output=True, text=True)
        except FileNotFoundError:
            raise pytest.UsageError("--affected needs git, which is not installed.") from None
        if done.returncode:
            hint = "Write --affected=HEAD before the names of files."
            raise pytest.UsageError(f"--affected={revision}: {done.stderr.strip()} {hint}")
        found.update(done.stdout.split("\0"))
    if "pyproject.toml" in found and _settings(root, revision) == _settings(root):
        found = found - {"pyproject.toml"} | {"tests/lines.py"}
    return found - {""}


def _settings(root: Path, revision: str | None = None) -> dict:
    """Return what ``pyproject.toml`` says, or said, without the budgets of lines."""
    if revision is None:
        text = (root / "pyproject.toml").read_text(encoding="utf-8")
    else:
        command = ["git", "show", f"{revision}:./pyproject.toml"]
        text = subprocess.run(command, cwd=root, capture_output=True, text=True).stdout
    settings = tomllib.loads(text)
    settings.get("tool", {}).pop("skdp", None)
    return settings


class ImportGraph:
    """Which files of a project each of its files uses.

    Parameters
    ----------
    root : Path
        The folder of the project. Modules are imported from it and from its folder ``tests``.
    """

    def __init__(self, root: Path):
        self._root = root
        self._files: dict[str, str] = {}  # by the name of the module
        for base in (root / "tests", root):
            for path in (base if base != root else root / "skdp").rglob("*.py"):
                parts = list(path.relative_to(base).with_suffix("").parts)
                name = ".".join(part for part in parts if part != "__init__")
                self._files[name] = path.relative_to(root).as_posix()
        self.uses = cache(self.uses)  # type: ignore[method-assign]
        self._used_by = cache(self._used_by)  # type: ignore[method-assign]
        self._exports = cache(self._exports)  # type: ignore[method-assign]

    def uses(self, file: str) -> frozenset[str]:
        """Return a file and all files that it uses, over any number of steps."""
        found, waiting = {file}, [file]
        while waiting:
            new = self._used_by(waiting.pop()) - found
            found |= new
            waiting += new
        return frozenset(found)

    def _used_by(self, file: str) -> set[str]:
        """Return the files that a file imports, runs or reads."""
        if not file.endswith(".py"):
            return set()
        imported = {each for item in self._imported(file) for each in self._resolve(*item)}
        return imported | self._beside(file)

    def _beside(self, file: str) -> set[str]:
        """Return the scripts that a test file names, the tables it globs, and their modules."""
        if not file.startswith("tests/"):
            return set()
        folder, text = Path(file).parent, (self._root / file).read_text(encoding="utf-8")
        tables = [path for name in GLOB.findall(text) for path in (self._root / folder).glob(name)]
        names = [*SCRIPT.findall(text), *(f"{table.stem}.py" for table in tables)]
        modules = {(folder / name).as_posix() for name in names} & {*self._files.values()}
        return modules | {table.relative_to(self._root).as_posix() for table in tables}

    def _imported(self, file: str) -> list[tuple[str, str]]:
        """Return the imports of a file: pairs of a module and a name in it, or ""."""
        text = (self._root / file).read_text(encoding="utf-8")
        if file.startswith("skdp/"):  # not what examples in docstrings import
            nodes = [] if file.endswith("__init__.py") else [*ast.walk(ast.parse(text))]
            froms = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
            return [(str(node.module), alias.name) for node in froms for alias in node.names]
        found = [
            (module, name.split(" as ")[0].strip())
            for module, names in FROM.findall(text)
            for name in names.strip("()").split(",")
        ]
        found += [(name, "") for name in re.findall(r"^import ([\w.]+)", text, re.MULTILINE)]
        rest = FROM.sub("", text)
        return found + [tuple(dotted.rsplit(".", 1)) for dotted in DOTTED.findall(rest)]

    def _resolve(self, module: str, name: str) -> Iterator[str]:
        """Yield the files of ``module.name``, the last of which defines it."""
        full = f"{module}.{name}" if name else module
        if full == "skdp" or (full not in self._files and module not in self._files):
            if "." in module:  # an attribute of a class, perhaps, or another project's module
                yield from self._resolve(*module.rsplit(".", 1))
            return
        file = self._files.get(full, self._files.get(module, ""))
        yield file
        if not file.endswith("__init__.py"):
            return
        exported = self._exports(file)
        if full in self._files:  # all of a package
            for base, each in exported.values():
                yield from self._resolve(base, each)
        elif name in exported:
            yield from self._resolve(*exported[name])

    def _exports(self, file: str) -> dict[str, tuple[str, str]]:
        tree = ast.parse((self._root / file).read_text(encoding="utf-8"))
        return {
            alias.asname or alias.name: (node.module, alias.name)
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }


class Affected:
    """A plugin that leaves out the tests which an edit does not affect.

    Parameters
    ----------
    root : Path
        The folder of the project.
    changed : iterable of str
        The files that differ, relative to it.
    """

    def __init__(self, root: Path, changed: Iterable[str]):
        self._root, self._changed = root, set(changed)
        self._graph = ImportGraph(root)
        is_gone = any(file.endswith(".py") and not (root / file).exists() for file in self._changed)
        self._all = is_gone or bool(self._changed & EVERYTHING)
        self._sources = any(file.endswith(".py") for file in self._changed)
        self._package = any(file.startswith("skdp/") for file in self._changed)
        # The names under which tests speak of pages, examples and other files, and their folders.
        others = [Path(file) for file in self._changed if not file.startswith(("skdp/", "tests/"))]
        self._names = {name for path in others for name in (path.name, path.parts[0])}

    def affects(self, file: str) -> bool:
        """Tell whether the edit affects a file of tests."""
        if self._all or (self._sources and file in READ_ALL_SOURCES):
            return True
        setups = {(folder / "conftest.py").as_posix() for folder in Path(file).parents}
        if self._changed & (self._graph.uses(file) | setups):
            return True
        text = (self._root / file).read_text(encoding="utf-8")
        if self._package and ANY.search(text):
            return True
        return any(f'"{name}' in text or f"/{name}" in text for name in self._names)

    def pytest_ignore_collect(self, collection_path):
        """Do not even import files that are not affected."""
        file = collection_path.relative_to(self._root).as_posix()
        is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
        return True if is_test and not self.affects(file) else None

    def pytest_report_header(self):
        return f"affected: {len(self._changed)} files have changed"
