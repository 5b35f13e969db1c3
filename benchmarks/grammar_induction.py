"""Grammar induction from sentences of a known grammar (Liang et al. 2009, section 5.1).

    python benchmarks/grammar_induction.py [--restarts 30] [--quick]

For each prior, kind of start and weight of rules with two constituents: the runs with the highest
lower bound, how far their held-out probability is from that of the true grammar, how well their
brackets agree with the true trees, and how many symbols and rules they use.
"""

import argparse
import time
import warnings

import numpy as np
from report import print_header, print_table

from skdp.datasets import make_pcfg_corpus
from skdp.grammar import HDPPCFG, inside_outside
from skdp.metrics import bracket_scores

GOOD = 0.95
"""F1 of brackets from which the true bracketing counts as found."""

NEAR = 0.01
"""Nats a word: who is no farther from the true grammar describes the sentences as well."""


def compare_brackets(model, corpus):
    """Return F1 of unlabelled brackets, the whole sentence not counted."""
    predicted = [
        tree.with_leaves(true.leaves)
        for tree, true in zip(model.predict(corpus.data), corpus.trees, strict=True)
    ]
    return bracket_scores(corpus.trees, predicted, labelled=False, trivial=False).f1


def run(seed, train, test, true_score, model):
    """Return the figures of one start."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sentences without a parse under maximum likelihood
        model.set_params(random_state=seed).fit(train.data)
        seconds = time.process_time() - begin
        gap = model.score(test.data) - true_score
        f1 = compare_brackets(model, test)
    active = model.n_active_components_, model.n_active_rules_
    return (model.lower_bound_, gap, f1, *active, model.n_iter_, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--components", type=int, default=10, help="and as many preterminals")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--restarts", type=int, default=30)
    parser.add_argument("--concentration", type=float, default=0.01, help="all hyper-parameters")
    parser.add_argument("--inference", nargs="+", default=["vb", "em"])
    parser.add_argument("--top-prior", nargs="+", default=["gem", "dirichlet"])
    parser.add_argument("--init", nargs="+", default=["random", "annealed"])
    parser.add_argument(
        "--nested", nargs="+", type=float, default=[0.01, 30.0],
        help="prior of rules with two constituents",
    )  # fmt: skip
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
        for top_prior in options.top_prior if inference == "vb" else ["-"]:
            for init in options.init:
                for nested in options.nested if inference == "vb" else [np.nan]:
                    row = examine(
                        options, train, test, true_score, inference, top_prior, init, nested
                    )
                    rows.append(row[0])
                    best += row[1]
    print_table(
        [
            *("inference", "top prior", "start", "CC prior", "gap of the best", "F1 of best five"),
            *(f"F1 >= {GOOD}", f"gap < {NEAR}", "symbols", "rules", "s a run"),
        ],
        rows,
    )
    print("\nThe five runs with the highest bound:\n")
    print_table(
        [
            *("inference", "top prior", "start", "CC prior", "seed", "bound", "gap", "F1"),
            *("symbols", "rules", "iterations"),
        ],
        best,
    )


def examine(options, train, test, true_score, inference, top_prior, init, nested):
    """Return the row of a way to fit, and the rows of its five best runs."""
    c = options.concentration
    ways = {"inference": inference, "init": init, "max_iter": options.iterations, "tol": 0.0}
    priors = {
        "top_prior": top_prior,
        "top_concentration": c,
        "root_concentration": c,
        "rule_type_prior": [c, c, c, nested],
        "emission_prior": c,
        "binary_concentration": c,
    }
    model = HDPPCFG(options.components, n_preterminals=options.components, **ways)
    if inference == "vb":
        model.set_params(**priors)
    found = np.array(
        [run(seed, train, test, true_score, model) for seed in range(options.restarts)]
    )
    order = np.argsort(-found[:, 0])[:5]
    name = (inference, top_prior, init, nested)
    five = [
        (*name, seed, f"{bound:.1f}", f"{gap:.4f}", f"{f1:.3f}", int(symbols), int(rules), int(n))
        for seed, (bound, gap, f1, symbols, rules, n, _) in zip(order, found[order], strict=True)
    ]
    summary = (
        *name,
        f"{found[order[0], 1]:.4f}",
        " ".join(f"{f1:.2f}" for f1 in found[order, 2]),
        f"{np.count_nonzero(found[:, 2] >= GOOD)} of {len(found)}",
        f"{np.count_nonzero(found[:, 1] > -NEAR)} of {len(found)}",
        f"{found[:, 3].mean():.1f}",
        f"{found[:, 4].mean():.0f}",
        f"{found[:, 6].mean():.1f}",
    )
    print("\t".join(map(str, summary)), flush=True)
    return summary, five


if __name__ == "__main__":
    main()
