"""Explanations of predictions by the contributions of the restaurants on a path."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints
from skdp.context._backoff._tree import ContextTree
from skdp.processes._interpolated import InterpolatedModel


class BackoffStep(NamedTuple):
    """A context on the path from the base to the narrowest level, and its share of a prediction.

    Attributes
    ----------
    level : str
        "base", "root", or the columns that the level adds.
    context : tuple
        The values of these and all preceding columns.
    customers : float
        Number of customers of the context: its events, or the tables of the contexts below it if
        there are levels below. 0 for an unseen context.
    tables : float
        Number of tables, which count as customers of the context in the level above.
    weight : float
        The share of the context's own counts in the prediction. The weights of all levels sum to 1.
    probability : float
        Contribution of these counts to the probability of the predicted class.
    """

    level: str
    context: tuple[Any, ...]
    customers: float
    tables: float
    weight: float
    probability: float


class CountedModel(NamedTuple):
    """A model, with the customers and tables of its restaurants."""

    model: InterpolatedModel
    customers: Ints
    tables: Ints


def explain_paths(models: Iterable[CountedModel], contexts: Ints, cells: Ints) -> Floats:
    """Return the mean customers, tables, weight and probability of contexts, (4, n, 1 + n_depths).

    The base comes first; the probabilities refer to the outcomes of the cells.
    """
    total, n_models = np.zeros((4, len(contexts), contexts.shape[1] + 1)), 0
    for each in models:
        total += _explain(each, contexts, cells)
        n_models += 1
    return total / n_models


def _explain(counted: CountedModel, contexts: Ints, cells: Ints) -> Floats:
    model = counted.model
    is_seen, is_cell = contexts >= 0, cells >= 0
    found = np.zeros((4, len(contexts), contexts.shape[1] + 1))
    found[0, :, 1:] = np.where(is_seen, counted.customers[contexts], 0)
    found[1, :, 1:] = np.where(is_seen, counted.tables[contexts], 0)
    left = np.ones(found.shape[1:])
    left[:, 1:] = np.where(is_seen, model.backoff[contexts], 1.0)
    # All narrower contexts dilute the contribution of a context.
    below = np.ones_like(left)
    below[:, :-1] = np.cumprod(left[:, :0:-1], axis=1)[:, ::-1]
    found[2, :, 0] = below[:, 0]
    found[2, :, 1:] = (1.0 - left[:, 1:]) * below[:, 1:]
    found[3, :, 1:] = np.where(is_cell, model.mass[cells], 0.0) * below[:, 1:]
    return found


def name_levels(tree: ContextTree, names: NDArray[Any] | None) -> list[str]:
    """Return the names of the levels, the base first, from the `names` of the columns."""
    found = ["base"] + ["root"] * tree.has_root
    for level in tree.levels:
        parts = (f"column {j}" if names is None else str(names[j]) for j in level)
        found.append(", ".join(parts))
    return found
