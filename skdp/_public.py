"""Public classes whose inherited methods bear their name.

Python names a function in its errors by where it was defined: ``SegmentedTopicModel(foo=1)`` is
told of ``BaseTableModel.__init__()``, a class that no user has heard of. A function has only one
name, so each public class gets copies of what it inherits from the package.
"""

from __future__ import annotations

from types import CellType, FunctionType
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)


def public(cls: Class) -> Class:
    """Decorate a public class: give it copies of inherited methods that bear its name.

    Copies have the code, the signature and the docstring of the originals; ``super()`` in them
    means what it did. Private methods, properties, and what comes from other packages stay
    inherited.

    Parameters
    ----------
    cls : class

    Returns
    -------
    class
        The same.
    """
    package = __name__.partition(".")[0] + "."
    seen = set(vars(cls))
    for base in cls.__mro__[1:]:
        if not base.__module__.startswith(package):
            continue
        for name, value in vars(base).items():
            if name in seen or (name.startswith("_") and name != "__init__"):
                continue
            seen.add(name)
            if isinstance(value, FunctionType):
                setattr(cls, name, _copy(value, cls))
            elif isinstance(value, classmethod | staticmethod):
                setattr(cls, name, type(value)(_copy(value.__func__, cls)))
    return cls


def _copy(function: Any, cls: type) -> FunctionType:
    """Return a function as a method of `cls`; within a wrapper, that which it wraps, too."""
    wrapped = getattr(function, "__wrapped__", None)
    inner = None if wrapped is None else _copy(wrapped, cls)
    cells = [
        CellType(inner) if inner is not None and _holds(cell, wrapped) else cell
        for cell in function.__closure__ or ()
    ]
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells) or None,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__annotations__ = dict(function.__annotations__)
    copy.__doc__ = function.__doc__
    copy.__dict__.update(function.__dict__)
    if inner is not None:
        copy.__wrapped__ = inner  # type: ignore[attr-defined]  # as functools.wraps sets it
    copy.__module__ = cls.__module__
    copy.__qualname__ = f"{cls.__qualname__}.{function.__name__}"
    return copy


def _holds(cell: CellType, value: Any) -> bool:
    try:
        return cell.cell_contents is value
    except ValueError:  # empty as yet
        return False
