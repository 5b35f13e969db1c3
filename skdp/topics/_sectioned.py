"""The segmented topic model of documents of sections of paragraphs."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from skdp._checks import check_beta_prior, check_gamma_prior, is_number, shorten
from skdp._numeric import Floats
from skdp._numeric._random import Role, derive_stream
from skdp._sklearn_compat import Interval, StrOptions
from skdp.data import SegmentedCorpus
from skdp.topics._base import CONCENTRATION, BaseTopicModel, check_dirichlet, check_given
from skdp.topics._inferred_number import topics_by_lda
from skdp.topics._shared._bursts import (
    fitted_bursts,
    make_bursts,
)
from skdp.topics._tables._sections import SectionModel, SectionParameters, SectionSampler

_DISCOUNT = Interval(Real, 0.0, 1.0, closed="left")


class SectionedTopicModel(BaseTopicModel):
    r"""Topic model for documents made of sections that are made of paragraphs.

    A document has topic shares mu, each of its sections has its own shares, which vary around mu,
    and the shares of each paragraph vary around those of its section: the segmented topic model
    with one level more.

    .. math::

        \mu_d &\sim \mathrm{Dir}(\alpha), \quad
        \nu_{ds} \sim \mathrm{PDP}(a_1, b_1, \mu_d), \quad
        \nu_{dsp} \sim \mathrm{PDP}(a_2, b_2, \nu_{ds}), \\
        z_{dspi} &\sim \nu_{dsp}, \quad
        w_{dspi} \sim \phi_{z_{dspi}}, \quad
        \phi_k \sim \mathrm{Dir}(\gamma)

    With mu, nu and phi integrated out, the topic of every word and the table counts of every
    paragraph and section are drawn by an exact Gibbs sampler. Use it for books, minutes, or all
    articles of an author: a paragraph is then predicted from the words of its section, too. The
    paragraphs are the segments of X, and the sections are its parts (`SegmentedCorpus.part_ptr`). A
    document without parts has one section.

    Parameters
    ----------
    n_components, doc_topic_prior, topic_word_prior, dirichlet_prior, seed_words, seed_weight,
    fixed_components
    discount : float in [0, 1), "auto", or a pair of these, default=0.0
        Discounts a of the Poisson-Dirichlet processes of sections and of paragraphs; one value is
        that of both levels. "auto" draws a level's discount in every sweep under `discount_prior`.
    discount_prior
    concentration : float, "auto", or a pair of these, default="auto"
        Concentrations b of sections and of paragraphs, in [1e-8, 1e12]: how closely sections follow
        their document, measured in tables of their paragraphs, and paragraphs their section,
        measured in words. One value is that of both levels. "auto" draws a level's concentration in
        every sweep under `concentration_prior`.
    concentration_prior, burst_concentration, burst_concentration_prior, burst_discount,
    burst_scope, init, max_iter, burn_in, thin, n_samples, n_chains, transform_max_iter,
    transform_burn_in, warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    components_, doc_topic_
    section_topic_ : (n_sections, n_components) array
        Topic shares of the training sections, in the order of `SegmentedCorpus.part_ptr`.
    segment_topic_ : (n_segments, n_components) array
        Topic shares of the training segments, the paragraphs.
    doc_topic_prior_ : (n_components,) array
    topic_word_prior_ : float
        Posterior mean, or the given value.
    discount_, concentration_ : (2,) arrays
        Posterior means, or the given values, of sections and of paragraphs.
    burst_concentration_, burst_discount_, topic_names_, trace_, n_iter_, convergence_,
    n_features_in_, feature_names_in_

    See Also
    --------
    SegmentedTopicModel : Model without sections.
    TopicSegmenter : Finds sections that are not marked.
    skdp.data.SegmentedCorpus.with_parts : Divides the documents of a corpus into sections.

    Notes
    -----
    Averages are over the kept samples of one chain, the one with the highest mean log joint
    probability. `score` averages probabilities over the stored samples of all chains.

    If no document has two sections, the words hardly determine the concentration of sections. With
    a concentration of sections of 1e12, or with one of paragraphs of 1e12 and sections in the place
    of segments, the model is `SegmentedTopicModel`.

    It is a separate class because `SegmentedTopicModel` does not read parts of documents, and
    because most of its options have no counterpart here: samplers, shards, partitions, scopes of
    concentrations, and an inferred number of topics.

    With bursts [1]_ the words of a document that have a topic are the customers of a Chinese
    restaurant; a table serves one word, drawn from the topic. So `components_` counts the tables,
    and `score` gives another occurrence of a word of the document its share of the customers.

    References
    ----------
    L. Du, W. Buntine and H. Jin (2010). A segmented topic model based on the two-parameter
    Poisson-Dirichlet process. Machine Learning 81. -- L. Du (2012). Non-parametric Bayesian methods
    for structured topic models. PhD thesis, Australian National University, chapter 3, equation
    (3.17) (networks of Poisson-Dirichlet processes; the sampler is corrected).

    .. [1] G. Doyle and C. Elkan (2009). Accounting for burstiness in topic models. ICML. --
       W. L. Buntine and S. Mishra (2014). Experiments with non-parametric topic models. KDD.

    Examples
    --------
    >>> from skdp.topics import SectionedTopicModel
    >>> document = [[[0, 1, 0], [1, 1]], [[2, 3, 2], [3, 3], [2]]]  # sections of paragraphs
    >>> other = [[[2, 3, 3]], [[1, 0], [0]]]
    >>> model = SectionedTopicModel(n_components=2, max_iter=200, random_state=0)
    >>> model.fit([document, other]).section_topic_.shape
    (4, 2)
    >>> model.transform([document]).shape
    (1, 2)
    >>> model.transform_sections([document]).shape
    (2, 2)
    >>> model.transform_segments([document]).shape
    (5, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseTopicModel._parameter_constraints,
        "discount": "no_validation",
        "concentration": "no_validation",
        "init": [StrOptions({"random", "lda"}), "array-like"],
    }

    _takes_partitions = False

    _predicts_by = ("burst_scope",)

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
        burst_concentration: float | str | None = None,
        burst_concentration_prior: tuple[float, float] = (1.0, 0.001),
        burst_discount: float | str = 0.0,
        burst_scope: str = "document",
        init: Any = "random",
        max_iter: int = 500,
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
        self._section_parameters()

    def _section_parameters(self) -> SectionParameters:
        return SectionParameters(
            check_dirichlet(self.doc_topic_prior, "doc_topic_prior", self.n_components),
            self._topic_word_prior(),
            check_gamma_prior(self.dirichlet_prior, "dirichlet_prior"),
            _check_levels(self.discount, "discount", _DISCOUNT),
            check_beta_prior(self.discount_prior, "discount_prior"),
            _check_levels(self.concentration, "concentration", CONCENTRATION),
            check_gamma_prior(self.concentration_prior, "concentration_prior"),
        )

    # Chains

    def _start_local_sampler(
        self, corpus: SegmentedCorpus, root: np.random.SeedSequence, c: int
    ) -> SectionSampler:
        init = self._check_init(corpus.n_features)
        given = self._section_parameters()._replace(topic_word_prior=self._word_prior())
        if isinstance(init, str) and init == "lda":
            streams = (derive_stream(root, Role.INIT, c, i) for i in (1, 2))
            init = topics_by_lda(corpus, self.n_components, given, *streams)
        return SectionSampler(
            corpus, self.n_components, given, init, derive_stream(root, Role.INIT, c),
            derive_stream(root, Role.SWEEP, c), make_bursts(self), self.burst_scope,
        )  # fmt: skip

    def _averaged_model(self) -> SectionModel:
        return SectionModel(
            self.components_.astype(np.float32), self.doc_topic_prior_, self.discount_,
            self.concentration_, fitted_bursts(self), self._fitted_burst_scope,
        )  # fmt: skip

    def _given_attributes(self, n_topics: int) -> dict[str, Any]:
        prior = check_dirichlet(self.doc_topic_prior, "doc_topic_prior", n_topics)
        given = self._section_parameters()
        check_given({"doc_topic_prior": prior})
        for name in ("discount", "concentration"):
            if "auto" in getattr(given, name):
                raise ValueError(
                    f"{name} must be given as numbers if topics are given, got "
                    f"{shorten(getattr(self, name))}."
                )
        return {
            "doc_topic_prior_": prior,
            "discount_": np.array(given.discount),
            "concentration_": np.array(given.concentration),
        }

    # Public methods

    def transform_sections(self, X: Any) -> Floats:
        """Return the expected topic shares of sections given their words and the topics.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sections, n_components) array
            The sections of all documents in order; rows sum to 1. Parts of X without segments do
            not count. The shares of a section without words are its expected shares given the rest
            of its document.
        """
        return self._fold_in(X)[2]


def _check_levels(value: Any, name: str, interval: Interval) -> tuple[Any, Any]:
    """Return a parameter of sections and of paragraphs as a pair of floats or "auto"."""
    is_pair = isinstance(value, tuple | list | np.ndarray) and np.ndim(value) == 1
    pair = tuple(value) if is_pair else (value, value)
    found = [
        "auto" if isinstance(each, str) and each == "auto" else float(each)
        for each in pair
        if (isinstance(each, str) and each == "auto") or (is_number(each) and each in interval)
    ]
    if len(pair) != 2 or len(found) != 2:
        raise ValueError(
            f"{name} must be a number in {interval}, 'auto', or a pair of these, of sections and "
            f"of paragraphs; got {shorten(value)}."
        )
    return found[0], found[1]
