"""Imports point down, or sideways without a circle (doc/developers/layers.rst)."""

import ast
import importlib
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import skdp

PACKAGE = Path(skdp.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = Path(__file__).parents[1]

LAYERS = {
    0: ("_checks", "_merge_tree", "_numeric", "_part", "_result_line", "processes"),
    1: ("_sklearn_compat", "data", "datasets"),
    3: ("inference", "_executors"),
    4: (
        "_fit", "callback", "emissions", "topics", "sequence", "grammar", "language", "mixture",
        "context", "feature_extraction", "metrics", "preprocessing",
    ),
    5: ("inspection", "utils"),
}  # fmt: skip


def layer(name: str) -> int:
    """Return the layer of a module, named without ``skdp.``."""
    first, *rest = name.split(".")
    if any(part.startswith("_kernels") for part in rest) and first != "processes":
        return 2
    return next(number for number, names in LAYERS.items() if first in names)


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports(path: Path, *, everywhere: bool = False) -> set[str]:
    """Return the skdp modules that a file imports, of its top level or everywhere."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = ast.walk(tree) if everywhere else tree.body
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "skdp":
            base = node.module.removeprefix("skdp").removeprefix(".")
            for alias in node.names:
                full = f"{base}.{alias.name}".strip(".")
                target = PACKAGE.joinpath(*full.split("."))
                is_module = target.with_suffix(".py").exists() or target.is_dir()
                found.add(full if is_module else base)
        elif isinstance(node, ast.Import):
            found |= {
                a.name.removeprefix("skdp.") for a in node.names if a.name.startswith("skdp.")
            }
    return found - {""}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_down(path):
    name = name_of(path)
    if name == "":
        assert not imports(path, everywhere=True)
        return
    for imported in imports(path, everywhere=True):
        assert layer(imported) <= layer(name), f"{name} imports {imported}"


def test_no_circles():
    graph = {name_of(path): imports(path) for path in MODULES}
    # A package's __init__ re-exports its modules, which import from each other, not from it.
    graph = {
        name: {i for i in found if not name.startswith(f"{i}.")} for name, found in graph.items()
    }
    tuple(TopologicalSorter(graph).static_order())


def test_folders_have_no_circles():
    """Whoever reads a folder need not read one that reads it."""
    graph = {path.parent: set() for path in MODULES}
    for path in MODULES:
        if path.name != "__init__.py":  # it re-exports what is below
            for name in imports(path, everywhere=True):
                target = PACKAGE.joinpath(*name.split("."))
                graph[path.parent].add(target if target.is_dir() else target.parent)
    graph = {folder: found - {folder} for folder, found in graph.items()}
    tuple(TopologicalSorter(graph).static_order())
    assert max(Counter(path.parent for path in MODULES).values()) <= 15


def test_emissions_belong_to_no_family():
    for path in MODULES:
        if (name := name_of(path)).startswith("emissions"):
            families = {imported.split(".")[0] for imported in imports(path, everywhere=True)}
            assert not families & {"topics", "sequence", "grammar", "mixture", "context"}, name


def test_numbers_know_no_scikit_learn():
    for path in MODULES:
        name = name_of(path)
        if name and layer(name) in (0, 2):
            assert "sklearn" not in path.read_text(encoding="utf-8"), name


def test_private_scikit_learn_and_versions_stay_behind_one_door():
    for path in MODULES:
        if path.name == "_sklearn_compat.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                assert not any(name.startswith("_") for name in names), (path.name, names)
                assert "__version__" not in names, path.name


DOORS = {"_kernel_cache.py", "_numba.py", "_simd.py", "_simd_lanes.py", "_simd_rows.py"}


def test_one_door_to_numba():
    for path in MODULES:
        if path.name in DOORS:
            continue
        assert "import numba" not in path.read_text(encoding="utf-8"), path.name
        assert "np.random" not in path.read_text(encoding="utf-8") or "_kernels" not in name_of(
            path
        )


def test_kernels_are_not_type_checked():
    """mypy cannot follow numba's types; each module declares it, not a list in pyproject.toml."""
    for path in MODULES:
        is_kernel = any(part.startswith("_kernels") for part in path.parts)
        if is_kernel and path.name != "__init__.py":
            lines = path.read_text(encoding="utf-8").splitlines()
            assert "# mypy: ignore-errors" in lines, name_of(path)


def test_packages_say_what_they_hold():
    for path in MODULES:
        if path.name == "__init__.py":
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            assert docstring, name_of(path)


def test_files_stay_short():
    long = [
        path.name
        for path in (*MODULES, *TESTS.rglob("*.py"))
        if len(path.read_text("utf-8").splitlines()) > 1000
    ]
    assert not long


def mirrored(place: Path) -> bool:
    """Tell whether a folder of the package has the place of a folder of tests."""
    folders = [PACKAGE]
    for part in place.parts:
        folders = [
            child
            for folder in folders
            for child in (folder / part, folder / f"_{part}")
            if child.is_dir() or child.with_suffix(".py").exists()
        ]
    return bool(folders)


@pytest.mark.parametrize("kind", ["unit", "exact", "statistical"])
def test_tests_mirror_the_package(kind):
    for folder in (TESTS / kind).rglob("*"):
        place = folder.relative_to(TESTS / kind)
        if folder.is_dir() and folder.name != "__pycache__" and place.parts[0] != "oracles":
            assert mirrored(place), folder


def test_displays_and_extras_are_imported_lazily():
    extras = ("matplotlib", "pandas", "arviz", "dask", "nltk", "pytest")
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            assert not any(name.split(".")[0] in extras for name in names), (path.name, names)


def test_every_class_has_its_own_name():
    """A name in a message, a type or a search leads to one class."""
    found = Counter(
        node.name
        for path in MODULES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert len(found) > 500
    assert [name for name, n in found.items() if n > 1] == []


@pytest.mark.parametrize("folder", ["benchmarks", "examples", "doc"])
def test_scripts_import_what_exists(folder):
    """Linters do not see that a private module has another name; a benchmark fails on its day."""
    wrong = []
    for path in (TESTS.parent / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skdp"):
                wrong += [
                    f"{path}: {node.module}.{alias.name}"
                    for alias in node.names
                    if not is_importable(node.module, alias.name)
                ]
    assert wrong == []


def is_importable(module: str, name: str) -> bool:
    """Return whether ``from module import name`` works."""
    try:
        if hasattr(importlib.import_module(module), name):
            return True
        importlib.import_module(f"{module}.{name}")
    except ImportError:
        return False
    return True
