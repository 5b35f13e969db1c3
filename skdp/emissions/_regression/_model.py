"""What the models of regressions in stored samples have in common."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import make_seed_sequence
from skdp._numeric._typing import Floats, Places
from skdp.emissions._regression._columns import Roles, as_inputs


class RegressionModel:
    """Methods of a dataclass whose fields are `roles` and arrays with one entry for each state."""

    roles: Roles

    @property
    def target_columns(self) -> Places:
        """Columns of the targets."""
        return self.roles.targets

    def predict(self, inputs: Floats) -> Floats:
        """Return the mean targets of every state given inputs, (N, J, D)."""
        raise NotImplementedError

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Return observations with missing targets replaced by their means over the states."""
        out = np.array(values)
        inputs, targets = self.roles.split(values)
        missing = np.isnan(targets)
        rows = np.flatnonzero(missing.any(axis=1))
        means = np.einsum("nj,njd->nd", weights[rows], self.predict(inputs[rows]))
        out[np.ix_(rows, self.roles.targets)] = np.where(missing[rows], means, targets[rows])
        return out

    def draw_targets(self, states: Any, inputs: Any, random_state: Any = None) -> Floats:
        """Return targets for states and inputs, (N, D).

        Parameters
        ----------
        states : (N,) array of int
        inputs : (N, P) array
        random_state : int, RandomState, Generator or None, default=None

        Raises
        ------
        ValueError
            If inputs are not finite, if the numbers of states and of inputs differ, or if
            `random_state` is none of these.
        """
        rng = np.random.default_rng(make_seed_sequence(random_state))
        inputs = as_inputs(self.roles, inputs, states)
        return self._draw_targets(np.asarray(states), inputs, rng)

    def _draw_targets(
        self, states: NDArray[np.int64], inputs: Floats, rng: np.random.Generator
    ) -> Floats:
        raise NotImplementedError

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the model with its states in another order."""
        names = [field.name for field in fields(self) if field.name != "roles"]  # type: ignore[arg-type]
        return replace(self, **{name: getattr(self, name)[order] for name in names})  # type: ignore[type-var]

    def sample(self, states: Any, rng: Any) -> Any:
        """Raise a TypeError, because inputs of new steps are unknown."""
        raise TypeError(
            "sample has no inputs for new steps: draw targets with emission_.draw_targets(states, "
            "inputs, random_state) of the fitted model."
        )

    def marginals(self) -> Any:
        """Raise a TypeError, because inputs of new steps are unknown."""
        raise TypeError(
            "forecast has no inputs for the next steps: emission_.predict(inputs) has the mean "
            "targets of each state, given inputs."
        )
