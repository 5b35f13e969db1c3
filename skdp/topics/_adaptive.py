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
    n_components : int or "auto", default=20
        Number of topics K. "auto" infers it: beta are weights of infinitely many topics,
        `document_concentration` times beta takes the place of `doc_topic_prior`, which must then be
        "auto", and the attributes are those of one sample (see Notes).
    doc_topic_prior : float, (n_components,) array, "auto" or "auto-symmetric", default="auto"
        Dirichlet prior alpha of topic shares, per topic, in [1e-8, 1e8]. "auto" learns one value
        per topic, "auto-symmetric" one value for all topics, by maximum a posteriori under
        `dirichlet_prior`.
    topic_word_prior : float or "auto", default="auto"
        Dirichlet prior gamma of the word probabilities of a topic, per word, in [1e-8, 1e8]. "auto"
        learns it by maximum a posteriori under `dirichlet_prior`.
    dirichlet_prior : (float, float), default=(1.0, 0.1)
        Shape and rate, in [1e-8, 1e8], of the Gamma prior on every learned entry of the Dirichlet
        priors.
    seed_words : dict or None, default=None
        What some topics are about: a dict from topics to lists of words. A topic is a number
        from 0, or a name, which takes the lowest free number. A word is a word id or, if X is the
        corpus of a `SegmentVectorizer` or a data frame of counts, the word itself. Topics with seed
        words keep their numbers; if the number of topics is inferred, they come first, and exist
        without words, too. With ``init="random"`` words start with topics drawn from this prior.
    seed_weight : int or "auto", default="auto"
        Pseudo-count of every seed word in its topic, from 1 to 2^20: the prior counts as this many
        occurrences of the word in the topic. "auto": .75 % of the mean number of words in a topic,
        with the initial number of topics if it is inferred.
    fixed_components : (n_fixed, n_features) array-like or None, default=None
        Known topics: the first topics keep exactly these word probabilities, and the others are
        learned in addition. Rows sum to 1; numbers below 1e-17 count as 0, and a word of
        probability 0 never has the topic. Fixed topics replace the first rows of `init`, and have
        no seed words.
    discount : float in [0, 1) or "auto", default=0.0
        Discount a of the Poisson-Dirichlet process. "auto" draws it in every sweep under
        `discount_prior`.
    discount_prior : (float, float), default=(1.0, 1.0)
        Parameters p and q of the Beta prior on a learned `discount`, in [1e-8, 1e8].
    concentration : float or "auto", default="auto"
        Concentration b of the Poisson-Dirichlet process, in [1e-8, 1e12]: how closely segments
        follow what they vary around, measured in words. "auto" draws it in every sweep under
        `concentration_prior`.
    concentration_prior : (float, float), default=(1.0, 0.1)
        Shape and rate of the Gamma prior on a learned `concentration`, in [1e-8, 1e8].
    concentration_scope : {"corpus", "document", "segment"}, default="corpus"
        "corpus": all segments share one learned `concentration`. "document" or "segment": each
        document or each segment draws its own under `concentration_prior`, new documents when they
        are folded in. If `concentration` is a number, the scope has no effect.
    document_concentration : float or "auto", default="auto"
        Used if `n_components` is "auto": concentration of the topic shares of documents, in [1e-8,
        1e8], how much they are like beta. "auto" draws it given `document_concentration_prior`.
    document_concentration_prior : (float, float), default=(1.0, 0.1)
        Shape and rate, in [1e-8, 1e8], of the Gamma prior of a document concentration that is
        drawn.
    top_concentration : float or "auto", default="auto"
        Used if `n_components` is "auto": concentration of the weights beta, in [1e-8, 1e4]. The
        larger, the more topics, and the longer a sweep. "auto" draws it given
        `top_concentration_prior`.
    top_concentration_prior : (float, float), default=(1.0, 0.1)
        Shape and rate, in [1e-8, 1e8], of the Gamma prior of a top concentration that is drawn.
    mixing_prior : (float, float) or "auto", default=(1.0, 1.0)
        Parameters (lambda_S, lambda_T) of the Beta prior on the weights rho of a segment's parents,
        in [1e-8, 1e8]: lambda_S is for the document, lambda_T for the previous segment. "auto"
        learns both by maximum a posteriori under `dirichlet_prior`.
    burst_concentration : float, "auto" or None, default=None
        Bursts of words: a word that occurs in a document (in a segment, if `level` or `burst_scope`
        is "segment") is likely to recur there. Each document has its own version of every topic's
        words, psi_dk ~ PYP(a_w, b_w, phi_k), and b_w, in [1e-8, 1e8], is how closely it follows the
        topic, measured in words: after b_w words of a topic, the next one repeats one of them with
        probability 1 / 2. "auto" draws b_w in every sweep under `burst_concentration_prior`; from
        given topics (`from_topics`) nothing can be drawn, and there are no bursts. None: no bursts.
    burst_concentration_prior : (float, float), default=(1.0, 0.001)
        Shape and rate of the Gamma prior on a drawn `burst_concentration`, in [1e-8, 1e8].
    burst_discount : float in [0, 1) or "auto", default=0.0
        Discount a_w of bursts. "auto" draws it in every sweep under a uniform prior. It has no
        effect without bursts.
    burst_scope : {"document", "segment"}, default="document"
        The unit of bursts: whether words recur in a document or in a segment.
    sampler : {"btigs", "cmgs", "ssa"}, default="btigs"
        Blocked table indicators, collapsed multiplicities or seating arrangements. All are exact;
        "btigs" is the fastest. A sweep of "ssa" takes time quadratic in the number of tables of a
        segment.
    init : "random", "lda" or (n_components, n_features) array, default="random"
        The first state. "random": uniformly random topics. "lda": words start with the topics of an
        LDA chain of 100 sweeps, with segments as documents. An array of word probabilities, such as
        another model's `components_`: the words are folded into these topics, so the topics of the
        two models correspond.
    initial_components : int or "auto", default="auto"
        Used if `n_components` is "auto": number of topics of a first state that is not given.
        "auto": pilots choose it, short chains from 1 to 300 topics (whose counts may take 1 GiB).
        They see four fifths of the words and are judged by the probability of the others. It is 20
        if X has less than 300 tokens or 20 segments. If no pilot is clearly better than one topic,
        the fit has one topic, unless topics have seed words or given words. The result depends on
        this number, because chains rarely split large topics and lose superfluous topics slowly.
    max_components : int or None, default=None
        Largest number of topics, for tables that people read: the posterior is that of the model
        given that no more topics have words or seed words. None: no bound. If at least half of the
        kept sweeps have as many, `fit` warns.
    max_iter : int, default=500
        Number of sweeps of each chain.
    burn_in : int or None, default=None
        Number of sweeps to discard at the start of each chain. None: half of the current
        `max_iter`. With ``warm_start=True`` it may be `max_iter` or more; the fit then shows the
        current state.
    thin : int, default=10
        After the burn-in, keep the first sweep, every `thin`-th sweep from there on, and the last
        sweep.
    n_samples : int, default=5
        Number of kept samples of each chain, evenly spaced, to store as models. Held-out scores and
        probabilities are averaged over them.
    n_chains : int, default=1
        Number of independent chains, each from its own first state. Attributes and features come
        from the chain with the highest mean log joint, scores from all chains.
    n_shards : int, default=1
        Number of shards: runs of documents that are swept at the same time, each with the words of
        the others as they were before the sweep. This is approximate (AD-LDA; if words are rare
        in all topics, give `topic_word_prior` as a number), and faster with `n_jobs`. 1: exact.
    transform_max_iter : int, default=100
        Number of sweeps over each document in `transform` and `score`.
    transform_burn_in : int or None, default=None
        Number of these sweeps to discard at the start. None: half.
    warm_start : bool, default=False
        Keep the state of the fit, so that another `fit` on the same X continues where this one
        stopped: after an interruption, or with a larger `max_iter`.
    n_jobs : int or None, default=None
        Number of threads (or of workers of joblib's active backend). Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of random numbers. An int gives the same result every time.
    verbose : int, default=0
        Print a line every `verbose` sweeps or iterations; 0: none; -1: none on compiling, either.

    Attributes
    ----------
    components_ : (n_components, n_features) array
        Word probabilities of the topics, E[phi]. Rows sum to 1.
    doc_topic_ : (n_documents, n_components) array
        Topic shares of the training documents, E[mu].
    segment_topic_ : (n_segments, n_components) array
        Topic shares of the training segments, E[nu].
    doc_topic_prior_ : (n_components,) array
    topic_word_prior_, discount_ : float
    mixing_prior_ : (2,) array
        Posterior means, or the given values.
    concentration_ : float, or (n_documents,) or (n_segments,) array
        Posterior mean, or the given value; an array with `concentration_scope` "document" or
        "segment".
    segment_mixing_ : (n_segments,) array
        Weight of the document as a parent of each training segment, E[rho]: near 0, the segment
        continues the previous one. 1 for the first segment of a document or part.
    n_components_ : int
        With ``n_components="auto"``: number of topics that have words or seed words, in the sample
        that is shown.
    n_components_distribution_ : array
        With ``n_components="auto"``: entry k is P(K = k), over the kept sweeps of all chains.
    n_effective_components_ : float
        With ``n_components="auto"``: exp of the entropy of the weights, the number of equally large
        topics that would be as diverse.
    initial_components_ : int
        With ``n_components="auto"``: number of topics of the first state.
    weights_ : (n_components,) array
        With ``n_components="auto"``: weights beta of the topics. The remainder to 1 is left for
        topics that no word has.
    document_concentration_, top_concentration_ : float
        With ``n_components="auto"``: values in the sample that is shown, or the given values.
    burst_concentration_, burst_discount_ : float
        Only with bursts: posterior means or, if the number of topics is inferred, values in the
        sample that is shown, or the given values.
    topic_names_ : list of str or None
        Only if `seed_words` has names: the names of all topics, None for those without.
    trace_ : Trace
        Scalars of every kept sweep of every chain.
    n_iter_ : int
        Number of sweeps done.
    convergence_ : dict
        The numbers behind the ConvergenceWarnings of the fit, by kind; empty without a warning.
    n_features_in_ : int
        Size of the vocabulary.
    feature_names_in_ : (n_features,) array of str
        Only if X was a data frame with string column names.

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
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.dirichlet_prior = dirichlet_prior
        self.seed_words = seed_words
        self.seed_weight = seed_weight
        self.fixed_components = fixed_components
        self.discount = discount
        self.discount_prior = discount_prior
        self.concentration = concentration
        self.concentration_prior = concentration_prior
        self.concentration_scope = concentration_scope
        self.document_concentration = document_concentration
        self.document_concentration_prior = document_concentration_prior
        self.top_concentration = top_concentration
        self.top_concentration_prior = top_concentration_prior
        self.mixing_prior = mixing_prior
        self.burst_concentration = burst_concentration
        self.burst_concentration_prior = burst_concentration_prior
        self.burst_discount = burst_discount
        self.burst_scope = burst_scope
        self.sampler = sampler
        self.init = init
        self.initial_components = initial_components
        self.max_components = max_components
        self.max_iter = max_iter
        self.burn_in = burn_in
        self.thin = thin
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.n_shards = n_shards
        self.transform_max_iter = transform_max_iter
        self.transform_burn_in = transform_burn_in
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
