"""The one door to what scikit-learn keeps private or changes between versions (1.6 and later)."""

from __future__ import annotations

import functools
import html
import importlib.metadata
import os
import re
import warnings
from collections.abc import Callable, Iterable
from inspect import cleandoc
from numbers import Integral
from types import NoneType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.utils._param_validation import (
    HasMethods,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition
from sklearn.utils.validation import _check_feature_names_in as check_feature_names

import skdp
from skdp._checks import MAX_INTEGER, MAX_JOBS, check_unmasked, is_number, shorten
from skdp._result_line import describe_result

__all__ = [
    "JOBS",
    "BaseComposition",
    "CallbackSupportMixin",
    "EstimatorMixin",
    "HasMethods",
    "Interval",
    "PlainOutputMixin",
    "StrOptions",
    "begin_fit_task",
    "check_feature_names",
    "get_callbacks",
    "get_parameter_constraints",
    "has_callbacks",
    "shows_progress",
    "validate_parameters",
    "with_callbacks",
]


class Interval(_Interval):
    """scikit-learn's interval of numbers; a boolean is none, and all numbers have an end.
    Without `right`, integers end at 2^31 - 1, and real numbers in double precision.
    """

    def __init__(self, type: Any, left: Any, right: Any, *, closed: str):
        if type is Integral and right is None:
            right, closed = MAX_INTEGER, "both" if closed == "left" else "right"
        super().__init__(type, left, right, closed=closed)

    def __contains__(self, val: Any) -> bool:
        """Tell whether `val` is a number in the interval."""
        if not isinstance(val, self.type) or not is_number(val):
            return False
        is_plain = isinstance(val, Integral | float | np.floating)  # numpy has no fractions
        return is_plain and bool(super().__contains__(val))


JOBS: list[Any] = [
    Interval(Integral, None, -1, closed="right"),
    Interval(Integral, 1, MAX_JOBS, closed="both"),
    None,
]
"""Constraints of `n_jobs`."""


class PlainOutputMixin:
    """Mixin of transformers whose output is never wrapped into data frames, placed first."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**{"auto_wrap_output_keys": None, **kwargs})

    def set_output(self, *, transform: str | None = None) -> Self:
        """Do nothing: the output is always of the kind that `transform` describes.

        So you can set a whole Pipeline to return data frames: its later steps will do so.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None

        Returns
        -------
        self
        """
        return self


class _Shortened:
    """Stands for a value in a message of scikit-learn's, which would show all of a long one."""

    def __init__(self, value: Any):
        self.value = value

    def __repr__(self) -> str:
        return shorten(self.value)


def validate_parameters(estimator: Any) -> None:
    """Raise InvalidParameterError if a parameter breaks the `_parameter_constraints`."""
    if get_config()["skip_parameter_validation"]:
        return
    owner, parameters = type(estimator).__name__, estimator.get_params(deep=False)
    for name, value in parameters.items():
        if not isinstance(value, str | int | float | NoneType):
            check_unmasked(value, f"The '{name}' parameter of {owner}")
    constraints = estimator._parameter_constraints
    try:
        validate_parameter_constraints(constraints, parameters, caller_name=owner)
    except ValueError:
        for name, value in parameters.items():
            try:
                validate_parameter_constraints(constraints, {name: value}, caller_name=owner)
            except ValueError:
                break
        validate_parameter_constraints(constraints, {name: _Shortened(value)}, caller_name=owner)


try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9 has no callbacks: nothing is set, nobody is called

    class CallbackSupportMixin:  # type: ignore[no-redef]  # one of the two is defined
        """Stand-in for scikit-learn's mixin: no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return `method` itself."""
        return method


def has_callbacks() -> bool:
    """Tell whether this scikit-learn (1.9 or later) calls callbacks."""
    return hasattr(CallbackSupportMixin, "set_callbacks")


def get_callbacks(estimator: Any) -> list[Any]:
    """Return the callbacks that `set_callbacks` gave an estimator."""
    return list(getattr(estimator, "_skl_callbacks", []))


def shows_progress(estimator: Any) -> bool:
    """Tell whether a progress bar of scikit-learn's follows the fits of an estimator."""
    try:
        from sklearn.callback import ProgressBar
    except ImportError:
        return False
    return any(isinstance(each, ProgressBar) for each in get_callbacks(estimator))


class _SilentTask:
    """A fit task that nobody listens to."""

    def subcontext(self, **kwargs: Any) -> _SilentTask:
        return self

    def call_on_fit_task_begin(self, **kwargs: Any) -> bool:
        return False

    def call_on_fit_task_end(self, **kwargs: Any) -> bool:
        return False


def begin_fit_task(estimator: Any, n_subtasks: int, X: Any) -> Any:
    """Tell callbacks that the fit of `estimator` begins; return their context or a stand-in."""
    if not hasattr(estimator, "_init_callback_context"):
        return _SilentTask()
    # scikit-learn reads it at the end, even if an interrupt comes before it sets it.
    estimator._skl_callbacks_to_teardown = []
    task = estimator._init_callback_context(max_subtasks=n_subtasks)
    task.call_on_fit_task_begin(estimator=estimator, X=X)
    return task


def get_parameter_constraints(estimator: type, names: Iterable[str]) -> dict[str, Any]:
    """Return the constraints of a scikit-learn estimator for some of its parameters."""
    constraints = estimator._parameter_constraints  # type: ignore[attr-defined]  # any class
    return {name: [_own(constraint) for constraint in constraints[name]] for name in names}


def _own(constraint: Any) -> Any:
    """Return an interval of scikit-learn's as one of ours."""
    if type(constraint) is not _Interval:
        return constraint
    return Interval(constraint.type, constraint.left, constraint.right, closed=constraint.closed)


@functools.cache
def _published_documentation() -> str:
    """Return the documentation's address as the installed package gives it, or nothing."""
    try:
        urls = importlib.metadata.metadata("skdp").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    return str(named.get("Documentation", ""))


_SCALARS = (np.bool_, bool), (np.integer, int), (np.floating, float)


def _as_python(value: Any) -> Any:
    """Return a scalar of NumPy, alone or in a list or tuple, as one of Python."""
    for numpy_type, python_type in _SCALARS:
        if isinstance(value, numpy_type):
            return python_type(value)
    if type(value) in (list, tuple) and any(isinstance(part, np.generic) for part in value):
        return type(value)(map(_as_python, value))
    return value


def rebuild(cls: type, version: str) -> Any:
    """Return an empty estimator for pickle to fill; warn if another version wrote it."""
    # pickle calls this before it reads the state: where that fails, because a class has moved
    # since, the warning has already said why.
    if version != skdp.__version__:
        warnings.warn(
            f"This {cls.__name__} was pickled by skdp {version}, and this is skdp "
            f"{skdp.__version__}. It may fail to load, or give wrong results: fit it again.",
            UserWarning,
            stacklevel=2,
        )
    return object.__new__(cls)


_RESULT = (
    '<div class="skdp-result" style="font-family: sans-serif; padding: 0.2em 0.5em">'
    "<b>Result:</b> {}</div>"
)


_ENTRY = re.compile(r"^(\w+(?:, \w+)*)( : .*)\n((?:    .*\n)+)", re.MULTILINE)
_NAMES = re.compile(r"^(\w+(?:, \w+)*),?( : .*)?\n(?!    )", re.MULTILINE)


@functools.cache
def _list_texts(cls: type) -> dict[str, tuple[str, str]]:
    """Return the heads and the texts of what a docstring describes, by name."""
    known: dict[str, tuple[str, str]] = {}
    for names, kind, text in _ENTRY.findall(cleandoc(cls.__doc__ or "") + "\n"):
        known |= dict.fromkeys(names.split(", "), (f"{names}{kind}\n", text))
    return known


def take_texts(cls: type) -> None:
    """Complete a docstring: what has a name, or also a type, but no text is as in the bases."""
    known: dict[str, tuple[str, str]] = {}
    for base in reversed(cls.__mro__[1:]):
        known |= _list_texts(base)

    def complete(match: re.Match[str]) -> str:
        names, kind = match[1].split(", "), match[2]
        if not known.keys() >= {*names}:
            return match[0]
        if kind is not None:
            return match[0] + known[names[0]][1]
        return "".join(dict.fromkeys("".join(known[name]) for name in names))

    cls.__doc__ = _NAMES.sub(complete, cleandoc(cls.__doc__ or ""))


class EstimatorMixin:
    """Mixin of all estimators: versions in pickles, HTML displays with a line of result and a link.
    It comes before ``BaseEstimator`` among the bases. Classes may override `_result_line`.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads (or of workers of joblib's active backend). Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of random numbers. An int gives the same result every time.
    verbose : int, default=0
        Print a line every `verbose` sweeps or iterations; 0: none; -1: none on compiling, either.
    """

    _doc_link_module: ClassVar[str] = "skdp"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__doc__ and cls.__module__.startswith("skdp."):  # not that of a user's class
            take_texts(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; a parameter that is a scalar of NumPy becomes one of Python."""
        # Kernels would be compiled anew for an int32, an uint8 overflows, and neither has the
        # methods of an int.
        is_parameter = not (name.startswith("_") or name.endswith("_"))
        super().__setattr__(name, _as_python(value) if is_parameter else value)

    def _store(self, given: dict[str, Any]) -> None:
        """Set the parameters, given the local variables of a constructor."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Return the class and the version, then the state, for pickle to write."""
        state = self.__getstate__()
        return rebuild, (type(self), skdp.__version__), state

    def _result_line(self) -> str:
        """Return the line about the result of the fit, or an empty string."""
        return describe_result(self)

    def _with_result(self, display: str) -> str:
        """Return an HTML display of scikit-learn's with the line of result at its end."""
        try:
            line = self._result_line()
        except Exception:  # an override failed, and displays must not fail
            line = ""
        return display + _RESULT.format(html.escape(line)) if line else display

    def _repr_html_inner(self) -> str:
        """Return the HTML display, for scikit-learn's property ``_repr_html_``."""
        base: Any = super()
        return self._with_result(base._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Return the displays by their types, for Jupyter."""
        base: Any = super()
        bundle: dict[str, Any] = base._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._with_result(bundle["text/html"])
        return bundle

    @property
    def _doc_link_template(self) -> str:
        base = os.environ.get("SKDP_DOCUMENTATION_URL") or _published_documentation()
        if not base:
            return ""
        return base.rstrip("/") + "/api/generated/{estimator_module}.{estimator_name}.html"
