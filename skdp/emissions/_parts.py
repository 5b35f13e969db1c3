"""Parts of a model as users give them: each in its place, and able to do what a sampler asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any


def resolve_part(part: Any, named: Mapping[str, Callable[[], Any]]) -> Any:
    """Return a new part that a name stands for; anything else as it is."""
    return named[part]() if isinstance(part, str) and part in named else part


def check_part(part: Any, name: str) -> None:
    """Raise if a part is a class, where an object of it is meant.

    Parameters
    ----------
    part : object
        With `make_sampler`, or something else that the caller knows.
    name : str
        The parameter: "emission", "similarity" or "duration".

    Raises
    ------
    TypeError
    """
    if isinstance(part, type):
        raise TypeError(
            f"{name} must be an object, got the class {part.__name__}: write "
            f"{name}={part.__name__}(...)."
        )


def make_part_for(protocol: type, part: Any, name: str, *args: Any) -> Any:
    """Return ``part.make_sampler(*args)`` if it has the methods of a protocol.

    Parameters
    ----------
    protocol : type
    part : object with `make_sampler`
    name : str
        The parameter.
    *args
        What `make_sampler` gets.

    Returns
    -------
    An object with these methods.

    Raises
    ------
    TypeError
        If the part is one of another kind.
    """
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
