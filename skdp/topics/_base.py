"""Base class of the topic models as estimators, and their fits to a corpus in partitions."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_floats, check_gamma_prior, check_memory, is_number, shorten
from skdp._executors import Executor, LostWorkerError, predict_parts
from skdp._fit import ChainEstimator, FitState
from skdp._fit._estimator import (
    PartitionedSampling,
    fit_partitions,
    is_over_partitions,
    kept_partitions,
)
from skdp._fit._loop import list_checkpoints
from skdp._numeric import Floats
from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp._sklearn_compat import Interval, StrOptions, with_callbacks
from skdp.data import PartitionedCorpus, SegmentedCorpus, check_corpus
from skdp.data._validation import check_partitions
from skdp.inference._convergence import warn_user
from skdp.topics._given_topics import (
    LARGEST_SEED,
    GivenTopicsMixin,
    check_topics,
    names_of_topics,
)
from skdp.topics._kernels._sweeps import LARGEST_CONCENTRATION, SMALLEST_CONCENTRATION
from skdp.topics._lda._sampler import LDAModel
from skdp.topics._shared._arrays import LabeledCorpus, Stream
from skdp.topics._shared._bursts import (
    BURST_ATTRIBUTES,
    BURST_CONSTRAINTS,
    fitted_bursts,
    given_bursts,
    make_bursts,
)
from skdp.topics._shared._distributed import (
    DistributedAverages,
    DistributedCorpus,
    TopicAverages,
)
from skdp.topics._shared._fold_in import (
    FoldIn,
    LikelihoodMixin,
    Shares,
    fold_in_documents,
    score_documents,
    score_partitions,
)
from skdp.topics._shared._sampler import keep_rows
from skdp.topics._words_of_topics import WordsOfTopicsMixin

# Fits of topic models to a corpus in partitions.


_MEANS = "doc_topic_", "segment_topic_", "segment_mixing_"
"""Fitted attributes that stay in the workers of a cluster."""

OF_PARTITIONS = frozenset([*_MEANS, "_n_partitions"])
"""Fitted attributes that depend on whether X was in partitions."""


class InPartitions:
    """A fitted attribute that is lost with a cluster, and a hint about alternatives."""

    def __init__(self, cure: str):
        self._cure = cure

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, estimator: Any, owner: type) -> Any:
        """Raise an error: if there is a value, Python finds it first."""
        if estimator is None:
            return self
        if "_n_partitions" in vars(estimator):
            raise AttributeError(
                f"{self._name} was in the workers of a cluster, and no pickle has it: {self._cure}"
            )
        raise AttributeError(f"'{owner.__name__}' object has no attribute '{self._name}'")


def distribute_corpus(
    estimator: Any, X: PartitionedCorpus, y: Any, executor: Executor
) -> DistributedCorpus:
    """Return a corpus whose partitions are opened in the processes of an executor."""
    check_partitions(estimator, X, reset=True)
    n_topics = estimator._n_first_topics(X)
    check_memory(
        12.0 * n_topics * X.n_features * estimator.n_chains,
        f"X: {estimator._first_topics_name}={n_topics} topics and n_features={X.n_features} "
        f"words, n_chains={estimator.n_chains}: counts",
    )
    estimator._check_init(X.n_features)
    data = _find_kept(estimator, X, y, executor)
    if data is None:
        data = _distribute(estimator, X, y, executor)
    if data.n_tokens == 0:
        raise ValueError(
            f"X has no tokens at all, while a minimum of 1 is required by "
            f"{type(estimator).__name__}."
        )
    estimator._check_matching(n_topics, is_labeled=data.is_labeled)
    estimator._check_seeds(data.n_tokens, n_topics)
    return data


def _distribute(
    estimator: Any, X: PartitionedCorpus, y: Any, executor: Executor
) -> DistributedCorpus:
    """Return the distributed partitions with their labels, if `y` has any."""
    data = DistributedCorpus(X, executor)
    labels = estimator._read_labels(y)
    if labels is not None or estimator.fixed_components is not None:
        data.label(labels, estimator._topics_check(X.n_features))
    return data


def _find_kept(
    estimator: Any, X: PartitionedCorpus, y: Any, executor: Executor
) -> DistributedCorpus | None:
    """Return the partitions of the last fit if this one is to continue with them."""
    kept: DistributedCorpus | None = kept_partitions(estimator) if estimator.warm_start else None
    if kept is None or any(each.path.exists() for each in list_checkpoints(estimator)):
        return None
    try:
        kept.go_on(estimator.n_jobs)
        if kept.is_of(X) and not kept.is_labeled and estimator._read_labels(y) is None:
            return kept
        other = _distribute(estimator, X, y, executor)  # opened for comparison
        if joblib.hash(other) != joblib.hash(kept):
            return other
        executor.drop()
        return kept
    except LostWorkerError as error:
        raise RuntimeError(
            "With warm_start=True, fit continues on the partitions of the last fit. "
            f"{error} Use warm_start=False to start over."
        ) from None


def without_partitions(estimator: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Return a pickle's state without the attributes that partitions hold; warn if any are lost."""
    left_out = {name for name in _MEANS if hasattr(state.get(name), "dask")}
    if kept_partitions(estimator) is not None:
        left_out.add("_saved")
    if left_out:
        named = [name for name in _MEANS if name in left_out]
        if "_saved" in left_out:
            named.append("the chains that warm_start=True would continue")
        warn_user(f"A pickle leaves out what partitions hold: {', '.join(named)}.", UserWarning)
    return {name: value for name, value in state.items() if name not in left_out}


# The base class.


# Weights of topics are single-precision numbers: with the priors in this range no product of
# them overflows or vanishes. At its ends a prior is practically 0 or infinity.
PRIOR = Interval(Real, 1e-8, 1e8, closed="both")


CONCENTRATION = Interval(Real, SMALLEST_CONCENTRATION, LARGEST_CONCENTRATION, closed="both")

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")

_OF_DOCUMENTS = "doc_topic_", "section_topic_", "segment_topic_", "segment_mixing_", "_saved"
"""Large attributes that predictions do not need."""


class BaseTopicModel(
    WordsOfTopicsMixin,
    GivenTopicsMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ChainEstimator,
):
    """Base class of the topic models: priors, topics as features, held-out scores.

    Models may only name a parameter or an attribute that is described here or in `ChainEstimator`:
    see `take_texts`.

    Parameters
    ----------
    n_components : int, default=20
        Number of topics K.
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
    top_concentration_prior : (float, float), default=(1.0, 0.1)
        Shape and rate, in [1e-8, 1e8], of the Gamma prior of a top concentration that is drawn.
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
    max_components : int or None, default=None
        Largest number of topics, for tables that people read: the posterior is that of the model
        given that no more topics have words or seed words. None: no bound. If at least half of the
        kept sweeps have as many, `fit` warns.
    n_shards : int, default=1
        Number of shards: runs of documents that are swept at the same time, each with the words of
        the others as they were before the sweep. This is approximate (AD-LDA; if words are rare
        in all topics, give `topic_word_prior` as a number), and faster with `n_jobs`. 1: exact.
    transform_max_iter : int, default=100
        Number of sweeps over each document in `transform` and `score`.
    transform_burn_in : int or None, default=None
        Number of these sweeps to discard at the start. None: half.
    level : {"document", "segment"}, default="document"
        Whether documents or segments have topic shares. With "segment", the shares of a document
        are the mean of the shares of its segments, weighted by tokens.

    Attributes
    ----------
    components_ : (n_components, n_features) array
        Word probabilities of the topics, E[phi]. Rows sum to 1.
    doc_topic_ : (n_documents, n_components) array
        Topic shares of the training documents, E[mu].
    segment_topic_ : (n_segments, n_components) array
        Topic shares of the training segments, E[nu].
    concentration_ : float, or (n_documents,) or (n_segments,) array
        Posterior mean, or the given value; an array with `concentration_scope` "document" or
        "segment".
    burst_concentration_, burst_discount_ : float
        Only with bursts: posterior means, or the given values.
    topic_names_ : list of str or None
        Only if `seed_words` has names: the names of all topics, None for those without.
    n_features_in_ : int
        Size of the vocabulary.
    feature_names_in_ : (n_features,) array of str
        Only if X was a data frame with string column names.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ChainEstimator._parameter_constraints,
        "n_components": [AT_LEAST_ONE],
        "level": [StrOptions({"document", "segment"})],
        "doc_topic_prior": [PRIOR, "array-like", StrOptions({"auto", "auto-symmetric"})],
        "topic_word_prior": [PRIOR, StrOptions({"auto"})],
        "dirichlet_prior": [tuple, list],
        "seed_words": [dict, None],
        "seed_weight": [Interval(Integral, 1, LARGEST_SEED, closed="both"), StrOptions({"auto"})],
        "fixed_components": ["array-like", "sparse matrix", None],
        "init": [StrOptions({"random"}), "array-like"],
        "discount_prior": [tuple, list],
        "concentration_prior": [tuple, list],
        "top_concentration": "no_validation",
        "top_concentration_prior": [tuple, list],
        **BURST_CONSTRAINTS,
        "initial_components": [AT_LEAST_ONE, StrOptions({"auto"})],
        "max_components": [AT_LEAST_ONE, None],
        "n_shards": [AT_LEAST_ONE],
        "transform_max_iter": [AT_LEAST_ONE],
        "transform_burn_in": [Interval(Integral, 0, None, closed="left"), None],
    }

    _of_fold_in: ClassVar[frozenset[str]] = frozenset(["transform_max_iter", "transform_burn_in"])
    """Parameters that matter only after the fit."""

    _free_in_warm_start = ChainEstimator._free_in_warm_start | _of_fold_in
    _free_in_checkpoints = ChainEstimator._free_in_checkpoints | _of_fold_in

    _optional_attributes = (
        ChainEstimator._optional_attributes
        | OF_PARTITIONS
        | {"_topic_names", "topic_names_", "_rest_of_tree", *BURST_ATTRIBUTES}
    )

    _feature_attributes = (*ChainEstimator._feature_attributes, "_seeds")

    _takes_partitions: ClassVar[bool] = True
    """Whether `fit` takes a `PartitionedCorpus`."""

    _distributed_sampler: ClassVar[Any] = None
    """Class of the chains over partitions."""

    _averages: ClassVar[tuple[Any, Any]] = TopicAverages, DistributedAverages
    """Classes of the running means of chains, and of those of chains over partitions."""

    doc_topic_: Any = InPartitions("model.transform(X) returns the shares of documents.")

    segment_topic_: Any = InPartitions(
        "transform_segments of a partition, model.transform_segments(X.partitions[i]), returns "
        "the shares of its segments."
    )

    n_shards = 1
    """Default for models without this parameter."""

    burst_concentration: Any = None
    burst_concentration_prior: Any = (1.0, 0.001)
    burst_discount: Any = 0.0
    """Defaults for models without these parameters."""

    _predicts_by: ClassVar[tuple[str, ...]] = ()
    """Parameters whose values in the fit predictions depend on."""

    _documents_share_topics = True
    """Whether `transform` returns shares of the topics that segments have."""

    _segments_are_ordered = False
    """Whether the shares of a segment depend on those of the previous segment."""

    def __getstate__(self) -> dict[str, Any]:
        return without_partitions(self, super().__getstate__())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    # Validation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        self._transform_burn_in()
        check_gamma_prior(self.dirichlet_prior, "dirichlet_prior")
        make_bursts(self)
        self._fixed_topics()
        self._seeded_topics()

    def _topic_word_prior(self) -> float | str:
        """Return the prior of words as a float, or the name of the learning method."""
        return number_or_name(self.topic_word_prior)

    def _transform_burn_in(self) -> int:
        """Return the number of discarded sweeps of a fold-in."""
        if self.transform_burn_in is None:
            return self.transform_max_iter // 2
        if self.transform_burn_in >= self.transform_max_iter:
            raise ValueError(
                "transform_burn_in must be smaller than transform_max_iter, got "
                f"transform_burn_in={self.transform_burn_in} and "
                f"transform_max_iter={self.transform_max_iter}."
            )
        return self.transform_burn_in

    def _check_init(self, n_words: int) -> Any:
        if isinstance(self.init, str):
            return self.init
        return check_topics(self.init, "init", (self.n_components, n_words))

    @property
    def _first_topics_name(self) -> str:
        """Name of the parameter that sets the initial number of topics."""
        return "n_components"

    def _n_first_topics(self, X: SegmentedCorpus | PartitionedCorpus) -> int:
        """Return the initial number of topics."""
        return int(self.n_components)

    def _size_of_topic(self, corpus: SegmentedCorpus) -> float:
        """Return the bytes for the counts of one topic in all chains."""
        n_rows = float(corpus.n_features) * self.n_shards + len(corpus.segment_ptr)
        return 12.0 * n_rows * self.n_chains

    def _check_size(self, corpus: SegmentedCorpus) -> None:
        """Raise if the counts of topics would not fit into memory, as with a stray id."""
        n_topics, n_words = self._n_first_topics(corpus), corpus.n_features
        what = f"{self._first_topics_name}={n_topics} topics and n_features={n_words} words"
        if n_words > max(len(corpus.tokens), 1):  # more words than tokens: there may be a stray id
            largest = int(np.argmax(corpus.tokens)) if len(corpus.tokens) else 0
            place = corpus._locate((corpus.doc_ptr, corpus.segment_ptr), largest)
            what += f" (the largest word id is {corpus.tokens[largest]}, {place})"
        for name in ("n_chains", "n_shards"):
            if getattr(self, name) > 1:
                what += f", {name}={getattr(self, name)}"
        check_memory(n_topics * self._size_of_topic(corpus), f"X: {what}: counts")

    @property
    def _averages_samples(self) -> bool:
        """Whether attributes are means of samples, whose topics are matched."""
        return True

    def _check_matching(self, n_topics: int, *, is_labeled: bool) -> None:
        """Raise if the matrix by which topics of samples are matched would not fit into memory."""
        prior = getattr(self, "doc_topic_prior", "auto")
        is_uneven = np.ndim(prior) > 0 and np.ptp(np.asarray(prior, dtype=np.float64)) > 0.0
        if not (self._averages_samples and not is_labeled and not is_uneven):
            return
        n_matched = n_topics - self._n_fixed - len(self._seeded_topics())
        check_memory(
            8.0 * n_matched**2,
            f"{self._first_topics_name}={n_topics} topics: the matrix that matches the topics of "
            "two samples",
        )

    def _check_partitions(self, X: PartitionedCorpus) -> None:
        """Raise for parameters that partitions do not allow."""
        if self.n_shards not in (1, X.n_partitions):
            raise ValueError(
                f"The partitions of X are the shards of the fit: n_shards must be 1 or "
                f"n_partitions={X.n_partitions}, got n_shards={self.n_shards}."
            )
        if self.burst_concentration is not None:
            raise TypeError(
                f"Bursts of words take no {type(X).__name__}: their tables are drawn in one place. "
                "Use X.compute(), or burst_concentration=None."
            )

    def _check_input(self, X: Any, y: Any = None, executor: Executor | None = None) -> Any:
        if executor is not None:
            return distribute_corpus(self, X, y, executor)
        labels = self._read_labels(y)
        corpus = check_corpus(self, X, reset=True, require_tokens=True)
        self._check_size(corpus)
        self._check_matching(self._n_first_topics(corpus), is_labeled=labels is not None)
        self._check_init(corpus.n_features)
        self._check_seeds(len(corpus.tokens), self._n_first_topics(corpus), corpus._names)
        corpus = corpus._without_names()  # which files lose: a fit resumes with either
        allowed = self._topics_check(corpus.n_features)(labels, corpus)
        return corpus if allowed is None else LabeledCorpus(corpus, allowed)

    # Chains

    def _streams(
        self, root: np.random.SeedSequence, role: Role, c: int, n_shards: int | None = None
    ) -> list[Stream]:
        """Return the streams of chain `c`, one for each shard."""
        n_shards = self.n_shards if n_shards is None else n_shards
        shards = [derive_stream(root, Role.SHARD, role, c, s) for s in range(1, n_shards)]
        return [derive_stream(root, role, c), *shards]

    def _n_jobs_of_chain(self) -> int | None:
        return self.n_jobs  # shards have the threads

    def _make_procedure(self, data: Any) -> Any:
        if not isinstance(data, DistributedCorpus):
            return super()._make_procedure(data)
        make_averages = partial(self._averages[1], is_lasting=True)
        return self._make_sampling(
            PartitionedSampling, data, unit="tokens", make_averages=make_averages
        )

    def _start_sampler(self, corpus: Any, root: np.random.SeedSequence, c: int) -> Any:
        if not isinstance(corpus, DistributedCorpus):
            return self._start_local_sampler(corpus, root, c)
        init, sweep = (
            self._streams(root, role, c, corpus.n_partitions) for role in (Role.INIT, Role.SWEEP)
        )
        settings = self._settings_of_samplers(corpus.n_features)
        return self._distributed_sampler(corpus, c, settings, init, sweep)

    def _start_local_sampler(self, corpus: Any, root: np.random.SeedSequence, c: int) -> Any:
        """Return the sampler of a new chain over a corpus in memory."""
        streams = (self._streams(root, role, c) for role in (Role.INIT, Role.SWEEP))
        settings = self._settings_of_samplers(self.n_features_in_)
        return self._distributed_sampler.of_shard(corpus, *settings, *streams, self.n_jobs)

    def _settings_of_samplers(self, n_words: int) -> Any:
        """Return the settings of samplers, from `n_topics` to `init`."""
        raise NotImplementedError

    def _make_averages(self) -> Any:
        return self._averages[0]()

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        best = state.runs[attributes["_best_chain"]]
        means = best.averages.means(in_place=final)
        sampler = best.sampler
        if sampler.n_settled > 0 and self.__sklearn_is_fitted__():
            axes = {"components": 0, "weights": 0, **sampler.topic_axes}
            means = keep_rows(self.components_, means, axes, sampler.n_seeded)
        names = names_of_topics(self._seeded_topics(), len(means["components_"]))
        if names is not None:
            attributes["topic_names_"] = names
        if (fixed := self._fixed_topics()) is not None:  # exactly: means have rounding errors
            means["components_"][: len(fixed.phi)] = fixed.phi
        attributes["_n_fixed_in_fit"] = 0 if fixed is None else len(fixed.phi)
        if "segment_topic_" in means and "_topic_tokens" not in means:
            means["_topic_tokens"] = best.sampler.segment_lengths @ means["segment_topic_"]
        if is_over_partitions(state):
            attributes["_n_partitions"] = len(state.runs[0].sampler.streams)
            for chain in state.runs:
                chain.averages.drop()
        return {
            **attributes,
            **means,
            **self._kept_parameters(),
            "_fold_in_key": derive_stream(state.root, Role.TRANSFORM),
            "_likelihood_key": derive_stream(state.root, Role.LIKELIHOOD),
        }

    def _kept_parameters(self) -> dict[str, Any]:
        return {f"_fitted_{name}": getattr(self, name) for name in self._predicts_by}

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit topics to documents made of segments.

        Parameters
        ----------
        X : SegmentedCorpus, list of documents, or (n_documents, n_features) count matrix
            Each document in a list is a list of segments, each a sequence of word ids, or a list of
            parts, each a list of segments. Each row of a matrix (dense, sparse or data frame) is a
            document of one segment. Except for `HDPTopicModel` and `SectionedTopicModel`, X may
            also be a PartitionedCorpus: the partitions are the shards of the fit (`n_shards` is 1
            or their number), in threads or, with ``joblib.parallel_config("dask")``, in the workers
            of a cluster.
        y : list of n_documents sets or None, or (n_documents, n_components) matrix, default=None
            Labels: for each document the set of topics that its words may have, as numbers or as
            names in `seed_words`. None or an empty set: all topics. With ``level="segment"``
            (`GibbsLDA`) an entry may also be a list of such sets, one for each segment of the
            document. A matrix (array, sparse, or data frame) of zeros and ones, such as that of a
            `MultiLabelBinarizer`, has ones at the topics of the sets; rows without ones, and rows
            of -1 or NaN, allow all topics. If the number of topics is inferred, sets hold topics
            with seed words or given words. `LatentDirichletCoClustering` and `SectionedTopicModel`
            refuse sets.
            Other values, such as the classes that a pipeline passes to all of its steps, are
            ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid. The estimator is left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current sweep. It is fitted with the samples so far,
            in the burn-in with the current state unless it was fitted before; another `fit` with
            ``warm_start=True`` continues; on a PartitionedCorpus, `warm_start` must have been True
            before, too, or the callback `Checkpoint` must be used.
        RuntimeError
            If a worker of the cluster is lost, and with it the state of its partitions, without the
            callback `Checkpoint`; with it, if that happens three times in a row. If
            ``warm_start=True`` and the workers of the last fit are lost.
        OSError
            If `Checkpoint` cannot write the initial state of partitions.

        Warns
        -----
        UserWarning
            If a seed word is not in the vocabulary; it is named. If y is ignored although it is a
            matrix of zeros and ones, such as one with another number of columns, or a matrix of
            numbers with a column for each topic, such as one with NaN in a part of a row.
        RuntimeWarning
            If a worker is lost: the fit returns to the last checkpoint and continues with the same
            bits. If a checkpoint could not be written.
        ConvergenceWarning
            If the log joint of a chain still climbs, or there are fewer than 12 sweeps after the
            burn-in, too few to judge; raise `max_iter` then.
            If chains plainly disagree; compare them in `trace_` then.
        """
        if isinstance(X, PartitionedCorpus) and self._takes_partitions:
            return fit_partitions(self, X, y)
        return self._fit(X, y)

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit topics to X, then return ``transform(X)``.

        The documents are treated as new ones. The shares that the chain itself found for the
        training documents are in `doc_topic_` and `segment_topic_`.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        (n_documents, n_components) array, or as of `transform`
        """
        return self.fit(X, y).transform(X)

    def transform(self, X: Any) -> Floats:
        """Return the expected topic shares of documents, E[mu | words, topics].

        Those of `LatentDirichletCoClustering` are shares of document-topics, E[theta | words,
        topics], (n_documents, n_document_topics).

        Every document has its own short chain with the topics fixed, on a random stream keyed by
        its content. So the result does not depend on the other documents or on `n_jobs`.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_documents, n_components) array
            Rows sum to 1. The shares of a document without words are the prior mean. The result for
            a PartitionedCorpus under ``joblib.parallel_config("dask")`` is a dask.array.Array with
            one chunk per partition.
        """
        if isinstance(X, PartitionedCorpus):
            return self._predict_parts("transform", X)
        return self._fold_in(X)[0]

    def transform_segments(self, X: Any) -> Floats:
        """Return the expected topic shares of segments, E[nu | words, topics].

        Those of `LatentDirichletCoClustering` are shares of word-topics, E[pi | words, topics].

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_segments, n_components) array
            The segments of all documents in order; rows sum to 1. The shares of a segment without
            words are its expected shares given the rest of its document.
        """
        return self._fold_in(X)[1]

    def score_samples(self, X: Any) -> Floats:
        """Return the held-out log probability of every document, by document completion.

        A random half of the words of each segment is folded in (ceil(n / 2) of n words), and the
        others are scored, p(w) = sum_k E[nu_jk] phi_kw, with probabilities averaged over the stored
        samples of all chains. The halves depend only on the words of the segment. So the
        score of a document does not depend on the order of words within segments, on the other
        documents, or on whether X holds lists or counts, and all models score the same words.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_documents,) array
            Natural logarithm, summed over the scored tokens of a document; 0 if there are none,
            -inf if one of them is impossible under given topics. The result for a PartitionedCorpus
            is returned as by `transform`.
        """
        if isinstance(X, PartitionedCorpus):
            return self._predict_parts("score_samples", X)
        return self._score(X)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean held-out log probability per token; higher is better.

        Parameters
        ----------
        X : as in `fit`
        y : ignored

        Returns
        -------
        float
            ``score_samples(X).sum()`` divided by the number of scored tokens.

        Raises
        ------
        ValueError
            If there is nothing to score because no segment has two tokens.
        """
        total, n_scored = self._total_score(X)
        if n_scored == 0:
            raise ValueError(
                "X has no tokens to score: document completion scores half of the tokens of each "
                "segment given the others, and no segment has two."
            )
        return float(total / n_scored)

    def perplexity(self, X: Any) -> float:
        """Return ``exp(-score(X))``; lower is better.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        float
        """
        return float(np.exp(-self.score(X)))

    @classmethod
    def from_topics(cls, components: ArrayLike, **params: Any) -> Self:
        """Return an estimator fitted with given topics, without training documents.

        Parameters
        ----------
        components : (n_components, n_features) array-like
            Non-negative word probabilities of the topics; rows are normalized to sum to 1.
        **params
            Parameters of the estimator. Those that a fold-in depends on must be numbers, except
            that `concentration` of models with segments may be ``"auto"`` (the default): it is
            drawn for every document when it is folded in, or for every segment with
            `concentration_scope` ``"segment"``; not of `SectionedTopicModel`. `seed_words` and
            `fixed_components` must be None. If `segment_topic_prior` of
            `LatentDirichletCoClustering` has rows, their number is the default of
            `n_document_topics`.

        Returns
        -------
        Fitted estimator, with all attributes that need no training documents.

        Raises
        ------
        ValueError, TypeError
            If `components` or a parameter is invalid, or `seed_words` or `fixed_components` is
            given.
        """
        topics = check_topics(components, "components", None)
        estimator = cls._for_topics(len(topics), params)
        for name in ("seed_words", "fixed_components"):
            if getattr(estimator, name) is not None:
                raise ValueError(
                    f"{name} must be None in from_topics: components holds all topics, so there is "
                    f"none to learn. Give {name} to a model that you fit."
                )
        estimator._validate_parameters()
        given = estimator._given_attributes(len(topics))
        given |= {**estimator._kept_parameters(), **given_bursts(estimator)}
        root = make_seed_sequence(estimator.random_state)
        estimator.components_ = topics
        estimator.n_features_in_ = topics.shape[1]
        for name, value in given.items():
            setattr(estimator, name, value)
        estimator._fold_in_key = derive_stream(root, Role.TRANSFORM)
        estimator._likelihood_key = derive_stream(root, Role.LIKELIHOOD)
        estimator._models = [estimator._averaged_model()]
        return estimator

    @classmethod
    def _for_topics(cls, n_topics: int, params: dict[str, Any]) -> Self:
        """Return an estimator for `n_topics` given topics."""
        estimator = cls(**{"n_components": n_topics, **params})
        if estimator.n_components != n_topics:
            raise ValueError(
                f"components holds {n_topics} topics, but n_components is {estimator.n_components}."
            )
        return estimator

    def _given_attributes(self, n_topics: int) -> dict[str, Any]:
        """Return the fitted attributes that correspond to parameters given as numbers."""
        raise NotImplementedError

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    # Fold-in

    def _averaged_model(self) -> Any:
        """Return the averages as a model that documents can be folded into."""
        raise NotImplementedError

    def _fold_in_options(self) -> dict[str, Any]:
        """Return additional model-specific options of the fold-in."""
        return {}

    def _fold_in_settings(self) -> FoldIn:
        self._validate_parameters()
        return FoldIn(
            self.transform_max_iter,
            self._transform_burn_in(),
            self._fold_in_key,
            self.n_jobs,
            self._fold_in_options(),
        )

    def _fold_in(self, X: Any) -> Shares:
        check_is_fitted(self)
        corpus = check_corpus(self, X, reset=False)
        return next(fold_in_documents(corpus, [self._averaged_model()], self._fold_in_settings()))

    def _score(self, X: Any) -> tuple[Floats, int]:
        check_is_fitted(self)
        corpus = check_corpus(self, X, reset=False)
        return score_documents(corpus, self._models, self._fold_in_settings())

    def _total_score(self, X: Any) -> tuple[float, int]:
        """Return the sum of `score_samples` and the number of scored tokens."""
        if not isinstance(X, PartitionedCorpus):
            log_probabilities, n_scored = self._score(X)
            return float(log_probabilities.sum()), n_scored
        alone = self._for_parts(X)
        alone.n_jobs = 1  # the partitions have the threads
        return score_partitions(alone, X, self.n_jobs)

    def _predict_parts(self, method: str, X: PartitionedCorpus) -> Any:
        """Return `transform` or `score_samples` of all documents."""
        alone = self._for_parts(X)
        shape = (self._n_features_out,) if method == "transform" else ()
        return predict_parts(alone, method, X, shape)

    def _for_parts(self, X: PartitionedCorpus) -> Self:
        """Return an estimator with the same predictions, without the large attributes."""
        check_is_fitted(self)
        check_partitions(self, X, reset=False)
        self._validate_parameters()
        alone = object.__new__(type(self))  # a copy would include the large attributes
        alone.__dict__.update(
            {name: value for name, value in vars(self).items() if name not in _OF_DOCUMENTS}
        )
        return alone

    def _check_stream(self, X: Any, y: Any) -> None:
        """Raise if X or y cannot be a batch of documents."""
        if isinstance(X, PartitionedCorpus):
            raise TypeError(f"partial_fit takes no {type(X).__name__}: use X.compute().")
        if self._read_labels(y) is not None:
            raise ValueError("partial_fit takes no topics of documents in y.")

    def _check_batch(
        self, earlier: SegmentedCorpus, X: Any, y: Any
    ) -> tuple[SegmentedCorpus, range]:
        batch = check_corpus(self, X, reset=False, require_tokens=True)
        corpus, staying = self._join(earlier, batch._without_names())
        self._check_size(corpus)
        return corpus, staying

    def _extend_sampler(self, sampler: Any, data: SegmentedCorpus, n_left: int) -> Any:
        return sampler.extended(data, int(self._stream._item_ptr[n_left]))


class LevelMixin(LikelihoodMixin):
    """Mixin of models in which documents, or segments as if each were a document, have shares."""

    level: str
    _predicts_by: ClassVar[tuple[str, ...]] = ("level",)

    @property
    def _level_of_labels(self) -> str:
        return self.level

    def _averaged_model(self) -> LDAModel:
        estimator: Any = self
        return LDAModel(
            estimator.components_.astype(np.float32), estimator.doc_topic_prior_,
            estimator._fitted_level, fitted_bursts(estimator),
        )  # fmt: skip


def number_or_name(value: Any) -> Any:
    """Return a number as a float; a name, or None, remains."""
    return value if value is None or isinstance(value, str) else float(value)


def check_given(given: dict[str, Any]) -> None:
    """Raise for parameters that are not numbers, although topics are given."""
    for name, value in given.items():
        if isinstance(value, str):
            raise ValueError(
                f"{name} must be given as numbers if topics are given, got {shorten(value)}."
            )


def check_dirichlet(value: Any, name: str, n: int, n_name: str = "n_components") -> Any:
    """Return a Dirichlet prior as array (n,), or the name of the learning method."""
    if isinstance(value, str):
        return value
    if is_number(value):
        return np.full(n, float(value))
    prior = np.array(as_floats(value, name))
    if prior.shape != (n,) or not all(alpha in PRIOR for alpha in prior):
        raise ValueError(
            f"{name} must hold {n_name}={n} numbers from {PRIOR.left:g} to {PRIOR.right:g}, "
            f"got {shorten(value)}."
        )
    return prior
