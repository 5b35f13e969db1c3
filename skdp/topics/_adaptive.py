"""The adaptive topic model."""

from __future__ import annotations

from typing import Any, ClassVar

from skdp._public import public
from skdp.topics._base import PRIOR
from skdp.topics._tables._base import BaseTableModel


@public
class AdaptiveTopicModel(BaseTableModel):
    r"""Topic model of documents whose segments follow their document or the one before (AdaTM).

    A document has topic shares mu. Each of its segments (paragraphs, sentences) varies around a
    mixture of mu and the segment before, with a weight of its own; the first around mu alone.

    .. math::

        \mu_d &\sim \mathrm{Dir}(\alpha), \quad
        \nu_{d1} \sim \mathrm{PDP}(a, b, \mu_d), \\
        \nu_{dj} &\sim \mathrm{PDP}(a, b, \rho_{dj} \mu_d + (1 - \rho_{dj}) \nu_{d,j-1}), \quad
        \rho_{dj} \sim \mathrm{Beta}(\lambda_S, \lambda_T), \\
        z_{dji} &\sim \nu_{dj}, \quad
        w_{dji} \sim \phi_{z_{dji}}, \quad
        \phi_k \sim \mathrm{Dir}(\gamma)

    With mu, nu, rho and phi integrated out, the topic of every word and the table counts of every
    segment, by parent, are drawn by an exact Gibbs sampler. Use it for long documents read from
    front to back: subjects go on from segment to segment, and come back to the document's theme.

    Parameters
    ----------
    n_components : int, default=20
        Number of topics K.
    doc_topic_prior : float, (n_components,) array, "auto" or "auto-symmetric", default="auto"
        Dirichlet prior alpha of a document's topic shares, per topic, in [1e-8, 1e8]. "auto"
        learns one value per topic, "auto-symmetric" one value for all, by MAP under
        `dirichlet_prior`.
    topic_word_prior : float or "auto", default="auto"
        Dirichlet prior gamma of a topic's word probabilities, per word, in [1e-8, 1e8]. "auto"
        learns it by MAP under `dirichlet_prior`.
    dirichlet_prior : (float, float), default=(1.0, 0.1)
        Shape and rate, in [1e-8, 1e8], of the Gamma prior on every learnt entry of the two
        Dirichlet priors.
    discount : float in [0, 1) or "auto", default=0.0
        Discount a of the Poisson-Dirichlet process. "auto" draws it in every sweep under
        `discount_prior`.
    discount_prior : (float, float), default=(1.0, 1.0)
        Parameters p and q of the Beta prior on a learnt `discount`, in [1e-8, 1e8].
    concentration : float or "auto", default="auto"
        Concentration b of the Poisson-Dirichlet process, in [1e-8, 1e12]: how closely segments
        follow their parents, in words. "auto" draws it in every sweep under
        `concentration_prior`.
    concentration_prior : (float, float), default=(1.0, 0.1)
        Shape and rate of the Gamma prior on a learnt `concentration`, in [1e-8, 1e8].
    concentration_scope : {"corpus", "document", "segment"}, default="corpus"
        What shares a learnt `concentration`: the whole corpus; or each document, or each segment,
        draws its own under `concentration_prior`, unseen documents in their fold-in. It has no
        effect on a number.
    mixing_prior : (float, float), default=(1.0, 1.0)
        Parameters (lambda_S, lambda_T) of the Beta prior on the weights rho of a segment's parents,
        both > 0: lambda_S is for the document, lambda_T for the segment before.
    sampler : {"btigs", "cmgs", "ssa"}, default="btigs"
        Blocked table indicators, collapsed multiplicities or seating arrangements. All are exact;
        "btigs" is the fastest. A sweep of "ssa" takes time quadratic in the tables of a segment.
    init : "random", "lda" or (n_components, n_features) array, default="random"
        The first state. "random": uniformly random topics. "lda": words start with the topics of
        a chain of LDA of the segments, 100 sweeps long. An array of word probabilities, such as
        another model's `components_`: the words are folded into these topics, so that the topics
        of the two models correspond.
    max_iter : int, default=500
        Sweeps of each chain.
    burn_in : int or None, default=None
        Sweeps of which nothing is kept; None: half of `max_iter`, and moves with it. With
        ``warm_start=True`` it may be `max_iter` or more: the fit then shows its current state.
    thin : int, default=10
        After burn-in, keep the first sweep, every `thin`-th from there, and the last.
    n_samples : int, default=5
        Kept samples of each chain to store as models, evenly spaced, for `score` and
        `log_likelihood`.
    n_chains : int, default=1
        Independent chains.
    n_shards : int, default=1
        Runs of documents that are swept at the same time, each with the other runs' words as they
        were before the sweep: approximate (AD-LDA), and faster with `n_jobs`. 1: exact.
    transform_max_iter : int, default=100
        Sweeps of a document's chain in `transform` and `score`.
    transform_burn_in : int or None, default=None
        Those of them that do not count. None: half.
    warm_start : bool, default=False
        Keep the chains, so that another `fit` on the same X goes on where this one stopped:
        after an interruption, or with a larger `max_iter`.
    n_jobs : int or None, default=None
        Threads (or workers of joblib's active backend) for chains, shards and folding in documents.
        Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
    verbose : int, default=0
        0: silent. n: a line every n sweeps.

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
        Posterior means, or the values given.
    concentration_ : float, or (n_documents,) or (n_segments,) array
        The same; an array with `concentration_scope` "document" or "segment".
    segment_mixing_ : (n_segments,) array
        Weight of the document as parent of each training segment, E[rho]: near 0 a segment goes on
        with the one before. 1 for the first segment of a document.
    trace_ : Trace
        Scalars of every kept sweep and chain.
    n_iter_ : int
        Sweeps done.
    n_features_in_ : int
        Size of the vocabulary.
    feature_names_in_ : (n_features,) array of str
        Only if X was a data frame with string column names.

    See Also
    --------
    SegmentedTopicModel : The limit of a large lambda_S: segments in no order.
    SequentialLDA : The limit of a large lambda_T: each segment follows the one before.
    GibbsLDA : Documents without segments.
    skdp.inspection.SegmentMixingDisplay : Plots `segment_mixing_`.

    Notes
    -----
    Averages are over the kept samples of one chain, the one with the highest mean log joint
    probability; `score` and `log_likelihood` average probabilities over the stored samples of all
    chains.

    An empty segment is a step of the chain, too: what follows it keeps further from what precedes.

    References
    ----------
    L. Du, W. Buntine and H. Jin (2012). Modelling sequential text with an adaptive topic model.
    EMNLP-CoNLL. -- L. Du (2012). Non-parametric Bayesian methods for structured topic models. PhD
    thesis, Australian National University, chapters 3 (samplers) and 7; the samplers are
    corrected. -- D. Newman, A. Asuncion, P. Smyth and M. Welling (2009). Distributed algorithms for
    topic models. JMLR 10 (shards).

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseTableModel._parameter_constraints,
        "mixing_prior": [tuple, list],
    }

    def __init__(
        self,
        n_components: int = 20,
        *,
        doc_topic_prior: Any = "auto",
        topic_word_prior: Any = "auto",
        dirichlet_prior: tuple[float, float] = (1.0, 0.1),
        discount: Any = 0.0,
        discount_prior: tuple[float, float] = (1.0, 1.0),
        concentration: Any = "auto",
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        concentration_scope: str = "corpus",
        mixing_prior: tuple[float, float] = (1.0, 1.0),
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
        super().__init__(
            n_components,
            doc_topic_prior=doc_topic_prior,
            topic_word_prior=topic_word_prior,
            dirichlet_prior=dirichlet_prior,
            discount=discount,
            discount_prior=discount_prior,
            concentration=concentration,
            concentration_prior=concentration_prior,
            concentration_scope=concentration_scope,
            sampler=sampler,
            init=init,
            max_iter=max_iter,
            burn_in=burn_in,
            thin=thin,
            n_samples=n_samples,
            n_chains=n_chains,
            n_shards=n_shards,
            transform_max_iter=transform_max_iter,
            transform_burn_in=transform_burn_in,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.mixing_prior = mixing_prior

    @property
    def _parents(self) -> tuple[float, float]:
        prior = self.mixing_prior
        if len(prior) != 2 or not all(x in PRIOR for x in prior):
            raise ValueError(
                "mixing_prior must be two positive numbers (lambda_S, lambda_T), from "
                f"{PRIOR.left:g} to {PRIOR.right:g}, got {prior!r}."
            )
        return float(prior[0]), float(prior[1])
