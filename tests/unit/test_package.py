"""The names that `import skdp` provides, and its cost."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import skdp

PACKAGE = Path(skdp.__file__).parent


def run(code):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_submodules_come_when_they_are_asked_for():
    out = run("import skdp; print(skdp.topics.GibbsLDA.__name__, skdp.utils)")
    assert out.startswith("GibbsLDA <module")


def test_the_import_is_light():
    """numpy, scikit-learn and numba come with the submodules."""
    out = run(
        "import sys; before = set(sys.modules); import skdp; dir(skdp)\n"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    assert "skdp" in out.split()
    assert not {"numpy", "scipy", "sklearn", "numba", "joblib"} & set(out.split())


def test_dir_lists_public_submodules():
    names = dir(skdp)
    assert {"topics", "sequence", "grammar", "data", "__version__"} <= set(names)
    assert not any(name.startswith("_") and not name.startswith("__") for name in names)
    for name in ("topics", "inspection", "utils"):
        assert getattr(skdp, name) is sys.modules[f"skdp.{name}"]


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="'skdp' has no attribute 'topic'"):
        skdp.topic  # noqa: B018
    assert not hasattr(skdp, "_nothing")


def test_a_module_that_others_lack_is_named(monkeypatch):
    """An import error within a submodule is not reported as a missing attribute."""

    def fail(name):
        raise ModuleNotFoundError("No module named 'numba'", name="numba")

    monkeypatch.setattr(importlib, "import_module", fail)
    monkeypatch.delattr(skdp, "metrics", raising=False)
    with pytest.raises(ModuleNotFoundError, match="numba"):
        skdp.metrics  # noqa: B018


def test_it_is_typed():
    assert (PACKAGE / "py.typed").read_text() == ""
