"""The base class of all estimators that are fitted step by step."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from skdp._fit._loop import FitLoop
from skdp._fit._procedure import Procedure
from skdp._fit._state import FitState
from skdp._sklearn_compat import JOBS, CallbackSupportMixin, EstimatorMixin, Interval


class IterativeEstimator(EstimatorMixin, CallbackSupportMixin, BaseEstimator):
    """Base class with common parameters, and the steps of a fit in the order of `FitLoop`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": JOBS,
        "random_state": ["random_state", np.random.Generator],
        "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    }

    _free_in_warm_start: ClassVar[frozenset[str]] = frozenset(
        ["max_iter", "warm_start", "n_jobs", "random_state", "verbose"]
    )
    """Parameters that may change before a warm start."""

    _free_in_checkpoints: ClassVar[frozenset[str]] = frozenset(
        ["max_iter", "warm_start", "n_jobs", "verbose"]
    )
    """Parameters that may change before a fit continues from a checkpoint."""

    _feature_attributes: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")
    """Attributes that describe X, which are recorded before there is a result."""

    _optional_attributes: ClassVar[frozenset[str]] = frozenset()
    """Fitted attributes that not every fit has."""

    def _validate_parameters(self) -> None:
        """Raise for parameters out of range."""
        raise NotImplementedError

    def _check_input(self, X: Any, y: Any = None) -> Any:
        """Return X, and y if a fit needs one, as a container, and record its features."""
        raise NotImplementedError

    def _make_procedure(self, data: Any) -> Procedure:
        """Return the procedure that fits the model to a container."""
        raise NotImplementedError

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        """Return the fitted attributes by name; with `final` the runs may be consumed."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any = None, **options: Any) -> Self:
        """Validate the parameters, fit X, and set the fitted attributes."""
        self._validate_parameters()
        FitLoop(self).run(X, y, **options)
        return self

    def _set_fitted_attributes(self, attributes: dict[str, Any]) -> None:
        for name in self._optional_attributes.difference(attributes):
            self.__dict__.pop(name, None)  # an earlier fit may have had more options
        self.__dict__.update(attributes, convergence_={})

    def _part(self, name: str) -> Any:
        """Return the value of a parameter; for a name that stands for an object, the object."""
        return getattr(self, name)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator and, as ``emission__prior=...``, of its parts.

        A part given by its name, such as ``emission="gaussian"``, is first replaced by the object
        that the name stands for.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self
        """
        nested = {key: value for key, value in params.items() if "__" in key}
        super().set_params(**{key: params[key] for key in params.keys() - nested.keys()})
        for name in {key.partition("__")[0] for key in nested}:
            if isinstance(getattr(self, name, None), str):
                setattr(self, name, self._part(name))
        super().set_params(**nested)
        return self
