"""Model of observations with mixed columns in a stored sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._typing import Floats, Places
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.emissions._marginals import Marginals, NumberMarginals
from skdp.emissions._protocol import EmissionModel


@contextmanager
def naming(name: str, columns: Places) -> Iterator[None]:
    """Prepend the name and columns of a part to the message of a ValueError."""
    try:
        yield
    except ValueError as error:
        own = ", ".join(str(column) for column in columns[:5].tolist())
        more = ", ..." if len(columns) > 5 else ""
        raise ValueError(
            f"IndependentEmissions: emission {name!r} (columns {own}{more} of X): {error}"
        ) from None


@dataclass(frozen=True)
class Block:
    """The columns of one part."""

    name: str
    columns: Places
    allows_nan: bool

    def of(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the block's columns, or raise a ValueError if they contain forbidden NaN."""
        own: NDArray[np.float64] = as_readonly(np.ascontiguousarray(values[:, self.columns]))
        if not self.allows_nan and np.isnan(own).any():
            t, d = np.argwhere(np.isnan(own))[0]
            raise ValueError(
                f"X contains NaN in column {self.columns[d]} at step {t}, counted through all "
                "sequences: this emission takes no missing values."
            )
        return own


def find_target_columns(blocks: Sequence[Block], parts: Sequence[Any]) -> Places | None:
    """Return the columns that no part takes as given, or None if no column is given."""
    owns = [getattr(part, "target_columns", None) for part in parts]
    if all(own is None for own in owns):
        return None
    return np.concatenate(
        [
            block.columns if own is None else block.columns[own]
            for block, own in zip(blocks, owns, strict=True)
        ]
    )


@dataclass(frozen=True, eq=False)
class UnorderedMarginals:
    """Marginals of categories, which have no order, moments or quantiles."""

    n_states: int

    @property
    def means(self) -> Floats:
        """Means, all NaN."""
        return np.full((self.n_states, 1), np.nan)

    @property
    def variances(self) -> Floats:
        """Variances, all NaN."""
        return self.means

    def parameters(self, column: int) -> Floats:
        """Return zeros, which are equal for all states."""
        return np.zeros((self.n_states, 1))

    def take(self, states: NDArray[np.intp]) -> Self:
        """Return the distributions of some states."""
        return replace(self, n_states=len(states))

    def is_discrete(self, column: int) -> bool:
        """Return True."""
        return True

    def cdf(self, x: Floats, column: int) -> Floats:
        """Return NaN."""
        return np.full((*x.shape, self.n_states), np.nan)


@dataclass(frozen=True, eq=False)
class IndependentMarginals:
    """Distributions of single columns, each from the part it belongs to."""

    parts: Sequence[Marginals]
    places: Sequence[Places]  # columns of each part

    def _gather(self, blocks: list[Floats]) -> Floats:
        out = np.empty((len(blocks[0]), sum(len(columns) for columns in self.places)))
        for columns, block in zip(self.places, blocks, strict=True):
            out[:, columns] = block
        return out

    @property
    def means(self) -> Floats:
        """Means."""
        return self._gather([part.means for part in self.parts])

    @property
    def variances(self) -> Floats:
        """Variances."""
        return self._gather([part.variances for part in self.parts])

    def _find(self, column: int) -> tuple[Marginals, int]:
        """Return the part of a column, and the column's index within the part."""
        for part, columns in zip(self.parts, self.places, strict=True):
            if column in columns:
                return part, int(np.flatnonzero(columns == column)[0])
        raise IndexError(column)

    def parameters(self, column: int) -> Floats:
        """Return the parameters that identify each state's distribution of a column."""
        part, own = self._find(column)
        return part.parameters(own)

    def take(self, states: NDArray[np.intp]) -> Self:
        """Return the distributions of some states."""
        return replace(self, parts=[part.take(states) for part in self.parts])

    def is_discrete(self, column: int) -> bool:
        """Return whether a column holds integers >= 0."""
        part, own = self._find(column)
        return part.is_discrete(own)

    def cdf(self, x: Floats, column: int) -> Floats:
        """Return P(X <= x), (..., J)."""
        part, own = self._find(column)
        return part.cdf(x, own)

    def brackets(self, q: Floats, column: int) -> tuple[Floats, Floats]:
        """Return bounds of the quantiles of all states."""
        part, own = self._find(column)
        return cast("NumberMarginals", part).brackets(q, own)


@dataclass(frozen=True, eq=False)
class IndependentModel:
    """Blocks of columns with separate models, independent given the state.

    Attributes
    ----------
    blocks : tuple of Block
        Names and columns.
    models : dict
        Models by the names of the blocks.
    """

    blocks: tuple[Block, ...]
    models: dict[str, EmissionModel]

    @property
    def target_columns(self) -> Places | None:
        """The columns that are not given, or None if no column is given."""
        return find_target_columns(self.blocks, [model for _, model in self._pairs()])

    def _pairs(self) -> Iterator[tuple[Block, Any]]:
        for block in self.blocks:
            yield block, self.models[block.name]

    def log_obs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log density of every step in every state, summed over parts, (N, J)."""
        out: Any = None
        for block, model in self._pairs():
            with naming(block.name, block.columns):
                own = model.log_obs(block.of(values))
            if out is None:
                out = own
            else:
                out += own
        return np.asarray(out)

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return an observation for each state, (N, D)."""
        out = np.empty((len(states), sum(len(block.columns) for block in self.blocks)))
        for block, model in self._pairs():
            out[:, block.columns] = model.sample(states, rng)
        return out

    @property
    def symbols(self) -> dict[str, int]:
        """The columns of categories, by the names of their parts."""
        return {
            block.name: int(block.columns[0])
            for block, model in self._pairs()
            if isinstance(model, CategoricalModel)
        }

    def marginals(self) -> IndependentMarginals:
        """Return the distributions of single columns of the next observation."""
        parts: list[Marginals] = []
        for block, model in self._pairs():
            if isinstance(model, CategoricalModel):
                parts.append(UnorderedMarginals(len(model.probs)))
            else:
                _require(block, model, "marginals", "forecast")
                parts.append(model.marginals())
        return IndependentMarginals(parts, [block.columns for block in self.blocks])

    def fill(
        self, values: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return observations with NaN replaced by its mean given the rest of the part's row."""
        out = np.array(values)
        for block, model in self._pairs():
            own = block.of(values)
            if np.isnan(own).any():
                _require(block, model, "fill", "impute")
                out[:, block.columns] = model.fill(own, weights)
        return out

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the model with its states in another order."""
        models = {name: model.reorder(order) for name, model in self.models.items()}
        return replace(self, models=models)


def _require(block: Block, model: Any, method: str, caller: str) -> None:
    if not callable(getattr(model, method, None)):
        raise TypeError(
            f"{caller} requires emissions whose models have a method {method}; that of "
            f"{block.name!r}, {type(model).__name__}, has none."
        )


def mix_symbols(
    emissions: Sequence[IndependentModel], weights: Sequence[Floats]
) -> dict[str, Floats]:
    """Return probabilities of the symbols of each categorical part, (H, V), by its name.
    The weights of states, (H, J) for each model, sum to 1 over all models and states.
    """
    found: dict[str, Floats] = {}
    for name in emissions[0].symbols:
        parts = [
            w @ cast("CategoricalModel", emission.models[name]).probs
            for w, emission in zip(weights, emissions, strict=True)
        ]
        found[name] = np.sum(parts, axis=0)
    return found
