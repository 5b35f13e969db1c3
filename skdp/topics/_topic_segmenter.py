"""Documents that are cut into parts of one subject each."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_beta_prior, check_count, check_gamma_prior, is_number, shorten
from skdp._fit import FitState
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._random import Role, derive_seed, derive_stream
from skdp._sklearn_compat import Interval, StrOptions, with_callbacks
from skdp.data import SegmentedCorpus, check_corpus
from skdp.inference._chain import check_interrupts
from skdp.inference._convergence import SHARE_AT_BOUND, warn_of_bound
from skdp.inference._trace import Trace
from skdp.topics._base import (
    AT_LEAST_ONE,
    CONCENTRATION,
    BaseTopicModel,
    check_dirichlet,
    check_given,
    number_or_name,
)
from skdp.topics._inferred_number import topics_by_lda
from skdp.topics._kernels._lda import seat_randomly
from skdp.topics._shared._arrays import Stream, WordPrior
from skdp.topics._shared._fold_in import fold_in_documents
from skdp.topics._shared._sampler import START_TOPIC_WORD_PRIOR
from skdp.topics._tables._segmenter import (
    CutParameters,
    KnownUnits,
    OwnWordsSampler,
    SegmenterModel,
    SegmenterSampler,
    check_known,
    check_numbers,
    divide,
    join_units,
    split_units,
)

_FIRST_SWEEPS = 30
"""Number of sweeps after which two starts are compared."""

_FEW, _MOST = 30, 200
"""Fewer documents have one topic if their number is not given; larger corpora, this many."""

_SURE, _SURPLUS, _NEAR = 0.7, 0.5, (2, 4)
"""`predict` leaves out a cut unless the probabilities of cuts there and in the gaps next to it add
up to the first, or those within one of the distances, less the median of all, to the second. The
most probable of many divisions has a few cuts in words without any order, too."""


def _is_sure(probabilities: Floats, cut: int, has_own_words: bool) -> bool:
    """Return whether there is probably a cut near the gap before unit `cut`."""

    def near(distance: int) -> Floats:
        return probabilities[max(cut - 1 - distance, 0) : cut + distance]

    if near(1).sum() >= _SURE:
        return True
    # The place of a cut is less certain without topics.
    middle = np.median(probabilities)
    return has_own_words and any((near(h) - middle).sum() >= _SURPLUS for h in _NEAR)


class TopicSegmenter(BaseTopicModel):
    r"""Find where documents change their subject, with probabilities.

    A document is a row of units, such as sentences or paragraphs, which are never cut. A part is a
    run of units about one subject. The model finds topics of words and the cuts between parts
    together, and gives the probability of a cut for every gap between two units.

    .. math::

        \mu_d &\sim \mathrm{Dir}(\alpha), \quad
        \text{a gap is a cut with probability } \rho, \\
        \nu_{dp} &\sim \mathrm{DP}(b, \mu_d), \quad
        z_{dpi} \sim \nu_{dp}, \quad
        w_{dpi} \sim \phi_{z_{dpi}}, \quad
        \phi_k \sim \mathrm{Dir}(\gamma)

    This is the segmented topic model with unknown segments. All cuts of a document are drawn at
    once given the topics of its words, by a filter over its units. Given `doc_topic_prior` and
    `topic_word_prior` the sampler is exact.

    One text alone, or a few, cannot teach topics. With a single topic, each part has its own words:

    .. math::

        \phi_{dp} \sim \mathrm{Dir}(b_w\, \phi), \quad
        w_{dpi} \sim \phi_{dp}, \quad
        \phi \sim \mathrm{Dir}(\gamma)

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of topics K. "auto": 1 for fewer than 30 documents, otherwise the number of documents
        or 200, whichever is smaller. Many are better: parts differ by their topics.
    doc_topic_prior, topic_word_prior, dirichlet_prior, seed_words, seed_weight
    concentration : float or "auto", default=100.0
        Concentration b of the shares of parts, in [1e-8, 1e12]: how closely parts follow their
        document, measured in words. "auto" draws it under `concentration_prior`, with which the
        chain may come to a state in which every part has one topic and cuts no longer move: compare
        several values instead.
    concentration_prior
    burst_concentration : float, "auto" or None, default="auto"
        Concentration b_w of the words of parts around those of the only topic, in words, from 1e-8
        to 1e8: the larger, the fewer parts. "auto" draws it in every sweep under
        `burst_concentration_prior`, but not below .75 times the mean number of words in a document,
        because small values find ever finer parts. None, and "auto" with several topics or with
        given ones (`from_topics`): parts differ by their topics only. A number needs one topic.
    burst_concentration_prior
    cut_probability : float or "auto", default=0.1
        Prior probability rho of a cut in a gap, between 0 and 1. Where the words are informative,
        its value matters little. "auto" draws it under `cut_prior`: for texts that do change their
        subject, since otherwise the words do not determine it, and it may come near 1.
    cut_prior : (float, float), default=(1.0, 9.0)
        Parameters p and q, in [1e-8, 1e8], of the Beta prior of a cut probability that is drawn.
    max_units : int or None, default=None
        Largest number of units of a part; the fit warns if many have as many. None: no bound. The
        time of a sweep is proportional to it, or to the number of units of a document.
    init : "lda", "random" or (n_components, n_features) array, default="lda"
        The first topics, in documents without cuts. "lda": words start with the topics of an LDA
        chain of 100 sweeps, either of documents or of units: the start with the higher mean log
        joint after 30 sweeps. "random": uniformly random topics, from which cuts are found late or
        never. An array of word probabilities, such as another model's `components_`: the words
        are folded into these topics.
    max_iter : int, default=200
        Number of sweeps of each chain.
    burn_in, thin, n_samples, n_chains, transform_max_iter, transform_burn_in, warm_start, n_jobs,
    random_state, verbose

    Attributes
    ----------
    cut_proba_ : list of n_documents arrays
        For each training document the probability of a cut in each gap between two units,
        (n_units - 1,). Known cuts have 0 or 1.
    n_parts_ : (n_documents,) array of int
        Numbers of parts of the training documents if gaps with a probability above .5 are cut.
    cut_probability_, concentration_, topic_word_prior_ : float
        Posterior means, or the given values.
    components_, doc_topic_
    segment_topic_ : (n_units, n_components) array
        Topic shares of the units of all training documents: those of their parts, averaged.
    doc_topic_prior_ : (n_components,) array
    n_components_ : int
        Number of topics.
    burst_concentration_ : float
        Only if parts have words of their own: posterior mean, or the given value.
    topic_names_, trace_, n_iter_, convergence_, n_features_in_, feature_names_in_

    See Also
    --------
    SegmentedTopicModel : Model of documents whose segments are given.
    skdp.feature_extraction.SegmentVectorizer : Makes a corpus of units from texts.

    Notes
    -----
    Averages are over the kept samples of one chain, the one with the highest mean log joint
    probability. `predict_proba` and `score` average over the stored samples of all chains.

    A unit without words of the vocabulary may belong to either side, so that a cut before it and a
    cut after it are equally probable.

    If parts have words of their own, the probabilities of cuts given b_w and phi are exact sums
    over all divisions, and so are `predict_proba` and `score` for each stored sample. There are no
    topics then: `doc_topic_prior`, `concentration` and `init` have no effect.

    References
    ----------
    L. Du, W. Buntine and M. Johnson (2013). Topic segmentation with a structured topic model.
    NAACL-HLT (the model, with cuts drawn one by one). -- F. Y. Y. Choi (2000). Advances in domain
    independent linear text segmentation. NAACL (the task). -- M. Utiyama and H. Isahara (2001). A
    statistical model for domain-independent text segmentation. ACL; J. Eisenstein and R. Barzilay
    (2008). Bayesian unsupervised topic segmentation. EMNLP (parts with words of their own).

    Examples
    --------
    >>> from skdp.topics import TopicSegmenter
    >>> cats, ships, tea = [0, 1, 2] * 5, [3, 4, 5] * 5, [6, 7, 8] * 5  # words of a sentence
    >>> documents = [[cats] * 3 + [ships] * 4, [ships] * 5 + [tea] * 2, [tea] * 3 + [cats] * 3] * 5
    >>> segmenter = TopicSegmenter(20, random_state=0).fit(documents)
    >>> [cuts.tolist() for cuts in segmenter.predict(documents[:3])]
    [[3], [5], [3]]
    >>> bool(segmenter.predict_proba(documents[:1])[0][2] > 0.9)
    True

    One text alone:

    >>> TopicSegmenter(random_state=0).fit(documents[:1]).predict(documents[:1])
    [array([3])]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseTopicModel._parameter_constraints,
        "n_components": [AT_LEAST_ONE, StrOptions({"auto"})],
        "concentration": [CONCENTRATION, StrOptions({"auto"})],
        "cut_probability": [Interval(Real, 0.0, 1.0, closed="neither"), StrOptions({"auto"})],
        "cut_prior": [tuple, list],
        "max_units": [AT_LEAST_ONE, None],
        "init": [StrOptions({"random", "lda"}), "array-like"],
    }

    _segments_are_ordered = True
    _takes_partitions = False
    _most_topics = None
    _n_named_topics = 0  # y does not name topics

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        doc_topic_prior: Any = "auto",
        topic_word_prior: Any = "auto",
        dirichlet_prior: tuple[float, float] = (1.0, 0.1),
        seed_words: dict[Any, Any] | None = None,
        seed_weight: int | str = "auto",
        concentration: Any = 100.0,
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        burst_concentration: float | str | None = "auto",
        burst_concentration_prior: tuple[float, float] = (1.0, 0.001),
        cut_probability: Any = 0.1,
        cut_prior: tuple[float, float] = (1.0, 9.0),
        max_units: int | None = None,
        init: Any = "lda",
        max_iter: int = 200,
        burn_in: int | None = None,
        thin: int = 10,
        n_samples: int = 5,
        n_chains: int = 1,
        transform_max_iter: int = 100,
        transform_burn_in: int | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    # Validation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        if not self._numbers_topics:
            for name in ("doc_topic_prior", "init"):
                value = getattr(self, name)
                if not (isinstance(value, str) or is_number(value)):
                    raise ValueError(
                        f"n_components must be a number if {name} is an array, got "
                        f"n_components='auto' and {name}={shorten(value)}."
                    )
        self._cut_parameters(1 if isinstance(self.n_components, str) else self.n_components)

    @property
    def _numbers_topics(self) -> bool:
        return not isinstance(self.n_components, str)

    def _n_first_topics(self, X: Any) -> int:
        if self._numbers_topics:
            return int(self.n_components)
        n_documents = len(X)
        n_topics = 1 if n_documents < _FEW else min(n_documents, _MOST)
        return max(n_topics, len(self._seeded_topics()))

    def _cut_parameters(self, n_topics: int) -> CutParameters:
        bursts = number_or_name(self.burst_concentration)
        if n_topics > 1:
            if isinstance(bursts, float):
                raise ValueError(
                    "burst_concentration must be None or 'auto' with several topics, got "
                    f"burst_concentration={self.burst_concentration} and n_components={n_topics}."
                )
            bursts = None
        return CutParameters(
            check_dirichlet(self.doc_topic_prior, "doc_topic_prior", n_topics),
            self._topic_word_prior(),
            check_gamma_prior(self.dirichlet_prior, "dirichlet_prior"),
            number_or_name(self.concentration),
            check_gamma_prior(self.concentration_prior, "concentration_prior"),
            number_or_name(self.cut_probability),
            check_beta_prior(self.cut_prior, "cut_prior"),
            None if self.max_units is None else int(self.max_units),
            bursts,
            check_gamma_prior(self.burst_concentration_prior, "burst_concentration_prior"),
        )

    def _cut_parameters_of_fit(self, corpus: SegmentedCorpus) -> CutParameters:
        """Return the parameters for samplers, with the seeds for X."""
        parameters = self._cut_parameters(self._n_first_topics(corpus))
        return parameters._replace(topic_word_prior=self._word_prior())

    def _check_input(self, X: Any, y: Any = None, executor: Any = None) -> KnownUnits:
        return check_known(super()._check_input(X), y, self.max_units)

    # Chains

    def _start_local_sampler(
        self, data: KnownUnits, root: np.random.SeedSequence, c: int
    ) -> SegmenterSampler:
        init = self._check_init(data.corpus.n_features)
        parameters = self._cut_parameters_of_fit(data.corpus)
        stream = derive_stream(root, Role.SWEEP, c)
        if parameters.burst_concentration is not None:
            return OwnWordsSampler(data, parameters, stream)
        if isinstance(init, str) and init == "random":
            init = self._draw_topics(data.corpus, parameters, derive_stream(root, Role.INIT, c))
        if not isinstance(init, str):
            n_topics = self._n_first_topics(data.corpus)
            return SegmenterSampler(data, n_topics, parameters, init, stream)
        starts = [
            self._start_by_lda(data, pieces, derive_seed(root, Role.INIT, c, i))
            for i, pieces in enumerate((data.known == 1, np.ones(len(data.known), dtype=bool)))
        ]
        best = max(starts, key=lambda start: start[0])[1]
        best.streams = [stream]
        return best

    def _draw_topics(
        self, corpus: SegmentedCorpus, parameters: CutParameters, stream: Stream
    ) -> Ints:
        """Draw the first topics of the words."""
        topics, prior = np.empty(len(corpus.tokens), dtype=np.int32), parameters.topic_word_prior
        n_topics = self._n_first_topics(corpus)
        if isinstance(prior, WordPrior) and prior.seeds is not None:
            gamma = START_TOPIC_WORD_PRIOR if isinstance(prior.value, str) else prior.value
            prior.seeds.seat(topics, corpus.tokens, n_topics, gamma, stream)
        else:
            seat_randomly(topics, n_topics, stream)
        return topics

    def _start_by_lda(
        self, data: KnownUnits, starts: NDArray[np.bool_], seed: np.random.SeedSequence
    ) -> tuple[float, SegmenterSampler]:
        """Return the mean log joint of a chain's first sweeps after those of LDA, and the chain."""
        given = self._cut_parameters_of_fit(data.corpus)
        n_topics = self._n_first_topics(data.corpus)
        streams = (derive_stream(seed, role) for role in (Role.INIT, Role.SWEEP))
        topics = topics_by_lda(join_units(data.corpus, starts), n_topics, given, *streams)
        chain = SegmenterSampler(data, n_topics, given, topics, derive_stream(seed, Role.PILOT))
        logs = []
        for _ in range(_FIRST_SWEEPS):
            check_interrupts()
            chain.sweep()
            logs.append(chain.log_joint())
        return float(np.mean(logs[_FIRST_SWEEPS // 2 :])), chain

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        corpus = state.runs[0].sampler._whole
        cut_proba = split_units(corpus, attributes["cut_proba_"])
        n_cuts = np.array([np.count_nonzero(p > 0.5) for p in cut_proba], dtype=np.int64)
        return {
            **attributes,
            "cut_proba_": cut_proba,
            "n_parts_": n_cuts + (np.diff(corpus.doc_ptr) > 0),
            "n_components_": len(attributes["components_"]),
            "_fitted_max_units": self.max_units,
        }

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        bound = int(self.max_units or 0)
        longer = [np.append(p, 1.0) for p in self.cut_proba_ if len(p) >= bound]
        lengths = np.diff(np.flatnonzero(np.concatenate([[1.0], *longer]) > 0.5))
        is_full = lengths[lengths >= bound].sum() > SHARE_AT_BOUND * lengths.sum()
        problem = (
            f"have more than a twentieth of the units in parts of max_units={bound} units, so "
            "longer ones may have been cut. Raise max_units, unless you want no longer ones."
        )
        warn_of_bound(self, "max_units", [is_full], bound, problem)

    def _averaged_model(self) -> SegmenterModel:
        return SegmenterModel(
            self.components_.astype(np.float32), self.doc_topic_prior_, self.concentration_,
            self.cut_probability_, self._fitted_max_units,
            getattr(self, "burst_concentration_", None),
        )  # fmt: skip

    def _given_attributes(self, n_topics: int) -> dict[str, Any]:
        prior = check_dirichlet(self.doc_topic_prior, "doc_topic_prior", n_topics)
        check_given({
            "doc_topic_prior": prior, "concentration": self.concentration,
            "cut_probability": self.cut_probability,
        })  # fmt: skip
        return {
            "doc_topic_prior_": prior,
            "concentration_": float(self.concentration),
            "cut_probability_": float(self.cut_probability),
            "n_components_": n_topics,
            "_fitted_max_units": self.max_units,
        }

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit topics and cuts to documents made of units.

        Parameters
        ----------
        X : SegmentedCorpus, list of documents, or (n_documents, n_features) count matrix
            The segments of a document are its units. Each document in a list is a list of units,
            each a sequence of word ids. Each row of a matrix is a document of one unit. Parts of X
            (`part_ptr`) are not read; known cuts are given as y.
        y : list of n_documents arrays or None, default=None
            Known cuts: for each document an array (n_units - 1,) of 1 (a cut in this gap), 0 (none)
            and -1 (unknown), or None. A single number or string for a document, such as the class
            that a pipeline passes to all of its steps, is not a cut and is ignored.

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
            ``warm_start=True`` continues.

        Warns
        -----
        UserWarning
            If a seed word is not in the vocabulary; it is named.
        ConvergenceWarning
            If the log joint of a chain still climbs, or there are fewer than 12 sweeps after the
            burn-in, too few to judge; raise `max_iter` then.
            If chains plainly disagree; compare them in `trace_` then.
        """
        return self._fit(X, y)

    def predict_proba(self, X: Any) -> list[Floats]:
        """Return the probability of a cut in every gap between two units.

        Every document has its own short chain for each stored sample, with the topics fixed; exact
        sums over all divisions take its place if parts have words of their own.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of n_documents arrays
            Arrays of shape (n_units - 1,).
        """
        corpus, shares = self._fold_in_each(X)
        return split_units(corpus, np.mean([each[2] for each in shares], axis=0))

    def predict(self, X: Any, *, n_parts: Any = None, max_words: int | None = None) -> list[Places]:
        """Return where documents change their subject.

        It is the most probable division of each document as a whole, given the expected topics of
        its words. It may differ from the gaps with probabilities above .5: next to a unit without
        words, for example, both gaps may have a probability of .5, and one of them is cut. Without
        bounds (`n_parts`, `max_words`, `max_units`) a cut is left out where cuts are not probable:
        unless the probabilities there and in the gaps next to it add up to .7 or, if parts have
        words of their own, to .5 within two or four gaps, in excess of their median.

        Parameters
        ----------
        X : as in `fit`
        n_parts : int or (n_documents,) array of int, default=None
            Number of parts, of all documents or of each: the most probable division into that many.
        max_words : int, default=None
            Largest number of words (of the vocabulary) of a part: the most probable division into
            such parts. A longer unit is a separate part.

        Returns
        -------
        list of n_documents arrays of int
            The first unit of each part but the first.

        Raises
        ------
        ValueError
            If a number is out of range, or both are given.
        """
        if n_parts is not None and max_words is not None:
            raise ValueError("n_parts and max_words cannot both be given.")
        if max_words is not None:
            max_words = check_count(max_words, "max_words", at_least=1)
        corpus, shares = self._fold_in_each(X)
        numbers = np.zeros(len(corpus), dtype=np.int64)
        if n_parts is not None:
            numbers = check_numbers(n_parts, corpus, self._fitted_max_units)
        found = divide(corpus, self._models, shares, numbers, max_words)
        if n_parts is None and max_words is None and self._fitted_max_units is None:
            p = np.mean([each[2] for each in shares], axis=0)
            found = [
                cuts[[_is_sure(own, cut, hasattr(self, "burst_concentration_")) for cut in cuts]]
                for cuts, own in zip(found, split_units(corpus, p), strict=True)
            ]
        return found

    def merge(self, X: Any, cuts: Any) -> SegmentedCorpus:
        """Return documents whose segments are parts.

        Parameters
        ----------
        X : as in `fit`
        cuts : list of n_documents arrays of int
            The first unit of each part but the first, as `predict` returns it.

        Returns
        -------
        SegmentedCorpus
            For other models of topics, or a classifier of parts. ``X.with_parts(cuts)`` keeps the
            units as segments instead, for `SequentialLDA` or `AdaptiveTopicModel`.
        """
        check_is_fitted(self)
        corpus = check_corpus(self, X, reset=False)
        return join_units(corpus, corpus._begins(cuts))

    def _fold_in_each(self, X: Any) -> tuple[SegmentedCorpus, list[tuple[NDArray[Any], ...]]]:
        """Return the documents, and what their fold-in into each stored sample gives."""
        check_is_fitted(self)
        corpus = check_corpus(self, X, reset=False)
        return corpus, list(fold_in_documents(corpus, self._models, self._fold_in_settings()))
