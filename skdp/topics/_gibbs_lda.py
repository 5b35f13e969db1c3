"""Latent Dirichlet allocation by Gibbs sampling, of documents or of segments."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from skdp._checks import check_beta_prior, check_gamma_prior, shorten
from skdp._fit._estimator import StreamMixin
from skdp._numeric._random import Role
from skdp._sklearn_compat import Interval, StrOptions
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics._base import (
    PRIOR,
    BaseTopicModel,
    LevelMixin,
    check_dirichlet,
    check_given,
    number_or_name,
)
from skdp.topics._lda._sampler import (
    DistributedLDASampler,
    LDASampler,
    PowerLaw,
    PowerLawLDASampler,
)
from skdp.topics._shared._arrays import Documents
from skdp.topics._shared._bursts import make_bursts


class GibbsLDA(LevelMixin, BaseTopicModel, StreamMixin):
    r"""Latent Dirichlet allocation (LDA) by collapsed Gibbs sampling.

    The baseline for the models with segments: topic shares belong to whole documents, or to
    segments as if each were a document.

    .. math::

        \theta_d \sim \mathrm{Dir}(\alpha), \quad
        z_{di} \sim \theta_d, \quad
        w_{di} \sim \phi_{z_{di}}, \quad
        \phi_k \sim \mathrm{Dir}(\gamma)

    With theta and phi integrated out, the topic of every word is drawn given all others. With 400
    or more topics, the time of a sweep is proportional to the number of topics that a word has, not
    to K.

    Parameters
    ----------
    n_components, level, doc_topic_prior, topic_word_prior, dirichlet_prior
    topic_word_discount : float in [0, 1) or "auto", default=0.0
        Discount a of topics as Pitman-Yor processes, phi_k ~ PYP(a, b, H), whose words follow a
        power law: a word that has occurred in a topic is likely to recur there. "auto" draws it in
        every sweep under `topic_word_discount_prior`. With 0 and a uniform base, topics are
        Dirichlet vectors as above.
    topic_word_discount_prior : (float, float), default=(1.0, 1.0)
        Parameters p and q of the Beta prior on a learned `topic_word_discount`, in [1e-8, 1e8].
    topic_word_concentration : float or "auto", default="auto"
        Concentration b of topics as Pitman-Yor processes, in [1e-8, 1e8]: how closely topics follow
        H, measured in words. "auto" draws it in every sweep under
        `topic_word_concentration_prior`; if topics are Dirichlet vectors, it is `topic_word_prior`
        times the size of the vocabulary.
    topic_word_concentration_prior : (float, float), default=(1.0, 0.1)
        Shape and rate of the Gamma prior on a drawn `topic_word_concentration`, in [1e-8, 1e8].
    topic_word_base : {"uniform", "shared"}, default="uniform"
        Base H of topics as Pitman-Yor processes. "uniform": all words are equally probable; a
        discount or a given concentration then needs ``topic_word_prior="auto"``, which has no
        effect. "shared": the topics share a learned H ~ Dir(gamma), with `topic_word_prior` as
        gamma.
    burst_concentration, burst_concentration_prior, burst_discount, seed_words, seed_weight,
    fixed_components
    init : "random" or (n_components, n_features) array, default="random"
        The first state. "random": uniformly random topics. An array of word probabilities, such as
        another model's `components_`: the words are folded into these topics, so the topics of the
        two models correspond.
    max_iter, burn_in, thin, n_samples, n_chains, n_shards, transform_max_iter, transform_burn_in,
    stream_sweeps, stream_window, warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    components_
    doc_topic_ : (n_documents, n_components) array
        Topic shares of the training documents.
    segment_topic_ : (n_segments, n_components) array
        Topic shares of the training segments; with level "document", the shares of their document.
    doc_topic_prior_ : (n_components,) array
    topic_word_prior_ : float
        Posterior means, or the given values. If topics are Pitman-Yor processes with a uniform
        base, `topic_word_prior_` is the concentration divided by the size of the vocabulary.
    topic_word_discount_, topic_word_concentration_ : float
        Only if topics are Pitman-Yor processes: posterior means, or the given values.
    topic_word_base_ : (n_features,) array
        Only if topics are Pitman-Yor processes: E[H].
    burst_concentration_, burst_discount_, topic_names_, trace_, n_iter_, convergence_,
    n_features_in_, feature_names_in_

    See Also
    --------
    SegmentedTopicModel : Model in which the shares of segments vary around their document's.
    sklearn.decomposition.LatentDirichletAllocation : LDA by variational inference.
    HDPTopicModel : Model with an inferred number of topics.
    LatentDirichletCoClustering : Model in which segments have their own topics.
    SequentialLDA, AdaptiveTopicModel : Models in which segments follow each other.

    Notes
    -----
    A `PartitionedCorpus` is fitted where its partitions are, in threads or on a Dask cluster.
    The partitions are the shards: `n_shards` is 1 or their number. On a cluster `doc_topic_` and
    `segment_topic_` are dask arrays that stay there, and are not pickled.

    Topics are Pitman-Yor processes, PYP(a, b, H), if `topic_word_discount` is not 0,
    `topic_word_concentration` is a number or `topic_word_base` is "shared" [1]_. H and phi are
    integrated out, and the state counts, for every word and topic, how many of its occurrences were
    drawn from H (tables, T). The weight of topic k for a word without its own occurrence is
    ``(n_dk + alpha_k) (M_kw - a T_kw + (b + a T_k) H_w) / (b + M_k)``. Sweeps are exact, and their
    time is proportional to K and not to the number of topics of a word. `seed_words`,
    `fixed_components`, shards and partitions are not available.

    With bursts [2]_ the words of a document that have a topic are the customers of a Chinese
    restaurant; a table serves one word, drawn from the topic. So `components_` counts the tables,
    and predictions include the document's own words: `score` and `log_likelihood` give another
    occurrence of a word of the document its share of the customers. Time is proportional to K and
    not to the number of topics of a word, and grows if a word has hundreds of tables in a document.
    Partitions and topics that are Pitman-Yor processes are not available with bursts.

    References
    ----------
    T. L. Griffiths and M. Steyvers (2004). Finding scientific topics. PNAS 101. -- L. Yao, D. Mimno
    and A. McCallum (2009). Efficient methods for topic model inference on streaming document
    collections. KDD. -- D. Newman, A. Asuncion, P. Smyth and M. Welling (2009). Distributed
    algorithms for topic models. JMLR 10.

    .. [1] I. Sato and H. Nakagawa (2010). Topic models with power-law using Pitman-Yor process.
       KDD.
    .. [2] G. Doyle and C. Elkan (2009). Accounting for burstiness in topic models. ICML. --
       W. L. Buntine and S. Mishra (2014). Experiments with non-parametric topic models. KDD.

    Examples
    --------
    >>> from skdp.topics import GibbsLDA
    >>> documents = [[[0, 1, 0], [2, 3, 2]], [[2, 3, 3], [1, 0]]]  # segments of word ids
    >>> lda = GibbsLDA(n_components=2, level="segment", max_iter=200, random_state=0)
    >>> lda.fit(documents).transform_segments(documents).shape
    (4, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTopicModel._parameter_constraints,
        "topic_word_discount": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "topic_word_discount_prior": [tuple, list],
        "topic_word_concentration": [PRIOR, StrOptions({"auto"})],
        "topic_word_concentration_prior": [tuple, list],
        "topic_word_base": [StrOptions({"uniform", "shared"})],
        **StreamMixin._stream_constraints,
    }

    _optional_attributes = BaseTopicModel._optional_attributes | frozenset([
        "topic_word_discount_", "topic_word_concentration_", "topic_word_base_",
    ])  # fmt: skip

    def __init__(
        self,
        n_components: int = 20,
        *,
        level: str = "document",
        doc_topic_prior: Any = "auto",
        topic_word_prior: Any = "auto",
        dirichlet_prior: tuple[float, float] = (1.0, 0.1),
        topic_word_discount: float | str = 0.0,
        topic_word_discount_prior: tuple[float, float] = (1.0, 1.0),
        topic_word_concentration: float | str = "auto",
        topic_word_concentration_prior: tuple[float, float] = (1.0, 0.1),
        topic_word_base: str = "uniform",
        burst_concentration: float | str | None = None,
        burst_concentration_prior: tuple[float, float] = (1.0, 0.001),
        burst_discount: float | str = 0.0,
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
        stream_sweeps: int = 20,
        stream_window: int | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        check_dirichlet(self.doc_topic_prior, "doc_topic_prior", self.n_components)
        if self._power_law() is not None:
            self._check_power_law()

    def _power_law(self) -> PowerLaw | None:
        """Return the parameters of topics as Pitman-Yor processes; None: Dirichlet vectors."""
        discount, concentration = self.topic_word_discount, self.topic_word_concentration
        discount_prior = check_beta_prior(
            self.topic_word_discount_prior, "topic_word_discount_prior"
        )
        concentration_prior = check_gamma_prior(
            self.topic_word_concentration_prior, "topic_word_concentration_prior"
        )
        has_shared_base = self.topic_word_base == "shared"
        if discount == 0.0 and isinstance(concentration, str) and not has_shared_base:
            return None
        return PowerLaw(
            number_or_name(discount), discount_prior, number_or_name(concentration),
            concentration_prior, has_shared_base,
        )  # fmt: skip

    def _check_stream(self, X: Any, y: Any) -> None:
        super()._check_stream(X, y)
        if self.n_shards != 1 or self._power_law() is not None:
            raise ValueError(
                "partial_fit needs n_shards=1 and topics that are Dirichlet vectors, and no "
                "Pitman-Yor processes."
            )

    def _check_power_law(self) -> None:
        """Raise for parameters that need topics that are Dirichlet vectors."""
        what = (
            "if topics are Pitman-Yor processes, because of "
            f"topic_word_discount={shorten(self.topic_word_discount)}, "
            f"topic_word_concentration={shorten(self.topic_word_concentration)} and "
            f"topic_word_base={self.topic_word_base!r}"
        )
        for name in ("seed_words", "fixed_components", "burst_concentration"):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} must be None {what}.")
        if self.n_shards != 1:
            raise ValueError(f"n_shards must be 1 {what}, got n_shards={self.n_shards}.")
        if self.topic_word_base == "uniform" and not isinstance(self.topic_word_prior, str):
            raise ValueError(
                f"topic_word_prior must be 'auto' {what}: with a uniform base, "
                "topic_word_concentration takes its place. Got "
                f"topic_word_prior={shorten(self.topic_word_prior)}."
            )

    def _check_partitions(self, X: PartitionedCorpus) -> None:
        super()._check_partitions(X)
        if self._power_law() is not None:
            raise TypeError(
                f"Topics that are Pitman-Yor processes take no {type(X).__name__}: all words are "
                "swept in one place. Use X.compute(), or topic_word_discount=0.0, "
                "topic_word_concentration='auto' and topic_word_base='uniform'."
            )

    def _size_of_topic(self, corpus: SegmentedCorpus) -> float:
        size = super()._size_of_topic(corpus)
        if self._power_law() is not None:
            size += 4.0 * corpus.n_features * self.n_chains
        return size

    _distributed_sampler = DistributedLDASampler

    def _settings_of_samplers(self, n_words: int) -> Any:
        return (
            self.n_components, self.level,
            check_dirichlet(self.doc_topic_prior, "doc_topic_prior", self.n_components),
            self._word_prior(), check_gamma_prior(self.dirichlet_prior, "dirichlet_prior"),
            self._check_init(n_words),
        )  # fmt: skip

    def _start_local_sampler(
        self, corpus: Documents, root: np.random.SeedSequence, c: int
    ) -> LDASampler:
        streams = (self._streams(root, role, c) for role in (Role.INIT, Role.SWEEP))
        arguments: Any = (*self._settings_of_samplers(self.n_features_in_), *streams)
        power_law = self._power_law()
        if power_law is not None:
            return PowerLawLDASampler(corpus, power_law, *arguments)
        arguments += self.n_jobs, make_bursts(self)
        return LDASampler(corpus, *arguments)

    def _given_attributes(self, n_topics: int) -> dict[str, Any]:
        prior = check_dirichlet(self.doc_topic_prior, "doc_topic_prior", n_topics)
        check_given({"doc_topic_prior": prior})
        return {"doc_topic_prior_": prior}
