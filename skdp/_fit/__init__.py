"""The machinery of fits: the loop, its procedures, and the base classes of estimators."""

from skdp._fit._estimator import ChainEstimator, IterativeEstimator
from skdp._fit._loop import FitAlgorithm, FitState

__all__ = ["ChainEstimator", "FitAlgorithm", "FitState", "IterativeEstimator"]
