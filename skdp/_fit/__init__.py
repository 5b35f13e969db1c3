"""The machinery of fits: the loop, its procedures, and the base classes of estimators."""

from skdp._fit._chain_estimator import ChainEstimator
from skdp._fit._estimator import IterativeEstimator
from skdp._fit._procedure import Procedure
from skdp._fit._state import FitState

__all__ = ["ChainEstimator", "FitState", "IterativeEstimator", "Procedure"]
