"""The nested Pitman-Yor language model with a level of collocations."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from skdp._checks import check_beta_prior
from skdp._fit import FitState
from skdp._numeric import Places
from skdp._sklearn_compat import Interval, StrOptions
from skdp.inference._trace import Trace
from skdp.language._kernels._collocation_seats import LONGEST
from skdp.language._nested._collocation_model import (
    chain_bytes,
    count_collocations,
    lay_out_new,
    read_new,
)
from skdp.language._nested._collocation_sampler import CollocationSampler
from skdp.language._nested._sampler import Settings
from skdp.language._nested_pitman_yor_lm import NestedPitmanYorLM


class CollocationPitmanYorLM(NestedPitmanYorLM):
    r"""Nested Pitman-Yor language model with a level of collocations for text without spaces.

    A sentence is a sequence of collocations, and a collocation consists of one or several words
    that often occur together. Collocations come from a Pitman-Yor process, whose base draws words
    until it stops; words come from another Pitman-Yor process, whose base spells them:

    .. math::

        c_i &\sim \mathrm{PY}(d_c, \theta_c, B), \quad
        B(c) = (1 - p_\$) \, s (1 - s)^{|c| - 1} \prod_{w \in c} G(w), \\
        G &\sim \mathrm{PY}(d_w, \theta_w, H), \quad
        H(w) = g_{|w|} \prod_{j=1}^{|w|+1} p(x_j \mid x_{j-m+1}, \ldots, x_{j-1})

    Frequent phrases are thus learned as collocations and need not become words, as they do in
    `NestedPitmanYorLM`, whose parameters, attributes and methods are otherwise the same. A sweep
    draws collocations and words of each string as a block, then redraws the words of each table of
    collocations, for all strings that share it. Both moves have a Metropolis-Hastings step and are
    exact for given length factors g.

    Parameters
    ----------
    character_order
    max_word_length : int, default=12
    max_collocation_length : int, default=24
        Largest number of characters in a collocation, from `max_word_length` to 64. If a
        twentieth of the collocations or more have it, `fit` warns.
    stop_probability : float or "auto", default=0.5
        s: probability that a word is the last one of a new collocation. "auto": learned under
        `stop_prior` from the collocations of all tables; it then often approaches 1, so that every
        collocation is a word, and the level is lost.
    stop_prior : (float, float), default=(1.0, 1.0)
        Parameters p and q of the Beta prior on a learned `stop_probability`, in [1e-8, 1e8].
    length_correction : {"none", "poisson"} or (max_word_length,) array, default="none"
    word_length : float, "entropy" or "auto", default="entropy"
        lambda, the mean of Poisson lengths of new words before truncation at L, only with
        ``length_correction="poisson"``. "entropy": 160 / H^2, at least 1 and at most 7, for
        characters of an entropy of H bits in X. "auto": learned under `length_prior` in sweeps that
        are not annealed.
    length_prior
    end_probability : float or "auto", default=0.1
        p_$: share of the base of collocations that goes to the end of the sentence. The rest is the
        price of a new collocation. "auto": learned under `end_probability_prior`, from the numbers
        of tables of ends and of collocations.
    end_probability_prior
    discount : float, (collocations, words, characters) or "auto", default="auto"
        Discounts d, in [0, 1). "auto": one for collocations, one for words, and one for each length
        of context of characters, learned under `discount_prior`. In a triple, each entry is "auto"
        or a number; the entry for characters may be an array with one value per length of context.
    discount_prior
    concentration : float, (collocations, words, characters) or "auto", default="auto"
    concentration_prior
    init : {"online", "whole"}, default="online"
        The initial state. "online": strings are cut one after the other, the shortest first,
        starting from empty restaurants; this is done twice, the second time with the parameters
        learned in the first pass. "whole": strings are cut only where necessary.
    anneal
    predict_method : {"mbr", "viterbi"}, default="mbr"
        "mbr": the words with the largest sum of posterior probabilities minus `word_price`,
        averaged over the stored samples of all chains. "viterbi": the words of the most probable
        collocations and words under the last sample of the chain with the highest mean log joint.
    word_price, max_iter, burn_in, thin, n_samples, n_chains, warm_start, n_jobs, random_state,
    verbose

    Attributes
    ----------
    collocations_ : list of lists of str, or of arrays of ids
        Collocations, each as a list of its words, by their expected number in the training strings,
        the most frequent first.
    collocation_counts_ : (n_collocations,) array
        Expected numbers, as means over the stored samples of all chains.
    collocation_discount_, collocation_concentration_ : float
        Posterior means, or the given values.
    stop_probability_ : float
        s: its posterior mean, or the given value.
    lexicon_, lexicon_counts_, alphabet_
    word_discounts_, word_concentrations_ : (1,) arrays
        Posterior means, or the given values: words have no context.
    character_discounts_, character_concentrations_, word_length_, end_probability_, segmentations_,
    trace_, n_iter_, convergence_, n_words_, n_features_in_
    feature_names_in_ : array
        Only if X was a data frame with string column names.

    See Also
    --------
    NestedPitmanYorLM : Word n-grams, without collocations.
    strip_spaces : Strings without spaces, and the cuts at the spaces.

    References
    ----------
    M. Johnson and S. Goldwater (2009). Improving nonparameteric Bayesian inference: experiments on
    unsupervised word segmentation with adaptor grammars. NAACL-HLT.

    Examples
    --------
    >>> from skdp.language import CollocationPitmanYorLM
    >>> texts = ["thedog", "thecat", "adog", "acat", "thedogsawacat", "thecatsawthedog"] * 5
    >>> model = CollocationPitmanYorLM(n_chains=1, random_state=0).fit(texts)
    >>> "".join(model.predict(["thedog"])[0])
    'thedog'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: valid
            for name, valid in NestedPitmanYorLM._parameter_constraints.items()
            if name not in ("word_order", "type_moves")
        },
        "max_word_length": [Interval(Integral, 1, LONGEST, closed="both")],
        "max_collocation_length": [Interval(Integral, 1, LONGEST, closed="both")],
        "stop_probability": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"})],
        "stop_prior": [tuple, list],
    }

    _sampler = CollocationSampler
    _lay_out: ClassVar[Any] = staticmethod(lay_out_new)
    _read: ClassVar[Any] = staticmethod(read_new)

    def __init__(
        self,
        *,
        character_order: int = 4,
        max_word_length: int = 12,
        max_collocation_length: int = 24,
        stop_probability: Any = 0.5,
        stop_prior: tuple[float, float] = (1.0, 1.0),
        length_correction: Any = "none",
        word_length: Any = "entropy",
        length_prior: tuple[float, float] | None = None,
        end_probability: Any = 0.1,
        end_probability_prior: tuple[float, float] = (1.0, 1.0),
        discount: Any = "auto",
        discount_prior: tuple[float, float] = (1.0, 1.0),
        concentration: Any = "auto",
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        init: str = "online",
        anneal: tuple[float, int] | str | None = "auto",
        predict_method: str = "mbr",
        word_price: float = 0.2,
        max_iter: int = 30,
        burn_in: int | None = None,
        thin: int = 2,
        n_samples: int = 5,
        n_chains: int = 4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    # Validation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        if self.max_collocation_length < self.max_word_length:
            raise ValueError(
                "max_collocation_length must not be smaller than max_word_length="
                f"{self.max_word_length}: a collocation may be any word. Got "
                f"{self.max_collocation_length}."
            )

    def _settings_of_chain(self) -> Settings:
        return self._settings_of((1, 1, int(self.character_order)), 0.0)._replace(
            max_collocation=int(self.max_collocation_length),
            stop_probability=self.stop_probability,
            stop_prior=check_beta_prior(self.stop_prior, "stop_prior"),
        )

    def _bytes_of_chain(self, ptr: Places) -> float:
        lengths = int(self.max_word_length), int(self.max_collocation_length)
        return chain_bytes(ptr, *lengths, int(self.character_order))

    # Chains

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        chain = state.runs[attributes["_best_chain"]]
        prior = np.mean([model.own_prior for model in chain.models.values()], axis=0)
        found, counts = count_collocations(attributes["_models"])
        return attributes | {
            "collocations_": [self._show(words) for words in found],
            "collocation_counts_": counts,
            "collocation_discount_": float(prior[0]),
            "collocation_concentration_": float(prior[1]),
            "stop_probability_": self._mean_or_given("stop_probability", chain.trace),
        }

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        lengths = np.array([sum(map(len, words)) for words in self.collocations_], dtype=np.intp)
        counts = self.collocation_counts_
        self._warn_of_length("max_collocation_length", "collocations", lengths, counts)
