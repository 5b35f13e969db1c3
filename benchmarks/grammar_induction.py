"""Grammar induction from sentences of a known grammar (Liang et al. 2009, section 5.1).

    python benchmarks/grammar_induction.py [--restarts 30] [--quick]
    python benchmarks/grammar_induction.py --inference vb gibbs em --child-prior joint independent

For each top prior, kind of start and prior of rule types: the runs with the highest lower bound,
how far their held-out probability is from that of the true grammar, how well their brackets agree
with the true trees, and how many symbols and rules they use. As many symbols and rules as the true
grammar has (8, 15) and its held-out probability, but other brackets, are an equivalent: subject and
verb joined first, noun phrases that branch to the left, or both.
"""

import argparse
import time
import warnings
from itertools import product

import numpy as np
from report import print_header, print_table

from skdp.datasets import make_pcfg_corpus
from skdp.grammar import HDPPCFG, inside_outside
from skdp.metrics import bracket_scores

GOOD = 0.95
"""F1 of brackets from which the true bracketing counts as found."""

RULE_TYPES = {
    "equal": (1, 1, 1, 1),
    "nested": (1, 1, 1, 10),
    "right": (1, 10, 1, 10),
}
"""Priors of rules of types PP, PC, CP, CC, times the concentration."""

SIZE = (8, 15)
"""Symbols and rules of the true grammar."""

NEAR = 0.01
"""Nats a word: who is no farther from the true grammar describes the sentences as well."""


def compare_brackets(model, corpus):
    """Return F1 of unlabeled brackets, the whole sentence not counted."""
    predicted = [
        tree.with_leaves(true.leaves)
        for tree, true in zip(model.predict(corpus.data), corpus.trees, strict=True)
    ]
    return bracket_scores(corpus.trees, predicted, labelled=False, trivial=False).f1


def run(seed, train, test, true_score, model):
    """Return the figures of one start, or one chain: the highest log joint is its bound."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sentences without a parse under maximum likelihood
        model.set_params(random_state=seed).fit(train.data)
        seconds = time.process_time() - begin
        gap = model.score(test.data) - true_score
        f1 = compare_brackets(model, test)
    active = model.n_active_components_, model.n_active_rules_
    sampled = model.inference == "gibbs"
    bound = model.trace_["log_joint"].max() if sampled else model.lower_bound_
    return (bound, gap, f1, *active, model.n_iter_, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--components", type=int, default=10, help="and as many preterminals")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--restarts", type=int, default=30)
    parser.add_argument("--concentration", type=float, default=0.01, help="all hyper-parameters")
    parser.add_argument("--inference", nargs="+", default=["vb", "em"])
    parser.add_argument("--child-prior", nargs="+", default=["joint"])
    parser.add_argument("--top-prior", nargs="+", default=["gem", "dirichlet"])
    parser.add_argument("--init", nargs="+", default=["random", "annealed"])
    parser.add_argument("--rule-types", nargs="+", default=list(RULE_TYPES), choices=RULE_TYPES)
    parser.add_argument("--quick", action="store_true", help="3 restarts of 30 iterations")
    options = parser.parse_args()
    if options.quick:
        options.restarts, options.iterations = 3, 30
    print_header()
    train = make_pcfg_corpus(options.sentences, random_state=0)
    test = make_pcfg_corpus(options.sentences, random_state=1)
    true = inside_outside(test.data, test.root, test.rule_type, test.emission, test.binary)
    true_score = true.log_prob.sum() / len(test.data.tokens)
    print(f"True grammar: {true_score:.4f} nats a held-out word.\n")
    rows, best = [], []
    for inference in options.inference:
        has_priors = inference in ("vb", "gibbs")
        for child, top_prior, init, types in product(
            options.child_prior if has_priors else ["-"],
            options.top_prior if has_priors else ["-"],
            options.init if inference != "gibbs" else ["random"],
            options.rule_types if has_priors else ["-"],
        ):
            way = inference, child, top_prior, init, types
            row = examine(options, train, test, true_score, *way)
            rows.append(row[0])
            best += row[1]
    print_table(
        [
            *("inference", "children", "top prior", "start", "rule types"),
            *("gap of the best", "F1 of best five", f"F1 >= {GOOD}", "equivalents"),
            *(f"gap < {NEAR}", "symbols", "rules", "s a run"),
        ],
        rows,
    )
    print("\nThe five runs with the highest bound:\n")
    print_table(
        [
            *("inference", "children", "top prior", "start", "rule types", "seed", "bound"),
            *("gap", "F1"),
            *("symbols", "rules", "iterations"),
        ],
        best,
    )


def examine(options, train, test, true_score, inference, child, top_prior, init, types):
    """Return the row of a way to fit, and the rows of its five best runs."""
    c = options.concentration
    ways = {"inference": inference, "init": init, "max_iter": options.iterations}
    if inference != "gibbs":
        ways["tol"] = 0.0
    priors = {
        "top_prior": top_prior,
        "top_concentration": c,
        "root_concentration": c,
        "emission_prior": c,
        "binary_concentration": c,
    }
    model = HDPPCFG(options.components, n_preterminals=options.components, **ways)
    if inference in ("vb", "gibbs"):
        model.set_params(child_prior=child)
        rule_types = [c * times for times in RULE_TYPES[types]]
        model.set_params(**priors, rule_type_prior=rule_types)
    found = np.array(
        [run(seed, train, test, true_score, model) for seed in range(options.restarts)]
    )
    order = np.argsort(-found[:, 0])[:5]
    name = (inference, child, top_prior, init, types)
    five = [
        (*name, seed, f"{bound:.1f}", f"{gap:.4f}", f"{f1:.3f}", int(symbols), int(rules), int(n))
        for seed, (bound, gap, f1, symbols, rules, n, _) in zip(order, found[order], strict=True)
    ]
    found_brackets, found_score = found[:, 2] >= GOOD, found[:, 1] > -NEAR
    as_small = (found[:, 3] <= SIZE[0]) & (found[:, 4] <= SIZE[1])
    equivalent = as_small & found_score & ~found_brackets
    summary = (
        *name,
        f"{found[order[0], 1]:.4f}",
        " ".join(f"{f1:.2f}" for f1 in found[order, 2]),
        *(np.count_nonzero(which) for which in (found_brackets, equivalent, found_score)),
        f"{found[:, 3].mean():.1f}",
        f"{found[:, 4].mean():.0f}",
        f"{found[:, 6].mean():.1f}",
    )
    print("\t".join(map(str, summary)), flush=True)
    return summary, five


if __name__ == "__main__":
    main()
