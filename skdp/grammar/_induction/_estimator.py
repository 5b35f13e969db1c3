"""Fits of `HDPPCFG`, whose runs are ascents of a bound, or Markov chains."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_gamma_prior
from skdp._executors import Executor
from skdp._fit import ChainEstimator, FitState
from skdp._numeric._random import Role, make_seed_sequence
from skdp._sklearn_compat import Interval, StrOptions, validate_parameters
from skdp.data import PartitionedSentences, check_sentences
from skdp.data._validation import check_partitioned_sentences
from skdp.grammar._chart._batches import SentenceBatches, without_empty
from skdp.grammar._chart._limits import Sentences
from skdp.grammar._coordinate_ascent import Expectation
from skdp.grammar._induction._ascent import Induction, start_weights
from skdp.grammar._induction._brackets import add_brackets
from skdp.grammar._induction._counts import count_active_rules, count_expected
from skdp.grammar._induction._gibbs import GammaPrior, GrammarSampler, LearnedConcentrations
from skdp.grammar._induction._layout import GrammarLayout, check_size, read_row
from skdp.grammar._induction._maximum_likelihood import MaximumLikelihoodGrammar
from skdp.grammar._induction._partitions import DistributedSentences
from skdp.grammar._induction._procedure import InductionAscents
from skdp.grammar._induction._trees import count_best_trees
from skdp.grammar._induction._variational import GrammarPriors, VariationalGrammar
from skdp.grammar._top_weights import TopPrior
from skdp.inference._convergence import warn_user

_ANNEALED_SHARE = 0.2
"""Share of the iterations that are annealed, at most `_MOST_ANNEALED` iterations."""

_MOST_ANNEALED = 40

_FIRST_CONCENTRATION = 1.0
"""Initial value of learned concentrations."""

_OF_CHAINS = {"n_chains": 1}
"""Parameters rejected without chains, with defaults: they resemble numbers of starts."""

_OF_ASCENTS = {"init": "random", "dtype": "float64", "tol": 1e-4, "n_init": 1}
"""Parameters refused with chains, with defaults."""

_CONCENTRATIONS = ("top_concentration", "root_concentration", "binary_concentration")

_POSITIVE = Interval(Real, 1e-8, 1e8, closed="both")
_AUTO = StrOptions({"auto"})


class GrammarEstimator(ChainEstimator):
    """Validation and fit of `HDPPCFG`, with "gibbs" as a `ChainEstimator`, else by ascents."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ChainEstimator._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_preterminals": [Interval(Integral, 1, None, closed="left"), None],
        "top_prior": [StrOptions({"gem", "dirichlet"})],
        "top_concentration": [_POSITIVE, _AUTO, None],
        "root_concentration": [_POSITIVE, _AUTO],
        "rule_type_prior": [_POSITIVE, "array-like"],
        "emission_prior": [_POSITIVE],
        "binary_concentration": [_POSITIVE, _AUTO, "array-like"],
        "child_prior": [StrOptions({"joint", "independent"})],
        "inference": [StrOptions({"vb", "gibbs", "em", "viterbi-em"})],
        **{f"{name}_prior": [tuple, list] for name in _CONCENTRATIONS},
        "pseudo_count": [Interval(Real, 0, 1e8, closed="both")],
        "init": [StrOptions({"random", "annealed"})],
        "predict_method": [StrOptions({"expected-log", "mean", "expected"})],
        "max_length": [Interval(Integral, 1, None, closed="left"), None],
        "dtype": [StrOptions({"float64", "float32"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    _free_in_warm_start = ChainEstimator._free_in_warm_start | {"tol", "predict_method"}

    _free_in_checkpoints = ChainEstimator._free_in_checkpoints | {"predict_method"}

    _feature_attributes = (
        *ChainEstimator._feature_attributes, "n_words_", "_sentence_length"
    )  # fmt: skip

    _optional_attributes = frozenset(
        ["lower_bound_", "lower_bounds_", "init_lower_bounds_", "trace_", "_best_chain", "_models"]
    )

    @property
    def _is_sampled(self) -> bool:
        return isinstance(self.inference, str) and self.inference == "gibbs"

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether a fit has a result, which an early interruption prevents."""
        return hasattr(self, "_grammar")

    # Validation

    def _validate_parameters(self) -> None:
        if self._is_sampled:
            super()._validate_parameters()
        else:
            validate_parameters(self)
        self._priors(GrammarLayout(1, self.n_components, self.n_preterminals))
        self._learned()
        self._refuse_unused()

    def _refuse_unused(self) -> None:
        """Raise for parameters that would have no effect."""
        way = f"inference={self.inference!r}"
        for name, default in (_OF_ASCENTS if self._is_sampled else _OF_CHAINS).items():
            if getattr(self, name) != default:
                raise ValueError(f"{name} has no effect with {way}; got {getattr(self, name)!r}.")
        if self.inference in ("vb", "gibbs") and self.pseudo_count != 0.0:
            raise ValueError(
                f"pseudo_count is for inference='em' and 'viterbi-em'; {self.inference!r} has "
                f"priors instead. Got pseudo_count={self.pseudo_count!r}."
            )
        if self.inference in ("em", "viterbi-em") and self.child_prior != "joint":
            raise ValueError(
                f"child_prior is for inference='vb' and 'gibbs'; {self.inference!r} has no priors. "
                f"Got child_prior={self.child_prior!r}."
            )
        if self.inference == "viterbi-em" and self.init == "annealed":
            raise ValueError(
                "init='annealed' has no effect with inference='viterbi-em': the best trees are the "
                "same under any power of the weights."
            )

    def _is_learned(self, name: str) -> bool:
        """Return whether a concentration is drawn; raise if it cannot be drawn."""
        value = getattr(self, name)
        is_auto = isinstance(value, str) and value == "auto"
        if is_auto and not self._is_sampled:
            raise ValueError(
                f"{name}='auto' is for inference='gibbs'; got inference={self.inference!r}."
            )
        return is_auto

    def _learned(self) -> LearnedConcentrations:
        """Return the priors of the concentrations that are drawn."""

        def prior(name: str) -> GammaPrior:
            given = check_gamma_prior(getattr(self, f"{name}_prior"), f"{name}_prior")
            return given if self._is_learned(name) else None

        return LearnedConcentrations(*map(prior, _CONCENTRATIONS))

    def _priors(self, layout: GrammarLayout) -> GrammarPriors:
        top, root = (
            _FIRST_CONCENTRATION if self._is_learned(name) else getattr(self, name)
            for name in _CONCENTRATIONS[:2]
        )
        if self._is_learned("binary_concentration"):
            binary = np.full(len(layout.blocks), _FIRST_CONCENTRATION)
        else:
            n_blocks = len(layout.blocks)
            binary = read_row(self, "binary_concentration", n_blocks, "type of binary rules")
        return GrammarPriors(
            TopPrior(self.top_prior, None if top is None else float(top)),
            float(root),
            read_row(self, "rule_type_prior", layout.n_rule_types, "rule type"),
            float(self.emission_prior),
            binary,
            self.child_prior == "independent",
        )

    def _check_input(
        self, X: Any, y: Any = None, executor: Executor | None = None
    ) -> Sentences | DistributedSentences:
        if executor is not None:
            return self._distribute(X, y, executor)
        checked = add_brackets(check_sentences(self, X, reset=True), y)
        sentences, has_words = without_empty(checked)
        self._check_words(bool(has_words.any()))
        self._check_size()
        if self.max_length is None:
            return sentences
        short = np.diff(sentences.ptr) <= self.max_length
        if self._is_sampled and not short.all():
            first = np.flatnonzero(~short)[:1]
            raise ValueError(
                f"Sentence {np.flatnonzero(has_words)[first][0]} has "
                f"{np.diff(sentences.ptr)[first][0]} words, more than max_length="
                f"{self.max_length}: inference='gibbs' leaves no sentence out."
            )
        self._check_lengths(int(np.count_nonzero(short)), len(short))
        if not short.all():
            sentences = sentences[short]
        return sentences

    def _distribute(
        self, X: PartitionedSentences, y: Any, executor: Executor
    ) -> DistributedSentences:
        """Return sentences in partitions, which are opened by their workers."""
        if self._is_sampled:
            raise TypeError(
                "inference='gibbs' takes no PartitionedSentences, since chains keep the trees of "
                "all sentences. Use X.compute(), or another inference."
            )
        check_partitioned_sentences(self, X, reset=True)
        self._check_size()
        data = DistributedSentences(X, executor, self.max_length, y)
        self._check_words(data.n_with_words > 0)
        self._check_lengths(data.n_kept, data.n_with_words)
        return data

    def _check_words(self, has_any: bool) -> None:
        if not has_any:
            raise ValueError(
                f"Found 0 word(s) in X while a minimum of 1 is required by {type(self).__name__}."
            )

    def _check_lengths(self, n_kept: int, n: int) -> None:
        """Raise if no sentence is short enough; warn if some are not."""
        if n_kept == 0:
            raise ValueError(f"All sentences are longer than max_length={self.max_length} words.")
        if n_kept < n:
            warn_user(
                f"{n - n_kept} of {n} sentences are longer than max_length={self.max_length} words "
                "and are left out of the fit.",
                UserWarning,
            )

    def _check_size(self) -> None:
        """Raise if the grammars of all runs would not fit into memory."""
        n_grammars, what = self.n_init, f"n_init={self.n_init}"
        if self._is_sampled:
            n_grammars = self.n_chains * (1 + self.n_samples)
            what = f"n_chains={self.n_chains}, n_samples={self.n_samples}"
        check_size(self.n_words_, self.n_components, self.n_preterminals, n_grammars, what)

    # Runs

    def _make_procedure(self, data: Sentences | DistributedSentences) -> Any:
        if self._is_sampled:
            return super()._make_procedure(data)
        in_partitions = isinstance(data, DistributedSentences)
        n_words = data.n_words if isinstance(data, DistributedSentences) else len(data.tokens)
        layout = GrammarLayout(data.n_features, self.n_components, self.n_preterminals)
        return InductionAscents(
            partial(self._start_ascents, data), self._expectation(layout, data),
            self.tol * n_words, self.max_iter, self.n_jobs, in_partitions=in_partitions,
        )  # fmt: skip

    def _start_ascents(self, data: Sentences | DistributedSentences) -> FitState:
        """Return the grammars of all starts."""
        root = make_seed_sequence(self.random_state)
        layout = GrammarLayout(data.n_features, self.n_components, self.n_preterminals)
        grammar: Any
        if self.inference == "vb":
            priors = self._priors(layout)
            grammar = VariationalGrammar(layout, priors)
            rule_types = priors.rule_type / priors.rule_type.sum()
        else:
            rule_types = np.full(layout.n_rule_types, 1.0 / layout.n_rule_types)
            grammar = MaximumLikelihoodGrammar(layout, float(self.pseudo_count))
        n_annealed = 0
        if self.init == "annealed":
            n_annealed = min(_MOST_ANNEALED, int(_ANNEALED_SHARE * self.max_iter))
        flat, runs = start_weights(layout, rule_types), []
        for i in range(self.n_init):
            seed = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, Role.INIT, i))
            start = start_weights(layout, rule_types, np.random.default_rng(seed))
            runs.append(Induction(grammar, start, flat, n_annealed))
        return FitState(runs, root)

    def _start_sampler(
        self, data: Sentences, root: np.random.SeedSequence, c: int
    ) -> GrammarSampler:
        layout = GrammarLayout(data.n_features, self.n_components, self.n_preterminals)
        return GrammarSampler(data, layout, self._priors(layout), self._learned(), root, c)

    def _expectation(
        self, layout: GrammarLayout, data: Sentences | DistributedSentences
    ) -> Expectation:
        """Return the function that counts rules under given weights."""
        is_best, dtype = self.inference == "viterbi-em", np.dtype(self.dtype)
        if isinstance(data, DistributedSentences):
            return data.best_counts(layout) if is_best else data.expected_counts(dtype)
        n_jobs = self.n_jobs if self.n_init == 1 else 1  # starts use the threads
        batches = SentenceBatches.of(data)
        if is_best:
            return partial(count_best_trees, batches, layout, n_jobs)
        return partial(count_expected, batches, dtype, n_jobs)

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        if self._is_sampled:
            of_chains = super()._fitted_attributes(state, final=final)
            best = max(of_chains["_models"], key=lambda draw: draw.log_joint)
            return {**_attributes_of(best.grammar), **of_chains}
        bounds = [run.bound for run in state.runs]
        best = state.runs[int(np.argmax(bounds))]
        return {
            **_attributes_of(best.grammar),
            "lower_bound_": max(bounds),
            "lower_bounds_": np.array(best.lower_bounds),
            "init_lower_bounds_": np.array(bounds),
            "n_iter_": best.n_iter,
        }


def _attributes_of(grammar: Any) -> dict[str, Any]:
    """Return the fitted attributes that describe a grammar."""
    layout, probabilities = grammar.layout, grammar.probabilities()
    nodes: NDArray[np.float64] = grammar.counts.of_nodes(layout)
    active = grammar.counts.active(layout)
    return {
        "top_weights_": np.concatenate(grammar.top_weights),
        "root_probs_": probabilities.root,
        "rule_type_probs_": probabilities.rule_type,
        "emission_probs_": probabilities.emission,
        "binary_probs_": probabilities.binary,
        "symbol_shares_": nodes / nodes.sum(),
        "n_active_components_": int(np.count_nonzero(active)),
        "n_active_rules_": count_active_rules(grammar.weights(), active, layout),
        "_grammar": grammar,
    }
