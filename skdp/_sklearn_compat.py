"""The one door to what scikit-learn keeps private or changes between versions (1.6 and later)."""

from __future__ import annotations

import functools
import importlib.metadata
import os
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from sklearn import get_config
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

__all__ = [
    "CallbackSupportMixin",
    "HasDocs",
    "HasMethods",
    "Interval",
    "StrOptions",
    "begin_fit_task",
    "get_parameter_constraints",
    "validate_parameters",
    "with_callbacks",
]


def validate_parameters(estimator: Any) -> None:
    """Raise if a parameter of `estimator` breaks its `_parameter_constraints`.

    Parameters
    ----------
    estimator : estimator with `_parameter_constraints`

    Raises
    ------
    ValueError
        Naming the parameter, what it may be and what it is (scikit-learn's
        ``InvalidParameterError``).
    """
    if not get_config()["skip_parameter_validation"]:
        estimator._validate_params()


try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9 has no callbacks: nothing is set, nobody is called

    class CallbackSupportMixin:  # type: ignore[no-redef]  # one of the two is defined
        """Stand-in for scikit-learn's mixin: no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return `method` itself."""
        return method


class _SilentTask:
    """A fit task that nobody listens to."""

    def subcontext(self, **kwargs: Any) -> _SilentTask:
        return self

    def call_on_fit_task_begin(self, **kwargs: Any) -> bool:
        return False

    def call_on_fit_task_end(self, **kwargs: Any) -> bool:
        return False


def begin_fit_task(estimator: Any, n_subtasks: int, X: Any) -> Any:
    """Tell the callbacks of `estimator` that its fit begins.

    Parameters
    ----------
    estimator : estimator with `CallbackSupportMixin`
        Its fit method is decorated by `with_callbacks`.
    n_subtasks : int
        Steps that the fit will have if nothing stops it.
    X : training data

    Returns
    -------
    CallbackContext or its silent stand-in
        With ``subcontext(task_name=...)``, ``call_on_fit_task_begin`` and
        ``call_on_fit_task_end``, which returns True if a callback wants to stop.
    """
    if not hasattr(estimator, "_init_callback_context"):
        return _SilentTask()
    task = estimator._init_callback_context(max_subtasks=n_subtasks)
    task.call_on_fit_task_begin(estimator=estimator, X=X)
    return task


def get_parameter_constraints(estimator: type, names: Iterable[str]) -> dict[str, Any]:
    """Return what a scikit-learn estimator allows for some of its parameters."""
    constraints = estimator._parameter_constraints  # type: ignore[attr-defined]  # any class
    return {name: constraints[name] for name in names}


@functools.cache
def _published_documentation() -> str:
    """Return the documentation's address as the installed package gives it, or nothing."""
    try:
        urls = importlib.metadata.metadata("skdp").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    return str(named.get("Documentation", ""))


class HasDocs:
    """Mixin of all estimators: their HTML displays link to their pages of the reference.

    To the pages below ``Documentation`` in the package's ``project.urls``, or below the environment
    variable ``SKDP_DOCUMENTATION_URL``: documentation of one's own. Without either there is no
    link. It stands before scikit-learn's ``BaseEstimator`` among the bases of a class.
    """

    _doc_link_module: ClassVar[str] = "skdp"

    @property
    def _doc_link_template(self) -> str:
        base = os.environ.get("SKDP_DOCUMENTATION_URL") or _published_documentation()
        if not base:
            return ""
        return base.rstrip("/") + "/api/generated/{estimator_module}.{estimator_name}.html"
