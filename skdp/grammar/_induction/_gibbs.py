r"""Gibbs sampling of whole trees given the rules, then of everything else given the trees.

A sweep draws

    trees    the tree of each sentence as a block, given all rules
    tables   m ~ Antoniak(C, alpha beta_l beta_r) of every cell of the rows whose prior depends on
             beta, with rules integrated out; each orders one l and one r from the top
    alpha    given customers and tables; gamma given the orders, with beta integrated out
    beta     given the orders
    rules    given trees and beta
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gamma as gamma_distribution

from skdp._numeric import Floats
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import Role, derive_seed, draw_slice, make_generator
from skdp._part import ChainComponent, ChainState
from skdp.grammar._chart._ascents import Family, draw_tables
from skdp.grammar._chart._engine import sample_trees
from skdp.grammar._chart._paths import RuleWeights, SentenceBatches, Sentences
from skdp.grammar._induction._ascent import start_weights
from skdp.grammar._induction._layout import GrammarLayout, RuleCounts
from skdp.grammar._induction._partitions import count_rules
from skdp.grammar._induction._variational import GrammarPriors, VariationalGrammar
from skdp.processes._concentration import draw_concentration
from skdp.processes._partitions import in_range

GammaPrior = tuple[float, float] | None
"""Shape and rate of a Gamma prior; None: the concentration is known."""


class LearnedConcentrations(NamedTuple):
    """Gamma priors of the concentrations that are drawn."""

    top: GammaPrior
    root: GammaPrior
    binary: GammaPrior


class GrammarDraw(NamedTuple):
    """A sample with the grammar's posterior given the drawn trees, beta and concentrations."""

    grammar: VariationalGrammar
    log_joint: float


class GrammarSampler(ChainComponent):
    """Markov chain over trees, rules, top-level weights and concentrations."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_batches",)

    def __init__(
        self,
        sentences: Sentences,
        layout: GrammarLayout,
        priors: GrammarPriors,
        learned: LearnedConcentrations,
        root: np.random.SeedSequence,
        chain: int,
    ):
        self.layout = layout
        self.learned = learned
        self.n_jobs: int | None = 1
        self.stream, *streams = _make_streams(root, chain, 1 + len(sentences))
        self._streams = np.array(streams)
        """A stream for each sentence, so that its trees do not depend on the drawing thread."""
        self.attach(sentences)
        init = derive_seed(root, Role.INIT, chain)
        rule_types = priors.rule_type / priors.rule_type.sum()
        self.weights: RuleWeights = start_weights(layout, rule_types, np.random.default_rng(init))
        self.grammar = VariationalGrammar(layout, priors)

    def attach(self, sentences: Sentences) -> None:
        """Set the sentences and everything that is derived from them."""
        self._batches = SentenceBatches.of(sentences)

    def sweep(self) -> None:
        """Draw trees, tables, concentrations, top-level weights and rules."""
        counts, rng = self._draw_trees(), make_generator(self.stream)
        grammar = self.grammar.given(counts)
        families = grammar.families()
        tables = [draw_tables(f.prior(grammar.top_weights), f.counts, rng) for f in families]
        orders = count_orders(self.layout, families, tables)
        priors = self._draw_concentrations(grammar.priors, families, tables, orders)
        beta = [priors.top.draw(n, rng) for n in orders]
        self.grammar = VariationalGrammar(self.layout, priors, beta, counts)
        self.weights = self.grammar.drawn_weights(rng)

    def _draw_trees(self) -> RuleCounts:
        """Return the counts of rules in a drawn tree of each sentence."""
        batches = self._batches
        trees = sample_trees(batches, self.weights, self._streams, n_jobs=self.n_jobs)
        return count_rules(trees, batches.sentences, self.weights)

    def _draw_concentrations(
        self,
        priors: GrammarPriors,
        families: Sequence[Family],
        tables: Sequence[Floats],
        orders: Sequence[Floats],
    ) -> GrammarPriors:
        """Return priors with new values of the learned concentrations."""
        n_roots, draw = len(self.layout.inventories), partial(_draw_one, rng=self.stream)
        if self.learned.root is not None:
            root = draw(families[:n_roots], tables[:n_roots], priors.root, self.learned.root)
            priors = priors._replace(root=root)
        if self.learned.binary is not None:
            n = (len(families) - n_roots) // len(self.layout.blocks)  # number of families per block
            begins = range(n_roots, len(families), n)
            binary = [
                draw(families[i : i + n], tables[i : i + n], old, self.learned.binary)
                for i, old in zip(begins, priors.binary.tolist(), strict=True)
            ]
            priors = priors._replace(binary=np.array(binary))
        if self.learned.top is not None:
            shape, rate = self.learned.top
            assert priors.top.concentration is not None

            def log_density(log_gamma: float) -> float:
                gamma = float(np.exp(log_gamma))
                if in_range(gamma) != gamma:
                    return -np.inf
                top = priors.top._replace(concentration=gamma)
                return sum(map(top.log_evidence, orders)) + shape * log_gamma - rate * gamma

            moved = draw_slice(log_density, float(np.log(priors.top.concentration)), self.stream)
            priors = priors._replace(top=priors.top._replace(concentration=float(np.exp(moved))))
        return priors

    def log_joint(self) -> float:
        """Return log p(words, trees, logits of beta, logs of learned concentrations)."""
        grammar, learned = self.grammar, self.learned
        priors = grammar.priors
        drawn = [(learned.top, priors.top.concentration), (learned.root, priors.root)]
        drawn += [(learned.binary, value) for value in priors.binary.tolist()]
        return grammar.log_joint() + sum(
            float(gamma_distribution.logpdf(value, prior[0], scale=1.0 / prior[1]) + np.log(value))
            for prior, value in drawn
            if prior is not None and value is not None
        )

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""
        priors, counts = self.grammar.priors, self.grammar.counts
        blocks = ("_pp", "_pc", "_cp", "_cc") if self.layout.is_partitioned else ("",)
        top = priors.top.concentration
        return {
            "log_joint": self.log_joint(),
            "n_active_components": float(np.count_nonzero(counts.active(self.layout))),
            "n_active_rules": float(
                np.count_nonzero(counts.emission) + np.count_nonzero(counts.binary)
            ),
            **({} if top is None else {"top_concentration": top}),
            "root_concentration": priors.root,
            **{
                f"binary_concentration{name}": value
                for name, value in zip(blocks, priors.binary.tolist(), strict=True)
            },
        }

    def model(self) -> GrammarDraw:
        """Return the current sample, whose arrays are never changed in place."""
        return GrammarDraw(self.grammar, self.log_joint())

    def state(self) -> GrammarState:
        """Return a live view of the state."""
        return GrammarState(self)


class GrammarState(ChainState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    @property
    def top_weights(self) -> Floats:
        """Return beta, with preterminals first if there are any."""
        return np.concatenate(self._sampler.grammar.top_weights)

    @property
    def root_counts(self) -> Floats:
        """Return the number of trees with each symbol at the root, (n_symbols,)."""
        return as_readonly(self._sampler.grammar.counts.root)

    @property
    def emission_counts(self) -> Floats:
        """Return the number of emissions of each word by each symbol."""
        return as_readonly(self._sampler.grammar.counts.emission)

    @property
    def binary_counts(self) -> Floats:
        """Return the number of branchings of each symbol into each pair: parent, left, right."""
        return as_readonly(self._sampler.grammar.counts.binary)

    @property
    def top_concentration(self) -> Any:
        """Return gamma, or None if beta is uniform."""
        return self._sampler.grammar.priors.top.concentration

    @property
    def root_concentration(self) -> float:
        """Return the concentration of the symbols at the root."""
        return float(self._sampler.grammar.priors.root)

    @property
    def binary_concentration(self) -> Floats:
        """Return alpha^B of each type of binary rules."""
        return np.asarray(self._sampler.grammar.priors.binary.copy())


def count_orders(
    layout: GrammarLayout, families: Sequence[Family], tables: Sequence[Floats]
) -> list[Floats]:
    """Return the number of orders of each symbol by the tables of all rows, for each inventory."""
    orders = [np.zeros(place.stop - place.start) for place in layout.inventories]
    for family, m in zip(families, tables, strict=True):
        if family.right is None:
            orders[family.left] += m.sum(axis=0)
        else:
            orders[family.left] += m.sum(axis=(0, 2))
            orders[family.right] += m.sum(axis=(0, 1))
    return orders


def _make_streams(root: np.random.SeedSequence, chain: int, n: int) -> NDArray[np.uint64]:
    """Return n streams of a chain."""
    words = derive_seed(root, Role.SWEEP, chain).generate_state(4 * n, np.uint64)
    return np.asarray(words.reshape(n, 4), dtype=np.uint64)


def _draw_one(
    families: Sequence[Family],
    tables: Sequence[Floats],
    concentration: float,
    prior: tuple[float, float],
    rng: NDArray[np.uint64],
) -> float:
    """Return the next value of a concentration shared by families."""
    customers, own_tables = (
        np.concatenate([each.reshape(len(each), -1).sum(axis=1) for each in parts]).astype(np.int64)
        for parts in ([family.counts for family in families], tables)
    )
    drawn = draw_concentration(customers, own_tables, 0.0, concentration, *prior, rng)
    return float(in_range(drawn))
