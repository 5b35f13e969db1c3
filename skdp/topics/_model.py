"""A sample of a topic model without its corpus."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TopicModel:
    """A sample of the model without the corpus: what new documents are folded into.

    Attributes
    ----------
    components : (K, W) float32 array
        Word probabilities of the topics.
    doc_topic_prior : (K,) array
    discount, concentration : float
    """

    components: NDArray[np.float32]
    doc_topic_prior: NDArray[np.float64]
    discount: float
    concentration: float
