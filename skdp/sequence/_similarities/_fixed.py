"""Known similarities of states, from a matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from skdp._checks import as_floats
from skdp._part import Part
from skdp._sklearn_compat import EstimatorMixin, validate_parameters


class FixedSimilarity(EstimatorMixin, BaseEstimator):
    """Known similarities of states.

    Parameters
    ----------
    matrix : (J, J) array
        phi, from 0 to 1: row j holds the similarities for transitions from state j to all states.
        Transitions with phi = 0 are impossible; each row has a positive entry. The matrix need not
        be symmetric, and its diagonal need not be 1. J is the `n_components` of the model.

    See Also
    --------
    GaussianSimilarity, EmissionSimilarity, LaplacianSimilarity : Similarities that are learned.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"matrix": ["array-like"]}

    def __init__(self, matrix: ArrayLike):
        self.matrix = matrix

    def make_sampler(self, n_states: int) -> FixedSimilaritySampler:
        """Return the sampler of this similarity.

        Parameters
        ----------
        n_states : int
            J.

        Returns
        -------
        SimilaritySampler

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        validate_parameters(self)
        matrix = as_floats(self.matrix, "FixedSimilarity: matrix")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"FixedSimilarity: matrix must be square, got an array of shape {matrix.shape}."
            )
        if len(matrix) != n_states:
            raise ValueError(
                f"FixedSimilarity: matrix must be ({n_states}, {n_states}), a row for each of "
                f"n_components={n_states} states; got {matrix.shape}."
            )
        wrong = ~((matrix >= 0.0) & (matrix <= 1.0))
        if wrong.any():
            j, k = np.argwhere(wrong)[0]
            raise ValueError(
                "FixedSimilarity: the entries of matrix must be between 0 and 1; "
                f"got {matrix[j, k]:g} in row {j}, column {k}."
            )
        if not matrix.any(axis=1).all():
            j = int(np.argmin(matrix.any(axis=1)))
            raise ValueError(
                f"FixedSimilarity: row {j} of matrix holds only zeros: no state could follow state "
                f"{j}."
            )
        with np.errstate(divide="ignore"):
            return FixedSimilaritySampler(np.log(matrix))


class FixedSimilaritySampler(Part):
    """Sampler of known similarities: it draws nothing."""

    def __init__(self, log_similarity: NDArray[np.float64]):
        self.log_similarity = log_similarity

    def start(self, emission: Any, rng: NDArray[np.uint64]) -> None:
        """Draw nothing."""

    def draw(
        self,
        counts: NDArray[np.int64],
        log_rates: NDArray[np.float64],
        emission: Any,
        rng: NDArray[np.uint64],
        *,
        hold: bool = False,
    ) -> None:
        """Draw nothing."""

    def write(self, out: NDArray[np.float64], emission: Any) -> None:
        """Write log phi, (J, J)."""
        out[:] = self.log_similarity

    def coupling(self, counts: NDArray[np.int64], log_rates: NDArray[np.float64]) -> None:
        """Return None: no similarity depends on binary factors."""

    def log_density(self) -> float:
        """Return 0."""
        return 0.0

    def scalars(self) -> dict[str, float]:
        """Return an empty dict."""
        return {}

    def model(self) -> None:
        """Return None: there is nothing to keep besides the matrix."""
