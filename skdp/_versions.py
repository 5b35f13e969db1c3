"""Estimators in pickles say which version of skdp wrote them."""

from __future__ import annotations

import warnings
from typing import Any

import skdp


def rebuild(cls: type, version: str) -> Any:
    """Return an empty estimator for pickle to fill; warn if another version wrote it.

    pickle calls this before it reads the state: where that fails, because a class has moved since,
    the warning has already said why.

    Parameters
    ----------
    cls : type
        The class of the estimator.
    version : str
        The version of skdp that wrote the pickle.
    """
    if version != skdp.__version__:
        warnings.warn(
            f"This {cls.__name__} was pickled by skdp {version}, and this is skdp "
            f"{skdp.__version__}. It may fail to load, or give wrong results: fit it again.",
            UserWarning,
            stacklevel=2,
        )
    return object.__new__(cls)


class Versioned:
    """Mixin of all estimators: a pickle holds the version of skdp that wrote it.

    The mixin stands before scikit-learn's ``BaseEstimator`` among the bases of a class.
    """

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Return what pickle writes: the class and the version, then the state."""
        state = self.__getstate__()
        return rebuild, (type(self), skdp.__version__), state
