"""Columns of observations as inputs and targets of a regression."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from skdp._checks import as_floats
from skdp._numeric._typing import Floats, Places
from skdp.emissions._columns import find_columns
from skdp.emissions._discrete._poisson import MOST
from skdp.emissions._gaussian._model import check_numbers


class Roles(NamedTuple):
    """The columns of the targets and of the inputs."""

    targets: Places  # (D,)
    inputs: Places  # (P,)
    names: list[str] | None  # of the columns of X, for messages
    output: str  # "normal", "bernoulli" or "poisson"

    @classmethod
    def read(
        cls, targets: Any, inputs: Any, output: str, n_columns: int, names: list[str] | None
    ) -> Roles:
        """Return the roles of the columns of X, or raise; without inputs all others are inputs."""
        where = "RegressionEmission"
        left = find_columns(targets, n_columns, names, f"{where}: targets")
        if inputs is None:
            right = np.setdiff1d(np.arange(n_columns), left)
            if len(right) == 0:
                raise ValueError(f"{where}: all {n_columns} columns of X are targets: no inputs.")
        else:
            right = find_columns(inputs, n_columns, names, f"{where}: inputs")
        roles = cls(left, right, names, output)
        both = np.intersect1d(left, right)
        if len(both):
            raise ValueError(f"{where}: {roles.call(both[0])} is both a target and an input.")
        rest = np.setdiff1d(np.arange(n_columns), np.concatenate([left, right]))
        if len(rest):
            raise ValueError(
                f"{where}: {roles.call(rest[0])} of X is neither a target nor an input: leave it "
                "out of X."
            )
        return roles

    def call(self, column: int) -> str:
        """Return the words for a column in messages."""
        return f"column {column}" + ("" if self.names is None else f" ({self.names[column]!r})")

    def split(self, values: Floats) -> tuple[Floats, Floats]:
        """Return inputs, (N, P), and targets, (N, D) with NaN where missing, or raise an error."""
        inputs, targets = values[:, self.inputs], values[:, self.targets]
        missing = np.isnan(inputs)
        if missing.any():
            t, d = np.argwhere(missing)[0]
            raise ValueError(
                f"X contains NaN in {self.call(self.inputs[d])}, an input of RegressionEmission, "
                f"at step {t}, counted through all sequences: only targets may be missing. Impute "
                "inputs first."
            )
        check_numbers(values)
        missing = np.isnan(targets)
        if self.output == "bernoulli":
            wrong = ~(missing | (targets == 0.0) | (targets == 1.0))
            if wrong.any():
                t, d = np.argwhere(wrong)[0]
                raise ValueError(
                    "X must hold 0 and 1, or NaN for missing values, in the targets of "
                    f"RegressionEmission(output='bernoulli'); got {targets[t, d]:g} in "
                    f"{self.call(self.targets[d])} at step {t}, counted through all sequences."
                )
            return inputs, targets
        if self.output == "poisson":
            is_count = (targets >= 0.0) & (targets <= MOST) & (targets == np.floor(targets))
            wrong = ~(missing | is_count)
            if wrong.any():
                t, d = np.argwhere(wrong)[0]
                raise ValueError(
                    f"X must hold counts, integers from 0 to {MOST:g}, or NaN for missing values, "
                    "in the targets of RegressionEmission(output='poisson'); got "
                    f"{targets[t, d]:g} in {self.call(self.targets[d])} at step {t}, counted "
                    "through all sequences."
                )
            return inputs, targets
        in_part = missing.any(axis=1) & ~missing.all(axis=1)
        if in_part.any():
            t = int(np.argmax(in_part))
            d = int(np.argmax(missing[t]))
            raise ValueError(
                "X must hold all targets of a step or none, because normal targets are correlated; "
                f"got NaN only in part at step {t}, counted through all sequences, in "
                f"{self.call(self.targets[d])}."
            )
        return inputs, targets


def to_regressors(inputs: Floats, root: Floats) -> Floats:
    """Return L^-1 [1, inputs] of each step, (N, K), for a lower triangular L.
    If L is the factor of the prior precision, coefficients of these have the prior N(0, I).
    """
    rows = np.hstack([np.ones((len(inputs), 1)), inputs])
    solved = solve_triangular(root, rows.T, lower=True, check_finite=False)
    return np.ascontiguousarray(solved.T)


def as_inputs(roles: Roles, inputs: Any, states: Any = None) -> Floats:
    """Return a user's inputs, one for each state if given, as a new (N, P) array, or raise."""
    array = np.array(as_floats(inputs, "inputs"), dtype=np.float64)
    width = len(roles.inputs)
    if array.ndim == 1 and width == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"inputs must be of shape (n, {width}), got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError("inputs must be finite numbers.")
    if states is not None and np.shape(states) != (len(array),):
        raise ValueError(
            f"states must be of shape ({len(array)},), one for each row of inputs, got "
            f"{np.shape(states)}."
        )
    return array
