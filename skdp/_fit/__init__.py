"""How a fit runs: the loop, the procedures that it drives, and the base class of estimators."""

from skdp._fit._chain_estimator import ChainEstimator
from skdp._fit._estimator import IterativeEstimator
from skdp._fit._procedure import Procedure
from skdp._fit._state import FitState

__all__ = ["ChainEstimator", "FitState", "IterativeEstimator", "Procedure"]
