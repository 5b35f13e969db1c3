"""Stored samples of links, and predictions for new contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints
from skdp.context._distance_dependent._observations import (
    ContextObservations,
    count_pairs,
)
from skdp.context._distance_dependent._subsets import SubsetIndex, weigh_subsets


@dataclass(frozen=True, eq=False)
class LinkModel:
    """A sample: components of the training observations, and the parameters of their prior."""

    labels: NDArray[np.int32]  # (n,)
    parameter: Floats | None  # (D,), of the similarity
    concentration: float
    outcome_prior: float


class Smoother(Protocol):
    """Sums over the training contexts, weighted by their similarity to new contexts."""

    def smooth(
        self, contexts: NDArray, models: Sequence[LinkModel], values: Sequence[Floats]
    ) -> list[Floats]:
        """Return (m, X) sums for each sample's (U, X) values, or for a single array of values."""


class SubsetSmoother:
    """Sums of similarities from counts of observations that agree in sets of columns."""

    def __init__(self, index: SubsetIndex, *, is_product: bool):
        self.index = index
        self.is_product = is_product

    def smooth(
        self, contexts: Ints, models: Sequence[LinkModel], values: Sequence[Floats]
    ) -> list[Floats]:
        """Return sums for contexts that are given as codes."""
        parameters = [np.asarray(model.parameter) for model in models]
        weights = np.array(
            [weigh_subsets(decay) for decay in parameters] if self.is_product else parameters
        )
        return self.index.smooth(contexts, weights, values)


class TableSmoother:
    """Sums of similarities from a table of all pairs; without codes, similarities are given."""

    def __init__(self, codes: Ints | None):
        self.codes = codes

    def smooth(
        self, contexts: NDArray, models: Sequence[LinkModel], values: Sequence[Floats]
    ) -> list[Floats]:
        """Return sums for contexts as codes, or as rows of similarities if these are given."""
        if self.codes is None:
            sums = [contexts @ value for value in values]
            return [sums[s % len(sums)] for s in range(len(models))]
        differ = contexts[:, None] != self.codes
        out = []
        for s, model in enumerate(models):
            similarities = np.exp(-(differ @ model.parameter))
            out.append(similarities @ values[s % len(values)])
        return out


class Predictor:
    """Predictive distributions of the outcomes in new contexts, from stored samples."""

    def __init__(
        self,
        smoother: Smoother,
        observations: ContextObservations,
        *,
        is_shared: bool,
    ):
        self.smoother = smoother
        self.context_of, self.outcomes = observations.context_of, observations.outcomes
        self.n_contexts, self.n_outcomes = observations.n_contexts, observations.n_outcomes
        self.is_shared = is_shared

    def _values(self, model: LinkModel) -> Floats:
        """Return the summed outcome distributions of links to the observations of each context."""
        if self.is_shared:
            return count_pairs(self.context_of, self.outcomes, self.n_contexts, self.n_outcomes)
        n_components = int(model.labels.max()) + 1
        counts = count_pairs(model.labels, self.outcomes, n_components, self.n_outcomes)
        counts += model.outcome_prior
        shares = counts / counts.sum(axis=1, keepdims=True)
        values = np.zeros((self.n_contexts, self.n_outcomes))
        np.add.at(values, self.context_of, shares[model.labels])
        return values

    def _fresh(self, model: LinkModel) -> Floats:
        """Return the distribution of outcomes of a new component, (X,)."""
        counts = np.full(self.n_outcomes, model.outcome_prior)
        if self.is_shared:
            firsts = np.unique(model.labels, return_index=True)[1]
            counts += np.bincount(self.outcomes[firsts], minlength=self.n_outcomes)
        return counts / counts.sum()

    def predict(self, contexts: NDArray, models: Sequence[LinkModel]) -> Floats:
        """Return the distributions of outcomes in new contexts, (m, X): the mean over samples."""
        kinds = models[:1] if self.is_shared else models
        sums = self.smoother.smooth(contexts, models, [self._values(model) for model in kinds])
        total = np.zeros((len(contexts), self.n_outcomes))
        for model, part in zip(models, sums, strict=True):
            weights = part + model.concentration * self._fresh(model)  # parts may share memory
            total += weights / weights.sum(axis=1, keepdims=True)
        return total / len(models)
