"""Structured nonparametric-Bayes models as scikit-learn estimators."""

import importlib
import pkgutil
from typing import Any

__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> Any:
    """Import a public submodule when it is first asked for: ``skdp.topics``."""
    full = f"{__name__}.{name}"
    if not name.startswith("_"):
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public submodules, and the version."""
    modules = [info.name for info in pkgutil.iter_modules(__path__)]
    return ["__version__", *(name for name in modules if not name.startswith("_"))]
