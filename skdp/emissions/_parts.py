"""Checks of the parts of a model that users pass as parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any


def resolve_part(part: Any, named: Mapping[str, Callable[[], Any]]) -> Any:
    """Return a new part if `part` is a known name, otherwise `part` itself."""
    return named[part]() if isinstance(part, str) and part in named else part


def check_part(part: Any, name: str) -> None:
    """Raise a TypeError if a part is a class instead of an instance."""
    if isinstance(part, type):
        raise TypeError(
            f"{name} must be an object, got the class {part.__name__}: write "
            f"{name}={part.__name__}(...)."
        )


def make_part_for(protocol: type, part: Any, name: str, *args: Any) -> Any:
    """Return ``part.make_sampler(*args)``, or raise unless it has the methods of a protocol."""
    kind = type(part).__name__
    names = ("n_states",) if len(args) == 1 else ("values", "n_states", "ptr")[: len(args)]
    wanted = f"make_sampler({', '.join(names)})"
    try:
        signature(part.make_sampler).bind(*args)
    except TypeError as error:
        raise TypeError(f"{name} must have a method {wanted}, unlike {kind}: {error}.") from None
    sampler = part.make_sampler(*args)
    methods = [method for method in vars(protocol) if not method.startswith("_")]
    missing = [method for method in methods if not callable(getattr(sampler, method, None))]
    if missing:
        raise TypeError(
            f"{name} must make a {protocol.__name__}, unlike {kind}: what its make_sampler returns "
            f"has no method {', '.join(missing)}."
        )
    return sampler
