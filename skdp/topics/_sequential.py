"""Sequential latent Dirichlet allocation."""

from __future__ import annotations

from typing import Any, ClassVar

from skdp.topics._base import AT_LEAST_ONE
from skdp.topics._inferred_number import BaseTableModel


class SequentialLDA(BaseTableModel):
    r"""Topic model for documents whose segments follow from one another (SeqLDA).

    A document has topic shares mu, around which its first segment (paragraph, chapter) varies; each
    later segment varies around the previous one.

    .. math::

        \mu_d &\sim \mathrm{Dir}(\alpha), \quad
        \nu_{d1} \sim \mathrm{PDP}(a, b, \mu_d), \quad
        \nu_{dj} \sim \mathrm{PDP}(a, b, \nu_{d,j-1}), \\
        z_{dji} &\sim \nu_{dj}, \quad
        w_{dji} \sim \phi_{z_{dji}}, \quad
        \phi_k \sim \mathrm{Dir}(\gamma)

    With mu, nu and phi integrated out, the topic of every word and the table counts of every
    segment are drawn by an exact Gibbs sampler. Use it for documents of a few segments that drift,
    such as the chapters of a book. If long documents return to their theme, use
    `AdaptiveTopicModel`.

    Parameters
    ----------
    n_components : int, default=20
        Number of topics K.
    doc_topic_prior, topic_word_prior, dirichlet_prior, seed_words, seed_weight, fixed_components,
    discount, discount_prior, concentration, concentration_prior, concentration_scope,
    burst_concentration, burst_concentration_prior, burst_discount, burst_scope, sampler, init,
    max_iter, burn_in, thin, n_samples, n_chains, n_shards, transform_max_iter, transform_burn_in,
    warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    components_
    doc_topic_ : (n_documents, n_components) array
        Topic shares around which the first segments of the training documents vary, E[mu].
    segment_topic_
    doc_topic_prior_ : (n_components,) array
    topic_word_prior_, discount_ : float
        Posterior means, or the given values.
    concentration_
    burst_concentration_, burst_discount_ : float
        Only with bursts: posterior means, or the given values.
    topic_names_, trace_, n_iter_, convergence_, n_features_in_, feature_names_in_

    See Also
    --------
    AdaptiveTopicModel : Model in which segments may also return to their document.
    SegmentedTopicModel : Model in which the order of segments does not matter.
    GibbsLDA : Model of documents without segments.

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

    With bursts [1]_ the words of a document that have a topic are the customers of a Chinese
    restaurant; a table serves one word, drawn from the topic. So `components_` counts the tables,
    and predictions include the document's own words: `score` and `log_likelihood` give another
    occurrence of a word of the document its share of the customers. Partitions are not available
    with bursts.

    A `PartitionedCorpus` is fitted where its partitions are, in threads or on a Dask cluster.
    The partitions are the shards: `n_shards` is 1 or their number. On a cluster `doc_topic_` and
    `segment_topic_` are dask arrays that stay there, and are not pickled.

    References
    ----------
    L. Du, W. Buntine, H. Jin and C. Chen (2012). Sequential latent Dirichlet allocation. Knowledge
    and Information Systems 31. -- L. Du (2012). Non-parametric Bayesian methods for structured
    topic models. PhD thesis, Australian National University, chapters 3 (samplers) and 6; the
    samplers are corrected. -- D. Newman, A. Asuncion, P. Smyth and M. Welling (2009). Distributed
    algorithms for topic models. JMLR 10 (shards).

    .. [1] G. Doyle and C. Elkan (2009). Accounting for burstiness in topic models. ICML. --
       W. L. Buntine and S. Mishra (2014). Experiments with non-parametric topic models. KDD.

    Examples
    --------
    >>> from skdp.topics import SequentialLDA
    >>> documents = [[[0, 1, 0], [0, 3, 2], [2, 3, 2]], [[2, 3, 3], [1, 0]]]  # of word ids
    >>> model = SequentialLDA(n_components=2, max_iter=200, random_state=0)
    >>> model.fit(documents).components_.shape
    (2, 4)
    >>> model.transform_segments(documents).shape
    (5, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseTableModel._parameter_constraints,
        "n_components": [AT_LEAST_ONE],
    }

    _segments_are_ordered = True
    _may_be_open = False

    _parents = (0.0, 1.0)

    def __init__(
        self,
        n_components: int = 20,
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
        burst_concentration: float | str | None = None,
        burst_concentration_prior: tuple[float, float] = (1.0, 0.001),
        burst_discount: float | str = 0.0,
        burst_scope: str = "document",
        sampler: str = "btigs",
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
