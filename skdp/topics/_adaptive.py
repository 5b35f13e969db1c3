"""The adaptive topic model."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from skdp._checks import shorten
from skdp._sklearn_compat import StrOptions
from skdp.topics._base import PRIOR, InPartitions
from skdp.topics._inferred_number import BaseTableModel


class AdaptiveTopicModel(BaseTableModel):
    r"""Topic model for documents whose segments follow the document and each other (AdaTM).

    A document has topic shares mu. Each of its segments (paragraphs, sentences) varies around a
    mixture of mu and the previous segment, with its own weight; the first one varies around mu
    alone.

    .. math::

        \mu_d &\sim \mathrm{Dir}(\alpha), \quad
        \nu_{d1} \sim \mathrm{PDP}(a, b, \mu_d), \\
        \nu_{dj} &\sim \mathrm{PDP}(a, b, \rho_{dj} \mu_d + (1 - \rho_{dj}) \nu_{d,j-1}), \quad
        \rho_{dj} \sim \mathrm{Beta}(\lambda_S, \lambda_T), \\
        z_{dji} &\sim \nu_{dj}, \quad
        w_{dji} \sim \phi_{z_{dji}}, \quad
        \phi_k \sim \mathrm{Dir}(\gamma)

    With mu, nu, rho and phi integrated out, the topic of every word and the table counts of every
    segment, by parent, are drawn by an exact Gibbs sampler. Use it for long documents that are read
    from beginning to end: subjects continue from segment to segment and return to the theme of the
    document.

    Parameters
    ----------
    n_components, doc_topic_prior, topic_word_prior, dirichlet_prior, seed_words, seed_weight,
    fixed_components, discount, discount_prior, concentration, concentration_prior,
    concentration_scope, document_concentration, document_concentration_prior, top_concentration,
    top_concentration_prior
    mixing_prior : (float, float) or "auto", default=(1.0, 1.0)
        Parameters (lambda_S, lambda_T) of the Beta prior on the weights rho of a segment's parents,
        in [1e-8, 1e8]: lambda_S is for the document, lambda_T for the previous segment. "auto"
        learns both by maximum a posteriori under `dirichlet_prior`.
    burst_concentration, burst_concentration_prior, burst_discount, burst_scope, sampler, init,
    initial_components, max_components, max_iter, burn_in, thin, n_samples, n_chains, n_shards,
    transform_max_iter, transform_burn_in, warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    components_, doc_topic_, segment_topic_
    doc_topic_prior_ : (n_components,) array
    topic_word_prior_, discount_ : float
    mixing_prior_ : (2,) array
        Posterior means, or the given values.
    concentration_
    segment_mixing_ : (n_segments,) array
        Weight of the document as a parent of each training segment, E[rho]: near 0, the segment
        continues the previous one. 1 for the first segment of a document or part.
    n_components_, n_components_distribution_, n_effective_components_, initial_components_,
    weights_, document_concentration_, top_concentration_, burst_concentration_, burst_discount_,
    topic_names_, trace_, n_iter_, convergence_, n_features_in_, feature_names_in_

    See Also
    --------
    SegmentedTopicModel : The limit of a large lambda_S, in which the order does not matter.
    SequentialLDA : The limit of a large lambda_T, in which each segment follows the previous one.
    HDPTopicModel : Model of documents without segments, with an inferred number of topics.
    GibbsLDA : Model of documents without segments.
    skdp.inspection.SegmentMixingDisplay : Plots `segment_mixing_`.

    Notes
    -----
    Averages are over the kept samples of one chain, the one with the highest mean log joint
    probability. `score` and `log_likelihood` average probabilities over the stored samples of all
    chains. `n_jobs` threads work on chains, shards and, in `transform` and `score`, documents.

    An empty segment is also a step in the sequence, so the segment after it follows the one before
    it less closely.

    If documents are divided into parts (`SegmentedCorpus.part_ptr`), the first segment of a part
    varies around the document alone, as the first segment of a document does. With a break before
    every segment, the model is the `SegmentedTopicModel`.

    With ``n_components="auto"`` the model is a hierarchical process, beta ~ GEM(gamma), mu_d ~
    DP(alpha, beta), where alpha is `document_concentration` and gamma `top_concentration`. Topics
    come and go during the fit and are sorted by decreasing size, and as in `HDPTopicModel` all
    attributes are those of the kept sample with the highest log joint. New documents have its
    topics. Given `topic_word_prior`, and with one shard, the sampler is exact. Splits and merges of
    topics are proposed with one shard only.

    With bursts [1]_ the words of a document that have a topic are the customers of a Chinese
    restaurant; a table serves one word, drawn from the topic. So `components_` counts the tables,
    and predictions include the document's own words: `score` and `log_likelihood` give another
    occurrence of a word of the document its share of the customers. Partitions are not available
    with bursts, nor are splits and merges of topics if their number is inferred.

    A `PartitionedCorpus` is fitted where its partitions are, in threads or on a Dask cluster.
    The partitions are the shards: `n_shards` is 1 or their number. On a cluster `doc_topic_`,
    `segment_topic_` and `segment_mixing_` are dask arrays that stay there, and are not pickled.

    References
    ----------
    L. Du, W. Buntine and H. Jin (2012). Modelling sequential text with an adaptive topic model.
    EMNLP-CoNLL. -- L. Du (2012). Non-parametric Bayesian methods for structured topic models. PhD
    thesis, Australian National University, chapters 3 (samplers) and 7; the samplers are
    corrected. -- D. Newman, A. Asuncion, P. Smyth and M. Welling (2009). Distributed algorithms for
    topic models. JMLR 10 (shards).

    .. [1] G. Doyle and C. Elkan (2009). Accounting for burstiness in topic models. ICML. --
       W. L. Buntine and S. Mishra (2014). Experiments with non-parametric topic models. KDD.

    Examples
    --------
    >>> from skdp.topics import AdaptiveTopicModel
    >>> documents = [[[0, 1, 0], [0, 3, 2], [2, 3, 2]], [[2, 3, 3], [1, 0]]]  # of word ids
    >>> model = AdaptiveTopicModel(n_components=2, max_iter=200, random_state=0)
    >>> model.fit(documents).components_.shape
    (2, 4)
    >>> model.transform_segments(documents).shape
    (5, 2)
    >>> model.segment_mixing_[[0, 3]]  # first segments have no other parent
    array([1., 1.])
    """

    _segments_are_ordered = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTableModel._parameter_constraints,
        "mixing_prior": [tuple, list, StrOptions({"auto"})],
    }

    segment_mixing_: Any = InPartitions("use fit(X.compute()), or a sample of the documents.")

    def __init__(
        self,
        n_components: Any = 20,
        *,
        doc_topic_prior: Any = "auto",
        topic_word_prior: Any = "auto",
        dirichlet_prior: tuple[float, float] = (1.0, 0.1),
        seed_words: dict[Any, Any] | None = None,
        seed_weight: int | str = "auto",
        fixed_components: Any = None,
        discount: Any = 0.0,
        discount_prior: tuple[float, float] = (1.0, 1.0),
        concentration: Any = "auto",
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        concentration_scope: str = "corpus",
        document_concentration: Any = "auto",
        document_concentration_prior: tuple[float, float] = (1.0, 0.1),
        top_concentration: Any = "auto",
        top_concentration_prior: tuple[float, float] = (1.0, 0.1),
        mixing_prior: Any = (1.0, 1.0),
        burst_concentration: float | str | None = None,
        burst_concentration_prior: tuple[float, float] = (1.0, 0.001),
        burst_discount: float | str = 0.0,
        burst_scope: str = "document",
        sampler: str = "btigs",
        init: Any = "random",
        initial_components: int | str = "auto",
        max_components: int | None = None,
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

    @property
    def _parents(self) -> tuple[float, float] | str:
        prior = self.mixing_prior
        if isinstance(prior, str):
            return prior
        if len(prior) != 2 or not all(x in PRIOR for x in prior):
            raise ValueError(
                "mixing_prior must be two positive numbers (lambda_S, lambda_T), from "
                f"{PRIOR.left:g} to {PRIOR.right:g}, got {shorten(prior)}."
            )
        return float(prior[0]), float(prior[1])

    def _given_attributes(self, n_topics: int) -> dict[str, Any]:
        given = super()._given_attributes(n_topics)
        return {**given, "mixing_prior_": np.array(given["_fitted_parents"])}
