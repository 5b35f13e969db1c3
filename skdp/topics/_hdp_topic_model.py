"""Topic models whose number of topics is inferred: hierarchical Dirichlet processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_gamma_prior
from skdp._fit._estimator import StreamMixin
from skdp._numeric._random import Role, derive_stream
from skdp.data import SegmentedCorpus
from skdp.processes._partitions import TopPriors, check_concentration_or_prior
from skdp.topics._base import LevelMixin
from skdp.topics._inferred_number import InferredNumberModel, PilotedStart
from skdp.topics._lda._hdp import HDPSampler
from skdp.topics._shared._arrays import Documents
from skdp.topics._shared._bursts import make_bursts

# Pilots ask the newest documents, these or more, whether documents differ by now.
_JUDGED = 200


class HDPTopicModel(LevelMixin, InferredNumberModel, StreamMixin):
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
    level
    concentration : float or "auto", default="auto"
        Concentration alpha of topic shares, in [1e-8, 1e8]: how similar the shares of a document
        are to beta. "auto" draws it given `concentration_prior`.
    concentration_prior : (float, float), default=(1.0, 0.1)
        Shape and rate, in [1e-8, 1e8], of the Gamma prior of a concentration that is drawn.
    top_concentration : float or "auto", default="auto"
        Concentration gamma of the weights of topics, in [1e-8, 1e8]: the larger, the more topics.
        "auto" draws it given `top_concentration_prior`.
    top_concentration_prior
    topic_word_prior : float or "auto", default="auto"
        Dirichlet prior eta of the word probabilities of a topic, per word, in [1e-8, 1e8]. "auto"
        learns it by maximum a posteriori under `dirichlet_prior`. The smaller, the more topics.
    dirichlet_prior
    burst_concentration : float, "auto" or None, default="auto"
    burst_concentration_prior, burst_discount, seed_words, seed_weight, fixed_components
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
    max_components
    split_merge : bool, default=True
        Whether to propose, in every sweep, to split topics in two and to merge two into one.
        Otherwise topics come and go word by word only, which is slow if topics are large.
    max_iter, burn_in, thin, n_samples, n_chains, transform_max_iter, transform_burn_in,
    stream_sweeps, stream_window, warm_start, n_jobs, random_state, verbose

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
    topic_names_
    trace_ : Trace
        Scalars of every kept sweep of every chain, the number of topics among them.
    n_iter_, convergence_, n_features_in_, feature_names_in_

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
        "split_merge": ["boolean"],
        **StreamMixin._stream_constraints,
    }

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
        stream_window: int | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    _takes_partitions = False

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
        self, corpus: Documents, root: np.random.SeedSequence, c: int, n_topics: int, init: Any
    ) -> HDPSampler:
        concentration, prior = self._concentration("concentration")
        top_concentration, top_prior = self._concentration("top_concentration")
        dirichlet_prior = check_gamma_prior(self.dirichlet_prior, "dirichlet_prior")
        return HDPSampler(
            corpus, n_topics, self.level, concentration, top_concentration,
            TopPriors(prior, top_prior), self._word_prior(), dirichlet_prior, init,
            bool(self.split_merge), self._most_topics, derive_stream(root, Role.INIT, c),
            derive_stream(root, Role.SWEEP, c), make_bursts(self),
        )  # fmt: skip

    def _extend_sampler(
        self, sampler: HDPSampler, data: SegmentedCorpus, n_left: int
    ) -> HDPSampler:
        start = copy(sampler)
        start.most_topics = self._most_topics
        if sampler.most_topics == 1 != self._most_topics:  # documents did not differ so far
            n_new = len(data) - len(self._stream) + n_left
            newest = data[-max(2 * n_new, _JUDGED) :]
            root = np.random.SeedSequence(len(data))  # all chains have the same answer
            # In the main thread, Ctrl-C would end the pilots before the documents have joined.
            with ThreadPoolExecutor(1) as thread:
                choice = thread.submit(PilotedStart(self).choose, newest, root).result()
            start.most_topics = self._most_topics if choice.finds_topics else 1
        return super()._extend_sampler(start, data, n_left)

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
