"""Latent Dirichlet co-clustering: topics of words, and topics of segments."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from skdp._checks import check_gamma_prior, check_memory, shorten
from skdp._numeric import Floats
from skdp._sklearn_compat import StrOptions
from skdp.data import SegmentedCorpus
from skdp.topics._base import (
    AT_LEAST_ONE,
    PRIOR,
    BaseTopicModel,
    check_dirichlet,
    check_given,
)
from skdp.topics._lda._ldcc import (
    CoClusterAverages,
    CoClusterModel,
    DistributedCoClusterAverages,
    DistributedCoClusterSampler,
)


class LatentDirichletCoClustering(BaseTopicModel):
    r"""Latent Dirichlet co-clustering (LDCC) by collapsed Gibbs sampling.

    There are two kinds of topics: every word belongs to a word-topic, and every segment to a
    document-topic. A document-topic is a distribution over the shares of word-topics in a segment.

    .. math::

        \theta_d &\sim \mathrm{Dir}(\delta), \quad
        y_{dj} \sim \theta_d, \quad
        \pi_{dj} \sim \mathrm{Dir}(\alpha_{y_{dj}}), \\
        z_{dji} &\sim \pi_{dj}, \quad
        w_{dji} \sim \phi_{z_{dji}}, \quad
        \phi_k \sim \mathrm{Dir}(\gamma)

    With theta, pi and phi integrated out, the word-topic of every word and the document-topic of
    every segment are drawn given all others. Since the two may lock each other in place, another
    document-topic is also proposed for each segment together with new topics for its words, in a
    Metropolis-Hastings step.

    Parameters
    ----------
    n_components : int, default=20
        Number of word-topics K.
    n_document_topics : int, default=10
        Number of document-topics Y.
    document_topic_prior : float, array, "auto" or "auto-symmetric", default="auto"
        Dirichlet prior delta of the shares of document-topics, per document-topic, in [1e-8, 1e8];
        an array has shape (n_document_topics,). "auto" learns one value per document-topic,
        "auto-symmetric" one value for all, by maximum a posteriori under `dirichlet_prior`.
    segment_topic_prior : float, array or "auto", default="auto"
        Dirichlet priors alpha_y of the shares of word-topics in a segment, in [1e-8, 1e8]: an array
        (n_document_topics, n_components) with a row for each document-topic. "auto" learns it by
        maximum a posteriori under `dirichlet_prior`. A number, or a single row (n_components,),
        applies to all: document-topics then do not differ, and segments are the documents of latent
        Dirichlet allocation.
    topic_word_prior, dirichlet_prior, seed_words, seed_weight, fixed_components
    init : "random" or (n_components, n_features) array, default="random"
        The first state. "random": uniformly random topics of words and of segments. An array of
        word probabilities, such as another model's `components_`: the words are folded into these
        topics, so the word-topics of the two models correspond.
    max_iter, burn_in, thin, n_samples, n_chains, n_shards, transform_max_iter, transform_burn_in,
    warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    components_ : (n_components, n_features) array
        Word probabilities of the word-topics, E[phi]. Rows sum to 1.
    doc_topic_ : (n_documents, n_document_topics) array
        Shares of document-topics in the training documents, E[theta].
    segment_topic_ : (n_segments, n_components) array
        Shares of word-topics in the training segments, E[pi].
    document_topic_prior_ : (n_document_topics,) array
    segment_topic_prior_ : (n_document_topics, n_components) array
        A row divided by its sum holds the expected shares of word-topics under a document-topic.
    topic_word_prior_ : float
        Posterior means, or the given values.
    topic_names_, trace_, n_iter_, convergence_, n_features_in_, feature_names_in_

    See Also
    --------
    SegmentedTopicModel : Model in which the shares of segments vary around their document's.
    GibbsLDA : Model without topics of segments.

    Notes
    -----
    Averages are over the kept samples of one chain, the one with the highest mean log joint
    probability. `score` averages probabilities over the stored samples of all chains. `n_jobs`
    threads work on chains, shards and, in `transform` and `score`, documents.

    A `PartitionedCorpus` is fitted where its partitions are, in threads or on a Dask cluster.
    The partitions are the shards: `n_shards` is 1 or their number. On a cluster `doc_topic_` and
    `segment_topic_` are dask arrays that stay there, and are not pickled.

    References
    ----------
    M. M. Shafiei and E. E. Milios (2006). Latent Dirichlet co-clustering. ICDM. -- L. Du (2012).
    Non-parametric Bayesian methods for structured topic models. PhD thesis, Australian National
    University, section 5.5.2.

    Examples
    --------
    >>> from skdp.topics import LatentDirichletCoClustering
    >>> documents = [[[0, 1, 0], [2, 3, 2]], [[2, 3, 3], [1, 0]]]  # segments of word ids
    >>> model = LatentDirichletCoClustering(
    ...     n_components=2, n_document_topics=3, max_iter=200, random_state=0
    ... )
    >>> model.fit(documents).transform(documents).shape
    (2, 3)
    >>> model.transform_segments(documents).shape
    (4, 2)
    """

    _documents_share_topics = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTopicModel._parameter_constraints,
        "n_document_topics": [AT_LEAST_ONE],
        "document_topic_prior": [PRIOR, "array-like", StrOptions({"auto", "auto-symmetric"})],
        "segment_topic_prior": [PRIOR, "array-like", StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_components: int = 20,
        n_document_topics: int = 10,
        *,
        document_topic_prior: Any = "auto",
        segment_topic_prior: Any = "auto",
        topic_word_prior: Any = "auto",
        dirichlet_prior: tuple[float, float] = (1.0, 0.1),
        seed_words: dict[Any, Any] | None = None,
        seed_weight: int | str = "auto",
        fixed_components: Any = None,
        init: Any = "random",
        max_iter: int = 500,
        burn_in: int | None = None,
        thin: int = 10,
        n_samples: int = 5,
        n_chains: int = 1,
        n_shards: int = 1,
        transform_max_iter: int = 100,
        transform_burn_in: int | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        self._check_document_topic_prior()
        self._check_segment_topic_prior()

    def _check_document_topic_prior(self) -> Any:
        prior, n = self.document_topic_prior, self.n_document_topics
        return check_dirichlet(prior, "document_topic_prior", n, "n_document_topics")

    def _check_segment_topic_prior(self) -> Any:
        """Return the rows alpha_y as array (Y, K), or "auto"."""
        if isinstance(self.segment_topic_prior, str):
            return self.segment_topic_prior
        shape = (self.n_document_topics, self.n_components)
        rows = _as_numbers(self.segment_topic_prior)
        if rows.shape not in ((), shape[1:], shape) or not all(x in PRIOR for x in rows.flat):
            raise ValueError(
                f"segment_topic_prior must hold n_components={shape[1]} numbers from "
                f"{PRIOR.left:g} to {PRIOR.right:g}, or n_document_topics={shape[0]} rows of them, "
                f"got {shorten(self.segment_topic_prior)}."
            )
        return np.array(np.broadcast_to(rows, shape))

    _distributed_sampler = DistributedCoClusterSampler
    _averages = CoClusterAverages, DistributedCoClusterAverages

    def _settings_of_samplers(self, n_words: int) -> Any:
        return (
            self.n_components, self.n_document_topics, self._check_document_topic_prior(),
            self._check_segment_topic_prior(), self._word_prior(),
            check_gamma_prior(self.dirichlet_prior, "dirichlet_prior"), self._check_init(n_words),
        )  # fmt: skip

    def _check_size(self, corpus: SegmentedCorpus) -> None:
        super()._check_size(corpus)
        n_pairs = float(self.n_document_topics) * self.n_components
        n_shares = float(self.n_document_topics) * len(corpus)
        check_memory(
            12.0 * (n_pairs + n_shares) * self.n_chains,
            f"n_document_topics={self.n_document_topics} and n_components={self.n_components}: "
            "counts",
        )

    def _averaged_model(self) -> CoClusterModel:
        return CoClusterModel(
            self.components_.astype(np.float32),
            self.document_topic_prior_,
            self.segment_topic_prior_,
        )

    def _given_attributes(self, n_topics: int) -> dict[str, Any]:
        given = {
            "document_topic_prior": self._check_document_topic_prior(),
            "segment_topic_prior": self._check_segment_topic_prior(),
        }
        check_given(given)
        return {f"{name}_": value for name, value in given.items()}

    @property
    def _n_features_out(self) -> int:
        return len(self.document_topic_prior_)

    @classmethod
    def _for_topics(cls, n_topics: int, params: dict[str, Any]) -> Self:
        rows = _as_numbers(params.get("segment_topic_prior"))
        if rows.ndim == 2:
            params = {"n_document_topics": len(rows), **params}
        return super()._for_topics(n_topics, params)


def _as_numbers(value: Any) -> Floats:
    """Return an array-like as an array of numbers, or an empty array if that fails."""
    try:
        return np.array(value, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        return np.empty(0)
