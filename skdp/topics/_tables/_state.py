"""Read-only view of the state of a table model's chain after a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp.topics._lda._state import LDAState


class TableState(LDAState):
    """The state of a table model's chain; its joint is in the multiplicity form."""

    @property
    def tables_to_document(self) -> NDArray[np.int32]:
        """Tables by segment and topic whose dish was ordered from the document's node, (J, K)."""
        return as_readonly(self._sampler.assignments.tables)

    @property
    def tables_to_previous(self) -> NDArray[np.int32]:
        """Tables whose dish was ordered from the previous segment, (J, K); STM: all zero."""
        to_document = self._sampler.assignments.tables
        to_previous = self._sampler.assignments.to_previous
        if to_previous.shape != to_document.shape:
            return np.broadcast_to(np.int32(0), to_document.shape)
        return as_readonly(to_previous)

    @property
    def concentration(self) -> Any:
        """Concentration b: a float, or an array with one for each document or segment."""
        concentration = self._sampler.concentration
        if self._sampler.hyper.concentration_scope == "corpus":
            return float(concentration[0])
        return as_readonly(concentration)

    @property
    def discount(self) -> float:
        """Discount a."""
        return float(self._sampler.discount)

    @property
    def mixing_prior(self) -> tuple[float, float]:
        """Prior (lambda_S, lambda_T) of the weights of a segment's parents; 0 excludes a parent."""
        return self._sampler.parents


class OpenTableState(TableState):
    """The state of a table model's chain whose number of topics is inferred."""

    @property
    def tables_to_document(self) -> NDArray[np.int32]:
        """Tables by segment and topic whose dish was ordered from the document's node, (J, K)."""
        return super().tables_to_document[:, : self._sampler.n_topics]

    @property
    def tables_to_previous(self) -> NDArray[np.int32]:
        """Tables whose dish was ordered from the previous segment, (J, K); STM: all zero."""
        return super().tables_to_previous[:, : self._sampler.n_topics]

    @property
    def top_weights(self) -> NDArray[np.float64]:
        """Weights beta of the topics that have words, (K,); all others have the rest."""
        return as_readonly(self._sampler.weights)

    @property
    def document_concentration(self) -> float:
        """Concentration alpha of documents."""
        return float(self._sampler.document_concentration)

    @property
    def top_concentration(self) -> float:
        """Concentration gamma of the topics' weights."""
        return float(self._sampler.top_concentration)
