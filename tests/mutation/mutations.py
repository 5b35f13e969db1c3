"""All wrong patches, and those that change nothing: gathered from the modules beside and below."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
_NOT_LISTS = {"child", "mutation", "mutations"}


def _modules() -> Iterator[tuple[str, ModuleType]]:
    """Yield each module that lists patches, with its place: topics/tables/kernels_chain."""
    for path in sorted(HERE.rglob("*.py")):
        place = path.relative_to(HERE).with_suffix("")
        if not path.stem.startswith("test_") and place.as_posix() not in _NOT_LISTS:
            yield place.as_posix(), import_module(".".join(["mutation", *place.parts]))


MODULES = dict(_modules())

MUTATIONS = [mutation for module in MODULES.values() for mutation in module.MUTATIONS]

# Patches that choose another way of doing the same: the exact test must stay green.
EQUIVALENTS = [
    mutation for module in MODULES.values() for mutation in getattr(module, "EQUIVALENTS", [])
]
