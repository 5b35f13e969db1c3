"""Base classes of topic models with an inferred number of topics, and of table models."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from skdp._checks import check_beta_prior, check_gamma_prior, shorten
from skdp._fit import FitState
from skdp._numeric import Ints
from skdp._numeric._random import Role, derive_seed, derive_stream
from skdp._sklearn_compat import Interval, StrOptions
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.inference._chain import check_interrupts
from skdp.inference._convergence import warn_of_bound, warn_of_drifts
from skdp.inference._trace import Trace
from skdp.processes._partitions import TopPriors, check_concentration_or_prior
from skdp.topics._base import (
    AT_LEAST_ONE,
    CONCENTRATION,
    BaseTopicModel,
    check_dirichlet,
    check_given,
    number_or_name,
)
from skdp.topics._given_topics import check_topics
from skdp.topics._kernels._sweeps import SAMPLERS
from skdp.topics._lda._sampler import LDASampler
from skdp.topics._shared._arrays import Documents, LabeledCorpus
from skdp.topics._shared._bursts import fitted_bursts, make_bursts
from skdp.topics._shared._fold_in import LikelihoodMixin
from skdp.topics._shared._pilots import DEFAULT_NUMBER, PilotChoice, choose_number_of_topics
from skdp.topics._shared._sampler import BestSample
from skdp.topics._tables._model import TableModel
from skdp.topics._tables._open_sampler import (
    LARGEST_TOP_CONCENTRATION,
    FirstTopLevel,
    OpenTableSampler,
)
from skdp.topics._tables._sampler import (
    START_CONCENTRATION,
    DistributedTableSampler,
    HyperParameters,
    TableSampler,
)
from skdp.topics._words_of_topics import effective_number


class InferredNumberModel(BaseTopicModel):
    """Base class with the start and the attributes of chains whose number of topics is inferred."""

    _optional_attributes = BaseTopicModel._optional_attributes | frozenset([
        "n_components_", "n_components_distribution_", "n_effective_components_",
        "initial_components_", "weights_",
    ])  # fmt: skip

    initial_components: int | str
    max_components: int | None = None

    @property
    def _is_open(self) -> bool:
        """Whether the number of topics is inferred."""
        return True

    def _start_from(
        self,
        corpus: Documents,
        root: np.random.SeedSequence,
        c: int,
        n_topics: int,
        init: Any,  # the name of a start, or (n_topics, W) word probabilities of the first topics
    ) -> Any:
        """Return the sampler of new chain `c`."""
        raise NotImplementedError

    @property
    def _averages_samples(self) -> bool:
        return not self._is_open

    # Validation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        number = getattr(self, self._first_topics_name)
        if not isinstance(number, str):
            self._check_bound(self._first_topics_name, number)
        if self._is_open and self.max_components is not None:
            self._check_bound("max_components", self.max_components)

    @property
    def _numbers_topics(self) -> bool:
        return not self._is_open

    @property
    def _n_named_topics(self) -> int:
        if not self._is_open:
            return super()._n_named_topics
        return self._n_fixed + len(self._seeded_topics())

    def _check_bound(self, name: str, number: int) -> None:
        given = {"fixed_components": self._n_fixed, "seed_words": len(self._seeded_topics())}
        if self._is_open and number < sum(given.values()):
            what = " and ".join(f"{key} has {n}" for key, n in given.items() if n)
            raise ValueError(f"{name} has {number} topics, but {what}, which all exist.")
        if self.max_components is not None and number > self.max_components:
            raise ValueError(
                f"{name} has {number} topics, but max_components is {self.max_components}."
            )

    def _check_init(self, n_words: int) -> Any:
        if not self._is_open or isinstance(self.init, str):
            return super()._check_init(n_words)
        topics = check_topics(self.init, "init", None)
        if topics.shape[1] != n_words:
            raise ValueError(
                f"init must have shape (n_topics, n_features) with n_features={n_words}, got "
                f"{topics.shape}."
            )
        self._check_bound("init", len(topics))
        return topics

    @property
    def _first_topics_name(self) -> str:
        return "initial_components" if self._is_open else "n_components"

    @property
    def _has_pilots(self) -> bool:
        """Whether the initial number of topics is chosen by pilots."""
        return (
            self._is_open
            and isinstance(self.init, str)
            and isinstance(self.initial_components, str)
        )

    def _n_first_topics(self, X: SegmentedCorpus | PartitionedCorpus) -> int:
        if not self._is_open:
            return super()._n_first_topics(X)
        if not isinstance(self.init, str):
            return len(self.init)
        if not self._has_pilots:
            return int(self.initial_components)
        number = max(DEFAULT_NUMBER, self._n_fixed + len(self._seeded_topics()))
        return min(number, self._most_topics or number)

    @property
    def _most_topics(self) -> int | None:
        """The largest number of topics."""
        return None if self.max_components is None else int(self.max_components)

    # Chains

    def _make_averages(self) -> Any:
        return BestSample() if self._is_open else super()._make_averages()

    def _make_sampling(self, kind: Any, data: Any, **options: Any) -> Any:
        if self._has_pilots:
            options = {"start_sampler": PilotedStart(self), **options}
        return super()._make_sampling(kind, data, **options)

    def _start_local_sampler(self, corpus: Any, root: np.random.SeedSequence, c: int) -> Any:
        init = self._check_init(self.n_features_in_)
        return self._start_from(corpus, root, c, self._n_first_topics(corpus), init)

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        if not self._is_open:
            return attributes
        numbers = attributes["trace_"]["n_components"].astype(np.int64).ravel()
        return {
            **attributes,
            "initial_components_": state.runs[0].sampler.n_initial_topics,
            "n_components_": len(attributes["weights_"]),
            "n_components_distribution_": np.bincount(numbers) / len(numbers),
            "n_effective_components_": effective_number(attributes["weights_"]),
        }

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        if self._is_open:
            warn_of_drifts(self, trace, "topics")
        if self._is_open and self._most_topics is not None:
            warn_of_bound(
                self,
                "max_components",
                trace["n_components"].ravel() >= self._most_topics,
                self._most_topics,
                "have as many topics as max_components allows. Raise it, unless you want no more.",
            )


class PilotedStart:
    """Starts chains with a number of topics that pilots have chosen, the same for all chains."""

    def __init__(self, estimator: InferredNumberModel):
        self._estimator = estimator
        self._choice: PilotChoice | None = None

    def __call__(self, corpus: Documents, root: np.random.SeedSequence, c: int) -> Any:
        """Return the sampler of chain `c`. Pilots do not read labels."""
        if self._choice is None:
            documents = corpus.corpus if isinstance(corpus, LabeledCorpus) else corpus
            self._choice = self.choose(documents, root)
        number = self._choice.number if self._choice.finds_topics else 1
        sampler = self._estimator._start_from(corpus, root, c, number, self._estimator.init)
        if not self._choice.finds_topics:
            sampler.most_topics = 1
        return sampler

    def choose(self, documents: SegmentedCorpus, root: np.random.SeedSequence) -> PilotChoice:
        """Return the choice of pilots; given topics are found in any case."""
        estimator = self._estimator
        n_given = estimator._n_fixed + len(estimator._seeded_topics())
        choice = choose_number_of_topics(
            documents,
            estimator._size_of_topic(documents),
            lambda rest, number: estimator._start_from(
                rest, derive_seed(root, Role.PILOT, number), 0, number, "random"
            ),
            derive_seed(root, Role.PILOT),
            estimator._most_topics,
            estimator.n_jobs,
            max(n_given, 1),
        )
        return choice._replace(finds_topics=bool(n_given) or choice.finds_topics)


# Base class of the estimators of table models.


# Number of sweeps of the LDA chain that assigns the first topics with ``init="lda"``.
LDA_SWEEPS = 100


def topics_by_lda(
    corpus: Documents,  # labels are of segments
    n_topics: int,
    hyper: Any,  # with the priors of documents and of topics
    init_stream: Any,
    stream: Any,
) -> Ints:
    """Return the topics of the words in a short chain of latent Dirichlet allocation."""
    lda = LDASampler(
        corpus, n_topics, "segment", hyper.doc_topic_prior, hyper.topic_word_prior,
        hyper.dirichlet_prior, "random", [init_stream], [stream],
    )  # fmt: skip
    for _ in range(LDA_SWEEPS):
        check_interrupts()
        lda.sweep()
    return lda.topics


class BaseTableModel(LikelihoodMixin, InferredNumberModel):
    """Base class of the models whose segments are Poisson-Dirichlet processes.

    They differ in `_parents`, the prior (lambda_S, lambda_T) of the weights of the document and of
    the previous segment as parents of a segment; a zero excludes the parent.

    Parameters
    ----------
    n_components : int or "auto", default=20
        Number of topics K. "auto" infers it: beta are weights of infinitely many topics,
        `document_concentration` times beta takes the place of `doc_topic_prior`, which must then be
        "auto", and the attributes are those of one sample (see Notes).
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
    initial_components : int or "auto", default="auto"
        Used if `n_components` is "auto": number of topics of a first state that is not given.
        "auto": pilots choose it, short chains from 1 to 300 topics (whose counts may take 1 GiB).
        They see four fifths of the words and are judged by the probability of the others. It is 20
        if X has less than 300 tokens or 20 segments. If no pilot is clearly better than one topic,
        the fit has one topic, unless topics have seed words or given words. The result depends on
        this number, because chains rarely split large topics and lose superfluous topics slowly.

    Attributes
    ----------
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
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **InferredNumberModel._parameter_constraints,
        "discount": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "concentration": [CONCENTRATION, StrOptions({"auto"})],
        "concentration_scope": [StrOptions({"corpus", "document", "segment"})],
        "sampler": [StrOptions(set(SAMPLERS))],
        "init": [StrOptions({"random", "lda"}), "array-like"],
        "n_components": [AT_LEAST_ONE, StrOptions({"auto"})],
        "document_concentration": "no_validation",
        "document_concentration_prior": [tuple, list],
    }

    _optional_attributes = InferredNumberModel._optional_attributes | frozenset([
        "document_concentration_", "top_concentration_",
    ])  # fmt: skip

    _predicts_by = ("burst_scope",)

    _may_be_open: ClassVar[bool] = True
    """Whether `n_components` may be "auto"."""

    @property
    def _parents(self) -> tuple[float, float] | str:
        """Prior (lambda_S, lambda_T) of the parents' weights, or the name of the learning rule."""
        raise NotImplementedError

    @property
    def _is_open(self) -> bool:
        """Whether the number of topics is inferred."""
        return isinstance(self.n_components, str)

    # Validation

    _level_of_labels = "document"

    def _validate_parameters(self) -> None:
        if self._may_be_open:
            self._top_level()
        if self._is_open and not (
            isinstance(self.doc_topic_prior, str) and self.doc_topic_prior == "auto"
        ):
            raise ValueError(
                "doc_topic_prior must be 'auto' if n_components is 'auto': it is then "
                "document_concentration times the weights of the topics. Got "
                f"{shorten(self.doc_topic_prior)}."
            )
        super()._validate_parameters()
        self._hyper_parameters()

    def _top_level(self) -> FirstTopLevel:
        value, prior = check_concentration_or_prior(
            self.document_concentration, self.document_concentration_prior, "document_concentration"
        )
        top_value, top_prior = check_concentration_or_prior(
            self.top_concentration, self.top_concentration_prior, "top_concentration",
            largest=LARGEST_TOP_CONCENTRATION,
        )  # fmt: skip
        return FirstTopLevel(value, top_value, TopPriors(prior, top_prior))

    def _hyper_parameters(self) -> HyperParameters:
        return HyperParameters(
            check_dirichlet(self.doc_topic_prior, "doc_topic_prior", self.n_components),
            self._topic_word_prior(),
            check_gamma_prior(self.dirichlet_prior, "dirichlet_prior"),
            number_or_name(self.discount),
            check_beta_prior(self.discount_prior, "discount_prior"),
            number_or_name(self.concentration),
            check_gamma_prior(self.concentration_prior, "concentration_prior"),
            self.concentration_scope if isinstance(self.concentration, str) else "corpus",
            self._parents,
        )

    def _hyper_parameters_of_fit(self) -> HyperParameters:
        """Return the parameters for samplers, with the seeds for X."""
        return self._hyper_parameters()._replace(topic_word_prior=self._word_prior())

    def _check_partitions(self, X: PartitionedCorpus) -> None:
        super()._check_partitions(X)
        if self._is_open:
            raise TypeError(
                f"n_components='auto' takes no {type(X).__name__}: topics come and go with all "
                "documents in one place. Give a number of topics, or use X.compute()."
            )
        if isinstance(self.init, str) and self.init == "lda":
            raise TypeError(
                f"init='lda' takes no {type(X).__name__}, since its chain sweeps all documents in "
                "one place. Use another init, such as topics of a sample of the documents."
            )

    # Chains

    _distributed_sampler = DistributedTableSampler

    def _settings_of_samplers(self, n_words: int) -> Any:
        hyper = self._hyper_parameters_of_fit()
        return self.n_components, self.sampler, hyper, self._check_init(n_words)

    def _start_from(
        self, corpus: Documents, root: np.random.SeedSequence, c: int, n_topics: int, init: Any
    ) -> TableSampler:
        hyper = self._hyper_parameters_of_fit()
        if isinstance(init, str) and init == "lda":
            nodes = corpus.by_segment(n_topics) if isinstance(corpus, LabeledCorpus) else corpus
            streams_of_lda = (derive_stream(root, Role.INIT, c, i) for i in (1, 2))
            init = topics_by_lda(nodes, n_topics, hyper, *streams_of_lda)
        streams = (self._streams(root, role, c) for role in (Role.INIT, Role.SWEEP))
        further: Any = init, *streams, self.n_jobs, make_bursts(self), self.burst_scope
        if not self._is_open:
            return TableSampler(corpus, n_topics, self.sampler, hyper, *further)
        top = self._top_level(), self._most_topics
        return OpenTableSampler(corpus, n_topics, self.sampler, hyper, *top, *further)

    def _averaged_model(self) -> TableModel:
        return TableModel(
            self.components_.astype(np.float32), self.doc_topic_prior_, self.discount_,
            float(np.mean(self.concentration_)), self._fitted_parents, fitted_bursts(self),
            self._fitted_burst_scope,
        )  # fmt: skip

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        # A concentration of the corpus is part of the fit; others belong to single documents.
        learns = isinstance(self.concentration, str)
        attributes = super()._fitted_attributes(state, final=final)
        parents = self._parents
        if isinstance(parents, str):
            parents = tuple(attributes["mixing_prior_"].tolist())
        return {
            **attributes,
            "_drawn_in_fold_in": self.concentration_scope if learns else "corpus",
            "_fitted_parents": parents,
        }

    def _fold_in_options(self) -> dict[str, Any]:
        prior = check_gamma_prior(self.concentration_prior, "concentration_prior")
        return {
            "sampler": self.sampler,
            "concentration_prior": None if self._drawn_in_fold_in == "corpus" else prior,
            "each_segment": self._drawn_in_fold_in == "segment",
        }

    def _given_attributes(self, n_topics: int) -> dict[str, Any]:
        prior = check_dirichlet(self.doc_topic_prior, "doc_topic_prior", n_topics)
        check_given({
            "doc_topic_prior": prior, "discount": self.discount, "mixing_prior": self._parents,
        })  # fmt: skip
        learns = isinstance(self.concentration, str)
        each = "segment" if self.concentration_scope == "segment" else "document"
        return {
            "_drawn_in_fold_in": each if learns else "corpus",
            "_fitted_parents": self._parents,
            "doc_topic_prior_": prior,
            "discount_": float(self.discount),
            "concentration_": START_CONCENTRATION if learns else float(self.concentration),
        }
