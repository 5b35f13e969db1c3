"""The segmented topic model."""

from __future__ import annotations

from typing import Any

from skdp.topics._inferred_number import BaseTableModel


class SegmentedTopicModel(BaseTableModel):
    r"""Topic model for documents made of segments (STM).

    A document has topic shares mu, and each of its segments (paragraphs, sentences) has its own
    shares, which vary around mu: the segments are exchangeable.

    .. math::

        \mu_d &\sim \mathrm{Dir}(\alpha), \quad
        \nu_{dj} \sim \mathrm{PDP}(a, b, \mu_d), \\
        z_{dji} &\sim \nu_{dj}, \quad
        w_{dji} \sim \phi_{z_{dji}}, \quad
        \phi_k \sim \mathrm{Dir}(\gamma)

    With mu, nu and phi integrated out, the topic of every word and the table counts of every
    segment are drawn by an exact Gibbs sampler. Use it if the parts of a document differ and their
    order does not matter.

    Parameters
    ----------
    n_components, doc_topic_prior, topic_word_prior, dirichlet_prior, seed_words, seed_weight,
    fixed_components, discount, discount_prior, concentration, concentration_prior,
    concentration_scope, document_concentration, document_concentration_prior, top_concentration,
    top_concentration_prior, burst_concentration, burst_concentration_prior, burst_discount,
    burst_scope, sampler, init, initial_components, max_components, max_iter, burn_in, thin,
    n_samples, n_chains, n_shards, transform_max_iter, transform_burn_in, warm_start, n_jobs,
    random_state, verbose

    Attributes
    ----------
    components_, doc_topic_, segment_topic_
    doc_topic_prior_ : (n_components,) array
    topic_word_prior_, discount_ : float
        Posterior means, or the given values.
    concentration_, n_components_, n_components_distribution_, n_effective_components_,
    initial_components_, weights_, document_concentration_, top_concentration_,
    burst_concentration_, burst_discount_, topic_names_, trace_, n_iter_, convergence_,
    n_features_in_, feature_names_in_

    See Also
    --------
    SectionedTopicModel : Model of documents of sections of segments.
    SequentialLDA : Model in which each segment varies around the previous one.
    AdaptiveTopicModel : Model in which segments vary around both, with learned weights.
    HDPTopicModel : Model of documents without segments, with an inferred number of topics.
    GibbsLDA : Model of documents without segments.
    LatentDirichletCoClustering : Model in which segments have their own topics.
    TopicSegmenter : Model of documents whose segments are not given.

    Notes
    -----
    Averages are over the kept samples of one chain, the one with the highest mean log joint
    probability. `score` and `log_likelihood` average probabilities over the stored samples of all
    chains. `n_jobs` threads work on chains, shards and, in `transform` and `score`, documents.

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
    The partitions are the shards: `n_shards` is 1 or their number. On a cluster `doc_topic_` and
    `segment_topic_` are dask arrays that stay there, and are not pickled.

    References
    ----------
    L. Du, W. Buntine and H. Jin (2010). A segmented topic model based on the two-parameter
    Poisson-Dirichlet process. Machine Learning 81. -- L. Du (2012). Non-parametric Bayesian methods
    for structured topic models. PhD thesis, Australian National University, chapters 3 (samplers)
    and 5; the samplers are corrected. -- D. Newman, A. Asuncion, P. Smyth and M. Welling (2009).
    Distributed algorithms for topic models. JMLR 10 (shards).

    .. [1] G. Doyle and C. Elkan (2009). Accounting for burstiness in topic models. ICML. --
       W. L. Buntine and S. Mishra (2014). Experiments with non-parametric topic models. KDD.

    Examples
    --------
    >>> from skdp.topics import SegmentedTopicModel
    >>> documents = [[[0, 1, 0], [2, 3, 2]], [[2, 3, 3], [1, 0]]]  # segments of word ids
    >>> model = SegmentedTopicModel(n_components=2, max_iter=200, random_state=0)
    >>> model.fit(documents).components_.shape
    (2, 4)
    >>> model.transform(documents).shape
    (2, 2)
    >>> model.transform_segments(documents).shape
    (4, 2)
    """

    _parents = (1.0, 0.0)

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
