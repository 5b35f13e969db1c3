"""Topic models whose number of topics is inferred: hierarchical Dirichlet processes."""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_gamma_prior
from skdp._fit._estimator import StreamMixin
from skdp._numeric._random import Role, derive_stream
from skdp._sklearn_compat import Interval, StrOptions
from skdp.data import SegmentedCorpus
from skdp.processes._partitions import TopPriors, check_concentration_or_prior
from skdp.topics._inferred_number import InferredNumberModel
from skdp.topics._lda._hdp import HDPSampler
from skdp.topics._lda._sampler import LDAModel
from skdp.topics._shared._arrays import LabeledCorpus
from skdp.topics._shared._bursts import (
    BURST_ATTRIBUTES,
    BURST_CONSTRAINTS,
    fitted_bursts,
    make_bursts,
)
from skdp.topics._shared._fold_in import LikelihoodMixin


class HDPTopicModel(LikelihoodMixin, InferredNumberModel, StreamMixin):
    r"""Topic model with an inferred number of topics: a hierarchical Dirichlet process.

    Latent Dirichlet allocation with a number of topics that is inferred from the documents. The
    weights of the topics are shared by all documents, and always leave some probability for a new
    topic.

    .. math::

        \beta &\sim \mathrm{GEM}(\gamma), \quad
        \theta_d \sim \mathrm{DP}(\alpha, \beta), \\
        z_{di} &\sim \theta_d, \quad
        w_{di} \sim \phi_{z_{di}}, \quad
        \phi_k \sim \mathrm{Dir}(\eta)

    With theta and phi integrated out, the topic of every word is drawn given all others, with a new
    topic among the choices (direct assignment), then the weights beta. Splits and merges of whole
    topics are proposed as well. Given `topic_word_prior`, the sampler is exact.

    Parameters
    ----------
    level : {"document", "segment"}, default="document"
        Whether documents or segments have topic shares. With "segment", the shares of a document
        are the mean of the shares of its segments, weighted by tokens.
    concentration : float or "auto", default="auto"
        Concentration alpha of topic shares, in [1e-8, 1e8]: how similar the shares of a document
        are to beta. "auto" draws it given `concentration_prior`.
    concentration_prior : (float, float), default=(1.0, 0.1)
        Shape and rate, in [1e-8, 1e8], of the Gamma prior of a concentration that is drawn.
    top_concentration : float or "auto", default="auto"
        Concentration gamma of the weights of topics, in [1e-8, 1e8]: the larger, the more topics.
        "auto" draws it given `top_concentration_prior`.
    top_concentration_prior : (float, float), default=(1.0, 0.1)
        Shape and rate, in [1e-8, 1e8], of the Gamma prior of a top concentration that is drawn.
    topic_word_prior : float or "auto", default="auto"
        Dirichlet prior eta of the word probabilities of a topic, per word, in [1e-8, 1e8]. "auto"
        learns it by maximum a posteriori under `dirichlet_prior`. The smaller, the more topics.
    dirichlet_prior : (float, float), default=(1.0, 0.1)
        Shape and rate, in [1e-8, 1e8], of the Gamma prior on every learned entry of the Dirichlet
        priors.
    burst_concentration : float, "auto" or None, default="auto"
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
    init : "random" or (n_topics, n_features) array, default="random"
        The first state. "random": `initial_components` uniformly random topics. An array of word
        probabilities, such as another model's `components_`: the words are folded into these
        topics. Topics may come and go from there.
    initial_components : int or "auto", default="auto"
        Number of topics of a first state that is not given. "auto": pilots choose it, short chains
        from 1 to 300 topics (whose counts may take 1 GiB). They see four fifths of the words and
        are judged by the probability of the others. It is 20 if X has less than 300 tokens or 20
        segments. With bursts the fit begins with the smallest number within a standard error of the
        best. If no pilot is clearly better than one topic, the fit has one topic, unless topics
        have seed words or given words. The result depends on this number, because chains rarely
        split large topics and lose superfluous topics slowly.
    max_components : int or None, default=None
        Largest number of topics, for tables that people read: the posterior is that of the model
        given that no more topics have words or seed words. None: no bound. If at least half of the
        kept sweeps have as many, `fit` warns.
    split_merge : bool, default=True
        Whether to propose, in every sweep, to split topics in two and to merge two into one.
        Otherwise topics come and go word by word only, which is slow if topics are large.
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
    transform_max_iter : int, default=100
        Number of sweeps over each document in `transform` and `score`.
    transform_burn_in : int or None, default=None
        Number of these sweeps to discard at the start. None: half.
    stream_sweeps : int, default=20
        Number of sweeps of each later call of `partial_fit`.
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
    n_components_ : int
        Number of topics K that have words or seed words, in the sample that is shown.
    n_components_distribution_ : array
        Posterior distribution of the number of topics: entry k is P(K = k), over the kept sweeps of
        all chains.
    n_effective_components_ : float
        exp of the entropy of the weights, the number of equally large topics that would be as
        diverse.
    initial_components_ : int
        Number of topics of the first state.
    components_ : (K, n_features) array
        Word probabilities of the topics, E[phi]: first topics with seed words, then the others in
        decreasing order of their number of words. Rows sum to 1.
    weights_ : (K,) array
        Weights beta of the topics. Their sum is a little less than 1: the rest is left for topics
        that no word has. For given topics (`from_topics`) all weights are equal and sum to 1.
    doc_topic_ : (n_documents, K) array
        Topic shares of the training documents.
    segment_topic_ : (n_segments, K) array
        Topic shares of the training segments; with level "document", the shares of their document.
    doc_topic_prior_ : (K,) array
        Prior alpha beta of topic shares.
    concentration_, top_concentration_, topic_word_prior_ : float
        Values in the sample that is shown, or the given values.
    burst_concentration_, burst_discount_ : float
        Only with bursts: values in the sample that is shown, or the given values.
    topic_names_ : list of str or None
        Only if `seed_words` has names: the names of all topics, None for those without.
    trace_ : Trace
        Scalars of every kept sweep of every chain, the number of topics among them.
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
    GibbsLDA : Model with a given number of topics.
    SegmentedTopicModel : Model in which the shares of segments vary around their document's.
    AdaptiveTopicModel : Model in which segments follow each other; its number can be inferred, too.
    skdp.mixture.HDPMixture : The corresponding model of groups of rows.

    Notes
    -----
    The number of topics varies from sample to sample, so samples are not averaged: the attributes
    are those of the kept sample with the highest log joint. `score` and `log_likelihood` average
    over the stored samples, regardless of their topics. New documents have the topics of a sample;
    the share of topics that no training word has, alpha beta_u / (alpha + n), is left out.

    Sweeps are dense: their time is proportional to the number of topics. With bursts [1]_ the words
    of a document that have a topic are the customers of a Chinese restaurant, and a table serves
    one word, drawn from the topic; splits and merges divide the tables. Topics are then ordered by
    their numbers of tables. Time grows if a word has hundreds of tables in a document.

    References
    ----------
    Y. W. Teh, M. I. Jordan, M. J. Beal and D. M. Blei (2006). Hierarchical Dirichlet processes.
    JASA 101, section 5.3. -- S. Jain and R. M. Neal (2004). A split-merge Markov chain Monte Carlo
    procedure for the Dirichlet process mixture model. JCGS 13. -- C. Wang and D. M. Blei (2012). A
    split-merge MCMC algorithm for the hierarchical Dirichlet process.

    .. [1] G. Doyle and C. Elkan (2009). Accounting for burstiness in topic models. ICML. --
       W. L. Buntine and S. Mishra (2014). Experiments with non-parametric topic models. KDD.

    Examples
    --------
    >>> from skdp.topics import HDPTopicModel
    >>> documents = [[[0, 1, 0, 1, 1, 0]], [[2, 3, 2, 2, 3]], [[0, 0, 1, 1]], [[3, 3, 2]]]
    >>> hdp = HDPTopicModel(max_iter=200, random_state=0).fit(documents * 5)
    >>> hdp.n_components_
    2
    >>> hdp.transform(documents).argmax(axis=1).tolist()
    [0, 1, 0, 1]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **InferredNumberModel._parameter_constraints,
        "concentration": "no_validation",
        "concentration_prior": [tuple, list],
        "top_concentration": "no_validation",
        "top_concentration_prior": [tuple, list],
        "level": [StrOptions({"document", "segment"})],
        "initial_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_components": [Interval(Integral, 1, None, closed="left"), None],
        "split_merge": ["boolean"],
        **BURST_CONSTRAINTS,
        **StreamMixin._stream_constraints,
    }

    _optional_attributes = InferredNumberModel._optional_attributes | BURST_ATTRIBUTES

    def __init__(
        self,
        *,
        level: str = "document",
        concentration: Any = "auto",
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        top_concentration: Any = "auto",
        top_concentration_prior: tuple[float, float] = (1.0, 0.1),
        topic_word_prior: Any = "auto",
        dirichlet_prior: tuple[float, float] = (1.0, 0.1),
        burst_concentration: float | str | None = "auto",
        burst_concentration_prior: tuple[float, float] = (1.0, 0.001),
        burst_discount: float | str = 0.0,
        seed_words: dict[Any, Any] | None = None,
        seed_weight: int | str = "auto",
        fixed_components: Any = None,
        init: Any = "random",
        initial_components: int | str = "auto",
        max_components: int | None = None,
        split_merge: bool = True,
        max_iter: int = 500,
        burn_in: int | None = None,
        thin: int = 10,
        n_samples: int = 5,
        n_chains: int = 1,
        transform_max_iter: int = 100,
        transform_burn_in: int | None = None,
        stream_sweeps: int = 20,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.level = level
        self.concentration = concentration
        self.concentration_prior = concentration_prior
        self.top_concentration = top_concentration
        self.top_concentration_prior = top_concentration_prior
        self.topic_word_prior = topic_word_prior
        self.dirichlet_prior = dirichlet_prior
        self.burst_concentration = burst_concentration
        self.burst_concentration_prior = burst_concentration_prior
        self.burst_discount = burst_discount
        self.seed_words = seed_words
        self.seed_weight = seed_weight
        self.fixed_components = fixed_components
        self.init = init
        self.initial_components = initial_components
        self.max_components = max_components
        self.split_merge = split_merge
        self.max_iter = max_iter
        self.burn_in = burn_in
        self.thin = thin
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.transform_max_iter = transform_max_iter
        self.transform_burn_in = transform_burn_in
        self.stream_sweeps = stream_sweeps
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _takes_partitions = False

    _predicts_by = ("level",)

    @property
    def _level_of_labels(self) -> str:
        return self.level

    # Validation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        self._concentration("concentration")
        self._concentration("top_concentration")

    def _concentration(self, name: str) -> tuple[float, tuple[float, float] | None]:
        """Return a concentration, or its initial value and its prior if it is drawn."""
        value, prior = getattr(self, name), getattr(self, f"{name}_prior")
        return check_concentration_or_prior(value, prior, name)

    # Chains

    def _start_from(
        self,
        corpus: SegmentedCorpus | LabeledCorpus,
        root: np.random.SeedSequence,
        c: int,
        n_topics: int,
        init: Any,
    ) -> HDPSampler:
        concentration, prior = self._concentration("concentration")
        top_concentration, top_prior = self._concentration("top_concentration")
        return HDPSampler(
            corpus,
            n_topics,
            self.level,
            concentration,
            top_concentration,
            TopPriors(prior, top_prior),
            self._word_prior(),
            check_gamma_prior(self.dirichlet_prior, "dirichlet_prior"),
            init,
            bool(self.split_merge),
            self._most_topics,
            derive_stream(root, Role.INIT, c),
            derive_stream(root, Role.SWEEP, c),
            make_bursts(self),
        )

    def _extend_sampler(self, sampler: HDPSampler, data: SegmentedCorpus) -> HDPSampler:
        start = copy(sampler)
        start.most_topics = self._most_topics  # one, if documents did not differ so far
        return start.extended(data)

    def compact(self) -> Self:
        """Drop the topics that `partial_fit` has left without words, and close the gaps.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        exists = self.weights_ > 0.0
        axes = {"components": 0, "weights": 0, **HDPSampler.topic_axes}
        for name in [name for name in axes if hasattr(self, f"{name}_")]:
            values = np.compress(exists, getattr(self, f"{name}_"), axis=axes[name])
            setattr(self, f"{name}_", values)
        self._topic_tokens = self._topic_tokens[exists]
        self.n_components_ = len(self.weights_)
        return self

    def _averaged_model(self) -> LDAModel:
        return LDAModel(
            self.components_.astype(np.float32), self.doc_topic_prior_, self._fitted_level,
            fitted_bursts(self),
        )  # fmt: skip

    @classmethod
    def _for_topics(cls, n_topics: int, params: dict[str, Any]) -> Self:
        return cls(**params)

    def _given_attributes(self, n_topics: int) -> dict[str, Any]:
        if isinstance(self.concentration, str):
            raise ValueError(
                f"concentration must be given as a number if topics are given, got "
                f"{self.concentration!r}."
            )
        weights = np.full(n_topics, 1.0 / n_topics)
        return {
            "n_components_": n_topics,
            "weights_": weights,
            "concentration_": float(self.concentration),
            "doc_topic_prior_": self.concentration * weights,
        }
